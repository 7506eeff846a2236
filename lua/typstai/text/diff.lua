-- Differences of whole lines: the smallest hunks of a change, and for one hunk which
-- lines are versions of which. All by Neovim's own xdiff.
local M = {}

local xdiff = vim.text and vim.text.diff or vim.diff

-- Aligning lines compares each old with each new one character by character; beyond
-- this many comparisons it would be felt while typing.
local MAX_COMPARISONS = 2000000
local MAX_COMPARED_BYTES = 800
-- Two lines with less in common are not versions of each other.
local LEAST_KEPT = 0.3

local function text_of(lines)
  return #lines == 0 and "" or table.concat(lines, "\n") .. "\n"
end

---@class typstai.LinePart lines that differ; rows from 0 within the two lists
---@field old_row integer
---@field old_count integer
---@field new_row integer
---@field new_count integer

-- Where nothing stands, xdiff names the line before: as a row from 0 that is the row
-- after it.
local function to_part(hunk)
  return {
    old_row = hunk[2] == 0 and hunk[1] or hunk[1] - 1,
    old_count = hunk[2],
    new_row = hunk[4] == 0 and hunk[3] or hunk[3] - 1,
    new_count = hunk[4],
  }
end

---@return typstai.LinePart[]
local function parts(old, new, options)
  options.result_type = "indices"
  return vim.tbl_map(to_part, xdiff(text_of(old), text_of(new), options))
end

local function slice(lines, row, count)
  return vim.list_slice(lines, row + 1, row + count)
end

--- The smallest hunks of whole lines that amount to the changes, from the top.
---@param args { changes: typstai.LineChange[] }
---@return typstai.Hunk[]
function M.refine(args)
  local hunks = {}
  for _, change in ipairs(args.changes) do
    for _, part in ipairs(parts(change.old, change.new, { indent_heuristic = true })) do
      hunks[#hunks + 1] = {
        row0 = change.row0 + part.old_row,
        old = slice(change.old, part.old_row, part.old_count),
        new = slice(change.new, part.new_row, part.new_count),
        state = "pending",
        reason = "",
      }
    end
  end
  table.sort(hunks, function(a, b)
    return a.row0 < b.row0
  end)
  for i, hunk in ipairs(hunks) do
    hunk.id = "h" .. i
  end
  return hunks
end

local function compared_bytes(lines)
  local sum = 0
  for _, line in ipairs(lines) do
    sum = sum + math.min(#line, MAX_COMPARED_BYTES)
  end
  return sum
end

local function can_align(old, new)
  return compared_bytes(old) * compared_bytes(new) <= MAX_COMPARISONS
end

local function aligned(old, new)
  if #old == 0 or #new == 0 or (#old == 1 and #new == 1) or not can_align(old, new) then
    return { { old_row = 0, old_count = #old, new_row = 0, new_count = #new } }
  end
  return parts(old, new, { linematch = #old + #new })
end

---@class typstai.Step one piece of a hunk: lines that go, come, or are reworded
---@field old_row integer from 0 within the hunk
---@field old string[]
---@field new string[]
---@field spans? typstai.Span[] of the one line that is reworded

local function with_spans(step)
  if #step.old == 1 and #step.new == 1 then
    local spans, kept = require("typstai.text.tokens").spans(step.old[1], step.new[1])
    step.spans = kept >= LEAST_KEPT and spans or nil
  end
  return step
end

local function pairwise(steps, part, old, new)
  for i = 0, part.old_count - 1 do
    table.insert(
      steps,
      with_spans({
        old_row = part.old_row + i,
        old = slice(old, part.old_row + i, 1),
        new = slice(new, part.new_row + i, 1),
      })
    )
  end
end

--- How the old lines of a hunk become the new ones, from the top.
---@param hunk { old: string[], new: string[], byte_col?: integer }
---@return typstai.Step[] of a part of a line, one
function M.steps(hunk)
  if hunk.byte_col then
    return { with_spans({ old_row = 0, old = hunk.old, new = hunk.new }) }
  end
  local steps = {}
  for _, part in ipairs(aligned(hunk.old, hunk.new)) do
    if part.old_count == part.new_count then
      pairwise(steps, part, hunk.old, hunk.new)
    else
      table.insert(steps, {
        old_row = part.old_row,
        old = slice(hunk.old, part.old_row, part.old_count),
        new = slice(hunk.new, part.new_row, part.new_count),
      })
    end
  end
  return steps
end

return M
