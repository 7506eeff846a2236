-- The view model of a transcript: every turn as a list of blocks, every block as lines.
-- Knows what is unfolded; knows nothing of the buffer.
local Flow = require("typstai.chat.flow")
local render = require("typstai.chat.render")

local M = {}

---@class typstai.ui.TurnView
---@field data typstai.Turn
---@field position integer among the turns
---@field blocks typstai.ui.Block[]

---@class typstai.ui.Block
---@field kind "intro"|"user"|"header"|"reasoning"|"text"|"tool"|"tail"
---@field turn? typstai.ui.TurnView
---@field position integer among the blocks of its turn
---@field segment? typstai.Segment
---@field flow? typstai.ui.Flow text of reasoning and answers
---@field unfolded boolean
---@field mark? integer extmark at its first line; nil while it has no line
---@field gap boolean a blank row is drawn above, which is no text
---@field empty? boolean intro: there are no turns
---@field said? string intro: what stands there instead
---@field queued? boolean text: the painter has work
---@field painted? integer text: lines whose Markdown is highlighted
---@field scanned? integer text: lines looked at for the end of a piece
---@field fence? string text: code fence open after the scanned lines
---@field fence_before? string text: code fence open after the painted lines

---@class typstai.ui.Style
---@field glyphs typstai.ui.Glyphs
---@field tool fun(segment: typstai.Segment): typstai.ui.ToolContext what waits at a call

local FLOW_INDENT = { text = "", reasoning = render.INDENT }

---@param kind string
---@return typstai.ui.Block
function M.block(kind, turn, segment)
  return {
    kind = kind,
    turn = turn,
    segment = segment,
    position = 1,
    unfolded = false,
    gap = false,
  }
end

local function start_flow(block, glyphs)
  local indent = FLOW_INDENT[block.kind]
  if indent then
    block.flow = Flow.new(indent, glyphs)
    block.flow:push(block.segment.text or "")
  end
end

--- Gives the block another segment; what is unfolded stays unfolded.
---@param block typstai.ui.Block
---@param segment typstai.Segment
---@param glyphs typstai.ui.Glyphs
function M.set_segment(block, segment, glyphs)
  block.kind, block.segment, block.flow = segment.kind, segment, nil
  start_flow(block, glyphs)
end

local function has_gap(before, kind)
  return (before == "tool" and kind == "text") or (before == "text" and kind == "tool")
end

local function number(view)
  for position, block in ipairs(view.blocks) do
    local before = view.blocks[position - 1]
    block.position = position
    block.gap = before ~= nil and has_gap(before.kind, block.kind)
  end
end

--- Adds a segment at the end of the turn, above its last lines.
---@param view typstai.ui.TurnView
---@param segment typstai.Segment
---@param glyphs typstai.ui.Glyphs
---@return typstai.ui.Block
function M.add_segment(view, segment, glyphs)
  local block = M.block(segment.kind, view, segment)
  start_flow(block, glyphs)
  table.insert(view.blocks, #view.blocks, block)
  number(view)
  return block
end

--- The block of the segment at `index`, from 1; nil when there is none.
---@param view typstai.ui.TurnView
---@param index integer
---@return typstai.ui.Block|nil
function M.segment_block(view, index)
  local block = view.blocks[index + 1]
  return block and block.segment and block or nil
end

---@param turn typstai.Turn
---@param position integer
---@param glyphs typstai.ui.Glyphs
---@return typstai.ui.TurnView
function M.turn(turn, position, glyphs)
  local view = { data = turn, position = position, blocks = {} }
  if turn.role == "user" then
    view.blocks = { M.block("user", view) }
    return view
  end
  view.blocks = { M.block("header", view), M.block("tail", view) }
  number(view)
  for _, segment in ipairs(turn.segments or {}) do
    M.add_segment(view, segment, glyphs)
  end
  return view
end

--- Lets a turn that comes again show the details that it showed before.
---@param old typstai.ui.TurnView
---@param new typstai.ui.TurnView
function M.keep_unfolded(old, new)
  for position, block in ipairs(new.blocks) do
    local before = old.blocks[position]
    block.unfolded = before ~= nil and before.kind == block.kind and before.unfolded
  end
end

local function with_text(rendered, block)
  if block.unfolded then
    vim.list_extend(rendered.lines, block.flow:lines())
  end
  return rendered
end

---@type table<string, fun(block: typstai.ui.Block, style: typstai.ui.Style): typstai.ui.Rendered>
local RENDER = {
  user = function(block, style)
    return render.user(block.turn.data, style.glyphs)
  end,
  header = function(block, style)
    return render.header(block.turn.data, style.glyphs)
  end,
  reasoning = function(block, style)
    return with_text(render.reasoning(block.segment, block.unfolded, style.glyphs), block)
  end,
  text = function(block)
    return { lines = block.flow:lines(), spans = {} }
  end,
  tool = function(block, style)
    local context = style.tool(block.segment)
    context.unfolded = block.unfolded
    return render.tool(block.segment, context, style.glyphs)
  end,
  tail = function(block, style)
    local receipt = require("typstai.recovery.receipts").of(block.turn.data.id)
    return render.tail(block.turn.data, style.glyphs, receipt)
  end,
}

--- The lines and highlights of a block.
---@param block typstai.ui.Block
---@param style typstai.ui.Style
---@return typstai.ui.Rendered
function M.render(block, style)
  if block.kind == "intro" then
    return render.intro(block.empty, block.said)
  end
  return RENDER[block.kind](block, style)
end

--- Whether nothing more will be added to a block.
---@param block typstai.ui.Block
function M.is_finished(block)
  return block.turn.data.status ~= "running" or block.position < #block.turn.blocks - 1
end

--- Whether unfolding would show anything.
---@param block typstai.ui.Block
---@param style typstai.ui.Style
function M.can_unfold(block, style)
  if block.kind ~= "tool" or block.unfolded then
    return block.kind == "reasoning" or block.kind == "tool"
  end
  local request = style.tool(block.segment).approval
  return render.detail(block.segment) ~= "" or (request ~= nil and render.is_cut(request))
end

return M
