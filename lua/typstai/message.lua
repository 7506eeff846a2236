-- The one place from which messages reach the user: titled, short, once.
local M = {}

local TITLE = "typstai"
local LONGEST = 400

-- Sentences on their way: the same one again, before it is shown, has the same cause.
---@type table<string, true>
local coming = {}

---@class typstai.Message
---@field message string
---@field level? "debug"|"info"|"warn"|"error"

--- Where messages go. Replace it to send them elsewhere.
---@type fun(message: string, level: integer, opts: { title: string })
M.sink = function(message, level, opts)
  require("typstai.message.room").make(message)
  vim.notify(message, level, opts)
end

local function one_line(text)
  local line = vim.trim((text:gsub("[%z\1-\31\127]+", " ")))
  if #line <= LONGEST then
    return line
  end
  return vim.fn.strcharpart(line, 0, LONGEST) .. "…"
end

--- Shows one sentence, as soon as Neovim can; works from any context.
---@param args typstai.Message
function M.show(args)
  local level = vim.log.levels[(args.level or "info"):upper()] or vim.log.levels.INFO
  local text = one_line(args.message)
  if coming[text] then
    return
  end
  coming[text] = true
  vim.schedule(function()
    coming[text] = nil
    M.sink(text, level, { title = TITLE })
  end)
end

return M
