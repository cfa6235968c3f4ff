-- Uploads for wrk, counted by status. With PATIENT=1 a refused client waits as Retry-After says.
local boundary = "wrk-boundary"
local document = string.rep("x", tonumber(os.getenv("DOCUMENT_BYTES")))
local patient = os.getenv("PATIENT") == "1"

wrk.method = "POST"
wrk.path = "/v1/jobs"
wrk.headers["Content-Type"] = "multipart/form-data; boundary=" .. boundary
wrk.body = "--" .. boundary .. '\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n' .. document ..
           "\r\n--" .. boundary .. "--\r\n"

local threads = {}
function setup(thread) table.insert(threads, thread) end

function init() stored, refused, other, to_wait = 0, 0, 0, 0 end

function response(status)
  if status == 201 then stored = stored + 1
  elseif status == 429 then refused = refused + 1; to_wait = to_wait + 1
  else other = other + 1 end
end

if patient then
  function delay()
    if to_wait == 0 then return 0 end
    to_wait = to_wait - 1
    return 1000
  end
end

function done(summary, latency)
  local sums = {stored = 0, refused = 0, other = 0}
  for _, thread in ipairs(threads) do
    for name in pairs(sums) do sums[name] = sums[name] + thread:get(name) end
  end
  local broken = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format('RESULT {"seconds": %f, "stored": %d, "refused": %d, "other": %d, "broken": %d, "p50_ms": %f, "p99_ms": %f}\n',
    summary.duration / 1e6, sums.stored, sums.refused, sums.other, broken, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
