-- The keys of ghost text: they exist in a buffer only while some is shown there.
local M = {}

---@type fun()|nil gives the user's own maps back
local give_back

local ACTIONS = {
  { "accept", "accept the ghost text", "accept", "all" },
  { "accept_word", "accept a word of the ghost text", "accept", "word" },
  { "accept_line", "accept a line of the ghost text", "accept", "line" },
  { "dismiss", "dismiss the ghost text", "dismiss" },
}

local function mappings()
  local list = {}
  for _, action in ipairs(ACTIONS) do
    local lhs = require("typstai.config").get().keymaps.ghost[action[1]]
    if lhs and lhs ~= "" then
      list[#list + 1] = {
        modes = { "i" },
        lhs = lhs,
        rhs = function()
          require("typstai.ghost")[action[3]](action[4])
        end,
        opts = { desc = "typstai: " .. action[2] },
      }
    end
  end
  return list
end

--- Sets the keys, unless they are there.
---@param bufnr integer
function M.attach(bufnr)
  give_back = give_back or require("typstai.mapping").lend(bufnr, mappings())
end

--- Takes them away and gives the user's own maps back.
function M.detach()
  local undo = give_back
  give_back = nil
  if undo then
    undo()
  end
end

return M
