-- The line above a chat: title, model, mode and approval on the left, use on the right.
local Page = require("typstai.chat.page")

local M = {}

local TITLE_LEAST = 8
local MARGIN = " "

---@class typstai.ui.WinbarInfo
---@field title string
---@field words string[] model, mode, approval
---@field use string what the chat used, "" for nothing

local function cut(text, width, more)
  if vim.api.nvim_strwidth(text) <= width then
    return text
  end
  local room = width - vim.api.nvim_strwidth(more)
  local count = vim.fn.strcharlen(text)
  while count > 0 and vim.api.nvim_strwidth(vim.fn.strcharpart(text, 0, count)) > room do
    count = count - 1
  end
  return vim.fn.strcharpart(text, 0, count) .. more
end

local function escape(text)
  return (text:gsub("%%", "%%%%"))
end

local function join(words, glyphs)
  local kept = vim.tbl_filter(function(word)
    return word ~= ""
  end, vim.tbl_map(Page.clean, words))
  return table.concat(kept, glyphs.separator)
end

--- Leaves out what does not fit: first the use, then words from the right, then the
--- title's end.
local function fit(info, width, glyphs)
  local words, right = vim.list_slice(info.words), info.use
  local title = Page.clean(info.title)
  local least = math.min(TITLE_LEAST, vim.api.nvim_strwidth(title))
  local function rest()
    local text = join(vim.list_extend({ "" }, words), glyphs)
    return text ~= "" and glyphs.separator .. text or ""
  end
  local function too_wide()
    local tail = right ~= "" and right .. MARGIN .. MARGIN or ""
    return least + vim.api.nvim_strwidth(MARGIN .. rest() .. MARGIN .. tail) > width
  end
  if too_wide() then
    right = ""
  end
  while #words > 0 and too_wide() do
    table.remove(words)
  end
  local tail = right ~= "" and right .. MARGIN .. MARGIN or ""
  local room = width - vim.api.nvim_strwidth(MARGIN .. rest() .. MARGIN .. tail)
  return cut(title, math.max(0, room), glyphs.more), rest(), right
end

--- The value of 'winbar' for a window of this width.
---@param info typstai.ui.WinbarInfo
---@param width integer
---@param glyphs typstai.ui.Glyphs
---@return string
function M.text(info, width, glyphs)
  local title, rest, right = fit(info, width, glyphs)
  local left = MARGIN .. escape(title) .. "%#TypstAIDim#" .. escape(rest)
  return left .. "%=" .. escape(right) .. MARGIN
end

--- Sets the line above each window of a chat.
---@param view typstai.ui.View
function M.draw(view)
  local status, usage = require("typstai.status").get(), require("typstai.chat.usage")
  local turns = vim.tbl_map(function(turn)
    return turn.data
  end, view.transcript.turns)
  local info = {
    title = view.title ~= "" and view.title or vim.fs.basename(view.project),
    words = { status.model, status.mode, status.approval },
    use = usage.text(usage.of(turns), view.glyphs.separator),
  }
  for _, win in ipairs(view:windows()) do
    local text = M.text(info, vim.api.nvim_win_get_width(win), view.glyphs)
    vim.api.nvim_set_option_value("winbar", text, { win = win, scope = "local" })
  end
end

return M
