-- SPDX-License-Identifier: BSD-3-Clause
-- IPv6 UDP of many flows through a Hopsight node: one fixed rate, one frame size after the other;
-- prints what was sent and received of each.
--
-- For pktgen-dpdk 23.03, which builds against DPDK 22.11. Out on port 0, back on port 1. How to
-- start pktgen and a node: docs/benchmark-method.md, section "pktgen". Settings from the
-- environment:
--   HS_SIZES=64,128  HS_RATE=10  HS_SECONDS=10  HS_FLOWS=1024  HS_DST_MAC=02:00:00:00:00:02

local OUT, BACK = "0", "1"

local function setting(name, default)
	local text = os.getenv(name)
	if text == nil or text == "" then
		return default
	end
	return text
end

local sizes = setting("HS_SIZES", "64,128,256,512,1024,1280,1500")
local rate = tonumber(setting("HS_RATE", "100")) -- percent of the link
local seconds = tonumber(setting("HS_SECONDS", "10"))
local flows = tonumber(setting("HS_FLOWS", "1024"))
local dst_mac = setting("HS_DST_MAC", "02:00:00:00:00:02")

-- Statistics are taken once a second: what was sent and received is final after two.
local SETTLE_MS = 2500
local FCS = 4 -- pktgen counts it as part of a size
-- Ethernet, IPv6 and UDP with the FCS: what pktgen can make of IPv6 at least.
local SMALLEST = 14 + 40 + 8 + FCS

local function range_of(name, first, step, last)
	pktgen.range[name](OUT, "start", first)
	pktgen.range[name](OUT, "inc", step)
	pktgen.range[name](OUT, "min", first)
	pktgen.range[name](OUT, "max", last)
end

local function prepare()
	pktgen.screen("off")
	pktgen.reset("all")
	pktgen.set_type(OUT, "ipv6")
	pktgen.set_proto(OUT, "udp")
	pktgen.set(OUT, "count", 0)
	pktgen.set(OUT, "burst", 32)
	pktgen.range.set_type(OUT, "ipv6")
	pktgen.range.ip_proto(OUT, "udp")
	pktgen.range.dst_mac(OUT, "start", dst_mac)
	range_of("src_ip", "2001:db8::1", "::", "2001:db8::1")
	range_of("dst_ip", "2001:db8::2", "::", "2001:db8::2")
	range_of("src_port", 1024, 1, 1024 + flows - 1)
	range_of("dst_port", 5001, 0, 5001)
	range_of("hop_limits", 64, 0, 64)
	pktgen.set_range(OUT, "on")
end

-- Seconds since the machine started, in steps of 0.01.
local function now()
	local file = io.open("/proc/uptime")
	local time = file:read("n")
	file:close()
	return time
end

-- Sends for `seconds`, longer where other threads keep this one waiting: returns how long it was.
local function send()
	local start = now()
	pktgen.start(OUT)
	pktgen.delay(math.floor(seconds * 1000))
	pktgen.stop(OUT)
	return math.max(seconds, now() - start - 0.01)
end

local function trial(size)
	range_of("pkt_size", size, 0, size)
	pktgen.set(OUT, "size", size)
	pktgen.set(OUT, "rate", rate)
	pktgen.clr()
	pktgen.delay(SETTLE_MS)
	local before_out = pktgen.portStats(OUT, "port")[tonumber(OUT)].opackets
	local before_back = pktgen.portStats(BACK, "port")[tonumber(BACK)].ipackets
	local time = send()
	pktgen.delay(SETTLE_MS)
	local sent = pktgen.portStats(OUT, "port")[tonumber(OUT)].opackets - before_out
	local received = pktgen.portStats(BACK, "port")[tonumber(BACK)].ipackets - before_back
	return sent, received, received / time
end

prepare()
print("bytes with FCS, sent, received, lost, received packets/s")
for word in string.gmatch(sizes, "%d+") do
	-- 64 bytes are not an IPv6 UDP frame: the smallest that is stands in for it.
	local size = math.max(tonumber(word), SMALLEST)
	local sent, received, pps = trial(size)
	print(string.format("%5d %12d %12d %10d %12.0f", size, sent, received, sent - received, pps))
end
os.exit(0)
