-- What can be done with the answers of a chat, as Python tells it.
local M = {}

---@class typstai.Receipt
---@field state? "available"|"reverted"|"lapsed" of what it wrote; nil: it wrote nothing
---@field snapshot? integer taken after it

---@type table<string, table<string, typstai.Receipt>> by chat and run
local receipts = {}

--- Called by Python: the receipts of a chat, all of them.
---@param args { chat: string, receipts: table<string, typstai.Receipt> }
function M.take(args)
  local before = receipts[args.chat] or {}
  receipts[args.chat] = args.receipts
  for run in pairs(vim.tbl_extend("force", before, args.receipts)) do
    if not vim.deep_equal(before[run], args.receipts[run]) then
      local event = { kind = "receipt", id = run }
      require("typstai.ui.chat").event({ chat = args.chat, event = event })
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
