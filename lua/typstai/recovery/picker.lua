-- Choosing a snapshot of a document, and looking at what it would change.
local M = {}

local api = vim.api

local MINUTE, HOUR, DAY = 60, 3600, 86400

---@param seconds number
---@return string
function M.age(seconds)
  if seconds < MINUTE then
    return "just now"
  elseif seconds < HOUR then
    return ("%d min ago"):format(seconds / MINUTE)
  elseif seconds < DAY then
    return ("%d h ago"):format(seconds / HOUR)
  elseif seconds < 2 * DAY then
    return "yesterday"
  end
  return ("%d days ago"):format(seconds / DAY)
end

---@param bytes integer
---@return string
function M.size(bytes)
  if bytes < 1000 then
    return ("%d B"):format(bytes)
  elseif bytes < 1e6 then
    return ("%.1f kB"):format(bytes / 1e3)
  end
  return ("%.1f MB"):format(bytes / 1e6)
end

local function is_ascii()
  return require("typstai.config").get().ui.ascii
end

--- `+12 −3`, or that nothing differs.
---@param added integer
---@param removed integer
---@return string
function M.difference(added, removed)
  if added + removed == 0 then
    return "same as now"
  end
  return ("+%d %s%d"):format(added, is_ascii() and "-" or "−", removed)
end

---@param snapshot typstai.KeptText
---@return string
function M.origin(snapshot)
  if require("typstai.recovery.snapshots").is_orphan(snapshot) then
    return os.date("unnamed, %Y-%m-%d %H:%M", math.floor(snapshot.at))
  elseif snapshot.kind == "before_restore" then
    return "Before restore"
  end
  return snapshot.question ~= "" and "after " .. snapshot.question or "after an answer"
end

local function name_of(snapshot)
  return vim.startswith(snapshot.document, "buffer:") and "unnamed"
    or vim.fs.basename(snapshot.document)
end

--- What stands above the difference: when, and how much.
---@param snapshot typstai.KeptText
---@return string
function M.title(snapshot)
  local words = {
    name_of(snapshot),
    M.age(os.time() - snapshot.at),
    M.difference(snapshot.added, snapshot.removed),
  }
  return table.concat(words, require("typstai.ui.glyphs").get().separator)
end

--- The line of a snapshot in a list.
---@param snapshot typstai.KeptText
---@return string
function M.line(snapshot)
  local words = {
    M.age(os.time() - snapshot.at),
    M.size(snapshot.bytes),
    M.difference(snapshot.added, snapshot.removed),
    M.origin(snapshot),
  }
  return table.concat(words, require("typstai.ui.glyphs").get().separator)
end

local function say(level, text)
  require("typstai.message").show({ message = text, level = level })
end

local function scratch(lines, name)
  local bufnr = api.nvim_create_buf(false, true)
  pcall(api.nvim_buf_set_name, bufnr, name)
  api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = "diff"
  return bufnr
end

local WINDOW = {
  breakindent = true,
  linebreak = true,
  number = false,
  relativenumber = false,
  signcolumn = "no",
  wrap = true,
}

-- As high as the difference, and never more than half of what the document had.
local function fit(win, rows)
  local wanted = api.nvim_win_text_height(win, {}).all + 1
  api.nvim_win_set_height(win, math.max(3, math.min(wanted, rows)))
end

---@type integer|nil window of the difference that is shown
local shown_in

local function open_window(bufnr, beside, title)
  if shown_in then
    pcall(api.nvim_win_close, shown_in, true)
  end
  local rows = math.floor(api.nvim_win_get_height(beside) / 2)
  local win = api.nvim_open_win(bufnr, true, { split = "below", win = beside })
  for name, value in pairs(WINDOW) do
    vim.wo[win][0][name] = value
  end
  vim.wo[win][0].winbar = " " .. title:gsub("%%", "%%%%") .. "%=<CR> restore  q close "
  fit(win, rows)
  shown_in = win
  return win
end

local function define_keys(bufnr, actions)
  for key, action in pairs(actions) do
    vim.keymap.set("n", key, action[2], { buffer = bufnr, nowait = true, desc = action[1] })
  end
end

--- Shows what putting a snapshot back would change; from there it is put back or not.
---@param snapshot typstai.KeptText
---@param document integer its buffer
function M.preview(snapshot, document)
  local live = api.nvim_buf_get_lines(document, 0, -1, true)
  if snapshot.added + snapshot.removed == 0 then
    say("info", "The document reads like that already.")
    return
  end
  local shown = require("typstai.recovery.journal").hash(live)
  local difference = require("typstai.recovery.snapshots").unified(live, snapshot.lines)
  local bufnr = scratch(difference, "typstai://snapshot/" .. snapshot.id)
  local beside = require("typstai.text.buffer").show(document)
  local win = open_window(bufnr, beside, M.title(snapshot))
  local function close()
    pcall(api.nvim_win_close, win, true)
    if api.nvim_win_is_valid(beside) then
      api.nvim_set_current_win(beside)
    end
  end
  local function restore()
    close()
    require("typstai.recovery.snapshots").restore(snapshot.id, function(err)
      if err then
        say("warn", err.message)
      end
    end, shown, document)
  end
  define_keys(bufnr, {
    ["<CR>"] = { "typstai: restore this snapshot", restore },
    q = { "typstai: close", close },
  })
end

--- Lets the user choose a snapshot of a document, then shows what it would change.
---@param document? integer its buffer
function M.choose(document)
  local bufnr = document or api.nvim_get_current_buf()
  require("typstai.recovery.snapshots").of_buffer(bufnr, function(err, found)
    if err then
      say("error", err.message)
    elseif #found == 0 then
      say("info", "There is no snapshot of this document.")
    else
      local name = vim.fs.basename(api.nvim_buf_get_name(bufnr))
      local opts = { prompt = "Snapshots of " .. (name ~= "" and name or "this buffer") }
      opts.kind, opts.format_item = "typstai_snapshot", M.line
      vim.ui.select(found, opts, function(snapshot)
        if snapshot then
          M.preview(snapshot, bufnr)
        end
      end)
    end
  end)
end

--- Shows what one snapshot would change.
---@param id integer
function M.open(id)
  require("typstai.recovery.snapshots").get(id, function(err, snapshot, document)
    if err then
      say("warn", err.message)
    else
      M.preview(snapshot, document)
    end
  end)
end

return M
