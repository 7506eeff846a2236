-- The chats that have a buffer, and the windows of this tab page that show one.
local M = {}

---@type typstai.ui.View[] in order of arrival
local all = {}
---@type typstai.ui.View|nil the one shown last
local current

---@param view typstai.ui.View
function M.add(view)
  table.insert(all, view)
end

--- Forgets a chat and deletes its buffer.
---@param view typstai.ui.View
function M.remove(view)
  all = vim.tbl_filter(function(other)
    return other ~= view
  end, all)
  if current == view then
    current = nil
  end
  local bufnr = view.surface.bufnr
  if vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_delete(bufnr, { force = true })
  end
end

--- Every chat that has a buffer. One whose buffer the user unloaded is none any more.
---@return typstai.ui.View[]
function M.list()
  for _, view in ipairs(vim.list_slice(all)) do
    if not vim.api.nvim_buf_is_loaded(view.surface.bufnr) then
      M.remove(view)
    end
  end
  return all
end

-- No `vim.iter`: Neovim would load its file when the user presses <C-c>, and lose the key.
local function find(wanted)
  for _, view in ipairs(M.list()) do
    if wanted(view) then
      return view
    end
  end
end

---@param id string
---@return typstai.ui.View|nil
function M.get(id)
  return find(function(view)
    return view.id == id
  end)
end

---@param bufnr integer
---@return typstai.ui.View|nil
function M.of_buffer(bufnr)
  return find(function(view)
    return view.surface.bufnr == bufnr
  end)
end

--- The chat in the current window, else the one shown last.
---@return typstai.ui.View|nil
function M.here()
  local here = M.of_buffer(vim.api.nvim_get_current_buf())
  return here or find(function(view)
    return view == current
  end)
end

--- The chat that a file or folder most likely belongs to, before Python knows better.
---@param path string
---@return typstai.ui.View|nil
function M.of_path(path)
  local best
  for _, view in ipairs(M.list()) do
    local inside = view.id and vim.startswith(path, view.project .. "/")
    local better = not best or #view.project > #best.project
    local newer = best and #view.project == #best.project and best ~= current
    if inside and (better or newer) then
      best = view
    end
  end
  return best
end

--- Windows of this tab page that show a chat.
---@return integer[]
function M.windows_here()
  return vim.tbl_filter(function(win)
    return M.of_buffer(vim.api.nvim_win_get_buf(win)) ~= nil
  end, vim.api.nvim_tabpage_list_wins(0))
end

--- Shows a chat in this tab page and goes to its prompt.
---@param view typstai.ui.View
function M.show(view)
  require("typstai.chat.outbox").note_document()
  local win = M.windows_here()[1]
  if win then
    vim.api.nvim_set_current_win(win)
    if vim.api.nvim_win_get_buf(win) ~= view.surface.bufnr then
      vim.api.nvim_win_set_buf(win, view.surface.bufnr)
    end
  else
    require("typstai.chat.window").open(view.surface.bufnr)
  end
  view.cursor:enter_prompt()
  require("typstai.chat.window").show_end(vim.api.nvim_get_current_win())
  current = view
end

local function last_place(view)
  return { view.surface.border0 + #view.surface.prompt, #view.surface.prompt[#view.surface.prompt] }
end

--- Puts a chat into the windows of another one.
---@param old typstai.ui.View
---@param new typstai.ui.View
---@param done fun() called when no window shows the old one any more
function M.replace(old, new, done)
  if current == old then
    current = new
  end
  require("typstai.ui.cmdwin").after(function()
    for _, win in ipairs(old:windows()) do
      vim.api.nvim_win_set_buf(win, new.surface.bufnr)
      vim.api.nvim_win_set_cursor(win, last_place(new))
      require("typstai.chat.window").show_end(win)
    end
    done()
  end)
end

return M
