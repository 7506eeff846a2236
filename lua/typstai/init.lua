-- Public API. Nothing is loaded before it is used; `setup()` only stores options.
local M = {}

local GROUPS = {
  approvals = true,
  chat = true,
  ghost = true,
  proposals = true,
  runs = true,
  snapshots = true,
}

local function wrong(...)
  return require("typstai.arguments").wrong(...)
end

local function field(opts, name)
  return require("typstai.arguments").field(opts, name)
end

--- Stores the options. Optional: without it the defaults hold.
---@param opts? table see |typstai-options|
function M.setup(opts)
  local config = require("typstai.config")
  config.set(opts == nil and {} or opts)
  if package.loaded["typstai.host"] then
    require("typstai.host").options_changed()
  end
  if #config.get().actions.custom > 0 then
    require("typstai.actions.plugs").define_own()
  end
  local autocomplete = config.get().autocomplete
  if autocomplete.enabled or #autocomplete.projects > 0 then
    require("typstai.ghost").start()
  end
end

--- State of the plugin, from memory.
---@return typstai.Status
function M.status()
  return require("typstai.status").get()
end

--- One string for a statusline.
---@return string
function M.statusline()
  return require("typstai.status").statusline()
end

--- Sends a message to a chat (the one shown last, or a new one).
---@param text string
---@param opts? { chat?: string, attachments?: typstai.Selection[] }
---@param callback? fun(err: typstai.Error|nil, result: { run: string }|nil)
function M.send(text, opts, callback)
  local problem = wrong(
    "send",
    { "text", text, "a string" },
    { "opts", opts, "a table?" },
    { "opts.chat", field(opts, "chat"), "a string?" },
    { "opts.attachments", field(opts, "attachments"), "a list of selections?" },
    { "callback", callback, "a function?" }
  )
  return require("typstai.answer").of(callback, problem, function(done)
    require("typstai.chat").send_text(text, opts or {}, done)
  end)
end

--- Stops the run of a chat, or every run.
---@param chat? string
---@param callback? fun(err: typstai.Error|nil)
function M.stop(chat, callback)
  local problem = wrong(
    "stop",
    { "chat", chat, "a string?" },
    { "callback", callback, "a function?" }
  )
  return require("typstai.answer").of(callback, problem, function(done)
    require("typstai.chat.outbox").stop(chat, done)
  end)
end

--- Starts a text action and returns at once; see |typstai-actions|.
---@param id string
---@param opts? typstai.ActionOptions
---@param callback? fun(err: nil, result: typstai.ActionResult)
---@return string id of this run
function M.action(id, opts, callback)
  local problem = wrong(
    "action",
    { "id", id, "a string" },
    { "opts", opts, "a table?" },
    { "opts.bufnr", field(opts, "bufnr"), "the number of a buffer?" },
    { "opts.params", field(opts, "params"), "a table of strings?" },
    { "callback", callback, "a function?" }
  )
  if problem then
    return require("typstai.actions").refuse(id, problem, callback)
  end
  return require("typstai.actions").run(id, opts, callback)
end

-- What is grouped under a name stands in a file of that name.
return setmetatable(M, {
  __index = function(_, name)
    if GROUPS[name] then
      M[name] = require("typstai.api." .. name)
    end
    return rawget(M, name)
  end,
})
