-- Completion menus: ghost text never shows beside one.
local M = {}

---@type fun()|nil
local on_open
local is_told_by_cmp = false

-- It may be loaded at any time, and tells of its menu by no autocommand.
local function listen_to_cmp(cmp)
  if on_open and not is_told_by_cmp and cmp.event then
    is_told_by_cmp = true
    cmp.event:on("menu_opened", function()
      on_open()
    end)
  end
end

local function is_cmp_open()
  local cmp = package.loaded["cmp"]
  if type(cmp) ~= "table" or type(cmp.visible) ~= "function" then
    return false
  end
  listen_to_cmp(cmp)
  return cmp.visible() == true
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

--- Calls `callback` when a menu opens.
---@param group integer augroup
---@param callback fun()
function M.on_open(group, callback)
  on_open = callback
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
end

return M
