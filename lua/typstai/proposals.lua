-- Proposed changes, as Python and the public API see them: shown, accepted, rejected,
-- withdrawn. The buffer is not changed until the user (or mode `auto`) accepts.
local M = {}

local hunks = require("typstai.proposals.hunks")

local function failure(code, message)
  return nil, { code = code, message = message }
end

local function announce(proposal)
  local shown = require("typstai.proposals.listing").live(proposal)
  local data = { id = shown.id, bufnr = shown.bufnr, hunks = shown.hunks }
  require("typstai.events").emit({ name = "TypstAIProposal", data = data })
end

local function show(proposal)
  for _, hunk in ipairs(proposal.hunks) do
    hunks.look(hunk)
  end
  if hunks.count(proposal, "pending") == 0 then
    announce(proposal)
    require("typstai.proposals.accept").give_up(proposal.hunks)
    return
  end
  require("typstai.proposals.lapsed").keep(proposal)
  require("typstai.proposals.watch").start(proposal.bufnr)
  hunks.redraw(proposal.bufnr)
  announce(proposal)
end

-- A proposal that could not be shown must not wait for a decision that nobody can make.
local function take_down(proposal)
  hunks.drop(proposal)
  require("typstai.proposals.lapsed").forget(proposal.id)
  pcall(hunks.redraw, proposal.bufnr)
end

-- What an earlier proposal of the chat holds goes only once the later one stands for it.
local function take_over(proposal, state)
  if hunks.count(proposal, state) > 0 then
    require("typstai.proposals.pending").take_over(proposal.takes_over or {})
  end
end

--- Shows a proposal; the buffer stays as it is. A hunk whose old lines do not stand at
--- its row comes back stale. Codes: `no_buffer`, `invalid_text`, `duplicate`.
---@param args typstai.Proposal
---@return typstai.Hunk[]|nil, typstai.Error|nil
function M.propose(args)
  local proposal, err = require("typstai.proposals.intake").add(args)
  if not proposal then
    return nil, err
  end
  local ok, failed = pcall(show, proposal)
  if not ok then
    take_down(proposal)
    error(failed, 0)
  end
  take_over(proposal, "pending")
  return hunks.to_wire(proposal)
end

--- Applies at once what fits, as one undo step. Codes: those of `propose`, `not_modifiable`.
---@param args typstai.Proposal
---@return typstai.Hunk[]|nil, typstai.Error|nil
function M.apply(args)
  local proposal, err = require("typstai.proposals.intake").add(args)
  if not proposal then
    return nil, err
  end
  local done
  done, err = require("typstai.proposals.accept").run(proposal.hunks)
  if not done then
    hunks.drop(proposal)
    return nil, err
  end
  take_over(proposal, "accepted")
  return hunks.to_wire(proposal)
end

local function pick(id, opts)
  return require("typstai.proposals.choice").of(id, opts and opts.hunk)
end

--- Takes down what is undecided, as rejected. Code: `unknown_proposal`.
---@param args { id: string, reason?: string }
---@return typstai.Hunk[]|nil, typstai.Error|nil
function M.withdraw(args)
  local _, err = M.reject(args.id, { reason = args.reason })
  if err and err.code ~= "already_resolved" then
    return nil, err
  end
  local proposal = hunks.get(args.id)
  return proposal and hunks.to_wire(proposal) or {}
end

--- Accepts a whole proposal, one hunk of it, or the hunk under the cursor. What is stale
--- of a whole proposal ends as stale; a single stale hunk is refused.
--- Codes: `unknown_proposal`, `unknown_hunk`, `already_resolved`, `lapsed`, `no_hunk`,
--- `stale`, `no_buffer`, `not_modifiable`, `not_stored`.
---@param id? string
---@param opts? { hunk?: string }
---@return { accepted: integer, stale: integer }|nil, typstai.Error|nil
function M.accept(id, opts)
  local picked, err = pick(id, opts)
  if not picked then
    return nil, err
  end
  local is_single = id == nil or (opts and opts.hunk ~= nil)
  if is_single then
    local closed = require("typstai.proposals.closed")
    err = closed.reopen(picked[1].proposal.bufnr)
    if err then
      return nil, err
    end
    hunks.look(picked[1])
    if picked[1].state == "stale" then
      local _, sentence = closed.why(picked[1])
      return failure("stale", sentence)
    end
  end
  return require("typstai.proposals.accept").run(picked)
end

local function dismiss(kept)
  require("typstai.proposals.lapsed").dismiss(kept.id)
  return #kept.hunks
end

--- Rejects a whole proposal, one hunk of it, or the hunk under the cursor. A lapsed
--- proposal is taken off the list. Codes: `unknown_proposal`, `unknown_hunk`,
--- `already_resolved`, `no_hunk`.
---@param id? string
---@param opts? { hunk?: string, reason?: string }
---@return { rejected: integer }|nil, typstai.Error|nil
function M.reject(id, opts)
  local picked, err = pick(id, opts)
  local kept = err and err.code == "lapsed" and require("typstai.proposals.lapsed").get(id)
  if kept then
    return { rejected = dismiss(kept) }
  end
  if not picked then
    return nil, err
  end
  for _, hunk in ipairs(picked) do
    hunks.look(hunk)
    hunks.decide(hunk, "rejected", opts and opts.reason)
  end
  hunks.settle(picked)
  return { rejected = #picked }
end

local function of_chat(chat)
  return hunks.undecided(vim.tbl_filter(function(proposal)
    return chat == nil or proposal.chat == chat
  end, hunks.proposals()))
end

--- Accepts everything that is pending, of one chat or of all.
---@param chat? string
---@return { accepted: integer, stale: integer }|nil, typstai.Error|nil
function M.accept_all(chat)
  return require("typstai.proposals.accept").run(of_chat(chat))
end

--- Rejects everything undecided and dismisses what lapsed, of one chat or of all.
---@param chat? string
---@param opts? { reason?: string }
---@return { rejected: integer }
function M.reject_all(chat, opts)
  local picked = of_chat(chat)
  for _, hunk in ipairs(picked) do
    hunks.look(hunk)
    hunks.decide(hunk, "rejected", opts and opts.reason)
  end
  hunks.settle(picked)
  local rejected = #picked
  for _, kept in ipairs(require("typstai.proposals.lapsed").list()) do
    if chat == nil or kept.chat == chat then
      rejected = rejected + dismiss(kept)
    end
  end
  return { rejected = rejected }
end

--- Replaces what an undecided hunk would write; without a text, opens it in a scratch
--- buffer where the user changes it. Codes: those of `reject`, `invalid_text`, `no_buffer`.
---@param id? string without it, the hunk under the cursor
---@param hunk_id? string the first undecided one when left out
---@param text? string lines joined by a newline; "" for one empty line
---@return boolean|nil, typstai.Error|nil
function M.edit(id, hunk_id, text)
  local picked, err = pick(id, { hunk = hunk_id })
  if not picked then
    return nil, err
  end
  err = not text and require("typstai.ui.cmdwin").refusal() or nil
  if err then
    return nil, err
  elseif not text then
    return require("typstai.review.rewrite").open(picked[1])
  end
  local new = vim.split(text, "\n", { plain = true })
  if not require("typstai.proposals.intake").is_text(new) then
    return failure("invalid_text", "The new text holds a NUL.")
  end
  local hunk = picked[1]
  hunk.edited = hunk.edited or not vim.deep_equal(hunk.new, new) or nil
  hunk.new, hunk.steps = new, nil
  require("typstai.proposals.lapsed").keep(hunk.proposal)
  hunks.redraw(hunk.proposal.bufnr)
  announce(hunk.proposal)
  return true
end

--- The undecided proposals, of one buffer or of all, with their states now; after them
--- those that lapsed when their Neovim ended (`bufnr` is -1 where no buffer has the file).
---@param bufnr? integer 0: the current one
---@return table[]
function M.list(bufnr)
  bufnr = bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr
  local listing = require("typstai.proposals.listing")
  local found = vim.tbl_map(listing.live, hunks.proposals(bufnr))
  return vim.list_extend(
    found,
    vim.tbl_map(listing.lapsed, require("typstai.proposals.lapsed").list(bufnr))
  )
end

--- How many hunks are undecided.
---@return integer
function M.pending_count()
  return #hunks.undecided(hunks.proposals())
end

--- Lines of a unified diff for the chat; see |typstai.ui.unified|.
---@param id string
---@return { text: string, hl: string }[]
function M.diff_lines(id)
  local proposal = hunks.get(id)
  return proposal and require("typstai.review.unified").lines(proposal) or {}
end

--- Opens a proposal beside the document; see |typstai.ui.sidebyside|.
---@param id? string the one under the cursor, or the buffer's first, when left out
---@return boolean|nil, typstai.Error|nil
function M.diff(id)
  return require("typstai.review.sidebyside").open(id)
end

--- Goes to the first undecided hunk of a proposal, in the document's window.
---@param id string
---@return boolean|nil, typstai.Error|nil
function M.goto_first(id)
  local picked, err = require("typstai.proposals.choice").of(id)
  if not picked then
    return nil, err
  end
  return require("typstai.review.jump").to(picked[1])
end

--- Goes to the next undecided hunk of the current buffer.
---@param count? integer
function M.next(count)
  require("typstai.review.jump").by(count or 1)
end

--- Goes to the previous undecided hunk of the current buffer.
---@param count? integer
function M.prev(count)
  require("typstai.review.jump").by(-(count or 1))
end

return M
