-- `require("typstai").snapshots`: kept texts of a document.
local arguments = require("typstai.arguments")

local M = {}

--- The kept texts of a buffer's document, newest first.
---@param bufnr? integer
---@param callback? fun(err: typstai.Error|nil, snapshots: typstai.KeptText[]|nil)
function M.list(bufnr, callback)
  local problem = arguments.wrong(
    "snapshots.list",
    { "bufnr", bufnr, "the number of a buffer?" },
    { "callback", callback, "a function?" }
  )
  return require("typstai.answer").of(callback, problem, function(done)
    require("typstai.recovery.snapshots").list(bufnr, done)
  end)
end

--- Puts a kept text back, without asking.
---@param id integer
---@param callback? fun(err: typstai.Error|nil, result: { id: integer }|nil)
function M.restore(id, callback)
  local problem = arguments.wrong(
    "snapshots.restore",
    { "id", id, "a whole number" },
    { "callback", callback, "a function?" }
  )
  return require("typstai.answer").of(callback, problem, function(done)
    require("typstai.recovery.snapshots").restore(id, done)
  end)
end

return M
