-- Proposals that outlive their Neovim: each is kept in a file while something of it is
-- undecided. What a Neovim that ended left behind is listed as lapsed and never applied.
local M = {}

local KEPT = 32
local FOLDER_MODE = tonumber("700", 8)
local SUFFIX = ".json"
local LAPSED = "Neovim ended before this was decided; ask again."

---@class typstai.KeptProposal a proposal as it is in its file
---@field session string of the Neovim that shows it
---@field server string where that Neovim listens
---@field document string absolute path; "" when unnamed
---@field told boolean whether the chat was told that it lapsed
---@field at number seconds since the epoch
---@field id string
---@field chat string
---@field run string
---@field call string
---@field source string
---@field verdict string
---@field hunks typstai.Hunk[]

-- A process number or an address alone may be another Neovim's tomorrow.
local session = ("%x-%x"):format(vim.uv.os_getpid(), vim.uv.hrtime())

---@type typstai.KeptProposal[]|nil oldest first; nil until they are asked for
local lapsed

local function folder()
  return vim.fs.joinpath(require("typstai.host").data_dir(), "proposals")
end

local function path_of(id)
  return vim.fs.joinpath(folder(), vim.fn.sha256(id):sub(1, 32) .. SUFFIX)
end

local function put(kept)
  pcall(vim.fn.mkdir, folder(), "p", FOLDER_MODE)
  local path = path_of(kept.id)
  local file = require("typstai.recovery.whole_file")
  return file.put(path, path .. "." .. session, vim.json.encode(kept))
end

local warned = false

local function warn(err)
  if err and not warned then
    warned = true
    local message = "Proposed changes will be forgotten when Neovim ends (%s)."
    require("typstai.message").show({ level = "warn", message = message:format(err) })
  end
end

local function read(path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local data = file:read("*a")
  file:close()
  local ok, kept = pcall(vim.json.decode, data)
  return ok and type(kept) == "table" and type(kept.hunks) == "table" and kept or nil
end

-- Whether the Neovim that shows the proposal still runs.
local function is_alive(kept, answers)
  if kept.session == session then
    return true
  elseif kept.server == vim.v.servername or kept.server == "" then
    return false
  end
  if answers[kept.server] == nil then
    local ok, channel = pcall(vim.fn.sockconnect, "pipe", kept.server)
    answers[kept.server] = ok and channel > 0
    if answers[kept.server] then
      vim.fn.chanclose(channel)
    end
  end
  return answers[kept.server]
end

local function lapse(kept)
  for _, hunk in ipairs(kept.hunks) do
    if hunk.state == "pending" or hunk.state == "stale" then
      hunk.state, hunk.reason = "lapsed", LAPSED
    end
  end
  return kept
end

local function drop_oldest(found)
  while #found > KEPT do
    vim.uv.fs_unlink(path_of(table.remove(found, 1).id))
  end
end

local function load()
  local found, answers = {}, {}
  for name in vim.fs.dir(folder()) do
    local kept = vim.endswith(name, SUFFIX) and read(vim.fs.joinpath(folder(), name)) or nil
    if kept and not is_alive(kept, answers) then
      table.insert(found, lapse(kept))
    end
  end
  table.sort(found, function(a, b)
    return a.at < b.at
  end)
  drop_oldest(found)
  return found
end

local function all()
  lapsed = lapsed or load()
  return lapsed
end

--- Keeps what is known of an undecided proposal.
---@param proposal typstai.LiveProposal
function M.keep(proposal)
  local seconds, micros = vim.uv.gettimeofday()
  warn(put({
    session = session,
    server = vim.v.servername,
    document = vim.api.nvim_buf_get_name(proposal.bufnr),
    told = false,
    at = seconds + micros / 1e6,
    id = proposal.id,
    chat = proposal.chat,
    run = proposal.run,
    call = proposal.call,
    source = proposal.source,
    verdict = proposal.verdict,
    hunks = require("typstai.proposals.hunks").to_wire(proposal),
  }))
end

--- Forgets a proposal that is decided.
---@param id string
function M.forget(id)
  vim.uv.fs_unlink(path_of(id))
end

--- The lapsed proposals of a buffer's document, or all, in order of arrival.
---@param bufnr? integer
---@return typstai.KeptProposal[]
function M.list(bufnr)
  local document = bufnr and vim.api.nvim_buf_is_valid(bufnr) and vim.api.nvim_buf_get_name(bufnr)
  return vim.tbl_filter(function(kept)
    return bufnr == nil or (document ~= "" and kept.document == document)
  end, all())
end

--- The lapsed proposal of that id, or nil.
---@param id string
---@return typstai.KeptProposal|nil
function M.get(id)
  for _, kept in ipairs(all()) do
    if kept.id == id then
      return kept
    end
  end
end

--- Takes a lapsed proposal off the list for good.
---@param id string
function M.dismiss(id)
  lapsed = vim.tbl_filter(function(kept)
    return kept.id ~= id
  end, all())
  M.forget(id)
end

--- Tells the chats which of their proposals lapsed. The host runs.
function M.tell()
  for _, kept in ipairs(all()) do
    if not kept.told then
      local params = { id = kept.id, chat = kept.chat, hunks = kept.hunks }
      require("typstai.rpc").call("proposal.resolved", params, function(err)
        kept.told = err == nil
        if kept.told and M.get(kept.id) then
          warn(put(kept))
        end
      end)
    end
  end
end

return M
