-- Makes the plugin's own Python environment below the data folder: a build step
-- of a plugin manager, or :TypstAI install.
local M = {}

-- Tried in order; the first that is new enough makes the environment.
local CANDIDATES = { "python3", "python3.14", "python3.13", "python3.12", "python3.11", "python" }
local CHECK = "import sys; sys.exit(sys.version_info < (3, 11))"

local function tell(level, text)
  require("typstai.message").show({ level = level, message = text })
end

---@return string|nil
local function find_python()
  for _, name in ipairs(CANDIDATES) do
    if vim.fn.executable(name) == 1 then
      local done = vim.system({ name, "-c", CHECK }):wait()
      if done.code == 0 then
        return vim.fn.exepath(name)
      end
    end
  end
end

--- Runs the commands one after the other; `done(failed)` gets the first that failed.
local function in_turn(steps, done)
  local step = table.remove(steps, 1)
  if not step then
    return done()
  end
  vim.system(
    step,
    { text = true },
    vim.schedule_wrap(function(result)
      if result.code ~= 0 then
        done({ command = step, output = (result.stderr or "") .. (result.stdout or "") })
      else
        in_turn(steps, done)
      end
    end)
  )
end

--- Makes the environment and installs this plugin's packages into it; does not block.
---@param done? fun(ok: boolean)
function M.run(done)
  local host = require("typstai.host")
  local python = find_python()
  if not python then
    tell("error", "Python 3.11 or later is needed: install it, then :TypstAI install.")
    return done and done(false)
  end
  local venv = vim.fs.joinpath(host.data_dir(), "venv")
  tell("info", "Installing the Python packages…")
  in_turn({
    { python, "-m", "venv", "--clear", venv },
    { host.own_python(), "-m", "pip", "install", "--quiet", host.root() },
  }, function(failed)
    host.stop()
    if failed then
      local last = failed.output:match("([^\n]+)%s*$") or "no output"
      tell("error", ("Installing failed: %s"):format(last))
    else
      tell("info", "The Python packages are installed.")
    end
    if done then
      done(not failed)
    end
  end)
end

return M
