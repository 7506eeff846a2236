-- `require("typstai").proposals`: proposed changes.
local arguments = require("typstai.arguments")

local M = {}

local function decide(method, id, opts)
  local problem = arguments.wrong(
    "proposals." .. method,
    { "id", id, "a string?" },
    { "opts", opts, "a table?" },
    { "opts.hunk", arguments.field(opts, "hunk"), "a string?" },
    { "opts.reason", arguments.field(opts, "reason"), "a string?" }
  )
  if problem then
    return nil, problem
  end
  return require("typstai.proposals")[method](id, opts or {})
end

---@param bufnr? integer 0: the current one; without it, of all
---@return table[]|nil, typstai.Error|nil
function M.list(bufnr)
  local problem = arguments.wrong("proposals.list", { "bufnr", bufnr, "the number of a buffer?" })
  if problem then
    return nil, problem
  end
  return require("typstai.proposals").list(bufnr)
end

--- Accepts a proposal or one of its hunks; without an id, the hunk under the cursor.
---@param id? string
---@param opts? { hunk?: string }
function M.accept(id, opts)
  return decide("accept", id, opts)
end

---@param id? string
---@param opts? { hunk?: string, reason?: string }
function M.reject(id, opts)
  return decide("reject", id, opts)
end

--- Replaces what a hunk would write; without a text, opens it to be edited.
---@param id? string without it, the hunk under the cursor
---@param hunk? string
---@param text? string
function M.edit(id, hunk, text)
  local problem = arguments.wrong(
    "proposals.edit",
    { "id", id, "a string?" },
    { "hunk", hunk, "a string?" },
    { "text", text, "a string?" }
  )
  if problem then
    return nil, problem
  end
  return require("typstai.proposals").edit(id, hunk, text)
end

return M
