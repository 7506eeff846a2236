-- Replaces lines of a buffer by others and touches only those that differ, so that
-- cursors, marks and views elsewhere stay where they are.
local M = {}

local function common_prefix(old, new)
  local count, most = 0, math.min(#old, #new)
  while count < most and old[count + 1] == new[count + 1] do
    count = count + 1
  end
  return count
end

local function common_suffix(old, new, prefix)
  local count, most = 0, math.min(#old, #new) - prefix
  while count < most and old[#old - count] == new[#new - count] do
    count = count + 1
  end
  return count
end

--- `old` are the lines that stand in the buffer from `row0` on.
---@param bufnr integer
---@param row0 integer
---@param old string[]
---@param new string[]
function M.lines(bufnr, row0, old, new)
  local prefix = common_prefix(old, new)
  if prefix == #old and prefix == #new then
    return
  end
  local suffix = common_suffix(old, new, prefix)
  local lines = vim.list_slice(new, prefix + 1, #new - suffix)
  local first0, last0 = row0 + prefix, row0 + #old - suffix
  vim.api.nvim_buf_set_lines(bufnr, first0, last0, true, lines)
end

return M
