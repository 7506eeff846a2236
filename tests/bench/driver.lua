-- Runs inside the Neovim that is measured: sets up one plugin, sends, and watches the loop.
local M = {}

local TICK_MS = 1
-- What happens just after the end of a run (last drawing, parsing) still belongs to it.
local AFTERMATH_MS = 100
local OPEN_MS = 10000
-- Nobody types a message in less; what a plugin loads meanwhile stalls no answer.
local THINK_MS = 500

local timer = assert(vim.uv.new_timer())
local last_ns, longest_ns = 0, 0
local keys_ns = {}
local finished = true

local plugins = {
  typstai = {
    event = "TypstAIRunFinished",
    setup = function(address, model)
      require("typstai").setup({
        models = { { name = "bench", base_url = address .. "/v1", model = model } },
        default_model = "bench",
      })
      local chat = require("typstai").chat
      chat.open()
      assert(vim.wait(OPEN_MS, function()
        return #chat.lines() > 0
      end))
    end,
    send = function(text)
      local _, err = require("typstai").send(text)
      assert(not err, err and err.message)
    end,
  },
  codecompanion = {
    event = "CodeCompanionChatDone",
    setup = function(address, model)
      local function adapter()
        return require("codecompanion.adapters").extend("openai_compatible", {
          env = { url = address, api_key = "none", chat_url = "/v1/chat/completions" },
          schema = { model = { default = model } },
        })
      end
      require("codecompanion").setup({
        adapters = { http = { bench = adapter } },
        interactions = { chat = { adapter = "bench" } },
      })
      require("codecompanion").chat()
    end,
    send = function(text)
      local chat = require("codecompanion").last_chat()
      chat:add_message({ role = "user", content = text })
      chat:add_buf_message({ role = "user", content = text })
      chat:submit({ auto_submit = true })
    end,
  },
}

local function tick()
  local now_ns = vim.uv.hrtime()
  longest_ns = math.max(longest_ns, now_ns - last_ns)
  last_ns = now_ns
end

-- The loop may tick in the middle of long work that polls it; a key is not handled there. So the
-- terminal also types this one while an answer arrives.
vim.keymap.set({ "n", "i" }, "<F5>", function()
  table.insert(keys_ns, vim.uv.hrtime())
end)

--- Opens the plugin's chat on the endpoint at `address`.
function M.setup(name, address, model)
  M.plugin = plugins[name]
  vim.api.nvim_create_autocmd("User", {
    pattern = M.plugin.event,
    callback = function()
      vim.defer_fn(function()
        timer:stop()
        finished = true
      end, AFTERMATH_MS)
    end,
  })
  M.plugin.setup(address, model)
  vim.wait(THINK_MS)
end

--- Sends, and watches the loop until the run is over.
function M.send(text)
  finished, keys_ns = false, {}
  last_ns, longest_ns = vim.uv.hrtime(), 0
  timer:start(TICK_MS, TICK_MS, tick)
  M.plugin.send(text)
end

--- What was measured, once the run is over; nil while it runs.
function M.result()
  return finished and { stall_ms = longest_ns / 1e6, keys_ns = keys_ns } or nil
end

--- Starts the host of `typstai` without opening a chat.
function M.start_host()
  require("typstai.host").channel()
end

--- Opens the project's chat of `typstai`.
function M.open_chat()
  require("typstai").chat.open()
end

_G.bench = M
