-- The highlight groups. All but one link to stock groups, so every colour scheme fits;
-- a group that the user or a scheme defines is left as it is.
local M = {}

---@type table<string, string>
M.LINKS = {
  TypstAIAdd = "DiffAdd",
  TypstAIAssistant = "Title",
  TypstAIDelete = "DiffDelete",
  TypstAIDeleted = "Removed",
  TypstAIDetail = "Comment",
  TypstAIDim = "Comment",
  TypstAIError = "DiagnosticError",
  TypstAIHint = "Comment",
  TypstAIHunk = "DiffText",
  TypstAIHunkHeader = "Comment",
  TypstAIReasoning = "Comment",
  TypstAIRule = "NonText",
  TypstAISign = "DiagnosticSignHint",
  TypstAIStale = "DiagnosticWarn",
  TypstAIToolCancelled = "Comment",
  TypstAIToolDone = "DiagnosticOk",
  TypstAIToolFailed = "DiagnosticError",
  TypstAIToolName = "Function",
  TypstAIToolRunning = "Comment",
  TypstAIToolWaiting = "DiagnosticWarn",
  TypstAIUser = "Title",
}

local function link_all()
  for group, target in pairs(M.LINKS) do
    vim.api.nvim_set_hl(0, group, { link = target, default = true })
  end
  -- No stock group is a line through the text and nothing else.
  vim.api.nvim_set_hl(0, "TypstAIStrike", { strikethrough = true, default = true })
end

local done = false

--- Defines the groups now and again after every change of the colour scheme.
function M.setup()
  if done then
    return
  end
  done = true
  link_all()
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = vim.api.nvim_create_augroup("typstai.highlights", {}),
    desc = "typstai: link the highlight groups again",
    callback = link_all,
  })
end

return M
