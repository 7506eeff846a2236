-- `require("typstai").chat`: the chat window.
local M = {}

function M.open()
  require("typstai.chat").open()
end

function M.close()
  require("typstai.chat").close()
end

function M.toggle()
  require("typstai.chat").toggle()
end

function M.new()
  require("typstai.chat").new()
end

--- Lines of the chat shown: transcript, then prompt.
---@return string[]
function M.lines()
  return require("typstai.chat").lines()
end

return M
