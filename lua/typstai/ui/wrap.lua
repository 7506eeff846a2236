-- Lays text out for virtual lines, which Neovim neither wraps nor expands tabs in.
local M = {}

---@alias typstai.Chunk { [1]: string, [2]: string|string[] } text and highlight

--- Replaces tabs by the blanks they would show as.
---@param text string
---@param column integer at which the text begins
---@param tabstop integer
---@return string
function M.expand_tabs(text, column, tabstop)
  local parts = {}
  for part, tab in text:gmatch("([^\t]*)(\t?)") do
    column = column + vim.api.nvim_strwidth(part)
    local blanks = tab == "" and 0 or tabstop - column % tabstop
    column = column + blanks
    parts[#parts + 1] = part .. (" "):rep(blanks)
  end
  return table.concat(parts)
end

-- Words with the blanks after them; a line breaks before a word.
local function words_of(chunks, tabstop)
  local words, column = {}, 0
  for _, chunk in ipairs(chunks) do
    local text = M.expand_tabs(chunk[1], column, tabstop)
    for word in text:gmatch("%s*%S*") do
      if word ~= "" then
        local width = vim.api.nvim_strwidth(word)
        words[#words + 1] = { word, chunk[2], width }
        column = column + width
      end
    end
  end
  return words
end

-- A word too long for any line, in pieces of whole characters.
local function pieces(word, width)
  if word[3] <= width then
    return { word }
  end
  local found, text, used = {}, "", 0
  for _, cluster in ipairs(vim.fn.split(word[1], "\\zs")) do
    local cells = vim.api.nvim_strwidth(cluster)
    if used + cells > width and text ~= "" then
      found[#found + 1] = { text, word[2], used }
      text, used = "", 0
    end
    text, used = text .. cluster, used + cells
  end
  found[#found + 1] = { text, word[2], used }
  return found
end

local function append(line, text, hl)
  local last = line[#line]
  if last and last[2] == hl then
    last[1] = last[1] .. text
  else
    line[#line + 1] = { text, hl }
  end
end

--- Breaks chunks into lines of at most `width` cells, at blanks where it can.
---@param chunks typstai.Chunk[]
---@param width integer
---@param tabstop integer
---@return typstai.Chunk[][] at least one line
function M.lines(chunks, width, tabstop)
  local lines, used = { {} }, 0
  for _, word in ipairs(words_of(chunks, tabstop)) do
    for _, piece in ipairs(pieces(word, width)) do
      if used > 0 and used + piece[3] > width then
        lines[#lines + 1] = {}
        piece[1] = piece[1]:gsub("^%s+", "")
        used = 0
      end
      append(lines[#lines], piece[1], piece[2])
      used = used + vim.api.nvim_strwidth(piece[1])
    end
  end
  return lines
end

return M
