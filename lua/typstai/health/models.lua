-- The part of :checkhealth about options and models. Python is asked what it makes of them, in
-- a process of its own: looking starts no helper.
local M = {}

local WAIT_MS = 20000
local EXAMINE =
  "import sys; sys.path.insert(0, sys.argv[1]); from typstai.app.examine import main; main()"

---@class typstai.ExaminedModel
---@field name string
---@field where string its address
---@field key string where its key comes from, never the key; "" for none
---@field unset string the variable that should hold it and does not exist; "" for none
---@field error string why it cannot be used; "" when it can

local function ask(python)
  local host = require("typstai.host")
  local folder = vim.fs.joinpath(host.root(), "rplugin", "python3")
  local command = { python, "-E", "-P", "-c", EXAMINE, folder }
  local options = vim.json.encode(require("typstai.config").get())
  local result = vim.system(command, { text = true, stdin = options }):wait(WAIT_MS)
  return result.code == 0 and vim.json.decode(result.stdout) or nil
end

-- What Python finds; nil where it cannot be asked, which the section above explains.
---@return { problems: string[], models: typstai.ExaminedModel[] }|nil
local function examined()
  local python = require("typstai.host").python()
  local ok, found = pcall(ask, python)
  return python and ok and found or nil
end

local function options(found)
  local problems = vim.list_slice(require("typstai.config").problems)
  for _, problem in ipairs(found and found.problems or {}) do
    if not vim.tbl_contains(problems, problem) then
      table.insert(problems, problem)
    end
  end
  for _, problem in ipairs(problems) do
    vim.health.warn(problem, { "See :help typstai-options." })
  end
  if #problems == 0 then
    vim.health.ok("The options are valid.")
  end
end

---@param model typstai.ExaminedModel
local function tell(model)
  if model.error ~= "" then
    vim.health.warn(("%s: %s"):format(model.name, model.error))
  elseif model.unset ~= "" then
    vim.health.warn(("%s: the variable %s is not set."):format(model.name, model.unset))
  else
    local key = model.key ~= "" and (", key from %s"):format(model.key) or ""
    vim.health.ok(("%s: %s%s"):format(model.name, model.where, key))
  end
end

--- Reports the options, then each model: where it is and where its key comes from.
function M.check()
  local found = examined()
  options(found)
  if #require("typstai.config").get().models == 0 then
    vim.health.info("No models are configured: what a key or a local server offers is used.")
  end
  for _, model in ipairs(found and found.models or {}) do
    tell(model)
  end
end

return M
