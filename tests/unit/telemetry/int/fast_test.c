// SPDX-License-Identifier: BSD-3-Clause
// The inlined codec against the general one, on packets that it takes and on any others.
#include "int_draft.h"

#include "int_fast.h"
#include "sanitized.h"

#include <string.h>

#define ROUNDS CASES(20000)

struct run {
	struct int_draft draft;
	struct hs_int_settings settings;
	struct hs_int_request request;
	size_t n_parsed, n_started, n_added, n_stripped;
};

// A copy with `growth` free bytes in front.
static struct frame grown(const struct frame *frame, size_t growth)
{
	static const uint8_t pattern[256] = {0xa5};
	assert_true(growth <= sizeof(pattern));
	return frame_join(frame_of(pattern, growth), frame_of(frame->bytes, frame->len));
}

static bool parse_fast(const struct hs_int_settings *settings, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	return (hs_int_fast_is_mx(settings) ? hs_int_parse_fast_mx : hs_int_parse_fast_md)(
			settings, frame, len, frame_len, packet);
}

static void parse_both(struct run *run, const struct frame *frame, struct hs_packet *packet)
{
	struct hs_packet fast;
	size_t len = frame->len;
	int_parse(&run->settings, frame, packet);
	if (parse_fast(&run->settings, frame->bytes, len, len, &fast)) {
		assert_memory_equal(&fast, packet, sizeof(fast));
		run->n_parsed++;
	}
	len = int_draft_below(&run->draft, (uint32_t)len + 1);
	struct frame cut = frame_of(frame->bytes, len);
	struct hs_packet slow;
	if (parse_fast(&run->settings, cut.bytes, len, frame->len, &fast)) {
		hs_int_parse(&run->settings, cut.bytes, len, frame->len, &slow);
		assert_memory_equal(&fast, &slow, sizeof(fast));
	}
	frame_free(&cut);
}

static void start_both(struct run *run, struct frame *frame)
{
	struct hs_int_values own = int_draft_values(&run->draft);
	size_t growth = hs_int_fast_request_growth(&run->settings, &run->request);
	struct frame host = frame_of(frame->bytes, frame->len);
	struct hs_packet packet;

	parse_both(run, frame, &packet);
	int slow = int_source(&run->settings, &run->request, frame, &own);
	if (growth && packet.l3_bytes + growth <= UINT16_MAX &&
			hs_int_fast_may_start(host.bytes, &packet)) {
		assert_int_equal(slow, growth);
		struct frame fast = grown(&host, growth);
		struct hs_int_fast_block block;
		hs_int_fast_block_make(&block, run->request.bitmap, &own);
		hs_int_fast_source_insert(
				&run->settings, &run->request, fast.bytes, &packet, growth, &block);
		frame_assert_equal(&fast, frame);
		frame_free(&fast);
		run->n_started++;
	}
	frame_free(&host);
}

static void add_both(struct run *run, struct frame *frame)
{
	struct hs_int_values values = int_draft_values(&run->draft);
	struct frame before = frame_of(frame->bytes, frame->len);
	struct hs_packet packet;

	parse_both(run, frame, &packet);
	struct hs_int_fast_block block;
	hs_int_fast_block_make(&block, (uint16_t)(packet.trace_type >> 16), &values);
	bool may_add = packet.l3_bytes + block.n <= UINT16_MAX &&
		       hs_int_fast_may_add(before.bytes, &packet, &block);
	int slow = int_transit(&run->settings, frame, &values);
	if (may_add) {
		assert_int_equal(slow, block.n);
		struct frame fast = grown(&before, block.n);
		hs_int_fast_transit_insert(fast.bytes, &packet, &block);
		frame_assert_equal(&fast, frame);
		frame_free(&fast);
		run->n_added++;
	}
	frame_free(&before);
}

static void strip_both(struct run *run, struct frame *frame)
{
	struct frame fast = frame_of(frame->bytes, frame->len);
	struct hs_packet packet, after;

	parse_both(run, frame, &packet);
	int_strip(&run->settings, frame);
	if (hs_int_fast_may_strip(&run->settings, fast.bytes, &packet)) {
		size_t taken = hs_int_fast_strip(fast.bytes, &packet);
		assert_int_equal(fast.len - taken, frame->len);
		assert_memory_equal(fast.bytes + taken, frame->bytes, frame->len);
		int_parse(&run->settings, frame, &after);
		assert_memory_equal(&packet, &after, sizeof(after));
		run->n_stripped++;
	}
	frame_free(&fast);
}

// Whatever stands in the telemetry, one wrong byte or none.
static void spoil(struct run *run, struct frame *frame)
{
	struct hs_packet packet;
	int_parse(&run->settings, frame, &packet);
	if (!packet.e2e_off || int_draft_below(&run->draft, 3))
		return;
	size_t at = packet.l4_off + int_draft_below(&run->draft, 40);
	if (at < frame->len)
		frame->bytes[at] ^= (uint8_t)(1u << int_draft_below(&run->draft, 8));
}

static void go(struct run *run)
{
	bool usual = int_draft_below(&run->draft, 4);
	struct frame frame = usual ? int_draft_usual(&run->draft)
				   : int_draft_frame(&run->draft, &run->settings);
	run->request = int_draft_request(&run->draft, &run->settings);
	if (usual)
		run->request = (struct hs_int_request){
				.bitmap = run->request.bitmap & HS_INT_FAST_KNOWN};
	start_both(run, &frame);
	for (uint32_t n = int_draft_below(&run->draft, 10); n; n--) {
		spoil(run, &frame);
		add_both(run, &frame);
	}
	strip_both(run, &frame);
	frame_free(&frame);
}

static void fast_and_general_do_the_same(void **state)
{
	(void)state;
	static struct run run;
	hs_rng_init(&run.draft.rng, 21);
	hs_int_settings_init(&run.settings, HS_INT_2_1, HS_INT_TCP_UDP);
	run.settings.domain_id = 7;
	assert_true(hs_int_fast_is(&run.settings));
	for (unsigned i = 0; i < 2 * ROUNDS; i++) {
		run.settings.dscp_mask = i % 2 ? 0x3f : 0x21;
		run.settings.max_hops = i % 8 ? 8 : 255;
		go(&run);
	}
	assert_true(run.n_parsed > ROUNDS);
	assert_true(run.n_started > ROUNDS / 2);
	assert_true(run.n_added > ROUNDS);
	assert_true(run.n_stripped > ROUNDS / 2);
}

static void packets_of_mx_are_parsed_fast(void **state)
{
	(void)state;
	static struct run run;
	size_t n = 0;

	hs_rng_init(&run.draft.rng, 23);
	hs_int_settings_init(&run.settings, HS_INT_2_1, HS_INT_TCP_UDP);
	run.settings.mode = HS_INT_MX;
	assert_true(hs_int_fast_is_mx(&run.settings));
	for (unsigned i = 0; i < ROUNDS; i++) {
		run.settings.dscp_mask = i % 2 ? 0x3f : 0x21;
		struct frame frame = int_draft_usual(&run.draft);
		struct hs_int_values own = int_draft_values(&run.draft);
		run.request = int_draft_request(&run.draft, &run.settings);
		if (int_source(&run.settings, &run.request, &frame, &own) > 0) {
			size_t before = run.n_parsed;
			struct hs_packet packet;
			parse_both(&run, &frame, &packet);
			n += run.n_parsed > before && packet.flags & HS_PACKET_TELEMETRY;
			spoil(&run, &frame);
			parse_both(&run, &frame, &packet);
		}
		frame_free(&frame);
	}
	assert_true(n > ROUNDS / 2);
}

static void no_other_profile_is_fast(void **state)
{
	(void)state;
	struct hs_int_settings settings;
	size_t n = 0, n_fast = 0, n_mx = 0;
	while (int_draft_settings(n++, &settings)) {
		n_fast += hs_int_fast_is(&settings);
		n_mx += hs_int_fast_is_mx(&settings);
	}
	assert_int_equal(n_fast, 1);
	assert_true(n_mx <= 1);
}

static void whole_hops_are_told_without_a_division(void **state)
{
	(void)state;
	for (unsigned words = 0; words < 256; words++) {
		assert_int_equal(hs_int_fast_are_whole_hops(words, 0), !words);
		for (unsigned hop = 1; hop < 32; hop++)
			assert_int_equal(hs_int_fast_are_whole_hops(words, hop), words % hop == 0);
	}
}

static void words_are_those_of_the_table(void **state)
{
	(void)state;
	for (unsigned bitmap = 0; bitmap <= UINT16_MAX; bitmap++) {
		if (!(bitmap & ~HS_INT_FAST_KNOWN))
			assert_int_equal(hs_int_fast_words((uint16_t)bitmap),
					hs_int_hop_words(HS_INT_2_1, (uint16_t)bitmap));
	}
	assert_int_equal(HS_INT_FAST_MAX_BLOCK, 4 * hs_int_fast_words(HS_INT_FAST_KNOWN));
	assert_int_equal(HS_INT_FAST_KNOWN, hs_int_known(HS_INT_2_1) & ~1);
}

static uint16_t sum_by_words(const uint8_t *at, size_t bytes)
{
	uint32_t sum = 0;
	for (size_t i = 0; i < bytes; i += 2)
		sum += hs_be16_load(at + i);
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)sum;
}

static void sums_are_those_of_words(void **state)
{
	(void)state;
	uint8_t bytes[1024 + 1];
	for (unsigned kind = 0; kind < 3; kind++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = kind == 2 ? (uint8_t)(i * i * 7 + i / 3) : (uint8_t)-kind;
		for (size_t n = 0; n < sizeof(bytes); n += 2)
			assert_int_equal(hs_ip_sum_even(bytes + n % 4 / 2, n),
					sum_by_words(bytes + n % 4 / 2, n));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(fast_and_general_do_the_same),
			cmocka_unit_test(packets_of_mx_are_parsed_fast),
			cmocka_unit_test(no_other_profile_is_fast),
			cmocka_unit_test(whole_hops_are_told_without_a_division),
			cmocka_unit_test(words_are_those_of_the_table),
			cmocka_unit_test(sums_are_those_of_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
