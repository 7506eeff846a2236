-- The door between Lua and Python: the functions Python may call, and the one
-- function through which Lua calls Python.
local M = {}

-- Version of what crosses the door; the Python half must have the same.
M.PROTOCOL = 1

-- Everything Python may call, by module. A handler takes one table and returns
-- one value, or nil and a table { code, message } when it refuses.
local HANDLERS = {
  ["buffer.snapshot"] = "typstai.text.buffer",
  ["buffer.overlay"] = "typstai.text.buffer",
  ["buffer.open"] = "typstai.text.buffer",
  ["capture.place"] = "typstai.chat.capture",
  ["diff.refine"] = "typstai.text.diff",
  ["journal.document_of"] = "typstai.recovery.journal",
  ["pending.list"] = "typstai.proposals.pending",
  ["proposals.propose"] = "typstai.proposals",
  ["proposals.withdraw"] = "typstai.proposals",
  ["proposals.apply"] = "typstai.proposals",
  ["approvals.ask"] = "typstai.chat.approvals",
  ["approvals.withdraw"] = "typstai.chat.approvals",
  ["chat.event"] = "typstai.chat",
  ["receipts.take"] = "typstai.recovery.receipts",
  ["recovery.hashes"] = "typstai.recovery",
  ["status.update"] = "typstai.status",
  ["message.show"] = "typstai.message",
  ["event.emit"] = "typstai.events",
}

---@type table<integer, fun(err: typstai.Error|nil, result: any)>
local waiting = {}
local last_id = 0

--- Called by Python. Answers `{ result = … }` or `{ error = { code, message } }`.
---@param name string
---@param args table
function M.dispatch(name, args)
  local module = HANDLERS[name]
  if not module then
    return { error = { code = "unknown_method", message = "no such function: " .. name } }
  end
  local result, err = require(module)[name:match("[^.]+$")](args)
  if err then
    return { error = err }
  end
  return { result = result }
end

--- Calls a Python method; `callback(err, result)` runs on the main loop, exactly once.
---@param method string
---@param params table
---@param callback? fun(err: typstai.Error|nil, result: any)
function M.call(method, params, callback)
  local channel, err = require("typstai.host").channel()
  if not channel then
    if callback then
      vim.schedule(function()
        callback(err)
      end)
    end
    return
  end
  last_id = last_id + 1
  waiting[last_id] = callback
  vim.rpcnotify(channel, "typstai_call", last_id, method, params)
end

--- Called by Python with the answer to `call`.
---@param id integer
---@param err typstai.Error|nil
---@param result any
function M.reply(id, err, result)
  local callback = waiting[id]
  waiting[id] = nil
  if callback then
    callback(err ~= vim.NIL and err or nil, result ~= vim.NIL and result or nil)
  end
end

--- Fails every open call: the host is gone.
---@param err typstai.Error
function M.fail_all(err)
  local open = waiting
  waiting = {}
  for _, callback in pairs(open) do
    callback(err)
  end
end

return M
