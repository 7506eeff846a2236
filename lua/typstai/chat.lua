-- The chats on screen, and what Python and the user do with them.
local outbox = require("typstai.chat.outbox")
local opening = require("typstai.chat.opening")
local views = require("typstai.chat.views")

local M = {}

-- A lost host tells of itself, once, however many calls it leaves open.
local function tell(err)
  if err.code ~= "host_lost" then
    require("typstai.message").show({ message = err.message, level = "error" })
  end
end

local function call(method, params, callback)
  require("typstai.rpc").call(method, params, callback)
end

--- Draws the tool call of a proposal again, because the proposal changed.
---@param id string
function M.refresh_proposal(id)
  for _, view in ipairs(views.list()) do
    view:refresh_tools(function(segment)
      return segment.proposal == id
    end)
  end
end

local function fit_lines()
  for _, view in ipairs(views.list()) do
    view:draw_winbar()
    view.prompt:draw_hint()
  end
end

local function fit_windows()
  for _, view in ipairs(views.list()) do
    require("typstai.chat.window").fit(view:windows())
  end
end

local function draw_attachments()
  for _, view in ipairs(views.list()) do
    view:draw_attachments()
  end
end

local function look_again()
  for _, view in ipairs(views.list()) do
    if #view:windows() > 0 then
      outbox.look_again(view)
    end
  end
end

local function release_all()
  for _, view in ipairs(views.list()) do
    view:release()
  end
end

local started = false

local function start()
  if started then
    return
  end
  started = true
  local group = vim.api.nvim_create_augroup("typstai.chats", {})
  local function on(event, pattern, desc, callback)
    local opts = { group = group, pattern = pattern, desc = "typstai: " .. desc }
    opts.callback = callback
    vim.api.nvim_create_autocmd(event, opts)
  end
  on("BufEnter", "*", "remember the document", outbox.note_document)
  on("FocusGained", "*", "show what another Neovim has written", look_again)
  on("ModeChanged", "*", "write what was held", vim.schedule_wrap(release_all))
  on("WinResized", "*", "fit the chat's line of state and its key hint", fit_lines)
  on("VimResized", "*", "give the chat its share again", fit_windows)
  local proposal_events = { "TypstAIProposal", "TypstAIProposalResolved" }
  on("User", proposal_events, "show what is proposed", function(event)
    M.refresh_proposal(event.data.id)
  end)
  require("typstai.status").on_update(fit_lines)
  require("typstai.chat.attachments").on_change(draw_attachments)
end

--- Shows a chat that Python gave.
---@param chat typstai.Chat
function M.load(chat)
  start()
  local view = views.get(chat.id)
  if view then
    view:reload(chat)
  end
  views.show(view or opening.view(chat))
end

local function start_typing()
  if require("typstai.config").get().ui.start_insert then
    vim.cmd.startinsert({ bang = true })
  end
end

--- Opens the chat of the current file's project: its window at once, its transcript when
--- Python answers.
---@param opts? { dir?: string, path?: string }
---@param callback? fun(err: typstai.Error|nil) called when all of it is shown
function M.open(opts, callback)
  start()
  opening.start("chat.open", opts, callback)
end

--- Opens a fresh chat of the current file's project.
---@param opts? { dir?: string, path?: string }
---@param callback? fun(err: typstai.Error|nil)
function M.new(opts, callback)
  start()
  opening.start("chat.new", opts, callback)
end

--- Opens the chat, or a fresh one, for somebody who wants to write in it.
---@param open? fun()
function M.enter(open)
  (open or M.open)()
  start_typing()
end

--- Closes the chat in this tab page. Its buffer stays, and a run goes on.
function M.close()
  for _, win in ipairs(views.windows_here()) do
    require("typstai.chat.window").close(win)
  end
end

--- Opens the chat, or closes it when it is shown in this tab page.
function M.toggle()
  if #views.windows_here() > 0 then
    M.close()
  else
    M.enter()
  end
end

--- The lines of the chat shown last: transcript, then prompt; none while it is on its way.
---@return string[]
function M.lines()
  local view = views.here()
  local is_whole = view and (view.id or not view.opening.under_way)
  return is_whole and vim.api.nvim_buf_get_lines(view.surface.bufnr, 0, -1, false) or {}
end

--- Whether a chat can be seen in this tab page.
---@param id string
---@return boolean
function M.is_visible(id)
  local view = views.get(id)
  return view ~= nil and vim.fn.bufwinid(view.surface.bufnr) ~= -1
end

--- Called by Python, in the order in which things happen.
---@param args { chat: string, event: typstai.ChatEvent }
function M.event(args)
  local view = views.get(args.chat)
  if view then
    view:event(args.event)
  end
end

--- Draws a tool call again, because its approval was asked or answered.
---@param chat string
---@param id string the call
function M.refresh_call(chat, id)
  local view = views.get(chat)
  if view then
    view:refresh_tools(function(segment)
      return segment.id == id
    end)
  end
end

--- Sends the prompt of the current chat. The prompt is emptied when Python took it.
function M.send()
  local view = views.here()
  local text = view and view.prompt:text() or ""
  if vim.trim(text) == "" then
    return
  end
  outbox.submit(view, vim.trim(text), nil, function(err, _, taker)
    if taker and err then
      tell(err)
    elseif taker and views.get(taker.id) == taker then
      taker.prompt:take(text)
    end
  end)
end

--- Sends a text that is not in the prompt, to a chat that is open, or to the project's.
---@param text string
---@param opts { chat?: string, attachments?: typstai.Selection[] }
---@param callback fun(err: typstai.Error|nil, result: { run: string }|nil)
function M.send_text(text, opts, callback)
  if vim.trim(text) == "" then
    callback({ code = "empty", message = "There is nothing to send: write something first." })
    return
  elseif opts.chat and not views.get(opts.chat) then
    callback({ code = "not_open", message = "That chat is not open; open it first." })
    return
  elseif not (opts.chat or views.here()) then
    local err = require("typstai.ui.cmdwin").refusal()
    if err then
      callback(err)
      return
    end
    M.open()
  end
  local view = opts.chat and views.get(opts.chat) or views.here()
  outbox.submit(view, text, opts.attachments, callback)
end

--- Stops the run of the current chat; says whether there was one.
---@return boolean
function M.stop()
  local view = views.here()
  if view and view.elsewhere then
    tell({ code = "busy", message = "Another Neovim is answering in this chat: stop it there." })
    return true
  elseif not (view and outbox.is_busy(view)) then
    return false
  end
  if not view.id then
    outbox.give_up(view)
    return true
  end
  call("chat.stop", { chat = view.id }, function(err)
    if err then
      tell(err)
    end
  end)
  return true
end

--- The host is gone: what it was doing ends here.
function M.host_lost()
  require("typstai.chat.approvals").void()
  for _, view in ipairs(views.list()) do
    view.sending = false
    local turn = view:running_turn()
    if turn and not view.elsewhere then
      local event = { kind = "finish", id = turn.id, status = "incomplete" }
      event.error = "the helper process ended"
      view:event(event)
    end
  end
end

return M
