-- Calls that need the host: with a callback they answer later, without one they
-- wait at most a second and say so.
local M = {}

M.WAIT_MS = 1000

local function wait_for(start)
  local answered, err, result = false, nil, nil
  start(function(e, r)
    answered, err, result = true, e, r
  end)
  vim.wait(M.WAIT_MS, function()
    return answered
  end, 5)
  if not answered then
    err = { code = "no_answer", message = "No answer within a second; pass a callback to wait." }
  end
  return result, err
end

--- Runs `start(done)`; `done(err, result)` goes to the callback, or is waited for. Where the
--- arguments are wrong, that is the answer.
---@param callback? fun(err: typstai.Error|nil, result: any)
---@param wrong typstai.Error|nil
---@param start fun(done: fun(err: typstai.Error|nil, result: any))
---@return any result
---@return typstai.Error|nil err
function M.of(callback, wrong, start)
  if type(callback) == "function" then
    if wrong then
      callback(wrong)
    else
      start(callback)
    end
    return
  end
  if wrong then
    return nil, wrong
  end
  return wait_for(start)
end

return M
