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

#define TEST cmocka_unit_test

#define START_NS  INT64_C(1767225600000000000)
#define SECOND_NS INT64_C(1000000000)
#define NEVER_NS  INT64_MAX

static const struct hs_stream_macs stream_macs = {
		.own = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}},
		.next = {{2, 0, 0, 0, 0, 0x11}, {2, 0, 0, 0, 0, 0x12}},
};

// The stream under test, its scenario, and the frame that it sent last.
static struct {
	struct hs_scenario scenario;
	struct hs_scenario_host hosts[2];
	struct hs_scenario_traffic traffic;
	struct hs_stream *stream;
	struct hs_error err;
	struct hs_stream_frame frame;
	int64_t at_ns; // of the frame, from the start
} s;

// A constant stream of an hour. A test changes its subject and then opens the stream.
static inline void stream_prepare(void)
{
	static const uint8_t addresses[2][16] = {
			{0x20, 0x01, 0x0d, 0xb8, [7] = 1, [15] = 1},
			{0x20, 0x01, 0x0d, 0xb8, [7] = 2, [15] = 1},
	};
	hs_stream_destroy(s.stream);
	memset(&s, 0, sizeof(s));
	for (int i = 0; i < 2; i++)
		memcpy(s.hosts[i].addr, addresses[i], 16);
	s.traffic = (struct hs_scenario_traffic){
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
	s.scenario.n_hosts = 2;
	s.scenario.hosts = s.hosts;
	s.scenario.n_traffic = 1;
	s.scenario.traffic = &s.traffic;
}

static inline void stream_use_ipv4(void)
{
	static const uint8_t addresses[2][4] = {{192, 0, 2, 1}, {192, 0, 2, 2}};

	for (int i = 0; i < 2; i++)
		hs_ip_address_map(addresses[i], s.hosts[i].addr);
}

// Opens the stream, which ends the one before.
static inline void stream_open(uint64_t seed)
{
	hs_stream_destroy(s.stream);
	s.stream = NULL;
	assert_int_equal(hs_stream_create(&s.scenario, 0, seed, START_NS, &stream_macs, &s.stream,
					 &s.err),
			0);
}

// Takes the next frame at its time. Returns false if there are no more.
static inline bool stream_next(void)
{
	int64_t due_ns = hs_stream_next_ns(s.stream);
	if (due_ns == NEVER_NS)
		return false;
	s.at_ns = due_ns - START_NS;
	assert_true(hs_stream_send(s.stream, due_ns, &s.frame));
	return true;
}

#define assert_next_at(expected_ns)                                                                \
	(assert_true(stream_next()), assert_int_equal(s.at_ns, expected_ns))

// The frame arrives.
static inline void stream_arrive(int64_t at_ns)
{
	hs_stream_arrived(s.stream, START_NS + at_ns, s.frame.reply, s.frame.number, s.frame.bytes,
			s.frame.len);
}

// These bytes arrive under the number of a request.
static inline void stream_arrive_as(uint64_t number, const uint8_t *bytes, uint32_t len)
{
	hs_stream_arrived(s.stream, START_NS + s.at_ns, false, number, bytes, len);
}

#define ASSERT_COUNTERS(...)                                                                       \
	assert_memory_equal(&s.stream->counters, &((struct hs_stream_counters){__VA_ARGS__}),      \
			sizeof(struct hs_stream_counters))

static inline int stream_end(void **state)
{
	(void)state;
	hs_stream_destroy(s.stream);
	return 0;
}
