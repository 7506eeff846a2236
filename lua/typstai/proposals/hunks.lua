-- The registry of proposals: what is undecided, where it stands now, what became of
-- the rest. It draws nothing and changes no text.
local M = {}

local anchors = require("typstai.proposals.anchors")

---@class typstai.LiveHunk: typstai.Hunk
---@field proposal typstai.LiveProposal
---@field index integer within its proposal
---@field decided boolean accepted, rejected, or given up as stale
---@field clash boolean came stale: the user had changed what the model saw
---@field steps? typstai.Step[] how the old lines become the new ones
---@field mark? integer at the first old line
---@field witnesses? typstai.Witnesses
---@field around? typstai.Surroundings
---@field lost? boolean its lines were not found in a text that was read anew
---@field searched? integer changedtick at which they were last looked for in vain
---@field in_file? { stamp: string, row?: integer, byte_col?: integer } in its closed document

---@class typstai.LiveProposal: typstai.Proposal
---@field hunks typstai.LiveHunk[]
---@field seq integer order of arrival
---@field ended? string a sentence, when something else than a decision ended it

-- Decided proposals that are kept whole, and those of which only the id is remembered.
local KEPT_RESOLVED = 64
local KEPT_IDS = 4096

---@type table<string, typstai.LiveProposal> with something left to decide
local open = {}
---@type table<string, typstai.LiveProposal|true> decided, for those who ask again
local resolved = {}
---@type string[] ids of the decided, oldest first
local resolved_ids = {}
local arrived = 0

local function wire_hunk(hunk)
  return {
    id = hunk.id,
    row0 = hunk.row0,
    byte_col = hunk.byte_col,
    old = hunk.old,
    new = hunk.new,
    state = hunk.state,
    reason = hunk.reason,
    edited = hunk.edited,
  }
end

--- The hunks of a proposal as they cross the door to Python.
---@param proposal typstai.LiveProposal
---@return typstai.Hunk[]
function M.to_wire(proposal)
  return vim.tbl_map(wire_hunk, proposal.hunks)
end

--- Brings the state and the place of a hunk up to date with the text.
---@param hunk typstai.LiveHunk
---@return integer start, integer finish rows, end-exclusive
function M.look(hunk)
  if hunk.decided then
    return hunk.row0, hunk.row0 + (hunk.state == "accepted" and #hunk.new or #hunk.old)
  end
  local start, finish, stands = anchors.find(hunk.proposal.bufnr, hunk)
  hunk.row0 = start
  hunk.state = stands and not hunk.clash and "pending" or "stale"
  return start, finish
end

--- Registers a proposal that arrived from Python. Its hunks have no anchors yet.
---@param args typstai.Proposal
---@return typstai.LiveProposal
function M.add(args)
  arrived = arrived + 1
  local proposal = vim.tbl_extend("force", args, { seq = arrived, hunks = {} })
  for index, hunk in ipairs(args.hunks) do
    proposal.hunks[index] = vim.tbl_extend("force", wire_hunk(hunk), {
      proposal = proposal,
      index = index,
      decided = false,
      clash = hunk.state == "stale",
    })
  end
  open[proposal.id] = proposal
  return proposal
end

--- Anchors the undecided hunks of a proposal at the rows they are known to be at.
---@param proposal typstai.LiveProposal
function M.anchor(proposal)
  local last = vim.api.nvim_buf_line_count(proposal.bufnr)
  for _, hunk in ipairs(proposal.hunks) do
    if not hunk.decided and hunk.row0 <= last then
      anchors.place(proposal.bufnr, hunk, hunk.row0, hunk.byte_col)
    end
  end
end

--- Forgets a proposal that never came to be.
---@param proposal typstai.LiveProposal
function M.drop(proposal)
  for _, hunk in ipairs(proposal.hunks) do
    anchors.remove(proposal.bufnr, hunk)
  end
  open[proposal.id] = nil
end

--- The proposal of that id, and whether it is decided. Of one that was decided long ago
--- nothing else is known.
---@param id string
---@return typstai.LiveProposal|nil proposal, boolean is_resolved
function M.get(id)
  local decided = resolved[id]
  return open[id] or (decided ~= true and decided or nil), decided ~= nil
end

--- The undecided proposals in order of arrival, of one buffer or of all.
---@param bufnr? integer
---@return typstai.LiveProposal[]
function M.proposals(bufnr)
  local found = vim.tbl_filter(function(proposal)
    return bufnr == nil or proposal.bufnr == bufnr
  end, vim.tbl_values(open))
  table.sort(found, function(a, b)
    return a.seq < b.seq
  end)
  return found
end

--- The undecided hunks of proposals.
---@param proposals typstai.LiveProposal[]
---@return typstai.LiveHunk[]
function M.undecided(proposals)
  local found = {}
  for _, proposal in ipairs(proposals) do
    for _, hunk in ipairs(proposal.hunks) do
      if not hunk.decided then
        found[#found + 1] = hunk
      end
    end
  end
  return found
end

--- How many hunks of a proposal are in a state.
---@param proposal typstai.LiveProposal
---@param state typstai.HunkState
---@return integer
function M.count(proposal, state)
  local found = 0
  for _, hunk in ipairs(proposal.hunks) do
    found = found + (hunk.state == state and 1 or 0)
  end
  return found
end

--- Makes a state final.
---@param hunk typstai.LiveHunk
---@param state typstai.HunkState
---@param reason? string
function M.decide(hunk, state, reason)
  anchors.remove(hunk.proposal.bufnr, hunk)
  hunk.state = state
  hunk.reason = reason or ""
  hunk.decided = true
end

local function remember(proposal)
  resolved[proposal.id] = proposal
  table.insert(resolved_ids, proposal.id)
  local oldest_whole = resolved_ids[#resolved_ids - KEPT_RESOLVED]
  if oldest_whole then
    resolved[oldest_whole] = true
  end
  if #resolved_ids > KEPT_IDS then
    resolved[table.remove(resolved_ids, 1)] = nil
  end
end

local function close(proposal)
  open[proposal.id] = nil
  remember(proposal)
  require("typstai.proposals.lapsed").forget(proposal.id)
  require("typstai.events").emit({
    name = "TypstAIProposalResolved",
    data = {
      id = proposal.id,
      accepted = M.count(proposal, "accepted"),
      rejected = M.count(proposal, "rejected"),
    },
  })
  require("typstai.rpc").call("proposal.resolved", {
    id = proposal.id,
    chat = proposal.chat,
    hunks = M.to_wire(proposal),
  })
end

local function close_or_keep(proposal)
  if #M.undecided({ proposal }) == 0 then
    close(proposal)
  else
    require("typstai.proposals.lapsed").keep(proposal)
  end
end

--- After decisions: closes the proposals in which nothing is left to decide, and
--- brings the screen up to date.
---@param decided typstai.LiveHunk[]
function M.settle(decided)
  local buffers, seen = {}, {}
  for _, hunk in ipairs(decided) do
    local proposal = hunk.proposal
    buffers[proposal.bufnr] = true
    if not seen[proposal] and open[proposal.id] then
      close_or_keep(proposal)
    end
    seen[proposal] = true
  end
  for bufnr in pairs(buffers) do
    M.redraw(bufnr)
  end
end

--- Brings what is shown of a buffer's hunks up to date.
---@param bufnr integer
function M.redraw(bufnr)
  require("typstai.review").refresh(bufnr)
  require("typstai.status").update({ pending = #M.undecided(M.proposals()) })
end

return M
