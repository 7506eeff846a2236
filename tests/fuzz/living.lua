-- Plays a story of the writer's, the agent's and Neovim's steps in one call, and tells
-- after each step what the buffer holds and what is listed. It judges nothing.
local accept = require("typstai.proposals.accept")
local proposals = require("typstai.proposals")
local recovery = require("typstai.recovery")
local rpc = require("typstai.rpc")
local snapshots = require("typstai.recovery.snapshots")
local api = vim.api

local WAIT_MS = 30000

local M = {}

-- Chats and runs of one story are not those of another: the store remembers all.
local story_id = ""

local function own(name)
  return name and story_id .. name
end

local function plain(name)
  return name:sub(#story_id + 1)
end

local function line_count()
  return api.nvim_buf_line_count(0)
end

local function row_of(number)
  return number % line_count()
end

-- A byte column between two code points of a line.
local function column_of(row, number)
  local line = api.nvim_buf_get_lines(0, row, row + 1, true)[1]
  local starts = vim.str_utf_pos(line)
  starts[#starts + 1] = #line + 1
  return starts[number % #starts + 1] - 1
end

local function position(row_number, column_number)
  local row = row_of(row_number)
  return row, column_of(row, column_number)
end

local function ordered(step)
  local row, col = position(step.row, step.col)
  local end_row, end_col = position(step.row + step.rows, step.col_2)
  if end_row < row or (end_row == row and end_col < col) then
    return end_row, end_col, row, col
  end
  return row, col, end_row, end_col
end

local function keys(text)
  api.nvim_feedkeys(vim.keycode(text), "ntx", false)
end

-- Rows of a range, from 1 and inclusive.
local function range(step)
  local first = row_of(step.row) + 1
  return first, math.min(first + step.rows, line_count())
end

local TYPING = { top = "O", bottom = "o", start = "0i", finish = "A" }

local writer = {}

function writer.type(step)
  api.nvim_win_set_cursor(0, { row_of(step.row) + 1, 0 })
  local text = step.text:gsub("<", "<lt>"):gsub("\n", "<CR>")
  keys(TYPING[step.where] .. text .. "<Esc>")
end

function writer.replace(step)
  local row, col, end_row, end_col = ordered(step)
  local lines = vim.split(step.text, "\n", { plain = true })
  api.nvim_buf_set_text(0, row, col, end_row, end_col, lines)
end

function writer.join(step)
  vim.cmd.join({ range = { range(step) }, bang = true })
end

function writer.delete(step)
  vim.cmd.delete({ range = { range(step) }, reg = "_" })
end

function writer.copy(step)
  local first, last = range(step)
  vim.cmd.copy({ range = { first, last }, args = { tostring(step.col % (line_count() + 1)) } })
end

function writer.move(step)
  local first, last = range(step)
  local target = step.col % (line_count() + 1)
  if target < first - 1 or target > last then
    vim.cmd.move({ range = { first, last }, args = { tostring(target) } })
  end
end

function writer.sort()
  vim.cmd.sort()
end

function writer.substitute()
  vim.cmd([[silent! keeppatterns %s/fox\|日/X/ge]])
end

function writer.paste(step)
  api.nvim_win_set_cursor(0, { row_of(step.row) + 1, 0 })
  api.nvim_put(vim.split(step.text, "\n", { plain = true }), "l", step.where == "bottom", false)
end

function writer.rewrite()
  local lines = api.nvim_buf_get_lines(0, 0, -1, true)
  api.nvim_buf_set_lines(0, 0, -1, true, { "" })
  api.nvim_buf_set_lines(0, 0, -1, true, lines)
end

function writer.undo()
  vim.cmd("silent undo")
end

function writer.redo()
  vim.cmd("silent redo")
end

local agent = {}
local arrived = 0

local function wire(step, hunks)
  arrived = arrived + 1
  return {
    id = "p" .. arrived,
    bufnr = api.nvim_get_current_buf(),
    path = "main.typ",
    chat = own(step.chat),
    run = own(step.chat .. step.run),
    call = "k",
    source = "patch_document",
    verdict = "",
    hunks = hunks,
  }
end

local function pieces(line)
  local found = {}
  for piece in line:gmatch("[^ ]* *") do
    found[#found + 1] = piece ~= "" and piece or nil
  end
  return found
end

-- One hunk a word, where a line becomes another one.
local function by_word(hunk)
  local old, new = pieces(hunk.old[1]), pieces(hunk.new[1])
  local pairs_of_words, found, col = math.min(#old, #new), {}, 0
  for i = 1, pairs_of_words do
    local last_old, last_new = i, i
    if i == pairs_of_words then
      last_old, last_new = #old, #new
    end
    local before = table.concat(old, "", i, last_old)
    local after = table.concat(new, "", i, last_new)
    if before ~= after then
      found[#found + 1] = { row0 = hunk.row0, byte_col = col, old = { before }, new = { after } }
    end
    col = col + #before
  end
  return pairs_of_words > 1 and found or { hunk }
end

local function smaller(hunks)
  local found = {}
  for _, hunk in ipairs(hunks) do
    local is_line = #hunk.old == 1 and #hunk.new == 1
    vim.list_extend(found, is_line and by_word(hunk) or { hunk })
  end
  for i, hunk in ipairs(found) do
    hunk.id, hunk.state, hunk.reason = "h" .. i, "pending", ""
  end
  return found
end

local function parts(step)
  local first, last = range(step)
  local old = api.nvim_buf_get_lines(0, first - 1, last, true)
  local hunks = require("typstai.text.diff").refine({
    changes = { { row0 = first - 1, old = old, new = step.lines } },
  })
  return step.col % 3 > 0 and smaller(hunks) or hunks
end

function agent.propose(step)
  local hunks = parts(step)
  return #hunks > 0 and (proposals.propose(wire(step, hunks))) or nil
end

-- A later edit of the same chat that contains some of what is pending.
function agent.take_over(step)
  local hunks = parts(step)
  local args = wire(step, hunks)
  args.takes_over = {}
  for i, hunk in
    ipairs(require("typstai.proposals.pending").list({ bufnr = args.bufnr, chat = args.chat }))
  do
    if (step.col + i) % 2 == 0 then
      table.insert(args.takes_over, { proposal = hunk.proposal, hunk = hunk.hunk })
    end
  end
  return #hunks > 0 and (proposals.propose(args)) or nil
end

-- A host that forgot what it waited for may send what it had sent before.
function agent.restart()
  local refused = 0
  for _, item in ipairs(proposals.list()) do
    local args = wire(
      { chat = "c1", run = "" },
      { { id = "h1", row0 = 0, old = {}, new = { "twice" } } }
    )
    args.id = item.id
    local _, err = proposals.propose(args)
    refused = refused + (err and err.code == "duplicate" and 1 or 0)
  end
  return refused
end

function agent.apply(step)
  local hunks = parts(step)
  return #hunks > 0 and (proposals.apply(wire(step, hunks))) or nil
end

local function pick(step)
  local listed = {}
  for _, item in ipairs(proposals.list()) do
    for _, hunk in ipairs(item.hunks) do
      table.insert(listed, { id = item.id, hunk = hunk.id })
    end
  end
  return listed[step.row % math.max(#listed, 1) + 1]
end

local decision = {}

local function one_or_whole(method)
  return function(step)
    local picked = pick(step)
    if picked then
      local opts = { hunk = step.whole ~= true and picked.hunk or nil, reason = "no" }
      local result, err = proposals[method](picked.id, opts)
      return { id = picked.id, hunk = opts.hunk, result = result, err = err and err.code }
    end
  end
end

decision.accept = one_or_whole("accept")
decision.reject = one_or_whole("reject")

function decision.accept_all(step)
  return { chat = step.chat, result = proposals.accept_all(own(step.chat)) }
end

function decision.reject_all(step)
  return { chat = step.chat, result = proposals.reject_all(own(step.chat)) }
end

function decision.edit(step)
  local picked = pick(step)
  if picked then
    local _, err = proposals.edit(picked.id, picked.hunk, step.text)
    return { id = picked.id, hunk = picked.hunk, err = err and err.code }
  end
end

-- Lets Neovim do what it put off.
function decision.turn()
  local passed = false
  vim.schedule(function()
    passed = true
  end)
  vim.wait(1000, function()
    return passed
  end, 1)
end

-- What a function that goes through Python answers, as { err, result }.
local function answered(call, ...)
  local answer
  local args = { ... }
  table.insert(args, function(err, result)
    answer = { err = err, result = result }
  end)
  call(unpack(args))
  assert(
    vim.wait(WAIT_MS, function()
      return answer ~= nil
    end, 1),
    "Python never answered"
  )
  return answer
end

local past = {}
---@type string[] the runs whose hunks were accepted
local runs = {}
local planned, chosen

local function pick_run(step)
  return runs[step.row % math.max(#runs, 1) + 1] or own("none")
end

-- The writer is asked about it, and meanwhile goes on.
function past.plan(step)
  local run = pick_run(step)
  local answer = answered(recovery.plan, { run = run })
  planned = answer.result
  return { run = plain(run), err = answer.err and answer.err.code }
end

function past.revert(step)
  local run = pick_run(step)
  local answer = planned and answered(recovery.finish, planned) or answered(recovery.revert, run)
  planned = nil
  local reverted = vim.tbl_map(plain, answer.result and answer.result.reverted or {})
  return { run = plain(run), reverted = reverted, err = answer.err and answer.err.code }
end

local function listed_snapshots()
  local answer = answered(snapshots.of_buffer, api.nvim_get_current_buf())
  assert(not answer.err, vim.inspect(answer.err))
  return answer.result
end

-- The writer looks at what one of them would change.
function past.look(step)
  local found = listed_snapshots()
  local live = require("typstai.recovery.journal").hash(api.nvim_buf_get_lines(0, 0, -1, true))
  chosen = { snapshot = found[step.row % math.max(#found, 1) + 1], hash = live }
  return { snapshots = found, index = chosen.snapshot and step.row % #found }
end

function past.restore()
  local snapshot = chosen and chosen.snapshot
  local hash = chosen and chosen.hash
  chosen = nil
  if snapshot then
    local answer = answered(function(callback)
      snapshots.restore(snapshot.id, callback, hash)
    end)
    return { id = snapshot.id, err = answer.err and answer.err.code }
  end
end

-- The story stops here for one to keep the text as after an answer.
function past.keep() end

-- The helper process dies; the next call to Python starts another one.
function past.kill()
  local host = require("typstai.host")
  local pid = host.pid
  if pid then
    vim.uv.kill(pid, "sigkill")
    assert(
      vim.wait(WAIT_MS, function()
        return host.pid ~= pid
      end, 1),
      "the helper process did not die"
    )
  end
  return agent.restart()
end

local STEPS = vim.tbl_extend("error", writer, agent, decision, past)

local function listed()
  local found = proposals.list()
  for _, item in ipairs(found) do
    local proposal = require("typstai.proposals.hunks").get(item.id)
    item.chat, item.run = plain(proposal.chat), plain(proposal.run)
  end
  return found
end

---@type table[] what was told within the step
local within = {}

local function tell(answer)
  local tree = vim.fn.undotree()
  return {
    lines = api.nvim_buf_get_lines(0, 0, -1, true),
    undo = tree.seq_cur,
    steps = tree.seq_last,
    listed = listed(),
    answer = answer,
    within = within,
  }
end

-- One step may write for several runs: what stands is told after each.
local function tell_after(module, name, run_of)
  local original = module[name]
  module[name] = function(...)
    local results = vim.F.pack_len(original(...))
    local told = tell()
    told.within, told.run = nil, plain(run_of(...) or "")
    table.insert(within, told)
    return vim.F.unpack_len(results)
  end
end

tell_after(accept, "give_up", function(group)
  local run = group[1].proposal.run
  local has_written = vim.iter(group):any(function(hunk)
    return hunk.state == "accepted"
  end)
  if has_written and not vim.tbl_contains(runs, run) then
    table.insert(runs, run)
  end
  return run
end)
tell_after(recovery, "write", function(_, _, entry)
  return entry.run
end)

-- Python remembers the texts; of the proposals, which it never made, it is not told.
local call = rpc.call
rpc.call = function(method, ...)
  if method ~= "proposal.resolved" then
    call(method, ...)
  end
end

-- Every text that undo can reach, by walking the whole tree.
local function reachable()
  local texts = {}
  for number = 0, vim.fn.undotree().seq_last do
    pcall(vim.cmd, "silent undo " .. number)
    table.insert(texts, table.concat(api.nvim_buf_get_lines(0, 0, -1, true), "\n"))
  end
  return texts
end

local function drawn()
  local ns = api.nvim_get_namespaces()["typstai.review"]
  return ns and #api.nvim_buf_get_extmarks(0, ns, 0, -1, {}) or 0
end

local function written(path)
  vim.cmd("silent! write! " .. vim.fn.fnameescape(path))
  local file = assert(io.open(path, "rb"))
  local data = file:read("*a")
  file:close()
  return data
end

--- Opens a fresh buffer for a story; the document that it is.
---@param story { id: string, lines: string[], format: string, path: string }
---@return string
function M.begin(story)
  story_id, runs, planned, chosen = story.id, {}, nil, nil
  vim.o.showmode, vim.o.report = false, 9999
  vim.cmd("silent enew!")
  api.nvim_buf_set_name(0, story.path)
  vim.bo.undolevels = -1
  api.nvim_buf_set_lines(0, 0, -1, true, story.lines)
  vim.bo.undolevels = 1000
  vim.bo.fileformat = story.format
  vim.bo.autoindent, vim.bo.formatoptions, vim.bo.modified = false, "", false
  return require("typstai.recovery.journal").document(api.nvim_get_current_buf())
end

--- Plays some steps of the story; what was seen after each.
---@param steps table[]
---@return table[]
function M.go(steps)
  local trace = {}
  for i, step in ipairs(steps) do
    within = {}
    local answer = STEPS[step.name](step)
    -- Neovim ends an undo step at each of the user's commands.
    vim.bo.undolevels = vim.bo.undolevels
    trace[i] = tell(answer)
  end
  return trace
end

--- Ends the story: nothing is left pending, and the buffer is gone.
---@param path string where the text is written
function M.finish(path)
  proposals.reject_all()
  decision.turn()
  local last = {
    lines = api.nvim_buf_get_lines(0, 0, -1, true),
    drawn = drawn(),
    data = vim.base64.encode(written(path)),
    reachable = reachable(),
  }
  vim.cmd("silent bwipeout!")
  return last
end

_G.living = M
