-- What can be done with a line of the transcript: answer an approval, decide on a
-- proposal, show a detail.
local M = {}

-- In the order in which the keys are shown.
local DECISIONS = { "accept", "reject", "accept_all", "reject_all", "edit", "diff" }

local WORDS = {
  accept = "accept",
  reject = "reject",
  accept_all = "accept all",
  reject_all = "reject all",
  edit = "edit",
  diff = "side by side",
  open = "go there",
  unfold = "details",
  revert = "revert",
  snapshot = "snapshot",
}

local function is_pending(id)
  local proposal, is_resolved = require("typstai.proposals.hunks").get(id)
  return proposal ~= nil and not is_resolved
end

--- The diff of a call's proposal while it waits for a decision, else nil.
---@param segment typstai.Segment
---@return { text: string, hl?: string }[]|nil
function M.pending_diff(segment)
  local id = segment.proposal or ""
  if id ~= "" and is_pending(id) then
    return require("typstai.proposals").diff_lines(id)
  end
end

local function with_reason(prompt, act)
  vim.ui.input({ prompt = prompt }, function(reason)
    if reason then
      act(reason)
    end
  end)
end

--- Calls a function of the proposals, and says why it refused.
local function decide(name, ...)
  local _, err = require("typstai.proposals")[name](...)
  if err then
    require("typstai.message").show({ message = err.message, level = "warn" })
  end
end

local function decisions(view, id)
  local function deciding(name, argument)
    return function()
      decide(name, argument)
    end
  end
  local function reject()
    with_reason("Why not? (may be empty) ", function(reason)
      decide("reject", id, { reason = reason })
    end)
  end
  return {
    accept = deciding("accept", id),
    reject = reject,
    accept_all = deciding("accept_all", view.id),
    reject_all = deciding("reject_all", view.id),
    edit = deciding("edit", id),
    diff = deciding("diff", id),
    open = deciding("goto_first", id),
  }
end

local function tell(err)
  if err then
    require("typstai.message").show({ message = err.message, level = "warn" })
  end
end

local function answers(id)
  local function answer(word)
    return function()
      require("typstai.chat.approvals").answer(id, word, nil, tell)
    end
  end
  local function deny()
    with_reason("Why not? (may be empty) ", function(reason)
      require("typstai.chat.approvals").answer(id, "deny", reason, tell)
    end)
  end
  return { once = answer("once"), run = answer("run"), deny = deny }
end

-- At the last line of an answer.
local function of_answer(turn)
  local receipt = require("typstai.recovery.receipts").of(turn.id)
  local found = {}
  if receipt.state == "available" then
    found.revert = function()
      require("typstai.recovery.revert").ask(turn.id)
    end
  end
  if receipt.snapshot then
    found.snapshot = function()
      require("typstai.recovery.picker").open(receipt.snapshot)
    end
  end
  return found
end

--- The actions at a block, by name. `open` is what <CR> does.
---@param view typstai.ui.View
---@param block typstai.ui.Block
---@return table<string, fun()>
function M.at(view, block)
  local found = {}
  if view.transcript:can_unfold(block) then
    found.unfold = function()
      view:toggle(block)
    end
    found.open = found.unfold
  end
  if block.kind == "tail" then
    return of_answer(block.turn.data)
  elseif block.kind ~= "tool" then
    return found
  end
  if M.pending_diff(block.segment) then
    found = vim.tbl_extend("force", found, decisions(view, block.segment.proposal))
  end
  local request = require("typstai.chat.approvals").of_call(view.id, block.segment.id)
  if request then
    found = vim.tbl_extend("force", found, answers(request.id))
  end
  return found
end

local function add(hints, available, names, keys)
  for _, name in ipairs(names) do
    if available[name] and keys[name] then
      table.insert(hints, keys[name] .. " " .. WORDS[name])
    end
  end
end

--- The keys that work at a block, each with a word; those of an approval stand in the
--- transcript itself.
---@param view typstai.ui.View
---@param block typstai.ui.Block
---@return string[]
function M.hints(view, block)
  local available = M.at(view, block)
  local keys = require("typstai.config").get().keymaps.chat
  local hints = {}
  if available.accept then
    table.insert(hints, keys.send and keys.send .. " " .. WORDS.open or nil)
    add(hints, available, DECISIONS, keys)
  else
    add(hints, available, { "unfold", "revert", "snapshot" }, keys)
  end
  return hints
end

return M
