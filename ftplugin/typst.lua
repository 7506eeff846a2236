-- The keys of the text actions in Typst buffers. A key that is taken stays what it is, and
-- an action that the user has mapped elsewhere gets no second key.
local undo = {}

for name, lhs in pairs(require("typstai.config").get().keymaps.actions) do
  local plug = ("<Plug>(typstai-%s)"):format(name)
  if name ~= "stop" and lhs and lhs ~= "" then
    for _, mode in ipairs({ "n", "x" }) do
      if vim.fn.hasmapto(plug, mode) == 0 and vim.fn.maparg(lhs, mode) == "" then
        vim.keymap.set(mode, lhs, plug, { buffer = true, remap = true, desc = "typstai: " .. name })
        table.insert(undo, ("silent! %sunmap <buffer> %s"):format(mode, lhs))
      end
    end
  end
end

-- Neovim's own settings for Typst may come after these and begin the list of what to undo
-- anew, so this is added once all are done.
local bufnr = vim.api.nvim_get_current_buf()
vim.schedule(function()
  if vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].filetype == "typst" then
    local before = vim.b[bufnr].undo_ftplugin
    if before and before ~= "" then
      table.insert(undo, 1, before)
    end
    -- No blanks: those before a bar would count as part of the key.
    vim.b[bufnr].undo_ftplugin = table.concat(undo, "|")
  end
end)
