-- Tells characters that the user types from all others that get into a buffer: pasted,
-- repeated, played back from a macro, inserted from a register or through the API.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("typstai.ghost.typing")

local is_typed = false
---@type boolean any character of this step came from the keyboard
local is_own = false
---@type string|nil the last character of this step
local last

local function on_character()
  last = vim.v.char
  -- An abbreviation is expanded behind the character that was typed: one is enough.
  is_own = is_own or is_typed
end

--- Begins to listen; it costs next to nothing, and only while the user is in insert mode.
---@param group integer augroup
function M.start(group)
  M.stop()
  is_own, last = false, nil
  -- Neovim passes the keys as typed with the first key that they lead to, also when they
  -- were mapped; what is stuffed or played back comes without.
  vim.on_key(function(_, typed)
    is_typed = typed ~= nil and typed ~= ""
  end, NS)
  api.nvim_create_autocmd("InsertCharPre", {
    group = group,
    desc = "typstai: notice what the user types",
    callback = on_character,
  })
end

function M.stop()
  vim.on_key(nil, NS)
  pcall(api.nvim_clear_autocmds, { group = "typstai.ghost", event = "InsertCharPre" })
end

--- Whether the user typed what stands before the cursor since this was last asked.
---@return boolean
function M.take()
  local own, char = is_own, last
  is_own, last = false, nil
  if not own or not char then
    return false
  end
  local col = api.nvim_win_get_cursor(0)[2]
  return vim.endswith(api.nvim_get_current_line():sub(1, col), char)
end

return M
