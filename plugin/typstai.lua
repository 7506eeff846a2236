if vim.g.loaded_typstai or vim.fn.has("nvim-0.10") == 0 then
  return
end
vim.g.loaded_typstai = true

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
