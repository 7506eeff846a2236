-- `:TypstAI ghost on|off [buffer|project]`; alone it says how things are.
local M = {}

local PLACES = {
  buffer = { bufnr = 0 },
  project = { project = true },
}

local function say(message, level)
  require("typstai.message").show({ message = message, level = level })
end

local function say_state()
  local why = require("typstai.ghost").reason()
  if why == "off" then
    say("Ghost text is off here; :TypstAI ghost on switches it on.")
  else
    say("Ghost text is on here" .. (why ~= "" and ": " .. why .. "." or "."))
  end
end

--- Runs the command.
---@param args string[]
function M.run(args)
  local is_on = args[1] == "on"
  if #args == 0 then
    say_state()
  elseif not (is_on or args[1] == "off") or (args[2] and not PLACES[args[2]]) then
    say("Use :TypstAI ghost on|off [buffer|project].", "warn")
  else
    require("typstai.ghost").enable(is_on, PLACES[args[2]])
    if is_on and require("typstai.config").get().autocomplete.model == "" then
      say("Ghost text needs a model: set autocomplete.model to the name of one.", "warn")
    end
  end
end

return M
