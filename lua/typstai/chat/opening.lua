-- Chats on their way from Python. Their window is there at once, and its prompt takes what
-- is typed; the transcript comes with the answer. Until then a chat has no id.
local M = {}

local outbox = require("typstai.chat.outbox")
local views = require("typstai.chat.views")

---@class typstai.ui.Opening
---@field method string
---@field params { dir: string, path: string }
---@field under_way boolean
---@field waiting fun(err: typstai.Error|nil, view: typstai.ui.View|nil)[]

--- A view of a chat, or of one that is still to come.
---@param chat typstai.Chat|nil
---@return typstai.ui.View
function M.view(chat)
  local view
  view = require("typstai.chat.view").new(chat, function()
    views.remove(view)
  end)
  views.add(view)
  return view
end

local function end_waiting(opening, ...)
  local waiting = opening.waiting
  opening.under_way, opening.waiting = false, {}
  for _, callback in ipairs(waiting) do
    callback(...)
  end
end

-- What was typed while another chat than the right one was shown goes along.
local function hand_over(view, new, before)
  local text = view.prompt:text()
  if vim.startswith(text, before) then
    new.prompt:append(text:sub(#before + 1))
    view.prompt:replace(before)
  end
end

--- Gives a view the chat that Python answered with; the view that shows it from now on.
local function arrive(view, chat, before)
  local known = views.get(chat.id)
  if not known and not view.id then
    view:adopt(chat)
    return view
  end
  known = known or M.view(chat)
  known:reload(chat)
  if known ~= view then
    hand_over(view, known, before)
    views.replace(view, known, function()
      if not view.id then
        views.remove(view)
      end
    end)
  end
  return known
end

local function tell(err)
  -- A lost host tells of itself, once, however many calls it leaves open.
  if err.code ~= "host_lost" then
    require("typstai.message").show({ message = err.message, level = "error" })
  end
end

local function is_gone(view)
  return not vim.tbl_contains(views.list(), view)
end

local function on_answer(view, opening, before, err, chat)
  if err then
    tell(err)
    if not is_gone(view) and not view.id then
      view:say(err.message)
    end
    end_waiting(opening, err)
    return
  end
  if is_gone(view) then
    view = M.view(chat)
  end
  end_waiting(opening, nil, arrive(view, chat, before))
end

local function ask(view)
  local opening, before = view.opening, view.prompt:text()
  opening.under_way = true
  if not view.id then
    before = ""
    view:say("")
  end
  require("typstai.rpc").call(opening.method, opening.params, function(err, chat)
    on_answer(view, opening, before, err, chat)
  end)
end

--- The view that stands for the answer until it comes.
local function stand_in(method, params)
  for _, view in ipairs(views.list()) do
    local opening = view.opening
    local same = opening and opening.method == method and vim.deep_equal(opening.params, params)
    if same and (opening.under_way or not view.id) then
      return view
    end
  end
  local place = params.path ~= "" and params.path or params.dir .. "/"
  return method == "chat.open" and views.of_path(place) or M.view(nil)
end

--- Shows a chat at once and asks Python for it. `callback` is called when it is whole.
---@param method "chat.open"|"chat.new"
---@param opts { dir?: string, path?: string }|nil
---@param callback fun(err: typstai.Error|nil, view: typstai.ui.View|nil)|nil
function M.start(method, opts, callback)
  outbox.note_document()
  local target = outbox.target()
  local params = {
    dir = opts and opts.dir or vim.fn.getcwd(),
    path = opts and opts.path or target and target.path or "",
  }
  local view = stand_in(method, params)
  local is_asked = view.opening and view.opening.under_way
  if not is_asked then
    view.opening = { method = method, params = params, waiting = {} }
  end
  table.insert(view.opening.waiting, callback)
  views.show(view)
  if not is_asked then
    ask(view)
  end
end

--- Calls back with the view once its chat is known; one that could not be opened is asked
--- for again.
---@param view typstai.ui.View
---@param callback fun(err: typstai.Error|nil, view: typstai.ui.View|nil)
function M.when_known(view, callback)
  if view.id then
    callback(nil, view)
    return
  end
  table.insert(view.opening.waiting, callback)
  if not view.opening.under_way then
    ask(view)
  end
end

return M
