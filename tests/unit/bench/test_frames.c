// SPDX-License-Identifier: BSD-3-Clause
#include "bench_frames.h"
#include "bench_source.h"

#include "bytes.h"
#include "flexint.h"
#include "ip_address.h"
#include "packet.h"
#include "rule_mask.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct hs_bench_traffic plain = {128, 4096, 4096, -1, 0};

static struct hs_packet parsed(const struct hs_bench_traffic *traffic, uint32_t index,
		uint8_t frame[HS_BENCH_FRAME_BYTES], size_t *len)
{
	struct hs_packet packet;

	*len = hs_bench_frame(traffic, index, frame);
	hs_flexint_parse(frame, *len, *len, &packet);
	assert_true(packet.flags & HS_PACKET_FLOW);
	assert_false(packet.flags & (HS_PACKET_MALFORMED | HS_PACKET_SHORT | HS_PACKET_MIXED));
	assert_int_equal(packet.l4_proto, IPPROTO_UDP);
	return packet;
}

static void a_plain_frame_has_the_length_of_its_case(void **state)
{
	static const uint16_t lengths[] = {62, 64, 128, 512, 1500};
	uint8_t frame[HS_BENCH_FRAME_BYTES];
	size_t len;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct hs_bench_traffic traffic = plain;
		traffic.frame_bytes = lengths[i];
		struct hs_packet packet = parsed(&traffic, 0, frame, &len);
		assert_int_equal(len, lengths[i]);
		assert_false(packet.flags & HS_PACKET_ANY_TELEMETRY);
	}
}

static void telemetry_has_the_hops_and_the_namespace_of_its_case(void **state)
{
	uint8_t frame[HS_BENCH_FRAME_BYTES];
	struct hs_decoded telemetry;
	size_t len;

	(void)state;
	for (int8_t hops = 0; hops <= 4; hops++) {
		struct hs_bench_traffic traffic = plain;
		traffic.hops = hops;
		struct hs_packet packet = parsed(&traffic, 41, frame, &len);
		assert_true(packet.flags & HS_PACKET_TELEMETRY);
		assert_int_equal(packet.ns_id, 42);
		assert_int_equal(packet.trace_type, HS_BENCH_TRACE_TYPE);
		assert_int_equal(len - packet.telemetry_bytes, 128);
		assert_int_equal(hs_flexint_decode(frame + packet.trace_off + 2,
						 frame[packet.trace_off + 1],
						 frame + packet.e2e_off + 2,
						 frame[packet.e2e_off + 1], &telemetry),
				0);
		assert_int_equal(telemetry.n_hops, hops);
	}
}

// Three tenths, six tenths, one tenth; and a quarter of each size: of 4,096 frames, each within
// four standard deviations.
static void mixed_frames_have_their_shares_and_are_what_they_say(void **state)
{
	const struct hs_bench_traffic traffic = {551, 4096, 4096, 2, 1024, .mixed = true};
	unsigned unmatched = 0, traced = 0, of_bytes[4] = {0};

	(void)state;
	for (uint32_t i = 0; i < 4096; i++) {
		uint8_t frame[HS_BENCH_FRAME_BYTES];
		size_t len;
		struct hs_packet packet = parsed(&traffic, i, frame, &len);
		struct hs_bench_mix mix = hs_bench_mix(i);
		size_t plain_len = len - packet.telemetry_bytes;
		unmatched += !mix.matched;
		traced += mix.traced;
		of_bytes[plain_len == 64 ? 0 : plain_len == 128 ? 1 : plain_len == 512 ? 2 : 3]++;
		assert_int_equal(plain_len, mix.frame_bytes);
		assert_int_equal(!!(packet.flags & HS_PACKET_TELEMETRY), mix.traced);
		assert_true(mix.matched || !mix.traced);
		if (mix.traced)
			assert_int_equal(packet.ns_id, i + 1);
		// Flows behind the 4,096 that have a rule have another source address.
		assert_int_equal(frame[HS_BENCH_SOURCE_OFFSET + 3] == 2, !mix.matched);
	}
	assert_in_range(unmatched, 1229 - 4 * 30, 1229 + 4 * 30);
	assert_in_range(traced, 410 - 4 * 20, 410 + 4 * 20);
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(of_bytes[i], 1024 - 4 * 28, 1024 + 4 * 28);
}

static void udp_checksums_are_right(void **state)
{
	uint8_t frame[HS_BENCH_FRAME_BYTES];
	size_t len = hs_bench_frame(&plain, 4000, frame);
	uint32_t sum = IPPROTO_UDP + (uint32_t)(len - 54);

	(void)state;
	for (size_t i = 22; i + 1 < len; i += 2)
		sum += hs_be16_load(frame + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	assert_int_equal(sum, 0xffff);
}

static bool meets(const struct hs_rule *rule, const uint8_t *frame, const struct hs_packet *packet)
{
	const uint8_t *ip = frame + packet->l3_off;
	uint8_t src[16], dst[16];

	memcpy(src, ip + 8, 16);
	memcpy(dst, ip + 24, 16);
	if (packet->flags & HS_PACKET_IPV4) {
		hs_ip_address_map(ip + 12, src);
		hs_ip_address_map(ip + 16, dst);
	}
	return hs_ip_prefix_has(rule->src_ip, rule->src_host_bits, src) &&
	       hs_ip_prefix_has(rule->dst_ip, rule->dst_host_bits, dst) &&
	       (!rule->src_port || rule->src_port == packet->src_port) &&
	       (!rule->dst_port || rule->dst_port == packet->dst_port) &&
	       (!rule->protocol || rule->protocol == packet->l4_proto);
}

static void a_rule_meets_its_own_flow_and_no_other(void **state)
{
	uint8_t frame[HS_BENCH_FRAME_BYTES];
	size_t len;

	(void)state;
	for (size_t c = 0; c < hs_bench_n_cases; c++) {
		const struct hs_bench_case *spec = &hs_bench_cases[c];
		if (spec->kind != HS_BENCH_PACKETS || spec->rules < 64)
			continue;
		struct hs_packet packet = parsed(&spec->traffic, 63, frame, &len);
		for (uint32_t r = 0; r < spec->rules && r < 5000; r++) {
			struct hs_rule rule;
			struct hs_error err;
			hs_bench_rule(spec, r, &rule);
			if (!spec->traffic.ipv4) // no method takes it
				assert_int_equal(hs_rule_check(&rule, &err), 0);
			assert_int_equal(meets(&rule, frame, &packet), spec->matched && r == 63);
		}
	}
}

static void rules_take_turns_with_their_wildcards(void **state)
{
	const struct hs_bench_case *spec = hs_bench_case_find("unmatched_4masks");
	unsigned seen = 0;

	(void)state;
	for (uint32_t r = 0; r < 4; r++) {
		struct hs_rule rule;
		hs_bench_rule(spec, r, &rule);
		seen |= 1u << ((rule.src_port == 0) + 2 * (rule.dst_port == 0));
	}
	assert_int_equal(seen, 0xf);
}

static void rules_of_a_watchlist_have_sixteen_masks(void **state)
{
	const struct hs_bench_case *spec = hs_bench_case_find("matched_16masks");
	struct hs_rule_masks masks = {0};

	(void)state;
	for (uint32_t r = 0; r < spec->rules; r++) {
		struct hs_rule rule;
		hs_bench_rule(spec, r, &rule);
		assert_int_equal(hs_rule_masks_add(&masks, hs_rule_mask(&rule), NULL), 0);
	}
	assert_int_equal(masks.n, 16);
	for (unsigned i = 0; i < masks.n; i++)
		assert_int_equal(masks.uses[i].rules, spec->rules / 16);
}

static void routed_frames_go_to_addresses_within_the_prefixes(void **state)
{
	const struct hs_bench_traffic routed = {64, 1024, 1024, -1, 10};
	uint8_t frame[HS_BENCH_FRAME_BYTES], prefix[16];
	unsigned seen = 0;

	(void)state;
	for (uint32_t i = 0; i < routed.frames; i++) {
		hs_bench_frame(&routed, i, frame);
		assert_memory_equal(frame, hs_bench_router_mac, 6);
		for (uint32_t p = 0; p < routed.routes; p++) {
			assert_int_equal(hs_bench_prefix(&routed, p, prefix), 48);
			if (memcmp(frame + 38, prefix, 6) == 0)
				seen |= 1u << p;
		}
	}
	assert_int_equal(seen, (1u << routed.routes) - 1);
}

static void uneven_prefixes_lie_in_many_blocks_and_most_in_few(void **state)
{
	const struct hs_bench_traffic routed = {64, 1024, 1024, -1, 171000, .uneven = true};
	uint32_t *of_block = calloc(1u << 20, sizeof(*of_block)); // by a hash of 32 bits
	uint32_t blocks = 0, alone = 0, most = 0, whole = 0;
	uint8_t prefix[16];

	(void)state;
	assert_non_null(of_block);
	for (uint32_t i = 0; i < routed.routes; i++) {
		uint8_t depth = hs_bench_prefix(&routed, i, prefix);
		assert_true(depth == 32 || depth == 48);
		whole += depth == 32;
		for (unsigned byte = depth / 8; byte < sizeof(prefix); byte++)
			assert_int_equal(prefix[byte], 0);
		of_block[hs_be32_load(prefix) * 2654435769u >> 12]++;
	}
	for (uint32_t i = 0; i < 1u << 20; i++) {
		blocks += of_block[i] > 0;
		alone += of_block[i] == 1;
		most = of_block[i] > most ? of_block[i] : most;
	}
	free(of_block);
	assert_in_range(whole, routed.routes / 5, routed.routes / 3);
	assert_true(blocks > 10000);
	assert_true(alone > blocks / 2);
	assert_true(most > routed.routes / 20);
}

static void frames_of_ipv4_are_right_and_go_to_their_prefixes(void **state)
{
	const struct hs_bench_traffic routed = {64, 1024, 1024, -1, 10, .ipv4 = true};
	uint8_t frame[HS_BENCH_FRAME_BYTES], prefix[16];
	unsigned seen = 0;
	size_t len;

	(void)state;
	for (uint32_t i = 0; i < routed.frames; i++) {
		struct hs_packet packet = parsed(&routed, i, frame, &len);
		uint32_t header = 0, udp = IPPROTO_UDP + 30;
		assert_int_equal(packet.flags, HS_PACKET_IPV4 | HS_PACKET_FLOW);
		assert_int_equal(len, 64);
		assert_int_equal(packet.l3_bytes, 50);
		for (size_t at = 14; at < 34; at += 2)
			header += hs_be16_load(frame + at);
		for (size_t at = 26; at < 64; at += 2)
			udp += hs_be16_load(frame + at);
		assert_int_equal(header % 0xffff, 0);
		assert_int_equal(udp % 0xffff, 0);
		for (uint32_t p = 0; p < routed.routes; p++) {
			assert_int_equal(hs_bench_prefix(&routed, p, prefix), 96 + 24);
			if (memcmp(frame + 30, prefix + 12, 3) == 0)
				seen |= 1u << p;
		}
	}
	assert_int_equal(seen, (1u << routed.routes) - 1);
}

static void a_capture_file_holds_every_frame(void **state)
{
	char path[] = "/tmp/hopsight-test.XXXXXX";
	int fd = mkstemp(path);
	struct hs_error err;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(hs_bench_frames_write(&plain, path, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 24 + 4096 * (16 + 128));
	close(fd);
	unlink(path);
}

static void a_file_that_cannot_be_written_is_refused(void **state)
{
	struct hs_error err;

	(void)state;
	assert_true(hs_bench_frames_write(&plain, "/nowhere/at/all", &err) < 0);
	assert_string_equal(err.path, "/nowhere/at/all");
	if (access("/dev/full", W_OK) == 0)
		assert_true(hs_bench_frames_write(&plain, "/dev/full", &err) < 0);
}

static void the_spread_of_flows_visits_each_once(void **state)
{
	static const uint32_t numbers[] = {1, 2, 64, 1000, 65536, 1000000};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct hs_bench_source source = {0};
		uint32_t n = numbers[i], met = 0, at = 0;
		hs_bench_source_spread(&source, n);
		do {
			at = (uint32_t)(((uint64_t)at + source.step) % n);
			met++;
		} while (at && met <= n);
		assert_int_equal(met, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_plain_frame_has_the_length_of_its_case),
			cmocka_unit_test(telemetry_has_the_hops_and_the_namespace_of_its_case),
			cmocka_unit_test(mixed_frames_have_their_shares_and_are_what_they_say),
			cmocka_unit_test(udp_checksums_are_right),
			cmocka_unit_test(a_rule_meets_its_own_flow_and_no_other),
			cmocka_unit_test(rules_take_turns_with_their_wildcards),
			cmocka_unit_test(rules_of_a_watchlist_have_sixteen_masks),
			cmocka_unit_test(routed_frames_go_to_addresses_within_the_prefixes),
			cmocka_unit_test(uneven_prefixes_lie_in_many_blocks_and_most_in_few),
			cmocka_unit_test(frames_of_ipv4_are_right_and_go_to_their_prefixes),
			cmocka_unit_test(a_capture_file_holds_every_frame),
			cmocka_unit_test(a_file_that_cannot_be_written_is_refused),
			cmocka_unit_test(the_spread_of_flows_visits_each_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
