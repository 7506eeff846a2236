-- The review keys: they exist in a buffer only while something in it is undecided.
local M = {}

---@type table<integer, fun()> gives the user's maps back, by buffer
local lent = {}

local function say(err)
  if err then
    require("typstai.message").show({ message = err.message, level = "warn" })
  end
end

-- What an operator does at the cursor, or on the rows of a selection; the dot command
-- runs it again.
---@type fun(first: integer|nil, last: integer|nil)
local operation

--- Called by Neovim as 'operatorfunc'.
function M.operate()
  operation()
end

local function repeatable(run)
  return function()
    operation = run
    vim.o.operatorfunc = "v:lua.require'typstai.review.keymaps'.operate"
    return "g@l"
  end
end

local function call_under_cursor()
  local hunk = require("typstai.review.jump").under_cursor()
  return hunk and hunk.proposal.id
end

local function decide_hunk(method)
  return function()
    local _, err = require("typstai.proposals")[method]()
    say(err)
  end
end

local function decide_call(method)
  return function()
    local proposals = require("typstai.proposals")
    local _, err = proposals[method](call_under_cursor())
    say(err)
  end
end

-- In a selection every change that it touches is meant.
local function decide_selection(method)
  return function()
    local first, last = vim.fn.line("v") - 1, vim.fn.line(".") - 1
    vim.api.nvim_feedkeys(vim.keycode("<Esc>"), "nx", false)
    local jump = require("typstai.review.jump")
    local picked = jump.in_rows(math.min(first, last), math.max(first, last))
    for _, hunk in ipairs(picked) do
      local _, err = require("typstai.proposals")[method](hunk.proposal.id, { hunk = hunk.id })
      say(err)
    end
  end
end

-- In a window of Neovim's diff mode the keys keep their meaning there.
local function motion(method, builtin)
  return function()
    local count = vim.v.count1
    if vim.wo.diff then
      vim.cmd.normal({ count .. builtin, bang = true })
    else
      require("typstai.proposals")[method](count)
    end
  end
end

local function actions()
  return {
    next = { desc = "next proposed change", both = motion("next", "]c") },
    prev = { desc = "previous proposed change", both = motion("prev", "[c") },
    accept = {
      desc = "accept this change",
      normal = repeatable(decide_hunk("accept")),
      visual = decide_selection("accept"),
    },
    reject = {
      desc = "reject this change",
      normal = repeatable(decide_hunk("reject")),
      visual = decide_selection("reject"),
    },
    accept_call = {
      desc = "accept all changes of this call",
      normal = repeatable(decide_call("accept")),
    },
    reject_call = {
      desc = "reject all changes of this call",
      normal = repeatable(decide_call("reject")),
    },
  }
end

local function mappings()
  local list = {}
  local function add(modes, lhs, rhs, opts)
    table.insert(list, { modes = modes, lhs = lhs, rhs = rhs, opts = opts })
  end
  for name, action in pairs(actions()) do
    local lhs = require("typstai.config").get().keymaps.review[name]
    local desc = "typstai: " .. action.desc
    if lhs and lhs ~= "" and action.both then
      add({ "n", "x" }, lhs, action.both, { desc = desc })
    elseif lhs and lhs ~= "" then
      add({ "n" }, lhs, action.normal, { expr = true, desc = desc })
      if action.visual then
        add({ "x" }, lhs, action.visual, { desc = desc })
      end
    end
  end
  return list
end

--- The keys of an action as the user would type them; "" when it has none.
---@param name string of the option `keymaps.review`
---@return string
function M.shown(name)
  local lhs = require("typstai.config").get().keymaps.review[name]
  if not lhs or lhs == "" then
    return ""
  end
  local leader = vim.g.maplocalleader
  leader = (leader == nil or leader == "") and "\\" or vim.fn.keytrans(leader)
  return (lhs:gsub("<[Ll]ocal[Ll]eader>", (leader:gsub("%%", "%%%%"))))
end

--- Sets the review keys in a buffer, unless they are there.
---@param bufnr integer
function M.attach(bufnr)
  lent[bufnr] = lent[bufnr] or require("typstai.mapping").lend(bufnr, mappings())
end

--- Takes them away and gives the user's own maps back.
---@param bufnr integer
function M.detach(bufnr)
  local give_back = lent[bufnr]
  lent[bufnr] = nil
  if give_back then
    give_back()
  end
end

return M
