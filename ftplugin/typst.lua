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

local before = vim.b.undo_ftplugin
if before and before ~= "" then
  table.insert(undo, 1, before)
end
vim.b.undo_ftplugin = table.concat(undo, " | ")
