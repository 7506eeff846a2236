-- What goes along with the next message: selections, which are tracked, and images and pages,
-- which are read and drawn when it is sent.
local M = {}

M.MAX_SELECTIONS = 16
M.MAX_SELECTION_CHARACTERS = 64000
M.MAX_IMAGES = 4

local IMAGES = { "png", "jpg", "jpeg", "webp", "gif", "bmp", "tif", "tiff" }

---@type string[] absolute paths
local images = {}
---@type integer[] buffers whose page goes along
local previews = {}
---@type fun()[]
local listeners = {}

local function changed()
  for _, listener in ipairs(listeners) do
    listener()
  end
end

local function warn(message, ...)
  require("typstai.message").show({ message = message:format(...), level = "warn" })
end

--- Calls `listener` whenever something was attached or taken off.
---@param listener fun()
function M.on_change(listener)
  table.insert(listeners, listener)
end

--- Attaches a passage of the current buffer.
---@param range typstai.Range
---@return boolean attached
function M.add_selection(range)
  local capture = require("typstai.chat.capture")
  if #capture.attached() >= M.MAX_SELECTIONS then
    warn("A message takes at most %d selections.", M.MAX_SELECTIONS)
    return false
  end
  local selection = capture.add_selection(range)
  if vim.fn.strchars(selection.text) > M.MAX_SELECTION_CHARACTERS then
    capture.remove(#capture.attached())
    warn(
      "A selection may have %d characters; the model reads files itself.",
      M.MAX_SELECTION_CHARACTERS
    )
    return false
  end
  changed()
  return true
end

local function is_image(path)
  return vim.tbl_contains(IMAGES, vim.fn.fnamemodify(path, ":e"):lower())
end

local function open_previews()
  return vim.tbl_filter(vim.api.nvim_buf_is_loaded, previews)
end

local function has_room()
  if #images + #open_previews() < M.MAX_IMAGES then
    return true
  end
  warn("A message takes at most %d images.", M.MAX_IMAGES)
  return false
end

--- Attaches an image file.
---@param path? string without it, the image in the current buffer
---@return boolean attached
function M.add_image(path)
  path = vim.fn.fnamemodify(path or vim.api.nvim_buf_get_name(0), ":p")
  if not is_image(path) then
    warn("What image? :TypstAI add image PATH, of a %s file.", table.concat(IMAGES, ", "))
  elseif vim.fn.filereadable(path) == 0 then
    warn("There is no file %s.", path)
  elseif has_room() then
    if not vim.tbl_contains(images, path) then
      table.insert(images, path)
      changed()
    end
    return true
  end
  return false
end

--- Attaches the page on which the cursor will be when the message is sent.
---@param bufnr integer
---@return boolean attached
function M.add_preview(bufnr)
  if vim.bo[bufnr].filetype ~= "typst" then
    warn("A preview is of a Typst document: go to one first.")
    return false
  elseif vim.tbl_contains(previews, bufnr) then
    return true
  elseif not has_room() then
    return false
  end
  table.insert(previews, bufnr)
  changed()
  return true
end

--- The documents whose page is attached, and where the cursor is in each.
---@return { bufnr: integer, row0: integer, byte_col: integer }[]
function M.previews()
  return vim.tbl_map(function(bufnr)
    local window = vim.fn.bufwinid(bufnr)
    local at = window ~= -1 and vim.api.nvim_win_get_cursor(window)
      or vim.api.nvim_buf_get_mark(bufnr, '"')
    return { bufnr = bufnr, row0 = math.max(0, at[1] - 1), byte_col = at[2] }
  end, open_previews())
end

--- Paths of the attached images.
---@return string[]
function M.images()
  return vim.deepcopy(images)
end

local function remover(remove, position)
  return function()
    remove(position)
    changed()
  end
end

---@class typstai.Attachment
---@field label string
---@field remove fun()

--- Everything that is attached, in the order in which it is sent.
---@return typstai.Attachment[]
function M.list()
  local capture, found = require("typstai.chat.capture"), {}
  for position, item in ipairs(capture.attached()) do
    local name = item.path ~= "" and vim.fn.fnamemodify(item.path, ":.") or "[unnamed]"
    table.insert(found, {
      label = ("selection %s:%d-%d"):format(name, item.start_line, item.end_line),
      remove = remover(capture.remove, position),
    })
  end
  for position, path in ipairs(images) do
    table.insert(found, {
      label = "image " .. vim.fn.fnamemodify(path, ":."),
      remove = remover(function(at)
        table.remove(images, at)
      end, position),
    })
  end
  previews = open_previews()
  for position, bufnr in ipairs(previews) do
    local name = vim.api.nvim_buf_get_name(bufnr)
    table.insert(found, {
      label = "preview " .. (name ~= "" and vim.fn.fnamemodify(name, ":.") or "[unnamed]"),
      remove = remover(function(at)
        table.remove(previews, at)
      end, position),
    })
  end
  return found
end

--- Lets the user take something off.
function M.choose_removal()
  local items = M.list()
  if #items == 0 then
    warn("Nothing is attached.")
  elseif #items == 1 then
    items[1].remove()
  else
    local opts = {
      prompt = "Take off",
      format_item = function(item)
        return item.label
      end,
    }
    vim.ui.select(items, opts, function(item)
      if item then
        item.remove()
      end
    end)
  end
end

--- Takes everything off: it was sent.
function M.clear()
  images, previews = {}, {}
  require("typstai.chat.capture").clear()
  changed()
end

return M
