-- Proposals as the public API and events show them: plain tables, JSON-shaped.
local M = {}

---@class typstai.ListedHunk rows and byte columns from 0, end-exclusive
---@field id string
---@field state typstai.HunkState
---@field start integer
---@field finish integer
---@field start_col? integer of a part of one line, which `old` and `new` are then
---@field finish_col? integer
---@field old string[]
---@field new string[]

---@class typstai.ListedProposal
---@field id string
---@field bufnr integer -1 where no buffer has the file
---@field source string
---@field call string
---@field verdict string
---@field hunks typstai.ListedHunk[]

local function finish_col(hunk)
  local text = hunk.state == "accepted" and hunk.new[#hunk.new] or hunk.old[1]
  local is_after_break = hunk.state == "accepted" and #hunk.new > 1
  return (is_after_break and 0 or hunk.byte_col) + #text
end

local function hunk_at(hunk, start, finish)
  return {
    id = hunk.id,
    state = hunk.state,
    start = start,
    finish = finish,
    start_col = hunk.byte_col,
    finish_col = hunk.byte_col and finish_col(hunk),
    old = hunk.old,
    new = hunk.new,
  }
end

local function proposal_in(bufnr, proposal, hunks)
  return {
    id = proposal.id,
    bufnr = bufnr,
    source = proposal.source,
    call = proposal.call,
    verdict = proposal.verdict,
    hunks = hunks,
  }
end

--- A proposal that something is left to decide of, where it stands now.
---@param proposal typstai.LiveProposal
---@return typstai.ListedProposal
function M.live(proposal)
  local hunks = vim.tbl_map(function(hunk)
    local start, finish = require("typstai.proposals.hunks").look(hunk)
    return hunk_at(hunk, start, finish)
  end, proposal.hunks)
  return proposal_in(proposal.bufnr, proposal, hunks)
end

--- A proposal of a Neovim that ended, at the rows where it was last known to stand.
---@param kept typstai.KeptProposal
---@return typstai.ListedProposal
function M.lapsed(kept)
  local hunks = vim.tbl_map(function(hunk)
    return hunk_at(hunk, hunk.row0, hunk.row0 + #hunk.old)
  end, kept.hunks)
  local is_named = kept.document ~= ""
  local bufnr = is_named and vim.fn.bufnr(vim.fn.escape(kept.document, "[]*?{}")) or -1
  return proposal_in(bufnr, kept, hunks)
end

return M
