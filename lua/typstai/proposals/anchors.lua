-- Where the lines of a hunk are now. A mark only says where to look; the lines that
-- stand there decide whether the hunk still fits.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("typstai.anchors")
-- Marks that bear witness: at the last of several lines (of equal ones below each other,
-- which was deleted cannot be told by the text), and at the lines that an insertion
-- stands between.
local WITNESSES = api.nvim_create_namespace("typstai.anchors.witnesses")

---@type table<integer, table<integer, typstai.LiveHunk>> by buffer and mark
local hunks_by_mark = {}
---@type table<integer, integer> most lines that a hunk of the buffer replaces
local longest_old = {}

-- A replacement's mark moves down with its first line when one is added above, becomes
-- invalid when that line is deleted, and comes back with undo. (A mark with an end would
-- not become invalid when whole lines go.) An insertion sticks to the line above.
local function mark_options(hunk)
  local replaces = #hunk.old > 0
  return {
    id = hunk.mark,
    right_gravity = replaces,
    invalidate = replaces,
    undo_restore = true,
  }
end

---@class typstai.Witnesses marks at other lines that hold the place of a hunk
---@field tail? integer the last of several old lines
---@field above? integer the line above an insertion
---@field below? integer the line below an insertion

local function witness_rows(hunk, row, last)
  if #hunk.old > 1 then
    return { tail = row + #hunk.old - 1 }
  elseif #hunk.old == 1 then
    return {}
  end
  return { above = row > 0 and row - 1 or nil, below = row < last and row or nil }
end

local function remove_witnesses(bufnr, hunk)
  for _, id in pairs(hunk.witnesses or {}) do
    api.nvim_buf_del_extmark(bufnr, WITNESSES, id)
  end
  hunk.witnesses = {}
end

local function place_witnesses(bufnr, hunk, row, last)
  remove_witnesses(bufnr, hunk)
  local options = { invalidate = true, undo_restore = true }
  for name, at in pairs(witness_rows(hunk, row, last)) do
    local id = api.nvim_buf_set_extmark(bufnr, WITNESSES, math.min(at, last), 0, options)
    hunk.witnesses[name] = id
  end
end

-- A part of a line is a range; what is typed at either end stays out of it.
local function part_options(hunk, row, col)
  return {
    id = hunk.mark,
    end_row = row,
    end_col = col + #hunk.old[1],
    invalidate = true,
    undo_restore = true,
    strict = false,
  }
end

--- Puts the anchor of a hunk at a place, or moves it there.
---@param bufnr integer
---@param hunk typstai.LiveHunk
---@param row integer
---@param col? integer byte column of a part of a line
function M.place(bufnr, hunk, row, col)
  local last = api.nvim_buf_line_count(bufnr)
  local options = col and part_options(hunk, row, col) or mark_options(hunk)
  hunk.mark = api.nvim_buf_set_extmark(bufnr, NS, math.min(row, last), col or 0, options)
  place_witnesses(bufnr, hunk, row, last)
  hunk.lost, hunk.searched = false, nil
  hunks_by_mark[bufnr] = hunks_by_mark[bufnr] or {}
  hunks_by_mark[bufnr][hunk.mark] = hunk
  longest_old[bufnr] = math.max(longest_old[bufnr] or 0, #hunk.old)
end

--- Puts the anchor back after the text was read anew: where the hunk's lines stand now,
--- else where it was, as lost.
---@param bufnr integer
---@param hunk typstai.LiveHunk
function M.place_again(bufnr, hunk)
  local lines = api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local row, col = require("typstai.proposals.landmarks").find_in_file(lines, hunk)
  M.place(bufnr, hunk, row or hunk.row0, col or hunk.byte_col)
  hunk.lost = row == nil
end

---@param bufnr integer
---@param hunk typstai.LiveHunk
function M.remove(bufnr, hunk)
  if not hunk.mark then
    return
  end
  if api.nvim_buf_is_valid(bufnr) then
    api.nvim_buf_del_extmark(bufnr, NS, hunk.mark)
    remove_witnesses(bufnr, hunk)
  end
  hunks_by_mark[bufnr][hunk.mark] = nil
  hunk.mark = nil
end

local function lines_stand(bufnr, hunk, row)
  local stop = row + #hunk.old
  return stop <= api.nvim_buf_line_count(bufnr)
    and vim.deep_equal(api.nvim_buf_get_lines(bufnr, row, stop, false), hunk.old)
end

-- Row and column of a mark, and whether its line is still there.
local function position(bufnr, namespace, id)
  local mark = api.nvim_buf_get_extmark_by_id(bufnr, namespace, id, { details = true })
  return mark[1], mark[2], mark[1] ~= nil and not mark[3].invalid
end

local function witness_row(bufnr, id)
  local row, _, is_there = nil, nil, false
  if id then
    row, _, is_there = position(bufnr, WITNESSES, id)
  end
  return is_there and row or nil
end

-- An insertion sticks to the line above, and to the one below when that is gone; its own
-- mark tells where between them. Without both it has no place.
local function place_of_insertion(bufnr, hunk, row)
  local above = witness_row(bufnr, hunk.witnesses.above)
  local below = witness_row(bufnr, hunk.witnesses.below)
  if below and (not above or row > below) and hunk.witnesses.above then
    row = below
  elseif above and row <= above then
    row = above + 1
  end
  local is_there = above ~= nil or below ~= nil
  return row, is_there, is_there
end

-- Whether the last line is there, and where it must be.
local function tail_stands(bufnr, hunk, row)
  if #hunk.old == 1 then
    return true, true
  end
  local tail, col, is_there = position(bufnr, WITNESSES, hunk.witnesses.tail)
  return is_there, is_there and col == 0 and tail == row + #hunk.old - 1
end

-- Row of the hunk; whether the lines that hold its place are there; whether they stand
-- to each other as they did.
local function place_of(bufnr, hunk)
  local row, col, is_there = position(bufnr, NS, hunk.mark)
  if not row then
    return nil
  elseif #hunk.old == 0 then
    return place_of_insertion(bufnr, hunk, row)
  end
  local is_tail_there, is_whole = tail_stands(bufnr, hunk, row)
  return row, is_there and is_tail_there, is_there and col == 0 and is_whole
end

-- The same of a part of a line, and its column. What is deleted leaves no range, so a range
-- of the old length was restored: Neovim before 0.12 may call it invalid all the same.
local function place_of_part(bufnr, hunk)
  local mark = api.nvim_buf_get_extmark_by_id(bufnr, NS, hunk.mark, { details = true })
  local row, col, details = mark[1], mark[2], mark[3]
  if not row or details.end_row ~= row or details.end_col - col ~= #hunk.old[1] then
    return row, row ~= nil and not details.invalid, false, col
  end
  local line = api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
  local stands = line:sub(col + 1, details.end_col) == hunk.old[1]
  if stands and details.invalid and not hunk.lost then
    M.place(bufnr, hunk, row, col)
  end
  return row, stands or not details.invalid, stands, col
end

-- Searching takes a look at every line, so it is done once for each state of the text.
local function search(bufnr, hunk)
  local tick = api.nvim_buf_get_changedtick(bufnr)
  if hunk.searched == tick then
    return nil
  end
  hunk.searched = tick
  local landmarks = require("typstai.proposals.landmarks")
  local lines = api.nvim_buf_get_lines(bufnr, 0, -1, false)
  return (hunk.lost and landmarks.find_in_file or landmarks.find)(lines, hunk)
end

local function find_in_closed(hunk)
  local row, col = require("typstai.proposals.closed").find(hunk)
  if not row then
    return hunk.row0, hunk.row0 + #hunk.old, false
  end
  hunk.byte_col = col
  return row, row + #hunk.old, true
end

--- First and end row of the hunk's place now, and whether its old lines stand there. The
--- column of a part of a line is brought up to date. In a closed document the file counts.
---@param bufnr integer
---@param hunk typstai.LiveHunk
---@return integer start, integer finish, boolean stands
function M.find(bufnr, hunk)
  if not api.nvim_buf_is_loaded(bufnr) then
    return find_in_closed(hunk)
  end
  local row, is_there, is_whole, col
  if hunk.mark then
    local look = hunk.byte_col and place_of_part or place_of
    row, is_there, is_whole, col = look(bufnr, hunk)
  end
  if not row then
    return hunk.row0, hunk.row0 + #hunk.old, false
  end
  hunk.byte_col = col
  if hunk.lost or not is_there then
    local found, found_col = search(bufnr, hunk)
    if found then
      M.place(bufnr, hunk, found, found_col)
      hunk.byte_col = found_col
      return found, found + #hunk.old, true
    end
  end
  local stands = is_whole and not hunk.lost and (col or lines_stand(bufnr, hunk, row))
  return row, math.min(row + #hunk.old, api.nvim_buf_line_count(bufnr)), stands and true or false
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
