-- Reads for wrk, with the figures as one line.
function init() other = 0 end
local threads = {}
function setup(thread) table.insert(threads, thread) end
function response(status) if status ~= 200 then other = other + 1 end end
function done(summary, latency)
  local bad = 0
  for _, thread in ipairs(threads) do bad = bad + thread:get("other") end
  io.write(string.format('RESULT {"seconds": %f, "requests": %d, "other": %d, "p50_ms": %f, "p99_ms": %f}\n',
    summary.duration / 1e6, summary.requests, bad, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
