-- The part of ghost text that is accepted: all of it, its first line, or its first word.
local M = {}

---@alias typstai.ghost.Part "all"|"word"|"line"

-- Classes of `charclass()`: blanks, punctuation, and the letters of most scripts; scripts
-- written without blanks have classes of their own.
local BLANK, PUNCTUATION, WORD = 0, 1, 2

local function ends_word(class, next_class)
  if next_class == BLANK then
    return true
  end
  local is_other_script = class ~= next_class and math.max(class, next_class) > WORD
  return is_other_script and class ~= PUNCTUATION and next_class ~= PUNCTUATION
end

local function word(text)
  local blanks = text:match("^%s*")
  local taken, class = blanks, nil
  for _, cluster in ipairs(vim.fn.split(text:sub(#blanks + 1), "\\zs")) do
    local next_class = vim.fn.charclass(cluster)
    if class and ends_word(class, next_class) then
      break
    end
    taken, class = taken .. cluster, next_class
  end
  return taken
end

--- The beginning of `text` that the part means.
---@param text string
---@param part typstai.ghost.Part|nil
---@return string
function M.of(text, part)
  if part == "word" then
    return word(text)
  elseif part == "line" then
    return text:match("^\n?[^\n]*")
  end
  return text
end

return M
