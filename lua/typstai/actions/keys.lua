-- The keys of the text actions in Typst buffers. What the user has mapped comes first: a key
-- that is theirs, or the beginning of one of theirs, or begins with one, is left out.
local M = {}

---@class typstai.LeftOut
---@field action string
---@field lhs string
---@field by string the user's key

---@type table<integer, typstai.LeftOut[]> by buffer
local left_out = {}

local MODES = { "n", "x" }

local function leader(name)
  local value = vim.g[name]
  return (type(value) == "string" and value ~= "" and value or "\\"):gsub("%%", "%%%%")
end

-- The bytes that a key is when it is typed.
local function raw(lhs)
  local spelled = lhs:gsub("<[Ll]ocal[Ll]eader>", leader("maplocalleader"))
  spelled = spelled:gsub("<[Ll]eader>", leader("mapleader"))
  return vim.keycode(spelled)
end

local function is_ours(map)
  return map.buffer ~= 0 and vim.startswith(map.desc or "", "typstai: ")
end

-- The user's maps of a mode. A short one with `nowait` waits for nothing longer.
local function theirs(bufnr, mode)
  local maps = vim.api.nvim_buf_get_keymap(bufnr, mode)
  vim.list_extend(maps, vim.api.nvim_get_keymap(mode))
  return vim.tbl_filter(function(map)
    return not is_ours(map)
  end, maps)
end

-- The map of theirs because of which one of ours would be late, or make theirs late.
local function conflict(maps, key)
  for _, map in ipairs(maps) do
    local own = map.lhsraw
    local is_longer = vim.startswith(own, key)
    if is_longer or (map.nowait == 0 and vim.startswith(key, own)) then
      return map
    end
  end
end

local function note(bufnr, action, key, map)
  local item = { action = action, lhs = vim.fn.keytrans(key), by = map.lhs }
  if
    not vim.tbl_contains(left_out[bufnr], function(known)
      return known.lhs == item.lhs
    end, { predicate = true })
  then
    table.insert(left_out[bufnr], item)
  end
end

--- The keys of the options by action, in order.
local function wanted()
  local keys = require("typstai.config").get().keymaps.actions
  local names = vim.tbl_filter(function(name)
    return name ~= "stop" and keys[name] and keys[name] ~= ""
  end, vim.tbl_keys(keys))
  table.sort(names)
  return vim.tbl_map(function(name)
    return { action = name, lhs = keys[name], raw = raw(keys[name]) }
  end, names)
end

local function set(bufnr, mode, key, maps)
  local plug = ("<Plug>(typstai-%s)"):format(key.action)
  if vim.fn.hasmapto(plug, mode) ~= 0 then
    return
  end
  local taken = conflict(maps, key.raw)
  if taken then
    note(bufnr, key.action, key.raw, taken)
    return
  end
  local opts = { buffer = bufnr, remap = true, desc = "typstai: " .. key.action }
  vim.keymap.set(mode, key.lhs, plug, opts)
  return ("silent! %sunmap <buffer> %s"):format(mode, key.lhs)
end

--- Sets the keys in the current buffer.
---@return string[] undo commands that take them away again
function M.attach()
  local bufnr, undo = vim.api.nvim_get_current_buf(), {}
  left_out[bufnr] = {}
  local keys = wanted()
  for _, mode in ipairs(MODES) do
    local maps = theirs(bufnr, mode)
    for _, key in ipairs(keys) do
      undo[#undo + 1] = set(bufnr, mode, key, maps)
    end
  end
  return undo
end

--- The keys that were left out in buffers that are open, each once.
---@return typstai.LeftOut[]
function M.left_out()
  local found = {}
  for bufnr, items in pairs(left_out) do
    if not vim.api.nvim_buf_is_valid(bufnr) then
      left_out[bufnr] = nil
    else
      for _, item in ipairs(items) do
        found[item.lhs] = item
      end
    end
  end
  local all = vim.tbl_values(found)
  table.sort(all, function(a, b)
    return a.lhs < b.lhs
  end)
  return all
end

return M
