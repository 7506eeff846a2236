-- What the plugin is doing, in one table: told by Python, read by the statusline,
-- the chat's winbar and the public API.
local M = {}

---@type typstai.Status
local status = {
  running = false,
  chat = nil,
  model = "",
  mode = "edit",
  approval = "review",
  pending = 0,
  host = "stopped",
  ghost = "off",
}

---@type fun()[]
local listeners = {}

--- Takes over the fields that Python sends; a field that is `vim.NIL` becomes nil.
---@param changes table
function M.update(changes)
  for name, value in pairs(changes) do
    if value == vim.NIL then
      value = nil
    end
    status[name] = value
  end
  for _, listener in ipairs(listeners) do
    listener()
  end
end

--- Calls `listener` after every update.
---@param listener fun()
function M.on_update(listener)
  table.insert(listeners, listener)
end

-- Ghost text is told by its own module, which is loaded once it is switched on.
local function ghost()
  if package.loaded["typstai.ghost"] then
    return require("typstai.ghost").reason()
  end
  return "off", false
end

--- A copy of the status.
---@return typstai.Status
function M.get()
  local copy = vim.deepcopy(status)
  copy.ghost = ghost()
  return copy
end

--- A short text for a statusline; empty while there is nothing to say.
---@return string
function M.statusline()
  local words = {}
  if status.host == "failed" then
    table.insert(words, "host failed")
  elseif status.running then
    table.insert(words, "writing")
  end
  if status.pending > 0 then
    table.insert(words, status.pending .. " pending")
  end
  local why, is_problem = ghost()
  if is_problem then
    table.insert(words, "ghost text " .. why)
  end
  if #words == 0 then
    return ""
  end
  local text = "typstai: " .. table.concat(words, ", ")
  return (text:gsub("%%", "%%%%"):gsub("%c", " "))
end

return M
