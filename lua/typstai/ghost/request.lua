-- Asks the Python half for the text that comes next at the cursor.
local M = {}

local api = vim.api

-- What is sent of the document around the cursor. The Python half takes the context from
-- it, and tells prose from mathematics and code by it.
local MAX_LINES = 400
local MAX_BYTES_ABOVE = 16384
local MAX_BYTES_BELOW = 4096

local last_id = 0

---@class typstai.ghost.Answer
---@field text string "" when nothing came
---@field reason string why, in one or two words
---@field seconds? integer how long to wait
---@field message? string a failure, in one sentence

local function above(row0, col)
  local lines = api.nvim_buf_get_lines(0, math.max(0, row0 - MAX_LINES), row0 + 1, false)
  lines[#lines] = lines[#lines]:sub(1, col)
  local text = table.concat(lines, "\n"):sub(-MAX_BYTES_ABOVE)
  return (text:gsub("^[\128-\191]+", ""))
end

local function below(row0, col)
  local lines = api.nvim_buf_get_lines(0, row0, row0 + MAX_LINES, false)
  lines[1] = lines[1]:sub(col + 1)
  local text = table.concat(lines, "\n")
  local stop = math.min(#text, MAX_BYTES_BELOW)
  return text:sub(1, stop + (stop > 0 and vim.str_utf_end(text, stop) or 0))
end

--- Asks; `callback(err, answer)` is called once. The request before is given up.
---@param is_anywhere boolean also in mathematics, raw text and code
---@param callback fun(err: typstai.Error|nil, answer: typstai.ghost.Answer|nil)
---@return integer id
function M.send(is_anywhere, callback)
  last_id = last_id + 1
  local at = api.nvim_win_get_cursor(0)
  require("typstai.rpc").call("ghost.complete", {
    id = last_id,
    bufnr = api.nvim_get_current_buf(),
    row0 = at[1] - 1,
    above = above(at[1] - 1, at[2]),
    below = below(at[1] - 1, at[2]),
    filetype = vim.bo.filetype,
    anywhere = is_anywhere,
  }, callback)
  return last_id
end

--- Gives a request up: its connection is closed.
---@param id integer
function M.cancel(id)
  require("typstai.rpc").call("ghost.cancel", { id = id })
end

return M
