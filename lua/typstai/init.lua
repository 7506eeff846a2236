-- Public API. Nothing is loaded before it is used; `setup()` only stores options.
local M = {}

--- Stores the options. Optional: without it the defaults hold.
---@param opts? table see |typstai-options|
function M.setup(opts)
  local config = require("typstai.config")
  config.set(opts or {})
  if package.loaded["typstai.host"] then
    require("typstai.host").options_changed()
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
  return require("typstai.answer").of(callback, function(done)
    require("typstai.chat").send_text(text, opts or {}, done)
  end)
end

--- Stops the run of a chat, or every run.
---@param chat? string
---@param callback? fun(err: typstai.Error|nil)
function M.stop(chat, callback)
  return require("typstai.answer").of(callback, function(done)
    require("typstai.rpc").call("chat.stop", { chat = chat }, done)
  end)
end

--- Starts a text action and returns at once; see |typstai-actions|.
---@param id string
---@param opts? typstai.ActionOptions
---@param callback? fun(err: nil, result: typstai.ActionResult)
---@return string id of this run
function M.action(id, opts, callback)
  return require("typstai.actions").run(id, opts, callback)
end

M.chat = {
  open = function()
    require("typstai.chat").open()
  end,
  close = function()
    require("typstai.chat").close()
  end,
  toggle = function()
    require("typstai.chat").toggle()
  end,
  new = function()
    require("typstai.chat").new()
  end,
  --- Lines of the chat shown: transcript, then prompt.
  ---@return string[]
  lines = function()
    return require("typstai.chat").lines()
  end,
}

M.proposals = {
  ---@param bufnr? integer
  list = function(bufnr)
    return require("typstai.proposals").list(bufnr)
  end,
  --- Accepts a proposal or one of its hunks; without an id, the hunk under the cursor.
  ---@param id? string
  ---@param opts? { hunk?: string }
  accept = function(id, opts)
    return require("typstai.proposals").accept(id, opts or {})
  end,
  ---@param id? string
  ---@param opts? { hunk?: string, reason?: string }
  reject = function(id, opts)
    return require("typstai.proposals").reject(id, opts or {})
  end,
  --- Replaces what a hunk would write; without a text, opens it to be edited.
  ---@param id? string without it, the hunk under the cursor
  ---@param hunk? string
  ---@param text? string
  edit = function(id, hunk, text)
    return require("typstai.proposals").edit(id, hunk, text)
  end,
}

M.ghost = {
  --- Switches ghost text on or off: everywhere, in a project, or in a buffer.
  ---@param is_on boolean
  ---@param opts? { bufnr?: integer, project?: string|true } 0 and true: the current one
  enable = function(is_on, opts)
    require("typstai.ghost").enable(is_on, opts)
  end,
  --- Asks for ghost text at the cursor now, in code and in the middle of a line too.
  trigger = function()
    require("typstai.ghost").trigger()
  end,
  --- Whether ghost text is shown.
  ---@return boolean
  visible = function()
    return require("typstai.ghost").visible()
  end,
  --- Types the ghost text, or a part of it, into the buffer; works from `expr` maps too.
  ---@param part? "all"|"word"|"line"
  ---@return boolean accepted false when none was shown
  accept = function(part)
    return require("typstai.ghost").accept(part)
  end,
  --- Takes the ghost text away and gives up what was asked for.
  dismiss = function()
    require("typstai.ghost").dismiss()
  end,
}

M.runs = {
  --- The runs that wrote something into a document, newest first.
  ---@param chat? string
  ---@param callback? fun(err: typstai.Error|nil, runs: typstai.WrittenRun[]|nil)
  list = function(chat, callback)
    return require("typstai.answer").of(callback, function(done)
      require("typstai.recovery").runs(chat, done)
    end)
  end,
  --- Reverts a run, and before it the newer ones of its chat, without asking.
  ---@param run string
  ---@param callback? fun(err: typstai.Error|nil, result: { reverted: string[], reason?: string }|nil)
  revert = function(run, callback)
    return require("typstai.answer").of(callback, function(done)
      require("typstai.recovery").revert(run, done)
    end)
  end,
}

M.snapshots = {
  --- The kept texts of a buffer's document, newest first.
  ---@param bufnr? integer
  ---@param callback? fun(err: typstai.Error|nil, snapshots: typstai.KeptText[]|nil)
  list = function(bufnr, callback)
    return require("typstai.answer").of(callback, function(done)
      require("typstai.recovery.snapshots").list(bufnr, done)
    end)
  end,
  --- Puts a kept text back, without asking.
  ---@param id integer
  ---@param callback? fun(err: typstai.Error|nil, result: { id: integer }|nil)
  restore = function(id, callback)
    return require("typstai.answer").of(callback, function(done)
      require("typstai.recovery.snapshots").restore(id, done)
    end)
  end,
}

M.approvals = {
  ---@return typstai.ApprovalRequest[]
  list = function()
    return require("typstai.chat.approvals").list()
  end,
  ---@param id string
  ---@param answer "once"|"run"|"deny"
  ---@param reason? string
  answer = function(id, answer, reason)
    return require("typstai.chat.approvals").answer(id, answer, reason)
  end,
}

return M
