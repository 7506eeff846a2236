-- Turns and segments as lines and highlight spans. Pure: values in, values out, no
-- call to Neovim's API, so a transcript can be rendered and compared anywhere.
-- Rows of spans are 0-based within the rendered lines, columns are bytes.
local Page = require("typstai.chat.page")
local usage = require("typstai.chat.usage")

local M = {}

---@class typstai.ui.ToolContext
---@field unfolded boolean
---@field approval? typstai.ApprovalRequest
---@field keys? table<string, string> keys of the answers: once, run, deny
---@field diff? { text: string, hl?: string }[] the pending proposal

M.INDENT = "  "
M.ARGUMENTS_SHOWN = 2000
local DEEP = "    "

local TOOL_HL = {
  running = "TypstAIToolRunning",
  waiting = "TypstAIToolWaiting",
  done = "TypstAIToolDone",
  failed = "TypstAIToolFailed",
  rejected = "TypstAIToolCancelled",
  cancelled = "TypstAIToolCancelled",
}

---@param seconds number|nil
---@return string "" when not worth showing
function M.duration(seconds)
  if type(seconds) ~= "number" or seconds <= 0 then
    return ""
  end
  local whole = math.max(1, math.floor(seconds + 0.5))
  if whole < 60 then
    return whole .. " s"
  end
  return ("%d min %d s"):format(math.floor(whole / 60), whole % 60)
end

local function joined(glyphs, words)
  local kept = vim.tbl_filter(function(word)
    return word ~= ""
  end, words)
  return table.concat(kept, glyphs.separator)
end

local function after(glyphs, words)
  local text = joined(glyphs, words)
  return { text ~= "" and glyphs.separator .. text or "", "TypstAIDim" }
end

--- What stands above all turns.
---@param empty boolean
---@param said string|nil in place of the invitation
function M.intro(empty, said)
  local out = Page.new()
  local text = said and Page.clean(said)
    or empty and "Ask about the document, or say what to change."
    or ""
  out:add({ { text, "TypstAIDim" } })
  return out:result()
end

--- The lines of a user's text: header, text, selections, blank.
---@param turn typstai.Turn
---@param glyphs typstai.ui.Glyphs
---@return typstai.ui.Rendered
function M.user(turn, glyphs)
  local out = Page.new()
  local clock = type(turn.at) == "number" and turn.at > 0 and os.date("%H:%M", turn.at) or ""
  out:add({ { "You", "TypstAIUser" }, after(glyphs, { Page.clean(turn.file), clock }) })
  local text = Page.body(type(turn.text) == "string" and turn.text or "", glyphs)
  for _, line in ipairs(vim.split(vim.trim(text), "\n", { plain = true })) do
    out:add({ { line } })
  end
  for _, selection in ipairs(turn.selections or {}) do
    local path = Page.clean(selection.path)
    local range = ("%d-%d"):format(selection.start_line, selection.end_line)
    out:add({ { ("+ selection %s:%s"):format(path, range), "TypstAIDim" } })
  end
  for _, image in ipairs(turn.images or {}) do
    local path = Page.clean(image.path)
    local label = ("+ image %s"):format(path)
    if (image.page or 0) > 0 then
      label = ("+ preview %s, page %d of %d,"):format(path, image.page, image.pages)
    end
    out:add({ { ("%s %dx%d"):format(label, image.width, image.height), "TypstAIDim" } })
  end
  out:add({ { "" } })
  return out:result()
end

---@param turn typstai.Turn an assistant's
---@param glyphs typstai.ui.Glyphs
---@return typstai.ui.Rendered
function M.header(turn, glyphs)
  local out = Page.new()
  out:add({ { "Assistant", "TypstAIAssistant" }, after(glyphs, { Page.clean(turn.model) }) })
  return out:result()
end

--- The one line of a model's reasoning; its text is placed below it when unfolded.
---@param segment typstai.Segment
---@param unfolded boolean
---@param glyphs typstai.ui.Glyphs
---@return typstai.ui.Rendered
function M.reasoning(segment, unfolded, glyphs)
  local out = Page.new()
  local mark = unfolded and glyphs.unfolded or glyphs.folded
  local label = joined(glyphs, { "Thinking", M.duration(segment.seconds) })
  out:add({ { mark .. " " .. label, "TypstAIReasoning" } })
  return out:result()
end

local function failure(segment, glyphs)
  if segment.state ~= "failed" or Page.clean(segment.label) ~= "" then
    return ""
  end
  return Page.label(vim.split(segment.result or "", "\n", { plain = true })[1], glyphs)
end

local function tool_line(out, segment, context, glyphs)
  local state = TOOL_HL[segment.state] and segment.state or "running"
  local label = Page.label(segment.label, glyphs)
  local name = Page.label(segment.name, glyphs)
  if context.approval then
    name = Page.label(context.approval.tool, glyphs)
    label = Page.label(context.approval.destination, glyphs)
    state = "waiting"
  end
  local text = joined({ separator = " " }, { "", label, failure(segment, glyphs) })
  out:add({
    { glyphs[state], TOOL_HL[state] },
    { " " },
    { name, "TypstAIToolName" },
    { text ~= "" and " " .. text or "", state == "failed" and TOOL_HL.failed or "TypstAIDim" },
    { state == "waiting" and "  waiting" or "", TOOL_HL.waiting },
  })
end

local function indented(out, text, hl)
  for _, line in ipairs(vim.split(text, "\n", { plain = true })) do
    out:add({ { line ~= "" and DEEP or "" }, { line, hl } })
  end
end

--- Whether a question shows only the start of its arguments.
---@param request typstai.ApprovalRequest
---@return boolean
function M.is_cut(request)
  local _, left_out = Page.cut(request.arguments or "", M.ARGUMENTS_SHOWN)
  return left_out > 0
end

local function question(out, context, glyphs)
  local request, keys = context.approval, context.keys
  local effect = Page.label(request.effect, glyphs)
  if effect ~= "" then
    out:add({ { DEEP }, { effect } })
  end
  local limit = context.unfolded and math.huge or M.ARGUMENTS_SHOWN
  local shown, left_out = Page.cut(Page.body(request.arguments or "", glyphs), limit)
  indented(out, shown, "TypstAIDetail")
  if left_out > 0 then
    local more = ("%s %d more characters"):format(glyphs.more, left_out)
    out:add({ { DEEP }, { more, "TypstAIDim" } })
  end
  local answers = {
    keys.once .. " once",
    keys.run .. " for this run",
    keys.deny .. " deny (with a reason)",
  }
  out:add({ { DEEP }, { joined(glyphs, answers), "TypstAIHint" } })
end

local DIFF_HL = { ["+"] = "TypstAIAdd", ["-"] = "TypstAIDelete", ["@"] = "TypstAIDim" }

local function diff(out, lines)
  for _, line in ipairs(lines) do
    local text = (line.text:gsub("[%z\1-\8\10-\31\127]", " "))
    out:add({ { DEEP }, { text, line.hl or DIFF_HL[text:sub(1, 1)] } })
  end
end

--- What unfolding a tool line shows; "" when there is nothing more to see.
---@param segment typstai.Segment
---@return string
function M.detail(segment)
  for _, text in ipairs({ segment.detail or "", segment.result or "" }) do
    if text ~= "" then
      return text
    end
  end
  return ""
end

--- A tool call: its one line, then what waits for the user, then the unfolded detail.
---@param segment typstai.Segment
---@param context typstai.ui.ToolContext
---@param glyphs typstai.ui.Glyphs
---@return typstai.ui.Rendered
function M.tool(segment, context, glyphs)
  local out = Page.new()
  tool_line(out, segment, context, glyphs)
  if context.approval then
    question(out, context, glyphs)
  end
  if context.diff then
    diff(out, context.diff)
  end
  local detail = context.unfolded and M.detail(segment) or ""
  if detail ~= "" then
    indented(out, Page.body(detail, glyphs):gsub("\n+$", ""), "TypstAIDetail")
  end
  return out:result()
end

local function ending(turn, glyphs)
  local spent = usage.text(usage.of({ turn }), glyphs.separator)
  local took = M.duration(turn.seconds)
  local reason = Page.label(turn.error, glyphs)
  if turn.status == "running" then
    return joined({ separator = " " }, { glyphs.running, Page.label(turn.notice, glyphs) }),
      "TypstAIDim"
  elseif turn.status == "failed" then
    local text = reason ~= "" and reason or "The run failed; see :TypstAI log."
    return glyphs.failed .. " " .. text, "TypstAIError"
  end
  return joined(glyphs, { Page.clean(turn.status), reason, took, spent }), "TypstAIDim"
end

local RECEIPTS = { available = "Revert", reverted = "reverted", lapsed = "revert unavailable" }

-- What can be done with a finished answer.
local function offers(turn, glyphs, receipt)
  if turn.status == "running" then
    return { "" }
  end
  local snapshot = receipt.snapshot and "Snapshot" or ""
  return after(glyphs, { RECEIPTS[receipt.state] or "", snapshot })
end

--- The last lines of an assistant's turn: how it ended, what can be done with it, a blank.
---@param turn typstai.Turn
---@param glyphs typstai.ui.Glyphs
---@param receipt typstai.Receipt
---@return typstai.ui.Rendered
function M.tail(turn, glyphs, receipt)
  local out = Page.new()
  for _, note in ipairs(turn.notes or {}) do
    out:add({ { Page.label(note, glyphs), "TypstAIDim" } })
  end
  out:add({ { ending(turn, glyphs) }, offers(turn, glyphs, receipt) })
  out:add({ { "" } })
  return out:result()
end

return M
