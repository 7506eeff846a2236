-- Which hunk is meant by where the cursor is, and going to others.
local M = {}

local api = vim.api

---@class typstai.Stop where the cursor goes for a hunk
---@field row integer
---@field last integer row of what it replaces
---@field col? integer of a part of a line

-- What would be inserted hangs below the line above it.
local function cursor_row(hunk, start)
  local row = #hunk.old == 0 and start - 1 or start
  return math.min(math.max(row, 0), api.nvim_buf_line_count(hunk.proposal.bufnr) - 1)
end

local function stop_of(hunk)
  local start, finish = require("typstai.proposals.hunks").look(hunk)
  return { row = cursor_row(hunk, start), last = finish - 1, col = hunk.byte_col }
end

local function covers(hunk, first, last)
  local start, finish = require("typstai.proposals.hunks").look(hunk)
  local top = cursor_row(hunk, start)
  return top <= last and math.max(finish - 1, top) >= first
end

--- The undecided hunks of the current buffer that touch the rows, both inclusive.
---@param first integer
---@param last integer
---@return typstai.LiveHunk[]
function M.in_rows(first, last)
  local near =
    require("typstai.proposals.anchors").touching(api.nvim_get_current_buf(), first, last + 1)
  local found = vim.tbl_filter(function(hunk)
    return covers(hunk, first, last)
  end, near)
  -- A change of the line itself is meant before one that hangs below it.
  table.sort(found, function(a, b)
    if (#a.old == 0) ~= (#b.old == 0) then
      return #b.old == 0
    end
    if a.row0 == b.row0 and a.byte_col and b.byte_col and a.byte_col ~= b.byte_col then
      return a.byte_col < b.byte_col
    end
    if a.proposal ~= b.proposal then
      return a.proposal.seq < b.proposal.seq
    end
    return a.index < b.index
  end)
  return found
end

-- Bytes between a column and the text of a hunk; what would be inserted hangs at the end.
local function distance(hunk, col)
  if #hunk.old == 0 then
    return math.max(#api.nvim_get_current_line() - col, 0)
  elseif not hunk.byte_col then
    return 0
  end
  local last = hunk.byte_col + math.max(#hunk.old[1] - 1, 0)
  return math.max(hunk.byte_col - col, col - last, 0)
end

--- The hunk that the cursor of the current window is on, or nil. Of several parts of its
--- line, the nearest.
---@return typstai.LiveHunk|nil
function M.under_cursor()
  local cursor = api.nvim_win_get_cursor(0)
  local row, nearest, least = cursor[1] - 1, nil, math.huge
  for _, hunk in ipairs(M.in_rows(row, row)) do
    local away = distance(hunk, cursor[2])
    if away < least then
      nearest, least = hunk, away
    end
  end
  return nearest
end

local function is_before(one, other)
  if one.row ~= other.row then
    return one.row < other.row
  end
  return (one.col or 0) < (other.col or 0)
end

-- Places of all undecided hunks of the current buffer, without repeats, top to bottom.
---@return typstai.Stop[]
local function stops()
  local hunks = require("typstai.proposals.hunks")
  local seen, found = {}, {}
  for _, hunk in ipairs(hunks.undecided(hunks.proposals(api.nvim_get_current_buf()))) do
    local stop = stop_of(hunk)
    local key = stop.row .. ":" .. (stop.col or 0)
    if not seen[key] then
      seen[key] = true
      found[#found + 1] = stop
    end
  end
  table.sort(found, is_before)
  return found
end

-- Anywhere within a hunk counts as where it starts.
local function stop_at_cursor()
  local cursor = api.nvim_win_get_cursor(0)
  local stop = { row = cursor[1] - 1, col = cursor[2] }
  local hunk = M.under_cursor()
  if hunk and (not hunk.byte_col or distance(hunk, stop.col) == 0) then
    stop.col = hunk.byte_col
  end
  return stop
end

local function index_after(found, stop)
  for i, candidate in ipairs(found) do
    if is_before(stop, candidate) then
      return i
    end
  end
  return #found + 1
end

local function index_before(found, stop)
  for i = #found, 1, -1 do
    if is_before(found[i], stop) then
      return i
    end
  end
  return 0
end

-- Whether the rows from the top of the window to this one fit, with what hangs below it.
-- Virtual lines count as standing above the next line.
local function is_whole(row)
  local win = api.nvim_get_current_win()
  local range = { start_row = vim.fn.line("w0") - 1 }
  if row + 1 < api.nvim_buf_line_count(0) then
    range.end_row = row + 1
  end
  return api.nvim_win_text_height(win, range).all <= api.nvim_win_get_height(win)
end

-- Virtual lines below the last screen line would not be seen.
local function show_whole(row)
  for _, scroll in ipairs({ "zz", "zt" }) do
    if is_whole(row) then
      return
    end
    vim.cmd.normal({ scroll, bang = true })
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

local function go_to(stop)
  vim.cmd.normal({ "m'", bang = true })
  api.nvim_win_set_cursor(0, { stop.row + 1, stop.col or 0 })
  vim.cmd.normal({ "zv", bang = true })
  require("typstai.review.hint").show()
  show_whole(math.max(stop.row, stop.last))
end

--- Goes `count` hunks down (up when negative), around the ends of the buffer.
---@param count integer
function M.by(count)
  local found = stops()
  if #found == 0 then
    return
  end
  local here = stop_at_cursor()
  local from = count > 0 and index_after(found, here) - 1 or index_before(found, here) + 1
  go_to(found[(from + count - 1) % #found + 1])
end

--- Goes to a hunk, in the window that shows its document. Code: `no_buffer`.
---@param hunk typstai.LiveHunk
---@return boolean|nil, typstai.Error|nil
function M.to(hunk)
  local bufnr = hunk.proposal.bufnr
  local err = require("typstai.proposals.closed").reopen(bufnr)
  if err then
    return nil, err
  end
  api.nvim_set_current_win(require("typstai.text.buffer").show(bufnr))
  go_to(stop_of(hunk))
  return true
end

return M
