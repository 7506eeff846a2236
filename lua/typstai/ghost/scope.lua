-- Where ghost text is on: what the user chose in this session, else the options.
local M = {}

-- The user's choices. One for a wider place forgets those for the places within.
---@type boolean|nil
local everywhere
---@type table<string, boolean>
local projects = {}
---@type table<integer, boolean>
local buffers = {}

local MARKERS = { "typst.toml", ".git" }

--- The project of a buffer: the nearest parent folder with a marker, else its folder.
---@param bufnr integer
---@return string absolute
function M.project_of(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  local path = name ~= "" and name or vim.fn.getcwd()
  local markers = vim.list_extend(
    vim.list_slice(MARKERS),
    vim.tbl_get(require("typstai.config").get(), "typst", "markers") or {}
  )
  return vim.fs.root(path, markers) or (name ~= "" and vim.fs.dirname(name) or path)
end

local function same_folder(option)
  return vim.fs.normalize(vim.fn.fnamemodify(option, ":p")):gsub("/$", "")
end

local function by_options(project)
  local options = require("typstai.config").get().autocomplete
  if options.enabled then
    return true
  end
  return vim.iter(options.projects):any(function(folder)
    return same_folder(folder) == project
  end)
end

local function wanted(bufnr)
  local options = require("typstai.config").get().autocomplete
  -- Finding the project asks the disk, and this is asked with every key.
  if next(projects) == nil and (everywhere ~= nil or options.enabled or #options.projects == 0) then
    return everywhere == nil and options.enabled or everywhere == true
  end
  local project = M.project_of(bufnr)
  if projects[project] ~= nil then
    return projects[project]
  elseif everywhere ~= nil then
    return everywhere
  end
  return by_options(project)
end

--- Switches it on or off: in a buffer, in a project, or everywhere.
---@param is_on boolean
---@param place { bufnr?: integer, project?: string }
function M.set(is_on, place)
  if place.bufnr then
    buffers[place.bufnr] = is_on
  elseif place.project then
    projects[place.project] = is_on
    for bufnr in pairs(buffers) do
      if not vim.api.nvim_buf_is_valid(bufnr) or M.project_of(bufnr) == place.project then
        buffers[bufnr] = nil
      end
    end
  else
    everywhere, projects, buffers = is_on, {}, {}
  end
end

--- Whether it is on in a buffer. Only text that can be written counts, and only file types
--- of `autocomplete.filetypes`, unless the user asked for this very buffer.
---@param bufnr integer
---@return boolean
function M.is_on(bufnr)
  if vim.bo[bufnr].buftype ~= "" or not vim.bo[bufnr].modifiable then
    return false
  elseif buffers[bufnr] ~= nil then
    return buffers[bufnr]
  end
  local filetypes = require("typstai.config").get().autocomplete.filetypes
  return vim.tbl_contains(filetypes, vim.bo[bufnr].filetype) and wanted(bufnr)
end

return M
