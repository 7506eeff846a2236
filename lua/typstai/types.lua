---@meta
-- Shapes of every table that crosses the door to Python, and of the public API.
-- Rows and byte columns are 0-based and end-exclusive; `line` fields are 1-based.

---@class typstai.Error
---@field code string stable, for programs
---@field message string one sentence for the user

---@class typstai.Snapshot
---@field bufnr integer
---@field path string absolute; "" when unnamed
---@field tick integer changedtick
---@field text string lines joined by a newline: one string crosses much faster than many
---@field modifiable boolean

---@class typstai.LineChange
---@field row0 integer first replaced row; an empty `old` inserts before it
---@field byte_col? integer of a part of one line: where it starts; `old` is that part
---@field old string[]
---@field new string[]

---@alias typstai.HunkState "pending"|"stale"|"accepted"|"rejected"|"merged"|"lapsed"

---@class typstai.Hunk: typstai.LineChange
---@field id string "h1", "h2", … from the top
---@field state typstai.HunkState
---@field reason string
---@field edited? boolean the user changed `new` before deciding

---@class typstai.Proposal
---@field id string
---@field bufnr integer
---@field path string relative to the project, for display
---@field chat string
---@field run string
---@field call string id of the tool call in the transcript
---@field source string tool or action name
---@field verdict string one short line; "" when nothing was checked
---@field hunks typstai.Hunk[]
---@field takes_over { proposal: string, hunk: string }[] pending hunks that this one contains

---@class typstai.PendingHunk: typstai.LineChange
---@field proposal string
---@field hunk string

---@class typstai.Place
---@field bufnr integer
---@field row0 integer
---@field byte_col integer
---@field end_row0 integer
---@field end_byte_col integer
---@field text string
---@field changed boolean

---@class typstai.ApprovalRequest
---@field id string
---@field chat string
---@field run string
---@field call string
---@field tool string
---@field effect string one sentence
---@field destination string
---@field arguments string

---@class typstai.Selection
---@field path string
---@field start_line integer
---@field end_line integer
---@field text string

---@class typstai.Picture what is kept of an image that was sent
---@field path string relative to the project, for display
---@field width integer
---@field height integer
---@field thumbnail string a small PNG as base64, or ""
---@field page? integer of a rendered document, from 1; 0 for an image file
---@field pages? integer of that document

---@class typstai.Segment
---@field kind "reasoning"|"text"|"tool"
---@field round integer
---@field text? string reasoning and text
---@field seconds? number reasoning
---@field id? string tool: the provider's call id
---@field name? string tool
---@field arguments? string tool: JSON text
---@field state? "running"|"waiting"|"done"|"failed"|"rejected"|"cancelled" tool
---@field label? string tool: shown after the name
---@field result? string tool: what the model was told
---@field detail? string tool: what can be unfolded
---@field proposal? string tool: id of its proposal
---@field applied? boolean tool: whether it wrote into a document

---@class typstai.Turn
---@field role "user"|"assistant"
---@field id string for an assistant's turn, also the id of its run
---@field at number seconds since the epoch
---@field text? string user
---@field file? string user: where it was sent from
---@field selections? typstai.Selection[] user
---@field images? typstai.Picture[] user
---@field notes? string[] user: what the model was told; assistant: what the user is told
---@field model? string assistant
---@field status? "running"|"complete"|"incomplete"|"cancelled"|"failed" assistant
---@field error? string assistant
---@field segments? typstai.Segment[] assistant
---@field input_tokens? integer assistant
---@field output_tokens? integer assistant
---@field estimated? boolean assistant: some of the tokens are a guess
---@field cost? number assistant: 0 where no price is known
---@field notice? string assistant: holds only now; never stored
---@field seconds? number assistant

-- Python tells the screen of everything that happens in a chat by these events,
-- in order. `index` counts segments from 1.
---@class typstai.ChatEvent
---@field kind "turn"|"segment"|"append"|"notice"|"note"|"finish"|"receipt"|"title"|"reload" `receipt`: made in Lua
---@field turn? typstai.Turn turn: a new turn, or one again as a whole (same id: replaces it)
---@field chat? typstai.Chat reload: the chat as another Neovim has left it
---@field id? string segment, append, finish: the turn
---@field index? integer segment, append
---@field segment? typstai.Segment segment: put in place of the one at `index`, or added after the last
---@field text? string append: more text of the segment at `index` (reasoning or text);
---  notice: a sentence that holds only now, "" takes it away; note: one that stays
---@field status? string finish
---@field error? string finish
---@field seconds? number finish
---@field input_tokens? integer finish
---@field output_tokens? integer finish
---@field estimated? boolean finish
---@field cost? number finish
---@field title? string title

---@class typstai.Chat
---@field id string
---@field project string absolute folder
---@field title string
---@field turns typstai.Turn[]
---@field running? boolean a run of this Neovim writes the last turn

---@class typstai.Status
---@field running boolean
---@field chat string|nil
---@field model string
---@field mode "edit"|"read"
---@field approval "review"|"suggest"|"auto"
---@field pending integer pending hunks
---@field host "stopped"|"starting"|"running"|"failed"
---@field ghost string why no ghost text came, in one or two words
