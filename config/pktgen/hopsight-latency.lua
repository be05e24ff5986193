-- SPDX-License-Identifier: BSD-3-Clause
-- Latency through a Hopsight node at several rates, by pktgen's own time stamps: least, mean and
-- greatest. The mean is this script's, of the samples that pktgen writes to a file, because
-- pktgen 23.03 has none (avg_us is 0). tools/ndr.py has percentiles.
--
-- HS_SIZE and HS_RATES are those of IPv6 UDP frames to port 5002, which have no stamp. Between
-- them, pktgen sends one frame with a stamp in 10 ms. This is always IPv4 UDP of 128 bytes with
-- FCS and meaningless addresses. So the node must forward any frame ("patch") and leave no
-- telemetry in it.
--
-- How to start pktgen and a node: docs/benchmark-method.md, section "pktgen". Settings from the
-- environment:
--   HS_SIZE=128  HS_RATES=1,5,9 (percent of the link; 10, 50 and 90 % of PDR, as FD.io CSIT has it)
--   HS_SECONDS=10  HS_DST_MAC=02:00:00:00:00:02

local OUT, BACK, BOTH = "0", "1", "0,1"

local function setting(name, default)
	local text = os.getenv(name)
	if text == nil or text == "" then
		return default
	end
	return text
end

local SMALLEST = 14 + 40 + 8 + 4 -- Ethernet, IPv6, UDP, FCS
local size = math.max(tonumber(setting("HS_SIZE", "128")), SMALLEST)
local rates = setting("HS_RATES", "1,5,9")
local seconds = tonumber(setting("HS_SECONDS", "10"))
local dst_mac = setting("HS_DST_MAC", "02:00:00:00:00:02")

local SETTLE_MS = 2500
local MOST_SAMPLES = 50000 -- pktgen's limit: 500 s
local EVERY_FRAME = 1000000000 -- samples/s at most
local samples = os.tmpname()

local function prepare()
	pktgen.screen("off")
	pktgen.reset("all")
	pktgen.set_type(OUT, "ipv6")
	pktgen.set_proto(OUT, "udp")
	pktgen.set_mac(OUT, "dst", dst_mac)
	pktgen.set_ipaddr(OUT, "src", "2001:db8::1/64")
	pktgen.set_ipaddr(OUT, "dst", "2001:db8::2")
	pktgen.set(OUT, "sport", 1024)
	pktgen.set(OUT, "dport", 5002)
	pktgen.set(OUT, "size", size)
	pktgen.set(OUT, "count", 0)
	pktgen.set(OUT, "burst", 32)
end

-- The mean of the samples, in us: nil if they are not of all the frames that pktgen counted.
local function mean_us(frames)
	local n, sum = 0, 0
	for line in io.lines(samples) do
		local ns = tonumber(line) -- nil in the first line, which is a title
		if ns then
			n, sum = n + 1, sum + ns
		end
	end
	return n > 0 and n == frames and sum / n / 1000 or nil
end

local function trial(rate)
	pktgen.set(OUT, "rate", rate)
	pktgen.clr()
	pktgen.latency(BOTH, "on")
	pktgen.latsampler_params(BACK, "simple", MOST_SAMPLES, EVERY_FRAME, samples)
	pktgen.latsampler(BACK, "on")
	pktgen.start(OUT)
	pktgen.delay(math.floor(seconds * 1000))
	pktgen.stop(OUT)
	pktgen.delay(SETTLE_MS)
	local found = pktgen.pktStats(BACK)[tonumber(BACK)].latency
	pktgen.latsampler(BACK, "off") -- writes the samples
	pktgen.latency(BOTH, "off")
	return found
end

local function text(us)
	return us and string.format("%.1f", us) or "-"
end

prepare()
print("rate %, stamped packets, skipped, min us, mean us, max us")
for word in string.gmatch(rates, "[%d.]+") do
	local found = trial(tonumber(word))
	local any = found.num_pkts > 0
	print(string.format("%6s %8d %8d %10s %10s %10s", word, found.num_pkts, found.num_skipped,
		text(any and found.min_us), text(mean_us(found.num_pkts)), text(any and found.max_us)))
end
os.remove(samples)
os.exit(0)
