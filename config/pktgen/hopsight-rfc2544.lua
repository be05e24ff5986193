-- SPDX-License-Identifier: BSD-3-Clause
-- NDR and PDR of a Hopsight node after RFC 2544, section 26.1: a binary search for the highest rate
-- with no loss, and with at most 0.5 %, of each frame size. A trial that failed is repeated once
-- (ETSI GS NFV-TST 009: a loss that does not come again was the machine's). MRR is what is received
-- under full load.
--
-- How to start pktgen and a node: docs/benchmark-method.md, section "pktgen". Settings from the
-- environment:
--   HS_SIZES=128,1500  HS_SECONDS=1  HS_PRECISION=0.5 (percent of the link)  HS_FLOWS=1024
--   HS_DST_MAC=02:00:00:00:00:02

local OUT, BACK = "0", "1"

local function setting(name, default)
	local text = os.getenv(name)
	if text == nil or text == "" then
		return default
	end
	return text
end

local sizes = setting("HS_SIZES", "78,128,256,512,1024,1280,1518")
local seconds = tonumber(setting("HS_SECONDS", "1"))
local precision = tonumber(setting("HS_PRECISION", "0.5"))
local flows = tonumber(setting("HS_FLOWS", "1024"))
local dst_mac = setting("HS_DST_MAC", "02:00:00:00:00:02")

local NDR_LOSS, PDR_LOSS = 0, 0.005
local SETTLE_MS = 2500 -- statistics are taken once a second; RFC 2544, 23: wait for what is late
local SMALLEST = 14 + 40 + 8 + 4

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

local function counts()
	return pktgen.portStats(OUT, "port")[tonumber(OUT)].opackets,
		pktgen.portStats(BACK, "port")[tonumber(BACK)].ipackets
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

-- Packets sent and received at a rate, in percent of the link, and for how long.
local function trial(size, rate)
	range_of("pkt_size", size, 0, size)
	pktgen.set(OUT, "size", size)
	pktgen.set(OUT, "rate", rate)
	pktgen.clr()
	pktgen.delay(SETTLE_MS)
	local sent_before, received_before = counts()
	local time = send()
	pktgen.delay(SETTLE_MS)
	local sent, received = counts()
	return sent - sent_before, received - received_before, time
end

-- Does a rate meet the goal? And what was then really sent, in packets a second, and lost.
local function passes(size, rate, loss)
	for _ = 1, 2 do
		local sent, received, time = trial(size, rate)
		if received > 0 and sent - received <= loss * sent then
			return true, sent / time, sent - received
		end
	end
	return false, 0, 0
end

-- The highest rate up to `top` that meets the goal, in percent and in packets a second, and the
-- packets lost there.
local function search(size, loss, top)
	local met, pps, lost = passes(size, top, loss)
	if met then
		return top, pps, lost
	end
	local low, high, best, best_lost = 0, top, 0, 0
	while high - low > precision do
		local middle = (low + high) / 2
		met, pps, lost = passes(size, middle, loss)
		if met then
			low, best, best_lost = middle, pps, lost
		else
			high = middle
		end
	end
	return low, best, best_lost
end

prepare()
print("bytes with FCS, NDR, PDR, MRR in packets/s")
for word in string.gmatch(sizes, "%d+") do
	local size = math.max(tonumber(word), SMALLEST)
	local _, received, time = trial(size, 100)
	local pdr_rate, pdr, lost = search(size, PDR_LOSS, 100)
	local ndr = pdr
	if lost > 0 then
		_, ndr = search(size, NDR_LOSS, pdr_rate)
	end
	print(string.format("%5d %12.0f %12.0f %12.0f", size, ndr, pdr, received / time))
end
os.exit(0)
