// SPDX-License-Identifier: BSD-3-Clause
#include "int_example.h"

const char int_example_udp4[] = "0200000000020200000000010800"
				"4500002000010000401163ca0a0001010a000202"
				"9c4001bb000c0000"
				"61626364";
const char int_example_udp6[] = "02000000000202000000000186dd"
				"60000000000c1140"
				"20010db8000000000000000000000001"
				"20010db8000000000000000000000002"
				"9c4001bb000c419f"
				"61626364";
const char int_example_gpe[] = "0200000000020200000000010800"
			       "4500002c00010000401163be0a0001010a000202"
			       "9c4012b60018792b"
			       "0c00000300012300"
			       "6162636465666768";
const char int_example_geneve[] = "0200000000020200000000010800"
				  "4500002c00010000401163be0a0001010a000202"
				  "9c4017c100181acb"
				  "0000655800012300"
				  "6162636465666768";

const struct hs_int_values int_example_values = {
		.has = 0x3fff, .node_id = 7, .ingress_ns = 5, .egress_ns = 9};

struct hs_int_settings int_example_profile(enum hs_int_version version, enum hs_int_carrier carrier)
{
	struct hs_int_settings settings;
	hs_int_settings_init(&settings, version, carrier);
	return settings;
}

struct frame int_example_started(
		const struct hs_int_settings *settings, uint16_t bitmap, const char *plain)
{
	const struct hs_int_request request = {.bitmap = bitmap};
	struct frame frame = frame_from_hex(plain);
	assert_true(int_source(settings, &request, &frame, &int_example_values) > 0);
	return frame;
}

struct hs_int_stack int_example_opened(
		const struct hs_int_settings *settings, const struct frame *frame)
{
	struct hs_int_stack stack;
	struct hs_packet packet;
	size_t head = settings->version == HS_INT_2_1 ? 12 : 8;
	int_parse(settings, frame, &packet);
	assert_int_equal(
			hs_int_stack_open(settings, HS_INT_TYPE_MD, frame->bytes + packet.trace_off,
					head + 4 * (packet.trace_type & 0xff), &stack),
			0);
	return stack;
}
