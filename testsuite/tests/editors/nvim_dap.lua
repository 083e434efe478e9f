-- Debugs the launches of the open source with nvim-dap, as a user would. Executes the steps of `steps.json`, and writes each stop to
-- `results.json`: its reason, its line, and its variables by name.

local LIMIT = 60000
local dap = require("dap")

local files = dofile(vim.env.EDITORS .. "/files.lua")

-- The last stop; nil while the program runs.
local stop
local has_ended = false

dap.listeners.after.event_stopped.test = function(_, body)
  stop = { reason = body.reason, text = body.text }
end
-- nvim-dap requests the stack after each stop, to show the line.
dap.listeners.after.stackTrace.test = function(_, failure, body)
  if stop and not failure then
    stop.frame = body.stackFrames[1]
  end
end
dap.listeners.after.event_terminated.test = function()
  has_ended = true
end

local function request(method, arguments)
  local answer, failure
  dap.session():request(method, arguments, function(err, body)
    failure, answer = err, body
  end)
  assert(vim.wait(LIMIT, function() return answer or failure end, 10), method .. " has no answer")
  assert(not failure, vim.inspect(failure))
  return answer
end

-- The variables of a frame, by name.
local function variables(frame)
  local all = {}
  for _, scope in ipairs(request("scopes", { frameId = frame.id }).scopes) do
    for _, variable in ipairs(request("variables", { variablesReference = scope.variablesReference }).variables) do
      all[variable.name] = variable.value
    end
  end
  return all
end

-- Calls a function of nvim-dap, such as `step_into`. With a line, sets a breakpoint first.
local function perform(step)
  if step.line then
    vim.api.nvim_win_set_cursor(0, { step.line, 0 })
    dap.set_breakpoint(step.condition)
  end
  stop = nil
  dap[step["do"]]()
  assert(vim.wait(LIMIT, function() return has_ended or (stop and stop.frame) end, 10), "the program does not stop")
  if has_ended then
    return { reason = "end" }
  end
  -- The source is shown where the program stopped.
  local shows = function() return vim.api.nvim_win_get_cursor(0)[1] == stop.frame.line end
  assert(vim.wait(LIMIT, shows, 10), "the cursor is not at the stop")
  return { reason = stop.reason, text = stop.text, line = stop.frame.line, name = stop.frame.name, variables = variables(stop.frame) }
end

local results = {}
for _, step in ipairs(files.read(vim.env.STEPS)) do
  local is_good, result = pcall(perform, step)
  table.insert(results, is_good and { result = result } or { error = tostring(result) })
  if not is_good then
    break
  end
end
files.write(vim.env.RESULTS, results)
vim.cmd("qall!")
