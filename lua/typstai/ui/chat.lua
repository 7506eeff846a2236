-- The chats on screen, and what Python and the user do with them.
local outbox = require("typstai.ui.outbox")

local M = {}

---@type table<string, typstai.ui.View>
local views = {}
---@type string|nil the chat shown last
local current

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
  for _, view in pairs(views) do
    view:refresh_tools(function(segment)
      return segment.proposal == id
    end)
  end
end

local function redraw_winbars()
  for _, view in pairs(views) do
    view:draw_winbar()
  end
end

local function draw_attachments()
  for _, view in pairs(views) do
    view:draw_attachments()
  end
end

local function release_all()
  for _, view in pairs(views) do
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
  on("ModeChanged", "*", "write what was held", vim.schedule_wrap(release_all))
  on("WinResized", "*", "fit the chat's line of state", redraw_winbars)
  local proposal_events = { "TypstAIProposal", "TypstAIProposalResolved" }
  on("User", proposal_events, "show what is proposed", function(event)
    M.refresh_proposal(event.data.id)
  end)
  require("typstai.status").on_update(redraw_winbars)
  require("typstai.attachments").on_change(draw_attachments)
end

local function forget(id)
  local view = views[id]
  views[id] = nil
  if current == id then
    current = nil
  end
  vim.schedule(function()
    if view and vim.api.nvim_buf_is_valid(view.surface.bufnr) then
      vim.api.nvim_buf_delete(view.surface.bufnr, { force = true })
    end
  end)
end

local function is_chat(bufnr)
  for _, view in pairs(views) do
    if view.surface.bufnr == bufnr then
      return view
    end
  end
end

local function windows_here()
  return vim.tbl_filter(function(win)
    return is_chat(vim.api.nvim_win_get_buf(win)) ~= nil
  end, vim.api.nvim_tabpage_list_wins(0))
end

local function view_here()
  return is_chat(vim.api.nvim_get_current_buf()) or views[current]
end

local function show(view)
  outbox.note_document()
  local win = windows_here()[1]
  if win then
    vim.api.nvim_set_current_win(win)
    if vim.api.nvim_win_get_buf(win) ~= view.surface.bufnr then
      vim.api.nvim_win_set_buf(win, view.surface.bufnr)
    end
  else
    require("typstai.ui.window").open(view.surface.bufnr)
  end
  view.cursor:enter_prompt()
  require("typstai.ui.window").show_end(vim.api.nvim_get_current_win())
  current = view.id
end

--- Shows a chat that Python gave. A chat that is being answered keeps what it shows.
---@param chat typstai.Chat
function M.load(chat)
  start()
  local view = views[chat.id]
  if not view then
    view = require("typstai.ui.view").new(chat, function()
      forget(chat.id)
    end)
    views[chat.id] = view
  elseif not view:running_turn() then
    view:load(chat)
  end
  show(view)
end

local function fetch(method, opts, callback)
  start()
  outbox.note_document()
  local place = outbox.target()
  local params = {
    dir = opts and opts.dir or vim.fn.getcwd(),
    path = opts and opts.path or place and place.path or "",
  }
  call(method, params, function(err, chat)
    if err then
      tell(err)
    else
      M.load(chat)
    end
    if callback then
      callback(err)
    end
  end)
end

--- Opens the chat of the current file's project.
---@param opts? { dir?: string, path?: string }
---@param callback? fun(err: typstai.Error|nil) called when it is shown
function M.open(opts, callback)
  fetch("chat.open", opts, callback)
end

--- Opens a fresh chat of the current file's project.
---@param opts? { dir?: string, path?: string }
---@param callback? fun(err: typstai.Error|nil)
function M.new(opts, callback)
  fetch("chat.new", opts, callback)
end

--- Closes the chat in this tab page. Its buffer stays, and a run goes on.
function M.close()
  for _, win in ipairs(windows_here()) do
    require("typstai.ui.window").close(win)
  end
end

local function start_typing(err)
  local here = is_chat(vim.api.nvim_get_current_buf())
  if not err and here and require("typstai.config").get().ui.start_insert then
    vim.cmd.startinsert({ bang = true })
  end
end

--- Opens the chat, or closes it when it is shown in this tab page.
function M.toggle()
  if #windows_here() > 0 then
    M.close()
  else
    M.open(nil, start_typing)
  end
end

--- The lines of the chat shown last: transcript, then prompt.
---@return string[]
function M.lines()
  local view = view_here()
  return view and vim.api.nvim_buf_get_lines(view.surface.bufnr, 0, -1, false) or {}
end

--- Whether a chat can be seen in this tab page.
---@param id string
---@return boolean
function M.is_visible(id)
  local view = views[id]
  return view ~= nil and vim.fn.bufwinid(view.surface.bufnr) ~= -1
end

--- Called by Python, in the order in which things happen.
---@param args { chat: string, event: typstai.ChatEvent }
function M.event(args)
  local view = views[args.chat]
  if view then
    view:event(args.event)
  end
end

--- Draws a tool call again, because its approval was asked or answered.
---@param chat string
---@param id string the call
function M.refresh_call(chat, id)
  local view = views[chat]
  if view then
    view:refresh_tools(function(segment)
      return segment.id == id
    end)
  end
end

--- Sends the prompt of the current chat. The prompt is emptied when Python took it.
function M.send()
  local view = view_here()
  local text = view and view.prompt:text() or ""
  if vim.trim(text) == "" then
    return
  end
  outbox.submit(view, vim.trim(text), nil, function(err)
    if err then
      tell(err)
      return
    end
    require("typstai.attachments").clear()
    if views[view.id] == view then
      view.prompt:take(text)
    end
  end)
end

--- Sends a text that is not in the prompt, to a chat that is open, or to the project's.
---@param text string
---@param opts { chat?: string, attachments?: typstai.Selection[] }
---@param callback fun(err: typstai.Error|nil, result: { run: string }|nil)
function M.send_text(text, opts, callback)
  if opts.chat and not views[opts.chat] then
    callback({ code = "not_open", message = "That chat is not open; open it first." })
  elseif opts.chat or view_here() then
    outbox.submit(opts.chat and views[opts.chat] or view_here(), text, opts.attachments, callback)
  else
    M.open(nil, function(err)
      if err then
        callback(err)
      else
        outbox.submit(view_here(), text, opts.attachments, callback)
      end
    end)
  end
end

--- Stops the run of the current chat; says whether there was one.
---@return boolean
function M.stop()
  local view = view_here()
  if not (view and outbox.is_busy(view)) then
    return false
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
  require("typstai.approvals").void()
  for _, view in pairs(views) do
    view.sending = false
    local turn = view:running_turn()
    if turn then
      local event = { kind = "finish", id = turn.id, status = "incomplete" }
      event.error = "the helper process ended"
      view:event(event)
    end
  end
end

return M
