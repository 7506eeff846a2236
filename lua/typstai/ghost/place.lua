-- A place in a buffer where ghost text is wanted or shown, and what was typed there since.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("typstai.ghost.place")

---@class typstai.ghost.Place
---@field bufnr integer
---@field mark integer stays where it was when text is typed at it
---@field head string what stands before it on the line
---@field tail string what follows on the line
---@field seen string|nil what was typed when it was last looked at

local function cursor()
  local at = api.nvim_win_get_cursor(0)
  return at[1] - 1, at[2]
end

--- The cursor's place.
---@return typstai.ghost.Place
function M.here()
  local row0, col = cursor()
  local bufnr = api.nvim_get_current_buf()
  return {
    bufnr = bufnr,
    mark = api.nvim_buf_set_extmark(bufnr, NS, row0, col, { right_gravity = false }),
    head = api.nvim_get_current_line():sub(1, col),
    tail = api.nvim_get_current_line():sub(col + 1),
    seen = "",
  }
end

local function without_blanks(text)
  return (text:gsub("%s+", ""))
end

-- Whether the text before the mark is as it was, or was only broken by 'textwidth'.
local function has_head(place, row0, col)
  local lines = api.nvim_buf_get_lines(place.bufnr, math.max(0, row0 - 1), row0 + 1, false)
  local now = lines[#lines]:sub(1, col)
  if now == place.head then
    return true
  end
  local last, before = without_blanks(now), without_blanks(lines[1])
  local head = without_blanks(place.head)
  return #lines == 2 and #last < #head and vim.endswith(before .. last, head)
end

--- The text between the place and the cursor; nil when the cursor is not behind it, or
--- the line before or behind it has changed.
---@param place typstai.ghost.Place
---@return string|nil
function M.typed(place)
  if api.nvim_get_current_buf() ~= place.bufnr then
    return nil
  end
  local row0, col = cursor()
  local at = api.nvim_buf_get_extmark_by_id(place.bufnr, NS, place.mark, {})
  local is_before = at[1] and (at[1] < row0 or (at[1] == row0 and at[2] <= col))
  if not is_before or not has_head(place, at[1], at[2]) then
    return nil
  end
  if api.nvim_get_current_line():sub(col + 1) ~= place.tail then
    return nil
  end
  return table.concat(api.nvim_buf_get_text(place.bufnr, at[1], at[2], row0, col, {}), "\n")
end

--- Whether nothing happened at the place since it was last looked at.
---@param place typstai.ghost.Place
function M.is_quiet(place)
  return place.seen ~= nil and M.typed(place) == place.seen
end

--- Gives the place up.
---@param place typstai.ghost.Place
function M.forget(place)
  if api.nvim_buf_is_valid(place.bufnr) then
    api.nvim_buf_del_extmark(place.bufnr, NS, place.mark)
  end
end

-- 'textwidth' breaks a line at a blank, and indents the next.
local function rest_behind_breaks(text, typed)
  local at = 1
  for gap, word in typed:gmatch("(%s*)(%S*)") do
    local _, stop = text:find("^%s+", at)
    if gap ~= "" and not gap:find("\n") and text:sub(at, at + #gap - 1) ~= gap then
      return nil
    elseif gap:find("\n") then
      at = (stop or at - 1) + 1
    else
      at = at + #gap
    end
    if text:sub(at, at + #word - 1) ~= word then
      return nil
    end
    at = at + #word
  end
  return text:sub(at)
end

--- What is left of `text` when its beginning has been typed; nil when something else was.
---@param text string
---@param typed string
---@return string|nil
function M.rest(text, typed)
  if vim.startswith(text, typed) then
    return text:sub(#typed + 1)
  end
  -- A break that nothing follows is the user's own.
  local is_broken = typed:find("\n") and not typed:find("\n%s*$")
  return is_broken and rest_behind_breaks(text, typed) or nil
end

return M
