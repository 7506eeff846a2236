-- Documents that were closed (:bdelete, :bunload) while changes of them are pending: the
-- file tells whether a change still fits, and accepting one opens the document again.
local M = {}

local api = vim.api

---@class typstai.ClosedFile
---@field stamp string tells one state of the file from the next
---@field lines string[]

---@type table<integer, typstai.ClosedFile> by buffer
local files = {}

-- The lines of a file as Neovim's defaults would open it; nil when it cannot be read.
local function read(path)
  local is_read, lines = pcall(vim.fn.readfile, path)
  if not is_read then
    return nil
  elseif not require("typstai.text.utf8").characters(lines) then
    lines = vim.tbl_map(function(line)
      return vim.iconv(line, "latin1", "utf-8") or line
    end, lines)
  end
  return #lines > 0 and lines or { "" }
end

local function file_of(bufnr)
  local path = api.nvim_buf_get_name(bufnr)
  local stat = path ~= "" and vim.uv.fs_stat(path)
  if not stat then
    return nil
  end
  local stamp = ("%d.%d %d %d"):format(stat.mtime.sec, stat.mtime.nsec, stat.size, stat.ino)
  if not files[bufnr] or files[bufnr].stamp ~= stamp then
    local lines = read(path)
    files[bufnr] = lines and { stamp = stamp, lines = lines }
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
