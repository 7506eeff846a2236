-- :checkhealth typstai
local M = {}

local PROBE = [[
import importlib, sys
print("python", ".".join(map(str, sys.version_info[:3])))
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
        print("ok", name)
    except Exception as error:
        print("missing", name, type(error).__name__)
]]
local PACKAGES = {
  "pynvim",
  "httpx",
  "msgspec",
  "pydantic",
  "PIL",
  "pypdfium2",
  "typst",
  "typst_syntax",
}
local INSTALL = "Run :TypstAI install."

local function neovim()
  if vim.fn.has("nvim-0.10") == 1 then
    vim.health.ok("Neovim " .. tostring(vim.version()))
  else
    vim.health.error("Neovim is older than 0.10.", { "Install a newer Neovim." })
  end
end

local function packages(python)
  local command = vim.list_extend({ python, "-E", "-c", PROBE }, PACKAGES)
  local ok, result = pcall(function()
    return vim.system(command, { text = true }):wait(20000)
  end)
  if not ok or result.code ~= 0 then
    vim.health.error(("%s cannot run."):format(python), { INSTALL })
    return
  end
  for kind, name in result.stdout:gmatch("(%w+) ([%w_.]+)") do
    if kind == "python" then
      local new = vim.version.ge(vim.version.parse(name), { 3, 11, 0 })
      local report = new and vim.health.ok or vim.health.error
      report(("Python %s at %s"):format(name, python), not new and { INSTALL } or nil)
    elseif kind == "ok" then
      vim.health.ok(name)
    elseif kind == "missing" then
      vim.health.error(("The package %s is missing or broken."):format(name), { INSTALL })
    end
  end
end

local function interpreter()
  local host = require("typstai.host")
  local python = host.python()
  local broken = require("typstai.host.diagnosis").interpreter(python)
  if broken then
    vim.health.error(broken.message, { INSTALL })
  else
    packages(python)
  end
end

local function process()
  local host = require("typstai.host")
  if host.state == "failed" then
    vim.health.error("The helper process failed: " .. host.failure.message)
  elseif host.state == "running" then
    vim.health.ok(("The helper process runs (process %d)."):format(host.pid))
  else
    vim.health.info("The helper process is not running; it starts on first use.")
  end
end

local function keys()
  local left_out = require("typstai.actions.keys").left_out()
  for _, key in ipairs(left_out) do
    local told = "%s (%s) is left out in Typst buffers: your key %s has its place."
    vim.health.info(told:format(key.lhs, key.action, key.by))
  end
  if #left_out == 0 then
    vim.health.ok("No key of the text actions is in the way of yours.")
  end
end

function M.check()
  vim.health.start("typstai: Neovim and Python")
  neovim()
  interpreter()
  process()
  vim.health.start("typstai: options and models")
  require("typstai.health.models").check()
  vim.health.start("typstai: keys")
  keys()
end

return M
