-- One chat on screen: its buffer, transcript and prompt, and the windows that show them.
local HINTS = vim.api.nvim_create_namespace("typstai.hints")

---@class typstai.ui.View
---@field id string
---@field project string
---@field title string
---@field sending boolean a message was handed to Python and not yet taken
---@field surface typstai.ui.Surface
---@field transcript typstai.ui.Transcript
---@field prompt typstai.ui.Prompt
---@field private held fun()[] writing that waits for a mode to end
---@field private glyphs typstai.ui.Glyphs
---@field private cursor { row: integer, col: integer } last place in the prompt
---@field private hint_mark integer|nil
local View = {}
View.__index = View

local function key_hint(glyphs)
  local keys = require("typstai.config").get().keymaps.chat
  local words = {}
  local shown = { { "send_insert", "send" }, { "stop", "stop" }, { "help", "help" } }
  for _, entry in ipairs(shown) do
    if keys[entry[1]] then
      table.insert(words, keys[entry[1]] .. " " .. entry[2])
    end
  end
  return table.concat(words, glyphs.separator)
end

---@private
function View:tool_context(segment)
  local keys = require("typstai.config").get().keymaps.chat
  return {
    approval = require("typstai.approvals").of_call(self.id, segment.id),
    keys = { once = keys.once or "", run = keys.run or "", deny = keys.deny or "" },
    diff = require("typstai.ui.actions").pending_diff(segment),
  }
end

---@private
function View:build(on_gone)
  local Prompt = require("typstai.ui.prompt")
  self.surface = require("typstai.ui.surface").new(
    "typstai://chat/" .. self.id,
    Prompt.border(self.glyphs),
    {
      damage = vim.schedule_wrap(function()
        self:heal()
      end),
      prompt = function()
        self.prompt:draw_hint()
      end,
      gone = on_gone,
    }
  )
  self.prompt = Prompt.new(self.surface, key_hint(self.glyphs))
  self.transcript = require("typstai.ui.transcript").new(self.surface, {
    glyphs = self.glyphs,
    tool = function(segment)
      return self:tool_context(segment)
    end,
  })
  self.prompt:draw_hint()
end

--- A chat's buffer with its transcript.
---@param chat typstai.Chat
---@param on_gone fun() called when the buffer was unloaded
---@return typstai.ui.View
function View.new(chat, on_gone)
  local self = setmetatable({
    id = chat.id,
    sending = false,
    held = {},
    glyphs = require("typstai.ui.glyphs").get(),
    cursor = { row = 0, col = 0 },
  }, View)
  require("typstai.highlights").setup()
  self:build(on_gone)
  self:load(chat)
  self:watch()
  vim.bo[self.surface.bufnr].filetype = "typstai"
  require("typstai.ui.keys").define(self)
  return self
end

---@private
function View:watch()
  local bufnr = self.surface.bufnr
  local group = vim.api.nvim_create_augroup("typstai.chat." .. bufnr, {})
  local function on(events, desc, callback)
    vim.api.nvim_create_autocmd(events, {
      group = group,
      buffer = bufnr,
      desc = "typstai: " .. desc,
      callback = callback,
    })
  end
  on({ "CursorMoved", "CursorMovedI", "BufEnter", "WinEnter" }, "follow the cursor", function()
    self:follow_cursor()
  end)
  on({ "BufEnter", "WinEnter" }, "show proposals as they are now", function()
    self:refresh_tools(function(segment)
      return require("typstai.ui.actions").pending_diff(segment) ~= nil
    end)
  end)
  on({ "TextChanged", "TextChangedI", "TextChangedP" }, "repair and scroll", function(event)
    self:heal()
    if event.event == "TextChanged" then
      self.prompt:commit()
    end
    self:follow_cursor()
    if not self:block_under_cursor() then
      require("typstai.ui.window").show_end(vim.api.nvim_get_current_win())
    end
  end)
  on("InsertCharPre", "write in the prompt only", function()
    if not self.surface.damaged and self:block_under_cursor() then
      require("typstai.ui.keys").type_in_prompt(self)
    end
  end)
  on({ "InsertEnter", "InsertLeave" }, "make a step to undo", function()
    self:heal()
    self.prompt:commit()
  end)
  on("BufWinEnter", "dress the window", function()
    require("typstai.ui.window").dress(vim.api.nvim_get_current_win())
    self:draw_winbar()
  end)
end

--- Replaces all turns; the prompt keeps its text.
---@param chat typstai.Chat
function View:load(chat)
  self.project, self.title = chat.project, chat.title
  self:writing(function()
    self.transcript:load(chat.turns or {})
  end)
  self:draw_winbar()
end

--- Runs `write`, and keeps the end in view for those who were there.
---@private
function View:writing(write)
  table.insert(self.held, write)
  self:release()
end

--- In these modes Neovim remembers line numbers that a change above would make wrong: of
--- an operator's or a selection's start, of the word being completed.
local function remembers_lines()
  local mode = vim.api.nvim_get_mode().mode
  return mode:find("^no") or mode:find("^[vVsS\22\19]") or mode:find("^[iR][cx]")
end

--- Does the writing that was held, unless it must wait.
function View:release()
  local here = vim.api.nvim_get_current_buf() == self.surface.bufnr
  if here and remembers_lines() then
    return
  end
  local held = self.held
  self.held = {}
  for _, write in ipairs(held) do
    self:write(write)
  end
end

---@private
function View:write(write)
  self:heal()
  local window = require("typstai.ui.window")
  local followers = window.followers(self.surface)
  write()
  for _, win in ipairs(followers) do
    window.show_end(win)
  end
end

---@param event typstai.ChatEvent
function View:event(event)
  if event.kind == "title" then
    self.title = event.title
  else
    self:writing(function()
      self.transcript:event(event)
    end)
  end
  if event.kind ~= "append" then
    self:draw_winbar()
  end
end

--- The turn that is being answered, if any.
---@return typstai.Turn|nil
function View:running_turn()
  local last = self.transcript.turns[#self.transcript.turns]
  return last and last.data.status == "running" and last.data or nil
end

--- Draws calls again, because what waits at them changed.
---@param wanted fun(segment: typstai.Segment): boolean
function View:refresh_tools(wanted)
  self:writing(function()
    for _, block in ipairs(self.transcript:tools(wanted)) do
      self.transcript:refresh(block)
    end
  end)
  self:draw_hints()
end

local function tokens_of(turns)
  local sum = 0
  for _, view in ipairs(turns) do
    sum = sum + (view.data.input_tokens or 0) + (view.data.output_tokens or 0)
  end
  return sum
end

--- Sets the line above each window of the chat.
function View:draw_winbar()
  local status = require("typstai.status").get()
  local info = {
    title = self.title ~= "" and self.title or vim.fs.basename(self.project),
    words = { status.model, status.mode, status.approval },
    tokens = tokens_of(self.transcript.turns),
  }
  for _, win in ipairs(self:windows()) do
    local width = vim.api.nvim_win_get_width(win)
    local text = require("typstai.ui.winbar").text(info, width, self.glyphs)
    vim.api.nvim_set_option_value("winbar", text, { win = win, scope = "local" })
  end
end

---@return integer[]
function View:windows()
  return vim.fn.win_findbuf(self.surface.bufnr)
end

--- The block under the cursor of the current window; nil in the prompt or elsewhere.
---@return typstai.ui.Block|nil
function View:block_under_cursor()
  if vim.api.nvim_get_current_buf() ~= self.surface.bufnr then
    return nil
  end
  local row0 = vim.api.nvim_win_get_cursor(0)[1] - 1
  return row0 < self.surface.border0 and self.transcript.placement:at(row0) or nil
end

local function typing()
  return vim.api.nvim_get_mode().mode:find("^[iR]") ~= nil
end

--- Lets text be changed in the prompt only, and shows the keys that work at the line.
---@private
function View:follow_cursor()
  self:heal()
  local bufnr = self.surface.bufnr
  if vim.api.nvim_get_current_buf() ~= bufnr then
    return
  end
  local at = vim.api.nvim_win_get_cursor(0)
  local row = at[1] - 1 - self.surface.border0
  if row < 0 and typing() then
    vim.api.nvim_win_set_cursor(0, { self.surface.border0 + 1, at[2] })
    row = 0
  end
  if row >= 0 then
    self.cursor = { row = row, col = at[2] }
  end
  if vim.bo[bufnr].modifiable ~= (row >= 0) then
    vim.bo[bufnr].modifiable = row >= 0
  end
  self:draw_hints()
end

--- Shows the keys that work at the current line.
---@private
function View:draw_hints()
  local bufnr = self.surface.bufnr
  vim.api.nvim_buf_clear_namespace(bufnr, HINTS, 0, -1)
  local block = self:block_under_cursor()
  local hints = block and require("typstai.ui.actions").hints(self, block) or {}
  if #hints > 0 then
    local row0 = vim.api.nvim_win_get_cursor(0)[1] - 1
    local look = require("typstai.ui.window").key_hints(row0, hints, self.glyphs.separator)
    vim.api.nvim_buf_set_extmark(bufnr, HINTS, row0, 0, look)
  end
end

--- Puts back what a foreign change took. A command that reached the transcript is undone as
--- a whole; of keys typed in insert mode what they left of the prompt is kept.
---@private
function View:heal()
  local surface = self.surface
  if not vim.api.nvim_buf_is_loaded(surface.bufnr) then
    return
  end
  local here = vim.api.nvim_get_current_buf() == surface.bufnr
  if surface.damaged then
    self:repair(here)
  elseif surface.rowless then
    surface:give_row()
  else
    return
  end
  if here then
    self:enter_prompt(self.cursor)
  end
end

---@private
function View:repair(here)
  local at = here and vim.api.nvim_win_get_cursor(0) or nil
  local lines, placed = self.transcript:render_all()
  local keep_typed = here and typing()
  local start = self.surface:repair(lines, not keep_typed and self.prompt:committed() or nil)
  self.transcript:decorate_all(placed)
  if at and start then
    local row = at[1] - 1 - start.row
    self.cursor = { row = row, col = row == 0 and at[2] - start.col or at[2] }
  end
end

--- Puts the cursor of the current window into the prompt, at its end or at a place.
---@param place? { row: integer, col: integer }
function View:enter_prompt(place)
  self:heal()
  local border0, prompt = self.surface.border0, self.surface.prompt
  local row = math.max(0, math.min(place and place.row or math.huge, #prompt - 1))
  local col = math.max(0, math.min(place and place.col or math.huge, #prompt[row + 1]))
  vim.api.nvim_win_set_cursor(0, { border0 + row + 1, col })
  self:follow_cursor()
end

--- Does an action at the line under the cursor, if there is one of that name.
---@param name string
function View:act(name)
  local block = self:block_under_cursor()
  local act = block and require("typstai.ui.actions").at(self, block)[name]
  if act then
    act()
  end
end

--- Shows or hides a detail; the cursor stays on its line.
---@param block typstai.ui.Block
function View:toggle(block)
  local row0 = self.transcript.placement:row_of(block)
  self.transcript:toggle(block)
  if self:block_under_cursor() then
    vim.api.nvim_win_set_cursor(0, { row0 + 1, 0 })
  end
  self:draw_hints()
end

--- Goes `count` messages on, or back when it is negative; after the last is the prompt.
---@param count integer
function View:go_to_message(count)
  local row0 = vim.api.nvim_win_get_cursor(0)[1] - 1
  local target, turns = 0, self.transcript.turns
  for position, view in ipairs(turns) do
    local start = self.transcript.placement:row_of(view.blocks[1])
    if start <= row0 - (count < 0 and 1 or 0) then
      target = position
    end
  end
  target = count < 0 and math.max(1, target + count + 1) or target + count
  if target > #turns then
    self:enter_prompt()
  elseif turns[target] then
    local start = self.transcript.placement:row_of(turns[target].blocks[1])
    vim.api.nvim_win_set_cursor(0, { start + 1, 0 })
    self:follow_cursor()
  end
end

return View
