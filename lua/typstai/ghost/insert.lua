-- Puts accepted ghost text into the buffer, as keys that the user could have typed.
--
-- So it does what typing does: 'textwidth' breaks lines, the tail of the line and the other
-- windows stay where they are, and the dot command repeats it together with what was typed
-- around it. It is an undo step of its own. It works from an `expr` map, where the buffer
-- must not be changed. No map and no abbreviation sees these keys. Nothing is shown while a
-- macro is recorded, so a macro never holds a key that means something else when played.
local M = {}

local BREAK_UNDO = vim.keycode("<C-g>u")
local LITERALLY = vim.keycode("<C-v>")
local K_SPECIAL = "\128"
local ESCAPED_K_SPECIAL = "\128\254X"

-- What would add to a new line or change it. The text brings its own indent.
local EXACT = {
  autoindent = false,
  smartindent = false,
  cindent = false,
  indentexpr = "",
  comments = "",
}

local BEGIN_EXACT = vim.keycode("<Cmd>lua require('typstai.ghost.insert').begin_exact()<CR>")
local END_EXACT = vim.keycode("<Cmd>lua require('typstai.ghost.insert').end_exact()<CR>")

---@type { bufnr: integer, options: table<string, any> }|nil
local saved

--- Called by the keys themselves, before the lines that follow the first.
function M.begin_exact()
  M.end_exact()
  saved = { bufnr = vim.api.nvim_get_current_buf(), options = {} }
  for name, value in pairs(EXACT) do
    saved.options[name] = vim.bo[name]
    vim.bo[name] = value
  end
end

--- Called by the keys behind those lines, and whenever insert mode ends before that.
function M.end_exact()
  local kept = saved
  saved = nil
  if kept and vim.api.nvim_buf_is_valid(kept.bufnr) then
    for name, value in pairs(kept.options) do
      vim.bo[kept.bufnr][name] = value
    end
  end
end

-- A model's text is data: no byte of it may act as a key.
local function keys_for_line(line)
  local safe = line:gsub("[%z\1-\8\11-\31\127]", ""):gsub("\t", LITERALLY .. "\t")
  return (safe:gsub(K_SPECIAL, ESCAPED_K_SPECIAL))
end

--- Types the text at the cursor, before whatever the user has typed ahead.
---@param text string
function M.type(text)
  local lines = vim.tbl_map(keys_for_line, vim.split(text, "\n", { plain = true }))
  local keys = lines[1]
  if #lines > 1 then
    local rest = table.concat(lines, "\r", 2)
    keys = keys .. BEGIN_EXACT .. "\r" .. rest .. END_EXACT
  end
  vim.api.nvim_feedkeys(BREAK_UNDO .. keys .. BREAK_UNDO, "in", false)
end

return M
