-- SPDX-License-Identifier: BSD-3-Clause
-- Stands in for pktgen-dpdk 23.03 where its scripts are tried: its functions by name and number of
-- arguments, as app/lpktgenlib.c there lists them (its `help` is the documentation), and a device
-- behind its two ports that passes on at most STUB_CAPACITY of STUB_LINK packets a second. While it
-- sends, each delay takes STUB_LATE_MS longer than asked. Of ten stamped frames, STUB_SAMPLES are
-- samples. What pktgen does not have ends the script. When the script ends, the calls are printed.

local link = tonumber(os.getenv("STUB_LINK") or "1000000")
local capacity = tonumber(os.getenv("STUB_CAPACITY") or "300000")
local late_ms = tonumber(os.getenv("STUB_LATE_MS") or "0")
local sampled = tonumber(os.getenv("STUB_SAMPLES") or "10")

local arguments = {
	set = 3, set_mac = 3, set_ipaddr = 3, set_proto = 2, set_type = 2, set_range = 2, latency = 2,
	start = 1, stop = 1, reset = 1, clear = 1, clr = 0, cls = 0, screen = 1, page = 1, delay = 1,
	portStats = 2, pktStats = 1, linkState = 1, isSending = 1, portCount = 0, quit = 0,
	latsampler_params = 5, latsampler = 2,
}
local range_arguments = {
	dst_mac = 3, src_mac = 3, set_type = 2, src_ip = 3, dst_ip = 3, ip_proto = 2, src_port = 3,
	dst_port = 3, ttl = 3, hop_limits = 3, pkt_size = 3, traffic_class = 3,
}
local settable = {
	count = true, size = true, rate = true, burst = true, txburst = true, rxburst = true,
	sport = true, dport = true, ttl = true, seq_cnt = true, prime = true,
}

local calls, rate, sending, stamping = {}, 100, false, {}
local sent, received = 0, 0
local uptime, samples, sampling = 100, nil, false

local open = io.open
io.open = function(path, ...)
	if path ~= "/proc/uptime" then
		return open(path, ...)
	end
	return {read = function() return uptime end, close = function() end}
end

local function ports(list)
	local found = {}
	for word in string.gmatch(list == "all" and "0,1" or list, "[^,]+") do
		found[#found + 1] = assert(tonumber(word), "no list of ports: " .. list)
	end
	return found
end

local effects = {
	set = function(_, what, value)
		assert(settable[what], "pktgen.set does not know " .. what)
		assert(type(value) == "number", "pktgen.set takes a number")
		if what == "rate" then
			assert(value > 0 and value <= 100, "a rate is percent")
			rate = value
		end
	end,
	start = function() sending = true end,
	stop = function() sending = false end,
	clr = function() sent, received = 0, 0 end,
	delay = function(ms)
		assert(ms == math.floor(ms), "pktgen.delay takes whole milliseconds")
		if sending then
			ms = ms + late_ms
		end
		uptime = uptime + ms / 1000
		if sending then
			local n = link * rate / 100 * ms / 1000
			sent = sent + math.floor(n)
			received = received + math.floor(math.min(n, capacity * ms / 1000))
		end
	end,
	latsampler_params = function(_, kind, most, per_second, path)
		assert(kind == "simple" or kind == "poisson", "no such sampler: " .. kind)
		assert(most <= 50108, "pktgen has room for fewer samples")
		assert(per_second > 0, "a sampler needs a rate")
		samples = path
	end,
	latsampler = function(_, state)
		if state == "off" then
			assert(sampling, "the sampler does not run")
			local file = assert(io.open(samples, "w"))
			file:write("Latency\n", string.rep("1500\n", sampled // 2),
				string.rep("3500\n", sampled - sampled // 2))
			file:close()
		end
		sampling = state == "on"
	end,
	latency = function(list, state)
		for _, port in ipairs(ports(list)) do
			stamping[port] = state == "on"
		end
	end,
	portStats = function(list, kind)
		assert(kind == "port" or kind == "rate", "no such statistics: " .. kind)
		local found = {}
		for _, port in ipairs(ports(list)) do
			found[port] = {opackets = port == 0 and sent or 0, ipackets = port == 1 and received or 0}
		end
		return found
	end,
	pktStats = function(list)
		local found = {}
		for _, port in ipairs(ports(list)) do
			local on = stamping[0] and stamping[1]
			found[port] = {latency = {num_pkts = on and 10 or 0, num_skipped = 0, min_us = 1.0,
				avg_us = 0.0, max_us = 4.0}}
		end
		return found
	end,
}

local function callable(prefix, name, n)
	return function(...)
		assert(select("#", ...) == n, prefix .. name .. ": wrong number of arguments")
		calls[prefix .. name] = (calls[prefix .. name] or 0) + 1
		local effect = prefix == "pktgen." and effects[name]
		return effect and effect(...)
	end
end

local function library(prefix, list)
	local made = {}
	for name, n in pairs(list) do
		made[name] = callable(prefix, name, n)
	end
	return setmetatable(made, {__index = function(_, name)
		error(prefix .. name .. ": pktgen has no such function", 2)
	end})
end

pktgen = library("pktgen.", arguments)
rawset(pktgen, "range", library("pktgen.range.", range_arguments))

os.exit = function(code)
	local names = {}
	for name, n in pairs(calls) do
		names[#names + 1] = name .. "=" .. n
	end
	table.sort(names)
	print("calls " .. table.concat(names, " "))
	assert(code == 0 and not sending, "it ends while it sends, or with a failure")
	error({ended = true})
end

local done, said = pcall(dofile, assert(arg[1], "usage: pktgen_stub.lua SCRIPT"))
assert(not done, "a script ends with os.exit: pktgen would wait for a key")
if type(said) ~= "table" then
	error(said, 0)
end
