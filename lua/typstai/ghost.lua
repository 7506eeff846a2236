-- Ghost text: what comes next, shown behind the cursor while the user types prose. The API;
-- the work is done in ghost/.
local M = {}

local api = vim.api

local function part(name)
  return require("typstai.ghost." .. name)
end

--- Begins to listen to typing; asked for by `setup()` when the options switch it on.
function M.start()
  part("listen").start()
end

--- Takes the ghost text away and gives up what was asked for.
function M.dismiss()
  part("session").dismiss()
end

--- Switches ghost text on or off: everywhere, in a project, or in a buffer.
---@param is_on boolean
---@param opts? { bufnr?: integer, project?: string|true } 0 and true: the current one
function M.enable(is_on, opts)
  local place = vim.deepcopy(opts or {})
  local current = api.nvim_get_current_buf()
  place.bufnr = place.bufnr == 0 and current or place.bufnr
  place.project = place.project == true and part("scope").project_of(current) or place.project
  part("scope").set(is_on, place)
  part("listen").start()
  if not part("scope").is_on(current) then
    M.dismiss()
  end
end

--- Asks for ghost text at the cursor now, wherever it stands.
function M.trigger()
  part("listen").start()
  part("session").ask(true)
end

--- Whether ghost text is shown.
---@return boolean
function M.visible()
  return part("session").left() ~= nil
end

--- Types what is shown, or a part of it, into the buffer. Works from `expr` maps too.
---@param what? typstai.ghost.Part
---@return boolean accepted false when nothing was shown
function M.accept(what)
  local left = part("session").left()
  if not left then
    return false
  end
  local text = part("part").of(left, what)
  if text == left then
    part("session").hide()
  end
  part("insert").type(text)
  return true
end

--- Why nothing is shown, in one or two words, and whether that is worth telling.
---@return string, boolean
function M.reason()
  if not part("scope").is_on(api.nvim_get_current_buf()) then
    return "off", false
  elseif require("typstai.config").get().autocomplete.model == "" then
    return "no model", true
  end
  return part("reason").get()
end

return M
