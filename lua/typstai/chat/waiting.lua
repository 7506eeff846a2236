-- What the line below the prompt says while something waits for the user: how to go on, and
-- where the proposed changes are when no window shows one.
local M = {}

local function pending_hunks(chat)
  local hunks = require("typstai.proposals.hunks")
  local mine = vim.tbl_filter(function(proposal)
    return proposal.chat == chat
  end, hunks.proposals())
  return hunks.undecided(mine)
end

local function is_in_view(hunk, row0)
  return vim.iter(vim.fn.win_findbuf(hunk.proposal.bufnr)):any(function(win)
    return row0 + 1 >= vim.fn.line("w0", win) and row0 < vim.fn.line("w$", win)
  end)
end

-- "" when one of them can be seen.
local function place_of(hunks)
  local first, first_row0
  for _, hunk in ipairs(hunks) do
    local row0 = require("typstai.proposals.hunks").look(hunk)
    if is_in_view(hunk, row0) then
      return ""
    elseif not first or row0 < first_row0 then
      first, first_row0 = hunk, row0
    end
  end
  local name = vim.fs.basename(vim.api.nvim_buf_get_name(first.proposal.bufnr))
  local count = #hunks == 1 and "1 hunk" or #hunks .. " hunks"
  return ("%s in %s:%d"):format(count, require("typstai.chat.page").clean(name), first_row0 + 1)
end

local function keys_of_review()
  local words = {}
  for _, name in ipairs({ "next", "accept", "reject" }) do
    local lhs = require("typstai.review.keymaps").shown(name)
    if lhs ~= "" then
      table.insert(words, lhs .. " " .. name)
    end
  end
  return words
end

local function keys_of_approval()
  local keys, words = require("typstai.config").get().keymaps.chat, {}
  for _, pair in ipairs({ { "once", "once" }, { "deny", "deny" } }) do
    if keys[pair[1]] then
      table.insert(words, keys[pair[1]] .. " " .. pair[2])
    end
  end
  return words
end

local function asks(chat)
  return vim.iter(require("typstai.chat.approvals").list()):any(function(request)
    return request.chat == chat
  end)
end

--- How to go on in a chat; nil when nothing of it waits.
---@param chat string
---@return string[]|nil
function M.words(chat)
  if asks(chat) then
    return keys_of_approval()
  end
  local hunks = pending_hunks(chat)
  if #hunks == 0 then
    return nil
  end
  local place = place_of(hunks)
  return vim.list_extend(place ~= "" and { place } or {}, keys_of_review())
end

--- The key hint below the prompt, in pieces that may stand below each other.
---@param chat string|nil nil while it is on its way
---@return string[]
function M.hint(chat)
  local waiting = chat and M.words(chat)
  if waiting then
    return waiting
  end
  local keys = require("typstai.config").get().keymaps.chat
  local words = {}
  local shown = { { "send_insert", "send" }, { "stop", "stop" }, { "help", "help" } }
  for _, entry in ipairs(shown) do
    if keys[entry[1]] then
      table.insert(words, keys[entry[1]] .. " " .. entry[2])
    end
  end
  return words
end

return M
