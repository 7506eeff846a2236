-- Reverting an answer as the user does it: asked first, told what came of it.
local M = {}

local api = vim.api

local function say(level, text)
  require("typstai.message").show({ message = text, level = level })
end

local function answers(count)
  return count == 1 and "1 answer" or count .. " answers"
end

-- The last edit of each document is what it ends as.
local function outcome(steps)
  local texts, order = {}, {}
  for _, step in ipairs(steps) do
    for _, edit in ipairs(step.edits) do
      if not texts[edit.bufnr] then
        table.insert(order, edit.bufnr)
      end
      texts[edit.bufnr] = edit.lines
    end
  end
  return texts, order
end

-- `main.typ +12 −3` for each document.
local function differences(steps)
  local texts, order = outcome(steps)
  local words = vim.tbl_map(function(bufnr)
    local live = api.nvim_buf_get_lines(bufnr, 0, -1, true)
    local added, removed = require("typstai.recovery.snapshots").count(live, texts[bufnr])
    local name = vim.fs.basename(api.nvim_buf_get_name(bufnr))
    local difference = require("typstai.recovery.picker").difference(added, removed)
    return (name ~= "" and name .. " " or "") .. difference
  end, order)
  return table.concat(words, ", ")
end

local function prompt(plan, steps, err)
  if err then
    local text = "Only %s of %d can be reverted. %s Revert? %s"
    return text:format(answers(#steps), #plan.steps, err.message, differences(steps))
  end
  local question = plan.steps[#plan.steps].question
  local what = question ~= "" and "the answer to " .. question or "this answer"
  local newer = #steps > 1 and " and " .. (#steps - 1) .. " newer" or ""
  return ("Revert %s%s? %s"):format(what, newer, differences(steps))
end

local function report(err, result)
  if err then
    say("warn", err.message)
  elseif result.reason then
    say("warn", ("Reverted %s, no more: %s"):format(answers(#result.reverted), result.reason))
  else
    local count = #result.reverted
    local back = count == 1 and "it back" or "them back one by one"
    say("info", ("Reverted %s; u brings %s."):format(answers(count), back))
  end
end

local function confirm(plan)
  local recovery = require("typstai.recovery")
  local steps, err = recovery.look(plan)
  if #steps == 0 then
    say("warn", err.message)
    return
  end
  local opts = { prompt = prompt(plan, steps, err), kind = "typstai_revert" }
  vim.ui.select({ "Revert", "Keep" }, opts, function(choice)
    if choice == "Revert" then
      recovery.finish(plan, report)
    end
  end)
end

local function on_plan(err, plan)
  if err then
    say("warn", err.message)
  else
    confirm(plan)
  end
end

--- Asks, then reverts a run and the newer ones of its chat.
---@param run string
function M.ask(run)
  require("typstai.recovery").plan({ run = run }, on_plan)
end

local function last_of(document, runs)
  for _, run in ipairs(runs) do
    for _, written in ipairs(run.documents) do
      if written.document == document and not written.reverted then
        return run.run
      end
    end
  end
end

--- Asks, then reverts the last answer: of the chat that the cursor is in, else to the
--- document.
function M.ask_last()
  local view = require("typstai.chat.views").of_buffer(api.nvim_get_current_buf())
  if view and view.id then
    require("typstai.recovery").plan({ chat = view.id }, on_plan)
    return
  end
  local document = require("typstai.recovery.journal").document(api.nvim_get_current_buf())
  require("typstai.recovery").runs(nil, function(err, runs)
    local run = last_of(document, runs or {})
    if run then
      M.ask(run)
    else
      say("info", err and err.message or "No answer has changed this document.")
    end
  end)
end

return M
