-- A text after changes, of which some are of whole lines and some of parts of a line.
local M = {}

-- The parts of one line, from the left, as one change of that line.
local function joined(line, parts)
  local pieces, done = {}, 0
  for _, part in ipairs(parts) do
    pieces[#pieces + 1] = line:sub(done + 1, part.byte_col)
    pieces[#pieces + 1] = table.concat(part.new, "\n")
    done = part.byte_col + #part.old[1]
  end
  pieces[#pieces + 1] = line:sub(done + 1)
  local new = vim.split(table.concat(pieces), "\n", { plain = true })
  return { row0 = parts[1].row0, old = { line }, new = new }
end

local function whole_lines(lines, changes)
  local whole, parts = {}, {}
  for i, change in ipairs(changes) do
    if not change.byte_col then
      whole[#whole + 1] = change
    else
      parts[#parts + 1] = change
      local following = changes[i + 1]
      if not (following and following.byte_col and following.row0 == change.row0) then
        whole[#whole + 1] = joined(lines[change.row0 + 1], parts)
        parts = {}
      end
    end
  end
  return whole
end

--- The lines after changes that fit, in order from the top and left, without an overlap.
---@param lines string[]
---@param changes typstai.LineChange[]
---@return string[] at least one
function M.lines(lines, changes)
  local result, done = {}, 0
  for _, change in ipairs(whole_lines(lines, changes)) do
    vim.list_extend(result, lines, done + 1, change.row0)
    vim.list_extend(result, change.new)
    done = change.row0 + #change.old
  end
  vim.list_extend(result, lines, done + 1)
  return #result > 0 and result or { "" }
end

return M
