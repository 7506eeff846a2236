-- Where the lines of a hunk are now. A mark only says where to look; the lines that
-- stand there decide whether the hunk still fits.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("typstai.anchors")
-- The last line of a hunk of several has a mark too: of equal lines below each other the
-- one that was deleted cannot be told by its text.
local TAILS = api.nvim_create_namespace("typstai.anchors.tails")

---@type table<integer, table<integer, typstai.LiveHunk>> by buffer and mark
local hunks_by_mark = {}
---@type table<integer, integer> most lines that a hunk of the buffer replaces
local longest_old = {}

-- A replacement's mark moves down with its first line when one is added above, becomes
-- invalid when that line is deleted, and comes back with undo. (A mark with an end would
-- not become invalid when whole lines go.) An insertion sticks to the line above.
local function mark_options(hunk, id)
  local replaces = #hunk.old > 0
  return { id = id, right_gravity = replaces, invalidate = replaces, undo_restore = true }
end

--- Puts the anchor of a hunk at a row, or moves it there.
---@param bufnr integer
---@param hunk typstai.LiveHunk
---@param row integer
function M.place(bufnr, hunk, row)
  local last = api.nvim_buf_line_count(bufnr)
  local options = mark_options(hunk, hunk.mark)
  hunk.mark = api.nvim_buf_set_extmark(bufnr, NS, math.min(row, last), 0, options)
  if #hunk.old > 1 then
    local tail = math.min(row + #hunk.old - 1, last)
    hunk.tail = api.nvim_buf_set_extmark(bufnr, TAILS, tail, 0, mark_options(hunk, hunk.tail))
  end
  hunks_by_mark[bufnr] = hunks_by_mark[bufnr] or {}
  hunks_by_mark[bufnr][hunk.mark] = hunk
  longest_old[bufnr] = math.max(longest_old[bufnr] or 0, #hunk.old)
end

---@param bufnr integer
---@param hunk typstai.LiveHunk
function M.remove(bufnr, hunk)
  if not hunk.mark then
    return
  end
  if api.nvim_buf_is_valid(bufnr) then
    api.nvim_buf_del_extmark(bufnr, NS, hunk.mark)
    if hunk.tail then
      api.nvim_buf_del_extmark(bufnr, TAILS, hunk.tail)
    end
  end
  hunks_by_mark[bufnr][hunk.mark] = nil
  hunk.mark, hunk.tail = nil, nil
end

local function lines_stand(bufnr, hunk, row)
  local stop = row + #hunk.old
  return stop <= api.nvim_buf_line_count(bufnr)
    and vim.deep_equal(api.nvim_buf_get_lines(bufnr, row, stop, false), hunk.old)
end

local function counts_of(lines)
  local counts = {}
  for _, line in ipairs(lines) do
    counts[line] = (counts[line] or 0) + 1
  end
  return counts
end

--- Notes for each hunk a line by which it can be found when its mark is lost: one that
--- occurs once in the buffer and is not blank. A hunk without one is not looked for.
---@param bufnr integer
---@param hunks typstai.LiveHunk[]
function M.note_landmarks(bufnr, hunks)
  local counts = counts_of(api.nvim_buf_get_lines(bufnr, 0, -1, false))
  for _, hunk in ipairs(hunks) do
    for i, line in ipairs(hunk.old) do
      if counts[line] == 1 and line:find("%S") and not hunk.landmark then
        hunk.landmark = i
      end
    end
  end
end

-- A formatter may write the whole buffer anew: every mark is invalid, most text stands.
local function find_by_landmark(bufnr, hunk)
  local wanted, found = hunk.old[hunk.landmark], nil
  for i, line in ipairs(api.nvim_buf_get_lines(bufnr, 0, -1, false)) do
    if line == wanted then
      if found then
        return nil
      end
      found = i - hunk.landmark
    end
  end
  return found and found >= 0 and lines_stand(bufnr, hunk, found) and found or nil
end

-- Row and column of a mark, and whether its line is still there.
local function position(bufnr, namespace, id)
  local mark = api.nvim_buf_get_extmark_by_id(bufnr, namespace, id, { details = true })
  return mark[1], mark[2], mark[1] ~= nil and not mark[3].invalid
end

-- Row of the hunk's first line, whether that line and the last one are still there, and
-- whether they stand as far from each other as they did.
local function place_of(bufnr, hunk)
  local row, col, is_there = position(bufnr, NS, hunk.mark)
  if not row or not hunk.tail then
    return row, is_there, is_there and col == 0
  end
  local tail, tail_col, is_tail_there = position(bufnr, TAILS, hunk.tail)
  is_there = is_there and is_tail_there
  return row, is_there, is_there and col == 0 and tail_col == 0 and tail == row + #hunk.old - 1
end

--- First and end row of the hunk's place now, and whether its old lines stand there.
---@param bufnr integer
---@param hunk typstai.LiveHunk
---@return integer start, integer finish, boolean stands
function M.find(bufnr, hunk)
  local row, is_there, is_whole
  if hunk.mark and api.nvim_buf_is_loaded(bufnr) then
    row, is_there, is_whole = place_of(bufnr, hunk)
  end
  if not row then
    return hunk.row0, hunk.row0 + #hunk.old, false
  end
  local moved_to = not is_there and hunk.landmark and find_by_landmark(bufnr, hunk)
  if moved_to then
    M.place(bufnr, hunk, moved_to)
    return moved_to, moved_to + #hunk.old, true
  end
  local stands = is_whole and lines_stand(bufnr, hunk, row)
  return row, math.min(row + #hunk.old, api.nvim_buf_line_count(bufnr)), stands
end

--- The hunks whose place touches the rows from `first` to `last`, both inclusive.
---@param bufnr integer
---@param first integer
---@param last integer
---@return typstai.LiveHunk[]
function M.touching(bufnr, first, last)
  local longest = longest_old[bufnr] or 0
  local from, to = { math.max(first - longest, 0), 0 }, { last, -1 }
  local known, found = hunks_by_mark[bufnr] or {}, {}
  for _, mark in ipairs(api.nvim_buf_get_extmarks(bufnr, NS, from, to, {})) do
    local hunk = known[mark[1]]
    if hunk and mark[2] + #hunk.old >= first then
      found[#found + 1] = hunk
    end
  end
  return found
end

--- Forgets a buffer that is gone.
---@param bufnr integer
function M.forget(bufnr)
  hunks_by_mark[bufnr], longest_old[bufnr] = nil, nil
end

return M
