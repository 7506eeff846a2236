-- The `<Plug>` maps of the user's own actions; those of the built-in ones are there from the start.
local M = {}

--- Defines `<Plug>(typstai-ID)` for each action of the options whose id can stand in a map.
function M.define_own()
  for _, action in ipairs(require("typstai.actions.known").own()) do
    local id = action.id
    if id:find("^%l[%l%d_-]*$") then
      vim.keymap.set({ "n", "x" }, ("<Plug>(typstai-%s)"):format(id), function()
        return require("typstai.actions").operator(id)
      end, { expr = true, desc = "typstai: " .. id })
    end
  end
end

return M
