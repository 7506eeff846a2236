-- Why no ghost text came, in one or two words.
local M = {}

local text = ""
local is_problem = false
---@type integer|nil when it no longer holds, in ms
local until_ms
---@type string|nil the failure that was told last
local told

--- Remembers the reason; "" when there is none.
---@param reason string
function M.set(reason)
  text, is_problem, until_ms = reason, false, nil
end

--- Remembers what keeps the model from answering.
---@param reason string
---@param seconds? integer how long it does
---@param message? string the failure, told once
function M.set_problem(reason, seconds, message)
  text, is_problem = reason, true
  until_ms = seconds and vim.uv.now() + seconds * 1000
  if message and message ~= told then
    told = message
    require("typstai.message").show({ level = "warn", message = message })
  end
end

--- The model has answered: a failure that comes again is news.
function M.set_answered()
  M.set("")
  told = nil
end

--- The reason now.
---@return string text, boolean is_problem worth a place in the statusline
function M.get()
  if not until_ms then
    return text, is_problem
  end
  local left_ms = until_ms - vim.uv.now()
  if left_ms <= 0 then
    M.set("")
    return "", false
  end
  return ("%s %d s"):format(text, math.ceil(left_ms / 1000)), is_problem
end

return M
