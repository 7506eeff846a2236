if vim.g.loaded_typstai then
  return
end
vim.g.loaded_typstai = true

if vim.fn.has("nvim-0.10") == 0 then
  vim.api.nvim_create_user_command("TypstAI", function()
    vim.notify("typstai needs Neovim 0.10 or later.", vim.log.levels.ERROR, { title = "typstai" })
  end, { nargs = "*", range = true })
  return
end

vim.api.nvim_create_user_command("TypstAI", function(args)
  require("typstai.commands").run(args)
end, {
  nargs = "*",
  range = true,
  desc = "AI writing partner for Typst",
  complete = function(lead, line)
    return require("typstai.commands").complete(lead, line)
  end,
})

local ACTIONS = { "rephrase", "simplify", "style", "translate", "continue", "fix", "ask", "redact" }

for _, id in ipairs(ACTIONS) do
  vim.keymap.set({ "n", "x" }, ("<Plug>(typstai-%s)"):format(id), function()
    return require("typstai.actions").operator(id)
  end, { expr = true, desc = "typstai: " .. id })
end
