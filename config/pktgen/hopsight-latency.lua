-- SPDX-License-Identifier: BSD-3-Clause
-- Latency through a Hopsight node at several rates, by pktgen's own time stamps: least, mean and
-- greatest (pktgen keeps no percentiles; tools/ndr.py has them).
--
-- pktgen finds its stamp at a fixed place behind IPv6 and UDP. So the node must not leave telemetry
-- in what it sends on: a node without a rule for these packets, or a source and a sink in a row.
-- The examples below have a rule for UDP to port 5001; this script sends to 5002.
--
-- How to start pktgen and a node: see hopsight-throughput.lua. Settings from the environment:
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

local SMALLEST = 14 + 40 + 8 + 24 + 4 -- room for the stamp
local size = math.max(tonumber(setting("HS_SIZE", "128")), SMALLEST)
local rates = setting("HS_RATES", "1,5,9")
local seconds = tonumber(setting("HS_SECONDS", "10"))
local dst_mac = setting("HS_DST_MAC", "02:00:00:00:00:02")

local SETTLE_MS = 2500

local function prepare()
	pktgen.screen("off")
	pktgen.reset("all")
	-- The receiving port looks for stamps as if in its own packets: it is set up alike.
	pktgen.set_type(BOTH, "ipv6")
	pktgen.set_proto(BOTH, "udp")
	pktgen.set_mac(OUT, "dst", dst_mac)
	pktgen.set_ipaddr(OUT, "src", "2001:db8::1/64")
	pktgen.set_ipaddr(OUT, "dst", "2001:db8::2")
	pktgen.set(OUT, "sport", 1024)
	pktgen.set(OUT, "dport", 5002)
	pktgen.set(BOTH, "size", size)
	pktgen.set(OUT, "count", 0)
	pktgen.set(OUT, "burst", 32)
end

local function trial(rate)
	pktgen.set(OUT, "rate", rate)
	pktgen.clr()
	pktgen.latency(BOTH, "on")
	pktgen.start(OUT)
	pktgen.delay(math.floor(seconds * 1000))
	pktgen.stop(OUT)
	pktgen.delay(SETTLE_MS)
	local found = pktgen.pktStats(BACK)[tonumber(BACK)].latency
	pktgen.latency(BOTH, "off")
	return found
end

prepare()
print("rate %, stamped packets, skipped, min us, mean us, max us")
for word in string.gmatch(rates, "[%d.]+") do
	local found = trial(tonumber(word))
	print(string.format("%6s %8d %8d %10.1f %10.1f %10.1f", word, found.num_pkts,
		found.num_skipped, found.min_us, found.avg_us, found.max_us))
end
os.exit(0)
