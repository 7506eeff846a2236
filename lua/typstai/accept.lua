-- Accepting hunks: their text enters the buffer, and every other anchor follows.
local M = {}

local anchors = require("typstai.anchors")
local hunks = require("typstai.hunks")

local CHANGED = "The lines were changed meanwhile."

-- An anchor at the very place of an insertion moves by what was asked for first, which
-- the gravity of its mark cannot know.
local function comes_before(change, hunk, row)
  if change.row0 ~= row then
    return change.row0 < row
  end
  if #change.old > 0 or #hunk.old > 0 then
    return #change.old == 0
  end
  local one, other = change.hunk, hunk
  if one.proposal ~= other.proposal then
    return one.proposal.seq < other.proposal.seq
  end
  return one.index < other.index
end

local function shifted(row, hunk, changes, made)
  local shift = 0
  for i, change in ipairs(changes) do
    if made[i] and comes_before(change, hunk, row) then
      shift = shift + #change.new - #change.old
    end
  end
  return row + shift
end

local function overlaps(row, hunk, changes, made)
  for i, change in ipairs(changes) do
    if made[i] and row < change.row0 + #change.old and row + #hunk.old > change.row0 then
      return true
    end
  end
  return false
end

-- Rows of the pending hunks that stay.
local function rows_of_others(bufnr, chosen)
  local is_chosen, rows = {}, {}
  for _, hunk in ipairs(chosen) do
    is_chosen[hunk] = true
  end
  for _, hunk in ipairs(hunks.undecided(hunks.proposals(bufnr))) do
    hunks.look(hunk)
    if not is_chosen[hunk] and hunk.state == "pending" then
      rows[hunk] = hunk.row0
    end
  end
  return rows
end

local function changes_of(chosen)
  local changes = {}
  for _, hunk in ipairs(chosen) do
    hunks.look(hunk)
    if hunk.state == "pending" then
      hunk.steps = hunk.steps or require("typstai.diff").steps(hunk)
      changes[#changes + 1] = {
        row0 = hunk.row0,
        old = hunk.old,
        new = hunk.new,
        steps = hunk.steps,
        hunk = hunk,
      }
    end
  end
  return changes
end

-- The chosen are of one run: what it wrote can be taken back as one.
local function apply_in(bufnr, chosen)
  local changes, others = changes_of(chosen), rows_of_others(bufnr, chosen)
  local of = chosen[1].proposal
  local ahead = require("typstai.journal").ahead({ kind = "edit", chat = of.chat, run = of.run })
  local made, err = require("typstai.apply").run(bufnr, changes, ahead)
  if not made then
    return err
  end
  for hunk, row in pairs(others) do
    if not overlaps(row, hunk, changes, made) then
      anchors.place(bufnr, hunk, shifted(row, hunk, changes, made))
    end
  end
  for i, change in ipairs(changes) do
    if made[i] then
      change.hunk.row0 = shifted(change.row0, change.hunk, changes, made)
      hunks.decide(change.hunk, "accepted")
    end
  end
end

-- Groups of hunks of one run in one buffer, in order.
local function by_write(chosen)
  local groups, by_key = {}, {}
  for _, hunk in ipairs(chosen) do
    local key = ("%d %s"):format(hunk.proposal.bufnr, hunk.proposal.run or "")
    if not by_key[key] then
      by_key[key] = {}
      table.insert(groups, by_key[key])
    end
    table.insert(by_key[key], hunk)
  end
  return groups
end

--- Ends the review of those hunks that are undecided: they do not fit.
---@param chosen typstai.LiveHunk[]
function M.give_up(chosen)
  for _, hunk in ipairs(chosen) do
    if not hunk.decided then
      hunks.decide(hunk, "stale", hunk.clash and hunk.reason ~= "" and hunk.reason or CHANGED)
    end
  end
  hunks.settle(chosen)
end

--- Accepts what is pending of the hunks, one undo step a run and buffer; what is stale of
--- them ends as stale. Codes: `no_buffer`, `not_modifiable`, `not_stored`.
---@param chosen typstai.LiveHunk[] undecided
---@return { accepted: integer, stale: integer }|nil, typstai.Error|nil
function M.run(chosen)
  for _, group in ipairs(by_write(chosen)) do
    local bufnr = group[1].proposal.bufnr
    require("typstai.buffer").load(bufnr)
    local err = apply_in(bufnr, group)
    if err then
      hunks.settle(chosen)
      return nil, err
    end
  end
  M.give_up(chosen)
  local accepted = 0
  for _, hunk in ipairs(chosen) do
    accepted = accepted + (hunk.state == "accepted" and 1 or 0)
  end
  return { accepted = accepted, stale = #chosen - accepted }
end

return M
