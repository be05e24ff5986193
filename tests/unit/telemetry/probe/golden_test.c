// SPDX-License-Identifier: BSD-3-Clause
// tests/golden/probe/vectors.json against lib/telemetry/probe, byte for byte both ways. HS_GOLDEN
// is its path.
#include <stdlib.h>
#include <string.h>

#include "probe_frame.h"

#include "bytes.h"

#include <jansson.h>

static json_t *vectors;
static const char *case_name; // the one under test, for who reads a failure

static uint32_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	assert_non_null(value);
	return (uint32_t)json_integer_value(value);
}

static struct frame hex(const json_t *object, const char *key)
{
	return frame_from_hex(json_string_value(json_object_get(object, key)));
}

static struct hs_probe_settings settings_of(const json_t *object)
{
	return (struct hs_probe_settings){.dscp = (uint8_t)number(object, "dscp"),
			.feedback_dscp = (uint8_t)number(object, "feedback_dscp"),
			.recovery_dscp = (uint8_t)number(object, "recovery_dscp"),
			.udp_port = (uint16_t)number(object, "udp_port")};
}

static struct hs_probe_hop hop_of(const json_t *object, uint32_t values[HS_PROBE_VALUES])
{
	const json_t *list = json_object_get(object, "values");

	for (size_t i = 0; i < json_array_size(list); i++)
		values[i] = (uint32_t)json_integer_value(json_array_get(list, i));
	return (struct hs_probe_hop){.node = (uint8_t)number(object, "node"),
			.depth = (uint8_t)number(object, "depth"),
			.n_values = (uint16_t)json_array_size(list)};
}

static void each(void (*check)(const json_t *object))
{
	json_t *object;
	size_t i;

	assert_true(json_array_size(vectors) > 60);
	json_array_foreach (vectors, i, object) {
		case_name = json_string_value(json_object_get(object, "name"));
		check(object);
	}
	case_name = NULL;
}

static void begins(const json_t *object)
{
	struct frame should = hex(object, "start");
	const json_t *list = json_object_get(object, "entries");
	uint16_t n = (uint16_t)json_array_size(list);
	struct hs_probe_settings settings = settings_of(object);
	struct hs_probe_entry entries[256];
	struct hs_packet packet;

	for (size_t i = 0; i < n; i++) {
		const json_t *entry = json_array_get(list, i);
		entries[i].port = (uint8_t)json_integer_value(json_array_get(entry, 0));
		entries[i].first = (uint8_t)json_integer_value(json_array_get(entry, 1));
		entries[i].end = (uint8_t)json_integer_value(json_array_get(entry, 2));
	}
	probe_parse(&settings, &should, &packet);
	struct frame is = frame_of(should.bytes + packet.trace_off, should.len - packet.trace_off);
	memset(is.bytes, 0xa5, is.len);
	assert_int_equal(hs_probe_stack_write(is.bytes, (uint16_t)number(object, "id"),
					 (enum hs_probe_type)number(object, "type"), entries, n),
			is.len);
	assert_memory_equal(is.bytes, should.bytes + packet.trace_off, is.len);
	frame_free(&is);
	frame_free(&should);
}

static void a_monitor_begins_as_the_other_encoder(void **state)
{
	(void)state;
	each(begins);
}

static void goes_on(const json_t *object)
{
	struct hs_probe_settings settings = settings_of(object);
	struct frame frame = hex(object, "start");
	json_t *hop;
	size_t i;

	json_array_foreach (json_object_get(object, "hops"), i, hop) {
		uint32_t values[HS_PROBE_VALUES];
		struct hs_probe_hop own = hop_of(hop, values);
		struct frame should = hex(hop, "frame");
		probe_add(&settings, &frame, &own, values);
		frame_assert_equal(&frame, &should);
		frame_free(&should);
	}
	struct frame recovery = hex(object, "recovery");
	struct hs_packet packet;
	probe_parse(&settings, &frame, &packet);
	assert_int_equal(packet.trace_type, HS_PROBE_COLLECTS);
	hs_probe_mark_recovery(&settings, frame.bytes, packet.l3_off);
	frame_assert_equal(&frame, &recovery);
	probe_parse(&settings, &recovery, &packet);
	assert_int_equal(packet.trace_type, HS_PROBE_RECOVERY);
	assert_int_equal(hs_probe_id(recovery.bytes, &packet), number(object, "id"));
	frame_free(&recovery);
	frame_free(&frame);
}

static void nodes_add_what_the_other_encoder_added(void **state)
{
	(void)state;
	each(goes_on);
}

static void answers(const json_t *object)
{
	struct hs_probe_settings settings = settings_of(object);
	struct frame frame = hex(object, "start"), should = hex(object, "feedback");
	struct frame feedback = probe_feedback(&settings, &frame);
	struct hs_packet packet;

	frame_assert_equal(&feedback, &should);
	probe_parse(&settings, &feedback, &packet);
	assert_true(packet.flags & HS_PACKET_TELEMETRY);
	assert_int_equal(packet.trace_type, HS_PROBE_FEEDBACK);
	assert_int_equal(hs_probe_id(feedback.bytes, &packet), number(object, "id"));
	frame_free(&feedback);
	frame_free(&should);
	frame_free(&frame);
}

static void nodes_answer_as_the_other_encoder(void **state)
{
	(void)state;
	each(answers);
}

static void is_read(const json_t *object)
{
	struct hs_probe_settings settings = settings_of(object);
	const json_t *hops = json_object_get(object, "hops");
	size_t n = json_array_size(hops);
	struct hs_packet packet;

	if (!n)
		return;
	struct frame last = hex(json_array_get(hops, n - 1), "frame");
	probe_parse(&settings, &last, &packet);
	struct hs_probe_stack stack = hs_probe_stack_of(last.bytes, &packet);
	assert_int_equal(stack.id, number(object, "id"));
	assert_int_equal(stack.type, number(object, "type"));
	assert_int_equal(stack.n_entries, 0);
	assert_int_equal(stack.n_hops, n);
	assert_int_equal(HS_PROBE_BYTES + n * HS_PROBE_HOP_BYTES +
					 stack.n_values * HS_PROBE_VALUE_BYTES,
			last.len - packet.trace_off);
	for (unsigned i = 0; i < n; i++) {
		uint32_t should[HS_PROBE_VALUES];
		struct hs_probe_hop hop = hop_of(json_array_get(hops, i), should);
		const uint8_t *values;
		struct hs_probe_hop is = hs_probe_stack_hop(&stack, i, &values);
		assert_int_equal(is.node, hop.node);
		assert_int_equal(is.depth, hop.depth);
		assert_int_equal(is.n_values, hop.n_values);
		for (unsigned v = 0; v < is.n_values; v++)
			assert_int_equal(hs_be32_load(values + 4 * v), should[v]);
	}
	frame_free(&last);
}

static void a_monitor_reads_what_the_other_encoder_wrote(void **state)
{
	(void)state;
	each(is_read);
}

static int load(void **state)
{
	(void)state;
	vectors = json_load_file(HS_GOLDEN, 0, NULL);
	return vectors ? 0 : -1;
}

static int unload(void **state)
{
	(void)state;
	json_decref(vectors);
	return 0;
}

static int show_case(void **state)
{
	(void)state;
	if (case_name)
		print_error("in the case: %s\n", case_name);
	case_name = NULL;
	return 0;
}

int main(void)
{
#define EACH(test) cmocka_unit_test_teardown(test, show_case)
	const struct CMUnitTest tests[] = {
			EACH(a_monitor_begins_as_the_other_encoder),
			EACH(nodes_add_what_the_other_encoder_added),
			EACH(nodes_answer_as_the_other_encoder),
			EACH(a_monitor_reads_what_the_other_encoder_wrote),
	};
#undef EACH
	return cmocka_run_group_tests(tests, load, unload);
}
