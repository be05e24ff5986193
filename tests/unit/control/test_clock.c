// SPDX-License-Identifier: BSD-3-Clause
// Control on a node whose system clock is set.
#include "learned_rig.h"

#include "int_steps.h"

#define MS	 INT64_C(1000000)
#define KEY_BYTE 0x5a

// A machine that stands still until it is moved.
struct machine {
	int64_t passed_ns; // on the counter
	int64_t set_ns;	   // of the wall clock, by hand
};

static struct machine machine;

static uint64_t ticks(void *context)
{
	return (uint64_t)((struct machine *)context)->passed_ns;
}

static int64_t realtime(void *context)
{
	const struct machine *m = context;

	return NOW + m->passed_ns + m->set_ns;
}

static int64_t monotonic(void *context)
{
	return ((struct machine *)context)->passed_ns;
}

static int no_tai(void *context)
{
	(void)context;
	return 0;
}

static bool kernel(void *context, struct hs_clock_kernel *kernel)
{
	(void)context;
	*kernel = (struct hs_clock_kernel){.synchronised = true, .maxerror_ns = 5, .status = 1};
	return true;
}

// The rig with a clock that follows this machine's.
static struct rig *open_with(
		const enum hs_port_side *sides, const struct hs_in_band_settings *in_band)
{
	static const struct hs_clock_source source = {.ticks = ticks,
			.realtime_ns = realtime,
			.monotonic_ns = monotonic,
			.tai_offset_s = no_tai,
			.context = &machine,
			.kernel = kernel,
			.rate = UINT64_C(1) << 40};

	machine = (struct machine){0};
	rig_source = &source;
	struct rig *r = rig_open_with(sides, 1500, 8, in_band);
	rig_source = NULL;
	return r;
}

static struct rig *open_on_machine(const enum hs_port_side *sides)
{
	return open_with(sides, NULL);
}

static struct rig *open_with_key(const enum hs_port_side *sides)
{
	struct hs_in_band_settings in_band;

	hs_in_band_init(&in_band);
	in_band.has_key = true;
	in_band.key = a_key(KEY_BYTE);
	return open_with(sides, &in_band);
}

static void pass(struct rig *r, int64_t ns)
{
	for (int64_t end_ns = machine.passed_ns + ns; machine.passed_ns < end_ns;) {
		machine.passed_ns += 10 * MS;
		r->now_ns = hs_clock_now(r->clock);
		hs_control_step(r->control, r->now_ns);
		r->now_ns = hs_clock_now(r->clock);
	}
}

static json_t *event_of(struct rig *r, const char *kind)
{
	for (unsigned i = 0; i < r->n_published; i++)
		if (strcmp(r->published[i].topic + 6, kind) == 0)
			return json_object_get(r->published[i].message, "event");
	return NULL;
}

static int64_t integer_of(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);
	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static const int64_t jumps_ns[] = {36 * SECOND, -36 * SECOND, 3600 * SECOND, -3600 * SECOND};
#define JUMPS (sizeof(jumps_ns) / sizeof(jumps_ns[0]))

static void a_step_is_told_with_its_amount_and_offsets(void **state)
{
	(void)state;
	for (size_t i = 0; i < JUMPS; i++) {
		struct rig *r = open_on_machine(SINK);
		pass(r, 2 * SECOND);
		assert_null(event_of(r, "clock_step"));
		machine.set_ns += jumps_ns[i];
		pass(r, SECOND);
		json_t *event = event_of(r, "clock_step");
		assert_non_null(event);
		assert_int_equal(integer_of(event, "amount_ns"), jumps_ns[i]);
		assert_int_equal(integer_of(event, "old_offset_ns"), -jumps_ns[i]);
		assert_int_equal(integer_of(event, "new_offset_ns"), 0);
		assert_int_equal(integer_of(event, "steps"), 1);
		assert_in_range(integer_of(event, "ts_ns"), NOW + jumps_ns[i] + 2 * SECOND,
				NOW + jumps_ns[i] + 3 * SECOND);
		assert_int_equal(r->now_ns, NOW + jumps_ns[i] + 3 * SECOND);
		rig_close(r);
	}
}

static void control_goes_on_as_often_as_before(void **state)
{
	(void)state;
	for (size_t i = 0; i < JUMPS; i++) {
		struct rig *r = open_on_machine(SINK);
		struct hs_node_totals totals;
		pass(r, 2 * SECOND);
		machine.set_ns += jumps_ns[i];
		pass(r, 2 * SECOND);
		hs_control_totals(r->control, &totals);
		assert_int_equal(totals.uptime_ns, 4 * SECOND);
		assert_int_equal(totals.clock_steps, 1);
		assert_int_equal(totals.clock_offset_ns, 0);
		assert_int_equal(totals.clock_maxerror_ns, 5);
		int64_t next_ns = hs_control_next_ns(r->control);
		assert_in_range(next_ns, r->now_ns, r->now_ns + 100 * MS);
		rig_close(r);
	}
}

static void repeats_in_band_come_at_their_times(void **state)
{
	(void)state;
	for (size_t i = 0; i < JUMPS; i++) {
		struct rig *r = open_on_machine(SOURCE);
		install(r, 7, ", \"in_band\": true");
		struct hs_flow_pending *pending = pending_of(r, 7);
		unsigned sent = 0;
		for (int64_t at_ns = 0; at_ns < 40 * SECOND; at_ns += 10 * MS) {
			if (at_ns == 5 * SECOND)
				machine.set_ns += jumps_ns[i];
			pass(r, 10 * MS);
			if (!is_ready(pending))
				continue;
			send_pending(r, pending);
			sent++;
		}
		assert_int_equal(sent, 7); // at once and after 0.1, 0.3, 1, 3, 10, 30 s
		json_t *shown = state_of_rule(r, 7);
		int64_t last_ns = integer_of(shown, "last_request_tx_ns");
		assert_in_range(last_ns, r->now_ns - 11 * SECOND, r->now_ns);
		json_decref(shown);
		rig_close(r);
	}
}

static void what_was_signed_before_the_start_is_refused_after_a_step_too(void **state)
{
	(void)state;
	for (size_t i = 0; i < JUMPS; i++) {
		struct rig *r = open_with_key(TRANSIT);
		const struct hs_rule rule = a_rule(7);
		pass(r, 2 * SECOND);
		machine.set_ns += jumps_ns[i];
		pass(r, SECOND);
		bring_request(&rule, 0, KEY_BYTE, r->now_ns - 30 * SECOND);
		pass(r, 20 * MS);
		assert_false(is_installed(r, 7));
		assert_reason(r, "before this node started");
		bring_request(&rule, 0, KEY_BYTE, r->now_ns);
		pass(r, 20 * MS);
		assert_true(is_installed(r, 7));
		rig_close(r);
	}
}

// The counter in the request that waits for a packet.
static uint64_t counter_of_request(struct rig *r, uint32_t ns_id)
{
	const struct hs_flow_pending *pending = pending_of(r, ns_id);
	const struct hs_rule_key key = a_key(KEY_BYTE);
	struct hs_error err = {0};
	uint64_t counter = 0;

	assert_true(is_ready(pending));
	assert_int_equal(hs_rule_auth_verify(&key, pending->bytes + 2, pending->bytes[1], &counter,
					 &err),
			0);
	return counter;
}

// Receivers take no request of a namespace that is older than the last one.
static void a_rule_that_is_made_again_after_a_step_back_is_newer(void **state)
{
	struct rig *r = open_with_key(SOURCE);

	(void)state;
	pass(r, SECOND);
	install(r, 7, ", \"in_band\": true");
	uint64_t before = counter_of_request(r, 7);
	machine.set_ns -= 60 * SECOND;
	pass(r, SECOND);
	json_decref(ask(r, "{\"int_delete\": {\"ns_id\": 7}}"));
	install(r, 7, ", \"in_band\": true");
	assert_true(counter_of_request(r, 7) > before);
	rig_close(r);
}

// A telemetry report of each packet of a rule goes to a receiver that nobody can send to.
static void export_to_nobody(struct hs_node_config *node, struct hs_control_output *output)
{
	static struct hs_int_settings settings;
	(void)output;

	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	settings.mode = HS_INT_XD;
	for (unsigned p = 0; p < 2; p++)
		node->profiles[p] = (struct hs_profile){
				.family = &hs_int_steps[HS_INT_2_1], .settings = &settings};
	node->exports[0] = (struct hs_export_config){.format = HS_INT_REPORT_2_0,
			.flows = true,
			.bytes = HS_EXPORT_BYTES,
			.port = HS_EXPORT_NO_PORT,
			.to = {{[10] = 0xff, 0xff, 192, 0, 2, 9}, 32766}};
	node->n_exports = 1;
}

static void lose_a_report(struct rig *r)
{
	static uint8_t out[256];

	feed_plain(r, 7);
	assert_int_not_equal(test_node_take(&r->t, 1, out, sizeof(out)), 0);
	pass(r, 2 * SECOND);
}

static void a_loss_is_told_again_after_a_minute(void **state)
{
	(void)state;
	for (size_t i = 0; i < JUMPS; i++) {
		rig_change = export_to_nobody;
		struct rig *r = open_on_machine(SOURCE);
		rig_change = NULL;
		json_decref(ask(r, "{\"int_request\": {\"ns_id\": 7, \"src_ip\": \"2001:db8::1\", "
				   "\"dst_ip\": \"2001:db8::2\", \"dst_port\": 5007, \"protocol\": "
				   "\"udp\", \"method\": \"int\", \"instructions\": [\"node_id\"], "
				   "\"mode\": \"count\", \"mode_setting\": 1}}"));
		lose_a_report(r);
		assert_int_equal(count_published(r, "event.exports_lost"), 1);
		machine.set_ns += jumps_ns[i];
		pass(r, 2 * SECOND);
		lose_a_report(r);
		assert_int_equal(count_published(r, "event.exports_lost"), 1);
		pass(r, 60 * SECOND);
		assert_int_equal(count_published(r, "event.exports_lost"), 2);
		rig_close(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_step_is_told_with_its_amount_and_offsets),
			cmocka_unit_test(control_goes_on_as_often_as_before),
			cmocka_unit_test(repeats_in_band_come_at_their_times),
			cmocka_unit_test(a_loss_is_told_again_after_a_minute),
			cmocka_unit_test(
					what_was_signed_before_the_start_is_refused_after_a_step_too),
			cmocka_unit_test(a_rule_that_is_made_again_after_a_step_back_is_newer),
	};

	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
