-- How wide new lines may be drawn. A sign column that appears by itself takes its cells from
-- the text only when the screen is next drawn: until then they are counted here.
local M = {}

local SIGN_CELLS = 2
local DEFAULT_WIDTH = 80
local MIN_WIDTH = 20

-- Cells of the line numbers, as Neovim counts them.
local function number_cells(win, info)
  local options = vim.wo[win]
  if not (options.number or options.relativenumber) then
    return 0
  end
  local highest = options.number and vim.api.nvim_buf_line_count(info.bufnr) or info.height
  return math.max(#tostring(highest), options.numberwidth - 1) + 1
end

-- Cells of the signs that are on the screen; nil where nobody can tell.
local function shown_sign_cells(win, info)
  local fold_cells = tonumber(vim.wo[win].foldcolumn)
  if vim.wo[win].statuscolumn ~= "" or not fold_cells then
    return nil
  end
  return info.textoff - number_cells(win, info) - fold_cells
end

local function cells_to_come(win, info)
  if not vim.startswith(vim.wo[win].signcolumn, "auto") then
    return 0
  end
  return (shown_sign_cells(win, info) or 0) < SIGN_CELLS and SIGN_CELLS or 0
end

--- Cells for text in the narrowest window that shows a buffer, its signs beside it.
---@param bufnr integer
---@return integer
function M.of_text(bufnr)
  local narrowest = nil
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local info = vim.fn.getwininfo(win)[1]
    local width = info.width - info.textoff - cells_to_come(win, info)
    narrowest = math.min(narrowest or width, width)
  end
  return math.max(narrowest or DEFAULT_WIDTH, MIN_WIDTH)
end

return M
