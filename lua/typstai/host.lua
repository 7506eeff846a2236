-- The Python host process: found, registered, started on first use, restarted
-- after a crash, and explained when it fails.
local M = {}

local NAME = "typstai"

---@type "stopped"|"starting"|"running"|"failed"
M.state = "stopped"
---@type typstai.Error|nil
M.failure = nil

local stderr = {}

--- Folder of this plugin.
local function root()
  local here = debug.getinfo(1, "S").source:sub(2)
  return vim.fn.fnamemodify(here, ":p:h:h:h")
end

--- Folder that holds chats, checkpoints and the plugin's own environment.
function M.data_dir()
  return vim.g.typstai_data or vim.fs.joinpath(vim.fn.stdpath("data"), "typstai")
end

--- The interpreter that runs the Python half: `vim.g.typstai_python`, else the
--- environment made by `:TypstAI install`, else nil.
---@return string|nil
function M.python()
  if vim.g.typstai_python then
    return vim.g.typstai_python
  end
  local own = vim.fs.joinpath(M.data_dir(), "venv", "bin", "python")
  return vim.fn.executable(own) == 1 and own or nil
end

function M.package()
  return vim.fs.joinpath(root(), "rplugin", "python3", "typstai")
end

return M
