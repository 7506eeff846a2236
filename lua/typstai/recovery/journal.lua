-- The write-ahead journal: before text of a run enters a document, what stood there is
-- on disk. Works while the helper process is dead; Python takes the records over.
--
-- A record is one file: a line of JSON, then the text before where it is to be kept. It
-- says what the text was and what it is about to become; which of the two came to be,
-- the text itself tells.
local M = {}

local MAX_BODY_BYTES = 4 * 1024 * 1024
local FOLDER_MODE = tonumber("700", 8)

---@class typstai.JournalEntry what a write belongs to
---@field kind "edit"|"revert"|"restore"
---@field chat? string
---@field run? string
---@field snapshot? integer

-- This Neovim: a process number alone may be another one's tomorrow.
local session = ("%x-%x"):format(vim.uv.os_getpid(), vim.uv.hrtime())
local records = 0

---@type table<string, boolean> run and document whose text before is stored
local stored = {}
---@type table<integer, { tick: integer, hash: string }> what was written last, by buffer
local written = {}

--- Folder of the records.
function M.folder()
  return vim.fs.joinpath(require("typstai.host").data_dir(), "journal")
end

--- What a document is known by: its path, or for a buffer without a name, the buffer.
---@param bufnr integer
---@return string
function M.document(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  return path ~= "" and path or ("buffer:%s:%d"):format(session, bufnr)
end

--- Called by Python: `document` of a buffer. Code: `no_buffer`.
---@param args { bufnr: integer }
---@return string|nil, typstai.Error|nil
function M.document_of(args)
  if not vim.api.nvim_buf_is_valid(args.bufnr) then
    return nil, { code = "no_buffer", message = "The document is no longer open." }
  end
  return M.document(args.bufnr)
end

--- The buffer of a document that is open without a name in this Neovim.
---@param document string
---@return integer|nil
function M.unnamed_buffer(document)
  local bufnr = document:match("^buffer:" .. vim.pesc(session) .. ":(%d+)$")
  return tonumber(bufnr)
end

--- Fingerprint of a text. A NUL, which `sha256` does not take, counts as a line break:
--- the number of lines tells them apart.
---@param lines string[]
---@return string
function M.hash(lines)
  local text = table.concat(lines, "\n")
  if text:find("\0", 1, true) then
    text = text:gsub("%z", "\n")
  end
  return vim.fn.sha256(#lines .. "\n" .. text)
end

--- The lines of a text as it was stored.
---@param text string
---@return string[]
function M.lines(text)
  return vim.split(text, "\n", { plain = true })
end

--- Puts a record into the journal, whole or not at all. A text is on disk when this
--- returns; a record without one may be lost when power fails, which loses no text.
---@param header table
---@param body string
---@return string|nil err what the system said
function M.put(header, body)
  local folder = M.folder()
  pcall(vim.fn.mkdir, folder, "p", FOLDER_MODE)
  local file = require("typstai.recovery.whole_file")
  local path = vim.fs.joinpath(folder, header.id)
  local data = vim.json.encode(header) .. "\n" .. body
  local err = file.put(path .. ".record", path .. ".part", data, header.bytes ~= nil)
  if not err and header.bytes then
    file.sync_folder(folder)
  end
  return err
end

-- Names sort in the order in which the records were made.
local function new_id(seconds, micros)
  records = records + 1
  return ("%010d%06d-%06d-%s"):format(seconds, micros, records, session)
end

local function refusal(entry, reason)
  local what = entry.kind == "edit" and "edit was not made: the text before it"
    or entry.kind == "revert" and "edits were not reverted: it"
    or "snapshot was not restored: the text before it"
  return { code = "not_stored", message = ("The %s cannot be stored (%s)."):format(what, reason) }
end

-- One line of what the system said, for a sentence: `ENOSPC: no space left on device: PATH`.
local function reason_of(err)
  return err:match("^%u+: ([^:]+)") or err
end

local function key_of(entry, document)
  return entry.run .. "\n" .. document
end

local function needs_body(entry, document)
  if entry.kind == "edit" then
    return not stored[key_of(entry, document)]
  end
  return entry.kind == "restore"
end

local function hash_before(bufnr, lines)
  local last = written[bufnr]
  local is_last = last and last.tick == vim.api.nvim_buf_get_changedtick(bufnr)
  return is_last and last.hash or M.hash(lines)
end

local function header_of(entry, document, after)
  local seconds, micros = vim.uv.gettimeofday()
  return vim.tbl_extend("force", entry, {
    id = new_id(seconds, micros),
    document = document,
    at = seconds + micros / 1e6,
    after = after,
  })
end

--- Records what is about to be written into a buffer.
--- Code: `not_stored`; then nothing may be written.
---@param entry typstai.JournalEntry
---@param bufnr integer
---@param changes typstai.LineChange[] that fit, from the top
---@return typstai.Error|nil err
---@return fun()|nil done to be called after the write
function M.write_ahead(entry, bufnr, changes)
  local lines, document = vim.api.nvim_buf_get_lines(bufnr, 0, -1, true), M.document(bufnr)
  local after = M.hash(require("typstai.text.changed").lines(lines, changes))
  local header = header_of(entry, document, after)
  local body = ""
  if needs_body(entry, document) then
    body = table.concat(lines, "\n")
    header.bytes = #body
  else
    header.before = hash_before(bufnr, lines)
  end
  if #body > MAX_BODY_BYTES then
    return refusal(entry, "the document is larger than 4 MiB")
  end
  local err = M.put(header, body)
  if err then
    return refusal(entry, reason_of(err))
  end
  if entry.kind == "edit" then
    stored[key_of(entry, document)] = true
  end
  return nil,
    function()
      written[bufnr] = { tick = vim.api.nvim_buf_get_changedtick(bufnr), hash = header.after }
    end
end

--- What `apply.run` calls before it writes; nil for text that belongs to no run.
---@param entry typstai.JournalEntry
---@return (fun(bufnr: integer, changes: typstai.LineChange[]): typstai.Error|nil, fun()|nil)|nil
function M.ahead(entry)
  if entry.kind == "edit" and ((entry.run or "") == "" or (entry.chat or "") == "") then
    return nil
  end
  return function(bufnr, changes)
    return M.write_ahead(entry, bufnr, changes)
  end
end

return M
