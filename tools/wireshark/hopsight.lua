-- SPDX-License-Identifier: BSD-3-Clause
-- Dissects in-band telemetry and telemetry reports: Flexible INT, INT 2016-06, 0.5, 1.0 and 2.1,
-- source-routed probes, reports 0.5, 1.0 and 2.0. docs/wireshark.md says how to install it and what its preferences mean.
-- It looks at each frame after Wireshark's own dissectors, because marks such as a DSCP are no
-- places where a dissector could be registered. It is one file, so that one file is to be installed.

-- Written by make_fields.py.
local FIELDS = {
	["flexint_e2e"] = {
		{ mask = 0x8000, bits = 32, key = "int_packets", name = "E2E INTCOUNTER" },
		{ mask = 0x4000, bits = 64, key = "ts_ns", name = "E2E TIMESTAMP" },
		{ mask = 0x2000, bits = 32, key = "tx_packets", name = "E2E TXCOUNTER" },
		{ mask = 0x1000, bits = 32, key = "tx_bytes", name = "E2E TX BYTES" },
	},
	["flexint_hop"] = {
		{ mask = 0x8000, bits = 16, key = "tx_packets", name = "HBH TXRX COUNTER" },
		{ mask = 0x8000, bits = 16, key = "rx_packets", name = "HBH TXRX COUNTER" },
		{ mask = 0x4000, bits = 64, key = "ts_ns", name = "HBH TIMESTAMP" },
		{ mask = 0x2000, bits = 32, key = "tx_bytes", name = "HBH TXRX BYTES" },
		{ mask = 0x2000, bits = 32, key = "rx_bytes", name = "HBH TXRX BYTES" },
	},
	["int_2016-06"] = {
		{ mask = 0x8000, bits = 32, key = "node_id", name = "node id", instruction = "node_id" },
		{ mask = 0x4000, bits = 32, key = "ingress_port", name = "ingress port", instruction = "ingress_port" },
		{ mask = 0x2000, bits = 32, key = "hop_latency_ns", name = "hop latency ns", instruction = "hop_latency" },
		{ mask = 0x1000, bits = 32, key = "queue_packets", name = "queue packets", instruction = "queue" },
		{ mask = 0x0800, bits = 32, key = "ingress_ns", name = "ingress ns", instruction = "ingress_timestamp" },
		{ mask = 0x0400, bits = 32, key = "egress_port", name = "egress port", instruction = "egress_port" },
		{ mask = 0x0200, bits = 32, key = "queue_congestion", name = "queue congestion", instruction = "queue_congestion" },
		{ mask = 0x0100, bits = 32, key = "link_utilisation", name = "link utilisation (1/10000)", instruction = "link_utilisation" },
	},
	["int_0.5"] = {
		{ mask = 0x8000, bits = 32, key = "node_id", name = "node id", instruction = "node_id" },
		{ mask = 0x4000, bits = 16, key = "ingress_port", name = "ingress port", instruction = "ports" },
		{ mask = 0x4000, bits = 16, key = "egress_port", name = "egress port", instruction = "ports" },
		{ mask = 0x2000, bits = 32, key = "hop_latency_ns", name = "hop latency ns", instruction = "hop_latency" },
		{ mask = 0x1000, bits = 8, key = "queue_id", name = "queue id", instruction = "queue" },
		{ mask = 0x1000, bits = 24, key = "queue_packets", name = "queue packets", instruction = "queue" },
		{ mask = 0x0800, bits = 32, key = "ingress_ns", name = "ingress ns", instruction = "ingress_timestamp" },
		{ mask = 0x0400, bits = 32, key = "egress_ns", name = "egress ns", instruction = "egress_timestamp" },
		{ mask = 0x0200, bits = 8, key = "queue_id", name = "queue id", instruction = "queue_congestion" },
		{ mask = 0x0200, bits = 24, key = "queue_congestion", name = "queue congestion", instruction = "queue_congestion" },
		{ mask = 0x0100, bits = 32, key = "link_utilisation", name = "link utilisation (1/10000)", instruction = "link_utilisation" },
	},
	["int_1.0"] = {
		{ mask = 0x8000, bits = 32, key = "node_id", name = "node id", instruction = "node_id" },
		{ mask = 0x4000, bits = 16, key = "ingress_port", name = "ingress port", instruction = "ports" },
		{ mask = 0x4000, bits = 16, key = "egress_port", name = "egress port", instruction = "ports" },
		{ mask = 0x2000, bits = 32, key = "hop_latency_ns", name = "hop latency ns", instruction = "hop_latency" },
		{ mask = 0x1000, bits = 8, key = "queue_id", name = "queue id", instruction = "queue" },
		{ mask = 0x1000, bits = 24, key = "queue_packets", name = "queue packets", instruction = "queue" },
		{ mask = 0x0800, bits = 32, key = "ingress_ns", name = "ingress ns", instruction = "ingress_timestamp" },
		{ mask = 0x0400, bits = 32, key = "egress_ns", name = "egress ns", instruction = "egress_timestamp" },
		{ mask = 0x0200, bits = 32, key = "ingress_port_l2", name = "ingress port l2", instruction = "ports_l2" },
		{ mask = 0x0200, bits = 32, key = "egress_port_l2", name = "egress port l2", instruction = "ports_l2" },
		{ mask = 0x0100, bits = 32, key = "link_utilisation", name = "link utilisation (1/10000)", instruction = "link_utilisation" },
		{ mask = 0x0001, bits = 32, key = "checksum_complement", name = "checksum complement", instruction = "checksum_complement" },
	},
	["int_2.1"] = {
		{ mask = 0x8000, bits = 32, key = "node_id", name = "node id", instruction = "node_id" },
		{ mask = 0x4000, bits = 16, key = "ingress_port", name = "ingress port", instruction = "ports" },
		{ mask = 0x4000, bits = 16, key = "egress_port", name = "egress port", instruction = "ports" },
		{ mask = 0x2000, bits = 32, key = "hop_latency_ns", name = "hop latency ns", instruction = "hop_latency" },
		{ mask = 0x1000, bits = 8, key = "queue_id", name = "queue id", instruction = "queue" },
		{ mask = 0x1000, bits = 24, key = "queue_packets", name = "queue packets", instruction = "queue" },
		{ mask = 0x0800, bits = 64, key = "ingress_ns", name = "ingress ns", instruction = "ingress_timestamp" },
		{ mask = 0x0400, bits = 64, key = "egress_ns", name = "egress ns", instruction = "egress_timestamp" },
		{ mask = 0x0200, bits = 32, key = "ingress_port_l2", name = "ingress port l2", instruction = "ports_l2" },
		{ mask = 0x0200, bits = 32, key = "egress_port_l2", name = "egress port l2", instruction = "ports_l2" },
		{ mask = 0x0100, bits = 32, key = "link_utilisation", name = "link utilisation (1/10000)", instruction = "link_utilisation" },
		{ mask = 0x0080, bits = 8, key = "buffer_id", name = "buffer id", instruction = "buffer" },
		{ mask = 0x0080, bits = 24, key = "buffer_used", name = "buffer used (1/10000)", instruction = "buffer" },
		{ mask = 0x0001, bits = 32, key = "checksum_complement", name = "checksum complement", instruction = "checksum_complement" },
	},
	["report_0_5_head"] = {
		{ first = 0, bits = 4, key = "version", name = "Ver" },
		{ first = 4, bits = 4, key = "next", name = "NProto" },
		{ first = 8, bits = 1, key = "dropped", name = "D" },
		{ first = 9, bits = 1, key = "congested", name = "Q" },
		{ first = 10, bits = 1, key = "tracked", name = "F" },
		{ first = 26, bits = 6, key = "hw_id", name = "hw_id" },
		{ first = 32, bits = 32, key = "sequence", name = "Sequence Number" },
		{ first = 64, bits = 32, key = "ingress_ns", name = "Ingress Timestamp" },
	},
	["report_0_5_drop"] = {
		{ mask = 0x0000, bits = 32, key = "node_id", name = "Switch ID" },
		{ mask = 0x0000, bits = 16, key = "ingress_port", name = "Ingress Port ID" },
		{ mask = 0x0000, bits = 16, key = "egress_port", name = "Egress Port ID" },
		{ mask = 0x0000, bits = 8, key = "drop_queue_id", name = "Queue ID" },
		{ mask = 0x0000, bits = 8, key = "drop_reason", name = "Drop Reason" },
		{ mask = 0x0000, bits = 16 },
	},
	["report_0_5_local"] = {
		{ mask = 0x0000, bits = 32, key = "node_id", name = "Switch ID" },
		{ mask = 0x0000, bits = 16, key = "ingress_port", name = "Ingress Port ID" },
		{ mask = 0x0000, bits = 16, key = "egress_port", name = "Egress Port ID" },
		{ mask = 0x0000, bits = 8, key = "queue_id", name = "Queue ID" },
		{ mask = 0x0000, bits = 24, key = "queue_packets", name = "Queue Occupancy" },
		{ mask = 0x0000, bits = 32, key = "egress_ns", name = "Egress Timestamp" },
	},
	["report_1_0_head"] = {
		{ first = 0, bits = 4, key = "version", name = "Ver" },
		{ first = 4, bits = 4, key = "length", name = "Length" },
		{ first = 8, bits = 3, key = "next", name = "NProt" },
		{ first = 11, bits = 6, key = "md_bits", name = "RepMdBits" },
		{ first = 23, bits = 1, key = "dropped", name = "D" },
		{ first = 24, bits = 1, key = "congested", name = "Q" },
		{ first = 25, bits = 1, key = "tracked", name = "F" },
		{ first = 26, bits = 6, key = "hw_id", name = "hw_id" },
		{ first = 32, bits = 32, key = "node_id", name = "Switch ID" },
		{ first = 64, bits = 32, key = "sequence", name = "Sequence Number" },
		{ first = 96, bits = 32, key = "ingress_ns", name = "Ingress Timestamp" },
	},
	["report_1_0_value"] = {
		{ mask = 0x0020, bits = 16, key = "ingress_port", name = "Ingress Port ID" },
		{ mask = 0x0020, bits = 16, key = "egress_port", name = "Egress Port ID" },
		{ mask = 0x0010, bits = 32, key = "hop_latency_ns", name = "Hop Latency" },
		{ mask = 0x0008, bits = 8, key = "queue_id", name = "Queue ID" },
		{ mask = 0x0008, bits = 24, key = "queue_packets", name = "Queue Occupancy" },
		{ mask = 0x0004, bits = 32, key = "egress_ns", name = "Egress Timestamp" },
		{ mask = 0x0002, bits = 8, key = "drop_queue_id", name = "Queue ID" },
		{ mask = 0x0002, bits = 8, key = "drop_reason", name = "Drop Reason" },
		{ mask = 0x0002, bits = 16 },
		{ mask = 0x0001, bits = 32, key = "link_utilisation", name = "Egress Port TX Utilization" },
	},
	["report_2_0_group_head"] = {
		{ first = 0, bits = 4, key = "version", name = "Ver" },
		{ first = 4, bits = 6, key = "hw_id", name = "hw_id" },
		{ first = 10, bits = 22, key = "sequence", name = "Sequence Number" },
		{ first = 32, bits = 32, key = "node_id", name = "Node ID" },
	},
	["report_2_0_head"] = {
		{ first = 0, bits = 4, key = "type", name = "RepType" },
		{ first = 4, bits = 4, key = "next", name = "InType" },
		{ first = 8, bits = 8, key = "length", name = "Report Length" },
		{ first = 16, bits = 8, key = "md_length", name = "MD Length" },
		{ first = 24, bits = 1, key = "dropped", name = "D" },
		{ first = 25, bits = 1, key = "congested", name = "Q" },
		{ first = 26, bits = 1, key = "tracked", name = "F" },
		{ first = 27, bits = 1, key = "intermediate", name = "I" },
	},
	["report_2_0_main_head"] = {
		{ first = 0, bits = 16, key = "md_bits", name = "RepMdBits" },
		{ first = 16, bits = 16, key = "domain_id", name = "Domain Specific ID" },
		{ first = 32, bits = 16, key = "domain_bits", name = "DSMdBits" },
		{ first = 48, bits = 16, key = "domain_status", name = "DSMdstatus" },
	},
	["report_2_0_value"] = {
		{ mask = 0x4000, bits = 16, key = "ingress_port", name = "Level 1 Ingress Interface ID" },
		{ mask = 0x4000, bits = 16, key = "egress_port", name = "Level 1 Egress Interface ID" },
		{ mask = 0x2000, bits = 32, key = "hop_latency_ns", name = "Hop Latency" },
		{ mask = 0x1000, bits = 8, key = "queue_id", name = "Queue ID" },
		{ mask = 0x1000, bits = 24, key = "queue_packets", name = "Queue Occupancy" },
		{ mask = 0x0800, bits = 64, key = "ingress_ns", name = "Ingress Timestamp" },
		{ mask = 0x0400, bits = 64, key = "egress_ns", name = "Egress Timestamp" },
		{ mask = 0x0200, bits = 32, key = "ingress_port_l2", name = "Level 2 Ingress Interface ID" },
		{ mask = 0x0200, bits = 32, key = "egress_port_l2", name = "Level 2 Egress Interface ID" },
		{ mask = 0x0100, bits = 32, key = "link_utilisation", name = "Egress Interface TX Utilization" },
		{ mask = 0x0080, bits = 8, key = "buffer_id", name = "Buffer ID" },
		{ mask = 0x0080, bits = 24, key = "buffer_used", name = "Buffer Occupancy" },
		{ mask = 0x0040, bits = 32 },
		{ mask = 0x0020, bits = 32 },
		{ mask = 0x0010, bits = 32 },
		{ mask = 0x0008, bits = 32 },
		{ mask = 0x0004, bits = 32 },
		{ mask = 0x0002, bits = 32 },
		{ mask = 0x0001, bits = 8, key = "drop_queue_id", name = "Queue ID" },
		{ mask = 0x0001, bits = 8, key = "drop_reason", name = "Drop Reason" },
		{ mask = 0x0001, bits = 16 },
	},
}
local DROP_REASONS = {
	[0] = "unknown",
	[10] = "outer source MAC zero",
	[11] = "outer source MAC multicast",
	[12] = "outer destination MAC zero",
	[13] = "outer Ethernet miss",
	[14] = "source MAC zero",
	[15] = "source MAC multicast",
	[16] = "destination MAC zero",
	[25] = "outer IP version invalid",
	[26] = "outer TTL zero",
	[27] = "outer source multicast",
	[28] = "outer source loopback",
	[29] = "outer IP miss",
	[30] = "IP version invalid",
	[31] = "TTL zero",
	[32] = "source address multicast",
	[33] = "source address loopback",
	[40] = "port-VLAN mapping miss",
	[41] = "STP learning",
	[42] = "STP blocking",
	[43] = "ingress and egress interface equal",
	[44] = "multicast snooping",
	[50] = "MTU check failed",
	[51] = "traffic manager (queue tail drop)",
	[60] = "ACL deny",
	[61] = "routed ACL deny",
	[62] = "uRPF failed",
	[63] = "IP source guard miss",
	[64] = "interface index",
}
-- End of what make_fields.py writes.

-- Headers of INT, which the codec reads and writes field by field: first bit, bits, key.
local function rows_of(text)
	local rows = {}
	for first, bits, key in text:gmatch("(%d+) (%d+) ([%w_]+)") do
		rows[#rows + 1] = { first = tonumber(first), bits = tonumber(bits), key = key, name = key:gsub("_", " ") }
	end
	return rows
end

local COUNTED = "11 5 instruction_count 16 8 max_hops 24 8 total_hops 32 16 bitmap"
local DOMAIN = " 32 16 bitmap 48 16 domain_id 64 16 ds_instruction 80 16 ds_flags"
local INT_HEADS = {
	["2016-06"] = rows_of("0 2 version 2 2 replication 4 1 c 5 1 e " .. COUNTED),
	["0.5"] = rows_of("0 4 version 4 2 replication 6 1 c 7 1 e " .. COUNTED),
	["1.0"] = rows_of("0 4 version 4 2 replication 6 1 c 7 1 e 8 1 m 19 5 hop_words 24 8 remaining_hops 32 16 bitmap"),
	["2.1"] = rows_of("0 4 version 4 1 d 5 1 e 6 1 m 19 5 hop_words 24 8 remaining_hops" .. DOMAIN),
	mx = rows_of("0 4 version 4 1 d" .. DOMAIN),
}
local SHIMS = {
	["tcp_udp 0.5"] = rows_of("0 8 type 16 8 length"),
	["tcp_udp 1.0"] = rows_of("0 8 type 16 8 length 24 6 original_dscp"),
	["tcp_udp 2.1"] = rows_of("0 4 type 4 2 npt 8 8 length"),
	["vxlan-gpe"] = rows_of("0 8 type 16 8 length 24 8 next_protocol"),
	["vxlan-gpe 2.1"] = rows_of("0 4 type 8 8 length 16 1 g 24 8 next_protocol"),
	["gre 2.1"] = rows_of("0 4 type 4 1 g 8 8 length 16 16 next_protocol"),
}
local BEHIND_SHIM = {
	[0] = rows_of("8 6 original_dscp"), [1] = rows_of("0 16 original_port"),
	[2] = rows_of("8 8 original_protocol"),
}
local TAIL = rows_of("0 8 original_protocol 8 16 original_port 26 6 original_dscp")

local NUMBER = { ["2016-06"] = 0, ["0.5"] = 0, ["1.0"] = 1, ["2.1"] = 2 }
local GPE_PROTOCOL = { ["2016-06"] = 0x05, ["0.5"] = 0x05, ["1.0"] = 0x08, ["2.1"] = 0x82 }
local TYPES = { [1] = "hop-by-hop (MD)", [2] = "destination", [3] = "MX" }
local INNER = { [0] = "none", "TLV", "domain", "Ethernet", "IPv4", "IPv6" }
local ETHERTYPE = { [4] = 0x0800, [5] = 0x86dd }
local TAGS = { [0x8100] = true, [0x88a8] = true, [0x9100] = true }

-- ---- fields ----

local hopsight = Proto("hopsight", "In-band telemetry")
local F = {}

local function number(prefix, row, values)
	local key = prefix .. "." .. row.key
	local wide = row.bits > 32
	if F[key] and (F[key].wide or not wide) then
		return
	end
	local hex = row.key:find("bit") or row.key:find("trace_type") or row.key:find("^ds_") or row.key:find("domain_")
	local make = wide and ProtoField.uint64 or ProtoField.uint32
	local name = prefix:find("flexint") and row.name .. " (" .. row.key .. ")" or row.name
	F[key] = { wide = wide, field = make(key, name, hex and base.HEX or base.DEC, values) }
end

local function text(key, name)
	F[key] = { field = ProtoField.string(key, name) }
end

local function bytes(key, name)
	F[key] = { field = ProtoField.bytes(key, name) }
end

local function tree_field(key, name)
	F[key] = { field = ProtoField.none(key, name) }
end

-- A field that several versions have bears its name in the newest.
local newest_first = {}
for name in pairs(FIELDS) do
	newest_first[#newest_first + 1] = name
end
table.sort(newest_first, function(a, b) return a > b end)

for _, name in ipairs(newest_first) do
	local prefix = "hopsight." .. (name:match("^flexint_%w+") or name:match("^%a+")):gsub("_", ".")
	for _, row in ipairs(FIELDS[name]) do
		if row.key then
			number(prefix, row, row.key == "drop_reason" and DROP_REASONS or nil)
		end
	end
end
for _, tables in ipairs({ INT_HEADS, SHIMS, BEHIND_SHIM, { TAIL } }) do
	for _, rows in pairs(tables) do
		for _, row in ipairs(rows) do
			number(tables == INT_HEADS and "hopsight.int" or "hopsight.int.shim", row, row.key == "type" and TYPES or nil)
		end
	end
end
for _, row in ipairs(rows_of("0 32 ns_id 0 32 trace_type")) do
	number("hopsight.flexint", row)
end
for _, row in ipairs(rows_of("0 16 node_id 0 16 bitmap")) do
	number("hopsight.flexint.hop", row)
end
for _, row in ipairs(rows_of("0 16 bitmap")) do
	number("hopsight.flexint.e2e", row)
end
for _, row in ipairs(rows_of("0 8 inner")) do
	number("hopsight.report", row, INNER)
end
for _, row in ipairs(rows_of("0 8 type 0 8 hops 0 1 bottom")) do
	number("hopsight.int", row, row.key == "type" and TYPES or nil)
end
for _, row in ipairs(rows_of("0 8 protocol 0 16 src_port 0 16 dst_port")) do
	number("hopsight.packet", row)
end
local REQUESTS = { [0] = "hits of rules", "packets of ports" }
local PROBE_REQUEST = rows_of("0 15 id 15 1 type")
local PROBE_ENTRY = rows_of("0 8 port 8 8 first 16 8 end")
local PROBE_HOP = rows_of("0 8 node_id 8 8 depth 16 16 n_values")
local PROBE_COUNTS = { entry = rows_of("0 16 entries"), hop = rows_of("0 16 hops"), value = rows_of("0 16 values") }
for _, row in ipairs(PROBE_REQUEST) do
	number("hopsight.probe", row, row.key == "type" and REQUESTS or nil)
end
for _, row in ipairs(PROBE_ENTRY) do
	number("hopsight.probe.entry", row)
end
for _, row in ipairs(PROBE_HOP) do
	number("hopsight.probe.hop", row)
end
for _, rows in pairs(PROBE_COUNTS) do
	number("hopsight.probe", rows[1])
end
number("hopsight.probe", rows_of("0 32 value")[1])
tree_field("hopsight.probe", "Probe")
tree_field("hopsight.probe.entry", "Entry")
tree_field("hopsight.probe.hop", "Hop")
text("hopsight.probe.kind", "Kind")
tree_field("hopsight.int", "INT")
tree_field("hopsight.int.hop", "Hop")
tree_field("hopsight.int.shim", "Shim")
tree_field("hopsight.report", "Telemetry report")
tree_field("hopsight.report.part", "Part")
tree_field("hopsight.flexint", "Flexible INT")
tree_field("hopsight.flexint.hop", "Hop")
tree_field("hopsight.flexint.e2e", "Source")
tree_field("hopsight.packet", "Copy of the packet")
text("hopsight.int.version_name", "Version of INT")
text("hopsight.int.carrier", "Carrier")
text("hopsight.int.not_available", "Not available")
text("hopsight.report.version_name", "Version of the report")
text("hopsight.packet.src", "Source address")
text("hopsight.packet.dst", "Destination address")
bytes("hopsight.int.domain", "Values of the domain")
bytes("hopsight.int.source_only", "Values of the source only")
bytes("hopsight.int.destination", "Contents for the destination")
bytes("hopsight.report.domain", "Values of the domain")
bytes("hopsight.report.contents", "Contents")
bytes("hopsight.flexint.request", "In-band request")
bytes("hopsight.flexint.report", "Returning report")

for _, made in pairs(F) do
	table.insert(hopsight.fields, made.field)
end

local malformed_expert = ProtoExpert.new("hopsight.malformed", "Malformed telemetry", expert.group.MALFORMED, expert.severity.ERROR)
local cut_expert = ProtoExpert.new("hopsight.cut", "The copy of the packet ends here", expert.group.UNDECODED, expert.severity.NOTE)
local mismatch_expert = ProtoExpert.new("hopsight.mismatch", "Length and bitmap of the report disagree", expert.group.PROTOCOL, expert.severity.WARN)
hopsight.experts = { malformed_expert, cut_expert, mismatch_expert }

-- ---- preferences ----

local VERSIONS = { "2016-06", "0.5", "1.0", "2.1" }
local MARKS = { "none", "dscp", "udp_port", "probe_marker" }

local function choices(names)
	local list = {}
	for i, name in ipairs(names) do
		list[i] = { i, name, i }
	end
	return list
end

local prefs = hopsight.prefs
prefs.version = Pref.enum("INT version", 4, "Version of INT in all carriers (2.1 includes 2.0)", choices(VERSIONS), false)
prefs.mark = Pref.enum("INT over TCP and UDP is marked by", 1, "none: not looked for", choices(MARKS), false)
prefs.dscp = Pref.uint("DSCP", 0x17, "Mark dscp: the value")
prefs.dscp_mask = Pref.uint("DSCP mask", 0x3f, "Mark dscp: the bits that are compared")
prefs.udp_port = Pref.uint("UDP port", 0, "Mark udp_port: the destination port; 0.5 takes it for TCP, too")
prefs.probe_marker = Pref.string("Probe marker", "0000000000000000", "Mark probe_marker: 16 hexadecimal digits")
prefs.gre_protocol = Pref.uint("GRE protocol", 0x88b5, "EtherType of INT in GRE")
prefs.gpe_protocol = Pref.uint("VXLAN-GPE protocol", 0, "Next protocol of INT in VXLAN-GPE; 0: 5, 8 or 130 by version. 2.0 has 128")
prefs.geneve_class = Pref.uint("Geneve class", 0, "Option class of INT in Geneve; 0: 0x00AB, or 0x0103 in 2.1")
prefs.geneve_type = Pref.uint("Geneve type", 1, "Type of hop-by-hop options; the next ones are destination and MX")
prefs.source_words = Pref.uint("Source-only words", 0, "Words that only the source adds where DS instructions are set (2.1)")
prefs.report_ports = Pref.string("Report ports", "32766", "UDP destination ports of telemetry reports, as 32766,5000-5010")
prefs.report_1_is_0_5 = Pref.bool("Report version 1 is 0.5", false, "As INTCollector's generator writes 0.5")
prefs.report_lenient = Pref.bool("Lenient reports", false, "Take a length below 4 in a report 1.0 for 4, as INTCollector does")
prefs.probe_port = Pref.uint("Probe port", 7777, "UDP destination port of source-routed probes; 0: not looked for")
prefs.probe_dscps = Pref.string("Probe DSCPs", "23,25,33", "DSCPs of probes, their feedback and recovery packets")
prefs.flexint = Pref.bool("Flexible INT", true, "Options 0x31, 0x11, 0x32, 0x33 are Flexible INT, not IOAM")

local version, mark, ranges, probes

local function read_preferences()
	probes = {}
	for first, second, third in prefs.probe_dscps:gmatch("(%d+),(%d+),(%d+)") do
		probes = { [tonumber(first)] = "probe", [tonumber(second)] = "feedback", [tonumber(third)] = "recovery" }
	end
	version, mark, ranges = VERSIONS[prefs.version], MARKS[prefs.mark], {}
	for first, last in prefs.report_ports:gmatch("(%d+)%-?(%d*)") do
		first = tonumber(first)
		ranges[#ranges + 1] = { first, tonumber(last) or first }
	end
end

local function gpe_protocol()
	return prefs.gpe_protocol ~= 0 and prefs.gpe_protocol or GPE_PROTOCOL[version]
end

local function is_report_port(port)
	for _, range in ipairs(ranges) do
		if port >= range[1] and port <= range[2] then
			return true
		end
	end
	return false
end

-- ---- bytes ----

-- What is read: a buffer, the bytes that are there, and where the packet ends by what its headers say.
-- A frame or a copy may be shorter.
local function source(tvb, have, fin)
	return { tvb = tvb, have = have, fin = fin }
end

local function u8(s, at)
	return s.tvb(at, 1):uint()
end

local function u16(s, at)
	return s.tvb(at, 2):uint()
end

local function has(bitmap, mask)
	return math.floor(bitmap / mask) % 2 == 1
end

local function malformed(tree, why)
	tree:add_proto_expert_info(malformed_expert, "Malformed telemetry: " .. why)
	return nil
end

-- Whether n bytes can be read. Says why not: beyond the packet, or beyond the copy of it.
local function there(s, tree, at, n, what)
	if at + n > s.fin then
		malformed(tree, what .. " goes beyond what encloses it")
		return false
	elseif at + n > s.have then
		tree:add_proto_expert_info(cut_expert)
		return false
	end
	return true
end

local function rest(s, at)
	return math.max(0, math.min(s.have, s.fin) - at)
end

-- What is there of [at, at + n).
local function part(s, at, n)
	at = math.min(at, s.have)
	return s.tvb(at, math.max(0, math.min(n, s.have - at)))
end

-- Adds the fields of a header. Returns them by key, or nil.
local function add_head(s, tree, at, n, rows, prefix, what)
	if not there(s, tree, at, n, what) then
		return nil
	end
	local head = {}
	for _, row in ipairs(rows) do
		local first = row.first
		local at_byte, last = math.floor(first / 8), math.ceil((first + row.bits) / 8)
		local range = s.tvb(at + at_byte, last - at_byte)
		local value = range:bitfield(first % 8, row.bits)
		head[row.key] = value
		local made = F[prefix .. "." .. row.key]
		tree:add(made.field, range, made.wide and UInt64(value) or value)
	end
	return head
end

-- Adds one value, except one that is not available.
local function add_value(s, tree, at, row, prefix, bos)
	local n = row.bits / 8
	local range = s.tvb(at, n)
	local made = F[prefix .. "." .. row.key]
	local value, ones
	if n == 8 then
		value, ones = range:uint64(), range:uint64() == UInt64(0xffffffff, 0xffffffff)
	else
		value = range:uint()
		if bos then
			tree:add(F["hopsight.int.bottom"].field, range, value >= 0x80000000 and 1 or 0)
			value = value % 0x80000000
		end
		ones = value == (bos and 0x7fffffff or 2 ^ row.bits - 1)
	end
	if ones and bos ~= nil then
		tree:add(F[prefix .. ".not_available"].field, range, row.key)
	elseif made.wide and n < 8 then
		tree:add(made.field, range, UInt64(value))
	else
		tree:add(made.field, range, value)
	end
end

-- Adds the values that a bitmap names. Returns where they end, or nil.
local function add_values(s, tree, at, rows, bitmap, prefix)
	for _, row in ipairs(rows) do
		if row.mask == 0 or has(bitmap, row.mask) then
			if not there(s, tree, at, row.bits / 8, "a value") then
				return nil
			end
			if row.key then
				add_value(s, tree, at, row, prefix)
			end
			at = at + row.bits / 8
		end
	end
	return at
end

local function bytes_of(rows, bitmap)
	local n, known = 0, 0
	for _, row in ipairs(rows) do
		n = n + (has(bitmap, row.mask) and row.bits / 8 or 0)
		known = has(known, row.mask) and known or known + row.mask
	end
	return n, known
end

-- ---- INT: header and stack ----

local BY_MASK = {}
for _, name in ipairs(VERSIONS) do
	BY_MASK[name] = {}
	for _, row in ipairs(FIELDS["int_" .. name]) do
		local rows = BY_MASK[name][row.mask] or {}
		rows[#rows + 1] = row
		BY_MASK[name][row.mask] = rows
	end
end

-- Words of a hop's values; an instruction that a version does not know has one word.
local function words_of(bitmap)
	local words = 0
	for bit = 0, 15 do
		local mask = 2 ^ (15 - bit)
		if has(bitmap, mask) then
			local bits = 0
			for _, row in ipairs(BY_MASK[version][mask] or { { bits = 32 } }) do
				bits = bits + row.bits
			end
			words = words + bits / 32
		end
	end
	return words
end

-- Adds the values of one instruction. Returns where they end, or nil.
local function add_instruction(s, tree, at, mask)
	for _, row in ipairs(BY_MASK[version][mask] or { { bits = 32 } }) do
		if not there(s, tree, at, row.bits / 8, "a value") then
			return nil
		end
		if row.key then
			add_value(s, tree, at, row, "hopsight.int", version == "2016-06")
		end
		at = at + row.bits / 8
	end
	return at
end

local function add_bytes(s, tree, at, n, key)
	if n > 0 and there(s, tree, at, n, "a value") then
		tree:add(F[key].field, s.tvb(at, n))
	end
	return at + n
end

-- One hop: values in the order of the bits, the domain's, the source's own, the checksum complement.
local function add_hop(s, tree, at, head, hop, source_words)
	local words = hop.words + source_words
	local hop_tree = tree:add(F["hopsight.int.hop"].field, part(s, at, 4 * words))
	hop_tree:set_text("Hop " .. hop.number)
	for bit = 0, 14 do
		local mask = 2 ^ (15 - bit)
		if has(head.bitmap, mask) then
			at = add_instruction(s, hop_tree, at, mask)
			if not at then
				return nil
			end
		end
	end
	at = add_bytes(s, hop_tree, at, 4 * hop.domain_words, "hopsight.int.domain")
	at = add_bytes(s, hop_tree, at, 4 * source_words, "hopsight.int.source_only")
	if has(head.bitmap, 1) then
		at = add_instruction(s, hop_tree, at, 1)
	end
	return at
end

-- The bit of the bottom is set in the last value of the stack and in no other.
local function check_bottom(s, tree, at, fin)
	for word = at, math.min(fin, s.have) - 4, 4 do
		if (u8(s, word) >= 0x80) ~= (word == fin - 4) then
			malformed(tree, "the bottom of the stack is not where it must be")
		end
	end
end

-- Words of a hop, and of the source alone, or nil: `words` is all of the stack.
local function divide(tree, head, words)
	local baseline = words_of(head.bitmap)
	if head.instruction_count then
		local count = 0
		for bit = 0, 15 do
			count = count + (has(head.bitmap, 2 ^ bit) and 1 or 0)
		end
		if count ~= head.instruction_count then
			return malformed(tree, "the instruction count is not that of the bitmap")
		elseif words ~= count * head.total_hops then
			return malformed(tree, "the stack is not as long as its hops")
		end
		return count, 0
	end
	local domain = head.hop_words - baseline
	if domain < 0 or (domain > 0 and version ~= "2.1") then
		return malformed(tree, "the words of a hop are not those of the bitmap")
	end
	local own = 0
	if version == "2.1" and head.ds_instruction ~= 0 and words > 0 then
		own = prefs.source_words
	end
	if head.hop_words == 0 and words == own then
		return 0, own
	elseif head.hop_words == 0 or words < own or (words - own) % head.hop_words ~= 0 then
		return malformed(tree, "the stack is no multiple of the words of a hop")
	end
	return head.hop_words, own
end

local function add_stack(s, tree, at, fin, head)
	local words, own = divide(tree, head, (fin - at) / 4)
	if not words then
		return
	end
	local hops = words > 0 and ((fin - at) / 4 - own) / words or 0
	tree:add(F["hopsight.int.hops"].field, part(s, at, fin - at), hops)
	if version == "2016-06" then
		check_bottom(s, tree, at, fin)
	end
	local hop = { words = words, domain_words = words - words_of(head.bitmap) }
	for i = 1, hops do
		hop.number = i
		at = add_hop(s, tree, at, head, hop, i == hops and own or 0)
		if not at then
			return
		end
	end
end

-- A header of `len` bytes with all that belongs to it.
local function add_int(s, tree, at, len, kind)
	tree:add(F["hopsight.int.type"].field, part(s, at, 0), kind)
	tree:add(F["hopsight.int.version_name"].field, part(s, at, 0), version)
	local newer = version == "1.0" or version == "2.1"
	if not TYPES[kind] or (kind == 3 and version ~= "2.1") then
		return malformed(tree, "a type that the version does not define")
	elseif kind == 2 and newer then
		add_bytes(s, tree, at, len, "hopsight.int.destination")
		return
	end
	local n = version == "2.1" and 12 or 8
	if len < n or len % 4 ~= 0 then
		return malformed(tree, "a length shorter than the header")
	end
	local rows = kind == 3 and INT_HEADS.mx or INT_HEADS[version]
	local head = add_head(s, tree, at, n, rows, "hopsight.int", "the header")
	if not head then
		return
	elseif head.version ~= NUMBER[version] then
		return malformed(tree, "another version number")
	elseif kind == 3 then
		add_bytes(s, tree, at + n, len - n, "hopsight.int.domain")
	else
		add_stack(s, tree, at + n, at + len, head)
	end
end

-- ---- INT: carriers ----

local function int_tree(s, root, at, n, carrier)
	local range = part(s, at, n)
	local top = root:add(hopsight, range)
	local tree = top:add(F["hopsight.int"].field, range)
	tree:set_text("INT " .. version .. " in " .. carrier)
	tree:add(F["hopsight.int.carrier"].field, part(s, at, 0), carrier)
	return tree
end

-- A shim and what it encloses. `excluded`: its length does not count itself. Returns the shim and
-- where all of it ends, or nil.
local function add_shim(s, tree, at, name, excluded)
	local shim_tree = tree:add(F["hopsight.int.shim"].field, part(s, at, 4))
	shim_tree:set_text("Shim")
	local shim = add_head(s, shim_tree, at, 4, SHIMS[name], "hopsight.int.shim", "the shim")
	if not shim then
		return nil
	end
	local fin = at + 4 * shim.length + (excluded and 4 or 0)
	if fin < at + 4 then
		return malformed(tree, "a length shorter than the shim")
	elseif fin > s.fin then
		return malformed(tree, "the shim's length goes beyond what encloses it")
	end
	return shim, fin, shim_tree
end

-- Behind a TCP or UDP header.
local function int_tcp_udp(s, root, at)
	if version == "2016-06" then
		return
	end
	local tree = int_tree(s, root, at, rest(s, at), "tcp_udp")
	local newest = version == "2.1"
	local shim, fin, shim_tree = add_shim(s, tree, at, "tcp_udp " .. version, newest)
	if not shim then
		return
	end
	tree:set_len(math.min(fin, s.have) - at)
	if newest then
		local rows = BEHIND_SHIM[shim.npt]
		if not rows or (shim.npt == 0) == (mark == "udp_port") then
			malformed(shim_tree, "an NPT that does not go with the mark")
		else
			add_head(s, shim_tree, at + 2, 2, rows, "hopsight.int.shim", "the shim")
		end
	end
	local tail = version == "0.5" and 4 or 0
	if fin - at - 4 < tail then
		return malformed(tree, "a length without room for the tail")
	end
	add_int(s, tree, at + 4, fin - at - 4 - tail, shim.type)
	if tail > 0 then
		add_head(s, tree, fin - 4, 4, TAIL, "hopsight.int.shim", "the tail")
	end
end

local function int_gre(s, root, at)
	if not there(s, root, at, 4, "GRE") or u16(s, at + 2) ~= prefs.gre_protocol then
		return
	end
	local flags, begin = u8(s, at), at + 4
	for _, mask in ipairs({ 0x80, 0x20, 0x10 }) do
		begin = begin + (has(flags, mask) and 4 or 0)
	end
	local tree = int_tree(s, root, begin, rest(s, begin), "gre")
	if version ~= "2.1" then
		return malformed(tree, "the version has no format for GRE")
	end
	local shim, fin = add_shim(s, tree, begin, "gre 2.1", true)
	if shim then
		tree:set_len(math.min(fin, s.have) - begin)
		add_int(s, tree, begin + 4, fin - begin - 4, shim.type)
	end
end

local function int_vxlan_gpe(s, root, at)
	local protocol = gpe_protocol()
	if rest(s, at) < 8 or not has(u8(s, at), 0x04) or u8(s, at + 3) ~= protocol then
		return
	end
	local name = version == "2.1" and "vxlan-gpe 2.1" or "vxlan-gpe"
	local next_protocol = protocol
	at = at + 8
	while next_protocol == protocol do
		local tree = int_tree(s, root, at, rest(s, at), "vxlan-gpe")
		local shim, fin, shim_tree = add_shim(s, tree, at, name, version == "2.1")
		if not shim then
			return
		end
		-- Versions before 2.1 have no sign for plain VXLAN that was upgraded. This is Hopsight's own.
		if version ~= "2.1" and has(u8(s, at + 1), 0x80) then
			shim_tree:add(F["hopsight.int.shim.g"].field, part(s, at + 1, 1), 1)
		end
		tree:set_len(math.min(fin, s.have) - at)
		add_int(s, tree, at + 4, fin - at - 4, shim.type)
		at, next_protocol = fin, shim.next_protocol
	end
end

local function int_geneve(s, root, at)
	local class = prefs.geneve_class ~= 0 and prefs.geneve_class or version == "2.1" and 0x0103 or 0x00ab
	if rest(s, at) < 8 then
		return
	end
	local fin = at + 8 + 4 * (u8(s, at) % 64)
	at = at + 8
	while at + 4 <= math.min(fin, s.fin, s.have) do
		local n = 4 * (u8(s, at + 3) % 32)
		local kind = u8(s, at + 2) - prefs.geneve_type + 1
		if u16(s, at) == class and kind >= 1 and kind <= 3 then
			local tree = int_tree(s, root, at, 4 + n, "geneve")
			if at + 4 + n > math.min(fin, s.fin) then
				return malformed(tree, "the option goes beyond what encloses it")
			end
			add_int(s, tree, at + 4, n, kind)
		end
		at = at + 4 + n
	end
end

local function is_marked(s, at, protocol, dscp, port)
	if mark == "dscp" then
		local value, mask = dscp, prefs.dscp_mask
		for bit = 0, 5 do
			if has(mask, 2 ^ bit) and has(value, 2 ^ bit) ~= has(prefs.dscp, 2 ^ bit) then
				return nil
			end
		end
		return at
	elseif mark == "udp_port" and port == prefs.udp_port and port ~= 0 then
		return (protocol == 17 or version == "0.5") and at or nil
	elseif mark == "probe_marker" and rest(s, at) >= 8 then
		local marker = s.tvb(at, 8):bytes():tohex():lower()
		return marker == prefs.probe_marker:lower() and at + 8 or nil
	end
	return nil
end

-- ---- Flexible INT ----

local function flexint_hops(s, tree, at, fin)
	local rows = FIELDS.flexint_hop
	local fixed = rows_of("0 16 node_id 16 16 bitmap")
	while at < fin do
		if fin - at < 4 then
			return malformed(tree, "bytes that are no entry")
		end
		local hop = tree:add(F["hopsight.flexint.hop"].field, part(s, at, 4))
		local head = add_head(s, hop, at, 4, fixed, "hopsight.flexint.hop", "an entry")
		if not head then
			return
		end
		local n, known = bytes_of(rows, head.bitmap)
		hop:set_text("Hop of node " .. head.node_id)
		for bit = 0, 15 do
			if has(head.bitmap, 2 ^ bit) and not has(known, 2 ^ bit) then
				return malformed(hop, "an entry with an unknown value")
			end
		end
		if at + 4 + n > fin then
			return malformed(hop, "an entry goes beyond its option")
		end
		hop:set_len(math.min(4 + n, s.have - at))
		if not add_values(s, hop, at + 4, rows, head.bitmap, "hopsight.flexint.hop") then
			return
		end
		at = at + 4 + n
	end
end

local function flexint_e2e(s, tree, at, n)
	local e2e = tree:add(F["hopsight.flexint.e2e"].field, part(s, at, n))
	e2e:set_text("Source")
	if n < 2 then
		return malformed(e2e, "the source's entry is too short")
	end
	local head = add_head(s, e2e, at, 2, rows_of("0 16 bitmap"), "hopsight.flexint.e2e", "the source's entry")
	if not head then
		return
	end
	local size, known = bytes_of(FIELDS.flexint_e2e, head.bitmap)
	if head.bitmap % 0x1000 ~= 0 or known ~= 0xf000 or size + 2 ~= n then
		return malformed(e2e, "the source's entry is not as long as its bitmap says")
	end
	add_values(s, e2e, at + 2, FIELDS.flexint_e2e, head.bitmap, "hopsight.flexint.e2e")
end

local function flexint_trace(s, tree, at, n)
	if n < 8 then
		return malformed(tree, "option 0x31 is too short")
	end
	if add_head(s, tree, at, 8, rows_of("0 32 ns_id 32 32 trace_type"), "hopsight.flexint", "option 0x31") then
		flexint_hops(s, tree, at + 8, at + n)
	end
end

-- The CBOR of requests or reports. One report may take several options: `pieces` are their bytes.
local function add_cbor(s, tree, pieces, pinfo)
	local whole, at = ByteArray.new(), 0
	for _, piece in ipairs(pieces) do
		whole:append(s.tvb(piece[1], piece[2]):bytes())
	end
	local found, cbor = pcall(Dissector.get, "cbor")
	if not found or not cbor or whole:len() == 0 then
		return
	end
	local tvb = whole:tvb("CBOR of the options")
	while at < tvb:len() do
		local read, n = pcall(cbor.call, cbor, tvb(at):tvb(), pinfo, tree)
		if not read or not n or n < 1 then
			return malformed(tree, "the CBOR of an option")
		end
		at = at + n
	end
end

-- One option of Flexible INT.
local function flexint_option(s, tree, at, kind, n, found)
	if kind == 0x31 then
		flexint_trace(s, tree, at, n)
	elseif kind == 0x11 then
		flexint_e2e(s, tree, at, n)
	elseif there(s, tree, at, n, "an option") then
		local key = kind == 0x32 and "request" or "report"
		tree:add(F["hopsight.flexint." .. key].field, s.tvb(at, n))
		if n == 0 then
			malformed(tree, "an empty option")
		end
		table.insert(found[key], { at, n })
	end
end

local OPTIONS = { [0x31] = true, [0x11] = true, [0x32] = true, [0x33] = true }

-- The Hop-by-Hop header in [at, at + n).
local function flexint(s, root, at, n, pinfo)
	local fin, tree = at + n, nil
	local found = { request = {}, report = {} }
	local option = at + 2
	while option < math.min(fin, s.have) do
		local kind = u8(s, option)
		local telemetry = OPTIONS[kind]
		if telemetry and not tree then
			tree = root:add(hopsight, part(s, at, n)):add(F["hopsight.flexint"].field, part(s, at, n))
			tree:set_text("Flexible INT")
		end
		if kind == 0 then
			option = option + 1
		elseif option + 2 > fin or option + 2 > s.have or option + 2 + u8(s, option + 1) > fin then
			if tree then
				malformed(tree, "an option goes beyond its header")
			end
			break
		else
			local size = u8(s, option + 1)
			if telemetry then
				flexint_option(s, tree, option + 2, kind, size, found)
			end
			option = option + 2 + size
		end
	end
	for _, pieces in pairs(found) do
		if #pieces > 0 then
			add_cbor(s, tree, pieces, pinfo)
		end
	end
end

-- ---- reports ----

local network, ethernet

local function add_packet(s, tree, at, fin, kind, tracked, pinfo)
	local have = math.min(s.have, fin)
	if have <= at or not (kind == 3 or ETHERTYPE[kind]) then
		if have > at then
			tree:add(F["hopsight.report.contents"].field, s.tvb(at, have - at))
		end
		return
	end
	local packet = tree:add(F["hopsight.packet"].field, s.tvb(at, have - at))
	packet:set_text("Copy of the packet")
	local copy = source(s.tvb, have, math.huge)
	copy.packet, copy.tracked = packet, tracked
	if kind == 3 then
		ethernet(copy, packet, at, pinfo)
	else
		network(copy, packet, at, ETHERTYPE[kind], pinfo)
	end
end

local function report_0_5(s, tree, at, pinfo)
	local head = add_head(s, tree, at, 12, FIELDS.report_0_5_head, "hopsight.report", "the report")
	if not head then
		return
	end
	local rows = ({ [1] = FIELDS.report_0_5_drop, [2] = FIELDS.report_0_5_local })[head.next]
	at = at + 12
	if rows then
		at = add_values(s, tree, at, rows, 0, "hopsight.report")
	elseif head.next ~= 0 then
		return malformed(tree, "a reserved NProto")
	end
	if at then
		add_packet(s, tree, at, s.fin, 3, head.tracked == 1, pinfo)
	end
end

local function report_1_0(s, tree, at, pinfo)
	local head = add_head(s, tree, at, 16, FIELDS.report_1_0_head, "hopsight.report", "the report")
	if not head then
		return
	end
	local length = prefs.report_lenient and math.max(head.length, 4) or head.length
	if length < 4 then
		return malformed(tree, "a length shorter than the fixed header")
	elseif head.next > 2 then
		return malformed(tree, "a reserved NProt")
	elseif at + 4 * length > s.fin then
		return malformed(tree, "a length beyond the datagram")
	end
	if 16 + bytes_of(FIELDS.report_1_0_value, head.md_bits) ~= 4 * length then
		tree:add_proto_expert_info(mismatch_expert)
	elseif not add_values(s, tree, at + 16, FIELDS.report_1_0_value, head.md_bits, "hopsight.report") then
		return
	end
	add_packet(s, tree, at + 4 * length, s.fin, head.next + 3, head.tracked == 1, pinfo)
end

-- The values of a report 2.0. Returns where they end, or nil.
local function report_main(s, tree, at, fin, md_bytes)
	if at + 8 + md_bytes > fin then
		return malformed(tree, "an MD Length beyond the report")
	end
	local main = add_head(s, tree, at, 8, FIELDS.report_2_0_main_head, "hopsight.report", "the report")
	if not main then
		return nil
	end
	local n = bytes_of(FIELDS.report_2_0_value, main.md_bits)
	if n > md_bytes then
		return malformed(tree, "more values than MD Length has room for")
	elseif not add_values(s, tree, at + 8, FIELDS.report_2_0_value, main.md_bits, "hopsight.report") then
		return nil
	end
	add_bytes(s, tree, at + 8 + n, md_bytes - n, "hopsight.report.domain")
	return at + 8 + md_bytes
end

local PART = { [0] = 2, 3, 4, 5 } -- types of parts as InType

local function report_parts(s, tree, at, fin, tracked, pinfo)
	while at < math.min(fin, s.have) do
		if fin - at < 4 or not there(s, tree, at, 4, "a part") or at + 4 + 4 * u8(s, at + 1) > fin then
			return malformed(tree, "a part goes beyond its report")
		end
		local n = 4 * u8(s, at + 1)
		local kind = PART[math.floor(u8(s, at) / 16)]
		local sub = tree:add(F["hopsight.report.part"].field, part(s, at, 4 + n))
		sub:set_text("Part: " .. (kind and INNER[kind] or "reserved"))
		add_packet(s, sub, at + 4, at + 4 + n, kind, tracked, pinfo)
		at = at + 4 + n
	end
end

-- One report of a datagram. Returns where it ends, or nil.
local function report_2_0_one(s, tree, at, pinfo)
	local head = add_head(s, tree, at, 4, FIELDS.report_2_0_head, "hopsight.report", "a report")
	if not head then
		return nil
	end
	local fin = at + 4 + 4 * head.length
	if fin > s.fin then
		return malformed(tree, "a length beyond the datagram")
	end
	fin = head.length == 0xff and s.fin or fin
	tree:add(F["hopsight.report.inner"].field, part(s, at, 1), head.next)
	local begin = at + 4
	if head.type == 1 then
		begin = report_main(s, tree, begin, fin, 4 * head.md_length)
	elseif head.type > 1 then
		tree:add(F["hopsight.report.contents"].field, part(s, begin, fin - begin))
		return fin
	elseif head.md_length ~= 0 then
		begin = malformed(tree, "values in a report that has none")
	end
	if not begin then
		return fin
	elseif head.next == 1 then
		report_parts(s, tree, begin, fin, head.tracked == 1, pinfo)
	else
		add_packet(s, tree, begin, fin, head.next, head.tracked == 1, pinfo)
	end
	return fin
end

local function report_2_0(s, tree, at, pinfo)
	if not add_head(s, tree, at, 8, FIELDS.report_2_0_group_head, "hopsight.report", "the group header") then
		return
	end
	at = at + 8
	while at and at < s.fin and at < s.have do
		local sub = tree:add(F["hopsight.report"].field, part(s, at, 4))
		sub:set_text("Report")
		at = report_2_0_one(s, sub, at, pinfo)
	end
end

local REPORTS = { ["0.5"] = report_0_5, ["1.0"] = report_1_0, ["2.0"] = report_2_0 }

local function reports(s, root, at, pinfo)
	local range = part(s, at, rest(s, at))
	local tree = root:add(hopsight, range):add(F["hopsight.report"].field, range)
	if not there(s, tree, at, 1, "the report") then
		return
	end
	local first = math.floor(u8(s, at) / 16)
	local name = ({ [0] = "0.5", prefs.report_1_is_0_5 and "0.5" or "1.0", "2.0" })[first]
	if not name then
		return malformed(tree, "a version that is not known")
	end
	tree:set_text("Telemetry report " .. name)
	tree:add(F["hopsight.report.version_name"].field, part(s, at, 0), name)
	REPORTS[name](s, tree, at, pinfo)
end

-- ---- source-routed probes ----

-- A number and as many parts of the payload. Returns where they end and their heads, or nil.
local function probe_parts(s, tree, at, name, n, rows)
	local key = PROBE_COUNTS[name][1].key
	local head, heads = add_head(s, tree, at, 2, PROBE_COUNTS[name], "hopsight.probe", "the number of " .. key), {}
	if not head then
		return nil
	end
	at = at + 2
	for i = 1, head[key] do
		if not there(s, tree, at, n, "the list of " .. key) then
			return nil
		end
		local sub = tree:add(F["hopsight.probe." .. name].field, part(s, at, n))
		heads[i] = add_head(s, sub, at, n, rows, "hopsight.probe." .. name, name)
		at = at + n
	end
	return at, heads
end

local function probe_values(s, tree, at, hops)
	local head = add_head(s, tree, at, 2, PROBE_COUNTS.value, "hopsight.probe", "the number of values")
	local sum = 0
	at = at + 2
	for _, hop in ipairs(head and hops or {}) do
		for _ = 1, hop.n_values do
			if not there(s, tree, at, 4, "the list of values") then
				return
			end
			tree:add(F["hopsight.probe.value"].field, s.tvb(at, 4)):append_text(" (node " .. hop.node_id .. ")")
			at = at + 4
		end
		sum = sum + hop.n_values
	end
	if head and sum ~= head.values then
		malformed(tree, "the hops have " .. sum .. " values")
	elseif head and at ~= s.fin then
		malformed(tree, "bytes behind the values")
	end
end

local function probe(s, root, at, kind)
	local range = part(s, at, rest(s, at))
	local tree = root:add(hopsight, range):add(F["hopsight.probe"].field, range)
	tree:set_text("Source-routed probes: " .. kind)
	tree:add(F["hopsight.probe.kind"].field, part(s, at, 0), kind)
	if not add_head(s, tree, at, 2, PROBE_REQUEST, "hopsight.probe", "the request") then
		return
	end
	if kind == "feedback" then
		return at + 2 == s.fin or malformed(tree, "bytes behind the request")
	end
	local behind, hops = probe_parts(s, tree, at + 2, "entry", 3, PROBE_ENTRY), nil
	if behind then
		behind, hops = probe_parts(s, tree, behind, "hop", 4, PROBE_HOP)
	end
	if behind then
		probe_values(s, tree, behind, hops)
	end
end

-- ---- the packet ----

local function upper_layer(s, at, protocol)
	if s.packet then
		s.packet:add(F["hopsight.packet.protocol"].field, part(s, at, 0), protocol)
	end
	if s.packet and (protocol == 6 or protocol == 17) and rest(s, at) >= 4 then
		s.packet:add(F["hopsight.packet.src_port"].field, s.tvb(at, 2), u16(s, at))
		s.packet:add(F["hopsight.packet.dst_port"].field, s.tvb(at + 2, 2), u16(s, at + 2))
	end
end

-- TCP, UDP or GRE. The copy of a packet contains no telemetry where F is 0.
local function transport(s, root, at, protocol, dscp, pinfo)
	upper_layer(s, at, protocol)
	if s.packet and not s.tracked then
		return
	elseif protocol == 47 then
		return rest(s, at) >= 4 and int_gre(s, root, at)
	elseif protocol == 6 and rest(s, at) >= 20 then
		local behind = at + 4 * math.floor(u8(s, at + 12) / 16)
		local begin = behind >= at + 20 and is_marked(s, behind, 6, dscp, u16(s, at + 2))
		return begin and int_tcp_udp(s, root, begin)
	elseif protocol ~= 17 or rest(s, at) < 8 then
		return
	end
	local port, length = u16(s, at + 2), u16(s, at + 4)
	if length >= 8 then
		s.fin = math.min(s.fin, at + length)
	end
	at = at + 8
	local begin = is_marked(s, at, 17, dscp, port)
	if s.ipv4 and not s.packet and port == prefs.probe_port and probes[dscp] then
		probe(s, root, at, probes[dscp])
	elseif begin then
		int_tcp_udp(s, root, begin)
	elseif port == 6081 then
		int_geneve(s, root, at)
	elseif port == 4790 then
		int_vxlan_gpe(s, root, at)
	elseif not s.packet and is_report_port(port) then
		reports(s, root, at, pinfo)
	end
end

local function addresses(s, at, n, show)
	if s.packet then
		s.packet:add(F["hopsight.packet.src"].field, s.tvb(at, n), tostring(show(s.tvb(at, n))))
		s.packet:add(F["hopsight.packet.dst"].field, s.tvb(at + n, n), tostring(show(s.tvb(at + n, n))))
	end
end

local function ipv4(s, root, at, pinfo)
	local n = rest(s, at) >= 20 and 4 * (u8(s, at) % 16) or 0
	if n < 20 or math.floor(u8(s, at) / 16) ~= 4 then
		return
	end
	local length, protocol = u16(s, at + 2), u8(s, at + 9)
	if length >= n then
		s.fin = math.min(s.fin, at + length)
	end
	s.ipv4 = true
	addresses(s, at + 12, 4, function(range) return range:ipv4() end)
	if u16(s, at + 6) % 0x2000 == 0 then -- not a later fragment
		transport(s, root, at + n, protocol, math.floor(u8(s, at + 1) / 4), pinfo)
	end
end

local EXTENSIONS = { [0] = 8, [43] = 8, [60] = 8, [135] = 8, [139] = 8, [140] = 8, [51] = 4 }

-- Follows extension headers. Returns the upper protocol and where it is, or nil.
local function extensions(s, root, at, protocol, pinfo)
	for _ = 1, 9 do
		local unit = EXTENSIONS[protocol]
		if protocol == 44 and rest(s, at) >= 8 then
			if u16(s, at + 2) >= 8 then
				return nil
			end
			protocol, at = u8(s, at), at + 8
		elseif not unit then
			return protocol, at
		elseif rest(s, at) < 2 then
			return nil
		else
			local n = unit == 8 and 8 * (u8(s, at + 1) + 1) or 4 * (u8(s, at + 1) + 2)
			if protocol == 0 and prefs.flexint and (s.tracked or not s.packet) then
				flexint(s, root, at, n, pinfo)
			end
			protocol, at = u8(s, at), at + n
		end
	end
	return nil
end

local function ipv6(s, root, at, pinfo)
	if rest(s, at) < 40 or math.floor(u8(s, at) / 16) ~= 6 then
		return
	end
	local length = u16(s, at + 4)
	if length > 0 then
		s.fin = math.min(s.fin, at + 40 + length)
	end
	local dscp = math.floor(u16(s, at) / 64) % 64
	addresses(s, at + 8, 16, function(range) return range:ipv6() end)
	local protocol, upper = extensions(s, root, at + 40, u8(s, at + 6), pinfo)
	if protocol then
		transport(s, root, upper, protocol, dscp, pinfo)
	end
end

function network(s, root, at, ethertype, pinfo)
	for _ = 1, 8 do
		if not TAGS[ethertype] or rest(s, at) < 4 then
			break
		end
		ethertype, at = u16(s, at + 2), at + 4
	end
	if ethertype == 0x0800 then
		ipv4(s, root, at, pinfo)
	elseif ethertype == 0x86dd then
		ipv6(s, root, at, pinfo)
	end
end

function ethernet(s, root, at, pinfo)
	if rest(s, at) >= 14 then
		network(s, root, at + 14, u16(s, at + 12), pinfo)
	end
end

-- Where the packet begins in a frame of other kinds of links: offset of the EtherType, then bytes.
local LINKS = { [25] = { 14, 16 }, [210] = { 0, 20 } } -- Linux cooked captures, 1 and 2
local RAW = { [7] = true, [129] = true, [130] = true } -- packets without a link's header

local encapsulation = Field.new("frame.encap_type")

function hopsight.dissector(tvb, pinfo, root)
	local s = source(tvb, tvb:len(), tvb:reported_len())
	local kind = encapsulation()
	kind = kind and kind.value
	if kind == 1 then
		ethernet(s, root, 0, pinfo)
	elseif LINKS[kind] and s.have >= LINKS[kind][2] then
		network(s, root, LINKS[kind][2], u16(s, LINKS[kind][1]), pinfo)
	elseif RAW[kind] and s.have >= 1 then
		network(s, root, 0, u8(s, 0) >= 0x60 and 0x86dd or 0x0800, pinfo)
	end
end

register_postdissector(hopsight)

-- ---- packets in tunnels, behind INT ----

-- Wireshark's own dissectors go on behind INT in GRE and VXLAN-GPE. Errors in those packets are theirs
-- to show, and must not become errors of this script.
local function go_on(tvb, pinfo, root, at, table_name, protocol)
	if at < tvb:len() then
		local tables = DissectorTable.get(table_name)
		pcall(tables.try, tables, protocol, tvb(at):tvb(), pinfo, root)
	end
	return tvb:len()
end

local in_gre = Proto("hopsight_gre", "INT in GRE")
local in_gpe = Proto("hopsight_gpe", "INT in VXLAN-GPE")

function in_gre.dissector(tvb, pinfo, root)
	if version ~= "2.1" or tvb:len() < 4 then
		return 0
	end
	return go_on(tvb, pinfo, root, 4 + 4 * tvb(1, 1):uint(), "ethertype", tvb(2, 2):uint())
end

function in_gpe.dissector(tvb, pinfo, root)
	local at, protocol = 0, gpe_protocol()
	while protocol == gpe_protocol() do
		if at + 4 > tvb:len() then
			return 0
		end
		protocol = tvb(at + 3, 1):uint()
		local newest = version == "2.1"
		local words = newest and 1 + tvb(at + 1, 1):uint() or math.max(1, tvb(at + 2, 1):uint())
		at = at + 4 * words
	end
	return go_on(tvb, pinfo, root, at, "vxlan.next_proto", protocol)
end

local registered = {}

local function apply_preferences()
	read_preferences()
	for _, was in ipairs(registered) do
		DissectorTable.get(was[1]):remove(was[2], was[3])
	end
	registered = { { "gre.proto", prefs.gre_protocol, in_gre }, { "vxlan.next_proto", gpe_protocol(), in_gpe } }
	for _, now in ipairs(registered) do
		DissectorTable.get(now[1]):add(now[2], now[3])
	end
end

hopsight.prefs_changed = apply_preferences
apply_preferences()
