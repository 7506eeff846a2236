-- Text actions: what the user asked for goes to Python with the place it is about, which
-- is tracked by marks; what became of it is told once.
local M = {}

---@class typstai.RunningAction
---@field id string
---@field action string
---@field bufnr integer
---@field callback? fun(err: nil, result: typstai.ActionResult)
---@field stopped? boolean
---@field is_told? boolean its end needs no message: the user knows, or was told
---@field forget? fun() stops to look whether its document is closed
---@field ended? boolean its result was told

---@type table<string, typstai.RunningAction>
local running = {}
---@type table<integer, fun()> gives the user's map of the stop key back, by buffer
local lent = {}

local function running_in(bufnr)
  for _, work in pairs(running) do
    if work.bufnr == bufnr then
      return true
    end
  end
  return false
end

local function lend_stop_key(bufnr)
  local key = require("typstai.config").get().keymaps.actions.stop
  if key and key ~= "" and not lent[bufnr] then
    local function stop()
      M.stop(bufnr)
    end
    local opts = { desc = "typstai: stop the action" }
    lent[bufnr] = require("typstai.mapping").lend(bufnr, {
      { modes = { "n" }, lhs = key, rhs = stop, opts = opts },
    })
  end
end

local function give_back_stop_key(bufnr)
  local give_back = not running_in(bufnr) and lent[bufnr]
  if give_back then
    lent[bufnr] = nil
    give_back()
  end
end

local function finish(work, result)
  if work.ended then
    return
  end
  work.ended = true
  running[work.id] = nil
  if work.forget then
    work.forget()
  end
  require("typstai.actions.spinner").stop(work.id)
  require("typstai.chat.capture").release(work.id)
  give_back_stop_key(work.bufnr)
  if not work.is_told then
    require("typstai.actions.outcome").tell(work.action, result)
  end
  require("typstai.events").emit({
    name = "TypstAIActionFinished",
    data = {
      id = work.id,
      action = work.action,
      status = result.status,
      reason = result.reason,
      warnings = result.warnings,
    },
  })
  if work.callback then
    work.callback(nil, result)
  end
end

local function failure(reason, message)
  return { status = "failed", reason = reason, warnings = {}, error = message }
end

local function end_with_document(work)
  if running[work.id] then
    require("typstai.rpc").call("action.stop", { id = work.id })
  end
  finish(work, failure("aborted", "the document was closed"))
end

local function send(work, params, spelling)
  if work.ended then
    return
  elseif work.stopped then
    return finish(work, failure("aborted", ""))
  end
  require("typstai.rpc").call("action.run", {
    id = work.id,
    action = work.action,
    bufnr = work.bufnr,
    path = vim.api.nvim_buf_get_name(work.bufnr),
    params = next(params) and vim.tbl_map(tostring, params) or vim.empty_dict(),
    spelling = spelling,
  }, function(err, result)
    finish(work, result or failure("error", err and err.message or "The helper process ended."))
  end)
end

local function start(work, params)
  local place = require("typstai.chat.capture").place({ run = work.id, what = "selection" })
  if not place then
    return finish(work, { status = "stale", reason = "", warnings = {} })
  end
  running[work.id] = work
  local range = { place.row0, place.byte_col, place.end_row0, place.end_byte_col }
  require("typstai.actions.spinner").start(work.id, work.action, work.bufnr, range)
  lend_stop_key(work.bufnr)
  if work.action ~= "fix" then
    return send(work, params, {})
  end
  require("typstai.actions.spelling").find(work.bufnr, range, function(found)
    send(work, params, found)
  end)
end

---@class typstai.ActionOptions
---@field bufnr? integer the current buffer when left out
---@field range? typstai.Range the paragraph under the cursor when left out
---@field params? table<string, string> tone, language, instructions
---@field on_params? fun(params: table<string, string>) told what the user answered

local function target(opts)
  local bufnr = opts.bufnr or 0
  bufnr = bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr
  if not vim.api.nvim_buf_is_valid(bufnr) or not require("typstai.text.buffer").load(bufnr) then
    return nil, nil, "The document is no longer open."
  end
  local selection = require("typstai.text.selection")
  local win = vim.fn.bufwinid(bufnr)
  local row0 = win ~= -1 and vim.api.nvim_win_get_cursor(win)[1] - 1 or 0
  local range = opts.range and selection.checked(bufnr, opts.range)
    or not opts.range and selection.paragraph(bufnr, row0)
  return bufnr, range, not range and "The range lies outside of the document." or nil
end

local function new_work(id, bufnr, callback)
  return {
    id = ("a%x%06x"):format(vim.uv.hrtime(), math.random(0, 0xffffff)),
    action = id,
    bufnr = bufnr or -1,
    callback = callback,
  }
end

--- Ends an action that was asked for in a wrong way, as any other that fails.
---@param id any
---@param err typstai.Error
---@param callback any
---@return string id of this run
function M.refuse(id, err, callback)
  local work = new_work(tostring(id), nil, vim.is_callable(callback) and callback or nil)
  require("typstai.message").show({ message = err.message, level = "error" })
  work.is_told = true
  finish(work, failure("error", err.message))
  return work.id
end

--- Starts an action and returns at once; it ends in exactly one result, told by a message,
--- by the event `TypstAIActionFinished` and to the callback, whose first argument is nil.
---@param id string
---@param opts? typstai.ActionOptions
---@param callback? fun(err: nil, result: typstai.ActionResult)
---@return string id of this run
function M.run(id, opts, callback)
  opts = opts or {}
  local bufnr, range, problem = target(opts)
  local work = new_work(id, bufnr, callback)
  local action = require("typstai.actions.known").get(id)
  if not action then
    problem = ("There is no action %s."):format(id)
  end
  if problem then
    finish(work, failure("error", problem))
    return work.id
  end
  require("typstai.chat.capture").keep(work.id, bufnr, range)
  work.forget = require("typstai.actions.closing").watch(bufnr, function()
    end_with_document(work)
  end)
  require("typstai.actions.question").ask(action.ask, opts.params, function(params)
    if opts.on_params then
      opts.on_params(params)
    end
    start(work, params)
  end, function()
    work.is_told = true
    finish(work, failure("aborted", ""))
  end)
  return work.id
end

--- Ends the actions that work on a buffer, or all of them.
---@param bufnr? integer
---@return boolean whether there was one
function M.stop(bufnr)
  local any = false
  for _, work in pairs(running) do
    if not bufnr or work.bufnr == bufnr then
      any, work.stopped = true, true
      require("typstai.rpc").call("action.stop", { id = work.id })
    end
  end
  return any
end

--- Offers every action for a range, in a list.
---@param range? typstai.Range
function M.menu(range)
  local bufnr = vim.api.nvim_get_current_buf()
  vim.ui.select(require("typstai.actions.known").list(), {
    prompt = "Action",
    format_item = function(action)
      return action.title
    end,
  }, function(action)
    if action then
      M.run(action.id, { bufnr = bufnr, range = range })
    end
  end)
end

-- What the operator does; the dot command does it again, with what was answered.
---@type { id: string, params: table<string, string>|nil }
local operation

--- Called by Neovim as 'operatorfunc'.
---@param kind "char"|"line"|"block"
function M.operate(kind)
  local current = operation
  M.run(current.id, {
    range = require("typstai.text.selection").operator(kind),
    params = current.params,
    on_params = function(params)
      current.params = params
    end,
  })
end

--- The keys that apply an action to a motion or a selection, for an expression map.
---@param id string
---@return string
function M.operator(id)
  operation = { id = id }
  vim.o.operatorfunc = "v:lua.require'typstai.actions'.operate"
  return "g@"
end

return M
