-- Follows what happens to a buffer under review: its text changes, it is unloaded, read
-- again, or wiped. Only the hunks whose lines were touched are looked at.
local M = {}

local api = vim.api

---@class typstai.Dirty rows touched since the last look, end-exclusive
---@field first? integer
---@field last integer

---@type table<integer, typstai.Dirty>
local watched = {}

local function is_under_review(bufnr)
  local hunks = require("typstai.proposals.hunks")
  return #hunks.proposals(bufnr) > 0
end

local function look_at_touched(bufnr)
  local dirty = watched[bufnr]
  if not (dirty and dirty.first and api.nvim_buf_is_loaded(bufnr)) then
    return
  end
  local first, last = dirty.first, dirty.last
  dirty.first = nil
  local touched = require("typstai.proposals.anchors").touching(bufnr, first - 1, last + 1)
  require("typstai.review").update(bufnr, touched)
end

-- Rows noted earlier move with lines added above them, so the range only grows.
local function note(dirty, bufnr, first, last, last_updated)
  if not dirty.first then
    dirty.first, dirty.last = first, last_updated
    vim.schedule(function()
      look_at_touched(bufnr)
    end)
    return
  end
  dirty.first = math.min(dirty.first, first)
  dirty.last = math.max(dirty.last + math.max(last_updated - last, 0), last_updated)
end

local function attach(bufnr)
  local dirty = {}
  watched[bufnr] = dirty
  api.nvim_buf_attach(bufnr, false, {
    on_lines = function(_, _, _, first, last, last_updated)
      if watched[bufnr] ~= dirty or not is_under_review(bufnr) then
        watched[bufnr] = nil
        return true
      end
      note(dirty, bufnr, first, last, last_updated)
    end,
    on_reload = function()
      vim.schedule(function()
        M.read_again(bufnr)
      end)
    end,
    on_detach = function()
      if watched[bufnr] == dirty then
        watched[bufnr] = nil
      end
    end,
  })
end

-- The marks go when a buffer is unloaded; the rows they stood at are kept, and what they
-- can be found by. The keys would come back as ours for good.
local function remember_rows(bufnr)
  local hunks = require("typstai.proposals.hunks")
  local standing = vim.tbl_filter(function(hunk)
    hunks.look(hunk)
    return hunk.state == "pending"
  end, hunks.undecided(hunks.proposals(bufnr)))
  require("typstai.proposals.landmarks").note(bufnr, standing)
  require("typstai.review.keymaps").detach(bufnr)
end

--- The text of the buffer was read from its file again: the anchors are put where the
--- lines stand now, and the text decides.
---@param bufnr integer
function M.read_again(bufnr)
  if not (api.nvim_buf_is_loaded(bufnr) and is_under_review(bufnr)) then
    return
  end
  local hunks = require("typstai.proposals.hunks")
  for _, hunk in ipairs(hunks.undecided(hunks.proposals(bufnr))) do
    require("typstai.proposals.anchors").place_again(bufnr, hunk)
  end
  M.start(bufnr)
  require("typstai.proposals.closed").forget(bufnr)
  require("typstai.review.keymaps").attach(bufnr)
  require("typstai.review").redraw_all(bufnr)
end

local function wiped_out(bufnr, count)
  local name = vim.fs.basename(api.nvim_buf_get_name(bufnr))
  local what = count == 1 and "1 proposed change" or count .. " proposed changes"
  local document = name ~= "" and name or "The buffer"
  return ("%s was wiped out, and %s with it: ask again."):format(document, what)
end

local function withdraw_all(bufnr)
  local hunks = require("typstai.proposals.hunks")
  local count = #hunks.undecided(hunks.proposals(bufnr))
  local sentence = wiped_out(bufnr, count)
  for _, proposal in ipairs(hunks.proposals(bufnr)) do
    proposal.ended = sentence
    require("typstai.proposals").withdraw({ id = proposal.id, reason = "The buffer was closed." })
  end
  if count > 0 then
    require("typstai.message").show({ message = sentence, level = "warn" })
  end
  require("typstai.proposals.anchors").forget(bufnr)
  require("typstai.proposals.closed").forget(bufnr)
end

local function follow_lifetime(bufnr)
  local group = api.nvim_create_augroup("typstai.watch." .. bufnr, {})
  local function on(event, desc, callback)
    api.nvim_create_autocmd(event, {
      group = group,
      buffer = bufnr,
      desc = "typstai: " .. desc,
      callback = function()
        callback(bufnr)
      end,
    })
  end
  on("BufUnload", "keep the rows of proposed changes", remember_rows)
  on({ "BufReadPost", "BufNewFile" }, "put proposed changes back", M.read_again)
  on("BufWipeout", "withdraw proposed changes", withdraw_all)
end

--- Begins to follow a buffer, unless it is followed already. It ends by itself when
--- nothing of the buffer is under review.
---@param bufnr integer
function M.start(bufnr)
  if not watched[bufnr] then
    attach(bufnr)
    follow_lifetime(bufnr)
  end
end

return M
