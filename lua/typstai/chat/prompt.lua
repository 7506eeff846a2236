-- The prompt: its text, its own undo, and the lines drawn around it. Neovim's undo would
-- take back pieces of the stream, so the buffer has none and the prompt keeps this one.
local NAMESPACE = vim.api.nvim_create_namespace("typstai.prompt")
local MOST_STATES = 200
-- Longer than any window; Neovim cuts it.
local RULE_COLUMNS = 400

---@class typstai.ui.Prompt
---@field private surface typstai.ui.Surface
---@field private states string[][] states of the text, the oldest first
---@field private at integer the state that is shown
---@field private hint string[] pieces of the key hint
---@field private hint_mark integer
local Prompt = {}
Prompt.__index = Prompt

---@param surface typstai.ui.Surface
---@param hint string[] the keys, shown below
---@return typstai.ui.Prompt
function Prompt.new(surface, hint)
  return setmetatable({ surface = surface, states = { { "" } }, at = 1, hint = hint }, Prompt)
end

--- How the border looks, as options of its extmark: the rule, and what is attached.
---@param glyphs typstai.ui.Glyphs
---@return table
function Prompt.border(glyphs)
  local lines = { { { glyphs.rule:rep(RULE_COLUMNS), "TypstAIRule" } } }
  for _, item in ipairs(require("typstai.chat.attachments").list()) do
    table.insert(
      lines,
      { { "+ " .. require("typstai.chat.page").clean(item.label), "TypstAIDim" } }
    )
  end
  return {
    virt_lines = lines,
    virt_lines_above = true,
    virt_text = { { glyphs.prompt, "TypstAIDim" } },
    virt_text_pos = "inline",
  }
end

--- Draws the key hint below the last line, wherever that is and however narrow the window.
function Prompt:draw_hint()
  local bufnr = self.surface.bufnr
  local last0 = vim.api.nvim_buf_line_count(bufnr) - 1
  self.hint_mark = vim.api.nvim_buf_set_extmark(bufnr, NAMESPACE, last0, 0, {
    id = self.hint_mark,
    virt_lines = require("typstai.chat.window").hint_lines(bufnr, self.hint),
  })
end

--- Shows another key hint.
---@param hint string[]
function Prompt:set_hint(hint)
  self.hint = hint
  self:draw_hint()
end

---@return string
function Prompt:text()
  return table.concat(self.surface.prompt, "\n")
end

--- The text as it was after the last finished command or insertion.
---@return string[]
function Prompt:committed()
  return self.states[self.at]
end

--- Makes what was typed since the last step a step of its own.
function Prompt:commit()
  local now = vim.list_slice(self.surface.prompt)
  if vim.deep_equal(now, self.states[self.at]) then
    return
  end
  for i = #self.states, self.at + 1, -1 do
    self.states[i] = nil
  end
  table.insert(self.states, now)
  if #self.states > MOST_STATES then
    table.remove(self.states, 1)
  end
  self.at = #self.states
end

local function first_difference(old, new)
  for i, line in ipairs(new) do
    if line ~= old[i] then
      local column = 0
      local before = old[i] or ""
      while column < #line and line:byte(column + 1) == before:byte(column + 1) do
        column = column + 1
      end
      return i - 1, math.min(column, math.max(0, #line - 1))
    end
  end
  return #new - 1, 0
end

--- Shows the state `step` steps away; says whether there was one.
---@private
function Prompt:travel(step)
  self:commit()
  local state = self.states[self.at + step]
  if not state then
    return false
  end
  local old = self.surface.prompt
  self.at = self.at + step
  self.surface:set_prompt(state)
  local row, column = first_difference(old, state)
  if vim.api.nvim_get_current_buf() == self.surface.bufnr then
    vim.api.nvim_win_set_cursor(0, { self.surface.border0 + row + 1, column })
  end
  return true
end

---@return boolean undone
function Prompt:undo()
  return self:travel(-1)
end

---@return boolean redone
function Prompt:redo()
  return self:travel(1)
end

--- Puts another text in the place of the prompt's, as a step of its own.
---@param text string
function Prompt:replace(text)
  self:commit()
  self.surface:set_prompt(vim.split(text, "\n", { plain = true }))
  self:commit()
end

--- Adds text at the end.
---@param text string
function Prompt:append(text)
  self:replace(self:text() .. text)
end

--- Takes sent text away if the prompt still begins with it; what was typed after it stays.
---@param text string
function Prompt:take(text)
  self:commit()
  if self:text():sub(1, #text) ~= text then
    return
  end
  local lines = vim.split(text, "\n", { plain = true })
  self.surface:drop_prompt_start(#lines - 1, #lines[#lines])
  self:commit()
end

return Prompt
