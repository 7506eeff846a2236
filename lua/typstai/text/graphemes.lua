-- Characters as the user sees them, with all that is combined with them. Neovim 0.10
-- does not know by itself that a zero-width joiner binds the next emoji.
local M = {}

local JOINER = "\u{200d}"

local function are_joined(left, right)
  return vim.endswith(left, JOINER) or vim.startswith(right, JOINER)
end

--- The characters of a text, in order.
---@param text string
---@return string[]
function M.split(text)
  local found = {}
  for _, cluster in ipairs(vim.fn.split(text, "\\zs")) do
    local last = found[#found]
    if last and are_joined(last, cluster) then
      found[#found] = last .. cluster
    else
      found[#found + 1] = cluster
    end
  end
  return found
end

--- The first character of a text that is not empty.
---@param text string
---@return string
function M.first(text)
  local size = #vim.fn.strcharpart(text, 0, 1, true)
  while size < #text and are_joined(text:sub(1, size), text:sub(size + 1)) do
    size = size + #vim.fn.strcharpart(text:sub(size + 1), 0, 1, true)
  end
  return text:sub(1, size)
end

return M
