-- `require("typstai").runs`: the runs that wrote something, and taking them back.
local arguments = require("typstai.arguments")

local M = {}

--- The runs that wrote something into a document, newest first.
---@param chat? string
---@param callback? fun(err: typstai.Error|nil, runs: typstai.WrittenRun[]|nil)
function M.list(chat, callback)
  local problem = arguments.wrong(
    "runs.list",
    { "chat", chat, "a string?" },
    { "callback", callback, "a function?" }
  )
  return require("typstai.answer").of(callback, problem, function(done)
    require("typstai.recovery").runs(chat, done)
  end)
end

--- Reverts a run, and before it the newer ones of its chat, without asking.
---@param run string
---@param callback? fun(err: typstai.Error|nil, result: { reverted: string[], reason?: string }|nil)
function M.revert(run, callback)
  local problem = arguments.wrong(
    "runs.revert",
    { "run", run, "a string" },
    { "callback", callback, "a function?" }
  )
  return require("typstai.answer").of(callback, problem, function(done)
    require("typstai.recovery").revert(run, done)
  end)
end

return M
