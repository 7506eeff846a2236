-- Key maps that are lent to a buffer: what the user had there comes back unchanged.
local M = {}

---@class typstai.Mapping
---@field modes string[]
---@field lhs string
---@field rhs string|function
---@field opts? vim.keymap.set.Opts

local function buffer_map(lhs, mode)
  local map = vim.fn.maparg(lhs, mode, false, true)
  return map.buffer == 1 and map or nil
end

-- The user's own maps under a key, by mode. Asked for before any of ours is set: one
-- map of theirs may span several modes.
local function saved_maps(mapping)
  local saved = {}
  for _, mode in ipairs(mapping.modes) do
    saved[mode] = buffer_map(mapping.lhs, mode)
  end
  return saved
end

local function give_back(bufnr, mapping, saved)
  for _, mode in ipairs(mapping.modes) do
    local current = buffer_map(mapping.lhs, mode)
    -- A map that the user made meanwhile is theirs and stays.
    if current and current.desc == mapping.opts.desc then
      vim.keymap.del(mode, mapping.lhs, { buffer = bufnr })
      if saved[mode] then
        vim.fn.mapset(saved[mode])
      end
    end
  end
end

--- Sets buffer-local maps and returns the function that undoes it.
---@param bufnr integer
---@param mappings typstai.Mapping[] each with a `desc` of its own in `opts`
---@return fun()
function M.lend(bufnr, mappings)
  local saved = {}
  vim.api.nvim_buf_call(bufnr, function()
    for i, mapping in ipairs(mappings) do
      saved[i] = saved_maps(mapping)
    end
  end)
  for _, mapping in ipairs(mappings) do
    local opts = vim.tbl_extend("error", mapping.opts, { buffer = bufnr, nowait = true })
    vim.keymap.set(mapping.modes, mapping.lhs, mapping.rhs, opts)
  end
  return function()
    if not vim.api.nvim_buf_is_valid(bufnr) then
      return
    end
    vim.api.nvim_buf_call(bufnr, function()
      for i = #mappings, 1, -1 do
        give_back(bufnr, mappings[i], saved[i])
      end
    end)
  end
end

return M
