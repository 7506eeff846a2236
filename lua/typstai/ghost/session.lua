-- The course of one ghost text: a pause is waited for, a model asked, the answer shown and
-- trimmed by what the user types, until it is dismissed. When to begin is for listen.lua.
local M = {}

local api = vim.api

---@class typstai.ghost.Asked
---@field id integer
---@field place typstai.ghost.Place

---@class typstai.ghost.Shown
---@field place typstai.ghost.Place
---@field text string all of it, from the place on
---@field left string what has not been typed yet

---@type uv.uv_timer_t|nil
local timer
---@type typstai.ghost.Place|nil where a pause in typing is waited for
local pending
---@type typstai.ghost.Asked|nil
local asked
---@type typstai.ghost.Shown|nil
local shown

local function part(name)
  return require("typstai.ghost." .. name)
end

local function options()
  return require("typstai.config").get().autocomplete
end

local function tell(bufnr, text)
  require("typstai.events").emit({
    name = "TypstAIGhostChanged",
    data = { bufnr = bufnr, text = text },
  })
end

local function hide()
  local was = shown
  shown = nil
  if was then
    part("view").clear(was.place.bufnr)
    part("keys").detach()
    part("place").forget(was.place)
    tell(was.place.bufnr, "")
  end
end

local function stop_waiting()
  if pending then
    timer:stop()
    part("place").forget(pending)
    pending = nil
  end
end

local function give_up_request()
  if asked then
    part("request").cancel(asked.id)
    part("place").forget(asked.place)
    asked = nil
    part("reason").set("")
  end
end

--- Takes the ghost text away and gives up what was asked for.
function M.dismiss()
  stop_waiting()
  give_up_request()
  hide()
end

-- The accept key is most often the one that goes on in a snippet.
local function has_snippet_stop()
  local luasnip = package.loaded["luasnip"]
  return package.loaded["vim.snippet"] and vim.snippet.active({ direction = 1 })
    or type(luasnip) == "table" and luasnip.locally_jumpable(1)
end

-- What stands against ghost text anywhere in the buffer now.
local function obstacle()
  if api.nvim_get_mode().mode ~= "i" then
    return "not inserting"
  elseif vim.fn.reg_recording() ~= "" then
    return "recording"
  elseif vim.o.paste then
    return "paste"
  elseif has_snippet_stop() then
    return "snippet"
  elseif part("menus").is_open() then
    return "menu"
  end
end

local function is_behind_text()
  local line = api.nvim_get_current_line()
  local at = vim.fn.getcurpos()
  return at[3] > #line and at[4] == 0 and line:find("%S") ~= nil
end

-- The screen may show less than came; nothing is accepted that is not seen.
local function show(place, text)
  local room = part("layout").room()
  local typed = part("place").typed(place)
  local left = typed and part("place").rest(text, typed)
  local visible = left and select(2, part("layout").lines(left, room)) or ""
  hide()
  if visible == "" then
    part("place").forget(place)
    return
  end
  place.seen = typed
  shown = { place = place, text = typed .. visible, left = visible }
  part("view").draw(visible, room)
  part("keys").attach(place.bufnr)
  tell(place.bufnr, visible)
end

local function on_failure(place, err, answer)
  part("place").forget(place)
  if err then
    -- That the host ended is told by its own module.
    part("reason").set_problem("failed", nil, err.code ~= "host_lost" and err.message or nil)
  elseif answer.seconds or answer.message then
    part("reason").set_problem(answer.reason, answer.seconds, answer.message)
  else
    part("reason").set(answer.reason)
  end
end

local function on_answer(id, err, answer)
  if not asked or asked.id ~= id then
    return
  end
  local place = asked.place
  asked = nil
  if err or answer.text == "" then
    on_failure(place, err, answer)
    return
  end
  part("reason").set_answered()
  local why = obstacle()
  if why or api.nvim_get_current_buf() ~= place.bufnr then
    part("place").forget(place)
    part("reason").set(why or "")
  else
    stop_waiting()
    show(place, answer.text)
  end
end

--- Asks for text at the cursor now.
---@param is_anywhere boolean also in mathematics, raw text and code
function M.ask(is_anywhere)
  M.dismiss()
  local why = obstacle() or (options().model == "" and "no model")
  if why then
    part("reason").set(why)
    return
  end
  local place = part("place").here()
  local id
  id = part("request").send(is_anywhere, function(err, answer)
    on_answer(id, err, answer)
  end)
  asked = { id = id, place = place }
  part("reason").set("waiting")
end

--- The user typed: waits for a pause, then asks. A request under way may still be answered
--- with what is just being typed; the next one ends it.
function M.ask_after_pause()
  stop_waiting()
  if asked then
    asked.place.seen = part("place").typed(asked.place)
  end
  if not is_behind_text() then
    give_up_request()
    return
  end
  pending = part("place").here()
  timer = timer or assert(vim.uv.new_timer())
  timer:start(
    options().debounce,
    0,
    vim.schedule_wrap(function()
      if pending and part("place").is_quiet(pending) and is_behind_text() then
        M.ask(false)
      end
    end)
  )
end

--- Whether what is shown still goes on from the cursor; it is trimmed by what was typed.
---@return boolean
function M.follow()
  local typed = shown and part("place").typed(shown.place)
  local left = typed and part("place").rest(shown.text, typed)
  if not left or left == "" or obstacle() then
    hide()
    return false
  end
  shown.place.seen = typed
  if left ~= shown.left then
    shown.left = left
    part("view").draw(left, part("layout").room())
    tell(shown.place.bufnr, left)
  end
  return true
end

--- Whether nothing happened where something is waited for.
---@return boolean
function M.is_quiet()
  local place = part("place")
  return not (pending and not place.is_quiet(pending))
    and not (asked and not place.is_quiet(asked.place))
end

--- What is shown and not typed yet; nil when nothing is.
---@return string|nil
function M.left()
  return shown and shown.left
end

--- Takes the ghost text away, and nothing else.
M.hide = hide

--- Whether anything is shown, asked for, or about to be.
---@return boolean
function M.is_active()
  return (shown or pending or asked) ~= nil
end

return M
