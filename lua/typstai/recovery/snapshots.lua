-- Texts of a document that were kept: after answers, and before something was put back.
local M = {}

local xdiff = vim.text and vim.text.diff or vim.diff

---@class typstai.KeptText
---@field id integer
---@field kind "automatic"|"before_restore"
---@field document string
---@field chat string
---@field run string
---@field question string what was asked for the run; "" when not known
---@field at number seconds since the epoch
---@field bytes integer
---@field added integer lines that putting it back would add to the live text
---@field removed integer
---@field lines? string[]

local function text_of(lines)
  return table.concat(lines, "\n") .. "\n"
end

--- How many lines differ between two texts.
---@param old string[]
---@param new string[]
---@return integer added, integer removed
function M.count(old, new)
  local added, removed = 0, 0
  for _, hunk in ipairs(xdiff(text_of(old), text_of(new), { result_type = "indices" })) do
    removed, added = removed + hunk[2], added + hunk[4]
  end
  return added, removed
end

--- A unified diff from one text to the other, without a header.
---@param old string[]
---@param new string[]
---@return string[]
function M.unified(old, new)
  local text = xdiff(text_of(old), text_of(new), { result_type = "unified", ctxlen = 3 })
  return vim.split(vim.trim(text), "\n", { plain = true })
end

local function measured(snapshot, live)
  snapshot.lines = require("typstai.recovery.journal").lines(snapshot.text)
  snapshot.text = nil
  snapshot.added, snapshot.removed = M.count(live, snapshot.lines)
  return snapshot
end

--- The snapshots of a buffer's document with their lines, newest first.
---@param bufnr integer
---@param callback fun(err: typstai.Error|nil, snapshots: typstai.KeptText[]|nil)
function M.of_buffer(bufnr, callback)
  local document = require("typstai.recovery.journal").document(bufnr)
  local params = { document = document, dir = vim.fn.getcwd() }
  require("typstai.rpc").call("recovery.snapshots", params, function(err, found)
    if not vim.api.nvim_buf_is_loaded(bufnr) then
      err = err or { code = "no_buffer", message = "The document is no longer open." }
    end
    if err then
      callback(err)
      return
    end
    local live = vim.api.nvim_buf_get_lines(bufnr, 0, -1, true)
    callback(
      nil,
      vim.tbl_map(function(snapshot)
        return measured(snapshot, live)
      end, found)
    )
  end)
end

--- The snapshots of a buffer's document, without their text, newest first.
---@param bufnr? integer
---@param callback fun(err: typstai.Error|nil, snapshots: typstai.KeptText[]|nil)
function M.list(bufnr, callback)
  local chosen = bufnr and bufnr ~= 0 and bufnr or vim.api.nvim_get_current_buf()
  require("typstai.text.buffer").load(chosen)
  M.of_buffer(chosen, function(err, found)
    for _, snapshot in ipairs(found or {}) do
      snapshot.lines = nil
    end
    callback(err, found)
  end)
end

local function is_unnamed(bufnr)
  return bufnr ~= nil
    and vim.api.nvim_buf_is_valid(bufnr)
    and vim.api.nvim_buf_get_name(bufnr) == ""
end

--- A snapshot with its lines, and the buffer of its document, opened where it was not.
--- Codes: `storage`, `no_buffer`.
---@param id integer
---@param callback fun(err: typstai.Error|nil, snapshot: typstai.KeptText|nil, bufnr: integer|nil)
---@param into? integer buffer without a name that takes it when its own is gone
function M.get(id, callback, into)
  require("typstai.rpc").call("recovery.snapshot", { id = id }, function(err, snapshot)
    if err then
      callback(err)
      return
    end
    local bufnr, failed = require("typstai.recovery").open(snapshot.document)
    bufnr = bufnr or M.is_orphan(snapshot) and is_unnamed(into) and into or nil
    if not bufnr then
      callback(failed)
      return
    end
    local live = vim.api.nvim_buf_get_lines(bufnr, 0, -1, true)
    callback(nil, measured(snapshot, live), bufnr)
  end)
end

--- Whether the buffer without a name that a snapshot is of ended with its Neovim.
---@param snapshot typstai.KeptText
---@return boolean
function M.is_orphan(snapshot)
  return vim.startswith(snapshot.document, "buffer:")
    and not require("typstai.recovery.journal").unnamed_buffer(snapshot.document)
end

local function put_back(snapshot, bufnr)
  local entry = { kind = "restore", snapshot = snapshot.id }
  local changed, err = require("typstai.recovery").write(bufnr, snapshot.lines, entry)
  if changed == false then
    return { code = "no_change", message = "The document already reads like that." }
  end
  return err
end

--- Puts a snapshot back as one undo step; the text before becomes a snapshot itself.
--- Codes: `storage`, `no_buffer`, `changed`, `no_change`, `not_stored`, `not_modifiable`.
---@param id integer
---@param callback fun(err: typstai.Error|nil, result: { id: integer }|nil)
---@param shown? string hash of the text that the user saw it compared with
---@param into? integer see `get`
function M.restore(id, callback, shown, into)
  M.get(id, function(err, snapshot, bufnr)
    if err then
      callback(err)
      return
    end
    local live = vim.api.nvim_buf_get_lines(bufnr, 0, -1, true)
    if shown and require("typstai.recovery.journal").hash(live) ~= shown then
      callback({ code = "changed", message = "The document changed meanwhile; look again." })
      return
    end
    err = put_back(snapshot, bufnr)
    if err then
      callback(err)
      return
    end
    require("typstai.rpc").call("recovery.take_over", vim.empty_dict(), function()
      callback(nil, { id = id })
    end)
  end, into or vim.api.nvim_get_current_buf())
end

return M
