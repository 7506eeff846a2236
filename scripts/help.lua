-- Writes the generated parts of :help typstai (commands and options) from the code
-- that defines them. Run with `nvim -l scripts/help.lua`; with `--check` it only
-- compares and fails when the file is out of date.
local PATH = "doc/typstai.txt"
local WIDTH = 78
vim.opt.runtimepath:prepend(vim.fn.getcwd())

local function padded(left, right)
  return left .. (" "):rep(math.max(1, WIDTH - #left - #right)) .. right
end

local function wrapped(text, indent)
  local lines, line = {}, indent
  for word in text:gmatch("%S+") do
    if #line + #word + 1 > WIDTH and line ~= indent then
      table.insert(lines, line)
      line = indent
    end
    line = line == indent and indent .. word or line .. " " .. word
  end
  table.insert(lines, line)
  return lines
end

local function commands()
  local lines = {}
  local table_ = require("typstai.commands").SUBCOMMANDS
  local names = vim.tbl_keys(table_)
  table.sort(names)
  for _, name in ipairs(names) do
    table.insert(lines, padded(":TypstAI " .. name, "*:TypstAI-" .. name .. "*"))
    vim.list_extend(lines, wrapped(table_[name].help, "    "))
  end
  return lines
end

local function value(default)
  return type(default) == "table" and "{}" or vim.inspect(default)
end

local function options()
  local lines = {}
  for _, option in ipairs(require("typstai.config").SCHEMA) do
    local kinds = option.oneof and vim.tbl_map(vim.inspect, option.oneof)
      or (type(option.type) == "table" and option.type or { option.type })
    local kind = table.concat(kinds, " | ")
    table.insert(lines, padded(option[1], "*typstai-option-" .. option[1] .. "*"))
    vim.list_extend(lines, wrapped(("%s, default %s"):format(kind, value(option.default)), "    "))
    vim.list_extend(lines, wrapped(option.help, "    "))
  end
  return lines
end

local function replaced(text, name, lines)
  local start = select(2, text:find("begin generated " .. name .. " %-%-\n", 1))
  local stop = text:find("%-%- end generated " .. name, 1)
  assert(start and stop, PATH .. " has no part for " .. name)
  return text:sub(1, start) .. "\n" .. table.concat(lines, "\n") .. "\n\n" .. text:sub(stop)
end

local file = assert(io.open(PATH))
local before = file:read("*a")
file:close()
local after = replaced(before, "commands", commands())
after = replaced(after, "options", options())
if vim.tbl_contains(_G.arg or {}, "--check") then
  if after ~= before then
    io.stderr:write(PATH .. " is out of date: run nvim -l scripts/help.lua\n")
    os.exit(1)
  end
else
  local out = assert(io.open(PATH, "w"))
  out:write(after)
  out:close()
end
