-- The review in the document: keeps what is drawn equal to the states of the hunks,
-- redrawing only those that changed, and lends the keys while there is something to do.
local M = {}

local api = vim.api

-- A third of a frame: many hunks are drawn in several goes, the first of them only once
-- what made them known is over.
local SLICE_NS = 5000000
local AT_ONCE = 32

---@class typstai.Drawn
---@field marks integer[]
---@field key string what it depends on
---@field offset integer row of the first mark from the hunk's row
---@field new string[]

---@class typstai.Review
---@field drawn table<typstai.LiveHunk, typstai.Drawn>
---@field above integer virtual lines above the first line
---@field paused boolean

---@type table<integer, typstai.Review>
local reviews = {}

local function erase(review, bufnr, hunk)
  local drawn = review.drawn[hunk]
  review.drawn[hunk] = nil
  if drawn and api.nvim_buf_is_loaded(bufnr) then
    require("typstai.review.draw").erase(bufnr, drawn.marks)
  end
end

local function draw(review, bufnr, hunk, start, key, width)
  local painter = require("typstai.review.draw")
  local marks, above
  if hunk.state == "pending" then
    marks, above = painter.pending(bufnr, hunk, start, width)
  else
    marks = painter.stale(bufnr, start)
  end
  review.above = math.max(review.above, above or 0)
  review.drawn[hunk] = {
    marks = marks,
    key = key,
    offset = painter.row_of(bufnr, marks[1]) - start,
    new = hunk.new,
  }
end

local function is_current(drawn, bufnr, hunk, start, key)
  if not drawn or drawn.key ~= key or drawn.new ~= hunk.new then
    return false
  end
  local row = require("typstai.review.draw").row_of(bufnr, drawn.marks[1])
  return row ~= nil and row - start == drawn.offset
end

local function update_hunk(review, bufnr, hunk, width)
  local start = require("typstai.proposals.hunks").look(hunk)
  local key = hunk.state .. width
  if not is_current(review.drawn[hunk], bufnr, hunk, start, key) then
    erase(review, bufnr, hunk)
    draw(review, bufnr, hunk, start, key, width)
  end
end

-- Virtual lines above the first line are filler above the window's top line, which
-- Neovim shows only when told.
local function reveal_top(win, lines)
  api.nvim_win_call(win, function()
    local view = vim.fn.winsaveview()
    if view.topline == 1 and view.topfill < lines then
      view.topfill = lines
      vim.fn.winrestview(view)
    end
  end)
end

local function reveal_tops(bufnr, lines)
  if lines > 0 then
    for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
      reveal_top(win, lines)
    end
  end
end

local function show_hint(bufnr)
  if api.nvim_get_current_buf() == bufnr then
    require("typstai.review.hint").show()
  end
end

-- Draws from `first` on for as long as nobody feels it; the rest waits its turn.
local function draw_some(review, bufnr, changed, first)
  if reviews[bufnr] ~= review or review.paused or not api.nvim_buf_is_loaded(bufnr) then
    return
  end
  local width = require("typstai.review.width").of_text(bufnr)
  local started, above = vim.uv.hrtime(), review.above
  for i = first, #changed do
    if vim.uv.hrtime() - started > SLICE_NS then
      vim.schedule(function()
        draw_some(review, bufnr, changed, i)
      end)
      break
    end
    if not changed[i].decided then
      update_hunk(review, bufnr, changed[i], width)
    end
  end
  if review.above > above then
    reveal_tops(bufnr, review.above)
  end
  show_hint(bufnr)
end

--- Redraws those of the hunks whose state or place changed.
---@param bufnr integer
---@param changed typstai.LiveHunk[]
function M.update(bufnr, changed)
  local review = reviews[bufnr]
  if review then
    draw_some(review, bufnr, changed, 1)
  end
end

local function update_soon(bufnr, changed)
  if #changed <= AT_ONCE then
    M.update(bufnr, changed)
  else
    vim.schedule(function()
      M.update(bufnr, changed)
    end)
  end
end

-- Coming back up to the first line shows what is above it; scrolling down past it is
-- not held up.
local function on_scrolled(bufnr)
  local review = reviews[bufnr]
  for win, change in pairs(vim.v.event) do
    local id = tonumber(win)
    if id and change.topline < 0 and api.nvim_win_get_buf(id) == bufnr then
      reveal_top(id, review.above)
    end
  end
end

local function listen(bufnr)
  local group = api.nvim_create_augroup("typstai.review." .. bufnr, {})
  local function on(event, options, callback)
    options.group, options.callback = group, callback
    options.desc = "typstai: keep the review in view"
    api.nvim_create_autocmd(event, options)
  end
  local hint = require("typstai.review.hint")
  on({ "CursorMoved", "CursorMovedI", "BufEnter", "WinEnter" }, { buffer = bufnr }, hint.show)
  on({ "BufLeave", "WinLeave" }, { buffer = bufnr }, function()
    hint.clear(bufnr)
  end)
  on("CursorMoved", { buffer = bufnr }, function()
    require("typstai.review.jump").show_end()
  end)
  on({ "WinResized", "BufWinEnter" }, {}, function()
    M.refresh(bufnr)
  end)
  on("WinScrolled", {}, function()
    on_scrolled(bufnr)
  end)
end

local function start(bufnr)
  require("typstai.ui.highlights").setup()
  reviews[bufnr] = { drawn = {}, above = 0, paused = false }
  require("typstai.review.keymaps").attach(bufnr)
  require("typstai.review.folds").follow(bufnr)
  listen(bufnr)
end

local function stop(bufnr)
  reviews[bufnr] = nil
  api.nvim_del_augroup_by_name("typstai.review." .. bufnr)
  require("typstai.review.keymaps").detach(bufnr)
  require("typstai.review.folds").leave(bufnr)
  require("typstai.review.hint").clear(bufnr)
end

--- Makes what is drawn in a buffer equal to what is undecided in it.
---@param bufnr integer
function M.refresh(bufnr)
  local hunks = require("typstai.proposals.hunks")
  local undecided = hunks.undecided(hunks.proposals(bufnr))
  if not reviews[bufnr] then
    if #undecided == 0 then
      return
    end
    start(bufnr)
  end
  for hunk in pairs(reviews[bufnr].drawn) do
    if hunk.decided then
      erase(reviews[bufnr], bufnr, hunk)
    end
  end
  if #undecided == 0 then
    stop(bufnr)
  else
    update_soon(bufnr, undecided)
  end
end

--- Draws everything again: the marks went when the buffer was read anew.
---@param bufnr integer
function M.redraw_all(bufnr)
  local review = reviews[bufnr]
  if review then
    for hunk in pairs(review.drawn) do
      erase(review, bufnr, hunk)
    end
  end
  M.refresh(bufnr)
end

--- Hides what is drawn, while another view of the same changes is open, or shows it.
---@param bufnr integer
---@param paused boolean
function M.pause(bufnr, paused)
  local review = reviews[bufnr]
  if not review then
    return
  end
  review.paused = paused
  M.redraw_all(bufnr)
end

return M
