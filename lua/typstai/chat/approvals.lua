-- Tool calls that wait for the user's word. They are shown in the chat; nothing blocks.
-- What was shown is what is answered: a request never changes after it was asked.
local M = {}

---@type typstai.ApprovalRequest[] the oldest first
local waiting = {}

local function position(id)
  for i, request in ipairs(waiting) do
    if request.id == id then
      return i
    end
  end
end

local function redraw(request)
  require("typstai.chat").refresh_call(request.chat, request.call)
end

local function say(message)
  require("typstai.message").show({ message = message, level = "warn" })
end

--- Called by Python: shows the question. An id that is already asked keeps its question.
---@param request typstai.ApprovalRequest
function M.ask(request)
  if position(request.id) then
    return
  end
  request = vim.deepcopy(request)
  table.insert(waiting, request)
  redraw(request)
  if not require("typstai.chat").is_visible(request.chat) then
    say(("The tool %s asks for your approval: open the chat with :TypstAI."):format(request.tool))
  end
  require("typstai.events").emit({
    name = "TypstAIApprovalRequested",
    data = { id = request.id, tool = request.tool, destination = request.destination },
  })
end

--- Called by Python: the question is settled or void.
---@param args { id: string }
function M.withdraw(args)
  local at = position(args.id)
  if at then
    redraw(table.remove(waiting, at))
  end
end

--- Takes every question back: nobody is left to hear the answers.
function M.void()
  local all = waiting
  waiting = {}
  vim.tbl_map(redraw, all)
end

--- The open questions, the oldest first.
---@return typstai.ApprovalRequest[]
function M.list()
  return vim.deepcopy(waiting)
end

--- The open question of a tool call, if any.
---@param chat string
---@param call string
---@return typstai.ApprovalRequest|nil
function M.of_call(chat, call)
  for _, request in ipairs(waiting) do
    if request.chat == chat and request.call == call then
      return request
    end
  end
end

--- Puts a question back that could not be answered.
local function ask_again(request)
  if not position(request.id) then
    table.insert(waiting, request)
    redraw(request)
  end
end

--- Answers a question. `reason` goes to the model when the answer is "deny".
--- Code: `unknown_approval`.
---@param id string
---@param answer "once"|"run"|"deny"
---@param reason string|nil
---@param callback fun(err: typstai.Error|nil)
function M.answer(id, answer, reason, callback)
  local at = position(id)
  if not at then
    local message = "This tool call no longer waits for an answer."
    callback({ code = "unknown_approval", message = message })
    return
  end
  local request = table.remove(waiting, at)
  redraw(request)
  local params = { id = id, answer = answer, reason = reason or "" }
  require("typstai.rpc").call("approval.answer", params, function(err)
    if err then
      ask_again(request)
    end
    callback(err)
  end)
end

return M
