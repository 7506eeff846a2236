-- Highlights of a piece of Markdown, from treesitter's parsers on a string. Only the
-- Markdown of the text is parsed and nothing in it chooses another parser: Typst code
-- blocks are highlighted where the user has a Typst parser, all others are plain. The
-- filetype `typstai` is not registered as Markdown on purpose: what starts treesitter in
-- every buffer would bring the stock queries, with injections named by a model, and a parse
-- of the whole chat for every delta (3 to 8 ms a frame instead of 0.3).
local M = {}

-- The one injection: prose inside blocks. Stock queries would load a parser by the name
-- that a model writes after a code fence.
local INLINE = [[
([(inline) (pipe_table_cell)] @injection.content
  (#set! injection.language "markdown_inline"))
]]
local TYPST = [[
((fenced_code_block (info_string (language) @_name) (code_fence_content) @injection.content)
  (#any-of? @_name "typst" "typ")
  (#set! injection.language "typst"))
]]

local IGNORED = { spell = true, nospell = true, conceal = true, none = true }

-- By language. Neovim forgets queries that nobody holds when it collects garbage, and takes up
-- to 20 ms to compile them again.
---@type table<string, vim.treesitter.Query>
local highlights = {}
---@type table<string, string>|nil nil where Neovim has no Markdown parser
local injections

local function has(language)
  local ok, added = pcall(vim.treesitter.language.add, language)
  return ok and added ~= false and added ~= nil
end

-- Up to 0.10 `language.add` answers nothing when it succeeds.
local function available(language)
  if vim.fn.has("nvim-0.11") == 1 then
    return has(language)
  end
  return pcall(vim.treesitter.language.add, language)
end

local function load_highlights(language)
  return function()
    if available(language) then
      highlights[language] = vim.treesitter.query.get(language, "highlights")
    end
  end
end

local function find_injections()
  if not (highlights.markdown and highlights.markdown_inline) then
    return
  end
  injections = { markdown = INLINE, markdown_inline = "" }
  if highlights.typst then
    injections.markdown = INLINE .. TYPST
    injections.typst = ""
  end
end

local function capture_spans(spans, tree, language, text)
  local query = highlights[language]
  for id, node in query:iter_captures(tree:root(), text) do
    local name = query.captures[id]
    if not IGNORED[name] and name:sub(1, 1) ~= "_" then
      local row0, byte_col, end_row0, end_byte_col = node:range()
      table.insert(spans, {
        row0 = row0,
        byte_col = byte_col,
        end_row0 = end_row0,
        end_byte_col = end_byte_col,
        hl = ("@%s.%s"):format(name, language),
      })
    end
  end
end

-- What the first spans would have to load, in steps that each fit into a frame.
local PREPARATIONS = {
  function()
    require("vim.treesitter.query")
    require("vim.treesitter.languagetree")
  end,
  load_highlights("markdown"),
  load_highlights("markdown_inline"),
  load_highlights("typst"),
  find_injections,
  function()
    M.spans({ "a" })
  end,
}

--- Does one step of what has to be loaded; says whether there was one left.
---@return boolean
function M.prepare()
  local step = table.remove(PREPARATIONS, 1)
  if step then
    step()
  end
  return step ~= nil
end

--- Spans of `lines`, from the outer to the inner; none where Neovim has no Markdown parser, or
--- before `prepare` has done it all.
---@param lines string[]
---@return table[] row0, byte_col, end_row0, end_byte_col, hl
function M.spans(lines)
  local spans = {}
  if not injections then
    return spans
  end
  local text = table.concat(lines, "\n") .. "\n"
  local parser = vim.treesitter.get_string_parser(text, "markdown", { injections = injections })
  parser:parse(true)
  parser:for_each_tree(function(tree, part)
    capture_spans(spans, tree, part:lang(), text)
  end)
  return spans
end

return M
