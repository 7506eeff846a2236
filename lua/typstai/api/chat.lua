-- `require("typstai").chat`: the chat window. Each function returns true, or nil and an error
-- where no window can be opened now (`cmdwin`).
local M = {}

local function on_window(name)
  return function()
    local err = require("typstai.ui.cmdwin").refusal()
    if err then
      return nil, err
    end
    require("typstai.chat")[name]()
    return true
  end
end

M.open = on_window("open")
M.close = on_window("close")
M.toggle = on_window("toggle")
M.new = on_window("new")

--- Lines of the chat shown: transcript, then prompt.
---@return string[]
function M.lines()
  return require("typstai.chat").lines()
end

return M
