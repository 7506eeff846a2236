-- The one way in which text of a proposal enters a buffer: compare and apply, in one
-- call, as one undo step, with the smallest edits.
local M = {}

local api = vim.api

-- Where the text that a change replaces ends.
local function finish(change)
  if change.byte_col then
    return change.row0, change.byte_col + #change.old[1]
  end
  return change.row0 + #change.old, 0
end

local function stands(bufnr, change)
  local stop = change.row0 + #change.old
  if stop > api.nvim_buf_line_count(bufnr) then
    return false
  end
  if change.byte_col then
    local line = api.nvim_buf_get_lines(bufnr, change.row0, stop, false)[1]
    local _, end_col = finish(change)
    return line:sub(change.byte_col + 1, end_col) == change.old[1]
  end
  return vim.deep_equal(api.nvim_buf_get_lines(bufnr, change.row0, stop, false), change.old)
end

-- Top to bottom; what is inserted before a line comes before what that line becomes.
local function in_order(changes)
  local order = {}
  for i in ipairs(changes) do
    order[i] = i
  end
  table.sort(order, function(a, b)
    local left, right = changes[a], changes[b]
    if left.row0 ~= right.row0 then
      return left.row0 < right.row0
    end
    if (#left.old == 0) ~= (#right.old == 0) then
      return #left.old == 0
    end
    if left.byte_col ~= right.byte_col then
      return (left.byte_col or -1) < (right.byte_col or -1)
    end
    return a < b
  end)
  return order
end

-- Indices of the changes that can be made, top to bottom.
local function fitting(bufnr, changes)
  local fits, free_row, free_col = {}, 0, 0
  for _, i in ipairs(in_order(changes)) do
    local change = changes[i]
    local is_free = change.row0 > free_row
      or (change.row0 == free_row and (change.byte_col or 0) >= free_col)
    if is_free and stands(bufnr, change) then
      fits[#fits + 1] = i
      free_row, free_col = finish(change)
    end
  end
  return fits
end

local function reword(bufnr, row, col, step)
  for i = #step.spans, 1, -1 do
    local span = step.spans[i]
    local words = step.new[1]:sub(span.new_col + 1, span.new_end)
    api.nvim_buf_set_text(bufnr, row, col + span.old_col, row, col + span.old_end, { words })
  end
end

local function replace_part(bufnr, change)
  local row, end_col = finish(change)
  api.nvim_buf_set_text(bufnr, row, change.byte_col, row, end_col, change.new)
end

local function edit(bufnr, change)
  local steps = change.steps or require("typstai.text.diff").steps(change)
  for i = #steps, 1, -1 do
    local step = steps[i]
    local row = change.row0 + step.old_row
    if step.spans then
      reword(bufnr, row, change.byte_col or 0, step)
    elseif change.byte_col then
      return replace_part(bufnr, change)
    elseif not vim.deep_equal(step.old, step.new) then
      -- (An edit that changes nothing would still be a step of undo.)
      api.nvim_buf_set_lines(bufnr, row, row + #step.old, true, step.new)
    end
  end
end

-- Setting 'undolevels', to whatever it is, closes the undo step: without it an edit
-- made while the user types would go back with their words.
local function close_undo_step(bufnr)
  vim.bo[bufnr].undolevels = vim.bo[bufnr].undolevels
end

local function picked(changes, indices)
  return vim.tbl_map(function(i)
    return changes[i]
  end, indices)
end

--- Makes those of the changes whose old lines stand at their place and that do not
--- overlap one above, as one undo step.
--- Codes: `no_buffer`, `not_modifiable`, those of `ahead`.
---@param bufnr integer
---@param changes typstai.LineChange[] may carry their `steps`
---@param ahead? fun(bufnr: integer, changes: typstai.LineChange[]): typstai.Error|nil, fun()|nil
---  told what will be made, from the top; its error refuses everything, its function is called
---  when it is made
---@return table<integer, boolean>|nil made by index, typstai.Error|nil
function M.run(bufnr, changes, ahead)
  local buffer = require("typstai.text.buffer")
  if not api.nvim_buf_is_valid(bufnr) or not buffer.load(bufnr) then
    return nil, { code = "no_buffer", message = "The document is no longer open." }
  end
  if not buffer.is_modifiable(bufnr) then
    return nil, { code = "not_modifiable", message = "The document is read-only." }
  end
  local fits, made = fitting(bufnr, changes), {}
  if #fits == 0 then
    return made
  end
  local err, done
  if ahead then
    err, done = ahead(bufnr, picked(changes, fits))
  end
  if err then
    return nil, err
  end
  close_undo_step(bufnr)
  for i = #fits, 1, -1 do
    edit(bufnr, changes[fits[i]])
    made[fits[i]] = true
  end
  close_undo_step(bufnr)
  if done then
    done()
  end
  return made
end

return M
