-- The command-line window: while it is open, Neovim opens and enters no other (E11).
local M = {}

--- Why no window can be opened now, if so. Code: `cmdwin`.
---@return typstai.Error|nil
function M.refusal()
  if vim.fn.getcmdwintype() ~= "" then
    return { code = "cmdwin", message = "Close the command-line window first: <C-c> does." }
  end
end

--- Runs `run` now, or once the command-line window is closed.
---@param run fun()
function M.after(run)
  if not M.refusal() then
    run()
    return
  end
  vim.api.nvim_create_autocmd("CmdwinLeave", {
    once = true,
    desc = "typstai: do what had to wait",
    callback = vim.schedule_wrap(run),
  })
end

return M
