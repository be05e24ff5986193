// SPDX-License-Identifier: BSD-3-Clause
#include "bench_datagrams.h"

#include "bench_frames.h"

#include "int.h"
#include "int_report_writer.h"

#include <netinet/in.h>
#include <sys/mman.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOPS	  6
#define ROOM	  1024
#define HUGE_PAGE ((size_t)2 << 20)
#define LEAST	  800

// Returns the values of hop `place` of flow `flow` in datagram `i`. Latencies and occupancies
// differ from report to report by less than what a collector takes for a change.
static struct hs_int_values values_of(uint32_t i, uint32_t flow, uint32_t place)
{
	uint32_t node = (flow >> place) % HS_BENCH_REPORT_NODES;

	return (struct hs_int_values){
			.has = ~0u,
			.node_id = 100 * (place + 1) + node,
			.ingress_port = 1 + flow % 4,
			.egress_port = 10 + flow % 4,
			.ingress_port_l2 = 1001,
			.egress_port_l2 = 1002,
			.hop_latency_ns = 600 + (i * 7 + place) % 64,
			.queue_id = 1 + flow % 4,
			.queue_packets = 20 + (i * 5 + place) % 12,
			.link_utilisation = 4000 + (i * 3 + place) % 32,
			.ingress_ns = 1000000 + i,
			.egress_ns = 1000600 + i,
	};
}

// Adds the telemetry of the node of hop `place`, which is the source for place 0. Returns the new
// start of the frame.
static uint8_t *add_hop(uint8_t *frame, size_t *len, uint16_t bitmap, uint32_t place,
		const struct hs_int_values *values)
{
	const struct hs_int_request request = {.bitmap = bitmap};
	struct hs_int_settings settings;
	struct hs_packet packet;

	hs_int_settings_init(&settings, HS_INT_1_0, HS_INT_TCP_UDP);
	hs_int_parse(&settings, frame, *len, *len, &packet);
	int grown = place ? hs_int_transit_growth(&settings, frame, &packet)
			  : hs_int_source_growth(&settings, &request, frame, &packet, true);
	size_t growth = grown > 0 ? (size_t)grown : 0;
	frame -= growth;
	*len += growth;
	if (place)
		hs_int_transit_insert(&settings, frame, &packet, growth, values);
	else
		hs_int_source_insert(&settings, &request, frame, &packet, growth, values);
	return frame;
}

// Makes datagram `i`, a report of a packet of this flow. Returns the datagram's length.
static uint32_t make(uint8_t *to, uint32_t i, uint32_t flow, uint16_t bitmap)
{
	const struct hs_bench_traffic traffic = {.frame_bytes = 64, .ipv4 = true};
	uint8_t room[2 * ROOM], *frame = room + ROOM;
	struct hs_int_values values = {0};
	struct hs_int_report_writer writer;
	size_t len = hs_bench_plain_frame(&traffic, flow, frame);

	for (uint32_t place = 0; place < HOPS; place++) {
		values = values_of(i, flow, place);
		frame = add_hop(frame, &len, bitmap, place, &values);
	}
	const struct hs_int_report report = {
			.has = HS_INT_REPORT_NODE | HS_INT_REPORT_INGRESS_TIME,
			.inner = HS_INT_INNER_ETHERNET,
			.tracked = true,
			.node_id = HOPS * 100,
			.ingress_ns = values.ingress_ns,
	};
	hs_int_report_begin(&writer, HS_INT_REPORT_1_0, to, HS_BENCH_SLOT - HS_BENCH_PAYLOAD);
	hs_int_report_add(&writer, &report, frame, len);
	return (uint32_t)writer.len;
}

static int make_all(struct hs_bench_datagrams *made, uint32_t n, uint32_t flows, uint16_t bitmap)
{
	size_t bytes = ((size_t)n * HS_BENCH_SLOT + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;

	*made = (struct hs_bench_datagrams){.n = n};
	made->slots = aligned_alloc(HUGE_PAGE, bytes);
	if (!made->slots)
		return -ENOMEM;
	madvise(made->slots, bytes, MADV_HUGEPAGE); // as buffers of a NIC
	memset(made->slots, 0, bytes);
	for (uint32_t i = 0; i < n; i++)
		hs_bench_datagram_cut(
				made, i, make(hs_bench_datagram(made, i), i, i % flows, bitmap));
	return 0;
}

int hs_bench_datagrams_of(struct hs_bench_datagrams *made, uint32_t flows, uint16_t bitmap)
{
	uint32_t n = flows;

	while (n < LEAST)
		n += flows;
	return make_all(made, n, flows, bitmap);
}

void hs_bench_datagrams_free(struct hs_bench_datagrams *made)
{
	free(made->slots);
	*made = (struct hs_bench_datagrams){0};
}

void hs_bench_datagram_head(uint8_t *datagram, uint16_t udp_port)
{
	static const uint8_t ether[14] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0};
	uint16_t len = hs_be16_load(datagram - 2);
	uint8_t *frame = datagram - HS_BENCH_PAYLOAD, *ip = frame + 14, *udp = ip + 20;
	uint32_t sum = 0;

	memcpy(frame, ether, sizeof(ether));
	memset(ip, 0, 28);
	ip[0] = 0x45;
	hs_be16_store(ip + 2, (uint16_t)(28 + len));
	ip[8] = 64;
	ip[9] = IPPROTO_UDP;
	hs_be32_store(ip + 12, 0xc0000201);
	hs_be32_store(ip + 16, 0xc0000202);
	for (unsigned i = 0; i < 20; i += 2)
		sum += hs_be16_load(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	hs_be16_store(ip + 10, (uint16_t) ~(sum + (sum >> 16)));
	hs_be16_store(udp, udp_port);
	hs_be16_store(udp + 2, udp_port);
	hs_be16_store(udp + 4, (uint16_t)(8 + len));
}
