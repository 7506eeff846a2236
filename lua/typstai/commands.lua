-- :TypstAI as it is typed: which subcommand is meant, what it may be given, what it completes.
local M = {}

M.SUBCOMMANDS = require("typstai.commands.all")

-- Of a wrong name at most this much is repeated.
local MAX_NAME = 16

local function say(message, ...)
  require("typstai.message").show({ level = "warn", message = message:format(...) })
end

--- How many characters to insert, delete, replace or swap with a neighbour.
local function distance(a, b)
  local rows = { [0] = {} }
  for j = 0, #b do
    rows[0][j] = j
  end
  for i = 1, #a do
    rows[i] = { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      local best = rows[i - 1][j - 1] + (same and 0 or 1)
      best = math.min(best, rows[i - 1][j] + 1, rows[i][j - 1] + 1)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        best = math.min(best, rows[i - 2][j - 2] + 1)
      end
      rows[i][j] = best
    end
  end
  return rows[#a][#b]
end

local function names()
  local all = vim.tbl_keys(M.SUBCOMMANDS)
  table.sort(all)
  return all
end

-- The name that begins like the given one, else the most similar, if it is similar at all.
local function nearest(given)
  local best, least = nil, math.floor(#given / 2) + 1
  for _, name in ipairs(names()) do
    local away = vim.startswith(name, given) and 0 or distance(given, name)
    if away < least then
      best, least = name, away
    end
  end
  return best
end

local function unknown(name)
  local short = vim.fn.strcharpart(name, 0, MAX_NAME)
  local near = #name <= MAX_NAME and nearest(name:lower())
  if near then
    say("There is no :TypstAI %s; did you mean %s? <Tab> completes.", short, near)
  else
    say("There is no :TypstAI %s; <Tab> lists what there is.", short)
  end
end

-- Why a subcommand is not run, if there is a reason.
local function refusal(name, found, args)
  local most = found.takes or 0
  if #args > most and most == 0 then
    return (":TypstAI %s takes nothing after it."):format(name)
  elseif #args > most then
    return (":TypstAI %s takes at most %d word%s."):format(name, most, most == 1 and "" or "s")
  elseif not found.anywhere then
    local err = require("typstai.ui.cmdwin").refusal()
    return err and err.message
  end
end

--- Runs `:TypstAI …`; alone it toggles the chat.
---@param command table as `nvim_create_user_command` passes it
function M.run(command)
  local args = vim.list_slice(command.fargs)
  local name = table.remove(args, 1) or "chat"
  local found = M.SUBCOMMANDS[name]
  if not found then
    return unknown(name)
  end
  local why = refusal(name, found, args)
  if why then
    return say("%s", why)
  end
  found.run(args, command)
end

--- Completes subcommands, then their arguments.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(line:gsub("^.-T[ypstAI]*%s+", ""), "%s+")
  local found = names()
  if #words > 1 then
    local subcommand = M.SUBCOMMANDS[words[1]]
    local completes = subcommand and subcommand.complete and #words - 1 <= (subcommand.args or 1)
    found = completes and subcommand.complete(words) or {}
  end
  table.sort(found)
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, found)
end

return M
