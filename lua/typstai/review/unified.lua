-- A proposal as a unified diff with old and new line numbers, for the chat.
local M = {}

local function gutter(width, old, new)
  return ("%" .. width .. "s %" .. width .. "s "):format(old or "", new or "")
end

local function header(hunk, row, shift)
  return ("@@ -%d,%d +%d,%d @@"):format(
    #hunk.old == 0 and row or row + 1,
    #hunk.old,
    #hunk.new == 0 and row + shift or row + shift + 1,
    #hunk.new
  )
end

local NOTES = {
  accepted = "  accepted",
  rejected = "  rejected",
}

local function note_of(hunk)
  if hunk.state == "stale" then
    return "  " .. require("typstai.proposals.closed").why(hunk)
  end
  return NOTES[hunk.state] or ""
end

local function hunk_lines(lines, hunk, row, shift, width)
  local title = header(hunk, row, shift) .. note_of(hunk)
  lines[#lines + 1] = { text = title, hl = "TypstAIHunkHeader" }
  for i, text in ipairs(hunk.old) do
    local numbers = gutter(width, row + i, nil)
    lines[#lines + 1] = { text = numbers .. "- " .. text, hl = "TypstAIDelete" }
  end
  for i, text in ipairs(hunk.new) do
    local numbers = gutter(width, nil, row + shift + i)
    lines[#lines + 1] = { text = numbers .. "+ " .. text, hl = "TypstAIAdd" }
  end
end

--- One table a line, to be shown as it is.
---@param proposal typstai.LiveProposal
---@return { text: string, hl: string }[]
function M.lines(proposal)
  local lines, shift, last = {}, 0, 0
  for _, hunk in ipairs(proposal.hunks) do
    require("typstai.proposals.hunks").look(hunk)
    last = math.max(last, hunk.row0 + #hunk.old + #hunk.new)
  end
  local width = #tostring(last + 1)
  for _, hunk in ipairs(proposal.hunks) do
    hunk_lines(lines, hunk, hunk.row0, hunk.state == "accepted" and 0 or shift, width)
    if hunk.state ~= "accepted" then
      shift = shift + #hunk.new - #hunk.old
    end
  end
  return lines
end

return M
