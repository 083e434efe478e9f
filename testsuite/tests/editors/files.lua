-- Reads and writes the JSON files of a drive of Neovim.

local files = {}

function files.read(path)
  local file = assert(io.open(path, "r"))
  local text = file:read("*a")
  file:close()
  return vim.fn.json_decode(text)
end

function files.write(path, value)
  local file = assert(io.open(path, "w"))
  file:write(vim.fn.json_encode(value))
  file:close()
end

return files
