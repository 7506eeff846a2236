-- The Python host process: found, registered, started on first use, restarted
-- after a crash, and explained when it fails.
local M = {}

local NAME = "typstai"
-- A host that ends more often than this within RESTART_WINDOW_MS stays down.
local MAX_RESTARTS = 3
local RESTART_WINDOW_MS = 60000
local STDERR_LINES = 40

-- Runs pynvim's host on our package and nothing else: the folder goes first, so
-- that no other copy of the package can win.
local BOOT = "import sys; sys.path.insert(0, sys.argv[1]); import pynvim; pynvim.start_host()"

---@type "stopped"|"starting"|"running"|"failed"
M.state = "stopped"
---@type typstai.Error|nil
M.failure = nil
---@type integer|nil
M.pid = nil

local registered = false
local leaving = false
local channel = nil
local stderr = {}
local restarts = {}

--- Folder of this plugin.
function M.root()
  local here = debug.getinfo(1, "S").source:sub(2)
  return vim.fn.fnamemodify(here, ":p:h:h:h")
end

--- Folder that holds chats, checkpoints and the plugin's own environment.
function M.data_dir()
  return vim.g.typstai_data or vim.fs.joinpath(vim.fn.stdpath("data"), "typstai")
end

--- Folder of the log file.
function M.log_dir()
  return vim.fn.stdpath("log")
end

--- The log file.
function M.log_file()
  return vim.fs.joinpath(M.log_dir(), "typstai.log")
end

--- Interpreter that `:TypstAI install` makes.
function M.own_python()
  return vim.fs.joinpath(M.data_dir(), "venv", "bin", "python")
end

--- The interpreter that runs the Python half: `vim.g.typstai_python`, else the
--- environment made by `:TypstAI install`, else nil.
---@return string|nil
function M.python()
  if vim.g.typstai_python then
    return vim.g.typstai_python
  end
  return vim.fn.executable(M.own_python()) == 1 and M.own_python() or nil
end

--- Whether a host runs or is being started; asking starts none.
---@return boolean
function M.is_up()
  return channel ~= nil
end

---@param err typstai.Error
local function fail(err)
  M.state, M.failure, channel = "failed", err, nil
  require("typstai.status").update({ running = false, host = "failed" })
  require("typstai.rpc").fail_all(err)
end

local function may_restart()
  local now = vim.uv.now()
  restarts = vim.tbl_filter(function(at)
    return now - at < RESTART_WINDOW_MS
  end, restarts)
  table.insert(restarts, now)
  return #restarts <= MAX_RESTARTS
end

---@param code integer
local function on_lost(code)
  local lost = { code = "host_lost", message = ("The helper process ended (%d)."):format(code) }
  require("typstai.rpc").fail_all(lost)
  require("typstai.chat").host_lost()
  require("typstai.events").emit({ name = "TypstAIHostLost", data = { code = code } })
  local again = may_restart()
  require("typstai.message").show({
    level = "warn",
    message = again and "The helper process ended and was started again. See :TypstAI log."
      or "The helper process keeps ending; see :checkhealth typstai.",
  })
  if again then
    M.channel()
  end
end

---@param job integer
---@param code integer
local function on_exit(job, code)
  if leaving or job ~= channel then
    return
  end
  local was = M.state
  M.state, M.pid, channel = "stopped", nil, nil
  require("typstai.status").update({ running = false, host = "stopped" })
  if was == "running" then
    on_lost(code)
  else
    local err =
      require("typstai.host.diagnosis").explain(M.python(), code, table.concat(stderr, "\n"))
    fail(err)
    require("typstai.message").show({ level = "error", message = err.message })
  end
end

local function on_stderr(_, lines)
  for _, line in ipairs(lines) do
    if line ~= "" then
      table.insert(stderr, line)
    end
  end
  while #stderr > STDERR_LINES do
    table.remove(stderr, 1)
  end
end

--- The factory that Neovim's remote plugin registry calls to start the host.
local function start()
  local folder = vim.fs.joinpath(M.root(), "rplugin", "python3")
  local package = vim.fs.joinpath(folder, "typstai")
  stderr = {}
  return vim.fn.jobstart({ M.python(), "-E", "-P", "-c", BOOT, folder, package }, {
    rpc = true,
    on_exit = on_exit,
    on_stderr = on_stderr,
  })
end

local function register()
  vim.fn["remote#host#Register"](NAME, "*", start)
  if not registered then
    local package = vim.fs.joinpath(M.root(), "rplugin", "python3", "typstai")
    vim.fn["remote#host#RegisterPlugin"](NAME, package, {})
    registered = true
  end
end

local function on_hello(err, result)
  if err then
    if M.state == "starting" then
      M.stop()
      fail(require("typstai.host.diagnosis").greeting(err, M.python()))
      require("typstai.message").show({ level = "error", message = M.failure.message })
    end
    return
  end
  M.state = "running"
  require("typstai.config").add_problems(result.problems)
  require("typstai.status").update({ host = "running" })
  require("typstai.events").emit({ name = "TypstAIHostStarted", data = { pid = M.pid } })
  require("typstai.diagnostics").start()
  require("typstai.proposals.lapsed").tell()
end

local function greet()
  require("typstai.rpc").call("hello", {
    protocol = require("typstai.rpc").PROTOCOL,
    options = require("typstai.config").get(),
    data = M.data_dir(),
    log = M.log_dir(),
    project_dir = vim.fn.getcwd(),
  }, on_hello)
end

local function launch()
  local python = M.python()
  local broken = require("typstai.host.diagnosis").interpreter(python)
  if broken then
    return broken
  end
  register()
  local ok, result = pcall(vim.fn["remote#host#Require"], NAME)
  if not ok or result <= 0 then
    return { code = "no_host", message = ("%s cannot be started."):format(python) }
  end
  channel, M.state, M.failure = result, "starting", nil
  M.pid = vim.fn.jobpid(result)
end

--- Channel of the running host, started when there is none.
---@return integer|nil channel
---@return typstai.Error|nil err
function M.channel()
  if channel then
    return channel
  end
  local err = launch()
  if err then
    fail(err)
    return nil, err
  end
  greet()
  return channel
end

--- The options were set again: a running host does not know them, the next one will.
function M.options_changed()
  if require("typstai.status").get().running then
    require("typstai.message").show({
      level = "warn",
      message = "An answer is being written: call setup() again when it has ended.",
    })
  else
    M.stop()
  end
end

--- Ends the host; the next use starts it again.
function M.stop()
  local job = channel
  channel, M.state, M.pid = nil, "stopped", nil
  if job then
    vim.fn.jobstop(job)
  end
end

vim.api.nvim_create_autocmd("VimLeavePre", {
  desc = "typstai: let the helper process finish what it writes",
  callback = function()
    leaving = true
    if channel then
      pcall(vim.rpcnotify, channel, "typstai_call", 0, "shutdown", vim.empty_dict())
      vim.fn.jobwait({ channel }, 1000)
    end
  end,
})

return M
