-- A document that is closed takes what works on it along.
local M = {}

--- Calls `gone` once the buffer is unloaded for good; reading it anew unloads it too.
---@param bufnr integer
---@param gone fun()
---@return fun() forget
function M.watch(bufnr, gone)
  local id = vim.api.nvim_create_autocmd("BufUnload", {
    buffer = bufnr,
    desc = "typstai: end the action in a document that is closed",
    callback = vim.schedule_wrap(function()
      if not vim.api.nvim_buf_is_loaded(bufnr) then
        gone()
      end
    end),
  })
  return function()
    -- A buffer that is wiped takes its autocommands along.
    pcall(vim.api.nvim_del_autocmd, id)
  end
end

return M
