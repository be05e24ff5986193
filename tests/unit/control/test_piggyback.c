// SPDX-License-Identifier: BSD-3-Clause
// Reports on their way back: what the sink offers to packets.
#include "pending_rig.h"

#include "flow_worker.h"
#include "label_steps.h"
#include "report_cbor.h"

#define MS	  INT64_C(1000000)
#define PIGGYBACK ", \"piggyback_report\": true"

static const struct hs_flow_view *flows_of(struct rig *r)
{
	static struct hs_flow_view view;
	hs_flow_table_view(flows(r), 0, &view);
	return &view;
}

// The slot that packets of the reverse flow find.
static uint32_t reverse_of(struct rig *r, unsigned ns_id)
{
	return hs_flow_table_reverse(flows(r), hs_flow_table_rule(flows(r), slot_of(r, ns_id)));
}

// Of the loads that stand at a slot, the one that goes first; else the first of all.
static struct hs_flow_pending *load_at(struct rig *r, uint32_t slot)
{
	struct hs_flow_pending *first = hs_flow_table_load(flows(r), slot, 0);
	assert_non_null(first);
	for (unsigned i = 1; i < HS_FLOW_LOADS; i++) {
		struct hs_flow_pending *load = pending_at(r, slot)->loads->list[i];
		bool before = load && is_ready(load) &&
			      (!is_ready(first) || load->serial < first->serial);
		first = before ? load : first;
	}
	return first;
}

static struct hs_flow_pending *load_of(struct rig *r, uint32_t ns_id)
{
	return load_at(r, slot_of(r, ns_id));
}

static unsigned count_loads(struct rig *r, uint32_t slot)
{
	unsigned n = 0;
	for (unsigned i = 0; i < HS_FLOW_LOADS; i++) {
		struct hs_flow_pending *load = pending_at(r, slot)->loads->list[i];
		n += load && is_ready(load);
	}
	return n;
}

static struct hs_flow_pending *carried(struct rig *r, unsigned ns_id)
{
	uint32_t slot = reverse_of(r, ns_id);
	assert_int_not_equal(slot, HS_FLOW_NONE);
	return load_at(r, slot);
}

// Of the pending options that was read last.
static struct hs_report reports[HS_PUNT_PARTS];
static struct hs_report_sender senders[HS_PUNT_PARTS];

// The reports in pending options, each of one option; returns how many.
static unsigned read_pending(const struct hs_flow_pending *pending)
{
	unsigned n = 0;
	for (size_t at = 0; at < pending->n_bytes; at += 2u + pending->bytes[at + 1]) {
		struct hs_error err;
		assert_true(n < HS_PUNT_PARTS);
		assert_int_equal(pending->bytes[at], 0x33);
		if (hs_report_from_cbor(&pending->bytes[at + 2], pending->bytes[at + 1],
				    &reports[n], &senders[n], &err) < 0)
			fail_msg("%s", err.message);
		n++;
	}
	return n;
}

static struct rig *sink_with_rule(void)
{
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, PIGGYBACK);
	return r;
}

// ---- sent back ----

static void a_report_is_offered_to_the_reverse_flow(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	feed_sampled(r, 7, 0x7000);
	step(r, 10 * MS);

	struct hs_flow_pending *pending = carried(r, 7);
	assert_true(is_ready(pending));
	assert_false(pending->holds_telemetry);
	assert_int_equal(read_pending(pending), 1);
	assert_int_equal(reports[0].telemetry.ns_id, 7);
	assert_int_equal(reports[0].telemetry.e2e.tx_packets, 1);
	assert_int_equal(reports[0].sink_rx_packets, 1);
	assert_int_equal(reports[0].sink_ts_ns, NOW);
	assert_int_equal(senders[0].app_id, 3);
	assert_int_equal(senders[0].sink_node_id, 9);
	// It is published here all the same, unless the rule says otherwise.
	assert_int_equal(count_published(r, "report.7"), 1);
	assert_state(r, 7, "reports_waiting", 1);
	close_with_audit(r);
}

static void a_rule_that_does_not_piggyback_offers_nothing(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	feed_sampled(r, 7, 0x7000);
	step(r, 10 * MS);
	assert_int_equal(reverse_of(r, 7), HS_FLOW_NONE);
	assert_total(r, "reports_piggyback_queued", 0);
	rig_close(r);
}

static void reports_that_wait_go_together_and_in_order(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	for (unsigned i = 0; i < 3; i++) {
		feed_sampled(r, 7, 0x7000);
		step(r, 10 * MS);
	}
	struct hs_flow_pending *pending = carried(r, 7);
	assert_int_equal(read_pending(pending), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(reports[i].telemetry.e2e.tx_packets, 1 + i);
	send_pending(r, pending);
	step(r, 10 * MS);
	assert_int_equal(atomic_load(&pending->state), HS_PENDING_EMPTY);
	assert_total(r, "reports_piggyback_sent", 3);
	assert_total(r, "reports_piggyback_waiting", 0);
	close_with_audit(r);
}

static void a_packet_is_asked_for_512_bytes_and_8_options_at_most(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	for (unsigned i = 0; i < 16; i++) {
		feed_sampled(r, 7, 0x7000);
		step(r, MS);
	}
	unsigned sent = 0, last = 0;
	while (sent < 16) {
		step(r, 10 * MS);
		struct hs_flow_pending *pending = carried(r, 7);
		assert_true(is_ready(pending));
		assert_true(pending->n_bytes <= 512);
		unsigned n = read_pending(pending);
		assert_true(n > 4);
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(reports[i].telemetry.e2e.tx_packets, ++last);
		sent += n;
		send_pending(r, pending);
	}
	step(r, 10 * MS);
	assert_total(r, "reports_piggyback_sent", 16);
	close_with_audit(r);
}

static void the_newest_are_kept_when_none_goes_back(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	for (unsigned i = 0; i < 262; i++) {
		feed_sampled(r, 7, 0x7000);
		step(r, MS);
	}
	step(r, 10 * MS);
	assert_total(r, "reports_piggyback_queued", 262);
	assert_total(r, "reports_piggyback_lost", 6);
	assert_total(r, "reports_piggyback_waiting", 256);
	assert_true(read_pending(carried(r, 7)) > 0);
	assert_int_equal(reports[0].telemetry.e2e.tx_packets, 7); // of 262
	close_with_audit(r);
}

static void what_a_packet_has_is_left_alone_when_the_store_is_full(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	feed_sampled(r, 7, 0x7000);
	step(r, 10 * MS);
	struct hs_flow_pending *pending = carried(r, 7);
	atomic_store(&pending->state, HS_PENDING_TAKEN);
	for (unsigned i = 0; i < 262; i++) {
		feed_sampled(r, 7, 0x7000);
		step(r, MS);
	}
	assert_int_equal(read_pending(pending), 1);
	assert_int_equal(reports[0].telemetry.e2e.tx_packets, 1);
	atomic_store(&pending->state, HS_PENDING_SENT);
	step(r, 10 * MS);
	assert_total(r, "reports_piggyback_sent", 1);
	assert_total(r, "reports_piggyback_lost", 7); // of 263, 255 wait
	assert_true(read_pending(carried(r, 7)) > 0);
	assert_int_equal(reports[0].telemetry.e2e.tx_packets, 9);
	close_with_audit(r);
}

// A burst of packets takes all loads, which have all reports of a full store, while one more comes.
static void the_new_report_is_lost_where_packets_have_all_others(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	for (unsigned i = 0; i < 256; i++) {
		feed_sampled(r, 7, 0x7000);
		step(r, MS);
	}
	step(r, 10 * MS);
	struct hs_flow_pending *_Atomic *loads = pending_at(r, reverse_of(r, 7))->loads->list;
	unsigned carried_now = 0;
	for (unsigned i = 0; i < HS_FLOW_LOADS; i++) {
		if (!loads[i] || !is_ready(loads[i]))
			continue;
		carried_now += read_pending(loads[i]);
		atomic_store(&loads[i]->state, HS_PENDING_TAKEN);
	}
	assert_int_equal(carried_now, 256);
	for (unsigned i = 0; i < 3; i++) {
		feed_sampled(r, 7, 0x7000);
		step(r, MS);
	}
	assert_total(r, "reports_piggyback_waiting", 256);
	assert_total(r, "reports_piggyback_lost", 3);
	for (unsigned i = 0; i < HS_FLOW_LOADS; i++)
		if (loads[i] && atomic_load(&loads[i]->state) == HS_PENDING_TAKEN)
			atomic_store(&loads[i]->state, HS_PENDING_SENT);
	step(r, 10 * MS);
	assert_total(r, "reports_piggyback_sent", 256);
	assert_total(r, "reports_piggyback_waiting", 0);
	close_with_audit(r);
}

static void packets_without_room_for_several_are_asked_to_take_fewer(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	for (unsigned i = 0; i < 8; i++) {
		feed_sampled(r, 7, 0x7000);
		step(r, MS);
	}
	step(r, 10 * MS);
	uint16_t wide = carried(r, 7)->n_bytes;
	for (unsigned i = 0; i < 100; i++) {
		atomic_fetch_add(&carried(r, 7)->refused, 1);
		step(r, 10 * MS);
	}
	assert_true(wide > 300);
	assert_int_equal(read_pending(carried(r, 7)), 1);
	// And after some that found room, more again.
	for (unsigned i = 0; i < 10; i++) {
		send_pending(r, carried(r, 7));
		feed_sampled(r, 7, 0x7000);
		feed_sampled(r, 7, 0x7000);
		feed_sampled(r, 7, 0x7000);
		step(r, 10 * MS);
	}
	assert_true(read_pending(carried(r, 7)) > 2);
	close_with_audit(r);
}

static void a_rule_of_the_reverse_flow_carries_them_from_its_installation_on(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	feed_sampled(r, 7, 0x7000);
	step(r, 10 * MS);
	struct hs_flow_pending *hidden = carried(r, 7);
	json_decref(ask(r, "{\"int_request\": {\"ns_id\": 8, \"src_ip\": \"2001:db8::2\", "
			   "\"dst_ip\": \"2001:db8::1\", \"src_port\": 5007, \"dst_port\": 0, "
			   "\"protocol\": \"udp\", \"trace_type\": \"0x7000E000\", \"mode\": "
			   "\"count\", \"mode_setting\": 1}}"));
	step(r, 10 * MS);
	assert_int_equal(atomic_load(&hidden->state), HS_PENDING_EMPTY);
	assert_ptr_equal(carried(r, 7), load_of(r, 8));
	assert_true(is_ready(load_of(r, 8)));
	// And when it goes the hidden one does so again; nothing is lost.
	json_decref(ask(r, "{\"int_delete\": {\"ns_id\": 8}}"));
	step(r, 10 * MS);
	assert_true(is_ready(hidden));
	send_pending(r, hidden);
	step(r, 10 * MS);
	assert_total(r, "reports_piggyback_sent", 1);
	assert_total(r, "reports_piggyback_lost", 0);
	close_with_audit(r);
}

static void label_at_a_port_to_come(struct hs_node_config *node, struct hs_control_output *output)
{
	static struct hs_label_profile profile;

	(void)output;
	profile.wire = (struct hs_label_settings){253, 5};
	hs_label_rule_init(&profile.rule, 5, 50 * MS, 0, HS_LABEL_F1);
	node->profiles[2] = (struct hs_profile){.family = &hs_label_steps, .settings = &profile};
}

// Its packets take no options of flexint: the rule would wait for ever.
static void a_rule_of_another_method_carries_none(void **state)
{
	(void)state;
	rig_change = label_at_a_port_to_come;
	struct rig *r = sink_with_rule();
	rig_change = NULL;
	json_decref(ask(r, "{\"int_request\": {\"ns_id\": 8, \"src_ip\": \"2001:db8::2\", "
			   "\"dst_ip\": \"2001:db8::1\", \"src_port\": 5007, \"dst_port\": 0, "
			   "\"protocol\": \"udp\", \"method\": \"label\", \"mode\": "
			   "\"count\", \"mode_setting\": 1}}"));
	feed_sampled(r, 7, 0x7000);
	step(r, 10 * MS);
	assert_false(hs_flow_is_pending(&flows_of(r)->own[slot_of(r, 8)]));
	assert_total(r, "reports_piggyback_waiting", 1);
	json_decref(ask(r, "{\"int_delete\": {\"ns_id\": 8}}"));
	step(r, 10 * MS);
	send_pending(r, carried(r, 7));
	step(r, 10 * MS);
	assert_total(r, "reports_piggyback_sent", 1);
	close_with_audit(r);
}

static void a_request_and_reports_stand_beside_each_other(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	json_decref(ask(r, "{\"int_request\": {\"ns_id\": 8, \"src_ip\": \"2001:db8::2\", "
			   "\"dst_ip\": \"2001:db8::1\", \"src_port\": 5007, \"dst_port\": 0, "
			   "\"protocol\": \"udp\", \"trace_type\": \"0x7000E000\", \"mode\": "
			   "\"count\", \"mode_setting\": 1, \"in_band\": true}}"));
	struct hs_flow_pending *request = pending_of(r, 8), *load = load_of(r, 8);
	feed_sampled(r, 7, 0x7000);
	step(r, 10 * MS);
	assert_int_equal(request->bytes[0], 0x32);
	assert_int_equal(load->bytes[0], 0x33);
	assert_true(is_ready(request) && is_ready(load));
	// Packets are looked at while either stands.
	send_pending(r, request);
	step(r, 10 * MS);
	assert_true(hs_flow_is_pending(&flows_of(r)->own[slot_of(r, 8)]));
	send_pending(r, load);
	step(r, 10 * MS);
	assert_false(hs_flow_is_pending(&flows_of(r)->own[slot_of(r, 8)]));
	assert_total(r, "reports_piggyback_sent", 1);
	assert_total(r, "requests_in_band_sent", 1);
	close_with_audit(r);
}

static void a_burst_of_packets_takes_as_many_loads_as_stand(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	for (unsigned i = 0; i < 40; i++)
		feed_sampled(r, 7, 0x7000), step(r, MS / 10);
	step(r, 10 * MS);
	unsigned n = 0, loads = count_loads(r, reverse_of(r, 7));
	assert_true(loads >= 5);
	for (unsigned i = 0; i < loads; i++) {
		struct hs_flow_pending *load = carried(r, 7);
		unsigned held = read_pending(load);
		for (unsigned k = 0; k < held; k++)
			assert_int_equal(reports[k].telemetry.e2e.tx_packets, ++n);
		send_pending(r, load);
	}
	step(r, 10 * MS);
	assert_total(r, "reports_piggyback_sent", n);
	assert_int_equal(n, 40);
	close_with_audit(r);
}

// Packets of several workers: the first may find no room, the second does.
static void what_is_sent_out_of_order_is_counted_and_the_rest_waits(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	for (unsigned i = 0; i < 20; i++)
		feed_sampled(r, 7, 0x7000), step(r, MS / 10);
	step(r, 10 * MS);
	struct hs_flow_pending *first = carried(r, 7);
	unsigned kept = read_pending(first);
	atomic_store(&first->state, HS_PENDING_TAKEN);
	unsigned sent = read_pending(carried(r, 7));
	assert_ptr_not_equal(carried(r, 7), first);
	send_pending(r, carried(r, 7));
	step(r, 10 * MS);
	assert_total(r, "reports_piggyback_sent", sent);
	atomic_store(&first->state, HS_PENDING_READY);
	step(r, 10 * MS);
	assert_int_equal(read_pending(carried(r, 7)), kept);
	assert_int_equal(reports[0].telemetry.e2e.tx_packets, 1);
	while (is_ready(carried(r, 7))) {
		send_pending(r, carried(r, 7));
		step(r, 10 * MS);
	}
	assert_total(r, "reports_piggyback_sent", 20);
	close_with_audit(r);
}

static void reports_of_a_rule_that_stops_are_lost_and_counted(void **state)
{
	(void)state;
	static const char *const ends[] = {"{\"int_delete\": {\"ns_id\": 7}}",
			"{\"int_update\": {\"ns_id\": 7, \"piggyback_report\": false}}"};
	for (unsigned i = 0; i < 2; i++) {
		struct rig *r = sink_with_rule();
		feed_sampled(r, 7, 0x7000);
		step(r, 10 * MS);
		struct hs_flow_pending *pending = carried(r, 7);
		json_decref(ask(r, ends[i]));
		assert_int_equal(atomic_load(&pending->state), HS_PENDING_EMPTY);
		assert_total(r, "reports_piggyback_lost", 1);
		assert_total(r, "reports_piggyback_waiting", 0);
		close_with_audit(r);
	}
}

static void an_offer_whose_owner_went_while_a_packet_had_it_can_be_used_again(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	json_decref(ask(r, "{\"int_request\": {\"ns_id\": 8, \"src_ip\": \"2001:db8::2\", "
			   "\"dst_ip\": \"2001:db8::1\", \"src_port\": 5007, \"dst_port\": 0, "
			   "\"protocol\": \"udp\", \"trace_type\": \"0x7000E000\", \"mode\": "
			   "\"count\", \"mode_setting\": 1}}"));
	feed_sampled(r, 7, 0x7000);
	step(r, 10 * MS);
	struct hs_flow_pending *pending = load_of(r, 8);
	atomic_store(&pending->state, HS_PENDING_TAKEN);
	json_decref(ask(r, "{\"int_update\": {\"ns_id\": 7, \"piggyback_report\": false}}"));
	json_decref(ask(r, "{\"int_update\": {\"ns_id\": 7, \"piggyback_report\": true}}"));
	feed_sampled(r, 7, 0x7000);
	step(r, 10 * MS);
	assert_int_equal(atomic_load(&pending->state), HS_PENDING_TAKEN);
	atomic_store(&pending->state, HS_PENDING_SENT);
	for (unsigned i = 0; i < 40; i++)
		feed_sampled(r, 7, 0x7000), step(r, 10 * MS);
	assert_true(is_ready(pending));
	close_with_audit(r);
}

static void two_flows_that_go_back_the_same_way_take_turns(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	// Both have packets of any port as their way back.
	json_decref(ask(r,
			"[{\"int_request\": {\"ns_id\": 7, \"src_ip\": \"2001:db8::1\", "
			"\"dst_ip\": \"2001:db8::2\", \"dst_port\": 5007, \"protocol\": \"udp\", "
			"\"trace_type\": \"0x7000E000\", \"mode\": \"count\", "
			"\"mode_setting\": 1, \"piggyback_report\": true}},"
			"{\"int_request\": {\"ns_id\": 8, \"src_ip\": \"2001:db8::1\", "
			"\"dst_ip\": \"2001:db8::2\", \"dst_port\": 5008, \"protocol\": \"udp\", "
			"\"trace_type\": \"0x7000E000\", \"mode\": \"count\", "
			"\"mode_setting\": 1, \"piggyback_report\": true}},"
			"{\"int_request\": {\"ns_id\": 9, \"src_ip\": \"2001:db8::2\", "
			"\"dst_ip\": \"2001:db8::1\", \"protocol\": \"udp\", "
			"\"trace_type\": \"0x7000E000\", \"mode\": \"count\", "
			"\"mode_setting\": 1}}]"));
	feed_sampled(r, 7, 0x7000);
	feed_sampled(r, 8, 0x7000);
	step(r, 10 * MS);
	assert_int_equal(count_loads(r, slot_of(r, 9)), 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_ptr_equal(carried(r, 7), carried(r, 8));
		send_pending(r, carried(r, 7));
	}
	step(r, 10 * MS);
	assert_total(r, "reports_piggyback_sent", 2);
	close_with_audit(r);
}

// A rule of the way back, whose pending options are ones that others use too.
#define BACK                                                                                       \
	"{\"int_request\": {\"ns_id\": 9, \"src_ip\": \"2001:db8::2\", "                           \
	"\"dst_ip\": \"2001:db8::1\", \"protocol\": \"udp\", \"trace_type\": \"0x7000E000\", "     \
	"\"mode\": \"count\", \"mode_setting\": 1}}"

static void an_offer_left_to_a_packet_that_had_no_room_is_used_again(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	json_decref(ask(r, BACK));
	feed_sampled(r, 7, 0x7000);
	step(r, 10 * MS);
	struct hs_flow_pending *pending = load_of(r, 9);
	atomic_store(&pending->state, HS_PENDING_TAKEN);
	json_decref(ask(r, "{\"int_update\": {\"ns_id\": 7, \"piggyback_report\": false}}"));
	json_decref(ask(r, "{\"int_update\": {\"ns_id\": 7, \"piggyback_report\": true}}"));
	// It did not fit: the worker puts it back.
	atomic_store(&pending->state, HS_PENDING_READY);
	feed_sampled(r, 7, 0x7000);
	step(r, 10 * MS);
	assert_int_equal(pending->ns_id, 7);
	assert_true(is_ready(pending));
	close_with_audit(r);
}

static void a_full_store_still_learns_that_packets_have_room_for_few(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	for (unsigned i = 0; i < 64; i++) {
		feed_sampled(r, 7, 0x7000);
		step(r, MS);
	}
	// Reports go on coming, and each packet that goes back has no room for what is offered.
	for (unsigned i = 0; i < 300; i++) {
		atomic_fetch_add(&carried(r, 7)->refused, 1);
		feed_sampled(r, 7, 0x7000);
		step(r, 10 * MS);
	}
	assert_true(is_ready(carried(r, 7)));
	assert_int_equal(read_pending(carried(r, 7)), 1);
	close_with_audit(r);
}

static void no_flow_keeps_another_from_the_way_back_that_they_share(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, PIGGYBACK);
	install(r, 8, PIGGYBACK);
	json_decref(ask(r, BACK));
	unsigned sent_of_8 = 0;
	for (unsigned i = 0; i < 40; i++) {
		feed_sampled(r, 7, 0x7000);
		feed_sampled(r, 8, 0x7000);
		step(r, 10 * MS);
		struct hs_flow_pending *pending = load_of(r, 9);
		if (!is_ready(pending))
			continue;
		sent_of_8 += pending->ns_id == 8;
		send_pending(r, pending);
	}
	assert_true(sent_of_8 > 10);
	close_with_audit(r);
}

static void a_reverse_entry_that_is_free_again_is_taken(void **state)
{
	(void)state;
	struct rig *r = sink_with_rule();
	struct hs_rule other = *hs_flow_table_rule(flows(r), slot_of(r, 7));
	uint32_t slot, last = HS_FLOW_NONE;
	for (other.dst_port = 1; !hs_flow_table_add_reverse(flows(r), &other, &slot);
			other.dst_port++)
		last = slot;
	feed_sampled(r, 7, 0x7000);
	step(r, 10 * MS);
	assert_int_equal(reverse_of(r, 7), HS_FLOW_NONE);
	hs_flow_table_remove_reverse(flows(r), last);
	step(r, 10 * MS);
	assert_true(is_ready(carried(r, 7)));
	close_with_audit(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_report_is_offered_to_the_reverse_flow),
			cmocka_unit_test(a_rule_that_does_not_piggyback_offers_nothing),
			cmocka_unit_test(reports_that_wait_go_together_and_in_order),
			cmocka_unit_test(a_packet_is_asked_for_512_bytes_and_8_options_at_most),
			cmocka_unit_test(the_newest_are_kept_when_none_goes_back),
			cmocka_unit_test(what_a_packet_has_is_left_alone_when_the_store_is_full),
			cmocka_unit_test(the_new_report_is_lost_where_packets_have_all_others),
			cmocka_unit_test(packets_without_room_for_several_are_asked_to_take_fewer),
			cmocka_unit_test(
					a_rule_of_the_reverse_flow_carries_them_from_its_installation_on),
			cmocka_unit_test(a_rule_of_another_method_carries_none),
			cmocka_unit_test(a_request_and_reports_stand_beside_each_other),
			cmocka_unit_test(a_burst_of_packets_takes_as_many_loads_as_stand),
			cmocka_unit_test(what_is_sent_out_of_order_is_counted_and_the_rest_waits),
			cmocka_unit_test(reports_of_a_rule_that_stops_are_lost_and_counted),
			cmocka_unit_test(
					an_offer_whose_owner_went_while_a_packet_had_it_can_be_used_again),
			cmocka_unit_test(two_flows_that_go_back_the_same_way_take_turns),
			cmocka_unit_test(an_offer_left_to_a_packet_that_had_no_room_is_used_again),
			cmocka_unit_test(a_full_store_still_learns_that_packets_have_room_for_few),
			cmocka_unit_test(no_flow_keeps_another_from_the_way_back_that_they_share),
			cmocka_unit_test(a_reverse_entry_that_is_free_again_is_taken),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
