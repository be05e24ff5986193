// SPDX-License-Identifier: BSD-3-Clause
#include "bench_frames.h"

#include "bytes.h"
#include "checksum.h"
#include "flexint.h"
#include "int.h"
#include "ip.h"
#include "ip_address.h"
#include "ip_header.h"
#include "packet.h"
#include "udp_front.h"

#include <rte_common.h>
#include <rte_jhash.h>

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define UDP_BYTES   8
#define UDP_PORT    5001
#define HOP_LIMIT   64
#define START_NS    UINT64_C(1700000000000000000)
#define DESTINATION 2 // the last byte of the address that receives traffic
#define ELSEWHERE   3 // the last byte of an address that receives none

#define PROBE_HOPS_MAX 32
#define PROBE_VALUES   4 // of each hop

const uint8_t hs_bench_router_mac[6] = {0x02, 0x70, 0x63, 0x61, 0x70, 0x00};

// ---- addresses ----

static void address(bool ipv4, uint8_t ip[16], uint32_t word)
{
	static const uint8_t network[4] = {0x20, 0x01, 0x0d, 0xb8};

	if (ipv4) {
		const uint8_t bytes[4] = {
				10, (uint8_t)(word >> 16), (uint8_t)(word >> 8), (uint8_t)word};
		hs_ip_address_map(bytes, ip);
		return;
	}
	memset(ip, 0, 16);
	memcpy(ip, network, sizeof(network));
	hs_be32_store(ip + 12, word);
}

// Returns a number of up to 16 bits. Each number of bits is as likely as another, so that small
// numbers are more likely than large ones.
static uint32_t skewed(uint32_t random)
{
	return random >> 8 & ((1u << random % 17) - 1);
}

// Sets a /32, or a /48 within it. Few /32 have thousands of /48, and most have one or none, as
// allocations of the Internet do.
static uint8_t uneven_prefix(uint32_t index, uint8_t prefix[16])
{
	static const uint16_t regions[] = {
			0x2001, 0x2400, 0x2600, 0x2602, 0x2800, 0x2a00, 0x2a02, 0x2c0f};
	uint32_t block = skewed(rte_jhash_1word(index, 1)), site = rte_jhash_1word(index, 2);
	bool whole = site % 4 == 0;

	memset(prefix, 0, 16);
	hs_be16_store(prefix, regions[block % RTE_DIM(regions)]);
	hs_be16_store(prefix + 2, (uint16_t)(block * 40503u));
	if (!whole)
		hs_be16_store(prefix + 4, (uint16_t)skewed(site));
	return whole ? 32 : 48;
}

uint8_t hs_bench_prefix(const struct hs_bench_traffic *traffic, uint32_t index, uint8_t prefix[16])
{
	if (traffic->uneven)
		return uneven_prefix(index, prefix);
	if (traffic->ipv4) {
		address(true, prefix, index << 8);
		return HS_IP_ADDRESS_IPV4_BITS + 24;
	}
	memset(prefix, 0, 16);
	hs_be16_store(prefix, 0x2001);
	hs_be32_store(prefix + 2, 0x0db80000 + index);
	return 48;
}

// Sets the destination of a flow. The stride of 7919 is prime, so that all prefixes are used unless
// their number is a multiple of 7919.
static void destination(const struct hs_bench_traffic *traffic, uint32_t flow, uint8_t ip[16])
{
	if (!traffic->routes) {
		address(traffic->ipv4, ip, DESTINATION);
		return;
	}
	hs_bench_prefix(traffic, (uint32_t)((uint64_t)flow * 7919 % traffic->routes), ip);
	if (traffic->ipv4)
		ip[15] = (uint8_t)(1 + flow % 254);
	else
		hs_be32_store(ip + 12, flow + 1);
}

void hs_bench_station_mac(bool sender, uint32_t index, uint8_t mac[6])
{
	const uint8_t made[6] = {2, 0, 0, 0, sender ? 1 : 2, (uint8_t)(index % HS_BENCH_STATIONS)};

	memcpy(mac, made, sizeof(made));
}

// Makes a rule of a watchlist, with the mask that is next in turn. Packets of one address at each
// end meet these rules, which differ by their source port.
static void watch(const struct hs_bench_case *spec, uint32_t index, struct hs_rule *rule)
{
	uint32_t mask = index % spec->masks;

	rule->method = HS_RULE_INT;
	rule->trace_type = HS_RULE_TRACE_INT | HS_RULE_ASKS_node_id;
	hs_be32_store(rule->src_ip + 12, hs_bench_flow_word(index));
	rule->src_port = hs_bench_flow_port(index);
	rule->dst_port = mask & 1 ? 0 : UDP_PORT;
	rule->protocol = mask & 2 ? HS_RULE_ANY_PROTOCOL : IPPROTO_UDP;
	rule->src_host_bits = mask & 4 ? 16 : 0;
	rule->dst_host_bits = mask & 8 ? 32 : 0;
	hs_ip_prefix_clear(rule->src_ip, rule->src_host_bits);
	hs_ip_prefix_clear(rule->dst_ip, rule->dst_host_bits);
}

void hs_bench_rule(const struct hs_bench_case *spec, uint32_t index, struct hs_rule *rule)
{
	uint32_t mask = spec->masks ? index % spec->masks : 0;

	hs_rule_init(rule);
	rule->ns_id = index + 1;
	rule->protocol = IPPROTO_UDP;
	rule->mode = HS_MODE_COUNT;
	rule->mode_setting = spec->every;
	rule->trace_type = HS_BENCH_TRACE_TYPE;
	// Reports go to the monitor alone. Another case measures the cost of publishing.
	rule->transmit_report = spec->kind == HS_BENCH_JSON;
	// Rules with wildcards differ by an address. The others also differ by their port.
	address(spec->traffic.ipv4, rule->src_ip,
			spec->masks ? index + 1 : hs_bench_flow_word(index));
	rule->src_port = mask & 1 ? 0 : hs_bench_flow_port(index);
	rule->dst_port = mask & 2 ? 0 : UDP_PORT;
	if (spec->matched)
		destination(&spec->traffic, index, rule->dst_ip);
	else
		address(spec->traffic.ipv4, rule->dst_ip, ELSEWHERE);
	if (spec->masks && spec->matched)
		watch(spec, index, rule);
	if (spec->int_md) {
		rule->method = HS_RULE_INT;
		rule->trace_type = HS_RULE_TRACE_INT | HS_BENCH_INSTRUCTIONS;
	}
}

// ---- frames ----

// Writes the UDP header and payload at `at`. The addresses stand directly before `at`, and have
// address_bytes each.
static void put_udp(uint8_t *frame, uint32_t flow, size_t address_bytes, size_t at, uint16_t bytes)
{
	uint8_t *udp = frame + at;

	hs_be16_store(udp, hs_bench_flow_port(flow));
	hs_be16_store(udp + 2, UDP_PORT);
	hs_be16_store(udp + 4, bytes);
	memset(udp + UDP_BYTES, 'x', bytes - UDP_BYTES);
	hs_be16_store(udp + 6, (uint16_t)~hs_ip_checksum(IPPROTO_UDP + bytes +
							 hs_ip_sum(udp - 2 * address_bytes,
									 2 * address_bytes)));
	hs_checksum_complete(frame, at + bytes, at, 6);
}

static void put_plain(const struct hs_bench_traffic *traffic, uint32_t flow, uint8_t *frame)
{
	uint32_t l4 = HS_ETHER_BYTES + (traffic->ipv4 ? HS_IPV4_BYTES : HS_IPV6_BYTES);
	uint16_t udp_bytes = (uint16_t)(traffic->frame_bytes - l4);
	uint8_t src[16], dst[16];
	const struct hs_ip_header header = {.ipv4 = traffic->ipv4,
			.protocol = IPPROTO_UDP,
			.hop_limit = HOP_LIMIT,
			.bytes = udp_bytes,
			.src = src + (traffic->ipv4 ? 12 : 0),
			.dst = dst + (traffic->ipv4 ? 12 : 0)};

	hs_bench_station_mac(false, flow, frame);
	if (traffic->routes)
		memcpy(frame, hs_bench_router_mac, 6);
	hs_bench_station_mac(true, flow, frame + 6);
	address(traffic->ipv4, src, hs_bench_flow_word(flow));
	destination(traffic, flow, dst);
	put_udp(frame, flow, traffic->ipv4 ? 4 : 16, hs_ip_header_write(&header, frame), udp_bytes);
}

// Inserts what a source inserts. put_hop inserts what a transit node inserts. Both return the new
// start of the frame.
static uint8_t *put_source(uint8_t *frame, size_t len, uint32_t flow, size_t *growth)
{
	const struct hs_e2e e2e = {HS_BENCH_TRACE_TYPE >> 16, 1, START_NS, 1, 128};
	struct hs_packet packet;

	hs_flexint_parse(frame, len, len, &packet);
	*growth = hs_flexint_source_growth(&packet, HS_BENCH_TRACE_TYPE, HS_LAYOUT_ALIGNED);
	frame -= *growth;
	hs_flexint_source_insert(frame, &packet, *growth, flow + 1, HS_BENCH_TRACE_TYPE,
			HS_LAYOUT_ALIGNED, &e2e);
	return frame;
}

static uint8_t *put_hop(uint8_t *frame, size_t len, unsigned number, size_t *growth)
{
	const struct hs_hop hop = {
			.node_id = (uint16_t)(number + 10),
			.bitmap = (uint16_t)HS_BENCH_TRACE_TYPE,
			.tx_packets = 1,
			.rx_packets = 1,
			.ts_ns = START_NS + (number + 1) * UINT64_C(1000000),
			.tx_bytes = 128,
			.rx_bytes = 128,
	};
	struct hs_packet packet;

	hs_flexint_parse(frame, len, len, &packet);
	int grown = hs_flexint_hop_growth(frame, &packet, hop.bitmap);
	*growth = grown > 0 ? (size_t)grown : 0;
	frame -= *growth;
	hs_flexint_hop_insert(frame, &packet, *growth, &hop);
	return frame;
}

// ---- INT ----

const struct hs_int_settings *hs_bench_int(bool mx)
{
	static struct hs_int_settings settings[2];

	hs_int_settings_init(&settings[mx], HS_INT_2_1, HS_INT_TCP_UDP);
	settings[mx].mode = mx ? HS_INT_MX : HS_INT_MD;
	return &settings[mx];
}

// Inserts the INT of a hop. The first hop is the source. Returns the new start of the frame.
static uint8_t *put_int(uint8_t *frame, size_t len, unsigned number, bool mx, size_t *growth)
{
	const struct hs_int_settings *settings = hs_bench_int(mx);
	const struct hs_int_request request = {.bitmap = HS_BENCH_INSTRUCTIONS};
	const struct hs_int_values values = {
			.has = HS_INT_HAS_NODE_ID | HS_INT_HAS_INGRESS_NS | HS_INT_HAS_EGRESS_NS,
			.node_id = number + 10,
			.ingress_ns = START_NS + number * UINT64_C(1000000),
			.egress_ns = START_NS + number * UINT64_C(1000000) + 500,
	};
	struct hs_packet packet;

	hs_int_parse(settings, frame, len, len, &packet);
	int grown = number ? hs_int_transit_growth(settings, frame, &packet)
			   : hs_int_source_growth(settings, &request, frame, &packet, true);
	*growth = grown > 0 ? (size_t)grown : 0;
	frame -= *growth;
	if (number)
		hs_int_transit_insert(settings, frame, &packet, *growth, &values);
	else
		hs_int_source_insert(settings, &request, frame, &packet, *growth, &values);
	return frame;
}

// ---- probes ----

const struct hs_probe_settings hs_bench_probe = {
		HS_PROBE_DSCP, HS_PROBE_FEEDBACK_DSCP, HS_PROBE_RECOVERY_DSCP, HS_PROBE_UDP_PORT};

// Writes a request for n nodes. Two of them come after the hops that put_probe adds, so that the
// node keeps a copy of the probe.
static size_t put_request(uint16_t id, uint16_t n, uint8_t *frame)
{
	const struct hs_udp_front_settings settings = {.src_ip = {10, 0, 0, 1},
			.dst_ip = {10, 0, 0, DESTINATION},
			.dst_port = hs_bench_probe.udp_port,
			.dscp = hs_bench_probe.dscp,
			.hop_limit = HOP_LIMIT,
			.ipv4_checksum = true};
	const struct hs_probe_entry back = {.port = 1, .first = 0, .end = 2};
	struct hs_probe_entry entries[PROBE_HOPS_MAX];
	struct hs_udp_front front;

	for (uint16_t i = 0; i < n; i++)
		entries[i] = back;
	hs_udp_front_init(&front, &settings);
	size_t bytes = hs_probe_stack_write(
			frame + front.len, id, HS_PROBE_PORT_PACKETS, entries, n);
	hs_udp_front_write(&front, frame, bytes, UDP_PORT);
	return front.len + bytes;
}

static size_t put_probe(const struct hs_bench_traffic *traffic, uint32_t index, uint8_t *frame)
{
	const uint32_t values[PROBE_VALUES] = {0};
	uint8_t probe[HS_BENCH_FRAME_BYTES];
	uint8_t *at = index % 2 ? probe : frame;
	struct hs_packet packet;
	size_t len = put_request((uint16_t)(index / 2), (uint16_t)(traffic->hops + 2), at);

	for (uint8_t i = 0; i < traffic->hops; i++) {
		const struct hs_probe_hop hop = {.node = i + 10u, .n_values = PROBE_VALUES};
		hs_probe_parse(&hs_bench_probe, at, len, len, &packet);
		struct hs_probe_stack stack = hs_probe_stack_of(at, &packet);
		len += hs_probe_stack_growth(PROBE_VALUES);
		hs_probe_add(at, &packet, &stack, &hop, values);
	}
	if (index % 2 == 0)
		return len;
	hs_probe_parse(&hs_bench_probe, probe, len, len, &packet);
	return hs_probe_feedback(&hs_bench_probe, probe, &packet, frame);
}

// ---- mixed traffic ----

// Source: splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
static uint64_t random_of(uint32_t index)
{
	uint64_t z = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

struct hs_bench_mix hs_bench_mix(uint32_t index)
{
	static const uint16_t bytes[4] = {64, 128, 512, 1500};
	uint64_t number = random_of(index), tenth = number % 10;

	return (struct hs_bench_mix){tenth >= 3, tenth == 9, bytes[number / 10 % 4]};
}

// Returns the flow of a frame. Flows that meet no rule are numbered after those that do.
static uint32_t unmix(uint32_t index, struct hs_bench_traffic *traffic)
{
	struct hs_bench_mix mix = hs_bench_mix(index);
	uint32_t flow = index % traffic->flows;

	traffic->frame_bytes = mix.frame_bytes;
	if (!mix.traced)
		traffic->hops = -1;
	return mix.matched ? flow : flow + traffic->flows;
}

size_t hs_bench_plain_frame(const struct hs_bench_traffic *traffic, uint32_t flow, uint8_t *frame)
{
	put_plain(traffic, flow, frame);
	return traffic->frame_bytes;
}

size_t hs_bench_frame(const struct hs_bench_traffic *traffic, uint32_t index, uint8_t *frame)
{
	uint8_t room[2 * HS_BENCH_FRAME_BYTES];
	uint8_t *start = room + HS_BENCH_FRAME_BYTES;
	struct hs_bench_traffic one = *traffic;

	if (traffic->probes)
		return put_probe(traffic, index, frame);
	uint32_t flow = traffic->mixed ? unmix(index, &one) : index % traffic->flows;
	size_t len = one.frame_bytes, growth;
	put_plain(&one, flow, start);
	if (one.hops >= 0 && !one.int_md) {
		start = put_source(start, len, flow, &growth);
		len += growth;
	}
	for (int hop = 0; hop < one.hops; hop++) {
		start = one.int_md ? put_int(start, len, (unsigned)hop, one.int_mx, &growth)
				   : put_hop(start, len, (unsigned)hop, &growth);
		len += growth;
	}
	memcpy(frame, start, len);
	return len;
}

// ---- files ----

// Source: draft-ietf-opsawg-pcap, sections 4 and 5.
struct pcap_header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy, snap_bytes, link_type;
};
struct pcap_record {
	uint32_t seconds, microseconds, captured_bytes, bytes;
};

static bool write_frame(FILE *file, const uint8_t *frame, size_t len)
{
	const struct pcap_record record = {
			.captured_bytes = (uint32_t)len,
			.bytes = (uint32_t)len,
	};

	return fwrite(&record, sizeof(record), 1, file) == 1 && fwrite(frame, len, 1, file) == 1;
}

int hs_bench_frames_write(
		const struct hs_bench_traffic *traffic, const char *path, struct hs_error *err)
{
	const struct pcap_header header = {0xa1b2c3d4, 2, 4, 0, 0, 65535, 1};
	uint8_t frame[HS_BENCH_FRAME_BYTES];
	FILE *file = fopen(path, "we");

	if (!file)
		return hs_error_set(
				err, "file", path, "", "cannot be written: %s", strerror(errno));
	bool good = fwrite(&header, sizeof(header), 1, file) == 1;
	for (uint32_t i = 0; good && i < traffic->frames; i++)
		good = write_frame(file, frame, hs_bench_frame(traffic, i, frame));
	if (fclose(file) || !good)
		return hs_error_set(err, "file", path, "", "cannot be written: the disk is full?");
	return 0;
}
