-- Breaks ghost text into screen lines as it will stand once it is accepted, and cuts it
-- where there is no more room: nothing is accepted that was not seen.
local M = {}

local api = vim.api

-- More would push the document about.
M.MAX_LINES = 3
-- Classes of `charclass()` above this one can be broken anywhere (ideographs, emoji).
local WORD = 2

---@class typstai.ghost.Room
---@field first integer cells left on the cursor's line
---@field width integer cells of a whole line, behind the indent
---@field indent string what stands before the lines that follow
---@field lines integer how many lines there may be

-- Words, blanks, line breaks, and single characters of scripts without blanks.
local function units(text)
  local found = {}
  local last
  for _, cluster in ipairs(vim.fn.split(text, "\\zs")) do
    local class = cluster == "\n" and -1 or vim.fn.charclass(cluster)
    local kind = class == 2 and 1 or class
    if last == kind and kind >= 0 and kind <= WORD then
      found[#found] = found[#found] .. cluster
    else
      found[#found + 1] = cluster
    end
    last = kind
  end
  return found
end

local function is_blank(unit)
  return not unit:find("[^ \t]")
end

--- Breaks text into lines; what finds no room is left out.
---@param text string
---@param room typstai.ghost.Room
---@return string[] lines, string shown the part of `text` that stands in them
function M.lines(text, room)
  local lines, left, used = { "" }, room.first, 0
  for _, unit in ipairs(units(text)) do
    local cells = api.nvim_strwidth(unit)
    local must_break = unit == "\n" or (cells > left and not is_blank(unit))
    if must_break and #lines == room.lines then
      break
    elseif must_break then
      lines[#lines + 1] = ""
      left = room.width
    end
    if unit ~= "\n" and not (is_blank(unit) and cells > left) then
      lines[#lines] = lines[#lines] .. unit
      left = left - cells
    end
    used = used + #unit
  end
  return lines, (text:sub(1, used):gsub("%s+$", ""))
end

local function breaks_at()
  local columns = vim.bo.textwidth
  return columns > 0 and vim.bo.formatoptions:find("t") and columns or math.huge
end

--- The room at the cursor of the current window.
---@return typstai.ghost.Room
function M.room()
  local info = vim.fn.getwininfo(api.nvim_get_current_win())[1]
  local width = info.width - info.textoff
  local column = vim.fn.virtcol(".") - 1
  local is_indented = vim.wo.breakindent or breaks_at() < math.huge
  local indent = is_indented and math.min(vim.fn.indent("."), math.floor(width / 2)) or 0
  local has_tail = vim.fn.col(".") < vim.fn.col("$")
  return {
    first = math.max(0, math.min(info.width - vim.fn.wincol() + 1, breaks_at() - column)),
    width = math.max(1, math.min(width, breaks_at()) - indent),
    indent = (" "):rep(indent),
    lines = has_tail and 1 or M.MAX_LINES,
  }
end

return M
