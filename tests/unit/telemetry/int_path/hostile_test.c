// SPDX-License-Identifier: BSD-3-Clause
// Packets with INT of which some bytes are wrong, to transit, to a sink, and from a host: none
// crashes a node, leaks a buffer, or reaches a host with telemetry in it.
#include "int_row.h"

#include "rng.h"
#include "sanitized.h"

#define PACKETS	      200000		  // of all settings together
#define SETTINGS_STEP (SANITIZED ? 7 : 1) // no factor of the 2 to 5 that choose the rest

struct attack {
	struct int_row *row;
	struct int_draft draft;
	uint64_t n_arrived, n_dropped, n_passed;
};

static uint32_t below(struct attack *a, uint32_t n)
{
	return int_draft_below(&a->draft, n);
}

// A packet as source and up to three nodes make it.
static struct frame valid(struct attack *a)
{
	const struct hs_int_settings *settings = &a->row->settings;
	struct frame frame = below(a, 4) ? int_draft_frame(&a->draft, settings)
					 : int_draft_usual(&a->draft);
	struct hs_int_request request = int_draft_request(&a->draft, settings);
	struct hs_int_values values = int_draft_values(&a->draft);

	int_source(settings, &request, &frame,
			settings->mode == HS_INT_MD && below(a, 4) ? &values : NULL);
	for (uint32_t n = below(a, 4); n; n--) {
		values = int_draft_values(&a->draft);
		int_transit(settings, &frame, &values);
	}
	return frame;
}

// Where lengths, counts and marks are: the headers, the telemetry's first bytes, or anywhere.
static size_t place(struct attack *a, const struct frame *frame)
{
	struct hs_packet packet;
	size_t from = 14, n = frame->len - from;

	int_parse(&a->row->settings, frame, &packet);
	if (packet.e2e_off && below(a, 3)) {
		from = packet.e2e_off;
		n = 20;
	} else if (packet.l4_off && below(a, 2)) {
		from = packet.l4_off;
		n = 24;
	}
	size_t at = from + below(a, (uint32_t)n);
	return at < frame->len ? at : frame->len - 1;
}

static void mutate(struct attack *a, struct frame *frame)
{
	static const uint8_t extremes[] = {0, 1, 2, 3, 4, 0x7f, 0x80, 0xfe, 0xff};
	uint8_t *at = frame->bytes + place(a, frame);

	switch (below(a, 6)) {
	case 0:
		*at = extremes[below(a, sizeof(extremes))];
		return;
	case 1:
		*at = (uint8_t)(*at + (below(a, 2) ? 1 : -1));
		return;
	case 2:
		*at = (uint8_t)hs_rng_u32(&a->draft.rng);
		return;
	case 3:
		frame->len = 14 + below(a, (uint32_t)(frame->len - 13));
		return;
	default:
		*at ^= (uint8_t)(1u << below(a, 8));
	}
}

static void draft(struct attack *a, unsigned i)
{
	struct frame frame = valid(a);

	for (uint32_t n = below(a, 4); n && frame.len > 14; n--)
		mutate(a, &frame);
	frame.bytes[0] = (uint8_t)i;
	a->row->frames[i] = frame;
	a->row->alive[i] = true;
}

// What claims INT reaches a host by policy only, and only where nobody could read it.
static void expect_malformed(struct attack *a, const struct frame *frame)
{
	struct hs_packet packet;

	assert_true(int_row_passes_malformed);
	int_parse(&a->row->settings, frame, &packet);
	assert_false(packet.flags & HS_PACKET_TELEMETRY);
	a->n_passed++;
}

static void strike(struct attack *a, unsigned first)
{
	for (unsigned i = 0; i < ROW_BATCH; i++)
		draft(a, i);
	if (first < ROW_NODES - 1)
		int_row_step(a->row, first);
	int_row_step(a->row, ROW_NODES - 1);
	for (unsigned i = 0; i < ROW_BATCH; i++) {
		const struct frame *frame = &a->row->frames[i];
		a->n_arrived += a->row->alive[i];
		a->n_dropped += !a->row->alive[i];
		if (!a->row->alive[i])
			continue;
		if (oracle_claims(&a->row->settings, frame->bytes, frame->len))
			expect_malformed(a, frame);
		frame_free(&a->row->frames[i]);
	}
	int_row_take_reports(a->row, false);
}

static void no_host_gets_telemetry(void **state)
{
	static const unsigned first[] = {0, 1, ROW_NODES - 1};
	static struct attack a;
	uint64_t n_passed = 0;
	struct hs_int_settings settings;
	size_t n_settings = 0;
	(void)state;

	hs_rng_init(&a.draft.rng, 6);
	a.draft.one_flow = true;
	while (int_draft_settings(n_settings, &settings))
		n_settings++;
	for (size_t n = 0; int_draft_settings(n, &settings); n += SETTINGS_STEP) {
		settings.domain_id = 7;
		settings.fill_reserved = n % 2;
		settings.dscp_mask = n % 5 ? 0x3f : 0x21;
		int_row_passes_malformed = n % 2;
		a.row = int_row_open(&settings, n % 4 ? 1500 : 300,
				n % 3 ? HS_HOST_STRIP : HS_HOST_DROP, n);
		a.n_arrived = a.n_dropped = a.n_passed = 0;
		int_row_ask(a.row, HS_RULE_TRACE_INT | HS_RULE_TRACE_BITMAP | 0x8081);
		for (unsigned i = 0; i < PACKETS / ROW_BATCH / n_settings + 1; i++)
			strike(&a, first[i % 3]);
		assert_true(a.n_arrived && a.n_dropped);
		n_passed += a.n_passed;
		int_row_close(a.row);
	}
	assert_true(n_passed > CASES(1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(no_host_gets_telemetry),
	};
	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
