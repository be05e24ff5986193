// SPDX-License-Identifier: BSD-3-Clause
// The limits of INT, its instructions and profiles, and what a stack decodes to.
#include "int_example.h"

#include "bytes.h"
#include "int_fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- limits ----

static void refused_bits_are_those_of_the_version(void **state)
{
	(void)state;
	for (unsigned version = 0; version < HS_INT_N_VERSIONS; version++) {
		struct hs_int_settings settings = int_example_profile(version, HS_INT_VXLAN_GPE);
		settings.max_hops = 1;
		struct frame frame = int_example_started(&settings, 0x9000, int_example_gpe);
		struct frame before = frame_of(frame.bytes, frame.len);
		struct hs_packet packet;
		bool has_m = version >= HS_INT_1_0;

		assert_int_equal(int_transit(&settings, &frame, &int_example_values),
				HS_INT_HOP_LIMIT);
		int_parse(&settings, &frame, &packet);
		assert_false(hs_int_transit_refuse(
				&settings, frame.bytes, &packet, HS_INT_NO_ROOM));
		frame_assert_equal(&frame, &before);
		assert_true(hs_int_transit_refuse(
				&settings, frame.bytes, &packet, HS_INT_HOP_LIMIT));
		assert_false(hs_int_transit_refuse(
				&settings, frame.bytes, &packet, HS_INT_HOP_LIMIT));
		assert_int_equal(int_example_opened(&settings, &frame).flags, HS_INT_FLAG_E);
		assert_int_equal(hs_int_transit_refuse(&settings, frame.bytes, &packet, HS_INT_MTU),
				has_m);
		assert_int_equal(int_example_opened(&settings, &frame).flags,
				HS_INT_FLAG_E | (has_m ? HS_INT_FLAG_M : 0));
		int_assert_sums(&frame);
		assert_int_equal(int_example_opened(&settings, &frame).n_hops, 1);
		frame_free(&frame);
		frame_free(&before);
	}
}

static void a_source_without_room_for_its_values_says_so(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * HS_INT_N_VERSIONS; i++) {
		enum hs_int_version version = i / 2;
		bool by_choice = i % 2;
		struct hs_int_settings settings = int_example_profile(version, HS_INT_VXLAN_GPE);
		struct hs_int_request request = {.bitmap = 0x9000};
		struct frame frame = frame_from_hex(int_example_gpe);
		request.flags = by_choice ? HS_INT_NO_OWN : 0;
		assert_true(int_source(&settings, &request, &frame, NULL) > 0);
		struct hs_int_stack stack = int_example_opened(&settings, &frame);
		assert_int_equal(stack.n_hops, 0);
		assert_int_equal(stack.max_hops, 8);
		assert_int_equal(stack.flags,
				version >= HS_INT_1_0 && !by_choice ? HS_INT_FLAG_M : 0);
		frame_free(&frame);
	}
}

static void a_geneve_option_limits_the_hops(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2016_06, HS_INT_GENEVE);
	struct frame frame = int_example_started(&settings, 0xff00, int_example_geneve);
	assert_int_equal(int_example_opened(&settings, &frame).max_hops, 3); // of 29 words
	assert_true(int_transit(&settings, &frame, &int_example_values) > 0);
	assert_true(int_transit(&settings, &frame, &int_example_values) > 0);
	assert_int_equal(int_transit(&settings, &frame, &int_example_values), HS_INT_HOP_LIMIT);
	struct hs_packet packet;
	int_parse(&settings, &frame, &packet);
	frame.bytes[packet.trace_off + 2] = 9; // as a source that cannot count
	assert_int_equal(int_transit(&settings, &frame, &int_example_values), HS_INT_NO_ROOM);
	frame_free(&frame);
}

static void a_shim_limits_the_words(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
	settings.max_hops = 255;
	struct frame frame =
			int_example_started(&settings, 0xff80, int_example_udp6); // 12 words a hop
	int growth = 0;
	size_t n = 1;
	while ((growth = int_transit(&settings, &frame, &int_example_values)) > 0)
		n++;
	assert_int_equal(growth, HS_INT_NO_ROOM);
	assert_int_equal(n, 252 / 12);
	int_assert_sums(&frame);
	int_strip(&settings, &frame);
	struct frame should = frame_from_hex(int_example_udp6);
	frame_assert_equal(&frame, &should);
	frame_free(&frame);
	frame_free(&should);
}

static void a_packet_grows_to_its_greatest_length_and_no_further(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
	const struct hs_int_request request = {.bitmap = 0x8000}; // 20 bytes, then 4
	static uint8_t big[14 + 65535];
	struct hs_packet packet;
	struct frame small = frame_from_hex(int_example_udp4);
	for (unsigned over = 0; over < 2; over++) {
		size_t l3 = 65535 - 20 + over;
		memcpy(big, small.bytes, small.len);
		hs_be16_store(big + 16, (uint16_t)l3);
		hs_be16_store(big + 38, (uint16_t)(l3 - 20));
		struct frame frame = frame_of(big, 14 + l3);
		int_parse(&settings, &frame, &packet);
		assert_int_equal(hs_int_source_growth(
						 &settings, &request, frame.bytes, &packet, true),
				over ? HS_INT_NO_ROOM : 20);
		if (!over) {
			assert_int_equal(int_source(&settings, &request, &frame,
							 &int_example_values),
					20);
			assert_int_equal(int_transit(&settings, &frame, &int_example_values),
					HS_INT_NO_ROOM);
		}
		frame_free(&frame);
	}
	frame_free(&small);
}

// ---- instructions ----

static void words_that_disagree_with_the_instructions_are_not_added_to(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
	struct frame frame = int_example_started(&settings, 0x9000, int_example_udp4);
	struct hs_packet packet;
	assert_true(int_transit(&settings, &frame, &int_example_values) > 0);
	int_parse(&settings, &frame, &packet);
	uint8_t *head = frame.bytes + packet.trace_off;
	head[2] = 1; // four hops of one word
	assert_int_equal(int_transit(&settings, &frame, &int_example_values), HS_INT_MISMATCH);
	head[2] = 4; // one hop of four
	assert_int_equal(int_transit(&settings, &frame, &int_example_values), HS_INT_MISMATCH);
	head[7] = 3; // of which two are a domain's
	struct hs_int_settings strict = settings;
	strict.fill_reserved = false;
	assert_int_equal(int_transit(&strict, &frame, &int_example_values), HS_INT_RESERVED);
	assert_int_equal(int_transit(&settings, &frame, &int_example_values), 16);
	int_parse(&settings, &frame, &packet);
	const uint8_t *block = frame.bytes + packet.trace_off + 12;
	assert_int_equal(hs_be32_load(block), 7);
	assert_int_equal(hs_be32_load(block + 8), UINT32_MAX);
	assert_int_equal(hs_be32_load(block + 12), UINT32_MAX);
	frame_free(&frame);
}

static void reserved_instructions_are_filled_or_left_by_policy(void **state)
{
	(void)state;
	for (unsigned version = 0; version < HS_INT_N_VERSIONS; version++) {
		struct hs_int_settings settings = int_example_profile(version, HS_INT_VXLAN_GPE);
		const struct hs_int_request request = {.bitmap = 0x8020};
		bool fills = version >= HS_INT_1_0;
		struct frame frame = frame_from_hex(int_example_gpe);
		int growth = int_source(&settings, &request, &frame, &int_example_values);
		if (!fills) {
			assert_int_equal(growth, HS_INT_RESERVED);
			frame_free(&frame);
			continue;
		}
		assert_int_equal(int_transit(&settings, &frame, &int_example_values), 8);
		settings.fill_reserved = false;
		assert_int_equal(int_transit(&settings, &frame, &int_example_values),
				HS_INT_RESERVED);
		frame_free(&frame);
	}
}

// Returns the bits of an instruction's name in rules, or 0: the version does not have it. "ports"
// of 2016-06 stands for both port instructions.
static uint16_t instruction(enum hs_int_version version, const char *name)
{
	uint16_t bitmap = 0;

	for (size_t i = 0; i < hs_int_n_fields; i++) {
		const struct hs_int_field *field = &hs_int_fields[i];
		bool both = version == HS_INT_2016_06 && strcmp(name, "ports") == 0 &&
			    strstr(field->instruction, "gress_port");
		if (field->versions & 1 << version &&
				(both || strcmp(name, field->instruction) == 0))
			bitmap |= (uint16_t)(0x8000 >> field->bit);
	}
	return bitmap;
}

static void instructions_have_the_names_that_rules_use(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint16_t bits[HS_INT_N_VERSIONS];
	} names[] = {
			{"node_id", {0x8000, 0x8000, 0x8000, 0x8000}},
			{"ports", {0x4400, 0x4000, 0x4000, 0x4000}},
			{"ingress_port", {0x4000, 0, 0, 0}},
			{"egress_port", {0x0400, 0, 0, 0}},
			{"hop_latency", {0x2000, 0x2000, 0x2000, 0x2000}},
			{"queue", {0x1000, 0x1000, 0x1000, 0x1000}},
			{"ingress_timestamp", {0x0800, 0x0800, 0x0800, 0x0800}},
			{"egress_timestamp", {0, 0x0400, 0x0400, 0x0400}},
			{"queue_congestion", {0x0200, 0x0200, 0, 0}},
			{"ports_l2", {0, 0, 0x0200, 0x0200}},
			{"link_utilisation", {0x0100, 0x0100, 0x0100, 0x0100}},
			{"buffer", {0, 0, 0, 0x0080}},
			{"checksum_complement", {0, 0, 1, 1}},
			{"weather", {0, 0, 0, 0}},
	};
	for (unsigned version = 0; version < HS_INT_N_VERSIONS; version++) {
		uint16_t all = 0;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			uint16_t bits = instruction(version, names[i].name);
			assert_int_equal(bits, names[i].bits[version]);
			all |= bits;
		}
		assert_int_equal(all, hs_int_known(version));
	}
}

static void each_instruction_has_the_words_of_its_version(void **state)
{
	(void)state;
	for (unsigned version = 0; version < HS_INT_N_VERSIONS; version++) {
		for (unsigned bit = 0; bit < 16; bit++) {
			bool twice = (version == HS_INT_2_1 && bit >= 4 && bit <= 6) ||
				     (version == HS_INT_1_0 && bit == 6);
			assert_int_equal(hs_int_hop_words(version, (uint16_t)(0x8000 >> bit)),
					twice ? 2 : 1);
		}
	}
	assert_int_equal(hs_int_time_bits(HS_INT_2016_06), 31);
	assert_int_equal(hs_int_time_bits(HS_INT_0_5), 32);
	assert_int_equal(hs_int_time_bits(HS_INT_1_0), 32);
	assert_int_equal(hs_int_time_bits(HS_INT_2_1), 64);
}

static void the_document_lists_the_rows_in_order(void **state)
{
	(void)state;
	static const char *const kinds[] = {"id", "number", "time"};
	static char page[1 << 16];
	FILE *file = fopen(HS_DOCUMENT, "rb");
	assert_non_null(file);
	size_t len = fread(page, 1, sizeof(page) - 1, file);
	fclose(file);
	page[len] = '\0';
	const char *at = page;
	for (size_t i = 0; i < HS_INT_N_VERSIONS * hs_int_n_fields; i++) {
		enum hs_int_version version = i / hs_int_n_fields;
		const struct hs_int_field *f = &hs_int_fields[i % hs_int_n_fields];
		char row[160];
		if (!(f->versions & 1 << version))
			continue;
		snprintf(row, sizeof(row), "\n| %s | %d | %s | `%s` | %d | %s | %s |\n",
				hs_int_version_name(version), f->bit, f->instruction, f->key,
				version == HS_INT_2016_06 ? 31 : f->bits, kinds[f->kind], f->unit);
		at = strstr(at, row);
		assert_non_null(at);
		at += strlen(row) - 1;
	}
}

static void what_is_not_available_is_never_zero(void **state)
{
	(void)state;
	static const struct hs_int_values none;
	for (unsigned version = 0; version < HS_INT_N_VERSIONS; version++) {
		struct hs_int_settings settings = int_example_profile(version, HS_INT_VXLAN_GPE);
		const struct hs_int_request request = {.bitmap = hs_int_known(version)};
		struct frame frame = frame_from_hex(int_example_gpe);
		struct hs_int_values values;
		assert_true(int_source(&settings, &request, &frame, &none) > 0);
		struct hs_int_stack stack = int_example_opened(&settings, &frame);
		for (size_t i = 0; i < stack.hop_words; i++) {
			bool bottom = i == stack.hop_words - 1u;
			assert_int_equal(hs_be32_load(stack.hops + 4 * i),
					version == HS_INT_2016_06 && !bottom ? 0x7fffffff
									     : UINT32_MAX);
		}
		assert_int_equal(hs_int_stack_hop(&stack, 0, &values), 0);
		assert_int_equal(values.has, 0);
		frame_free(&frame);
	}
}

// ---- decoding ----

static void the_bottom_hop_is_the_source(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
	struct frame frame = int_example_started(&settings, 0x8c00, int_example_udp4);
	struct hs_int_values hop = {.has = HS_INT_HAS_NODE_ID | HS_INT_HAS_INGRESS_NS,
			.node_id = 8,
			.ingress_ns = 77};
	struct hs_packet packet;
	struct hs_decoded told;
	assert_true(int_transit(&settings, &frame, &hop) > 0);
	hop.node_id = 9;
	hop.has = HS_INT_HAS_NODE_ID;
	assert_true(int_transit(&settings, &frame, &hop) > 0);
	int_parse(&settings, &frame, &packet);
	size_t len = 12 + 4 * (packet.trace_type & 0xff);
	const uint8_t *head = frame.bytes + packet.trace_off;
	assert_int_equal(hs_int_decode(&settings, head, len, &told), 0);
	assert_int_equal(told.e2e.bitmap, HS_E2E_TIMESTAMP);
	assert_int_equal(told.e2e.ts_ns, 5);
	assert_int_equal(told.n_hops, 2);
	assert_int_equal(told.hops[0].node_id, 9);
	assert_int_equal(told.hops[0].bitmap, 0);
	assert_int_equal(told.hops[1].node_id, 8);
	assert_int_equal(told.hops[1].bitmap, HS_HOP_TIMESTAMP);
	assert_int_equal(told.hops[1].ts_ns, 77);
	assert_int_equal(hs_int_decode(&settings, head, len - 4, &told), -EBADMSG);
	frame_free(&frame);
}

static void a_bottom_in_the_wrong_place_is_not_decoded(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2016_06, HS_INT_GENEVE);
	struct frame frame = int_example_started(&settings, 0x9000, int_example_geneve);
	struct hs_int_values values;
	assert_true(int_transit(&settings, &frame, &int_example_values) > 0);
	struct hs_int_stack stack = int_example_opened(&settings, &frame);
	size_t at = (size_t)(stack.hops - frame.bytes);
	assert_int_equal(hs_int_stack_hop(&stack, 0, &values), 0);
	assert_int_equal(hs_int_stack_hop(&stack, 1, &values), 0);
	for (size_t i = 0; i < 4; i++) {
		frame.bytes[at + 4 * i] ^= 0x80;
		assert_int_equal(hs_int_stack_hop(&stack, i / 2, &values), -EBADMSG);
		frame.bytes[at + 4 * i] ^= 0x80;
	}
	frame_free(&frame);
}

// ---- profiles ----

static void assert_wrong(const struct hs_int_settings *settings, const char *member)
{
	const char *allowed = NULL;
	assert_string_equal(hs_int_settings_wrong(settings, &allowed), member);
	assert_true(strlen(allowed) > 0);
}

static void an_impossible_profile_is_named(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2016_06, HS_INT_TCP_UDP);
	assert_wrong(&settings, "carrier");
	settings = int_example_profile(HS_INT_1_0, HS_INT_GRE);
	assert_wrong(&settings, "carrier");
	settings = int_example_profile(HS_INT_1_0, HS_INT_TCP_UDP);
	settings.mode = HS_INT_MX;
	assert_wrong(&settings, "mode");
	settings.mode = HS_INT_MD;
	settings.mark = HS_INT_MARK_UDP_PORT;
	assert_wrong(&settings, "mark");
	settings = int_example_profile(HS_INT_0_5, HS_INT_TCP_UDP);
	settings.mark = HS_INT_MARK_PROBE;
	assert_wrong(&settings, "mark");
	settings.mark = HS_INT_MARK_UDP_PORT;
	assert_wrong(&settings, "udp_port");
	settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
	settings.mark = HS_INT_MARK_PROBE;
	assert_wrong(&settings, "probe_marker");
	settings.mark = HS_INT_MARK_DSCP;
	settings.dscp = 0;
	assert_wrong(&settings, "dscp");
	settings.dscp_mask = 64;
	assert_wrong(&settings, "dscp_mask");
	settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
	settings.max_hops = 0;
	assert_wrong(&settings, "max_hops");
	settings = int_example_profile(HS_INT_2_1, HS_INT_VXLAN_GPE);
	settings.gpe_protocol = 3;
	assert_wrong(&settings, "gpe_protocol");
	settings = int_example_profile(HS_INT_2_1, HS_INT_GENEVE);
	settings.geneve_type = 0x81;
	assert_wrong(&settings, "geneve_type");
	settings = int_example_profile(HS_INT_2_1, HS_INT_GRE);
	settings.gre_protocol = 0;
	assert_wrong(&settings, "gre_protocol");
	settings = int_example_profile(HS_INT_2_1, HS_INT_GRE);
	settings.gre_adds_tunnel = true;
	assert_wrong(&settings, "gre_src");
	settings.gre_src[0] = 10;
	assert_wrong(&settings, "gre_dst");
	settings.version = HS_INT_N_VERSIONS;
	assert_wrong(&settings, "version");
}

// Of INT 2.1, by its specification: two hops of all values, and what "not available" is.
static void each_hop_says_of_itself_what_is_available(void **state)
{
	(void)state;
	static const char *const told_all = "0000000800030004000003e805000011"
					    "00000000000001000000000000000900"
					    "00000001000000020000138807000040";
	static const char *const told_some = "00000007ffff0002ffffffffffffffff"
					     "000000000000010000000000000004f4"
					     "ffffffffffffffffffffffffffffffff";
	char text[512];
	struct frame frame;
	struct hs_int_settings settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
	struct hs_decoded told;
	snprintf(text, sizeof(text), "20000c06ff80000000000000%s%s", told_all, told_some);
	frame = frame_from_hex(text);
	assert_int_equal(hs_int_decode(&settings, frame.bytes, frame.len, &told), 0);
	assert_int_equal(told.n_hops, 1);
	const struct hs_hop_local *hop = &told.locals[0], *source = &told.locals[1];
	assert_int_equal(hop->has, 0xff & ~HS_LOCAL_QUEUE_CONGESTION);
	assert_int_equal(hop->ingress_port, 3);
	assert_int_equal(hop->egress_port, 4);
	assert_int_equal(hop->hop_latency_ns, 1000);
	assert_int_equal(hop->queue_id, 5);
	assert_int_equal(hop->queue_packets, 17);
	assert_int_equal(hop->link_utilisation, 5000);
	assert_int_equal(hop->buffer_used, 64);
	assert_int_equal(source->has, HS_LOCAL_EGRESS_PORT | HS_LOCAL_HOP_LATENCY);
	assert_int_equal(source->egress_port, 2);
	assert_int_equal(source->hop_latency_ns, 0x3f4); // of its two times
	frame_free(&frame);
}

// What the decoder makes of a whole header, by hand: nodes from the sink on, the source last.
struct told {
	const char *hex;
	enum hs_int_version version;
	uint32_t nodes[3]; // HS_NODE_UNKNOWN: it did not say
	unsigned n_hops;
	bool missing, has_time;
};

static void nodes_have_the_ids_that_the_packet_says(void **state)
{
	static const uint32_t none = HS_NODE_UNKNOWN;
	static const struct told cases[] = {
			// Node id and ingress time, of 9, 8 and the source 7.
			{"200003058800000000000000"
			 "000000090000000000000003"
			 "000000080000000000000002"
			 "000000070000000000000001",
					HS_INT_2_1, {9, 8, 7}, 2, false, true},
			{"10000205880000000000000900000003000000080000000200000007"
			 "00000001",
					HS_INT_1_0, {9, 8, 7}, 2, false, true},
			// The node nearest the sink does not say its id.
			{"10000205880000"
			 "00ffffffff00000003000000080000000200000007"
			 "00000001",
					HS_INT_1_0, {none, 8, 7}, 2, false, true},
			// None was asked for.
			{"100001050800000000000003000000020000"
			 "0001",
					HS_INT_1_0, {none, none, none}, 2, false, true},
			// E: a node behind 9 added nothing.
			{"11000200880000000000000900000003000000080000000200000007"
			 "00000001",
					HS_INT_1_0, {9, 8, 7}, 2, true, true},
			// M: a node met its MTU, and nobody knows which: maybe the source.
			{"10800205880000000000000900000003000000080000000200000007"
			 "00000001",
					HS_INT_1_0, {9, 8, 7}, 3, true, false},
			{"220003058800000000000000"
			 "000000090000000000000003",
					HS_INT_2_1, {9, none}, 1, true, false},
			// M, and no node added anything.
			{"1080020588000000", HS_INT_1_0, {none}, 0, true, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct told *right = &cases[i];
		struct hs_int_settings settings =
				int_example_profile(right->version, HS_INT_TCP_UDP);
		struct frame frame = frame_from_hex(right->hex);
		struct hs_decoded told;
		memset(&told, 0xa5, sizeof(told));
		assert_int_equal(hs_int_decode(&settings, frame.bytes, frame.len, &told), 0);
		frame_free(&frame);
		assert_int_equal(told.n_hops, right->n_hops);
		for (unsigned hop = 0; hop < right->n_hops; hop++)
			assert_int_equal(told.hops[hop].node_id, right->nodes[hop]);
		assert_int_equal(told.e2e.node_id,
				right->has_time ? right->nodes[right->n_hops] : none);
		assert_int_equal(told.nodes_missing, right->missing);
		assert_int_equal(told.e2e.bitmap, right->has_time ? HS_E2E_TIMESTAMP : 0);
		assert_true(right->has_time || !told.locals[told.n_hops].has);
	}
}

// Of a latency, only the difference of the node's own two times is known.
static void a_latency_of_two_times_wraps_and_does_not_run_back(void **state)
{
	static const struct {
		const char *times;
		bool has;
		uint32_t ns;
	} cases[] = {{"fffffff000000010", true, 32}, {"00000010fffffff0", false, 0},
			{"0000000500000005", true, 0}, {"ffffffff00000010", false, 0},
			{"00000010ffffffff", false, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_int_settings settings = int_example_profile(HS_INT_1_0, HS_INT_TCP_UDP);
		struct hs_decoded told;
		char text[128];
		snprintf(text, sizeof(text), "100002060c000000%s", cases[i].times);
		struct frame frame = frame_from_hex(text);
		assert_int_equal(hs_int_decode(&settings, frame.bytes, frame.len, &told), 0);
		frame_free(&frame);
		assert_int_equal(told.locals[0].has, cases[i].has ? HS_LOCAL_HOP_LATENCY : 0);
		assert_true(!cases[i].has || told.locals[0].hop_latency_ns == cases[i].ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(refused_bits_are_those_of_the_version),
			cmocka_unit_test(a_source_without_room_for_its_values_says_so),
			cmocka_unit_test(a_geneve_option_limits_the_hops),
			cmocka_unit_test(a_shim_limits_the_words),
			cmocka_unit_test(a_packet_grows_to_its_greatest_length_and_no_further),
			cmocka_unit_test(
					words_that_disagree_with_the_instructions_are_not_added_to),
			cmocka_unit_test(reserved_instructions_are_filled_or_left_by_policy),
			cmocka_unit_test(instructions_have_the_names_that_rules_use),
			cmocka_unit_test(each_instruction_has_the_words_of_its_version),
			cmocka_unit_test(the_document_lists_the_rows_in_order),
			cmocka_unit_test(what_is_not_available_is_never_zero),
			cmocka_unit_test(the_bottom_hop_is_the_source),
			cmocka_unit_test(each_hop_says_of_itself_what_is_available),
			cmocka_unit_test(nodes_have_the_ids_that_the_packet_says),
			cmocka_unit_test(a_latency_of_two_times_wraps_and_does_not_run_back),
			cmocka_unit_test(a_bottom_in_the_wrong_place_is_not_decoded),
			cmocka_unit_test(an_impossible_profile_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
