-- Highlights the Markdown of answers a piece at a time: a paragraph once it is complete,
-- never the line that is being written, and never longer than a slice of a frame at once.
-- So the cost of a delta does not depend on what was written before.
local COLOURS = vim.api.nvim_create_namespace("typstai.markdown")
local PRIORITY = 100
-- A piece of sixty lines takes 2 to 4 ms: one long piece, or several short ones.
local SLICE_NS = 2e6
local PAUSE_MS = 5
-- A longer piece is cut, at the price of a highlight across the cut.
local PIECE_LINES = 60

---@class typstai.ui.Painter
---@field private surface typstai.ui.Surface
---@field private bufnr integer
---@field private rows fun(block: typstai.ui.Block): integer, integer
---@field private queue typstai.ui.Block[]
---@field private waiting boolean
local Painter = {}
Painter.__index = Painter

---@param surface typstai.ui.Surface
---@param rows fun(block: typstai.ui.Block): integer, integer first row, row after the last
---@return typstai.ui.Painter
function Painter.new(surface, rows)
  local self = setmetatable({
    surface = surface,
    bufnr = surface.bufnr,
    rows = rows,
    queue = {},
    waiting = false,
  }, Painter)
  -- Parsers and queries are loaded while the user types, not when the first answer comes.
  self:later()
  return self
end

--- Forgets all highlights and all work.
function Painter:reset()
  vim.api.nvim_buf_clear_namespace(self.bufnr, COLOURS, 0, -1)
  for _, block in ipairs(self.queue) do
    block.queued = false
  end
  self.queue = {}
end

--- Highlights a block from its first line.
---@param block typstai.ui.Block
function Painter:restart(block)
  local first0, last0 = self.rows(block)
  vim.api.nvim_buf_clear_namespace(self.bufnr, COLOURS, first0, last0)
  block.painted, block.scanned, block.fence, block.fence_before = 0, 0, nil, nil
  self:wake(block)
end

--- Goes on with a block that got more text, or that is finished.
---@param block typstai.ui.Block
function Painter:wake(block)
  if not block.mark then
    return
  end
  if not block.queued then
    block.queued = true
    table.insert(self.queue, block)
  end
  self:later()
end

---@private
function Painter:later()
  if self.waiting then
    return
  end
  self.waiting = true
  -- The loop's clock stood still in what runs now: a pause counted from there would be none,
  -- and what was just written would be drawn after the painting.
  vim.uv.update_time()
  vim.defer_fn(function()
    self.waiting = false
    -- What is damaged will be repaired, and painted from the start.
    if vim.api.nvim_buf_is_loaded(self.bufnr) and not self.surface.damaged then
      self:work()
    end
  end, PAUSE_MS)
end

--- Works for a slice of time, on the newest block first: that one is being read.
---@private
function Painter:work()
  if require("typstai.chat.markdown").prepare() then
    self:later()
    return
  end
  local stop = vim.uv.hrtime() + SLICE_NS
  while #self.queue > 0 and vim.uv.hrtime() < stop do
    local block = self.queue[#self.queue]
    if not (block.mark and self:paint_piece(block)) then
      block.queued = false
      table.remove(self.queue)
    end
  end
  if #self.queue > 0 then
    self:later()
  end
end

--- Whether the line closes or opens a code fence, and which is open after it.
local function fence_after(open, line)
  local mark = line:match("^ ? ? ?(```+)") or line:match("^ ? ? ?(~~~+)")
  if not mark then
    return open
  elseif not open then
    return mark
  end
  local closes = mark:sub(1, 1) == open:sub(1, 1) and #mark >= #open
  return not closes and open or nil
end

--- The number of lines from the block's start up to the end of its next complete piece.
---@return integer|nil
local function next_end(block, lines)
  for i, line in ipairs(lines) do
    block.fence = fence_after(block.fence, line)
    block.scanned = block.scanned + 1
    local complete = line == "" and not block.fence and i > 1
    if complete or block.scanned - block.painted >= PIECE_LINES then
      return block.scanned
    end
  end
  return nil
end

--- Highlights the next piece of a block; says whether there may be another.
---@private
function Painter:paint_piece(block)
  local finished = require("typstai.chat.blocks").is_finished(block)
  local first0, last0 = self.rows(block)
  local ready0 = finished and last0 or last0 - 1
  local upto0 = math.min(ready0, first0 + block.painted + PIECE_LINES)
  local from0 = math.min(first0 + block.scanned, upto0)
  local finish = next_end(block, vim.api.nvim_buf_get_lines(self.bufnr, from0, upto0, true))
  if not finish and finished and first0 + block.painted < last0 then
    finish = upto0 - first0
  end
  if finish then
    self:paint(first0 + block.painted, first0 + finish, block.fence_before)
    block.painted, block.scanned, block.fence_before = finish, finish, block.fence
  end
  return finish ~= nil
end

--- Highlights rows; `fence` is the code fence inside which they begin, if any.
---@private
function Painter:paint(first0, last0, fence)
  local lines = vim.api.nvim_buf_get_lines(self.bufnr, first0, last0, true)
  if fence then
    table.insert(lines, 1, fence)
    first0 = first0 - 1
  end
  for _, span in ipairs(require("typstai.chat.markdown").spans(lines)) do
    if span.row0 > 0 or not fence then
      self:colour(first0, last0, span)
    end
  end
end

---@private
function Painter:colour(first0, last0, span)
  local end_row0 = first0 + span.end_row0
  vim.api.nvim_buf_set_extmark(self.bufnr, COLOURS, first0 + span.row0, span.byte_col, {
    end_row = math.min(end_row0, last0),
    end_col = end_row0 < last0 and span.end_byte_col or 0,
    hl_group = span.hl,
    priority = PRIORITY,
  })
end

return Painter
