-- What Neovim's own spell checker marks in a range, in the language the user set.
local M = {}

-- Suggestions take some 15 ms a word: each is asked for in a turn of its own.
local MAX_WORDS = 40
local MAX_CHOICES = 3

---@class typstai.Suspicion
---@field row0 integer
---@field byte_col integer
---@field end_byte_col integer
---@field word string
---@field kind string "bad", "caps", "rare" or "local"
---@field choices string[]

-- A window of the buffer in which the user spells; nil when they do not.
local function spelling_window(bufnr)
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    if vim.wo[win].spell then
      return win
    end
  end
end

local function words_of(bufnr, range)
  local found = {}
  for i, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, range[1], range[3] + 1, false)) do
    for _, bad in ipairs(vim.spell.check(line)) do
      table.insert(found, {
        row0 = range[1] + i - 1,
        byte_col = bad[3] - 1,
        end_byte_col = bad[3] - 1 + #bad[1],
        word = bad[1],
        kind = bad[2],
        choices = {},
      })
      if #found == MAX_WORDS then
        return found
      end
    end
  end
  return found
end

--- Calls `done` with what is marked in the range; at once with nothing when 'spell' is off.
---@param bufnr integer
---@param range typstai.Range
---@param done fun(found: typstai.Suspicion[])
function M.find(bufnr, range, done)
  local win = spelling_window(bufnr)
  if not win then
    return done({})
  end
  local found = vim.api.nvim_win_call(win, function()
    return words_of(bufnr, range)
  end)
  local function suggest(index)
    if not found[index] or not vim.api.nvim_win_is_valid(win) then
      return done(found)
    end
    found[index].choices = vim.api.nvim_win_call(win, function()
      return vim.fn.spellsuggest(found[index].word, MAX_CHOICES)
    end)
    vim.schedule(function()
      suggest(index + 1)
    end)
  end
  suggest(1)
end

return M
