-- Drives Neovim as a user would, behind the set-up of docs/editors.md: each step is one of `steps.json`, and what came of it goes
-- to `results.json`. It knows editors, and nothing of the server.

local LIMIT = 60000

-- Where who types would be: behind the last letter of a line, too.
vim.o.virtualedit = "onemore"

local files = dofile(vim.env.EDITORS .. "/files.lua")

-- The line and the column behind (or before) a text in the buffer, both from 0.
local function find(text, before)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local first, last = line:find(text, 1, true)
    if first then
      return number - 1, before and first - 1 or last
    end
  end
  error("there is no `" .. text .. "`")
end

local function put_cursor(text)
  local line, column = find(text, true)
  vim.api.nvim_win_set_cursor(0, { line + 1, column })
end

local function request(method, extra)
  local parameters = vim.lsp.util.make_position_params(0, "utf-16")
  for name, value in pairs(extra or {}) do
    parameters[name] = value
  end
  local answers, reason = vim.lsp.buf_request_sync(0, method, parameters, LIMIT)
  assert(answers, reason)
  for _, answer in pairs(answers) do
    assert(not answer.err, vim.inspect(answer.err))
    return answer.result
  end
  error("no server answers " .. method)
end

local function messages()
  local texts = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    table.insert(texts, diagnostic.lnum .. ": " .. vim.split(diagnostic.message, "\n")[1])
  end
  table.sort(texts)
  return texts
end

local steps = {}

-- Waits for so many diagnostics.
function steps.diagnostics(step)
  local is_so = vim.wait(LIMIT, function()
    return #vim.diagnostic.get(0) == step.count
  end, 10)
  assert(is_so, "diagnostics are " .. vim.inspect(messages()))
  return messages()
end

-- Replaces one text by another.
function steps.replace(step)
  local line, from = find(step.from, true)
  vim.api.nvim_buf_set_text(0, line, from, line, from + #step.from, { step.to })
  return vim.api.nvim_buf_get_lines(0, line, line + 1, false)[1]
end

function steps.hover(step)
  put_cursor(step.at)
  local result = request("textDocument/hover")
  return vim.lsp.util.convert_input_to_markdown_lines(result.contents)
end

-- What is offered behind a text; as users get it, through the words of Neovim's own completion.
function steps.complete(step)
  local line, column = find(step.behind, false)
  vim.api.nvim_win_set_cursor(0, { line + 1, column })
  local result = request("textDocument/completion")
  local words = {}
  for _, item in ipairs(vim.lsp.util.text_document_completion_list_to_complete_items(result, step.prefix)) do
    table.insert(words, item.word)
  end
  return words
end

-- Applies the fix whose title has this text in it.
function steps.fix(step)
  put_cursor(step.at)
  local range = vim.lsp.util.make_range_params(0, "utf-16")
  local lsp_diagnostics = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    table.insert(lsp_diagnostics, {
      range = {
        start = { line = diagnostic.lnum, character = diagnostic.col },
        ["end"] = { line = diagnostic.end_lnum, character = diagnostic.end_col },
      },
      severity = diagnostic.severity,
      source = diagnostic.source,
      message = diagnostic.message,
    })
  end
  range.context = { diagnostics = lsp_diagnostics }
  local titles = {}
  for _, action in ipairs(request("textDocument/codeAction", range) or {}) do
    if action.title:find(step.title, 1, true) then
      vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
      return vim.api.nvim_buf_get_lines(0, 0, -1, false)
    end
    table.insert(titles, action.title)
  end
  error("no fix `" .. step.title .. "` among " .. vim.inspect(titles))
end

-- Where a thing is defined: file's name and line.
function steps.definition(step)
  put_cursor(step.at)
  local result = request("textDocument/definition")
  local place = result[1] or result
  local uri = place.uri or place.targetUri
  local range = place.range or place.targetSelectionRange
  return { vim.fn.fnamemodify(vim.uri_to_fname(uri), ":t"), range.start.line }
end

function steps.rename(step)
  put_cursor(step.at)
  local edit = request("textDocument/rename", { newName = step.to })
  vim.lsp.util.apply_workspace_edit(edit, "utf-16")
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

-- Writes the file; one that is open beside it sees that.
function steps.write(_)
  vim.cmd("silent write")
  return true
end

local results = {}
for _, step in ipairs(files.read(vim.env.STEPS)) do
  local is_good, result = pcall(steps[step["do"]], step)
  table.insert(results, is_good and { result = result } or { error = tostring(result) })
end
files.write(vim.env.RESULTS, results)
vim.cmd("qall!")
