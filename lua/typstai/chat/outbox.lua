-- Messages on their way to Python: one at a time for a chat, from the document in which the
-- user was last.
local M = {}

---@type integer|nil
local document

-- What is below the folders where Neovim and the plugin keep their own files.
local function is_our_own(name)
  local host = require("typstai.host")
  for _, folder in ipairs({ host.log_dir(), host.data_dir() }) do
    if vim.startswith(name, vim.fs.normalize(folder) .. "/") then
      return true
    end
  end
  return false
end

-- An empty buffer that nobody named is not a document yet. A name with a scheme is none of a
-- file: a session restores the chat's as if it were.
local function is_document(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  if name:find("^%a[%w+.-]*://") or is_our_own(name) then
    return false
  end
  local named = name ~= ""
  return vim.bo[bufnr].buftype == "" and (named or vim.bo[bufnr].filetype == "typst")
end

--- Remembers the current buffer, if it is a document.
function M.note_document()
  local bufnr = vim.api.nvim_get_current_buf()
  if is_document(bufnr) then
    document = bufnr
  end
end

--- The document in which the user was last.
---@return { bufnr: integer, path: string }|nil
function M.target()
  if document and vim.api.nvim_buf_is_valid(document) then
    return { bufnr = document, path = vim.api.nvim_buf_get_name(document) }
  end
end

--- Whether a message is on its way or being answered.
---@param view typstai.ui.View
---@return boolean
function M.is_busy(view)
  return view.sending or (not view.elsewhere and view:running_turn() ~= nil)
end

--- Asks Python whether another Neovim has written to a chat; what is new comes as an event.
---@param view typstai.ui.View
function M.look_again(view)
  if view.id and not M.is_busy(view) and require("typstai.host").is_up() then
    require("typstai.rpc").call("chat.look_again", { chat = view.id }, function(err)
      if err and err.code ~= "host_lost" then
        require("typstai.message").show({ message = err.message, level = "warn" })
      end
    end)
  end
end

local function busy_error()
  local key = require("typstai.config").get().keymaps.chat.stop or ":TypstAI stop"
  local message = ("The answer is still being written; your text is kept. %s stops it."):format(key)
  return { code = "busy", message = message }
end

local function hand_to_python(view, text, attachments, callback)
  local target = M.target()
  local taken = require("typstai.chat.capture").take(target and target.bufnr)
  require("typstai.rpc").call("chat.send", {
    chat = view.id,
    text = text,
    target = target,
    capture = taken.id,
    selections = attachments or taken.selections,
    images = attachments and {} or require("typstai.chat.attachments").images(),
    previews = attachments and {} or require("typstai.chat.attachments").previews(),
  }, function(err, result)
    view.sending = false
    if not (err or attachments) then
      require("typstai.chat.attachments").clear()
    end
    callback(err, result, view)
  end)
end

-- The chat is still on its way: the message follows it.
local function send_when_known(view, text, attachments, callback)
  local is_given_up = false
  view.give_up = function()
    view.sending, is_given_up = false, true
    local err = { code = "stopped", message = "The message was not sent: you stopped it." }
    callback(err, nil, view)
  end
  require("typstai.chat.opening").when_known(view, function(err, known)
    if is_given_up then
      return
    end
    view.sending = false
    if known then
      M.submit(known, text, attachments, callback)
    else
      callback(err)
    end
  end)
end

---@alias typstai.ui.OnSubmitted fun(err?: typstai.Error, result?: table, view?: typstai.ui.View)
--- `view` had the message; it is nil when its chat could not be opened.

--- Hands a message to Python, once the chat is known.
---@param view typstai.ui.View
---@param text string
---@param attachments typstai.Selection[]|nil in place of what the user attached
---@param callback typstai.ui.OnSubmitted
function M.submit(view, text, attachments, callback)
  if M.is_busy(view) then
    callback(busy_error(), nil, view)
    return
  end
  view.sending = true
  local send = view.id and hand_to_python or send_when_known
  send(view, text, attachments, callback)
end

--- Sends nothing of what waits for a chat that is on its way.
---@param view typstai.ui.View
function M.give_up(view)
  view.give_up()
end

-- Messages for chats that are still on their way are taken back here.
local function give_up_all()
  for _, view in ipairs(require("typstai.chat.views").list()) do
    if view.sending and not view.id then
      M.give_up(view)
    end
  end
end

local function is_any_busy()
  for _, view in ipairs(require("typstai.chat.views").list()) do
    if M.is_busy(view) then
      return true
    end
  end
  return require("typstai.status").get().running
end

--- Stops the run of a chat, or all of them. Without a host nothing runs, and none is started
--- to hear that. Code: `not_open`.
---@param chat string|nil
---@param callback fun(err: typstai.Error|nil)
---@return boolean stopping whether there was something to stop
function M.stop(chat, callback)
  local is_known = not chat or require("typstai.chat.views").get(chat)
  local any = is_any_busy()
  if not chat then
    give_up_all()
  end
  if require("typstai.host").is_up() then
    require("typstai.rpc").call("chat.stop", { chat = chat }, callback)
  elseif is_known then
    callback()
  else
    callback({ code = "not_open", message = "That chat is not open; open it first." })
  end
  return any
end

return M
