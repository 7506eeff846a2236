-- The text actions there are: the built-in ones, then the user's own.
local M = {}

---@class typstai.Action
---@field id string
---@field title string
---@field ask? "tone"|"language"|"instructions" what the user is asked for first

---@type typstai.Action[]
M.BUILT_IN = {
  { id = "rephrase", title = "Rephrase" },
  { id = "simplify", title = "Simplify" },
  { id = "style", title = "Change the tone", ask = "tone" },
  { id = "translate", title = "Translate", ask = "language" },
  { id = "continue", title = "Continue writing" },
  { id = "fix", title = "Fix spelling and grammar" },
  { id = "ask", title = "Ask for a change", ask = "instructions" },
  { id = "redact", title = "Redact personal data" },
}

--- The user's own actions.
---@return typstai.Action[]
function M.own()
  local found = {}
  for _, own in ipairs(require("typstai.config").get().actions.custom) do
    if type(own) == "table" and type(own.id) == "string" then
      table.insert(found, { id = own.id, title = own.title or own.id })
    end
  end
  return found
end

--- Every action there is: the built-in ones, then the user's own.
---@return typstai.Action[]
function M.list()
  local all = vim.tbl_filter(function(action)
    return action.id ~= "redact" or require("typstai.config").get().actions.redact
  end, M.BUILT_IN)
  return vim.list_extend(all, M.own())
end

--- The action of that name, or nil.
---@param id string
---@return typstai.Action|nil
function M.get(id)
  for _, action in ipairs(vim.list_extend(vim.deepcopy(M.BUILT_IN), M.list())) do
    if action.id == id then
      return action
    end
  end
end

return M
