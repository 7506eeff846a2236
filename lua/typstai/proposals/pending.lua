-- The pending hunks of a chat, for edits that are made on top of them.
local M = {}

local hunks = require("typstai.proposals.hunks")

local function of_chat(bufnr, chat)
  return hunks.undecided(vim.tbl_filter(function(proposal)
    return proposal.chat == chat
  end, hunks.proposals(bufnr)))
end

--- The hunks of a chat that are pending in a buffer, where they stand now, from the top.
---@param args { bufnr: integer, chat: string }
---@return typstai.PendingHunk[]
function M.list(args)
  local found = {}
  for _, hunk in ipairs(of_chat(args.bufnr, args.chat)) do
    hunks.look(hunk)
    if hunk.state == "pending" then
      table.insert(found, {
        proposal = hunk.proposal.id,
        hunk = hunk.id,
        row0 = hunk.row0,
        byte_col = hunk.byte_col,
        old = hunk.old,
        new = hunk.new,
      })
    end
  end
  table.sort(found, function(a, b)
    if a.row0 ~= b.row0 then
      return a.row0 < b.row0
    end
    return (a.byte_col or -1) < (b.byte_col or -1)
  end)
  return found
end

--- Ends hunks that a later proposal contains. Those decided meanwhile stay as they are.
---@param refs { proposal: string, hunk: string }[]
function M.take_over(refs)
  local taken = {}
  for _, ref in ipairs(refs) do
    local proposal = hunks.get(ref.proposal)
    for _, hunk in ipairs(proposal and hunks.undecided({ proposal }) or {}) do
      if hunk.id == ref.hunk then
        hunks.look(hunk)
        hunks.decide(hunk, "merged")
        table.insert(taken, hunk)
      end
    end
  end
  hunks.settle(taken)
end

return M
