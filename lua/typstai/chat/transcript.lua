-- Places the blocks of a chat in its buffer and keeps them there. Every block is found
-- by an extmark at its first line, so an event costs what it changes and nothing more.
local blocks = require("typstai.chat.blocks")

---@class typstai.ui.Transcript
---@field surface typstai.ui.Surface
---@field painter typstai.ui.Painter
---@field turns typstai.ui.TurnView[]
---@field private by_id table<string, typstai.ui.TurnView>
---@field placement typstai.ui.Placement
---@field private intro typstai.ui.Block
---@field private style typstai.ui.Style
local Transcript = {}
Transcript.__index = Transcript

---@param surface typstai.ui.Surface
---@param style typstai.ui.Style
---@return typstai.ui.Transcript
function Transcript.new(surface, style)
  local self = setmetatable({ surface = surface, style = style }, Transcript)
  self.placement = require("typstai.chat.placement").new(surface.bufnr)
  self.painter = require("typstai.chat.painter").new(surface, function(block)
    return self.placement:row_of(block), self:row_after(block)
  end)
  self:load({})
  return self
end

local function key(turn)
  return turn.role .. ":" .. turn.id
end

---@private
function Transcript:add_view(turn)
  local view = blocks.turn(turn, #self.turns + 1, self.style.glyphs)
  self.turns[view.position] = view
  self.by_id[key(turn)] = view
  return view
end

--- Every block, from the top.
---@private
function Transcript:each()
  local all = { self.intro }
  for _, view in ipairs(self.turns) do
    vim.list_extend(all, view.blocks)
  end
  return all
end

--- Shows these turns and nothing else.
---@param turns typstai.Turn[]
function Transcript:load(turns)
  self.turns, self.by_id = {}, {}
  self.intro = blocks.block("intro")
  self.intro.empty = #turns == 0
  for _, turn in ipairs(turns) do
    self:add_view(turn)
  end
  self:redraw()
end

--- Says something above all turns.
---@param text string
function Transcript:say(text)
  self.intro.said = text
  self:refresh(self.intro)
end

--- The whole transcript as it must stand in the buffer.
---@return string[] lines
---@return { block: typstai.ui.Block, row0: integer, rendered: typstai.ui.Rendered }[]
function Transcript:render_all()
  local lines, placed = {}, {}
  for _, block in ipairs(self:each()) do
    local rendered = blocks.render(block, self.style)
    table.insert(placed, { block = block, row0 = #lines, rendered = rendered })
    vim.list_extend(lines, rendered.lines)
  end
  return lines, placed
end

--- Marks and colours every block anew, after `render_all`'s lines were put in place.
function Transcript:decorate_all(placed)
  self.placement:clear()
  self.painter:reset()
  for _, item in ipairs(placed) do
    item.block.mark = nil
    self.placement:put(item.block, item.row0, item.rendered)
  end
  for _, item in ipairs(placed) do
    self:paint(item.block)
  end
end

---@private
function Transcript:paint(block)
  if block.kind == "text" and block.mark then
    self.painter:restart(block)
  end
end

--- First row after a block, whether it is on screen or not.
---@param block typstai.ui.Block
---@return integer
function Transcript:row_after(block)
  if block == self.intro then
    local first = self.turns[1]
    return first and self.placement:row_of(first.blocks[1]) or self.surface.border0
  end
  local siblings = block.turn.blocks
  for position = block.position + 1, #siblings do
    if siblings[position].mark then
      return self.placement:row_of(siblings[position])
    end
  end
  local next_turn = self.turns[block.turn.position + 1]
  return next_turn and self.placement:row_of(next_turn.blocks[1]) or self.surface.border0
end

--- Renders a block again, in its place.
---@param block typstai.ui.Block
function Transcript:refresh(block)
  local rendered = blocks.render(block, self.style)
  local last0 = self:row_after(block)
  local first0 = block.mark and self.placement:row_of(block) or last0
  self.surface:write(function(bufnr)
    local old = vim.api.nvim_buf_get_lines(bufnr, first0, last0, true)
    self.placement:uncolour(first0, last0)
    require("typstai.chat.patch").lines(bufnr, first0, old, rendered.lines)
  end)
  if #rendered.lines == 0 and block.mark then
    self.placement:drop(block)
  end
  self.placement:put(block, first0, rendered)
  self:paint(block)
end

--- Adds text at the end of a block that is on screen.
---@private
function Transcript:extend(block, shown)
  local row0 = self:row_after(block) - 1
  self.surface:write(function(bufnr)
    local last = vim.api.nvim_buf_get_lines(bufnr, row0, row0 + 1, true)[1]
    local lines = vim.split(shown, "\n", { plain = true })
    vim.api.nvim_buf_set_text(bufnr, row0, #last, row0, #last, lines)
  end)
end

---@private
function Transcript:append(view, event)
  local block = blocks.segment_block(view, event.index)
  if not (block and block.flow) then
    return
  end
  local started = block.flow.started
  local shown = block.flow:push(event.text)
  if shown == "" or (block.kind == "reasoning" and not block.unfolded) then
    return
  end
  if started then
    self:extend(block, shown)
  else
    self:refresh(block)
  end
  if block.kind == "text" then
    self.painter:wake(block)
  end
end

--- Lets the painter finish the texts of a turn to which nothing more will be added.
---@private
function Transcript:wake_texts(view)
  for _, block in ipairs(view.blocks) do
    if block.kind == "text" and blocks.is_finished(block) then
      self.painter:wake(block)
    end
  end
end

---@private
function Transcript:segment(view, event)
  local block = blocks.segment_block(view, event.index)
  if block then
    blocks.set_segment(block, event.segment, self.style.glyphs)
  else
    block = blocks.add_segment(view, event.segment, self.style.glyphs)
  end
  self:refresh(block)
  self:wake_texts(view)
end

---@private
function Transcript:notice(view, event)
  view.data.notice = event.text
  self:refresh(view.blocks[#view.blocks])
end

---@private
function Transcript:note(view, event)
  view.data.notes = vim.list_extend(view.data.notes or {}, { event.text })
  self:refresh(view.blocks[#view.blocks])
end

---@private
function Transcript:finish(view, event)
  view.data.notice = nil
  local told = { "status", "error", "seconds", "input_tokens", "output_tokens" }
  for _, field in ipairs(vim.list_extend(told, { "estimated", "cost" })) do
    view.data[field] = event[field]
  end
  self:refresh(view.blocks[#view.blocks])
  self:wake_texts(view)
end

--- What can be done with an answer has changed.
---@private
function Transcript:receipt(view)
  self:refresh(view.blocks[#view.blocks])
end

--- Takes a turn, new or again, in one write of the rows it has.
---@private
function Transcript:turn(turn)
  local old = self.by_id[key(turn)]
  if old then
    local view = blocks.turn(turn, old.position, self.style.glyphs)
    blocks.keep_unfolded(old, view)
    self.turns[old.position], self.by_id[key(turn)] = view, view
    self:redraw()
    return
  end
  local view = self:add_view(turn)
  for _, block in ipairs(view.blocks) do
    self:refresh(block)
  end
  if self.intro.empty then
    self.intro.empty = false
    self:refresh(self.intro)
  end
end

--- Brings the buffer to what the blocks say; touches only lines that differ.
function Transcript:redraw()
  local lines, placed = self:render_all()
  local last0 = self.surface.border0
  self.surface:write(function(bufnr)
    local old = vim.api.nvim_buf_get_lines(bufnr, 0, last0, false)
    require("typstai.chat.patch").lines(bufnr, 0, old, lines)
  end)
  self:decorate_all(placed)
end

local EVENTS_OF_ANSWER = { "append", "segment", "notice", "note", "finish", "receipt" }

--- Takes in one event of the chat.
---@param event typstai.ChatEvent
function Transcript:event(event)
  if event.kind == "turn" then
    self:turn(event.turn)
    return
  end
  local view = self.by_id["assistant:" .. (event.id or "")]
  if view and vim.tbl_contains(EVENTS_OF_ANSWER, event.kind) then
    self[event.kind](self, view, event)
  end
end

--- Tool blocks for which `wanted` is true, the newest first.
---@param wanted fun(segment: typstai.Segment): boolean
---@return typstai.ui.Block[]
function Transcript:tools(wanted)
  local found = {}
  for position = #self.turns, 1, -1 do
    for _, block in ipairs(self.turns[position].blocks) do
      if block.kind == "tool" and wanted(block.segment) then
        table.insert(found, block)
      end
    end
  end
  return found
end

--- Whether a block has a detail to show or hide.
---@param block typstai.ui.Block
---@return boolean
function Transcript:can_unfold(block)
  return blocks.can_unfold(block, self.style)
end

--- Shows or hides the detail of a block.
---@param block typstai.ui.Block
function Transcript:toggle(block)
  block.unfolded = not block.unfolded
  self:refresh(block)
end

return Transcript
