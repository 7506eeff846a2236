-- Accepting hunks: their text enters the buffer, and every other anchor follows.
local M = {}

local anchors = require("typstai.proposals.anchors")
local hunks = require("typstai.proposals.hunks")

-- An anchor at the very place of an insertion moves by what was asked for first, which
-- the gravity of its mark cannot know.
local function comes_before(change, hunk, row, col)
  if change.row0 ~= row then
    return change.row0 < row
  end
  if change.byte_col and col then
    return change.byte_col < col
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

-- Row of what stands at a place, after the changes; of a part of a line also its column.
local function shifted(row, col, hunk, changes, made)
  local shift, col_shift = 0, 0
  for i, change in ipairs(changes) do
    if made[i] and comes_before(change, hunk, row, col) then
      shift = shift + #change.new - #change.old
      if change.byte_col and change.row0 == row then
        col_shift = col_shift + #change.new[#change.new] - #change.old[1]
      end
    end
  end
  return row + shift, col and col + col_shift
end

local function overlaps(row, col, hunk, changes, made)
  for i, change in ipairs(changes) do
    if made[i] and change.byte_col and col then
      if
        row == change.row0
        and col < change.byte_col + #change.old[1]
        and col + #hunk.old[1] > change.byte_col
      then
        return true
      end
    elseif made[i] and row < change.row0 + #change.old and row + #hunk.old > change.row0 then
      return true
    end
  end
  return false
end

-- Places of the pending hunks that stay.
local function places_of_others(bufnr, chosen)
  local is_chosen, places = {}, {}
  for _, hunk in ipairs(chosen) do
    is_chosen[hunk] = true
  end
  for _, hunk in ipairs(hunks.undecided(hunks.proposals(bufnr))) do
    hunks.look(hunk)
    if not is_chosen[hunk] and hunk.state == "pending" then
      places[hunk] = { hunk.row0, hunk.byte_col }
    end
  end
  return places
end

local function changes_of(chosen)
  local changes = {}
  for _, hunk in ipairs(chosen) do
    hunks.look(hunk)
    if hunk.state == "pending" then
      hunk.steps = hunk.steps or require("typstai.text.diff").steps(hunk)
      changes[#changes + 1] = {
        row0 = hunk.row0,
        byte_col = hunk.byte_col,
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
  local changes, others = changes_of(chosen), places_of_others(bufnr, chosen)
  local of = chosen[1].proposal
  local ahead =
    require("typstai.recovery.journal").ahead({ kind = "edit", chat = of.chat, run = of.run })
  local made, err = require("typstai.text.apply").run(bufnr, changes, ahead)
  if not made then
    return err
  end
  for hunk, place in pairs(others) do
    local row, col = place[1], place[2]
    if not overlaps(row, col, hunk, changes, made) then
      anchors.place(bufnr, hunk, shifted(row, col, hunk, changes, made))
    end
  end
  for i, change in ipairs(changes) do
    if made[i] then
      change.hunk.row0, change.hunk.byte_col =
        shifted(change.row0, change.byte_col, change.hunk, changes, made)
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
      local _, sentence = require("typstai.proposals.closed").why(hunk)
      hunks.decide(hunk, "stale", hunk.clash and hunk.reason ~= "" and hunk.reason or sentence)
    end
  end
  hunks.settle(chosen)
end

local function accept_in(bufnr, group)
  local err = require("typstai.proposals.closed").reopen(bufnr) or apply_in(bufnr, group)
  if err then
    hunks.settle(group)
  else
    M.give_up(group)
  end
  return err
end

--- Accepts what is pending of the hunks, one undo step a run and buffer; what is stale of
--- them ends as stale. Of a document that refuses, everything stays undecided.
--- Codes: `no_buffer`, `not_modifiable`, `not_stored`.
---@param chosen typstai.LiveHunk[] undecided
---@return { accepted: integer, stale: integer }|nil, typstai.Error|nil
function M.run(chosen)
  local refused
  for _, group in ipairs(by_write(chosen)) do
    local err = accept_in(group[1].proposal.bufnr, group)
    refused = refused or err
  end
  if refused then
    return nil, refused
  end
  local accepted = 0
  for _, hunk in ipairs(chosen) do
    accepted = accepted + (hunk.state == "accepted" and 1 or 0)
  end
  return { accepted = accepted, stale = #chosen - accepted }
end

return M
