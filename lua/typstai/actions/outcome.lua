-- What became of a text action, in one sentence.
local M = {}

local EMPTY = {
  ["no-target"] = "there is no prose to work on.",
  ["no-content"] = "there is no text to work on.",
  ["no-output"] = "the model answered nothing that can be used.",
  ["no-change"] = "nothing to change.",
}
local MAX_WARNINGS = 3

---@class typstai.ActionResult
---@field status "applied"|"stale"|"empty"|"failed"
---@field reason string "no-target", "no-content", "no-output", "no-change"; "aborted", "error"
---@field warnings string[]
---@field error? string one sentence; of "aborted", why, when the user did not ask for it
---@field proposal? string id of the proposal
---@field changes? integer how many hunks it has

local function warned(warnings)
  local shown = table.concat(vim.list_slice(warnings, 1, MAX_WARNINGS), ", ")
  local rest = #warnings - MAX_WARNINGS
  return rest > 0 and ("%s and %d more"):format(shown, rest) or shown
end

local function applied(result)
  local count = result.changes == 1 and "1 change" or result.changes .. " changes"
  if #result.warnings == 0 then
    return count .. " proposed.", "info"
  end
  return ("%s proposed; check it: %s."):format(count, warned(result.warnings)), "warn"
end

local function sentence(result)
  if result.status == "applied" then
    return applied(result)
  elseif result.status == "stale" then
    return "you changed the passage meanwhile, so nothing was proposed.", "warn"
  elseif result.status == "empty" then
    return EMPTY[result.reason], "info"
  elseif result.reason == "aborted" then
    local why = result.error or ""
    return why ~= "" and ("stopped, because %s."):format(why) or "stopped.", "info"
  end
  return result.error, "error"
end

--- Tells the user.
---@param action string
---@param result typstai.ActionResult
function M.tell(action, result)
  local text, level = sentence(result)
  require("typstai.message").show({ message = action .. ": " .. text, level = level })
end

return M
