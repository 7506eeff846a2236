-- What the public functions were called with: what is wrong is told before anything is done.
local M = {}

local function is(kind)
  return function(value)
    return type(value) == kind
  end
end

local function is_whole(value)
  return type(value) == "number" and value % 1 == 0
end

local function each(value, fits)
  return type(value) == "table" and vim.iter(vim.tbl_values(value)):all(fits)
end

local function is_selection(value)
  return type(value) == "table"
    and type(value.path) == "string"
    and type(value.text) == "string"
    and is_whole(value.start_line)
    and is_whole(value.end_line)
end

---@type table<string, fun(value: any): boolean> by what the message says of it
local KINDS = {
  ["a string"] = is("string"),
  ["a table"] = is("table"),
  ["a function"] = is("function"),
  ["true or false"] = is("boolean"),
  ["a whole number"] = is_whole,
  ["the number of a buffer"] = is_whole,
  ["a folder, or true"] = function(value)
    return value == true or type(value) == "string"
  end,
  ["a table of strings"] = function(value)
    return each(value, is("string"))
  end,
  ["a list of selections"] = function(value)
    return vim.islist(value) and each(value, is_selection)
  end,
}

local function one_of(value, kind)
  return vim.tbl_contains(vim.split(kind, "[, ]+"), value) and value ~= "or"
end

local function fits(value, kind)
  local known = KINDS[kind] or function()
    return one_of(value, kind)
  end
  return known(value)
end

local function is_no_buffer(value, kind)
  return kind == "the number of a buffer" and not vim.api.nvim_buf_is_valid(value)
end

---@class typstai.Argument
---@field [1] string what the manual calls it
---@field [2] any
---@field [3] string what it must be: of `KINDS`, else the words that it may be, as
--- "once, run or deny"; with a "?" at the end it may be left out

--- The first argument that is wrong, as an error. Codes: `invalid_argument`, `no_buffer`.
---@param call string
---@param ... typstai.Argument
---@return typstai.Error|nil
function M.wrong(call, ...)
  for _, argument in ipairs({ ... }) do
    local name, value, kind = argument[1], argument[2], argument[3]
    local is_optional = vim.endswith(kind, "?")
    kind = is_optional and kind:sub(1, -2) or kind
    local is_left_out = is_optional and value == nil
    if not is_left_out and not fits(value, kind) then
      local message = ("%s: %s must be %s."):format(call, name, kind)
      return { code = "invalid_argument", message = message }
    elseif not is_left_out and is_no_buffer(value, kind) then
      return { code = "no_buffer", message = ("There is no buffer %d."):format(value) }
    end
  end
end

--- A field of an options table that may not be one.
---@param opts any
---@param name string
function M.field(opts, name)
  return type(opts) == "table" and opts[name] or nil
end

return M
