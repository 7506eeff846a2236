-- The keys of the text actions in Typst buffers. They are set once everybody else who cares for
-- the file type is done: what the user maps there comes first, and Neovim's own settings for
-- Typst may begin the list of what to undo anew.
local bufnr = vim.api.nvim_get_current_buf()
vim.schedule(function()
  if vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].filetype == "typst" then
    local undo = vim.api.nvim_buf_call(bufnr, require("typstai.actions.keys").attach)
    local before = vim.b[bufnr].undo_ftplugin
    if before and before ~= "" then
      table.insert(undo, 1, before)
    end
    -- No blanks: those before a bar would count as part of the key.
    vim.b[bufnr].undo_ftplugin = table.concat(undo, "|")
  end
end)
