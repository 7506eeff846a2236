-- What the compiler finds, shown through `vim.diagnostic` where no language server
-- does it. Checks begin with the host: opening a file alone starts nothing.
local M = {}

local namespace = vim.api.nvim_create_namespace("typstai")
local group = vim.api.nvim_create_augroup("typstai.diagnostics", { clear = true })

-- How long the text must rest before it is compiled.
local REST_MS = 400

local SEVERITY = {
  error = vim.diagnostic.severity.ERROR,
  warning = vim.diagnostic.severity.WARN,
}

---@type table<integer, uv.uv_timer_t>
local timers = {}

local function wanted(bufnr)
  return vim.api.nvim_buf_is_loaded(bufnr)
    and vim.bo[bufnr].filetype == "typst"
    and vim.bo[bufnr].buftype == ""
    and require("typstai.config").get().typst.diagnostics
    and #vim.lsp.get_clients({ bufnr = bufnr }) == 0
end

local function converted(item)
  return {
    lnum = item.row0,
    col = item.byte_col,
    end_lnum = item.end_row0,
    end_col = item.end_byte_col,
    severity = SEVERITY[item.severity],
    message = table.concat(vim.list_extend({ item.message }, item.hints), "\nhint: "),
    source = item.source,
  }
end

local function show(bufnr, found)
  local counts = { error = 0, warning = 0 }
  for _, item in ipairs(found) do
    counts[item.severity] = counts[item.severity] + 1
  end
  vim.diagnostic.set(namespace, bufnr, vim.tbl_map(converted, found))
  require("typstai.events").emit({
    name = "TypstAIDiagnostics",
    data = { bufnr = bufnr, counts = counts },
  })
end

-- Shows the findings in every buffer of the project; those of `bufnr` only when they
-- are of the text as it still is.
local function publish(bufnr, result)
  local files = result.files or {}
  for _, other in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(other)
    local inside = name ~= "" and vim.startswith(name, result.root .. "/")
    if wanted(other) and (other == bufnr or inside) then
      show(other, files[name] or (other == bufnr and files[""]) or {})
    end
  end
end

--- Compiles the project of a buffer and shows what was found.
---@param bufnr integer
function M.check(bufnr)
  if not wanted(bufnr) or require("typstai.host").state ~= "running" then
    return
  end
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  require("typstai.rpc").call("diagnostics.check", { bufnr = bufnr }, function(err, result)
    local still = vim.api.nvim_buf_is_loaded(bufnr)
      and vim.api.nvim_buf_get_changedtick(bufnr) == tick
    if not err and result.status == "checked" and still then
      publish(bufnr, result)
    end
  end)
end

-- Checks when the text has rested; each change begins the rest again.
local function soon(bufnr)
  local timer = timers[bufnr] or assert(vim.uv.new_timer())
  timers[bufnr] = timer
  timer:start(
    REST_MS,
    0,
    vim.schedule_wrap(function()
      M.check(bufnr)
    end)
  )
end

local function forget(bufnr)
  if timers[bufnr] then
    timers[bufnr]:close()
    timers[bufnr] = nil
  end
end

--- Begins to watch the Typst buffers. Called when the host has started.
function M.start()
  vim.api.nvim_clear_autocmds({ group = group })
  local events = { "BufWritePost", "InsertLeave", "TextChanged", "BufWinEnter" }
  vim.api.nvim_create_autocmd(events, {
    group = group,
    callback = function(event)
      if wanted(event.buf) then
        soon(event.buf)
      end
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    group = group,
    callback = function(event)
      forget(event.buf)
    end,
  })
  vim.api.nvim_create_autocmd("LspAttach", {
    group = group,
    callback = function(event)
      vim.diagnostic.reset(namespace, event.buf)
    end,
  })
  vim.api.nvim_create_autocmd("User", {
    group = group,
    pattern = "TypstAIProposalResolved",
    callback = function()
      for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
        if wanted(bufnr) and vim.fn.bufwinid(bufnr) ~= -1 then
          soon(bufnr)
        end
      end
    end,
  })
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if wanted(bufnr) then
      soon(bufnr)
    end
  end
end

return M
