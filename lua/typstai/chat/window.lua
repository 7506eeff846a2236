-- Windows on a chat: opened at the right, plain, and scrolled along with the stream only
-- where the reader was at its end.
local M = {}

local OPTIONS = {
  breakindent = true,
  breakindentopt = "list:-1",
  colorcolumn = "",
  conceallevel = 0,
  cursorline = false,
  foldcolumn = "1",
  foldenable = false,
  linebreak = true,
  list = false,
  number = false,
  relativenumber = false,
  signcolumn = "no",
  smoothscroll = true,
  spell = false,
  statuscolumn = "",
  winfixwidth = true,
  winhighlight = "FoldColumn:Normal",
  wrap = true,
}
local PROMPT = vim.api.nvim_create_namespace("typstai.prompt")
-- A line that does not fit is shown in part when more rows than this would stay empty.
local EMPTY_ROWS = 5
local NARROWEST = 30
local HINT_INDENT = "  "

--- Makes a window show a chat as it should.
---@param win integer
function M.dress(win)
  for name, value in pairs(OPTIONS) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = "local" })
  end
  -- No `~` below the key hint; the user's other fill characters stay.
  local fill = vim.tbl_filter(function(item)
    return item ~= ""
  end, { vim.go.fillchars, "eob: " })
  local fillchars = table.concat(fill, ",")
  vim.api.nvim_set_option_value("fillchars", fillchars, { win = win, scope = "local" })
end

-- A share is what the user wants; a number of columns leaves the document its half.
local function columns(width)
  local wanted = width <= 1 and vim.o.columns * width or math.min(width, vim.o.columns / 2)
  return math.max(1, math.min(math.floor(wanted), vim.o.columns - NARROWEST))
end

local function wanted_columns()
  return columns(require("typstai.config").get().ui.width)
end

local function is_float(win)
  return vim.api.nvim_win_get_config(win).relative ~= ""
end

--- Opens a split at the right and enters it.
---@param bufnr integer
---@return integer win
function M.open(bufnr)
  return vim.api.nvim_open_win(bufnr, true, { split = "right", win = -1, width = wanted_columns() })
end

--- Gives windows their width again, because the screen has another one.
---@param wins integer[]
function M.fit(wins)
  for _, win in ipairs(wins) do
    if not is_float(win) then
      vim.api.nvim_win_set_width(win, wanted_columns())
    end
  end
end

local function is_last(win)
  local others = vim.tbl_filter(function(other)
    return other ~= win and not is_float(other)
  end, vim.api.nvim_tabpage_list_wins(vim.api.nvim_win_get_tabpage(win)))
  return #others == 0
end

--- Closes a window; the last one of its tab page shows the document, or an empty buffer.
---@param win integer
function M.close(win)
  if is_float(win) or not is_last(win) then
    vim.api.nvim_win_close(win, true)
    return
  end
  local target = require("typstai.chat.outbox").target()
  vim.api.nvim_win_set_buf(win, target and target.bufnr or vim.api.nvim_create_buf(true, false))
end

local function wrapped(words, separator, width)
  local lines = { HINT_INDENT .. words[1] }
  for _, word in ipairs(vim.list_slice(words, 2)) do
    local longer = lines[#lines] .. separator .. word
    if vim.api.nvim_strwidth(longer) <= width then
      lines[#lines] = longer
    else
      table.insert(lines, HINT_INDENT .. word)
    end
  end
  return lines
end

--- The key hint below the last line, as virtual lines that fit every window of the chat.
---@param bufnr integer
---@param words string[]
---@return table
function M.hint_lines(bufnr, words)
  local width = math.huge
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local info = vim.fn.getwininfo(win)[1]
    width = math.min(width, info.width - info.textoff)
  end
  local separator = require("typstai.ui.glyphs").get().separator
  return vim.tbl_map(function(text)
    return { { text, "TypstAIHint" } }
  end, #words > 0 and wrapped(words, separator, width) or { "" })
end

-- Rows of the key hint, which Neovim does not count as text.
local function hint_rows(bufnr, last0)
  local options = { details = true, limit = 1 }
  local mark = vim.api.nvim_buf_get_extmarks(bufnr, PROMPT, { last0, 0 }, { last0, -1 }, options)[1]
  return mark and #(mark[4].virt_lines or {}) or 1
end

--- How keys are shown at a line of the current window, as options of an extmark: at the
--- line's end, or below it where there is no room.
---@param row0 integer
---@param hints string[]
---@param separator string
---@return table
function M.key_hints(row0, hints, separator)
  local line = vim.api.nvim_buf_get_lines(0, row0, row0 + 1, true)[1]
  local info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
  local width = info.width - info.textoff
  local one_line = HINT_INDENT .. table.concat(hints, separator)
  if vim.api.nvim_strwidth(line) + vim.api.nvim_strwidth(one_line) < width then
    return { virt_text = { { one_line, "TypstAIHint" } } }
  end
  return {
    virt_lines = vim.tbl_map(function(text)
      return { { text, "TypstAIHint" } }
    end, wrapped(hints, separator, width)),
  }
end

--- Windows whose reader is at the end: in the prompt, or with the last line in view.
---@param surface typstai.ui.Surface
---@return integer[]
function M.followers(surface)
  local last = vim.api.nvim_buf_line_count(surface.bufnr)
  return vim.tbl_filter(function(win)
    local at_prompt = vim.api.nvim_win_get_cursor(win)[1] > surface.border0
    return at_prompt or vim.fn.line("w$", win) >= last
  end, vim.fn.win_findbuf(surface.bufnr))
end

local function height(win, first0, last0)
  return vim.api.nvim_win_text_height(win, { start_row = first0, end_row = last0 }).all
end

--- First row, and rows of it to skip, with which the text ends just above the hint.
local function top_for_end(win, last0, room)
  local row0, used = last0, height(win, last0, last0)
  while row0 > 0 do
    local more = height(win, row0 - 1, row0 - 1)
    if used + more > room then
      local left = room - used
      if left > EMPTY_ROWS then
        return row0 - 1, more - left
      end
      break
    end
    row0, used = row0 - 1, used + more
  end
  return row0, 0
end

local function skipped_rows(win, width)
  local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  return math.floor((view.skipcol or 0) / math.max(1, width))
end

--- Whether everything from the window's first row to the last line is in view.
local function is_end_in_view(win, info, last0, room)
  local top0 = info.topline - 1
  if last0 - top0 >= room then
    return false
  end
  local used = height(win, top0, last0)
  return used <= room or used - skipped_rows(win, info.width - info.textoff) <= room
end

--- Scrolls a window so that its text's end is in view, but never past its cursor.
---@param win integer
function M.show_end(win)
  local info = vim.fn.getwininfo(win)[1]
  local last0 = vim.api.nvim_buf_line_count(info.bufnr) - 1
  local room = info.height - hint_rows(info.bufnr, last0)
  if is_end_in_view(win, info, last0, room) then
    return
  end
  local cursor0 = vim.api.nvim_win_get_cursor(win)[1] - 1
  local top0, skip = top_for_end(win, last0, room)
  if cursor0 < top0 or (cursor0 == top0 and skip > 0) then
    top0, skip = math.max(cursor0, info.topline - 1), 0
  end
  vim.api.nvim_win_call(win, function()
    vim.fn.winrestview({ topline = top0 + 1, skipcol = skip * (info.width - info.textoff) })
  end)
end

return M
