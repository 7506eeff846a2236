-- Which hunk is meant by where the cursor is, and going to others.
local M = {}

local api = vim.api

-- What would be inserted hangs below the line above it.
local function cursor_row(hunk, start)
  local row = #hunk.old == 0 and start - 1 or start
  return math.min(math.max(row, 0), api.nvim_buf_line_count(hunk.proposal.bufnr) - 1)
end

local function covers(hunk, first, last)
  local start, finish = require("typstai.hunks").look(hunk)
  local top = cursor_row(hunk, start)
  return top <= last and math.max(finish - 1, top) >= first
end

--- The undecided hunks of the current buffer that touch the rows, both inclusive.
---@param first integer
---@param last integer
---@return typstai.LiveHunk[]
function M.in_rows(first, last)
  local near = require("typstai.anchors").touching(api.nvim_get_current_buf(), first, last + 1)
  local found = vim.tbl_filter(function(hunk)
    return covers(hunk, first, last)
  end, near)
  -- A change of the line itself is meant before one that hangs below it.
  table.sort(found, function(a, b)
    if (#a.old == 0) ~= (#b.old == 0) then
      return #b.old == 0
    end
    if a.proposal ~= b.proposal then
      return a.proposal.seq < b.proposal.seq
    end
    return a.index < b.index
  end)
  return found
end

--- The hunk that the cursor of the current window is on, or nil.
---@return typstai.LiveHunk|nil
function M.under_cursor()
  local row = api.nvim_win_get_cursor(0)[1] - 1
  return M.in_rows(row, row)[1]
end

-- Rows of all undecided hunks of the current buffer, without repeats, top to bottom.
local function rows_of_all()
  local hunks = require("typstai.hunks")
  local seen, rows = {}, {}
  for _, hunk in ipairs(hunks.undecided(hunks.proposals(api.nvim_get_current_buf()))) do
    local row = cursor_row(hunk, (hunks.look(hunk)))
    if not seen[row] then
      seen[row] = true
      rows[#rows + 1] = row
    end
  end
  table.sort(rows)
  return rows
end

local function index_after(rows, row)
  for i, candidate in ipairs(rows) do
    if candidate > row then
      return i
    end
  end
  return #rows + 1
end

local function index_before(rows, row)
  for i = #rows, 1, -1 do
    if rows[i] < row then
      return i
    end
  end
  return 0
end

-- Virtual lines below the last screen line would not be seen. They count as standing
-- above the next line.
local function show_whole(row)
  local win = api.nvim_get_current_win()
  local range = { start_row = vim.fn.line("w0") - 1 }
  if row + 1 < api.nvim_buf_line_count(0) then
    range.end_row = row + 1
  end
  local height = api.nvim_win_text_height(win, range).all
  if height > api.nvim_win_get_height(win) then
    vim.cmd.normal({ "zz", bang = true })
  end
end

--- Brings what hangs below the last line into view once the cursor is there: no motion
--- goes further down.
function M.show_end()
  local last = api.nvim_buf_line_count(0)
  if api.nvim_win_get_cursor(0)[1] == last and M.under_cursor() then
    show_whole(last - 1)
  end
end

local function go_to_row(row)
  vim.cmd.normal({ "m'", bang = true })
  api.nvim_win_set_cursor(0, { row + 1, 0 })
  vim.cmd.normal({ "zv", bang = true })
  show_whole(row)
end

--- Goes `count` hunks down (up when negative), around the ends of the buffer.
---@param count integer
function M.by(count)
  local rows = rows_of_all()
  if #rows == 0 then
    return
  end
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local from = count > 0 and index_after(rows, row) - 1 or index_before(rows, row) + 1
  go_to_row(rows[(from + count - 1) % #rows + 1])
end

--- Goes to a hunk, in the window that shows its document.
---@param hunk typstai.LiveHunk
function M.to(hunk)
  local bufnr = hunk.proposal.bufnr
  require("typstai.buffer").load(bufnr)
  api.nvim_set_current_win(require("typstai.buffer").show(bufnr))
  go_to_row(cursor_row(hunk, (require("typstai.hunks").look(hunk))))
end

return M
