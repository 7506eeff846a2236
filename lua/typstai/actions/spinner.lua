-- Shows that an action works on a passage: its text dimmed, a mark at its first line.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("typstai.spinner")

local FRAMES = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" }
local ASCII_FRAMES = { "|", "/", "-", "\\" }
local FRAME_MS = 120

---@class typstai.Spinner
---@field bufnr integer
---@field action string
---@field mark integer
---@field dimmed integer

---@type table<string, typstai.Spinner>
local spinners = {}
---@type uv.uv_timer_t|nil
local timer
local frame = 1

local function label(spinner)
  local ascii = require("typstai.config").get().ui.ascii
  local frames = ascii and ASCII_FRAMES or FRAMES
  local text = frames[(frame - 1) % #frames + 1] .. " " .. spinner.action
  local key = require("typstai.config").get().keymaps.actions.stop
  if key and key ~= "" then
    text = text .. require("typstai.ui.glyphs").get().separator .. key .. " stop"
  end
  return text
end

local function draw(spinner, row, col)
  spinner.mark = api.nvim_buf_set_extmark(spinner.bufnr, NS, row, col, {
    id = spinner.mark,
    virt_text = { { "  " .. label(spinner), "TypstAIHint" } },
    virt_text_pos = "eol",
    priority = 220,
  })
end

local function step()
  frame = frame + 1
  for _, spinner in pairs(spinners) do
    if api.nvim_buf_is_loaded(spinner.bufnr) then
      local at = api.nvim_buf_get_extmark_by_id(spinner.bufnr, NS, spinner.mark, {})
      if at[1] then
        draw(spinner, at[1], at[2])
      end
    end
  end
end

local function stop_timer()
  if timer and next(spinners) == nil then
    timer:stop()
    timer:close()
    timer = nil
  end
end

local function start_timer()
  if not timer then
    timer = assert(vim.uv.new_timer())
    timer:start(FRAME_MS, FRAME_MS, vim.schedule_wrap(step))
  end
end

--- Shows an action at work on a range.
---@param id string
---@param action string
---@param bufnr integer
---@param range typstai.Range
function M.start(id, action, bufnr, range)
  require("typstai.ui.highlights").setup()
  local spinner = { bufnr = bufnr, action = action }
  spinner.dimmed = api.nvim_buf_set_extmark(bufnr, NS, range[1], range[2], {
    end_row = range[3],
    end_col = range[4],
    hl_group = "TypstAIDim",
    priority = 130,
  })
  draw(spinner, range[1], range[2])
  spinners[id] = spinner
  start_timer()
end

--- Takes it away.
---@param id string
function M.stop(id)
  local spinner = spinners[id]
  spinners[id] = nil
  if spinner and api.nvim_buf_is_valid(spinner.bufnr) then
    api.nvim_buf_del_extmark(spinner.bufnr, NS, spinner.mark)
    api.nvim_buf_del_extmark(spinner.bufnr, NS, spinner.dimmed)
  end
  stop_timer()
end

return M
