-- The characters of the review in the document, with their ASCII twins.
local M = {}

local UNICODE = {
  pending = "◆",
  stale = "◇",
  changed = "▎",
  added_below = "▁",
  added_above = "▔",
  empty_line = "↵",
  separator = " · ",
  more = "…",
}

local ASCII = {
  pending = "*",
  stale = "!",
  changed = "|",
  added_below = "_",
  added_above = "^",
  empty_line = "~",
  separator = " - ",
  more = "...",
}

--- The set that the option `ui.ascii` asks for.
---@return table<string, string>
function M.get()
  return require("typstai.config").get().ui.ascii and ASCII or UNICODE
end

return M
