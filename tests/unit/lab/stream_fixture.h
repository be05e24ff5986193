// SPDX-License-Identifier: BSD-3-Clause
// One stream of a scenario with two hosts. frames.json was made with these addresses.
#pragma once

#include "stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include <netinet/in.h>

#define START_NS  INT64_C(1767225600000000000)
#define SECOND_NS INT64_C(1000000000)
#define NEVER_NS  INT64_MAX

static const struct hs_stream_macs stream_macs = {
		.own = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}},
		.next = {{2, 0, 0, 0, 0, 0x11}, {2, 0, 0, 0, 0, 0x12}},
};

struct stream_fixture {
	struct hs_scenario scenario;
	struct hs_scenario_host hosts[2];
	struct hs_scenario_traffic traffic;
	struct hs_stream *stream;
	struct hs_error err;
};

// A constant stream of an hour. A test changes its subject and then opens the stream.
static inline void stream_prepare(struct stream_fixture *fixture)
{
	static const uint8_t addresses[2][16] = {
			{0x20, 0x01, 0x0d, 0xb8, [7] = 1, [15] = 1},
			{0x20, 0x01, 0x0d, 0xb8, [7] = 2, [15] = 1},
	};
	memset(fixture, 0, sizeof(*fixture));
	for (int i = 0; i < 2; i++)
		memcpy(fixture->hosts[i].addr, addresses[i], 16);
	fixture->traffic = (struct hs_scenario_traffic){
			.name = "test",
			.kind = HS_TRAFFIC_CONSTANT,
			.from = 0,
			.to = 1,
			.protocol = IPPROTO_UDP,
			.src_port = 5000,
			.dst_port = 6000,
			.rate_pps = 1000,
			.payload_bytes = 500,
			.stop_ns = 3600 * SECOND_NS,
			.burst_ns = 2 * SECOND_NS,
			.mean_interval_ns = 5 * SECOND_NS,
	};
	fixture->scenario.n_hosts = 2;
	fixture->scenario.hosts = fixture->hosts;
	fixture->scenario.n_traffic = 1;
	fixture->scenario.traffic = &fixture->traffic;
}

static inline void stream_use_ipv4(struct stream_fixture *fixture)
{
	static const uint8_t addresses[2][4] = {{192, 0, 2, 1}, {192, 0, 2, 2}};

	for (int i = 0; i < 2; i++)
		hs_ip_address_map(addresses[i], fixture->hosts[i].addr);
}

static inline void stream_open(struct stream_fixture *fixture, uint64_t seed)
{
	assert_int_equal(hs_stream_create(&fixture->scenario, 0, seed, START_NS, &stream_macs,
					 &fixture->stream, &fixture->err),
			0);
}

// Takes the next frame at its time. Returns false if there are no more. *at_ns counts from the
// start.
static inline bool stream_next(
		struct stream_fixture *fixture, int64_t *at_ns, struct hs_stream_frame *frame)
{
	int64_t due_ns = hs_stream_next_ns(fixture->stream);
	if (due_ns == NEVER_NS)
		return false;
	*at_ns = due_ns - START_NS;
	assert_true(hs_stream_send(fixture->stream, due_ns, frame));
	return true;
}
