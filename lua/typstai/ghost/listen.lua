-- Listens to what the user does in insert mode, wherever ghost text is on.
local M = {}

local api = vim.api

---@type integer|nil augroup, once ghost text was switched on anywhere
local group
local last_tick = -1

local function part(name)
  return require("typstai.ghost." .. name)
end

local function on_text()
  last_tick = api.nvim_buf_get_changedtick(0)
  local session = part("session")
  local is_own = part("typing").take()
  if session.follow() then
    return
  elseif is_own and part("scope").is_on(api.nvim_get_current_buf()) then
    session.ask_after_pause()
  elseif not session.is_quiet() then
    session.dismiss()
  end
end

-- Comes before `on_text` too, which then knows better.
local function on_cursor()
  local session = part("session")
  if not session.is_active() or api.nvim_buf_get_changedtick(0) ~= last_tick then
    return
  end
  if not (session.left() == nil or session.follow()) or not session.is_quiet() then
    session.dismiss()
  end
end

local function begin()
  last_tick = api.nvim_buf_get_changedtick(0)
  if part("scope").is_on(api.nvim_get_current_buf()) then
    part("typing").start(group)
  end
end

local function begin_if_inserting()
  if api.nvim_get_mode().mode == "i" then
    begin()
  end
end

local function dismiss()
  part("session").dismiss()
end

local function finish()
  part("typing").stop()
  part("insert").end_exact()
  dismiss()
end

local function on(events, desc, callback, pattern)
  api.nvim_create_autocmd(events, {
    group = group,
    pattern = pattern,
    desc = "typstai: " .. desc,
    callback = function()
      callback()
    end,
  })
end

local function listen()
  on("ColorScheme", "mix the colour of ghost text again", part("view").define_group)
  on("InsertEnter", "listen to typing", begin)
  on("InsertLeave", "no ghost text outside of insert mode", finish)
  on("TextChangedI", "ask for ghost text, or trim it", on_text)
  on("CursorMovedI", "dismiss ghost text when the cursor leaves it", on_cursor)
  on({ "BufLeave", "WinLeave", "TextChangedP", "VimResized" }, "dismiss ghost text", dismiss)
  on("ModeChanged", "dismiss ghost text", dismiss, "i:*")
  on("BufEnter", "listen to typing", begin_if_inserting)
  part("menus").on_open(group, dismiss)
end

--- Begins to listen, unless that has begun.
function M.start()
  if not group then
    group = api.nvim_create_augroup("typstai.ghost", {})
    part("view").define_group()
    listen()
  end
  begin_if_inserting()
end

return M
