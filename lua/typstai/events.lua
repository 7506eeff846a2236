-- Tells the user's own code what happens: `User` autocommands with data.
local M = {}

--- Runs the autocommands of `User {name}` as soon as Neovim can. An error in one of
--- them is reported by Neovim and stops nothing here.
---@param args { name: string, data?: table }
function M.emit(args)
  vim.schedule(function()
    vim.api.nvim_exec_autocmds("User", {
      pattern = args.name,
      data = args.data or {},
      modeline = false,
    })
  end)
end

return M
