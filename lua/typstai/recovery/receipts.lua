-- What can be done with the answers of a chat, as Python tells it.
local M = {}

---@class typstai.Receipt
---@field state? "available"|"reverted"|"lapsed" of what it wrote; nil: it wrote nothing
---@field snapshot? integer taken after it
---@field documents? string[] that it wrote into

---@type table<string, table<string, typstai.Receipt>> by chat and run
local receipts = {}

local function concerns(document, of_chat)
  for _, receipt in pairs(of_chat) do
    if vim.tbl_contains(receipt.documents or {}, document) then
      return true
    end
  end
  return false
end

---@type table<integer, boolean> buffers in which something is undone
local undone = {}

-- Undoing a revert brings an answer's edits back, and redoing takes them away again.
local function on_changed(bufnr)
  local tree = vim.fn.undotree()
  local was_undone = undone[bufnr]
  undone[bufnr] = tree.seq_cur < tree.seq_last or nil
  if not (undone[bufnr] or was_undone) then
    return
  end
  local document = require("typstai.recovery.journal").document(bufnr)
  local hash =
    require("typstai.recovery.journal").hash(vim.api.nvim_buf_get_lines(bufnr, 0, -1, true))
  for chat, of_chat in pairs(receipts) do
    if concerns(document, of_chat) then
      local params = { chat = chat, document = document, hash = hash }
      require("typstai.rpc").call("recovery.look_again", params)
    end
  end
end

local function follow()
  vim.api.nvim_create_autocmd("TextChanged", {
    group = vim.api.nvim_create_augroup("typstai.receipts", {}),
    desc = "typstai: look whether a revert was undone",
    callback = function(event)
      on_changed(event.buf)
    end,
  })
end

--- Called by Python: the receipts of a chat, all of them.
---@param args { chat: string, receipts: table<string, typstai.Receipt> }
function M.take(args)
  if not next(receipts) then
    follow()
  end
  local before = receipts[args.chat] or {}
  receipts[args.chat] = args.receipts
  for run in pairs(vim.tbl_extend("force", before, args.receipts)) do
    if not vim.deep_equal(before[run], args.receipts[run]) then
      local event = { kind = "receipt", id = run }
      require("typstai.chat").event({ chat = args.chat, event = event })
    end
  end
end

--- What can be done with an answer.
---@param run string
---@return typstai.Receipt
function M.of(run)
  for _, of_chat in pairs(receipts) do
    if of_chat[run] then
      return of_chat[run]
    end
  end
  return {}
end

return M
