-- `require("typstai").approvals`: tool calls that wait for the user's word.
local arguments = require("typstai.arguments")

local M = {}

---@return typstai.ApprovalRequest[]
function M.list()
  return require("typstai.chat.approvals").list()
end

---@param id string
---@param answer "once"|"run"|"deny"
---@param reason? string
---@param callback? fun(err: typstai.Error|nil)
function M.answer(id, answer, reason, callback)
  local problem = arguments.wrong(
    "approvals.answer",
    { "id", id, "a string" },
    { "answer", answer, "once, run or deny" },
    { "reason", reason, "a string?" },
    { "callback", callback, "a function?" }
  )
  return require("typstai.answer").of(callback, problem, function(done)
    require("typstai.chat.approvals").answer(id, answer, reason, done)
  end)
end

return M
