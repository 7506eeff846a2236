-- Files that are there whole or not at all, also when the disk is full: a write may then be
-- cut short without an error.
local M = {}

local MODE = tonumber("600", 8)

local function write_all(fd, data)
  local offset = 0
  while offset < #data do
    local count, err = vim.uv.fs_write(fd, data:sub(offset + 1), offset)
    if not count then
      return err
    end
    offset = offset + count
  end
end

local function sync(fd)
  local _, err = vim.uv.fs_fsync(fd)
  return err
end

local function write(path, data, is_synced)
  local fd, err = vim.uv.fs_open(path, "w", MODE)
  if not fd then
    return err
  end
  err = write_all(fd, data) or (is_synced and sync(fd) or nil)
  vim.uv.fs_close(fd)
  return err
end

--- Writes a file, readable by its user alone, over the one that is there.
---@param path string
---@param temporary string beside it, of this Neovim's own; gone afterwards
---@param data string
---@param is_synced? boolean whether the data must be on disk when this returns
---@return string|nil err what the system said
function M.put(path, temporary, data, is_synced)
  local err = write(temporary, data, is_synced)
  if not err then
    local _, failed = vim.uv.fs_rename(temporary, path)
    err = failed
  end
  if err then
    vim.uv.fs_unlink(temporary)
  end
  return err
end

--- A name that was made survives a power failure once its folder is on disk.
---@param folder string
function M.sync_folder(folder)
  local fd = vim.uv.fs_open(folder, "r", 0)
  if fd then
    sync(fd)
    vim.uv.fs_close(fd)
  end
end

return M
