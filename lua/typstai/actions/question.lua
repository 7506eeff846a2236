-- Asks for what an action needs to know: completed, and remembered. Neovim keeps a global
-- variable in 'shada' when its name has no lower-case letter: tone and language outlive it.
local M = {}

local TONES =
  { "academic", "casual", "concise", "confident", "formal", "friendly", "neutral", "vivid" }
local LANGUAGES = {
  "Arabic",
  "Chinese",
  "Czech",
  "Dutch",
  "English",
  "French",
  "German",
  "Hindi",
  "Italian",
  "Japanese",
  "Korean",
  "Polish",
  "Portuguese",
  "Russian",
  "Spanish",
  "Swedish",
  "Turkish",
  "Ukrainian",
}
local QUESTIONS = {
  tone = {
    variable = "TYPSTAI_TONE",
    input = {
      prompt = "Tone: ",
      completion = "customlist,v:lua.require'typstai.actions.question'.tones",
    },
  },
  language = {
    variable = "TYPSTAI_LANGUAGE",
    input = {
      prompt = "Language: ",
      completion = "customlist,v:lua.require'typstai.actions.question'.languages",
    },
  },
  instructions = { variable = "typstai_instructions", input = { prompt = "Change it how? " } },
}

local function matching(words)
  return function(lead)
    return vim.tbl_filter(function(word)
      return vim.startswith(word:lower(), lead:lower())
    end, words)
  end
end

M.tones = matching(TONES)
M.languages = matching(LANGUAGES)

--- Completes an answer.
---@param name string|nil "tone", "language", or what has no completion
---@param lead string
---@return string[]
function M.complete(name, lead)
  local complete = ({ tone = M.tones, language = M.languages })[name]
  return complete and complete(lead) or {}
end

--- What was answered last. Anybody can write the variable, and a file brings it.
local function remembered(variable)
  local answer = vim.g[variable]
  return type(answer) == "string" and not answer:find("%c") and answer or nil
end

--- Asks for a parameter, unless there is none to ask for or it is given.
---@param name string|nil
---@param given table<string, string>|nil
---@param answered fun(params: table<string, string>) gets all parameters
---@param cancelled fun()
function M.ask(name, given, answered, cancelled)
  local params = vim.deepcopy(given or {})
  if not name or (params[name] or "") ~= "" then
    return answered(params)
  end
  local question = QUESTIONS[name]
  local input = vim.tbl_extend("force", question.input, { default = remembered(question.variable) })
  vim.ui.input(input, function(text)
    local answer = vim.trim(text or "")
    if answer == "" then
      return cancelled()
    end
    vim.g[question.variable], params[name] = answer, answer
    answered(params)
  end)
end

return M
