-- `:TypstAI add`: attaches something to the next message and opens the chat.
local M = {}

local function selection(_, command)
  local range = require("typstai.text.selection").marked(command)
  return require("typstai.chat.attachments").add_selection(range)
end

local function image(path)
  return require("typstai.chat.attachments").add_image(path)
end

-- Also from the chat: then of the document from which the user came.
local function preview()
  local outbox = require("typstai.chat.outbox")
  outbox.note_document()
  local document = outbox.target()
  local bufnr = document and document.bufnr or vim.api.nvim_get_current_buf()
  return require("typstai.chat.attachments").add_preview(bufnr)
end

local function warn(message)
  require("typstai.message").show({ level = "warn", message = message })
end

local KINDS = { selection = selection, image = image, preview = preview }

--- Attaches what the first word names.
---@param args string[]
---@param command table as `nvim_create_user_command` passes it
function M.run(args, command)
  local kind = table.remove(args, 1)
  local add = KINDS[kind]
  if not add then
    warn("What to add? :TypstAI add selection, preview or image PATH")
  elseif #args > 0 and kind ~= "image" then
    warn((":TypstAI add %s takes nothing after it."):format(kind))
  elseif add(#args > 0 and table.concat(args, " ") or nil, command) then
    require("typstai.chat").enter()
  end
end

--- Completes the kinds, then the path of an image.
---@param words string[] of the command line, from `add` on
---@return string[]
function M.complete(words)
  return words[2] == "image" and #words == 3 and vim.fn.getcompletion(words[3] or "", "file")
    or vim.tbl_keys(KINDS)
end

return M
