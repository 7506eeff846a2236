-- Draws one hunk into a buffer: what would go is marked where it stands, what would
-- come is virtual text. A change is drawn inline or below, never both.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("typstai.review")

-- More than this inside a line is easier to read as a whole line below it.
local MAX_INLINE_SPANS = 4
local MAX_INLINE_CELLS = 60
-- A paragraph on one line has room for more, and would be long below itself: it may have a
-- change in so many cells, and so much of it may change.
local CELLS_OF_A_SPAN = 40
local INLINE_SHARE = 0.25
-- A sentence within a line is read where it stands: below its paragraph it would be far
-- from what it replaces.
local MAX_SENTENCE_CELLS = 600
-- The chat shows a longer insertion whole.
local MAX_DRAWN_LINES = 40

-- Two marks, for a colour may come from a scheme and a line through the text from us.
local DELETED = { "TypstAIDeleted", "TypstAIStrike" }

---@class typstai.Canvas what drawing one hunk needs to know
---@field bufnr integer
---@field col integer at which what the hunk replaces starts
---@field width integer of the narrowest window that shows the buffer
---@field glyphs typstai.ui.Glyphs
---@field marks integer[] drawn so far
---@field below table<integer, typstai.Chunk[][]> virtual lines to come, by row
---@field above typstai.Chunk[][] virtual lines above the first line

local function mark(canvas, row, col, options)
  options.strict = false
  canvas.marks[#canvas.marks + 1] = api.nvim_buf_set_extmark(canvas.bufnr, NS, row, col, options)
end

local function strike(canvas, row, col, end_col)
  for _, group in ipairs(DELETED) do
    mark(canvas, row, col, { end_row = row, end_col = end_col, hl_group = group, priority = 150 })
  end
end

local function sign(canvas, row, glyph, group)
  mark(canvas, row, 0, { sign_text = glyph, sign_hl_group = group, priority = 20 })
end

local function tabstop(canvas)
  return vim.bo[canvas.bufnr].tabstop
end

local function inline_words(canvas, row, step, span)
  local before = api.nvim_strwidth(step.old[1]:sub(1, span.old_end))
  local words = step.new[1]:sub(span.new_col + 1, span.new_end)
  local text = require("typstai.ui.wrap").expand_tabs(words, before, tabstop(canvas))
  mark(canvas, row, canvas.col + span.old_end, {
    virt_text = { { text, "TypstAIAdd" } },
    virt_text_pos = "inline",
  })
end

local function cells(line, from, to)
  return api.nvim_strwidth(line:sub(from + 1, to))
end

-- A few words are read where they change; words that only come or only go, at any length.
local function is_inline(step)
  local spans = step.spans
  local length = api.nvim_strwidth(step.old[1] or "")
  if not spans or #spans > math.max(MAX_INLINE_SPANS, length / CELLS_OF_A_SPAN) then
    return false
  end
  local gone, come = 0, 0
  for _, span in ipairs(spans) do
    gone = gone + cells(step.old[1], span.old_col, span.old_end)
    come = come + cells(step.new[1], span.new_col, span.new_end)
  end
  return gone == 0 or come == 0 or gone + come <= math.max(MAX_INLINE_CELLS, length * INLINE_SHARE)
end

local function draw_inline(canvas, row, step)
  for _, span in ipairs(step.spans) do
    if span.old_end > span.old_col then
      strike(canvas, row, canvas.col + span.old_col, canvas.col + span.old_end)
    end
    if span.new_end > span.new_col then
      inline_words(canvas, row, step, span)
    end
  end
end

-- Setting off what is new helps only while it is the smaller part.
local function is_mostly_new(step)
  local new = 0
  for _, span in ipairs(step.spans) do
    new = new + span.new_end - span.new_col
  end
  return 2 * new > #step.new[1]
end

-- A new line with the words that are new in it set off.
local function word_chunks(step)
  local line, chunks, at = step.new[1], {}, 0
  for _, span in ipairs(step.spans) do
    chunks[#chunks + 1] = { line:sub(at + 1, span.new_col), "TypstAIAdd" }
    chunks[#chunks + 1] = { line:sub(span.new_col + 1, span.new_end), "TypstAIHunk" }
    at = span.new_end
  end
  chunks[#chunks + 1] = { line:sub(at + 1), "TypstAIAdd" }
  return chunks
end

local function new_lines(canvas, step)
  if step.spans and not is_mostly_new(step) then
    return require("typstai.ui.wrap").lines(word_chunks(step), canvas.width, tabstop(canvas))
  end
  local lines = {}
  for i = 1, math.min(#step.new, MAX_DRAWN_LINES) do
    local text = step.new[i] == "" and " " or step.new[i]
    local chunks = { { text, "TypstAIAdd" } }
    vim.list_extend(lines, require("typstai.ui.wrap").lines(chunks, canvas.width, tabstop(canvas)))
  end
  if #step.new > MAX_DRAWN_LINES then
    local rest = ("%s %d more lines in the chat"):format(
      canvas.glyphs.more,
      #step.new - MAX_DRAWN_LINES
    )
    lines[#lines + 1] = { { rest, "TypstAIHint" } }
  end
  return lines
end

local function add_virtual_lines(canvas, row, lines)
  if row < 0 then
    vim.list_extend(canvas.above, lines)
    return
  end
  canvas.below[row] = canvas.below[row] or {}
  vim.list_extend(canvas.below[row], lines)
end

local function strike_line(canvas, row, text)
  if text == "" then
    mark(canvas, row, 0, {
      virt_text = { { canvas.glyphs.empty_line, "TypstAIDeleted" } },
      virt_text_pos = "overlay",
    })
  else
    strike(canvas, row, canvas.col, canvas.col + #text)
  end
end

-- The line that goes is dimmed; the words that differ are struck out.
local function dim_line(canvas, row, step)
  mark(canvas, row, canvas.col, {
    end_row = row,
    end_col = canvas.col + #step.old[1],
    hl_group = "TypstAIDim",
    priority = 140,
  })
  for _, span in ipairs(step.spans) do
    strike(canvas, row, canvas.col + span.old_col, canvas.col + span.old_end)
  end
end

local function draw_whole_lines(canvas, row, step)
  if step.spans then
    dim_line(canvas, row, step)
  else
    for i, text in ipairs(step.old) do
      strike_line(canvas, row + i - 1, text)
    end
  end
  if #step.new > 0 then
    add_virtual_lines(canvas, row + #step.old - 1, new_lines(canvas, step))
  end
end

-- The old sentence struck out as a whole, the new one after it.
local function draw_sentence(canvas, row, step)
  local finish = canvas.col + #step.old[1]
  strike(canvas, row, canvas.col, finish)
  local text = require("typstai.ui.wrap").expand_tabs(step.new[1], 0, tabstop(canvas))
  mark(canvas, row, finish, {
    virt_text = { { " " }, { text, "TypstAIAdd" } },
    virt_text_pos = "inline",
  })
end

local function is_sentence(hunk)
  return hunk.byte_col and #hunk.new == 1 and api.nvim_strwidth(hunk.new[1]) <= MAX_SENTENCE_CELLS
end

local function draw_step(canvas, row, hunk, step)
  if is_inline(step) then
    draw_inline(canvas, row, step)
  elseif is_sentence(hunk) then
    draw_sentence(canvas, row, step)
  else
    draw_whole_lines(canvas, row, step)
  end
end

local function draw_signs(canvas, start, hunk)
  for row = start, start + #hunk.old - 1 do
    sign(canvas, row, canvas.glyphs.changed, "TypstAISign")
  end
  if #hunk.old == 0 then
    local glyph = start == 0 and canvas.glyphs.added_above or canvas.glyphs.added_below
    sign(canvas, math.max(start - 1, 0), glyph, "TypstAISign")
  end
end

-- What comes before the hunk's first line hangs below the line above, after what that line
-- itself becomes: a mark at its end comes after one at its start.
local function flush(canvas, start)
  for row, lines in pairs(canvas.below) do
    local is_own = row >= start
    local line = is_own and "" or api.nvim_buf_get_lines(canvas.bufnr, row, row + 1, false)[1]
    mark(canvas, row, #line, { virt_lines = lines })
  end
  if #canvas.above > 0 then
    mark(canvas, 0, 0, { virt_lines = canvas.above, virt_lines_above = true })
  end
end

--- Draws a pending hunk at its place.
---@param bufnr integer
---@param hunk typstai.LiveHunk
---@param start integer row
---@param width integer
---@return integer[] marks, integer above virtual lines above the first line
function M.pending(bufnr, hunk, start, width)
  local canvas = {
    bufnr = bufnr,
    col = hunk.byte_col or 0,
    width = width,
    glyphs = require("typstai.ui.glyphs").get(),
    marks = {},
    below = {},
    above = {},
  }
  hunk.steps = hunk.steps or require("typstai.text.diff").steps(hunk)
  draw_signs(canvas, start, hunk)
  for _, step in ipairs(hunk.steps) do
    draw_step(canvas, start + step.old_row, hunk, step)
  end
  flush(canvas, start)
  return canvas.marks, #canvas.above
end

--- Draws a stale hunk: only a sign, for the text that it would change is gone.
---@param bufnr integer
---@param start integer row
---@return integer[] marks
function M.stale(bufnr, start)
  local glyphs = require("typstai.ui.glyphs").get()
  local row = math.min(start, api.nvim_buf_line_count(bufnr) - 1)
  local canvas = { bufnr = bufnr, marks = {} }
  sign(canvas, row, glyphs.stale, "TypstAIStale")
  return canvas.marks
end

--- Takes marks of a drawn hunk away.
---@param bufnr integer
---@param marks integer[]
function M.erase(bufnr, marks)
  for _, id in ipairs(marks) do
    api.nvim_buf_del_extmark(bufnr, NS, id)
  end
end

--- Row at which a drawn mark is now, or nil.
---@param bufnr integer
---@param id integer
---@return integer|nil
function M.row_of(bufnr, id)
  return api.nvim_buf_get_extmark_by_id(bufnr, NS, id, {})[1]
end

return M
