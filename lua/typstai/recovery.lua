-- Taking back what runs wrote, and putting snapshots back. Python remembers the texts;
-- whether the live text allows it is decided here, in the same call as the edit.
local M = {}

local api = vim.api

---@class typstai.Written a run's writes into one document
---@field document string
---@field before string hash of the text before
---@field left string[] hashes of the texts that hold its writes and nothing else
---@field others string[] hashes of what other chats left
---@field interrupted boolean something else was written before its last write
---@field kept boolean
---@field reverted boolean
---@field text? string the text before

---@class typstai.WrittenRun
---@field run string
---@field chat string
---@field question string
---@field state "available"|"reverted"|"lapsed"
---@field documents typstai.Written[]

---@class typstai.PlannedStep
---@field run string
---@field edits { bufnr: integer, lines: string[] }[]

local function refuse(code, message)
  return { code = code, message = message }
end

local function name_of(document)
  return document:find("^buffer:") and "the unnamed buffer" or vim.fs.basename(document)
end

local function loaded(document)
  local unnamed = require("typstai.recovery.journal").unnamed_buffer(document)
  if unnamed then
    return api.nvim_buf_is_valid(unnamed) and unnamed or nil
  end
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(bufnr) and api.nvim_buf_get_name(bufnr) == document then
      return bufnr
    end
  end
end

local function buffer_of(document)
  local is_unnamed = vim.startswith(document, "buffer:")
  return loaded(document)
    or not is_unnamed and require("typstai.text.buffer").open({ path = document })
    or nil
end

--- Called by Python: hashes of the live texts, by document; what is not loaded is left out.
---@param args { documents: string[] }
---@return table<string, string>
function M.hashes(args)
  local hashes = vim.empty_dict()
  for _, document in ipairs(args.documents) do
    local bufnr = loaded(document)
    if bufnr and api.nvim_buf_is_loaded(bufnr) then
      local lines = api.nvim_buf_get_lines(bufnr, 0, -1, true)
      hashes[document] = require("typstai.recovery.journal").hash(lines)
    end
  end
  return hashes
end

--- The buffer of a document; a file that is not open is opened. Code: `no_buffer`.
---@param document string
---@return integer|nil, typstai.Error|nil
function M.open(document)
  local bufnr = buffer_of(document)
  if bufnr then
    return bufnr
  end
  local message = ("%s is no longer open, and no file is there."):format(name_of(document))
  return nil, refuse("no_buffer", message)
end

-- Neovim compares the file with what it read or wrote last. A buffer without unsaved
-- changes is read again where 'autoread' says so; of others the user is only told.
local function is_changed_on_disk(bufnr)
  local changed = false
  local watch = api.nvim_create_autocmd("FileChangedShell", {
    buffer = bufnr,
    desc = "typstai: look whether the file was changed",
    callback = function()
      changed = vim.v.fcs_reason ~= "mode" and vim.v.fcs_reason ~= "time"
      vim.api.nvim_set_vvar("fcs_choice", "")
    end,
  })
  vim.cmd.checktime({ args = { tostring(bufnr) }, mods = { silent = true } })
  pcall(api.nvim_del_autocmd, watch)
  return changed
end

---@class typstai.LiveText
---@field bufnr integer
---@field hash string
---@field lines string[]

--- The live text of a document, read once a plan.
---@param texts table<string, typstai.LiveText>
---@return typstai.LiveText|nil, typstai.Error|nil
local function live_text(texts, document)
  if texts[document] then
    return texts[document]
  end
  local bufnr, err = M.open(document)
  if not bufnr then
    return nil, err
  end
  if is_changed_on_disk(bufnr) then
    return nil, refuse("changed", name_of(document) .. " was changed on disk by another program.")
  end
  local lines = api.nvim_buf_get_lines(bufnr, 0, -1, true)
  local hash = require("typstai.recovery.journal").hash(lines)
  texts[document] = { bufnr = bufnr, lines = lines, hash = hash }
  return texts[document]
end

local function why_not(written, hash)
  local name = name_of(written.document)
  if not written.kept then
    return refuse("lapsed", ("The text of %s before that answer is no longer kept."):format(name))
  elseif vim.tbl_contains(written.others, hash) then
    return refuse("changed", ("Another chat has changed %s since."):format(name))
  elseif written.interrupted then
    return refuse("changed", ("%s was edited between the edits of that answer."):format(name))
  end
  local message = "%s was edited after that answer; :TypstAI snapshots has its earlier states."
  return refuse("changed", message:format(name))
end

-- What taking back a run means for one document: an edit, nothing, or a refusal.
local function edit_of(texts, written)
  local live, err = live_text(texts, written.document)
  if not live then
    return nil, err
  elseif live.hash == written.before then
    return nil
  elseif not (written.kept and vim.tbl_contains(written.left, live.hash)) then
    return nil, why_not(written, live.hash)
  end
  local lines = require("typstai.recovery.journal").lines(written.text)
  return { bufnr = live.bufnr, document = written.document, hash = written.before, lines = lines }
end

-- The edits of one run, or why it cannot be taken back. A newer one that was reverted
-- before does not stop the run that is wanted.
local function plan_step(texts, step, is_wanted)
  local edits = {}
  for _, written in ipairs(step.documents) do
    local edit, err = edit_of(texts, written)
    if err and (is_wanted or not written.reverted) then
      return nil, err
    end
    table.insert(edits, edit)
  end
  for _, edit in ipairs(edits) do
    texts[edit.document] = { bufnr = edit.bufnr, lines = edit.lines, hash = edit.hash }
  end
  return { run = step.run, chat = step.chat, edits = edits }
end

--- What can be taken back now, newest first, and why not more.
---@param plan { run: string, steps: typstai.WrittenRun[] } as Python gives it
---@return typstai.PlannedStep[] steps, typstai.Error|nil err
function M.look(plan)
  local texts, steps = {}, {}
  for _, step in ipairs(plan.steps) do
    local planned, err = plan_step(texts, step, step.run == plan.run)
    if not planned then
      return steps, err
    end
    if #planned.edits > 0 then
      table.insert(steps, planned)
    end
  end
  if #steps == 0 then
    return steps, refuse("no_change", "The document reads as it did before that answer.")
  end
  return steps
end

--- Replaces the text of a buffer by the smallest edits, as one undo step.
---@param bufnr integer
---@param lines string[]
---@param entry typstai.JournalEntry
---@return boolean|nil changed, typstai.Error|nil err
function M.write(bufnr, lines, entry)
  local live = api.nvim_buf_get_lines(bufnr, 0, -1, true)
  local whole = { row0 = 0, old = live, new = lines }
  local changes = require("typstai.text.diff").refine({ changes = { whole } })
  local ahead = require("typstai.recovery.journal").ahead(entry)
  local made, err = require("typstai.text.apply").run(bufnr, changes, ahead)
  if not made then
    return nil, err
  end
  return next(made) ~= nil
end

local function take_back(step)
  for _, edit in ipairs(step.edits) do
    local entry = { kind = "revert", chat = step.chat, run = step.run }
    local _, err = M.write(edit.bufnr, edit.lines, entry)
    if err then
      return err
    end
  end
end

--- Takes back what a plan allows; what was done stays done when a later step fails.
---@param plan table
---@return string[] reverted runs, newest first
---@return typstai.Error|nil err why not all
function M.carry_out(plan)
  local steps, err = M.look(plan)
  local reverted = {}
  for _, step in ipairs(steps) do
    local failed = take_back(step)
    if failed then
      return reverted, failed
    end
    table.insert(reverted, step.run)
  end
  return reverted, err
end

local function take_over(callback)
  require("typstai.rpc").call("recovery.take_over", vim.empty_dict(), callback)
end

--- Takes back a plan and tells Python. An error when nothing could be taken back.
---@param plan table
---@param callback fun(err: typstai.Error|nil, result: { reverted: string[], reason?: string }|nil)
function M.finish(plan, callback)
  local reverted, err = M.carry_out(plan)
  if #reverted == 0 then
    callback(err)
    return
  end
  take_over(function()
    callback(nil, { reverted = reverted, reason = err and err.message })
  end)
end

--- What reverting a run would take back; see `look`.
---@param params { run?: string, chat?: string }
---@param callback fun(err: typstai.Error|nil, plan: table|nil)
function M.plan(params, callback)
  require("typstai.rpc").call("recovery.plan", params, callback)
end

--- Reverts a run, and before it the newer ones of its chat.
--- Codes: `no_edits`, `busy`, `changed`, `lapsed`, `no_buffer`, `no_change`, `not_stored`.
---@param run string
---@param callback fun(err: typstai.Error|nil, result: { reverted: string[], reason?: string }|nil)
function M.revert(run, callback)
  M.plan({ run = run }, function(err, plan)
    if err then
      callback(err)
    else
      M.finish(plan, callback)
    end
  end)
end

local function strip(run)
  for _, written in ipairs(run.documents) do
    written.others, written.text = nil, nil
  end
  return run
end

--- The runs that wrote something, newest first.
---@param chat? string
---@param callback fun(err: typstai.Error|nil, runs: typstai.WrittenRun[]|nil)
function M.runs(chat, callback)
  require("typstai.rpc").call("recovery.runs", { chat = chat }, function(err, runs)
    callback(err, runs and vim.tbl_map(strip, runs))
  end)
end

return M
