-- Documents that were closed (:bdelete, :bunload) while changes of them are pending: the
-- file tells whether a change still fits, and accepting one opens the document again.
local M = {}

local api = vim.api

local BYTE_ORDER_MARK = "\239\187\191"

---@class typstai.ClosedFile
---@field stamp string tells one state of the file from the next
---@field lines string[]

---@type table<integer, typstai.ClosedFile> by buffer
local files = {}

local function ends_in_cr(lines)
  for _, line in ipairs(lines) do
    if line:sub(-1) ~= "\r" then
      return false
    end
  end
  return #lines > 0
end

-- The lines that Neovim's defaults make of the bytes of a file.
local function lines_of(data)
  if vim.startswith(data, BYTE_ORDER_MARK) then
    data = data:sub(#BYTE_ORDER_MARK + 1)
  end
  if not require("typstai.text.utf8").characters({ data }) then
    data = vim.iconv(data, "latin1", "utf-8") or data
  end
  local lines = vim.split(data, "\n", { plain = true })
  if lines[#lines] == "" and #lines > 1 then
    table.remove(lines)
  end
  local is_dos = ends_in_cr(lines)
  return vim.tbl_map(function(line)
    line = is_dos and line:sub(1, -2) or line
    return (line:gsub("%z", "\n"))
  end, lines)
end

local function read(path)
  local file = io.open(path, "rb")
  local data = file and file:read("*a")
  if file then
    file:close()
  end
  return data
end

local function file_of(bufnr)
  local path = api.nvim_buf_get_name(bufnr)
  local stat = path ~= "" and vim.uv.fs_stat(path)
  if not stat then
    return nil
  end
  local stamp = ("%d.%d %d %d"):format(stat.mtime.sec, stat.mtime.nsec, stat.size, stat.ino)
  if not files[bufnr] or files[bufnr].stamp ~= stamp then
    local data = read(path)
    files[bufnr] = data and { stamp = stamp, lines = lines_of(data) }
  end
  return files[bufnr]
end

--- Where the lines of a hunk stand in the file of its closed document, or nil.
---@param hunk typstai.LiveHunk
---@return integer|nil row, integer|nil byte_col of a part of a line
function M.find(hunk)
  local file = file_of(hunk.proposal.bufnr)
  if not (file and hunk.around) then
    return nil
  end
  local found = hunk.in_file
  if not found or found.stamp ~= file.stamp then
    local row, col = require("typstai.proposals.landmarks").find_in_file(file.lines, hunk)
    found = { stamp = file.stamp, row = row, byte_col = col }
    hunk.in_file = found
  end
  return found.row, found.byte_col
end

local function name_of(bufnr)
  return vim.fs.basename(api.nvim_buf_get_name(bufnr))
end

-- Why a closed document cannot be opened again, in few words and as a sentence.
local function obstacle(bufnr)
  local path = api.nvim_buf_get_name(bufnr)
  if path == "" then
    return "closed without being saved", "This buffer was closed without being saved"
  elseif not vim.uv.fs_stat(path) then
    return "the file is gone", ("The file %s is no longer there"):format(name_of(bufnr))
  end
end

--- Why a stale hunk cannot be applied, in few words and as a sentence that says what to do.
---@param hunk typstai.LiveHunk
---@return string note, string sentence
function M.why(hunk)
  local bufnr = hunk.proposal.bufnr
  local is_closed = not api.nvim_buf_is_loaded(bufnr)
  local note, sentence
  if is_closed then
    note, sentence = obstacle(bufnr)
  end
  if not note and (is_closed or hunk.lost) and not hunk.clash then
    note = "no longer in the file"
    sentence = ("These lines are no longer in %s"):format(name_of(bufnr))
  end
  note, sentence = note or "changed by you meanwhile", sentence or "You changed these lines"
  return note, sentence .. ": reject the change or ask again."
end

local function is_out_of_sight(bufnr)
  return not vim.bo[bufnr].buflisted
    and api.nvim_buf_get_name(bufnr) ~= ""
    and vim.fn.bufwinid(bufnr) == -1
end

--- Opens the document again if it was closed, where the user sees it. Code: `no_buffer`.
---@param bufnr integer
---@return typstai.Error|nil
function M.reopen(bufnr)
  local is_loaded = api.nvim_buf_is_loaded(bufnr)
  if is_loaded and not is_out_of_sight(bufnr) then
    return nil
  end
  local _, sentence = obstacle(bufnr)
  if sentence and not is_loaded then
    return { code = "no_buffer", message = sentence .. ": reject the change or ask again." }
  end
  local buffer = require("typstai.text.buffer")
  if not buffer.load(bufnr) then
    return { code = "no_buffer", message = ("%s cannot be opened."):format(name_of(bufnr)) }
  end
  vim.bo[bufnr].buflisted = true
  if not require("typstai.ui.cmdwin").refusal() then
    buffer.show(bufnr)
  end
end

--- Forgets what was read of a document: it is open again, or gone.
---@param bufnr integer
function M.forget(bufnr)
  files[bufnr] = nil
end

return M
