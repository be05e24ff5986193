// SPDX-License-Identifier: BSD-3-Clause
// Frames of INT-label's prototype at a controller.
#include "label_rig.h"

#include "rng.h"

#include <stdlib.h>

// As the prototype's switches write it, to the receiving host.
static const char received[] = "\0\0\0\2\2\2\0\0\0\1\1\1\7\1\0\1"
			       "\x04\x01\x02\0\0\0\0\x0f\x42\xbb\0\0\0\x0f\x44\x08\0\x0f\x43\x08"
			       "\0\0\0\7\0\0\0\xd2\0\0\0\6wwww";
#define RECEIVED_BYTES (sizeof(received) - 1)

static void send_frame(uint8_t device, uint8_t port, uint8_t reserved)
{
	uint8_t frame[RECEIVED_BYTES];

	memcpy(frame, received, sizeof(frame));
	frame[16] = device;
	frame[18] = port;
	frame[19] = reserved;
	hs_controller_label_frame(fake.controller, fake.now_ns, frame, sizeof(frame));
}

static void devices_of_the_prototype_are_shown_and_told_nothing(void **state)
{
	(void)state;
	give_ports(0, 2);
	fake_run(&fake, SECOND);
	json_int_t sets = of("counters", "sets");
	send_frame(4, 2, 0);
	send_frame(9, 1, 7); // a byte that the prototype reserves
	send_frame(1, 2, 0); // of a node that has the port
	send_frame(1, 9, 0); // and has not
	send_frame(0, 1, 0); // two nodes have this id
	json_t *row = port_json(4, 2);
	assert_non_null(row);
	assert_string_equal(json_string_value(json_object_get(row, "node")), "");
	assert_null(json_object_get(row, "shift"));
	assert_int_equal(of_port(4, 2, "latency_ns"), 333000);
	assert_int_equal(of_port(4, 2, "ingress_port"), 1);
	assert_int_equal(of_port(4, 2, "enqueue_packets"), 7);
	assert_int_equal(of_port(4, 2, "dequeue_packets"), 6);
	assert_int_equal(of_port(4, 2, "queue_ns"), 210000);
	assert_int_equal(of_port(9, 1, "items"), 1);
	assert_int_equal(of_port(1, 2, "items"), 1);
	assert_int_equal(of("counters", "unknown_port"), 1);
	assert_int_equal(of("counters", "unknown_node"), 1);
	send_now(9, 2); // a datagram brings no device
	assert_int_equal(of("counters", "unknown_node"), 2);
	assert_int_equal(json_array_size(json_object_get(label_get(), "ports")), 4);
	fake_run(&fake, 900 * MS);
	assert_int_equal(of("counters", "sets"), sets + 2); // of the port that was heard
	assert_true(json_is_true(json_object_get(port_json(4, 2), "active")));
	fake_run(&fake, 200 * MS);
	assert_null(port_json(4, 2)); // old
	assert_int_equal(of("taken", "forgotten"), 2);
}

static void random_frames_are_counted_and_fill_no_more_than_there_is_room(void **state)
{
	static const char *const keys[] = {"frames_short", "frames_foreign", "frames_empty"};
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 7);
	for (unsigned i = 0; i < 100000; i++) {
		size_t len = hs_rng_u32(&rng) % (RECEIVED_BYTES + 1);
		uint8_t *frame = malloc(len + !len); // its end is guarded
		memcpy(frame, received, len);
		for (unsigned n = hs_rng_u32(&rng) % 4; len && n > 0; n--)
			frame[hs_rng_u32(&rng) % len] = (uint8_t)hs_rng_u32(&rng);
		hs_controller_label_frame(fake.controller, fake.now_ns, frame, len);
		free(frame);
	}
	assert_int_equal(of("counters", "frames"), 100000);
	json_int_t bad = 0;
	for (size_t i = 0; i < 3; i++) {
		assert_true(of("counters", keys[i]) > 0);
		bad += of("counters", keys[i]);
	}
	assert_true(of("taken", "no_room") > 0 && bad < 100000);
	assert_int_equal(json_array_size(json_object_get(label_get(), "ports")), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			PRO(devices_of_the_prototype_are_shown_and_told_nothing),
			BASE(random_frames_are_counted_and_fill_no_more_than_there_is_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
