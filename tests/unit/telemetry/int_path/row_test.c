// SPDX-License-Identifier: BSD-3-Clause
// Random packets of hosts through source, two transits and sink, of every version, carrier, mark
// and mode: what reaches the host is what was sent, and no node changes what is not telemetry.
#include "int_row.h"

#include "sanitized.h"

#define BATCHES (CASES(20000) / ROW_BATCH) // for each settings
#define SUSPECT (HS_PACKET_ANY_TELEMETRY | HS_PACKET_HIDDEN | HS_PACKET_SHORT)

struct trips {
	struct int_row *row;
	struct int_draft draft;
	struct frame sent[ROW_BATCH];
	bool suspect[ROW_BATCH];
	uint64_t n_carried, n_sums, n_suspect;
};

static uint32_t below(struct trips *t, uint32_t n)
{
	return int_draft_below(&t->draft, n);
}

// A header that is wrong in one byte, a packet cut off, a fragment.
static void spoil(struct trips *t, struct frame *frame)
{
	size_t ip = 14, most = frame->len - ip < 80 ? frame->len - ip : 80;

	switch (below(t, 4)) {
	case 0:
		frame->bytes[ip + below(t, (uint32_t)most)] = (uint8_t)hs_rng_u32(&t->draft.rng);
		break;
	case 1:
		frame->bytes[ip + below(t, (uint32_t)most)] ^= (uint8_t)(1u << below(t, 8));
		break;
	case 2:
		frame->len = ip + below(t, (uint32_t)(frame->len - ip + 1));
		break;
	default:
		if (frame->bytes[12] == 8 && !frame->bytes[13])
			frame->bytes[ip + 6 + below(t, 2)] |= 0x20;
	}
}

static void mark(const struct hs_int_settings *settings, struct frame *frame)
{
	uint8_t *ip = frame->bytes + 14;

	if (frame->len < 16)
		return;
	if (frame->bytes[12] == 0x08)
		ip[1] = (uint8_t)(settings->dscp << 2);
	else if (frame->bytes[12] == 0x86)
		ip[0] = (uint8_t)(0x60 | settings->dscp >> 2),
		ip[1] = (uint8_t)(settings->dscp << 6);
}

static void draft(struct trips *t, unsigned i)
{
	const struct hs_int_settings *settings = &t->row->settings;
	struct frame frame = below(t, 3) ? int_draft_frame(&t->draft, settings)
					 : int_draft_usual(&t->draft);
	struct hs_packet packet;

	if (!below(t, 8))
		spoil(t, &frame);
	if (!below(t, 32))
		mark(settings, &frame);
	frame.bytes[0] = (uint8_t)i;
	int_parse(settings, &frame, &packet);
	t->sent[i] = frame;
	t->suspect[i] = packet.flags & SUSPECT;
	t->row->frames[i] = frame_of(frame.bytes, frame.len);
	t->row->alive[i] = true;
}

// On a link: without its telemetry, the packet is the host's, and a checksum is as right as it was.
static void look(struct trips *t, unsigned i)
{
	const struct frame *now = &t->row->frames[i];
	struct frame frame = frame_of(now->bytes, now->len);
	struct oracle_sums before = oracle_sum(t->sent[i].bytes, t->sent[i].len);
	struct oracle_sums sums = oracle_sum(now->bytes, now->len);

	t->n_carried += frame.len > t->sent[i].len;
	if (frame.len > t->sent[i].len && sums.l4 != -1 && before.l4 != -1) {
		assert_int_equal(sums.l4, before.l4);
		t->n_sums++;
	}
	if (frame.len > t->sent[i].len && sums.ip != -1 && before.ip != -1 &&
			!t->row->settings.gre_adds_tunnel)
		assert_int_equal(sums.ip, before.ip);
	int_strip(&t->row->settings, &frame);
	frame_assert_equal(&frame, &t->sent[i]);
	frame_free(&frame);
}

static void end(struct trips *t, unsigned i)
{
	struct int_row *row = t->row;

	if (!t->suspect[i]) {
		assert_true(row->alive[i]);
		frame_assert_equal(&row->frames[i], &t->sent[i]);
	}
	if (row->alive[i] && row->settings.mode != HS_INT_XD)
		assert_false(oracle_claims(
				&row->settings, row->frames[i].bytes, row->frames[i].len));
	if (row->alive[i])
		frame_free(&row->frames[i]);
	frame_free(&t->sent[i]);
	t->n_suspect += t->suspect[i];
}

static void go(struct trips *t)
{
	for (unsigned i = 0; i < ROW_BATCH; i++)
		draft(t, i);
	for (unsigned n = 0; n < ROW_NODES; n++) {
		hs_clock_set(t->row->clock, hs_clock_now(t->row->clock) + 1000);
		int_row_step(t->row, n);
		for (unsigned i = 0; i < ROW_BATCH; i++)
			if (n < 3 && !t->suspect[i]) {
				assert_true(t->row->alive[i]);
				look(t, i);
			}
	}
	for (unsigned i = 0; i < ROW_BATCH; i++)
		end(t, i);
	int_row_take_reports(t->row, true);
}

static void what_the_host_sent_arrives(void **state)
{
	static struct trips t;
	struct hs_int_settings settings;
	(void)state;

	hs_rng_init(&t.draft.rng, 5);
	t.draft.one_flow = true;
	for (size_t n = 0; int_draft_settings(n, &settings); n++) {
		settings.fill_reserved = n % 2;
		settings.max_hops = n % 3 ? 8 : 2;
		settings.dscp_mask = n % 5 ? 0x3f : 0x21;
		t.row = int_row_open(&settings, n % 4 ? 1500 : 250,
				n % 2 ? HS_HOST_DROP : HS_HOST_STRIP, n);
		t.n_carried = t.n_sums = t.n_suspect = 0;
		for (unsigned i = 0; i < BATCHES; i++) {
			uint32_t asks = hs_rng_u32(&t.draft.rng) & 0xffff;
			if (i % 8 == 0)
				int_row_ask(t.row,
						HS_RULE_TRACE_INT |
								(i % 16 ? asks & 0xff81
									: HS_RULE_TRACE_BITMAP | asks));
			go(&t);
		}
		// Without a tunnel of its own, GRE carries what no rule matches.
		bool carries = settings.carrier != HS_INT_GRE || settings.gre_adds_tunnel;
		assert_true(!carries || t.n_carried > ROW_BATCH * BATCHES / 3);
		assert_true(settings.carrier == HS_INT_GRE || t.n_sums > ROW_BATCH * BATCHES / 3);
		assert_true(settings.carrier == HS_INT_GRE || settings.mode == HS_INT_MX ||
				t.row->n_reports > BATCHES);
		int_row_close(t.row);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(what_the_host_sent_arrives),
	};
	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
