-- Draws ghost text: virtual text at the cursor, the lines that follow below it. It is in no
-- buffer, no register and no undo history.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("typstai.ghost.view")
local MARK = 1
local GROUP = "TypstAIGhost"
-- How far the colour goes from that of a comment towards the background.
local FADE = 0.35

local function mixed(from, to, share)
  local function channel(shift)
    local a = bit.band(bit.rshift(from, shift), 255)
    local b = bit.band(bit.rshift(to, shift), 255)
    return bit.lshift(math.floor(a + (b - a) * share + 0.5), shift)
  end
  return channel(16) + channel(8) + channel(0)
end

local function background()
  local normal = api.nvim_get_hl(0, { name = "Normal", link = false })
  return normal.bg or (vim.o.background == "light" and 0xffffff or 0)
end

--- Defines the group: one shade fainter than a comment, or that of `NonText` where there are
--- no colours to mix. One that the user or a colour scheme defined stays.
function M.define_group()
  local comment = api.nvim_get_hl(0, { name = "Comment", link = false })
  if not comment.fg then
    api.nvim_set_hl(0, GROUP, { link = "NonText", default = true })
    return
  end
  api.nvim_set_hl(0, GROUP, {
    fg = mixed(comment.fg, background(), FADE),
    ctermfg = comment.ctermfg,
    italic = comment.italic,
    default = true,
  })
end

local function chunk(text)
  return { (text:gsub("\t", " ")), GROUP }
end

--- Draws the text at the cursor, in place of what is drawn.
---@param text string
---@param room typstai.ghost.Room
function M.draw(text, room)
  local lines = require("typstai.ghost.layout").lines(text, room)
  local at = api.nvim_win_get_cursor(0)
  local below = vim.tbl_map(function(line)
    return { chunk(room.indent .. line) }
  end, vim.list_slice(lines, 2))
  -- The mark has the gravity that keeps the cursor before the text.
  api.nvim_buf_set_extmark(0, NS, at[1] - 1, at[2], {
    id = MARK,
    virt_text = { chunk(lines[1]) },
    virt_text_pos = "inline",
    virt_lines = below,
    hl_mode = "combine",
    undo_restore = false,
  })
end

--- Takes the text away.
---@param bufnr integer
function M.clear(bufnr)
  if api.nvim_buf_is_valid(bufnr) then
    api.nvim_buf_del_extmark(bufnr, NS, MARK)
  end
end

return M
