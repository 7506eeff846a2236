-- `require("typstai").ghost`: ghost text.
local arguments = require("typstai.arguments")

local M = {}

--- Switches ghost text on or off: everywhere, in a project, or in a buffer.
---@param is_on boolean
---@param opts? { bufnr?: integer, project?: string|true } 0 and true: the current one
---@return true|nil, typstai.Error|nil
function M.enable(is_on, opts)
  local problem = arguments.wrong(
    "ghost.enable",
    { "is_on", is_on, "true or false" },
    { "opts", opts, "a table?" },
    { "opts.bufnr", arguments.field(opts, "bufnr"), "the number of a buffer?" },
    { "opts.project", arguments.field(opts, "project"), "a folder, or true?" }
  )
  if problem then
    return nil, problem
  end
  require("typstai.ghost").enable(is_on, opts)
  return true
end

--- Asks for ghost text at the cursor now, in code and in the middle of a line too.
function M.trigger()
  require("typstai.ghost").trigger()
end

--- Whether ghost text is shown.
---@return boolean
function M.visible()
  return require("typstai.ghost").visible()
end

--- Types the ghost text, or a part of it, into the buffer; works from `expr` maps too.
---@param part? "all"|"word"|"line"
---@return boolean accepted false when none was shown
---@return typstai.Error|nil
function M.accept(part)
  local problem = arguments.wrong("ghost.accept", { "part", part, "all, word or line?" })
  if problem then
    return false, problem
  end
  return require("typstai.ghost").accept(part)
end

--- Takes the ghost text away and gives up what was asked for.
function M.dismiss()
  require("typstai.ghost").dismiss()
end

return M
