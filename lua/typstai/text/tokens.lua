-- Words: where two versions of a line differ, in whole words and never within a
-- character as the user sees it.
local M = {}

local xdiff = vim.text and vim.text.diff or vim.diff

-- The classes of `charclass()` whose runs are words or gaps; every other cluster
-- (punctuation, an ideograph, an emoji) is a token of its own.
local BLANK, WORD = 0, 2

---@class typstai.Span one difference; byte columns from 0, end-exclusive
---@field old_col integer
---@field old_end integer
---@field new_col integer
---@field new_end integer

local function ascii_tokens(line)
  local tokens, at = {}, 1
  while at <= #line do
    local _, stop = line:find("^[%w_]+", at)
    if not stop then
      _, stop = line:find("^%s+", at)
    end
    stop = stop or at
    tokens[#tokens + 1] = line:sub(at, stop)
    at = stop + 1
  end
  return tokens
end

local function cluster_tokens(line)
  local tokens, last_class = {}, nil
  for _, cluster in ipairs(require("typstai.text.graphemes").split(line)) do
    local class = vim.fn.charclass(cluster)
    if class == last_class and (class == WORD or class == BLANK) then
      tokens[#tokens] = tokens[#tokens] .. cluster
    else
      tokens[#tokens + 1] = cluster
    end
    last_class = class
  end
  return tokens
end

local function tokens_of(line)
  return line:find("[\128-\255]") and cluster_tokens(line) or ascii_tokens(line)
end

-- Byte columns at which the tokens start, and the one after the last.
local function columns(tokens)
  local starts = { 0 }
  for i, token in ipairs(tokens) do
    starts[i + 1] = starts[i] + #token
  end
  return starts
end

local function text_of(tokens)
  return #tokens == 0 and "" or table.concat(tokens, "\n") .. "\n"
end

-- First and last index of a side of a diff hunk. Where nothing stands, xdiff names
-- the line before.
local function range(start, count)
  return count == 0 and start + 1 or start, count == 0 and start + 1 or start + count
end

local function to_span(hunk, old_starts, new_starts)
  local old_first, old_stop = range(hunk[1], hunk[2])
  local new_first, new_stop = range(hunk[3], hunk[4])
  return {
    old_col = old_starts[old_first],
    old_end = old_starts[old_stop],
    new_col = new_starts[new_first],
    new_end = new_starts[new_stop],
  }
end

-- Joins spans with only blanks between: "quick brown" reads better than two words
-- changed one by one.
local function joined(spans, old)
  local result = {}
  for _, span in ipairs(spans) do
    local last = result[#result]
    if last and not old:sub(last.old_end + 1, span.old_col):find("%S") then
      last.old_end, last.new_end = span.old_end, span.new_end
    else
      result[#result + 1] = span
    end
  end
  return result
end

local function kept_bytes(old, spans)
  local kept, at = 0, 0
  for _, span in ipairs(spans) do
    kept = kept + #old:sub(at + 1, span.old_col):gsub("%s", "")
    at = span.old_end
  end
  return kept + #old:sub(at + 1):gsub("%s", "")
end

local function blank_free(line)
  return #line:gsub("%s", "")
end

--- The words that differ between two versions of a line, from the left, and the
--- share of both that stays (0 to 1), blanks not counted.
---@param old string
---@param new string
---@return typstai.Span[] spans, number kept
function M.spans(old, new)
  local a, b = tokens_of(old), tokens_of(new)
  local hunks = xdiff(text_of(a), text_of(b), { result_type = "indices" })
  local old_starts, new_starts = columns(a), columns(b)
  local spans = {}
  for i, hunk in ipairs(hunks) do
    spans[i] = to_span(hunk, old_starts, new_starts)
  end
  spans = joined(spans, old)
  local both = math.max(blank_free(old) + blank_free(new), 1)
  return spans, 2 * kept_bytes(old, spans) / both
end

return M
