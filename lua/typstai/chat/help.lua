-- The keys of the chat in a small window, as they are configured.
local M = {}

local FIXED = {
  { "i a o p", "Write in the prompt, from anywhere." },
  { "u <C-r>", "Undo and redo in the prompt." },
  { "za", "Show or hide a detail." },
}
local ASCII_BORDER = { "+", "-", "+", "|", "+", "-", "+", "|" }
local PREFIX = "keymaps.chat."

--- Every key and what it does, in the order of the options.
---@return { [1]: string, [2]: string }[]
function M.entries()
  local config = require("typstai.config")
  local keys = config.get().keymaps.chat
  local entries = {}
  for _, option in ipairs(config.SCHEMA) do
    local name = vim.startswith(option[1], PREFIX) and option[1]:sub(#PREFIX + 1)
    if name and keys[name] then
      table.insert(entries, { keys[name], option.help })
    end
  end
  return vim.list_extend(entries, FIXED)
end

local function layout(entries)
  local widest, lines = 0, {}
  for _, entry in ipairs(entries) do
    widest = math.max(widest, vim.api.nvim_strwidth(entry[1]))
  end
  for _, entry in ipairs(entries) do
    local gap = (" "):rep(widest - vim.api.nvim_strwidth(entry[1]) + 2)
    table.insert(lines, " " .. entry[1] .. gap .. entry[2] .. " ")
  end
  return lines, widest + 1
end

local function open_float(bufnr, lines)
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line))
  end
  width = math.min(width, vim.o.columns - 4)
  local height = math.min(#lines, vim.o.lines - 6)
  return vim.api.nvim_open_win(bufnr, true, {
    relative = "editor",
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
    width = width,
    height = height,
    style = "minimal",
    border = require("typstai.config").get().ui.ascii and ASCII_BORDER or "rounded",
    title = " typstai: keys in the chat ",
    title_pos = "center",
  })
end

--- Opens the window; `q`, `<Esc>` or leaving it closes it.
function M.open()
  local lines, key_width = layout(M.entries())
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  local namespace = vim.api.nvim_create_namespace("typstai.help")
  for row0 = 0, #lines - 1 do
    vim.api.nvim_buf_set_extmark(bufnr, namespace, row0, 0, {
      end_col = math.min(key_width, #lines[row0 + 1]),
      hl_group = "TypstAIToolName",
    })
  end
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].bufhidden = "wipe"
  local win = open_float(bufnr, lines)
  local function close()
    if vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_win_close(win, true)
    end
  end
  for _, key in ipairs({ "q", "<Esc>", "g?" }) do
    vim.keymap.set("n", key, close, { buffer = bufnr, nowait = true })
  end
  vim.api.nvim_create_autocmd("BufLeave", { buffer = bufnr, once = true, callback = close })
end

return M
