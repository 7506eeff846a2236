-- Text that arrives in pieces and is shown without blank lines at its two ends. The
-- pieces that `push` gives back, put together, are always what `render` makes of the
-- whole text, however it was cut. Pure.
local Page = require("typstai.chat.page")

---@class typstai.ui.Flow
---@field private parts string[] all text so far, as it came
---@field private shown string|nil all that is on screen, while that is known
---@field private held string white space at the end, shown once more text follows
---@field private started boolean
---@field private indent string
---@field private glyphs typstai.ui.Glyphs
local Flow = {}
Flow.__index = Flow

---@param indent string put before every line
---@param glyphs typstai.ui.Glyphs
function Flow.new(indent, glyphs)
  local fields = { parts = {}, held = "", started = false, indent = indent, glyphs = glyphs }
  return setmetatable(fields, Flow)
end

local function last_visible(text)
  local last = #text
  while last > 0 and text:find("^%s", last) do
    last = last - 1
  end
  return last
end

--- Adds text, and gives what has to be added on screen; "" for nothing yet.
---@param text string
---@return string
function Flow:push(text)
  table.insert(self.parts, text)
  text = self.held .. text
  local last = last_visible(text)
  self.held = text:sub(last + 1)
  self.shown = nil
  if last == 0 then
    return ""
  end
  local shown = text:sub(1, last)
  local first = not self.started
  self.started = true
  if first then
    shown = self.indent .. shown:gsub("^%s*[\r\n]", "")
  end
  shown = Page.body(shown, self.glyphs)
  if self.indent ~= "" then
    shown = shown:gsub("\n", "\n" .. self.indent)
  end
  self.shown = first and shown or nil
  return shown
end

--- All text so far, as it came.
---@return string
function Flow:text()
  local text = table.concat(self.parts)
  self.parts = { text }
  return text
end

--- The lines on screen; none when there is nothing to show.
---@return string[]
function Flow:lines()
  local shown = self.shown or Flow.new(self.indent, self.glyphs):push(self:text())
  return shown ~= "" and vim.split(shown, "\n", { plain = true }) or {}
end

return Flow
