-- A change inside a closed fold cannot be seen: its sign stands on the line that the fold
-- shows, for as long as it is closed.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("typstai.review.folds")
local DRAWN = api.nvim_create_namespace("typstai.review")

-- The sign of a change in the rows, both inclusive, or nil.
local function sign_within(bufnr, first, last)
  local options = { limit = 1, type = "sign", details = true }
  local mark = api.nvim_buf_get_extmarks(bufnr, DRAWN, { first, 0 }, { last, -1 }, options)[1]
  return mark and { text = mark[4].sign_text, group = mark[4].sign_hl_group }
end

-- Adds the closed folds of the current window that can be seen, by their first row.
local function add_folds(bufnr, signs)
  local line, last = vim.fn.line("w0"), vim.fn.line("w$")
  while line <= last do
    local finish = vim.fn.foldclosedend(line)
    if finish > line then
      signs[line - 1] = signs[line - 1] or sign_within(bufnr, line, finish - 1)
    end
    line = math.max(finish, line) + 1
  end
end

local function wanted(bufnr)
  local signs = {}
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    api.nvim_win_call(win, function()
      add_folds(bufnr, signs)
    end)
  end
  return signs
end

-- Setting a mark redraws: what stands there already must stay untouched.
local function update(bufnr)
  local signs = wanted(bufnr)
  for _, mark in ipairs(api.nvim_buf_get_extmarks(bufnr, NS, 0, -1, { details = true })) do
    local sign = signs[mark[2]]
    if sign and sign.text == mark[4].sign_text and sign.group == mark[4].sign_hl_group then
      signs[mark[2]] = nil
    else
      api.nvim_buf_del_extmark(bufnr, NS, mark[1])
    end
  end
  for row, sign in pairs(signs) do
    local options = { sign_text = sign.text, sign_hl_group = sign.group, priority = 19 }
    api.nvim_buf_set_extmark(bufnr, NS, row, 0, options)
  end
end

---@type table<integer, boolean> buffers under review; true while an update is on its way
local followed = {}

-- No event tells of a fold that opens or closes, but its window is drawn again.
local function on_win(_, _, bufnr)
  if followed[bufnr] == false then
    followed[bufnr] = true
    vim.schedule(function()
      if followed[bufnr] and api.nvim_buf_is_loaded(bufnr) then
        followed[bufnr] = false
        update(bufnr)
      end
    end)
  end
  return false
end

--- Begins to mark the closed folds of a buffer that hold a change.
---@param bufnr integer
function M.follow(bufnr)
  followed[bufnr] = false
  api.nvim_set_decoration_provider(NS, { on_win = on_win })
end

--- Ends it.
---@param bufnr integer
function M.leave(bufnr)
  followed[bufnr] = nil
  if api.nvim_buf_is_valid(bufnr) then
    api.nvim_buf_clear_namespace(bufnr, NS, 0, -1)
  end
end

return M
