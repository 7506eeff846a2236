-- The cursor in a chat's buffer: in the prompt text can be changed, in the transcript keys
-- act on the block under it.
local HINTS = vim.api.nvim_create_namespace("typstai.hints")

---@class typstai.ui.Cursor
---@field private view typstai.ui.View
---@field private place { row: integer, col: integer } where it was last in the prompt
local Cursor = {}
Cursor.__index = Cursor

---@param view typstai.ui.View
---@return typstai.ui.Cursor
function Cursor.new(view)
  return setmetatable({ view = view, place = { row = 0, col = 0 } }, Cursor)
end

--- Whether the current window shows the chat.
---@return boolean
function Cursor:is_here()
  return vim.api.nvim_get_current_buf() == self.view.surface.bufnr
end

--- Whether keys are inserted as text.
---@return boolean
function Cursor:is_typing()
  return self:is_here() and vim.api.nvim_get_mode().mode:find("^[iR]") ~= nil
end

local function row0_now()
  return vim.api.nvim_win_get_cursor(0)[1] - 1
end

--- The block under the cursor; nil in the prompt, and when the chat is not here.
---@return typstai.ui.Block|nil
function Cursor:block()
  if not self:is_here() or row0_now() >= self.view.surface.border0 then
    return nil
  end
  return self.view.transcript.placement:at(row0_now())
end

--- Lets text be changed in the prompt only, and shows the keys that work at the line.
function Cursor:follow()
  self.view:heal()
  if not self:is_here() then
    return
  end
  local surface = self.view.surface
  local at = vim.api.nvim_win_get_cursor(0)
  local row = at[1] - 1 - surface.border0
  if row < 0 and self:is_typing() then
    vim.api.nvim_win_set_cursor(0, { surface.border0 + 1, at[2] })
    row = 0
  end
  if row >= 0 then
    self.place = { row = row, col = at[2] }
  end
  if vim.bo[surface.bufnr].modifiable ~= (row >= 0) then
    vim.bo[surface.bufnr].modifiable = row >= 0
  end
  self:draw_hints()
end

--- Shows the keys that work at the current line.
function Cursor:draw_hints()
  local bufnr = self.view.surface.bufnr
  vim.api.nvim_buf_clear_namespace(bufnr, HINTS, 0, -1)
  local block = self:block()
  local hints = block and require("typstai.chat.actions").hints(self.view, block) or {}
  if #hints > 0 then
    local window = require("typstai.chat.window")
    local look = window.key_hints(row0_now(), hints, self.view.glyphs.separator)
    vim.api.nvim_buf_set_extmark(bufnr, HINTS, row0_now(), 0, look)
  end
end

--- Goes into the prompt: to its end, or to a place in it.
---@param place? { row: integer, col: integer }
function Cursor:enter_prompt(place)
  self.view:heal()
  local surface = self.view.surface
  local row = math.max(0, math.min(place and place.row or math.huge, #surface.prompt - 1))
  local col = math.max(0, math.min(place and place.col or math.huge, #surface.prompt[row + 1]))
  vim.api.nvim_win_set_cursor(0, { surface.border0 + row + 1, col })
  self:follow()
end

--- Goes back to where it was last in the prompt. `shift` tells where the prompt stood
--- before it was put back in its place, and where the cursor was then.
---@param shift? { start: { row: integer, col: integer }, at: integer[] }
function Cursor:return_to_prompt(shift)
  if shift then
    local row = shift.at[1] - 1 - shift.start.row
    local col = row == 0 and shift.at[2] - shift.start.col or shift.at[2]
    self.place = { row = row, col = col }
  end
  self:enter_prompt(self.place)
end

--- Goes `count` messages on, or back when it is negative; after the last is the prompt.
---@param count integer
function Cursor:go_to_message(count)
  local turns, placement = self.view.transcript.turns, self.view.transcript.placement
  local last_before = row0_now() - (count < 0 and 1 or 0)
  local target = 0
  for position, turn in ipairs(turns) do
    if placement:row_of(turn.blocks[1]) <= last_before then
      target = position
    end
  end
  target = count < 0 and math.max(1, target + count + 1) or target + count
  if target > #turns then
    self:enter_prompt()
  elseif turns[target] then
    vim.api.nvim_win_set_cursor(0, { placement:row_of(turns[target].blocks[1]) + 1, 0 })
    self:follow()
  end
end

return Cursor
