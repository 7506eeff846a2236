-- Lines with highlight spans, built piece by piece, and the cleaning of text that others
-- wrote so that it can stand on them. Pure.

---@class typstai.ui.Span
---@field row0 integer
---@field byte_col integer
---@field end_byte_col integer
---@field hl string

---@class typstai.ui.Rendered
---@field lines string[]
---@field spans typstai.ui.Span[]

--- A page to which lines are added as lists of `{ text, hl? }` pieces.
local Page = {}
Page.__index = Page

function Page.new()
  return setmetatable({ lines = {}, spans = {} }, Page)
end

function Page:add(pieces)
  local text = ""
  for _, piece in ipairs(pieces) do
    local from = #text
    text = text .. piece[1]
    if piece[2] and #text > from then
      local span = { row0 = #self.lines, byte_col = from, end_byte_col = #text, hl = piece[2] }
      table.insert(self.spans, span)
    end
  end
  table.insert(self.lines, text)
end

function Page:result()
  return { lines = self.lines, spans = self.spans }
end

--- Text for one line: whatever would break or hide it becomes a space.
---@param text any nil and `vim.NIL` give ""
---@return string
function Page.clean(text)
  if type(text) ~= "string" then
    return ""
  end
  return vim.trim((text:gsub("[%z\1-\31\127]+", " ")))
end

--- A label for one line, with the signs of the set that is drawn.
---@param text any
---@param glyphs typstai.ui.Glyphs
---@return string
function Page.label(text, glyphs)
  local clean = Page.clean(text)
  if not glyphs.words then
    return clean
  end
  return (clean:gsub("[\194-\244][\128-\191]*", glyphs.words))
end

-- A loop over bytes is compiled; on a long text it takes a twentieth of a pattern's time.
local function has_control_characters(text)
  for i = 1, #text do
    local byte = text:byte(i)
    if (byte < 32 and byte ~= 9 and byte ~= 10) or byte == 127 then
      return true
    end
  end
  return false
end

--- Text for several lines: LF line ends, no other control characters but tabs.
---@param text string
---@param glyphs typstai.ui.Glyphs
---@return string
function Page.body(text, glyphs)
  if not has_control_characters(text) then
    return text
  end
  text = text:gsub("\r\n?", "\n")
  return (text:gsub("[%z\1-\8\11-\31\127]", glyphs.unknown))
end

--- The first `limit` characters, and how many were left out.
---@param text string
---@param limit integer
---@return string shown
---@return integer left_out
function Page.cut(text, limit)
  local count, finish = 0, #text
  for position in text:gmatch("()[%z\1-\127\194-\244][\128-\191]*") do
    count = count + 1
    if count == limit + 1 then
      finish = position - 1
    end
  end
  return text:sub(1, finish), math.max(0, count - limit)
end

return Page
