-- Proposals as they arrive from Python: checked, registered, anchored.
local M = {}

--- Whether lines can stand in a buffer as they are.
---@param lines string[]
---@return boolean
function M.is_text(lines)
  for _, line in ipairs(lines) do
    if line:find("[%z\n]") then
      return false
    end
  end
  return true
end

local function refusal(args)
  if require("typstai.proposals.hunks").get(args.id) then
    return { code = "duplicate", message = "The proposal " .. args.id .. " is already known." }
  end
  local bufnr = args.bufnr
  if not vim.api.nvim_buf_is_valid(bufnr) or not require("typstai.text.buffer").load(bufnr) then
    return { code = "no_buffer", message = "The document is no longer open." }
  end
  for _, hunk in ipairs(args.hunks) do
    if not M.is_text(hunk.new) then
      return { code = "invalid_text", message = "A new line holds a line break or a NUL." }
    end
  end
end

local function anchor(proposal)
  require("typstai.proposals.hunks").anchor(proposal)
  require("typstai.proposals.landmarks").note(proposal.bufnr, proposal.hunks)
end

--- Registers a proposal and anchors its hunks.
--- Codes: `no_buffer`, `invalid_text`, `duplicate`.
---@param args typstai.Proposal
---@return typstai.LiveProposal|nil, typstai.Error|nil
function M.add(args)
  local err = refusal(args)
  if err then
    return nil, err
  end
  local hunks = require("typstai.proposals.hunks")
  local proposal = hunks.add(args)
  local ok, failed = pcall(anchor, proposal)
  if not ok then
    hunks.drop(proposal)
    error(failed, 0)
  end
  return proposal
end

return M
