-- Runs inside the Neovim that is measured: sets up ghost text of one plugin.
local M = {}

local plugins = {
  typstai = function(address, debounce_ms)
    require("typstai").setup({
      models = { { name = "bench", base_url = address .. "/v1", model = "first" } },
      autocomplete = { enabled = true, model = "bench", debounce = debounce_ms },
    })
  end,
  minuet = function(address, debounce_ms)
    require("minuet").setup({
      provider = "openai_compatible",
      n_completions = 1,
      throttle = 0,
      debounce = debounce_ms,
      notify = false,
      virtualtext = { auto_trigger_ft = { "typst" } },
      provider_options = {
        openai_compatible = {
          name = "bench",
          model = "first",
          stream = true,
          end_point = address .. "/v1/chat/completions",
          api_key = function()
            return "none"
          end,
        },
      },
    })
  end,
}

--- Sets up the plugin on the endpoint at `address`, and opens an empty document.
function M.setup(name, address, debounce_ms)
  plugins[name](address, debounce_ms)
  vim.cmd.enew()
  vim.bo.filetype = "typst"
end

--- A new last line that lacks only the character to be typed, the cursor behind it.
function M.line(text)
  vim.api.nvim_buf_set_lines(0, -1, -1, true, { text })
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(0), 0 })
  vim.cmd.startinsert({ bang = true })
end

_G.ghost_bench = M
