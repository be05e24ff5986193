// SPDX-License-Identifier: BSD-3-Clause
// A node before a host, and a labelled packet in fragments.
#pragma once

#include "fragment_frames.h"
#include "label_fragments.h"

#define ROOM 9600

__attribute__((unused)) static struct fragment fragments[FRAGMENTS];
__attribute__((unused)) static uint8_t frame[ROOM], plain[ROOM], out[ROOM];
__attribute__((unused)) static size_t len, plain_len;

static inline uint64_t waiting(struct stand *s, unsigned port)
{
	struct hs_port_counters counters;

	hs_node_port_counters(s->t.node, (uint16_t)port, &counters);
	return counters.queued;
}

static inline void feed(struct stand *s, const struct fragment *fragment, size_t first)
{
	test_node_feed(&s->t, IN, fragment->bytes, fragment->len, first);
}

static inline void send_one(struct stand *s, const struct fragment *fragment)
{
	feed(s, fragment, 0);
	test_node_run(&s->t);
	test_node_audit(&s->t);
}

static inline void send_all(struct stand *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		send_one(s, &fragments[i]);
}

static inline void assert_nothing_came(struct stand *s)
{
	assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), 0);
}

static inline void assert_plain_came(struct stand *s)
{
	assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), plain_len);
	assert_memory_equal(out, plain, plain_len);
	assert_nothing_came(s);
}

// In parts of `part` bytes. Returns how many.
static inline unsigned use(size_t payload, size_t part)
{
	len = make_labelled(payload, frame, plain, &plain_len);
	return cut_all(frame, len, part, fragments);
}

static inline struct stand *open_sink(void)
{
	return stand_open(SINK, usual(), 3600 * 1000 * MS, 3600 * 1000 * MS);
}

static inline void let_expire(struct stand *s)
{
	advance(s, HS_LABEL_WAIT_NS * 5 / 4 + 2);
	test_node_run(&s->t);
	test_node_audit(&s->t);
	assert_int_equal(waiting(s, OUT), 0);
	assert_int_equal(hs_node_worker_due_ns(s->t.node, 0), INT64_MAX);
}
