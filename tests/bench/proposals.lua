-- Runs inside the Neovim that is measured: a long document, and a watch on its loop.
local M = {}

local TICK_MS = 1
local timer = assert(vim.uv.new_timer())
local last_ns, longest_ns = 0, 0
local proposals = require("typstai.proposals")

--- Opens a document of that many lines; the number of its buffer.
---@param lines integer
---@return integer
function M.open(lines)
  local text = {}
  for i = 1, lines do
    text[i] = ("This is line %d of a long document."):format(i - 1)
  end
  vim.api.nvim_buf_set_lines(0, 0, -1, true, text)
  return vim.api.nvim_get_current_buf()
end

local function is_drawn(hunks)
  local ns = vim.api.nvim_get_namespaces()["typstai.review"]
  local last = ns and vim.api.nvim_buf_get_extmarks(0, ns, -1, 0, { limit = 1 })[1]
  return last ~= nil and #proposals.list()[1].hunks == hunks and last[2] >= M.last_row
end

--- Notes how long the loop stands still, and when the last hunk is drawn.
---@param hunks integer
function M.watch(hunks)
  last_ns, longest_ns, M.drawn_ns = vim.uv.hrtime(), 0, nil
  timer:start(TICK_MS, TICK_MS, function()
    local now_ns = vim.uv.hrtime()
    longest_ns = math.max(longest_ns, now_ns - last_ns)
    last_ns = now_ns
  end)
  vim.api.nvim_create_autocmd("User", {
    pattern = "TypstAIProposal",
    once = true,
    callback = function(event)
      assert(#event.data.hunks == hunks)
      M.last_row = event.data.hunks[hunks].start
      local check = assert(vim.uv.new_timer())
      check:start(
        0,
        TICK_MS,
        vim.schedule_wrap(function()
          if not M.drawn_ns and is_drawn(hunks) then
            vim.cmd.redraw()
            M.drawn_ns = vim.uv.hrtime()
            check:stop()
          end
        end)
      )
    end,
  })
end

--- What was noted.
function M.stop()
  timer:stop()
  return { drawn_ns = M.drawn_ns, stall_ms = longest_ns / 1e6 }
end

--- Accepts everything and draws the screen; how many milliseconds that took.
---@return number
function M.accept()
  local started_ns = vim.uv.hrtime()
  assert(proposals.accept_all().accepted > 0)
  vim.cmd.redraw()
  return (vim.uv.hrtime() - started_ns) / 1e6
end

_G.proposals_bench = M
