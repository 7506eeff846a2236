-- The keys of the hunk under the cursor, at the end of its line.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("typstai.hint")

local MAX_VERDICT_CHARACTERS = 60
-- Neovim leaves one cell after the line, we two more.
local GAP = 3

local function keys(pairs_of_words)
  local words = {}
  for _, pair in ipairs(pairs_of_words) do
    local lhs = require("typstai.review.keymaps").shown(pair[1])
    if lhs ~= "" then
      words[#words + 1] = pair[2] == "" and lhs or lhs .. " " .. pair[2]
    end
  end
  return words
end

local function one_line(text)
  return vim.fn.strcharpart(vim.trim((text:gsub("%c+", " "))), 0, MAX_VERDICT_CHARACTERS)
end

local function place_of(hunk)
  return ("%d/%d"):format(hunk.index, #hunk.proposal.hunks)
end

local function all_keys(decide)
  local parts = { decide }
  local call = table.concat(keys({ { "accept_call", "" }, { "reject_call", "" } }), " ")
  if call ~= "" then
    parts[#parts + 1] = call .. " all"
  end
  vim.list_extend(parts, keys({ { "next", "next" } }))
  return table.concat(parts, "  ")
end

-- The separators stand in Python too.
local function first_warning(verdict)
  local warning = vim.split(vim.split(verdict, " · ", { plain = true })[1], ", ! ")[1]
  return vim.startswith(warning, "!") and warning or nil
end

-- From the longest to the shortest way to say it.
local function pending_texts(hunk, glyphs)
  local dot = glyphs.separator
  local head = glyphs.waiting .. " " .. place_of(hunk)
  local decide = table.concat(keys({ { "accept", "accept" }, { "reject", "reject" } }), "  ")
  local bare = table.concat(keys({ { "accept", "" }, { "reject", "" } }), " ")
  local texts =
    { head .. dot .. all_keys(decide), head .. dot .. decide, head .. dot .. bare, head }
  -- What is said of this very hunk matters more than what is said of all.
  local verdict = one_line(hunk.reason ~= "" and hunk.reason or hunk.proposal.verdict)
  if verdict ~= "" then
    table.insert(texts, 1, head .. dot .. verdict .. dot .. all_keys(decide))
  end
  -- A warning is worth more room than the names of the keys.
  local warning = first_warning(verdict)
  if warning then
    table.insert(texts, 2, head .. dot .. verdict .. dot .. bare)
    table.insert(texts, 3, head .. dot .. warning .. dot .. decide)
    table.insert(texts, 4, head .. dot .. warning .. dot .. bare)
  end
  return texts
end

local function without_empty(parts)
  return vim.tbl_filter(function(part)
    return part ~= ""
  end, parts)
end

local function stale_texts(hunk, glyphs)
  local head = glyphs.stale .. " " .. place_of(hunk)
  local dot = glyphs.separator
  local accept = require("typstai.review.keymaps").shown("accept")
  local reject = table.concat(keys({ { "reject", "reject" } }))
  local is_lost = hunk.lost and not hunk.clash
  local changed = head .. dot .. (is_lost and "no longer in the file" or "you changed this line")
  local unavailable = accept == "" and "" or accept .. " unavailable"
  local texts = {
    { changed, unavailable, reject, "ask again" },
    { changed, reject, "ask again" },
    { changed, reject },
    { changed },
    { head },
  }
  return vim.tbl_map(function(parts)
    return table.concat(without_empty(parts), dot)
  end, texts)
end

-- Cells left on the last screen line of the text line.
local function room_after(win, row)
  local info = vim.fn.getwininfo(win)[1]
  local width = info.width - info.textoff
  local last = vim.fn.virtcol({ row + 1, "$" }, false, win) - 1
  if vim.wo[win].wrap then
    return width - (last > 0 and (last - 1) % width + 1 or 0)
  end
  return width - last
end

local function fitting(texts, room)
  for _, text in ipairs(texts) do
    if api.nvim_strwidth(text) + GAP <= room then
      return text
    end
  end
end

-- The row below whose virtual lines nothing of the hunk comes any more.
local function last_row(bufnr, hunk)
  local start = require("typstai.proposals.hunks").look(hunk)
  local row = start + #hunk.old - 1
  return math.min(math.max(row, 0), api.nvim_buf_line_count(bufnr) - 1)
end

-- A line of its own, where the text line is full. At the end of the last line it comes
-- after what the hunk itself hangs below it.
local function show_below(bufnr, hunk, texts, group, win)
  local info = vim.fn.getwininfo(win)[1]
  local text = fitting(texts, info.width - info.textoff) or texts[#texts]
  local width = info.width - info.textoff
  local lines = require("typstai.ui.wrap").lines({ { "  " .. text, group } }, width, 8)
  local row = last_row(bufnr, hunk)
  local line = api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1]
  api.nvim_buf_set_extmark(bufnr, NS, row, #line, { virt_lines = lines })
end

--- Takes the hint of a buffer away.
---@param bufnr integer
function M.clear(bufnr)
  if api.nvim_buf_is_valid(bufnr) then
    api.nvim_buf_clear_namespace(bufnr, NS, 0, -1)
  end
end

--- Shows the keys of the hunk under the cursor of the current window, if there is one.
function M.show()
  local bufnr = api.nvim_get_current_buf()
  M.clear(bufnr)
  local hunk = require("typstai.review.jump").under_cursor()
  if not hunk or vim.wo.diff then
    return
  end
  local glyphs = require("typstai.ui.glyphs").get()
  local is_stale = hunk.state == "stale"
  local texts = (is_stale and stale_texts or pending_texts)(hunk, glyphs)
  local win = api.nvim_get_current_win()
  local row = api.nvim_win_get_cursor(win)[1] - 1
  -- A stale hunk without what to do, or keys without their words, say nothing: there is
  -- room below.
  texts = vim.list_slice(texts, 1, is_stale and 1 or #texts - 2)
  local text = fitting(texts, room_after(win, row))
  local group = is_stale and "TypstAIStale" or "TypstAIHint"
  if text then
    api.nvim_buf_set_extmark(bufnr, NS, row, 0, {
      virt_text = { { "  " .. text, group } },
      virt_text_pos = "eol",
      priority = 200,
    })
  else
    show_below(bufnr, hunk, texts, group, win)
  end
end

return M
