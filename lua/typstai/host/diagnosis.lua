-- Says in one sentence why the Python half does not run. Used when it fails to
-- start and by :checkhealth.
local M = {}

-- What the interpreter writes when it cannot run the host, and what it means.
local SIGNS = {
  { "No module named 'pynvim'", "no_pynvim", "%s has no pynvim: run :TypstAI install." },
  { "[Uu]nknown option: %-P", "old_python", "%s is older than Python 3.11: run :TypstAI install." },
  { "ModuleNotFoundError", "missing_package", "%s misses a package: run :TypstAI install." },
}

--- Checks the interpreter before anything is started.
---@param python string|nil
---@return typstai.Error|nil
function M.interpreter(python)
  if not python then
    return {
      code = "no_python",
      message = "typstai has no Python yet: run :TypstAI install.",
    }
  end
  if vim.fn.executable(python) ~= 1 then
    return {
      code = "no_python",
      message = ("%s cannot be run: correct vim.g.typstai_python or run :TypstAI install."):format(
        python
      ),
    }
  end
end

--- Explains a host that ended before it answered.
---@param python string|nil
---@param code integer exit code
---@param stderr string
---@return typstai.Error
function M.explain(python, code, stderr)
  for _, sign in ipairs(SIGNS) do
    if stderr:find(sign[1]) then
      return { code = sign[2], message = sign[3]:format(python) }
    end
  end
  local last = stderr:match("([^\n]+)%s*$") or ("exit code " .. code)
  return {
    code = "host_failed",
    message = ("The helper process did not start (%s). See :checkhealth typstai."):format(last),
  }
end

--- Explains an error that the Python half sent instead of its greeting.
---@param err typstai.Error
---@param python string|nil
---@return typstai.Error
function M.greeting(err, python)
  if err.code == "missing_package" then
    local name = err.message:match("No module named '([%w_]+)") or err.message
    return {
      code = err.code,
      message = ("%s misses the package %s: run :TypstAI install."):format(python, name),
    }
  end
  return err
end

return M
