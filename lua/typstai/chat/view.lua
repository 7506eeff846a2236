-- One chat on screen: its buffer, transcript and prompt, and the windows that show them.

---@class typstai.ui.View
---@field id string|nil nil while the chat is on its way
---@field opening typstai.ui.Opening|nil how it was last asked for
---@field give_up fun()|nil takes back the message that waits for the chat
---@field project string
---@field title string
---@field elsewhere boolean its last answer is being written by another Neovim
---@field sending boolean a message was handed to Python and not yet taken
---@field surface typstai.ui.Surface
---@field transcript typstai.ui.Transcript
---@field prompt typstai.ui.Prompt
---@field private held fun()[] writing that waits for a mode to end
---@field cursor typstai.ui.Cursor
---@field glyphs typstai.ui.Glyphs
local View = {}
View.__index = View

---@private
function View:tool_context(segment)
  local keys = require("typstai.config").get().keymaps.chat
  return {
    approval = require("typstai.chat.approvals").of_call(self.id, segment.id),
    keys = { once = keys.once or "", run = keys.run or "", deny = keys.deny or "" },
    diff = require("typstai.chat.actions").pending_diff(segment),
  }
end

---@private
function View:build(on_gone)
  local Prompt = require("typstai.chat.prompt")
  self.surface = require("typstai.chat.surface").new(Prompt.border(self.glyphs), {
    damage = vim.schedule_wrap(function()
      self:heal()
    end),
    prompt = function()
      self.prompt:draw_hint()
    end,
    gone = on_gone,
  })
  self.prompt = Prompt.new(self.surface, require("typstai.chat.waiting").hint(nil))
  self.transcript = require("typstai.chat.transcript").new(self.surface, {
    glyphs = self.glyphs,
    tool = function(segment)
      return self:tool_context(segment)
    end,
  })
  self.prompt:draw_hint()
end

--- A chat's buffer with its transcript; without a chat, for one that is still to come.
---@param chat typstai.Chat|nil
---@param on_gone fun() called when the buffer was unloaded
---@return typstai.ui.View
function View.new(chat, on_gone)
  local self = setmetatable({
    project = "",
    title = "",
    elsewhere = false,
    sending = false,
    held = {},
    glyphs = require("typstai.ui.glyphs").get(),
  }, View)
  self.cursor = require("typstai.chat.cursor").new(self)
  require("typstai.ui.highlights").setup()
  self:build(on_gone)
  if chat then
    self:adopt(chat)
  end
  self:watch()
  vim.bo[self.surface.bufnr].filetype = "typstai"
  require("typstai.chat.keys").define(self)
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
    self.cursor:follow()
  end)
  on({ "BufEnter", "WinEnter" }, "show proposals as they are now", function()
    self:refresh_tools(function(segment)
      return require("typstai.chat.actions").pending_diff(segment) ~= nil
    end)
    self:draw_attachments()
  end)
  on("BufEnter", "show what another Neovim has written", function()
    require("typstai.chat.outbox").look_again(self)
  end)
  on({ "TextChanged", "TextChangedI", "TextChangedP" }, "repair and scroll", function(event)
    self:heal()
    if event.event == "TextChanged" then
      self.prompt:commit()
    end
    self.cursor:follow()
    if not self.cursor:block() then
      require("typstai.chat.window").show_end(vim.api.nvim_get_current_win())
    end
  end)
  on("InsertCharPre", "write in the prompt only", function()
    if not self.surface.damaged and self.cursor:block() then
      require("typstai.chat.keys").type_in_prompt(self)
    end
  end)
  on({ "InsertEnter", "InsertLeave" }, "make a step to undo", function()
    self:heal()
    self.prompt:commit()
  end)
  on("BufWinEnter", "dress the window", function()
    require("typstai.chat.window").dress(vim.api.nvim_get_current_win())
    self.prompt:draw_hint()
    self:draw_winbar()
  end)
end

--- Becomes the view of a chat.
---@param chat typstai.Chat
function View:adopt(chat)
  self.id = chat.id
  self.surface:set_name("typstai://" .. vim.fs.basename(chat.project))
  self:load(chat)
end

--- Says something in the place of the transcript.
---@param text string
function View:say(text)
  self:writing(function()
    self.transcript:say(text)
  end)
end

--- Takes over what Python has; what is being answered here is known already.
---@param chat typstai.Chat
function View:reload(chat)
  if not (chat.running and self:running_turn()) then
    self:load(chat)
  end
end

--- Replaces all turns; the prompt keeps its text.
---@private
---@param chat typstai.Chat
function View:load(chat)
  self.project, self.title = chat.project, chat.title
  self:writing(function()
    self.transcript:load(chat.turns or {})
    self.elsewhere = not chat.running and self:running_turn() ~= nil
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
  if self.cursor:is_here() and remembers_lines() then
    return
  end
  while #self.held > 0 do
    self:write(table.remove(self.held, 1))
  end
end

---@private
function View:write(write)
  self:heal()
  local window = require("typstai.chat.window")
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
  elseif event.kind == "reload" then
    self:load(event.chat)
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
    self.prompt:set_hint(require("typstai.chat.waiting").hint(self.id))
  end)
  self.cursor:draw_hints()
end

--- Shows above the prompt what goes along with the next message.
function View:draw_attachments()
  self.surface:set_look(require("typstai.chat.prompt").border(self.glyphs))
end

--- Sets the line above each window of the chat.
function View:draw_winbar()
  require("typstai.chat.winbar").draw(self)
end

---@return integer[]
function View:windows()
  return vim.fn.win_findbuf(self.surface.bufnr)
end

--- Puts back what a foreign change took. A command that reached the transcript is undone as
--- a whole; of keys typed in insert mode what they left of the prompt is kept.
function View:heal()
  local surface, shift = self.surface, nil
  if not vim.api.nvim_buf_is_loaded(surface.bufnr) then
    return
  elseif surface.damaged then
    shift = self:repair()
  elseif surface.rowless then
    surface:give_row()
  else
    return
  end
  if self.cursor:is_here() then
    self.cursor:return_to_prompt(shift)
  end
end

---@private
function View:repair()
  local typing = self.cursor:is_typing()
  local at = typing and vim.api.nvim_win_get_cursor(0)
  local lines, placed = self.transcript:render_all()
  local start = self.surface:repair(lines, not typing and self.prompt:committed() or nil)
  self.transcript:decorate_all(placed)
  return start and { start = start, at = at } or nil
end

--- Does an action at the line under the cursor, if there is one of that name.
---@param name string
function View:act(name)
  local block = self.cursor:block()
  local act = block and require("typstai.chat.actions").at(self, block)[name]
  if act then
    act()
  end
end

--- Shows or hides a detail; the cursor stays on its line.
---@param block typstai.ui.Block
function View:toggle(block)
  local row0 = self.transcript.placement:row_of(block)
  self.transcript:toggle(block)
  if self.cursor:block() then
    vim.api.nvim_win_set_cursor(0, { row0 + 1, 0 })
  end
  self.cursor:draw_hints()
end

return View
