-- Where the blocks of a transcript are in its buffer: an extmark at the first line of
-- each, and the highlights of their lines.
local STARTS = vim.api.nvim_create_namespace("typstai.blocks")
local COLOURS = vim.api.nvim_create_namespace("typstai.transcript")
-- Above treesitter's 100, below the 200 of a user's own marks.
local PRIORITY = 150

---@class typstai.ui.Placement
---@field private bufnr integer
---@field private by_mark table<integer, typstai.ui.Block>
local Placement = {}
Placement.__index = Placement

---@param bufnr integer
---@return typstai.ui.Placement
function Placement.new(bufnr)
  return setmetatable({ bufnr = bufnr, by_mark = {} }, Placement)
end

--- Forgets every block.
function Placement:clear()
  vim.api.nvim_buf_clear_namespace(self.bufnr, STARTS, 0, -1)
  vim.api.nvim_buf_clear_namespace(self.bufnr, COLOURS, 0, -1)
  self.by_mark = {}
end

--- Takes the highlights of rows away.
function Placement:uncolour(first0, last0)
  vim.api.nvim_buf_clear_namespace(self.bufnr, COLOURS, first0, last0)
end

--- Forgets a block that has no lines any more.
---@param block typstai.ui.Block
function Placement:drop(block)
  vim.api.nvim_buf_del_extmark(self.bufnr, STARTS, block.mark)
  self.by_mark[block.mark] = nil
  block.mark = nil
end

--- Dims rows, and what will be added to the last of them.
local function dim(bufnr, first0, last0)
  local last = vim.api.nvim_buf_get_lines(bufnr, last0, last0 + 1, true)[1]
  vim.api.nvim_buf_set_extmark(bufnr, COLOURS, first0, 0, {
    end_row = last0,
    end_col = #last,
    end_right_gravity = true,
    hl_group = "TypstAIReasoning",
    priority = PRIORITY,
  })
end

--- Remembers and colours a block whose lines stand at `row0`.
---@param block typstai.ui.Block
---@param row0 integer
---@param rendered typstai.ui.Rendered
function Placement:put(block, row0, rendered)
  if #rendered.lines == 0 then
    return
  end
  block.mark = vim.api.nvim_buf_set_extmark(self.bufnr, STARTS, row0, 0, {
    id = block.mark,
    virt_lines = block.gap and { { { "" } } } or nil,
    virt_lines_above = block.gap,
  })
  self.by_mark[block.mark] = block
  for _, span in ipairs(rendered.spans) do
    vim.api.nvim_buf_set_extmark(self.bufnr, COLOURS, row0 + span.row0, span.byte_col, {
      end_col = span.end_byte_col,
      hl_group = span.hl,
      priority = PRIORITY,
    })
  end
  if block.kind == "reasoning" and #rendered.lines > 1 then
    dim(self.bufnr, row0 + 1, row0 + #rendered.lines - 1)
  end
end

--- First row of a block that is on screen.
---@param block typstai.ui.Block
---@return integer
function Placement:row_of(block)
  return vim.api.nvim_buf_get_extmark_by_id(self.bufnr, STARTS, block.mark, {})[1]
end

--- The block that has the row, if the row is the transcript's.
---@param row0 integer
---@return typstai.ui.Block|nil
function Placement:at(row0)
  local from = { row0, -1 }
  local found = vim.api.nvim_buf_get_extmarks(self.bufnr, STARTS, from, 0, { limit = 1 })
  return found[1] and self.by_mark[found[1][1]] or nil
end

return Placement
