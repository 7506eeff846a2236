-- A proposal beside the document, in Neovim's own diff mode: left the document as it
-- is, right how it would be.
local M = {}

local api = vim.api

-- The document's lines with what is pending of the proposal in place.
local function proposed_lines(proposal)
  local hunks = require("typstai.proposals.hunks")
  local lines = api.nvim_buf_get_lines(proposal.bufnr, 0, -1, false)
  local pending = vim.tbl_filter(function(hunk)
    hunks.look(hunk)
    return hunk.state == "pending"
  end, hunks.undecided({ proposal }))
  return require("typstai.text.changed").lines(lines, pending)
end

local function scratch(proposal)
  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(bufnr, 0, -1, false, proposed_lines(proposal))
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].filetype = vim.bo[proposal.bufnr].filetype
  vim.bo[bufnr].modifiable = false
  return bufnr
end

-- Diff mode cuts long lines off, which is no way to read prose.
local function diff_here(win, title, wrap)
  api.nvim_win_call(win, function()
    vim.cmd.diffthis()
  end)
  vim.wo[win][0].wrap = wrap
  vim.wo[win][0].winbar = title
end

-- The two windows in a tab page of their own.
local function open_windows(bufnr, proposed)
  local wrap = vim.wo.wrap
  vim.cmd("tab split")
  local left = api.nvim_get_current_win()
  api.nvim_win_set_buf(left, bufnr)
  local right = api.nvim_open_win(proposed, false, { split = "right", win = left })
  diff_here(left, "document", wrap)
  diff_here(right, "proposed%=q close", wrap)
  return left, right
end

local function close_tab(left, proposed)
  if api.nvim_win_is_valid(left) then
    -- Window options are remembered for the buffer: they must not stay those of a diff.
    api.nvim_win_call(left, function()
      vim.cmd.diffoff()
      vim.wo[left][0].winbar = ""
    end)
  end
  if api.nvim_buf_is_valid(proposed) then
    api.nvim_buf_delete(proposed, { force = true })
  end
  if api.nvim_win_is_valid(left) and #api.nvim_list_tabpages() > 1 then
    api.nvim_win_close(left, true)
  end
end

-- Lends `q` to both buffers; when either window is gone, everything is put back.
local function close_with(bufnr, proposed, left, origin)
  local give_back
  local function close()
    give_back()
    close_tab(left, proposed)
    if api.nvim_win_is_valid(origin) then
      api.nvim_set_current_win(origin)
    end
    require("typstai.review").pause(bufnr, false)
  end
  local function quit()
    api.nvim_buf_delete(proposed, { force = true })
  end
  local map = {
    modes = { "n" },
    lhs = "q",
    rhs = quit,
    opts = { desc = "typstai: close the side by side view" },
  }
  give_back = require("typstai.mapping").lend(bufnr, { map })
  require("typstai.mapping").lend(proposed, { map })
  api.nvim_create_autocmd("BufWipeout", {
    buffer = proposed,
    once = true,
    desc = "typstai: close the side by side view",
    callback = vim.schedule_wrap(close),
  })
  api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(left),
    once = true,
    desc = "typstai: close the side by side view",
    callback = vim.schedule_wrap(function()
      if api.nvim_buf_is_valid(proposed) then
        quit()
      end
    end),
  })
end

local function named(id)
  local hunks = require("typstai.proposals.hunks")
  if id then
    return hunks.get(id)
  end
  local hunk = require("typstai.review.jump").under_cursor()
  return hunk and hunk.proposal or hunks.proposals(api.nvim_get_current_buf())[1]
end

--- Opens the view of an undecided proposal; `q` closes it.
--- Codes: `unknown_proposal`, `already_resolved`, `no_buffer`.
---@param id? string the one under the cursor, or the buffer's first, when left out
---@return boolean|nil, typstai.Error|nil
function M.open(id)
  local proposal, is_resolved = named(id)
  if is_resolved then
    return nil, { code = "already_resolved", message = "The proposal is already decided." }
  end
  if not proposal then
    return nil, { code = "unknown_proposal", message = "No change is proposed here." }
  end
  local bufnr, origin = proposal.bufnr, api.nvim_get_current_win()
  local err = require("typstai.proposals.closed").reopen(bufnr)
  if err then
    return nil, err
  end
  local review = require("typstai.review")
  review.pause(bufnr, true)
  local proposed = scratch(proposal)
  local left = open_windows(bufnr, proposed)
  close_with(bufnr, proposed, left, origin)
  return true
end

return M
