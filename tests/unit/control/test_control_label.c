// SPDX-License-Identifier: BSD-3-Clause
// S of ports and their labels, over the API of a node.
#include "control_rig.h"

#include "config_read.h"
#include "label_fragments.h"
#include "label_steps.h"
#include "text_file.h"

static struct hs_label_profile profile;

static void label(struct hs_node_config *node, struct hs_control_output *output)
{
	(void)output;
	profile.wire = (struct hs_label_settings){253, 5};
	hs_label_rule_init(&profile.rule, 5, 50000000, 20000000, HS_LABEL_F1);
	for (unsigned p = 0; p < 2; p++)
		node->profiles[p] = (struct hs_profile){
				.family = &hs_label_steps, .settings = &profile};
}

static struct rig *open_rig(const enum hs_port_side *sides)
{
	rig_change = label;
	return rig_open(sides, 1500, 8);
}

static json_t *port_of(json_t *reply, size_t i)
{
	return json_array_get(json_object_get(reply, "ports"), i);
}

static void ports_tell_what_they_label(void **state)
{
	(void)state;
	struct rig *r = open_rig(SOURCE);
	for (unsigned i = 0; i < 3; i++)
		feed_plain(r, 7);
	json_t *reply = ask(r, "{\"label_get\": {}}"), *port = port_of(reply, 0);
	assert_int_equal(json_array_size(json_object_get(reply, "ports")), 1);
	assert_string_equal(json_string_value(json_object_get(port, "name")), "p1");
	assert_number(port, "id", 2);
	assert_number(port, "shift", 0);
	assert_number(port, "interval_ns", 50000000);
	assert_number(port, "rest_ns", 20000000);
	assert_number(port, "ip_protocol", 253);
	assert_number(port, "max_hops", 5);
	assert_number(port, "labels_by_interval", 1);
	assert_number(port, "labels_by_chance", 0);
	json_decref(reply);
	reply = ask(r, "{\"ports_get\": {}}");
	assert_string_equal(
			json_string_value(json_object_get(port_of(reply, 1), "method")), "label");
	assert_number(json_object_get(port_of(reply, 1), "events"), "labelled_interval", 1);
	json_decref(reply);
	assert_audit_ok(r);
	rig_close(r);
}

static void a_shift_is_in_force_at_once_and_is_no_change_of_rules(void **state)
{
	(void)state;
	struct rig *r = open_rig(SOURCE);
	json_t *reply = ask_raw(r, "{\"label_set\": {\"ports\": [{\"id\": 2, \"shift\": 62}]}}");
	json_t *port = port_of(json_object_get(reply, "ok"), 0);
	assert_number(port, "id", 2);
	assert_number(port, "shift", 62);
	assert_number(reply, "generation", 0);
	json_decref(reply);
	for (unsigned i = 0; i < 3; i++)
		feed_plain(r, 7);
	reply = ask(r, "{\"label_get\": {}}");
	assert_number(port_of(reply, 0), "shift", 62);
	assert_number(port_of(reply, 0), "labels_by_interval", 3);
	json_decref(reply);
	rig_close(r);
}

static void a_port_that_does_not_label_is_named_and_nothing_changes(void **state)
{
	(void)state;
	static const char *const ids[] = {"1", "3"}; // of a host, and of no port
	struct rig *r = open_rig(SOURCE);
	char text[128];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(text, sizeof(text),
				"{\"label_set\": {\"ports\": [{\"id\": 2, \"shift\": 5}, "
				"{\"id\": %s, \"shift\": 5}]}}",
				ids[i]);
		json_t *reply = ask_raw(r, text), *error = json_object_get(reply, "error");
		assert_string_equal(
				json_string_value(json_object_get(error, "code")), "unknown_port");
		assert_string_equal(json_string_value(json_object_get(error, "path")),
				"label_set.ports[1].id");
		assert_non_null(strstr(
				json_string_value(json_object_get(error, "message")), ids[i]));
		json_decref(reply);
	}
	json_t *reply = ask(r, "{\"label_get\": {}}");
	assert_number(port_of(reply, 0), "shift", 0);
	json_decref(reply);
	rig_close(r);
}

static void a_rule_of_a_specific_flow_explains_that_it_has_no_metrics(void **state)
{
	(void)state;
	static const char rule[] =
			"{\"int_request\": {\"ns_id\": 7, \"src_ip\": \"2001:db8::1\", \"dst_ip\": "
			"\"2001:db8::2\", \"protocol\": \"udp\", \"method\": \"label\", \"mode\": "
			"\"count\", \"mode_setting\": 1}}";
	struct rig *r = open_rig(SOURCE);

	json_decref(ask(r, rule));
	for (unsigned i = 0; i < 3; i++)
		feed_plain(r, 7);
	json_t *reply = ask(r, "{\"explain\": {\"ns_id\": 7}}");
	json_t *reason = json_array_get(json_object_get(reply, "reasons"), 0);
	assert_string_equal(json_string_value(json_object_get(reason, "reason")), "label");
	assert_number(reason, "packets", 3);
	json_decref(reply);
	reply = ask(r, "{\"int_get\": {\"ns_id\": 7}}");
	json_t *shown = json_object_get(reply, "rule");
	assert_string_equal(json_string_value(json_object_get(shown, "method")), "label");
	assert_null(json_object_get(shown, "trace_type"));
	assert_null(json_object_get(shown, "instructions"));
	json_decref(reply);
	reply = ask(r, "{\"label_get\": {}}");
	assert_number(port_of(reply, 0), "labels_by_interval", 1);
	assert_number(port_of(reply, 0), "labels_by_flow", 2);
	json_decref(reply);
	rig_close(r);
}

// The packet of feed_plain with an item of another node.
static void feed_labelled(struct rig *r, unsigned ns_id)
{
	const struct hs_label_item item = {.node_id = 9};
	struct hs_packet packet;
	uint8_t bytes[256];
	size_t growth = HS_LABEL_IPV6_BYTES + HS_LABEL_ITEM_BYTES;
	size_t len = unhex(ETHERNET "6000000000101140" ADDRESSES UDP, bytes + growth);

	hs_be16_store(bytes + growth + 56, (uint16_t)(5000 + ns_id));
	hs_label_parse(&profile.wire, bytes + growth, len, len, &packet);
	hs_label_item_write(&item, hs_label_insert(&profile.wire, bytes, &packet, growth, false));
	test_node_feed(&r->t, 0, bytes, len + growth, 0);
	test_node_run(&r->t);
}

// The reasons' words and the packets of the last, of rule 7.
static void assert_explained(struct rig *r, const char *should, json_int_t packets)
{
	json_t *reply = ask(r, "{\"explain\": {\"ns_id\": 7}}"), *reason = NULL;
	char words[128] = "";
	size_t i;

	json_array_foreach (json_object_get(reply, "reasons"), i, reason) {
		strcat(words, i ? " " : "");
		strcat(words, json_string_value(json_object_get(reason, "reason")));
		assert_null(strstr(json_string_value(json_object_get(reason, "text")),
				"metrics need"));
		if (i + 1 == json_array_size(json_object_get(reply, "reasons")))
			assert_number(reason, "packets", packets);
	}
	assert_string_equal(words, should);
	json_decref(reply);
}

static void a_rule_explains_what_happened_to_its_packets_at_each_node(void **state)
{
	(void)state;
	static const char rule[] =
			"{\"int_request\": {\"ns_id\": 7, \"src_ip\": \"2001:db8::1\", \"dst_ip\": "
			"\"2001:db8::2\", \"protocol\": \"udp\", \"method\": \"label\", \"mode\": "
			"\"probability\", \"mode_setting\": 0.0001}}";
	static const enum hs_port_side transit[] = {HS_SIDE_NETWORK, HS_SIDE_NETWORK};
	struct rig *r = open_rig(SOURCE);

	json_decref(ask(r, rule));
	for (unsigned i = 0; i < 3; i++)
		feed_plain(r, 7);
	assert_explained(r, "sampled_out label", 1);
	rig_close(r);
	r = open_rig(transit);
	json_decref(ask(r, rule));
	feed_plain(r, 7);
	assert_explained(r, "label", 1);
	rig_close(r);
	r = open_rig(SINK);
	json_decref(ask(r, rule));
	feed_labelled(r, 7);
	assert_explained(r, "label", 1);
	rig_close(r);
}

static uint32_t buffers_of(const char *b_side, const char *mode)
{
	char text[512], name[64];
	struct hs_config config;
	struct hs_errors errors = {0};

	snprintf(text, sizeof(text),
			"{\"node\": {\"id\": 1}, \"workers\": [0, 1],"
			" \"profiles\": {\"lb\": {\"method\": \"label\"}},"
			" \"ports\": [{\"name\": \"a\", \"iface\": \"v\", \"side\": \"network\","
			" \"profile\": \"lb\"}, {\"name\": \"b\", \"iface\": \"w\", %s}],"
			" \"forwarding\": {%s},"
			" \"export\": [{\"format\": \"label\", \"to\": \"127.0.0.1:9\"}]}",
			b_side, mode);
	const cpu_set_t cores = {{7}};
	int fd = text_file(text, strlen(text), name);
	if (hs_config_load(name, &cores, &config, &errors) < 0)
		fail_msg("%s", errors.list[0].message);
	close(fd);
	uint32_t n = hs_config_mbufs(&config) - config.mbufs - 2 * HS_EXPORT_RING;
	hs_config_fini(&config);
	return n;
}

static void a_node_where_items_end_has_buffers_for_fragments(void **state)
{
	(void)state;
	static const char patch[] = "\"mode\": \"patch\", \"pairs\": [[\"a\", \"b\"]]";
	static const char bridge[] = "\"mode\": \"bridge\"";
	static const char host[] = "\"side\": \"host\"";
	static const char network[] = "\"side\": \"network\", \"profile\": \"lb\"";

	assert_int_equal(buffers_of(host, patch), 2 * HS_LABEL_WAITING_BUFFERS);
	assert_int_equal(buffers_of(network, bridge), 2 * HS_LABEL_WAITING_BUFFERS);
	assert_int_equal(buffers_of(network, patch), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(ports_tell_what_they_label),
			cmocka_unit_test(a_shift_is_in_force_at_once_and_is_no_change_of_rules),
			cmocka_unit_test(a_rule_of_a_specific_flow_explains_that_it_has_no_metrics),
			cmocka_unit_test(a_rule_explains_what_happened_to_its_packets_at_each_node),
			cmocka_unit_test(a_port_that_does_not_label_is_named_and_nothing_changes),
			cmocka_unit_test(a_node_where_items_end_has_buffers_for_fragments),
	};

	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
