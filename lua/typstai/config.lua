-- The options: one schema from which defaults, validation and :help come.
local M = {}

---@class typstai.Option
---@field [1] string dotted path
---@field type string|string[] Lua type or types
---@field oneof? string[] the only values allowed
---@field default any
---@field help string one line

local ON_OFF = { "string", "boolean" }
local KEYMAPS = "^keymaps%."

---@type typstai.Option[]
M.SCHEMA = {
  { "models", type = "table", default = {}, help = "Model endpoints; see |typstai-models|." },
  { "default_model", type = "string", default = "", help = "Name of the model to start with." },
  {
    "mode",
    type = "string",
    oneof = { "edit", "read" },
    default = "edit",
    help = "`read` offers no editing tools.",
  },
  {
    "approval",
    type = "string",
    oneof = { "review", "suggest", "auto" },
    default = "review",
    help = "Whether edits wait for you; see |typstai-approval|.",
  },
  { "system_prompt", type = "string", default = "", help = "Added to the built-in prompt." },
  { "actions.model", type = "string", default = "", help = "Model for text actions." },
  {
    "actions.context_blocks",
    type = "number",
    default = 2,
    help = "Paragraphs on either side that the model is shown.",
  },
  { "actions.redact", type = "boolean", default = false, help = "Offer the action `redact`." },
  {
    "actions.custom",
    type = "table",
    default = {},
    help = "Your own actions; see |typstai-actions-custom|.",
  },
  {
    "action_transport",
    type = "table",
    default = {},
    help = "A server that answers text actions; see |typstai-actions-server|.",
  },
  { "tools.disable", type = "table", default = {}, help = "Names of built-in tools to leave out." },
  {
    "typst.main",
    type = "string",
    default = "",
    help = "Main file; found by includes when empty.",
  },
  { "typst.root", type = "string", default = "", help = "Project folder; found when empty." },
  { "typst.packages", type = "string", default = "", help = "Folder of installed packages." },
  { "typst.font_paths", type = "table", default = {}, help = "More folders with fonts." },
  { "typst.timeout", type = "number", default = 20, help = "Seconds one compilation may take." },
  { "typst.memory", type = "number", default = 4096, help = "MiB the compiler may use." },
  {
    "typst.diagnostics",
    type = "boolean",
    default = true,
    help = "Show what the compiler finds where no language server is attached.",
  },
  { "typst.markers", type = "table", default = {}, help = "More names that mark a project." },
  { "autocomplete.enabled", type = "boolean", default = false, help = "Ghost text everywhere." },
  {
    "autocomplete.model",
    type = "string",
    default = "",
    help = "Name of the model that ghost text asks; none when empty.",
  },
  {
    "autocomplete.debounce",
    type = "number",
    default = 300,
    help = "Milliseconds without typing before it is asked.",
  },
  {
    "autocomplete.context_blocks",
    type = "number",
    default = 2,
    help = "Paragraphs on either side that it is shown.",
  },
  {
    "autocomplete.filetypes",
    type = "table",
    default = { "typst" },
    help = "File types in which ghost text comes.",
  },
  {
    "autocomplete.projects",
    type = "table",
    default = {},
    help = "Project folders in which ghost text is on from the start.",
  },
  { "limits.tool_rounds", type = "number", default = 32, help = "Tool rounds one run may take." },
  {
    "limits.decision_timeout",
    type = "number",
    default = 0,
    help = "Seconds after which a change that waits for you counts as rejected; 0: never.",
  },
  { "ui.width", type = "number", default = 0.42, help = "Width of the chat: a share, or columns." },
  {
    "ui.start_insert",
    type = "boolean",
    default = true,
    help = "Begin to type in the prompt when the chat opens.",
  },
  { "ui.ascii", type = "boolean", default = false, help = "Draw with ASCII characters only." },
  {
    "log.level",
    type = "string",
    oneof = { "debug", "info", "warn" },
    default = "info",
    help = "What is logged.",
  },
  { "keymaps.chat.send", type = ON_OFF, default = "<CR>", help = "Send (normal mode)." },
  { "keymaps.chat.send_insert", type = ON_OFF, default = "<C-s>", help = "Send (insert mode)." },
  { "keymaps.chat.stop", type = ON_OFF, default = "<C-c>", help = "Stop the run." },
  { "keymaps.chat.next", type = ON_OFF, default = "]]", help = "Next message." },
  { "keymaps.chat.prev", type = ON_OFF, default = "[[", help = "Previous message." },
  { "keymaps.chat.accept", type = ON_OFF, default = "a", help = "Accept the hunks of this call." },
  { "keymaps.chat.reject", type = ON_OFF, default = "r", help = "Reject the hunks of this call." },
  { "keymaps.chat.accept_all", type = ON_OFF, default = "A", help = "Accept all of the chat." },
  { "keymaps.chat.reject_all", type = ON_OFF, default = "R", help = "Reject all of the chat." },
  { "keymaps.chat.edit", type = ON_OFF, default = "e", help = "Edit the proposed text." },
  { "keymaps.chat.diff", type = ON_OFF, default = "d", help = "Show the proposal side by side." },
  { "keymaps.chat.once", type = ON_OFF, default = "o", help = "Allow this tool call once." },
  { "keymaps.chat.run", type = ON_OFF, default = "u", help = "Allow the tool for this run." },
  { "keymaps.chat.deny", type = ON_OFF, default = "n", help = "Deny this tool call." },
  { "keymaps.chat.revert", type = ON_OFF, default = "r", help = "Revert this answer's edits." },
  { "keymaps.chat.snapshot", type = ON_OFF, default = "s", help = "Show the state after it." },
  { "keymaps.chat.unfold", type = ON_OFF, default = "<Tab>", help = "Show or hide a detail." },
  { "keymaps.chat.help", type = ON_OFF, default = "g?", help = "Show the keys." },
  { "keymaps.chat.close", type = ON_OFF, default = "q", help = "Close the chat." },
  { "keymaps.actions.rephrase", type = ON_OFF, default = "<LocalLeader>wr", help = "Rephrase." },
  { "keymaps.actions.simplify", type = ON_OFF, default = "<LocalLeader>ws", help = "Simplify." },
  {
    "keymaps.actions.style",
    type = ON_OFF,
    default = "<LocalLeader>wy",
    help = "Change the tone.",
  },
  { "keymaps.actions.translate", type = ON_OFF, default = "<LocalLeader>wt", help = "Translate." },
  {
    "keymaps.actions.continue",
    type = ON_OFF,
    default = "<LocalLeader>wc",
    help = "Continue writing.",
  },
  {
    "keymaps.actions.fix",
    type = ON_OFF,
    default = "<LocalLeader>wf",
    help = "Fix spelling and grammar.",
  },
  { "keymaps.actions.ask", type = ON_OFF, default = "<LocalLeader>wa", help = "Ask for a change." },
  { "keymaps.actions.redact", type = ON_OFF, default = false, help = "Redact personal data." },
  { "keymaps.actions.stop", type = ON_OFF, default = "<C-c>", help = "Stop the actions here." },
  { "keymaps.ghost.accept", type = ON_OFF, default = "<Tab>", help = "Accept the ghost text." },
  { "keymaps.ghost.accept_word", type = ON_OFF, default = "<M-w>", help = "Accept its next word." },
  { "keymaps.ghost.accept_line", type = ON_OFF, default = "<M-l>", help = "Accept its next line." },
  { "keymaps.ghost.dismiss", type = ON_OFF, default = "<C-]>", help = "Dismiss the ghost text." },
  { "keymaps.review.next", type = ON_OFF, default = "]c", help = "Next hunk." },
  { "keymaps.review.prev", type = ON_OFF, default = "[c", help = "Previous hunk." },
  { "keymaps.review.accept", type = ON_OFF, default = "<LocalLeader>a", help = "Accept the hunk." },
  { "keymaps.review.reject", type = ON_OFF, default = "<LocalLeader>r", help = "Reject the hunk." },
  {
    "keymaps.review.accept_call",
    type = ON_OFF,
    default = "<LocalLeader>A",
    help = "Accept all hunks of the call.",
  },
  {
    "keymaps.review.reject_call",
    type = ON_OFF,
    default = "<LocalLeader>R",
    help = "Reject all hunks of the call.",
  },
}

---@type table
local options

local function path_of(option)
  return vim.split(option[1], ".", { plain = true })
end

local function defaults()
  local tree = {}
  for _, option in ipairs(M.SCHEMA) do
    local node, keys = tree, path_of(option)
    for i = 1, #keys - 1 do
      node[keys[i]] = node[keys[i]] or {}
      node = node[keys[i]]
    end
    node[keys[#keys]] = vim.deepcopy(option.default)
  end
  return tree
end

---@param option typstai.Option
---@param value any
---@return string|nil problem
local function check(option, value)
  local types = type(option.type) == "table" and option.type or { option.type }
  if not vim.tbl_contains(types, type(value)) then
    return ("%s must be a %s."):format(option[1], table.concat(types, " or a "))
  end
  if option[1]:find(KEYMAPS) and (value == true or value == "") then
    return ("%s must be a key, or false for none."):format(option[1])
  end
  if option.oneof and not vim.tbl_contains(option.oneof, value) then
    return ("%s must be one of %s."):format(option[1], table.concat(option.oneof, ", "))
  end
end

--- Lays `given` over `tree`; what is unknown or wrong is left out and told.
local function merge(tree, given, prefix, known, problems)
  for key, value in pairs(given) do
    local path = prefix .. tostring(key)
    local option = known[path]
    if option then
      local problem = check(option, value)
      if problem then
        table.insert(problems, problem)
      else
        tree[key] = vim.deepcopy(value)
      end
    elseif type(tree[key]) == "table" and type(value) == "table" then
      merge(tree[key], value, path .. ".", known, problems)
    else
      table.insert(problems, ("There is no option %s."):format(path))
    end
  end
end

---@type string[]
M.problems = {}

local function tell(problems)
  if #problems == 0 then
    return
  end
  local more = #problems > 1 and (" %d more: :checkhealth typstai."):format(#problems - 1) or ""
  require("typstai.message").show({ level = "warn", message = problems[1] .. more })
end

--- Takes the user's options over the defaults. Wrong ones are told once and left out.
---@param given any
function M.set(given)
  local known = {}
  for _, option in ipairs(M.SCHEMA) do
    known[option[1]] = option
  end
  options, M.problems = defaults(), {}
  if type(given) == "table" then
    merge(options, given, "", known, M.problems)
  else
    table.insert(M.problems, "setup() takes a table of options.")
  end
  table.sort(M.problems)
  tell(M.problems)
end

--- Adds what the Python half found wrong with the options.
---@param problems string[]
function M.add_problems(problems)
  vim.list_extend(M.problems, problems)
  tell(problems)
end

--- The options in force: defaults under what the user gave. Do not change the table.
---@return table
function M.get()
  options = options or defaults()
  return options
end

return M
