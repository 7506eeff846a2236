-- The keys of a chat buffer. One key may mean an action at a line of the transcript, a
-- step into the prompt elsewhere in it, and itself in the prompt.
local M = {}

-- Keys that begin to write, and what they become once the cursor is at the prompt's end.
local WRITING = { i = "A", I = "A", a = "A", A = "A", o = "A", O = "A", p = "p", P = "p" }
local ACTIONS = {
  "accept",
  "reject",
  "accept_all",
  "reject_all",
  "edit",
  "diff",
  "once",
  "run",
  "deny",
  "revert",
  "snapshot",
}
local UNDO = { u = "undo", ["<C-r>"] = "redo" }

-- What the expression map decided to do; its keys may not change text themselves.
---@type fun()|nil
local todo

--- Does what the key just pressed stands for.
function M.run_todo()
  local act = todo
  todo = nil
  if act then
    act()
  end
end

local DO = '<Cmd>lua require("typstai.chat.keys").run_todo()<CR>'

local function keys_of_actions(keys)
  local by_key = {}
  for _, name in ipairs(ACTIONS) do
    if keys[name] then
      by_key[keys[name]] = by_key[keys[name]] or {}
      table.insert(by_key[keys[name]], name)
    end
  end
  return by_key
end

local function begin_writing(view, key)
  todo = function()
    view.cursor:enter_prompt()
  end
  local register = key == "p" and '"' .. vim.v.register or ""
  return DO .. register .. key
end

local function in_transcript(view, lhs, names, block)
  local available = require("typstai.chat.actions").at(view, block)
  for _, name in ipairs(names) do
    if available[name] then
      todo = available[name]
      return DO
    end
  end
  if WRITING[lhs] then
    return begin_writing(view, WRITING[lhs])
  end
  return UNDO[lhs] and "" or lhs
end

--- What a key becomes, as an expression map.
local function press(view, lhs, names)
  local block = view.cursor:block()
  if block then
    return in_transcript(view, lhs, names, block)
  elseif UNDO[lhs] then
    todo = function()
      view.prompt[UNDO[lhs]](view.prompt)
    end
    return DO
  end
  return lhs
end

--- Takes the character being typed to the prompt, ahead of the keys that already wait.
---@param view typstai.ui.View
function M.type_in_prompt(view)
  local char = vim.v.char
  vim.api.nvim_set_vvar("char", "")
  todo = function()
    view.cursor:enter_prompt()
  end
  local keys = vim.api.nvim_replace_termcodes(DO, true, true, true) .. char
  vim.api.nvim_feedkeys(keys, "in", false)
end

local function map(view, mode, lhs, rhs, desc, expr)
  if lhs then
    vim.keymap.set(mode, lhs, rhs, {
      buffer = view.surface.bufnr,
      desc = "typstai: " .. desc,
      expr = expr,
      nowait = true,
    })
  end
end

local function map_shared_keys(view, keys)
  local by_key = keys_of_actions(keys)
  for _, table_of_keys in ipairs({ WRITING, UNDO }) do
    for lhs in pairs(table_of_keys) do
      by_key[lhs] = by_key[lhs] or {}
    end
  end
  for lhs, names in pairs(by_key) do
    map(view, "n", lhs, function()
      return press(view, lhs, names)
    end, "act on the line, or write", true)
  end
end

local function stop_or_leave()
  if not require("typstai.chat").stop() and vim.fn.mode():find("^[iR]") then
    vim.cmd.stopinsert()
  end
end

--- Defines the keys of a chat's buffer.
---@param view typstai.ui.View
function M.define(view)
  local chat = require("typstai.chat")
  local keys = require("typstai.config").get().keymaps.chat
  local function unfold()
    view:act("unfold")
  end
  local function step(direction)
    return function()
      view.cursor:go_to_message(direction * vim.v.count1)
    end
  end
  map_shared_keys(view, keys)
  map(view, "n", keys.send, function()
    if view.cursor:block() then
      view:act("open")
    else
      chat.send()
    end
  end, "send, or open the line")
  map(view, "i", keys.send_insert, function()
    chat.send()
  end, "send")
  map(view, { "n", "i" }, keys.stop, stop_or_leave, "stop the run")
  map(view, "n", keys.next, step(1), "next message")
  map(view, "n", keys.prev, step(-1), "previous message")
  map(view, "n", keys.unfold, unfold, "show or hide a detail")
  map(view, "n", "za", unfold, "show or hide a detail")
  map(view, "n", keys.help, function()
    require("typstai.chat.help").open()
  end, "show the keys")
  map(view, "n", keys.close, chat.close, "close the chat")
end

return M
