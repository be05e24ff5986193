// SPDX-License-Identifier: BSD-3-Clause
// Random packets of every shape through source, hops and sink, for every version, carrier, mark and
// mode: the host's bytes come back, no hop changes what is not telemetry, and the telemetry says
// what was put in.
#include "int_draft.h"
#include "int_json.h"
#include "l4.h"
#include "sanitized.h"

#include <string.h>

#define ROUNDS CASES(20000) // for each settings

struct trip {
	struct int_draft draft;
	struct hs_int_settings settings;
	struct hs_int_request request;
	struct hs_int_values hops[32];
	size_t n_hops;
	size_t n_carried, n_sums;
	int sum; // of the host's packet
};

// The sum that a receiver makes of what the checksum of TCP, UDP or GRE covers: all ones where it
// is right. -1 without checksum.
static int sum_of_l4(const struct frame *frame)
{
	struct hs_packet packet;
	struct hs_l4 l4;
	hs_packet_parse(frame->bytes, frame->len, frame->len, NULL, &packet);
	if (!hs_l4_find(frame->bytes, &packet, &l4))
		return -1;
	const uint8_t *ip = frame->bytes + packet.l3_off, *at = frame->bytes + l4.off;
	size_t bytes = packet.l3_off + packet.l3_bytes - l4.off;
	uint32_t sum = 0;
	if (l4.proto == 17 ? !at[6] && !at[7] : l4.proto == 47 ? !(at[0] & 0x80) : l4.proto != 6)
		return -1;
	for (size_t i = 0; i < bytes; i++)
		sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
	bool is_ipv4 = packet.flags & HS_PACKET_IPV4;
	for (size_t i = is_ipv4 ? 12 : 8; l4.proto != 47 && i < (is_ipv4 ? 20u : 40u); i++)
		sum += i % 2 ? ip[i] : (uint32_t)ip[i] << 8;
	sum += l4.proto != 47 ? (uint32_t)bytes : 0;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (int)sum;
}

static void assert_stack(const struct trip *trip, const struct frame *frame)
{
	struct hs_packet packet;
	struct hs_int_stack stack;
	size_t head = trip->settings.version == HS_INT_2_1 ? 12 : 8;
	int_parse(&trip->settings, frame, &packet);
	assert_true(packet.flags & HS_PACKET_TELEMETRY);
	assert_int_equal(packet.trace_type >> 16, trip->request.bitmap);
	assert_int_equal(hs_int_stack_open(&trip->settings,
					 trip->settings.mode == HS_INT_MX ? HS_INT_TYPE_MX
									  : HS_INT_TYPE_MD,
					 frame->bytes + packet.trace_off,
					 head + 4 * (packet.trace_type & 0xff), &stack),
			0);
	if (!stack.hop_words)
		return;
	assert_int_equal(stack.n_hops, trip->n_hops);
	for (size_t i = 0; i < trip->n_hops; i++) {
		struct hs_int_values is;
		struct hs_int_values should = int_json_read_back(&trip->hops[trip->n_hops - 1 - i],
				trip->settings.version, trip->request.bitmap);
		assert_int_equal(hs_int_stack_hop(&stack, i, &is), 0);
		is.has &= ~(uint32_t)HS_INT_HAS_COMPLEMENT;
		is.checksum_complement = 0;
		assert_memory_equal(&is, &should, sizeof(is));
	}
}

static void only_telemetry_came_in(
		struct trip *trip, const struct frame *frame, const struct hs_packet *host)
{
	const uint16_t same = HS_PACKET_FLOW | HS_PACKET_FRAGMENT | HS_PACKET_MALFORMED;
	struct hs_packet packet;
	int_parse(&trip->settings, frame, &packet);
	assert_int_equal(hs_packet_counted_bytes(&packet), hs_packet_counted_bytes(host));
	// A right checksum stays right, and a wrong one as wrong.
	int sum = sum_of_l4(frame);
	assert_true(sum == trip->sum || sum == -1);
	trip->n_sums += sum != -1;
	if (trip->settings.gre_adds_tunnel)
		return;
	assert_int_equal(packet.flags & same, host->flags & same);
	assert_int_equal(packet.l4_proto, host->l4_proto);
	assert_int_equal(packet.src_port, host->src_port);
	assert_int_equal(packet.dst_port, host->dst_port);
}

static void add_hops(struct trip *trip, struct frame *frame, const struct hs_packet *host)
{
	for (uint32_t want = int_draft_below(&trip->draft, 10); want; want--) {
		struct hs_int_values values = int_draft_values(&trip->draft);
		int growth = int_transit(&trip->settings, frame, &values);
		if (growth < 0) {
			struct hs_packet packet;
			int_parse(&trip->settings, frame, &packet);
			hs_int_transit_refuse(
					&trip->settings, frame->bytes, &packet, HS_INT_HOP_LIMIT);
			break;
		}
		trip->hops[trip->n_hops++] = values;
		only_telemetry_came_in(trip, frame, host);
	}
}

static void round_trip(struct trip *trip)
{
	struct frame host_frame = int_draft_frame(&trip->draft, &trip->settings);
	struct frame frame = frame_of(host_frame.bytes, host_frame.len);
	struct hs_packet host;
	int_parse(&trip->settings, &frame, &host);
	trip->request = int_draft_request(&trip->draft, &trip->settings);
	trip->settings.ds_source_words[0] = trip->request.source_words;
	struct hs_int_values own = int_draft_values(&trip->draft);
	bool has_own = int_draft_below(&trip->draft, 8) && trip->settings.mode == HS_INT_MD;
	int growth = int_source(&trip->settings, &trip->request, &frame, has_own ? &own : NULL);
	trip->n_hops = 0;
	trip->sum = sum_of_l4(&host_frame);
	if (growth >= 0) {
		trip->n_carried++;
		if (has_own)
			trip->hops[trip->n_hops++] = own;
		only_telemetry_came_in(trip, &frame, &host);
		add_hops(trip, &frame, &host);
		// What no source-only metadata says can be told apart.
		if (has_own || trip->settings.mode == HS_INT_MX || !trip->request.source_words)
			assert_stack(trip, &frame);
		int_strip(&trip->settings, &frame);
	}
	frame_assert_equal(&frame, &host_frame);
	frame_free(&frame);
	frame_free(&host_frame);
}

static void what_the_host_sent_comes_back(void **state)
{
	(void)state;
	static struct trip trip;
	size_t n = 0, n_sums = 0;
	hs_rng_init(&trip.draft.rng, 12);
	while (int_draft_settings(n, &trip.settings)) {
		trip.settings.domain_id = 7;
		trip.n_carried = trip.n_sums = 0;
		for (unsigned i = 0; i < ROUNDS; i++)
			round_trip(&trip);
		assert_true(trip.n_carried > ROUNDS / 2);
		n_sums += trip.n_sums;
		n++;
	}
	assert_true(n >= 20);
	assert_true(n_sums > n * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(what_the_host_sent_comes_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
