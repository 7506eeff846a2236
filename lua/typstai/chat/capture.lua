-- Where the cursor and the attached selections were when the user sent, kept by
-- extmarks so that they can be found again after any edit.
local M = {}

local namespace = vim.api.nvim_create_namespace("typstai.capture")

-- Runs whose places are remembered; older ones are forgotten.
local MAX_RUNS = 20

---@class typstai.capture.Mark
---@field bufnr integer
---@field mark integer
---@field text string what stood there

---@type table<string, { cursor: typstai.capture.Mark|nil, selection: typstai.capture.Mark|nil }>
local runs = {}
---@type string[]
local order = {}
---@type typstai.capture.Mark[]
local attached = {}

local function text_at(bufnr, row0, col0, row1, col1)
  return table.concat(vim.api.nvim_buf_get_text(bufnr, row0, col0, row1, col1, {}), "\n")
end

-- What is typed at the edges of a passage does not belong to it; what is typed where there
-- was nothing does.
---@param bufnr integer
---@return typstai.capture.Mark
local function mark(bufnr, row0, col0, row1, col1)
  local is_empty = row0 == row1 and col0 == col1
  return {
    bufnr = bufnr,
    text = text_at(bufnr, row0, col0, row1, col1),
    mark = vim.api.nvim_buf_set_extmark(bufnr, namespace, row0, col0, {
      end_row = row1,
      end_col = col1,
      undo_restore = true,
      right_gravity = not is_empty,
      end_right_gravity = is_empty,
    }),
  }
end

-- A mark at one character boundary; what is typed there stands before it.
local function point(bufnr, row0, col0)
  local opts = { undo_restore = true }
  return {
    bufnr = bufnr,
    text = "",
    mark = vim.api.nvim_buf_set_extmark(bufnr, namespace, row0, col0, opts),
  }
end

---@param kept typstai.capture.Mark
---@return typstai.Place|nil
local function place(kept)
  if not vim.api.nvim_buf_is_loaded(kept.bufnr) then
    return nil
  end
  local at =
    vim.api.nvim_buf_get_extmark_by_id(kept.bufnr, namespace, kept.mark, { details = true })
  if not at[1] then
    return nil
  end
  local row1, col1 = at[3].end_row or at[1], at[3].end_col or at[2]
  local now = text_at(kept.bufnr, at[1], at[2], row1, col1)
  return {
    bufnr = kept.bufnr,
    row0 = at[1],
    byte_col = at[2],
    end_row0 = row1,
    end_byte_col = col1,
    text = now,
    changed = now ~= kept.text,
  }
end

--- Attaches a passage of the current buffer to the next message.
---@param range typstai.Range
---@return typstai.Selection
function M.add_selection(range)
  table.insert(attached, mark(vim.api.nvim_get_current_buf(), unpack(range)))
  return M.attached()[#attached]
end

---@param kept typstai.capture.Mark
---@return typstai.Selection|nil
local function selection(kept)
  local at = place(kept)
  return at
    and {
      path = vim.api.nvim_buf_get_name(at.bufnr),
      start_line = at.row0 + 1,
      end_line = at.end_row0 + 1,
      text = at.text,
    }
end

--- The attached selections as they read now; those that are gone are forgotten.
---@return typstai.Selection[]
function M.attached()
  attached = vim.tbl_filter(function(kept)
    return place(kept) ~= nil
  end, attached)
  return vim.tbl_map(selection, attached)
end

--- Takes one of the attached selections off.
---@param position integer from 1, as in `attached`
function M.remove(position)
  table.remove(attached, position)
end

--- Takes everything off the next message.
function M.clear()
  attached = {}
end

local function remember(id, kept)
  runs[id] = kept
  table.insert(order, id)
  if #order > MAX_RUNS then
    runs[table.remove(order, 1)] = nil
  end
end

local function cursor_of(bufnr)
  local window = vim.fn.bufwinid(bufnr)
  if window == -1 then
    return nil
  end
  local at = vim.api.nvim_win_get_cursor(window)
  return point(bufnr, at[1] - 1, at[2])
end

--- Captures the cursor of a buffer and what is attached, for the run about to start.
---@param bufnr integer|nil
---@return { id: string, selections: typstai.Selection[] }
function M.take(bufnr)
  local id = ("%x%08x"):format(vim.uv.hrtime(), math.random(0, 0x7fffffff))
  local fresh = vim
    .iter(attached)
    :map(place)
    :map(function(at)
      return mark(at.bufnr, at.row0, at.byte_col, at.end_row0, at.end_byte_col)
    end)
    :totable()
  local selections = M.attached()
  remember(id, { cursor = bufnr and cursor_of(bufnr), selection = fresh[#fresh] })
  return { id = id, selections = selections }
end

--- Tracks a range under an id of the caller's, as a selection, until it is released.
---@param id string
---@param bufnr integer
---@param range typstai.Range
function M.keep(id, bufnr, range)
  runs[id] = { selection = mark(bufnr, unpack(range)) }
end

--- Forgets a range that was kept.
---@param id string
function M.release(id)
  local kept = runs[id] and runs[id].selection
  runs[id] = nil
  if kept and vim.api.nvim_buf_is_valid(kept.bufnr) then
    vim.api.nvim_buf_del_extmark(kept.bufnr, namespace, kept.mark)
  end
end

--- Where a captured place is now; nil when there was none or it is gone.
---@param args { run: string, what: "cursor"|"selection" }
---@return typstai.Place|nil
function M.place(args)
  local kept = runs[args.run] and runs[args.run][args.what]
  return kept and place(kept) or nil
end

return M
