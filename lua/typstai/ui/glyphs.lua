-- Every character that is drawn and not ASCII, with its ASCII twin.
local M = {}

---@class typstai.ui.Glyphs
local UNICODE = {
  separator = " · ",
  folded = "▸",
  unfolded = "▾",
  more = "…",
  rule = "─",
  prompt = "> ",
  running = "⋯",
  waiting = "◆",
  done = "✓",
  failed = "✗",
  rejected = "–",
  cancelled = "–",
  unknown = "�",
  stale = "◇",
  changed = "▎",
  added_below = "▁",
  added_above = "▔",
  empty_line = "↵",
}

---@type typstai.ui.Glyphs
local ASCII = {
  separator = " - ",
  folded = ">",
  unfolded = "v",
  more = "...",
  rule = "-",
  prompt = "> ",
  running = "~",
  waiting = "*",
  done = "+",
  failed = "x",
  rejected = "-",
  cancelled = "-",
  unknown = "?",
  stale = "!",
  changed = "|",
  added_below = "_",
  added_above = "^",
  empty_line = "~",
  -- For the words of labels, which Python makes with the same signs for everyone.
  words = {
    ["·"] = "-",
    ["›"] = ">",
    ["–"] = "-",
    ["…"] = "...",
    ["“"] = '"',
    ["”"] = '"',
    ["‘"] = "'",
    ["’"] = "'",
    ["×"] = "x",
    ["→"] = "->",
  },
}

--- The set that the option `ui.ascii` asks for.
---@return typstai.ui.Glyphs
function M.get()
  return require("typstai.config").get().ui.ascii and ASCII or UNICODE
end

return M
