-- Which undecided hunks the user, or a caller, means.
local M = {}

local hunks = require("typstai.proposals.hunks")

local function failure(code, message)
  return nil, { code = code, message = message }
end

local function no_such(id)
  if require("typstai.proposals.lapsed").get(id) then
    return failure("lapsed", "Neovim ended before this change was decided: ask for it again.")
  end
  return failure("unknown_proposal", "There is no proposal " .. id .. ".")
end

-- The undecided hunks that an id and an optional hunk name.
local function chosen(id, hunk_id)
  local proposal, is_resolved = hunks.get(id)
  if is_resolved then
    local ended = proposal and proposal.ended
    return failure("already_resolved", ended or "The proposal " .. id .. " is already decided.")
  end
  if not proposal then
    return no_such(id)
  end
  local undecided = hunks.undecided({ proposal })
  if not hunk_id then
    return undecided
  end
  for _, hunk in ipairs(undecided) do
    if hunk.id == hunk_id then
      return { hunk }
    end
  end
  for _, hunk in ipairs(proposal.hunks) do
    if hunk.id == hunk_id then
      return failure("already_resolved", "The hunk " .. hunk_id .. " is already decided.")
    end
  end
  return failure("unknown_hunk", ("There is no hunk %s in proposal %s."):format(hunk_id, id))
end

local function under_cursor()
  local hunk = require("typstai.review.jump").under_cursor()
  if not hunk then
    return failure("no_hunk", "There is no proposed change under the cursor.")
  end
  return { hunk }
end

--- The undecided hunks of a proposal, one of them, or without an id the one under the
--- cursor. Codes: `unknown_proposal`, `unknown_hunk`, `already_resolved`, `lapsed`, `no_hunk`.
---@param id string|nil
---@param hunk string|nil
---@return typstai.LiveHunk[]|nil, typstai.Error|nil
function M.of(id, hunk)
  if id then
    return chosen(id, hunk)
  end
  return under_cursor()
end

return M
