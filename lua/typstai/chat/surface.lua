-- The buffer of a chat, split by a border: the transcript above, which only the plugin
-- writes, the prompt below, which only the user writes. All writing of the plugin goes
-- through here; any other change that reaches above the border is reported as damage.
local NAMESPACE = vim.api.nvim_create_namespace("typstai.border")

---@class typstai.ui.Surface
---@field bufnr integer
---@field border0 integer first row of the prompt
---@field prompt string[] lines of the prompt
---@field damaged boolean the transcript is not what was written
---@field rowless boolean the prompt's only line was deleted
---@field private writing boolean
---@field private mark integer start of the prompt, wherever foreign changes moved it
---@field private look table how the border is drawn
---@field private listener typstai.ui.SurfaceListener
local Surface = {}
Surface.__index = Surface

---@class typstai.ui.SurfaceListener
---@field damage fun() `repair` or `give_row` is needed; called with text locked
---@field prompt fun() the prompt was changed; called with text locked
---@field gone fun() the buffer was unloaded

local function create_buffer()
  local bufnr = vim.api.nvim_create_buf(false, true)
  local options = {
    buftype = "nofile",
    bufhidden = "hide",
    swapfile = false,
    modeline = false,
    undolevels = -1,
    textwidth = 0,
    -- With 'breakindent', the wrapped rest of a list item or a tool line stands under its text.
    formatlistpat = [[^\s*\(\d\+[.)]\|[-*+>]\|[✓◆✗⋯–▸▾]\)\s\+]],
  }
  for option, value in pairs(options) do
    vim.api.nvim_set_option_value(option, value, { buf = bufnr })
  end
  return bufnr
end

--- A new buffer with one blank transcript line and an empty prompt.
---@param look table options of the extmark at the border
---@param listener typstai.ui.SurfaceListener
---@return typstai.ui.Surface
function Surface.new(look, listener)
  local self = setmetatable({
    bufnr = create_buffer(),
    border0 = 1,
    prompt = { "" },
    damaged = false,
    rowless = false,
    writing = false,
    look = look,
    listener = listener,
  }, Surface)
  vim.api.nvim_buf_set_lines(self.bufnr, 0, -1, false, { "", "" })
  self:place_mark()
  self:watch()
  return self
end

--- Names the buffer, with the first number that no other buffer has.
---@param name string
function Surface:set_name(name)
  local number = 1
  while vim.fn.bufexists(name .. "/" .. number) == 1 do
    number = number + 1
  end
  vim.api.nvim_buf_set_name(self.bufnr, name .. "/" .. number)
end

---@private
function Surface:place_mark()
  if self.mark then
    local at = vim.api.nvim_buf_get_extmark_by_id(self.bufnr, NAMESPACE, self.mark, {})
    if at[1] == self.border0 and at[2] == 0 then
      return
    end
  end
  local look = vim.tbl_extend("error", self.look, { id = self.mark, right_gravity = false })
  self.mark = vim.api.nvim_buf_set_extmark(self.bufnr, NAMESPACE, self.border0, 0, look)
end

---@private
function Surface:watch()
  vim.api.nvim_buf_attach(self.bufnr, false, {
    on_lines = function(_, _, _, first0, last0, new_last0)
      self:changed(first0, last0, new_last0)
    end,
    on_detach = function()
      self.damaged = true
      vim.schedule(function()
        self:detached()
      end)
    end,
  })
end

--- `:edit` unloads the buffer and loads it again, empty; anything else is the end of it.
---@private
function Surface:detached()
  if vim.api.nvim_buf_is_loaded(self.bufnr) then
    self:watch()
    self:damage()
  else
    self.listener.gone()
  end
end

---@private
function Surface:damage()
  self.damaged = true
  self.listener.damage()
end

--- Tells a change of the prompt from damage, and keeps the copy of the prompt exact.
---@private
function Surface:changed(first0, last0, new_last0)
  if self.writing then
    return
  end
  if self.damaged or first0 < self.border0 then
    self:damage()
    return
  end
  local lines = vim.api.nvim_buf_get_lines(self.bufnr, first0, new_last0, false)
  local from = first0 - self.border0
  for _ = first0, last0 - 1 do
    table.remove(self.prompt, from + 1)
  end
  for i, line in ipairs(lines) do
    table.insert(self.prompt, from + i, line)
  end
  if #self.prompt == 0 then
    self.prompt, self.rowless = { "" }, true
    self.listener.damage()
    return
  end
  self.listener.prompt()
end

--- Runs `edit`, the only thing that changes the buffer from our side.
---@private
function Surface:unlocked(edit)
  local bo = vim.bo[self.bufnr]
  local modifiable = bo.modifiable
  self.writing = true
  bo.modifiable = true
  local ok, err = pcall(edit)
  bo.modifiable = modifiable
  self.writing = false
  if not ok then
    error(err, 0)
  end
end

--- Changes the transcript; the border moves by the lines that `edit` adds or takes.
---@param edit fun(bufnr: integer)
function Surface:write(edit)
  local before = vim.api.nvim_buf_line_count(self.bufnr)
  self:unlocked(function()
    edit(self.bufnr)
  end)
  self.border0 = self.border0 + vim.api.nvim_buf_line_count(self.bufnr) - before
  self:place_mark()
end

--- Draws the border in another way.
---@param look table options of its extmark
function Surface:set_look(look)
  self.look = look
  local options = vim.tbl_extend("error", look, { id = self.mark, right_gravity = false })
  vim.api.nvim_buf_set_extmark(self.bufnr, NAMESPACE, self.border0, 0, options)
end

--- Puts lines in the place of the prompt; only what differs is touched.
---@param lines string[]
function Surface:set_prompt(lines)
  local old = self.prompt
  self:unlocked(function()
    require("typstai.chat.patch").lines(self.bufnr, self.border0, old, lines)
  end)
  self.prompt = vim.list_slice(lines)
  self:place_mark()
  self.listener.prompt()
end

--- Takes the start of the prompt away; the rest, and the cursor in it, stay.
---@param row integer whole rows to remove
---@param byte_col integer bytes to remove of the row after them
function Surface:drop_prompt_start(row, byte_col)
  local first0 = self.border0
  self:unlocked(function()
    vim.api.nvim_buf_set_text(self.bufnr, first0, 0, first0 + row, byte_col, {})
  end)
  self.prompt = vim.api.nvim_buf_get_lines(self.bufnr, first0, -1, false)
  self:place_mark()
  self.listener.prompt()
end

--- What the damage left of the prompt: the text after its mark.
local function after_mark(self)
  local at = vim.api.nvim_buf_get_extmark_by_id(self.bufnr, NAMESPACE, self.mark, {})
  if not at[1] then
    return { "" }, 0, 0
  end
  local lines = vim.api.nvim_buf_get_lines(self.bufnr, at[1], -1, false)
  if #lines == 0 then
    return { "" }, at[1], 0
  end
  lines[1] = lines[1]:sub(at[2] + 1)
  return lines, at[1], at[2]
end

--- Gives a prompt whose only line was deleted an empty one.
function Surface:give_row()
  self.rowless = false
  self:unlocked(function()
    vim.api.nvim_buf_set_lines(self.bufnr, self.border0, self.border0, true, { "" })
  end)
  self:place_mark()
  self.listener.prompt()
end

--- Repairs damage: puts `transcript` back, with the prompt below.
---@param transcript string[]
---@param prompt string[]|nil the prompt; nil: what the damage left of it
---@return { row: integer, col: integer }|nil start where the prompt stood in the damage
function Surface:repair(transcript, prompt)
  local row, col
  if not prompt then
    prompt, row, col = after_mark(self)
  end
  local damaged = vim.api.nvim_buf_get_lines(self.bufnr, 0, -1, false)
  local wanted = vim.list_extend(vim.list_slice(transcript), prompt)
  self:unlocked(function()
    require("typstai.chat.patch").lines(self.bufnr, 0, damaged, wanted)
  end)
  self.border0 = #transcript
  self.prompt = vim.list_slice(prompt)
  self.damaged, self.rowless = false, false
  self:place_mark()
  self.listener.prompt()
  return row and { row = row, col = col } or nil
end

return Surface
