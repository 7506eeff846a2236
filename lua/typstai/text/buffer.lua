-- Reading documents: the text of one buffer, the unsaved text of a project, and
-- opening a file for the user to see. Writing is done by apply.lua.
local M = {}

local MAX_CHARACTERS = 1000000
-- A UTF-8 character takes at most four bytes: beyond this no counting is needed.
local MAX_BYTES = 4 * MAX_CHARACTERS

local function failure(code, message)
  return nil, { code = code, message = message }
end

local function bytes(bufnr)
  return vim.api.nvim_buf_get_offset(bufnr, vim.api.nvim_buf_line_count(bufnr))
end

-- Another swap file of this file: an editor may have it open, or crashed with it.
local function has_foreign_swap(bufnr)
  local own = vim.fn.swapname(bufnr)
  return own ~= "" and not vim.endswith(own, ".swp")
end

--- Loads a buffer that is not, without the swap-file prompt: nobody may be there to
--- answer it. Read-only is then what cannot damage the text another editor has unsaved.
---@param bufnr integer
---@return boolean ok
function M.load(bufnr)
  if vim.api.nvim_buf_is_loaded(bufnr) then
    return true
  end
  local shortmess = vim.o.shortmess
  vim.o.shortmess = shortmess .. "A"
  local ok = pcall(vim.fn.bufload, bufnr)
  vim.o.shortmess = shortmess
  if ok and has_foreign_swap(bufnr) then
    vim.bo[bufnr].readonly = true
  end
  return ok
end

--- Whether text may be written into the buffer.
---@param bufnr integer
---@return boolean
function M.is_modifiable(bufnr)
  return vim.bo[bufnr].modifiable and not vim.bo[bufnr].readonly
end

--- The text of one buffer now. Codes: `no_buffer`, `too_large`, `invalid_utf8`.
---@param args { bufnr: integer }
---@return typstai.Snapshot|nil, typstai.Error|nil
function M.snapshot(args)
  local bufnr = args.bufnr
  if not vim.api.nvim_buf_is_valid(bufnr) or not M.load(bufnr) then
    return failure("no_buffer", "The document is no longer open.")
  end
  if bytes(bufnr) > MAX_BYTES then
    return failure("too_large", "The document has more than 1,000,000 characters.")
  end
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local characters = require("typstai.text.utf8").characters(lines)
  if not characters then
    return failure("invalid_utf8", "The document is not valid UTF-8 text; reload it with ++enc.")
  end
  if characters > MAX_CHARACTERS then
    return failure("too_large", "The document has more than 1,000,000 characters.")
  end
  return {
    bufnr = bufnr,
    path = vim.api.nvim_buf_get_name(bufnr),
    tick = vim.api.nvim_buf_get_changedtick(bufnr),
    text = table.concat(lines, "\n"),
    modifiable = M.is_modifiable(bufnr),
  }
end

local LINE_ENDS = { unix = "\n", dos = "\r\n", mac = "\r" }

-- What :write would put into the file, but for 'fileencoding'.
local function file_text(bufnr)
  local options = vim.bo[bufnr]
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local line_end = LINE_ENDS[options.fileformat]
  local text = table.concat(lines, line_end)
  local is_empty = #lines == 1 and lines[1] == ""
  if not is_empty and (options.endofline or (options.fixendofline and not options.binary)) then
    text = text .. line_end
  end
  return options.bomb and "\239\187\191" .. text or text
end

local function is_unsaved_document(bufnr)
  return vim.api.nvim_buf_is_loaded(bufnr)
    and vim.bo[bufnr].modified
    and vim.bo[bufnr].buftype == ""
    and vim.api.nvim_buf_get_name(bufnr) ~= ""
end

-- The absolute path under `root` by which the project knows the file, or nil. A
-- buffer may have been opened through a symbolic link on the way to the project.
local function path_below(root, name)
  local prefix = root:gsub("/$", "") .. "/"
  if vim.startswith(name, prefix) then
    return name
  end
  local real_root, real_name = vim.uv.fs_realpath(root), vim.uv.fs_realpath(name)
  if real_root and real_name and vim.startswith(real_name, real_root .. "/") then
    return prefix .. real_name:sub(#real_root + 2)
  end
end

--- What would be written of every loaded, modified, named document below `root`.
---@param args { root: string }
---@return table<string, string> text by absolute path
function M.overlay(args)
  local texts = vim.empty_dict()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    local path = is_unsaved_document(bufnr)
      and path_below(args.root, vim.api.nvim_buf_get_name(bufnr))
    if path then
      texts[path] = file_text(bufnr)
    end
  end
  return texts
end

local function is_document_window(win)
  local bufnr = vim.api.nvim_win_get_buf(win)
  return vim.bo[bufnr].buftype == ""
    and vim.bo[bufnr].filetype ~= "typstai"
    and vim.api.nvim_win_get_config(win).relative == ""
    and not vim.wo[win].previewwindow
    and not vim.wo[win].diff
end

-- The window the user last read a document in, in this tab page.
local function document_window()
  local candidates = { vim.api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr("#")) }
  vim.list_extend(candidates, vim.api.nvim_tabpage_list_wins(0))
  for _, win in ipairs(candidates) do
    if win ~= 0 and is_document_window(win) then
      return win
    end
  end
end

--- The window of this tab page that shows the buffer: one that does already, else the
--- last document window, else a new one. The focus stays where it is.
---@param bufnr integer
---@return integer win
function M.show(bufnr)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == bufnr then
      return win
    end
  end
  local win = document_window()
  -- Without 'hidden' a window refuses to leave a modified buffer.
  if win and pcall(vim.api.nvim_win_set_buf, win, bufnr) then
    return win
  end
  return vim.api.nvim_open_win(bufnr, false, { split = "left", win = -1 })
end

--- Loads a file into a listed buffer and shows it in the last document window, with
--- the focus where it was; from the command-line window it is only listed. Codes: `not_found`, `unreadable`.
---@param args { path: string } absolute
---@return integer|nil bufnr, typstai.Error|nil
function M.open(args)
  local stat = vim.uv.fs_stat(args.path)
  if not stat then
    return failure("not_found", "There is no file " .. args.path .. ".")
  end
  if stat.type ~= "file" or not vim.uv.fs_access(args.path, "R") then
    return failure("unreadable", "The file " .. args.path .. " cannot be read.")
  end
  local bufnr = vim.fn.bufadd(args.path)
  if not M.load(bufnr) then
    return failure("unreadable", "The file " .. args.path .. " cannot be read.")
  end
  vim.bo[bufnr].buflisted = true
  if not require("typstai.ui.cmdwin").refusal() then
    M.show(bufnr)
  end
  return bufnr
end

return M
