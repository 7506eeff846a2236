-- Messages on their way to Python: one at a time for a chat, from the document in which the
-- user was last.
local M = {}

---@type integer|nil
local document

-- An empty buffer that nobody named is not a document yet.
local function is_document(bufnr)
  local named = vim.api.nvim_buf_get_name(bufnr) ~= ""
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
  return view.sending or view:running_turn() ~= nil
end

local function busy_error()
  local key = require("typstai.config").get().keymaps.chat.stop or ":TypstAI stop"
  local message = ("The answer is still being written; your text is kept. %s stops it."):format(key)
  return { code = "busy", message = message }
end

--- Hands a message to Python.
---@param view typstai.ui.View
---@param text string
---@param attachments typstai.Selection[]|nil in place of what the user attached
---@param callback fun(err: typstai.Error|nil, result: { run: string }|nil)
function M.submit(view, text, attachments, callback)
  if M.is_busy(view) then
    callback(busy_error())
    return
  end
  view.sending = true
  local target = M.target()
  local taken = require("typstai.capture").take(target and target.bufnr)
  require("typstai.rpc").call("chat.send", {
    chat = view.id,
    text = text,
    target = target,
    capture = taken.id,
    selections = attachments or taken.selections,
    images = attachments and {} or require("typstai.attachments").images(),
  }, function(err, result)
    view.sending = false
    callback(err, result)
  end)
end

return M
