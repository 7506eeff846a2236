-- Finds a hunk again in a text that was written or read anew, where its marks say nothing
-- any more: by a line that stood nowhere else, in the hunk or a few lines from it.
--
-- A line beside the hunk is only trusted in a text that was read from its file: whoever
-- deletes one of several equal lines in the buffer must not have it found again.
local M = {}

local api = vim.api

-- Lines on either side that are remembered.
local AROUND = 3

---@class typstai.Surroundings a hunk's lines and those around it, when it came
---@field before integer how many lines stand before the hunk's
---@field lines string[]
---@field total integer lines of the buffer
---@field landmark? integer index of the line that stood nowhere else
---@field is_only_part? boolean whether a part of a line stood nowhere else

-- How often each of the remembered lines stands in the buffer. Only those are counted:
-- a table of all lines of a long document costs milliseconds.
local function counts_of(lines, hunks)
  local counts = {}
  for _, hunk in ipairs(hunks) do
    for _, line in ipairs(hunk.around.lines) do
      counts[line] = 0
    end
  end
  for _, line in ipairs(lines) do
    local count = counts[line]
    if count then
      counts[line] = count + 1
    end
  end
  return counts
end

-- How far a line is from those of the hunk.
local function distance(index, before, size)
  return math.max(before - index + 1, index - before - size, 0)
end

local function landmark_of(around, size, counts)
  local best, nearest
  for i, line in ipairs(around.lines) do
    local far = distance(i, around.before, size)
    if counts[line] == 1 and line:find("%S") and (not nearest or far < nearest) then
      best, nearest = i, far
    end
  end
  return best
end

-- Row and column of a text that is a part of one line only.
local function part_place(lines, part)
  local row, col
  for i, line in ipairs(lines) do
    local at, finish = line:find(part, 1, true)
    if at and (row or line:find(part, finish + 1, true)) then
      return nil
    elseif at then
      row, col = i - 1, at - 1
    end
  end
  return row, col
end

--- Notes for each hunk what it can be found by.
---@param bufnr integer
---@param hunks typstai.LiveHunk[] whose old lines stand at their rows
function M.note(bufnr, hunks)
  local lines = api.nvim_buf_get_lines(bufnr, 0, -1, false)
  for _, hunk in ipairs(hunks) do
    local first = math.max(hunk.row0 - AROUND, 0)
    hunk.around = {
      before = hunk.row0 - first,
      lines = vim.list_slice(lines, first + 1, hunk.row0 + #hunk.old + AROUND),
      total = #lines,
      is_only_part = hunk.byte_col and part_place(lines, hunk.old[1]) ~= nil,
    }
  end
  local counts = counts_of(lines, hunks)
  for _, hunk in ipairs(hunks) do
    hunk.around.landmark = landmark_of(hunk.around, #hunk.old, counts)
  end
end

local function only_row(lines, wanted)
  local row
  for i, line in ipairs(lines) do
    if line == wanted then
      if row then
        return nil
      end
      row = i - 1
    end
  end
  return row
end

-- Whether the remembered lines from one index to another stand there now.
local function stands(lines, around, row, from, to)
  for i = from, to do
    if lines[row - around.before + i] ~= around.lines[i] then
      return false
    end
  end
  return true
end

-- Row of the hunk by its landmark, and whether that is a line of its own.
local function by_landmark(lines, hunk)
  local around = hunk.around
  local at = around.landmark and only_row(lines, around.lines[around.landmark])
  if at then
    local is_own = distance(around.landmark, around.before, #hunk.old) == 0
    return at - around.landmark + 1 + around.before, is_own
  end
end

local function all_stands(lines, hunk, row)
  return row >= 0 and stands(lines, hunk.around, row, 1, #hunk.around.lines)
end

--- The row at which the hunk's lines stand in a text that was written anew, or nil when
--- that is not certain.
---@param lines string[]
---@param hunk typstai.LiveHunk
---@return integer|nil row, integer|nil byte_col of a part of a line
function M.find(lines, hunk)
  if hunk.byte_col then
    if hunk.around.is_only_part then
      return part_place(lines, hunk.old[1])
    end
    return nil
  end
  local row, is_own = by_landmark(lines, hunk)
  local first = hunk.around.before + 1
  local is_there = is_own and stands(lines, hunk.around, row, first, first + #hunk.old - 1)
  return is_there and row or nil
end

--- The same in a text that was read from its file again.
---@param lines string[]
---@param hunk typstai.LiveHunk
---@return integer|nil row, integer|nil byte_col of a part of a line
function M.find_in_file(lines, hunk)
  local found, found_col = M.find(lines, hunk)
  if found then
    return found, found_col
  end
  local row = by_landmark(lines, hunk)
  if row and all_stands(lines, hunk, row) then
    return row, hunk.byte_col
  end
  -- Where no line is like no other: only if nothing seems to have moved.
  local is_same = #lines == hunk.around.total and all_stands(lines, hunk, hunk.row0)
  if is_same then
    return hunk.row0, hunk.byte_col
  end
end

return M
