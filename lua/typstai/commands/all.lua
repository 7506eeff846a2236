-- The subcommands of :TypstAI: what they do, what they take and how they complete, in one
-- table.

---@class typstai.Command
---@field run fun(args: string[], command: table)
---@field takes? integer how many words may follow; none when left out
---@field complete? fun(args: string[]): string[]
---@field args? integer how many words are completed; one when left out
---@field anywhere? boolean it opens no window, so it works from the command-line window too
---@field help string

local NOTHING = { message = "No change is proposed." }

local function tell(level)
  return function(err)
    if err then
      require("typstai.message").show({ level = level, message = err.message })
    end
  end
end

local function choose(method, prompt, names)
  vim.ui.select(names, { prompt = prompt }, function(name)
    if name then
      require("typstai.rpc").call(method, { name = name }, tell("error"))
    end
  end)
end

--- A command that sets one of a few values: by name, or chosen from a list.
local function choice(method, prompt, names, help)
  return {
    help = help,
    takes = 1,
    complete = function()
      return names
    end,
    run = function(args)
      if not args[1] then
        choose(method, prompt, names)
      elseif vim.tbl_contains(names, args[1]) then
        require("typstai.rpc").call(method, { name = args[1] }, tell("error"))
      else
        local message = ("%s is one of %s."):format(prompt, table.concat(names, ", "))
        tell("warn")({ message = message })
      end
    end,
  }
end

--- What is configured first, then what the servers list; why one lists none is told once.
local function pick_model()
  require("typstai.rpc").call("model.list", vim.empty_dict(), function(err, models)
    if err then
      tell("error")(err)
      return
    end
    if #models.problems > 0 then
      tell("info")({ message = table.concat(models.problems, " ") })
    end
    local names = vim.list_extend(models.names, models.live)
    choose("model.choose", "Model (now " .. models.current .. ")", names)
  end)
end

local function run_action(id, args, command)
  local action = require("typstai.actions.known").get(id or "")
  local answer = table.concat(args, " ")
  if not action then
    return tell("warn")({ message = ("There is no action %s."):format(id or "without a name") })
  elseif answer ~= "" and not action.ask then
    return tell("warn")({ message = ("The action %s takes nothing after it."):format(id) })
  end
  require("typstai.actions").run(id, {
    range = require("typstai.text.selection").of_command(command),
    params = action.ask and answer ~= "" and { [action.ask] = answer } or nil,
  })
end

--- A text action on the range, or on the paragraph under the cursor.
local function action_command(id, help, takes)
  return {
    help = help,
    takes = takes,
    complete = function(words)
      local action = require("typstai.actions.known").get(id)
      return require("typstai.actions.question").complete(action and action.ask, words[2] or "")
    end,
    run = function(args, command)
      run_action(id, args, command)
    end,
  }
end

-- The undecided hunks in the rows of a command's range, each decided on its own.
local function decide_rows(method, command, opts)
  local picked = require("typstai.review.jump").in_rows(command.line1 - 1, command.line2 - 1)
  tell("warn")(#picked == 0 and NOTHING or nil)
  for _, hunk in ipairs(picked) do
    local chosen = vim.tbl_extend("error", { hunk = hunk.id }, opts)
    local _, err = require("typstai.proposals")[method](hunk.proposal.id, chosen)
    tell("warn")(err)
  end
end

--- A function of the proposals, on what is under the cursor.
local function review_command(method, help)
  return {
    help = help,
    run = function()
      local _, err = require("typstai.proposals")[method]()
      tell("warn")(err)
    end,
  }
end

---@type table<string, typstai.Command>
return {
  chat = {
    help = "Open or close the chat.",
    run = function()
      require("typstai.chat").toggle()
    end,
  },
  new = {
    help = "Begin a new chat.",
    run = function()
      require("typstai.chat").enter(require("typstai.chat").new)
    end,
  },
  stop = {
    help = "Stop every run.",
    anywhere = true,
    run = function()
      local actions = require("typstai.actions").stop()
      local runs = require("typstai.chat.outbox").stop(nil, tell("error"))
      tell("info")(not (actions or runs) and { message = "Nothing is running." } or nil)
    end,
  },
  action = {
    takes = math.huge,
    help = "Do a text action, one of your own too, on the range or the paragraph.",
    complete = function()
      return vim.tbl_map(function(action)
        return action.id
      end, require("typstai.actions.known").list())
    end,
    run = function(args, command)
      local id = table.remove(args, 1)
      run_action(id, args, command)
    end,
  },
  actions = {
    help = "Choose a text action for the range or the paragraph.",
    run = function(_, command)
      require("typstai.actions").menu(require("typstai.text.selection").of_command(command))
    end,
  },
  rephrase = action_command("rephrase", "Say it in other words."),
  simplify = action_command("simplify", "Make it easier to read."),
  style = action_command("style", "Change the tone.", math.huge),
  translate = action_command("translate", "Translate it.", math.huge),
  continue = action_command("continue", "Write what comes next."),
  fix = action_command("fix", "Correct spelling and grammar."),
  ask = action_command("ask", "Change it as you say.", math.huge),
  redact = action_command("redact", "Mask personal data."),
  model = {
    help = "Choose the model.",
    takes = math.huge,
    run = function(args)
      if args[1] then
        local name = table.concat(args, " ")
        require("typstai.rpc").call("model.choose", { name = name }, tell("error"))
      else
        pick_model()
      end
    end,
    complete = function()
      local models = require("typstai.config").get().models
      local names = vim.tbl_map(function(model)
        return model.name
      end, models)
      return vim.list_extend(names, { "offline" })
    end,
  },
  mode = choice("mode.choose", "Mode", { "edit", "read" }, "Choose what the agent may do."),
  tools = choice(
    "tools.choose",
    "Tools",
    { "native", "text" },
    "Choose how this model calls tools."
  ),
  approval = choice(
    "approval.choose",
    "Approval",
    { "review", "suggest", "auto" },
    "Choose whether edits wait for you."
  ),
  add = {
    help = "Attach the selection, the page under the cursor, or an image to the next message.",
    takes = math.huge,
    args = 2,
    complete = function(words)
      return require("typstai.chat.add").complete(words)
    end,
    run = function(args, command)
      require("typstai.chat.add").run(args, command)
    end,
  },
  remove = {
    help = "Take something off the next message.",
    run = function()
      require("typstai.chat.attachments").choose_removal()
    end,
  },
  ghost = {
    help = "Switch ghost text on or off: everywhere, in this buffer or project.",
    takes = 2,
    args = 2,
    complete = function(words)
      return #words == 2 and { "on", "off" } or { "buffer", "project" }
    end,
    run = function(args)
      require("typstai.ghost.command").run(args)
    end,
  },
  accept = {
    help = "Accept every pending hunk, or those in the range.",
    run = function(_, command)
      if command.range > 0 then
        return decide_rows("accept", command, {})
      end
      local done, err = require("typstai.proposals").accept_all()
      tell("warn")(err or done.accepted + done.stale == 0 and NOTHING or nil)
    end,
  },
  reject = {
    help = "Reject every pending hunk, or those in the range; the model is told what follows.",
    takes = math.huge,
    run = function(args, command)
      local opts = { reason = table.concat(args, " ") }
      if command.range > 0 then
        return decide_rows("reject", command, opts)
      end
      local done = require("typstai.proposals").reject_all(nil, opts)
      tell("warn")(done.rejected == 0 and NOTHING or nil)
    end,
  },
  edit = review_command("edit", "Edit the change under the cursor before accepting it."),
  diff = review_command("diff", "Show a pending proposal side by side."),
  revert = {
    help = "Revert the last answer's edits, after asking.",
    run = function()
      require("typstai.recovery.revert").ask_last()
    end,
  },
  snapshots = {
    help = "Look at earlier states of this document and put one back.",
    run = function()
      require("typstai.recovery.picker").choose()
    end,
  },
  install = {
    help = "Make the plugin's own Python environment.",
    run = function()
      require("typstai.host.install").run()
    end,
  },
  log = {
    help = "Open the log.",
    run = function()
      vim.cmd.tabedit(vim.fn.fnameescape(require("typstai.host").log_file()))
    end,
  },
}
