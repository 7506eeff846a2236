-- Completion menus: ghost text never shows beside one.
local M = {}

local function is_cmp_open()
  local cmp = package.loaded["cmp"]
  return type(cmp) == "table" and type(cmp.visible) == "function" and cmp.visible() == true
end

local function is_blink_open()
  local blink = package.loaded["blink.cmp"]
  local asked = type(blink) == "table" and (blink.is_menu_visible or blink.is_visible)
  return asked and asked() == true
end

--- Whether a completion menu is open: Neovim's own (which most plugins use), nvim-cmp's or
--- blink.cmp's.
---@return boolean
function M.is_open()
  return vim.fn.pumvisible() == 1 or is_cmp_open() or is_blink_open() or false
end

local is_told_by_cmp = false

local function ask_cmp(callback)
  local cmp = package.loaded["cmp"]
  local event = type(cmp) == "table" and cmp.event
  if event and not is_told_by_cmp then
    is_told_by_cmp = true
    event:on("menu_opened", callback)
  end
end

--- Calls `callback` when a menu opens.
---@param group integer augroup
---@param callback fun()
function M.on_open(group, callback)
  vim.api.nvim_create_autocmd("CompleteChanged", {
    group = group,
    desc = "typstai: no ghost text beside a completion menu",
    callback = callback,
  })
  vim.api.nvim_create_autocmd("User", {
    group = group,
    pattern = { "BlinkCmpMenuOpen", "BlinkCmpShow" },
    desc = "typstai: no ghost text beside a completion menu",
    callback = callback,
  })
  ask_cmp(callback)
end

return M
