-- Ranges of text as the user marks them: rows and byte columns from 0, end-exclusive.
-- A block counts as its whole lines: columns of prose have no meaning of their own.
local M = {}

---@class typstai.Range
---@field [1] integer first row
---@field [2] integer byte column in it
---@field [3] integer last row
---@field [4] integer byte column after the last byte

local MAX_COLUMN = vim.v.maxcol

local function line_of(bufnr, row0)
  return vim.api.nvim_buf_get_lines(bufnr, row0, row0 + 1, false)[1] or ""
end

-- Column, from 0, after the character that holds the byte at `col` (from 1), with the
-- combining characters that belong to it.
local function after_char(line, col)
  if col > #line then
    return #line
  end
  local start = col + vim.str_utf_start(line, col)
  local char = require("typstai.text.graphemes").first(line:sub(start))
  return math.min(#line, start - 1 + #char)
end

--- Whole lines, from 0, both inclusive.
---@param bufnr integer
---@param first0 integer
---@param last0 integer
---@return typstai.Range
function M.lines(bufnr, first0, last0)
  local last = math.min(last0, vim.api.nvim_buf_line_count(bufnr) - 1)
  local first = math.max(math.min(first0, last), 0)
  return { first, 0, last, #line_of(bufnr, last) }
end

-- From one character to another, as `getpos()` tells them; the second is part of it.
local function characters(bufnr, from, to)
  local first, last = from[2] - 1, to[2] - 1
  local col = math.min(from[3] - 1, #line_of(bufnr, first))
  if to[3] >= MAX_COLUMN then
    return { first, col, last, #line_of(bufnr, last) }
  end
  return { first, col, last, after_char(line_of(bufnr, last), to[3]) }
end

--- What an operator is to work on; `kind` as 'operatorfunc' gets it. In the current buffer.
---@param kind "char"|"line"|"block"
---@return typstai.Range
function M.operator(kind)
  local bufnr = vim.api.nvim_get_current_buf()
  local from, to = vim.fn.getpos("'["), vim.fn.getpos("']")
  if kind ~= "char" then
    return M.lines(bufnr, from[2] - 1, to[2] - 1)
  end
  return characters(bufnr, from, to)
end

--- The last visual selection of the current buffer.
---@return typstai.Range
function M.visual()
  local bufnr = vim.api.nvim_get_current_buf()
  local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
  if vim.fn.visualmode() ~= "v" then
    return M.lines(bufnr, from[2] - 1, to[2] - 1)
  end
  local range = characters(bufnr, from, to)
  if vim.o.selection == "exclusive" and to[3] < MAX_COLUMN then
    range[4] = math.min(to[3] - 1, #line_of(bufnr, range[3]))
  end
  return range
end

--- What a command line with a range means: the visual selection where it is that, else
--- whole lines; without a range, the paragraph under the cursor. In the current buffer.
---@param command { range: integer, line1: integer, line2: integer }
---@return typstai.Range
function M.of_command(command)
  local bufnr = vim.api.nvim_get_current_buf()
  if command.range == 0 then
    return M.paragraph(bufnr, vim.api.nvim_win_get_cursor(0)[1] - 1)
  end
  local is_visual = command.line1 == vim.fn.line("'<") and command.line2 == vim.fn.line("'>")
  if command.range == 2 and is_visual then
    return M.visual()
  end
  return M.lines(bufnr, command.line1 - 1, command.line2 - 1)
end

--- What is to be taken along: the command's range, else the last visual selection, else
--- the paragraph under the cursor. In the current buffer.
---@param command { range: integer, line1: integer, line2: integer }
---@return typstai.Range
function M.marked(command)
  if command.range == 0 and vim.fn.line("'<") > 0 then
    return M.visual()
  end
  return M.of_command(command)
end

--- The lines around a row up to the next blank ones.
---@param bufnr integer
---@param row0 integer
---@return typstai.Range
function M.paragraph(bufnr, row0)
  local function is_text(row)
    return row >= 0 and line_of(bufnr, row):find("%S") ~= nil
  end
  local first, last = row0, row0
  while is_text(row0) and is_text(first - 1) do
    first = first - 1
  end
  while is_text(row0) and is_text(last + 1) do
    last = last + 1
  end
  return M.lines(bufnr, first, last)
end

--- A range that lies within the buffer, or nil for one that makes no sense.
---@param bufnr integer
---@param range any
---@return typstai.Range|nil
function M.checked(bufnr, range)
  local count = vim.api.nvim_buf_line_count(bufnr)
  if type(range) ~= "table" or #range ~= 4 then
    return nil
  end
  for _, number in ipairs(range) do
    if type(number) ~= "number" or number < 0 or number % 1 ~= 0 then
      return nil
    end
  end
  local last = math.min(range[3], count - 1)
  if range[1] > last or (range[1] == last and range[2] > range[4] and range[3] == last) then
    return nil
  end
  local start_col = math.min(range[2], #line_of(bufnr, range[1]))
  local end_col = range[3] > last and #line_of(bufnr, last)
    or math.min(range[4], #line_of(bufnr, last))
  return { range[1], start_col, last, end_col }
end

return M
