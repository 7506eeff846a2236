-- Editing a proposed change before it is accepted: its new lines in a scratch buffer,
-- where :write takes them over.
local M = {}

local api = vim.api

local function take_over(bufnr, hunk)
  local text = table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n")
  local ok, err = require("typstai.proposals").edit(hunk.proposal.id, hunk.id, text)
  if ok then
    vim.bo[bufnr].modified = false
  else
    require("typstai.message").show({ message = err.message, level = "warn" })
  end
end

local function scratch(hunk)
  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(bufnr, ("typstai://%s/%s"):format(hunk.proposal.id, hunk.id))
  api.nvim_buf_set_lines(bufnr, 0, -1, false, hunk.new)
  vim.bo[bufnr].buftype = "acwrite"
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].filetype = vim.bo[hunk.proposal.bufnr].filetype
  vim.bo[bufnr].modified = false
  api.nvim_create_autocmd("BufWriteCmd", {
    buffer = bufnr,
    desc = "typstai: take the edited change over",
    callback = function()
      take_over(bufnr, hunk)
    end,
  })
  return bufnr
end

--- Opens the new lines of an undecided hunk below the document. Code: `no_buffer`.
---@param hunk typstai.LiveHunk
---@return boolean|nil, typstai.Error|nil
function M.open(hunk)
  local err = require("typstai.proposals.closed").reopen(hunk.proposal.bufnr)
  if err then
    return nil, err
  end
  local name = ("typstai://%s/%s"):format(hunk.proposal.id, hunk.id)
  local bufnr = vim.fn.bufnr(vim.fn.escape(name, "[]*?{}"))
  if bufnr == -1 then
    bufnr = scratch(hunk)
  end
  local height = math.min(math.max(#hunk.new, 3), 15)
  local below = require("typstai.text.buffer").show(hunk.proposal.bufnr)
  api.nvim_open_win(bufnr, true, { split = "below", win = below, height = height })
  return true
end

return M
