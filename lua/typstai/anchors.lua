-- Where the lines of a hunk are now. A mark only says where to look; the lines that
-- stand there decide whether the hunk still fits.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("typstai.anchors")

---@type table<integer, table<integer, typstai.LiveHunk>> by buffer and mark
local hunks_by_mark = {}

-- A replacement covers its lines with their line ends, so that deleting them makes
-- the mark invalid, and moves down with them when a line is added above. An insertion
-- sticks to the line above.
local function mark_options(hunk, row)
  if #hunk.old == 0 then
    return { id = hunk.mark, right_gravity = false, undo_restore = true }
  end
  return {
    id = hunk.mark,
    end_row = row + #hunk.old,
    end_col = 0,
    end_right_gravity = false,
    invalidate = true,
    undo_restore = true,
  }
end

--- Puts the anchor of a hunk at a row, or moves it there.
---@param bufnr integer
---@param hunk typstai.LiveHunk
---@param row integer
function M.place(bufnr, hunk, row)
  local last = api.nvim_buf_line_count(bufnr)
  local at = math.min(row, last)
  local options = mark_options(hunk, at)
  options.end_row = options.end_row and math.min(options.end_row, last)
  hunk.mark = api.nvim_buf_set_extmark(bufnr, NS, at, 0, options)
  hunks_by_mark[bufnr] = hunks_by_mark[bufnr] or {}
  hunks_by_mark[bufnr][hunk.mark] = hunk
end

---@param bufnr integer
---@param hunk typstai.LiveHunk
function M.remove(bufnr, hunk)
  if not hunk.mark then
    return
  end
  if api.nvim_buf_is_valid(bufnr) then
    api.nvim_buf_del_extmark(bufnr, NS, hunk.mark)
  end
  hunks_by_mark[bufnr][hunk.mark] = nil
  hunk.mark = nil
end

local function lines_stand(bufnr, hunk, row)
  local stop = row + #hunk.old
  return stop <= api.nvim_buf_line_count(bufnr)
    and vim.deep_equal(api.nvim_buf_get_lines(bufnr, row, stop, false), hunk.old)
end

--- First and end row of the hunk's place now, and whether its old lines stand there.
---@param bufnr integer
---@param hunk typstai.LiveHunk
---@return integer start, integer finish, boolean stands
function M.find(bufnr, hunk)
  local mark = hunk.mark
      and api.nvim_buf_is_loaded(bufnr)
      and api.nvim_buf_get_extmark_by_id(bufnr, NS, hunk.mark, { details = true })
    or {}
  local row, col, details = mark[1], mark[2], mark[3]
  if not row then
    return hunk.row0, hunk.row0, false
  end
  if col == 0 and not details.invalid and lines_stand(bufnr, hunk, row) then
    return row, row + #hunk.old, true
  end
  return row, math.max(details.end_row or row, row), false
end

--- The hunks whose place touches the rows from `first` to `last`, both inclusive.
---@param bufnr integer
---@param first integer
---@param last integer
---@return typstai.LiveHunk[]
function M.touching(bufnr, first, last)
  local known = hunks_by_mark[bufnr] or {}
  local found = {}
  local from, to = { math.max(first, 0), 0 }, { last, -1 }
  for _, mark in ipairs(api.nvim_buf_get_extmarks(bufnr, NS, from, to, { overlap = true })) do
    found[#found + 1] = known[mark[1]]
  end
  return found
end

--- Forgets a buffer that is gone.
---@param bufnr integer
function M.forget(bufnr)
  hunks_by_mark[bufnr] = nil
end

return M
