-- What answers used, in few characters: tokens, and money where a price is known. Pure.
local M = {}

---@class typstai.ui.Usage
---@field tokens number
---@field estimated boolean whether some of them are a guess
---@field cost number 0 where no price is known

--- `950 tok`, `2.1k tok`, `1.3M tok`; "" for none.
---@param count number
---@return string
local function tokens(count)
  if count <= 0 then
    return ""
  elseif count < 1000 then
    return ("%d tok"):format(count)
  elseif count < 999950 then
    return ("%.1fk tok"):format(count / 1000)
  end
  return ("%.1fM tok"):format(count / 1e6)
end

local function money(cost)
  if cost <= 0 then
    return ""
  elseif cost < 0.0001 then
    return "<$0.0001"
  end
  return (cost < 0.01 and "$%.4f" or "$%.2f"):format(cost)
end

--- What one answer used, or several together.
---@param turns typstai.Turn[]
---@return typstai.ui.Usage
function M.of(turns)
  local sum = { tokens = 0, estimated = false, cost = 0 }
  for _, turn in ipairs(turns) do
    sum.tokens = sum.tokens + (turn.input_tokens or 0) + (turn.output_tokens or 0)
    sum.estimated = sum.estimated or turn.estimated == true
    sum.cost = sum.cost + (turn.cost or 0)
  end
  return sum
end

--- `2.1k tok · $0.01`, each with `~` where it is a guess; "" for nothing.
---@param usage typstai.ui.Usage
---@param separator string
---@return string
function M.text(usage, separator)
  local shown = {}
  for _, text in ipairs({ tokens(usage.tokens), money(usage.cost) }) do
    if text ~= "" then
      table.insert(shown, (usage.estimated and "~" or "") .. text)
    end
  end
  return table.concat(shown, separator)
end

return M
