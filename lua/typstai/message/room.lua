-- Room for a sentence that is longer than the command line: without it Neovim stops and waits
-- for <Enter>, and takes the key that the user was about to type.
local M = {}

-- Of the screen, what a message may take.
local SHARE = 3

---@type { before: integer, raised: integer }|nil heights of the command line
local lent

-- Another notifier has room of its own. Neovim's is compiled in: it has no file.
local function is_neovims(notify)
  local source = debug.getinfo(notify, "S").source
  return source:find("^=?%?$") ~= nil or source:find("^@vim/") ~= nil
end

local function rows_for(text, mode)
  local beyond = vim.api.nvim_strwidth(text) - vim.v.echospace
  local more = math.max(0, math.ceil(beyond / vim.o.columns))
  -- The name of the mode comes back in the last row.
  local mode_row = more > 0 and vim.o.showmode and mode ~= "n" and 1 or 0
  return 1 + more + mode_row
end

local function give_back()
  if lent and vim.o.cmdheight == lent.raised then
    vim.o.cmdheight = lent.before
  end
  lent = nil
end

-- Until the user goes on: not while they type in the text, where nothing is to jump.
local function give_back_later()
  vim.api.nvim_create_autocmd({ "CursorMoved", "InsertLeave", "CmdlineLeave", "WinEnter" }, {
    group = vim.api.nvim_create_augroup("typstai.message", {}),
    once = true,
    desc = "typstai: give the room of a long message back",
    callback = vim.schedule_wrap(give_back),
  })
end

--- Makes the command line high enough for a message, until the user goes on.
---@param text string one line
function M.make(text)
  local mode = vim.api.nvim_get_mode().mode
  local rows = rows_for(text, mode)
  local is_at_rest = mode:find("^[nivVsSR\22\19]") ~= nil
  local is_possible = rows <= math.floor(vim.o.lines / SHARE)
  if rows <= vim.o.cmdheight or not (is_at_rest and is_possible and is_neovims(vim.notify)) then
    return
  end
  lent = { before = lent and lent.before or vim.o.cmdheight, raised = rows }
  vim.o.cmdheight = rows
  give_back_later()
end

return M
