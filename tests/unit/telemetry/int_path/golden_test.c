// SPDX-License-Identifier: BSD-3-Clause
// Source, two transits and sink as nodes: on each link are the bytes that the independent encoder
// wrote (nodes.json in HS_GOLDEN), and the host gets what the other sent. Each node is there with
// and without its fast path.
#include "int_json.h"
#include "int_row.h"

#include "ip.h"
#include "ip_address.h"

#define AT 2 // the first byte of all these frames, which names their place in a batch

static const char *case_name; // the one under test, for who reads a failure
static struct int_row *row;

static int show_case(void **state)
{
	(void)state;
	if (case_name)
		print_error("in the case: %s\n", case_name);
	return 0;
}

// ---- rules ----

// Of the packet's own flow.
static struct hs_rule rule_of(const struct frame *plain, uint16_t bitmap)
{
	struct hs_rule rule = vector_rule(7);
	struct hs_packet packet;

	int_parse(&row->settings, plain, &packet);
	assert_true(packet.flags & HS_PACKET_FLOW);
	const uint8_t *ip = plain->bytes + packet.l3_off;
	if (packet.flags & HS_PACKET_IPV4) {
		hs_ip_address_map(ip + HS_IPV4_SRC, rule.src_ip);
		hs_ip_address_map(ip + HS_IPV4_SRC + 4, rule.dst_ip);
	} else {
		memcpy(rule.src_ip, ip + HS_IPV6_SRC, 16);
		memcpy(rule.dst_ip, ip + HS_IPV6_SRC + 16, 16);
	}
	rule.src_port = packet.src_port;
	rule.dst_port = packet.dst_port;
	rule.protocol = packet.l4_proto == HS_IP_GRE ? HS_RULE_ANY_PROTOCOL : packet.l4_proto;
	rule.method = HS_RULE_INT;
	rule.trace_type = HS_RULE_TRACE_INT | HS_RULE_TRACE_BITMAP | bitmap;
	return rule;
}

static void ask(const struct hs_rule *rule, bool remove)
{
	static const unsigned at[] = {0, ROW_NODES - 1};

	for (unsigned i = 0; i < 4; i++) {
		struct test_node *node = &row->nodes[i % 2][at[i / 2]];
		if (remove)
			assert_int_equal(hs_flow_table_remove(hs_node_flows(node->node),
							 rule->ns_id, NULL),
					0);
		else
			test_node_rule(node, rule);
	}
}

// ---- packets ----

static void step(unsigned node, const json_t *becomes)
{
	const char *hex = json_string_value(becomes);
	struct frame should = frame_from_hex(hex);

	hs_clock_set(row->clock, ROW_NOW + 1000 * (node + 1));
	int_row_step(row, node);
	assert_true(row->alive[AT]);
	frame_assert_equal(&row->frames[AT], &should);
	int_assert_sums(&row->frames[AT]);
	frame_free(&should);
}

static void cross(const json_t *object)
{
	const json_t *hops = json_object_get(object, "hops");
	const json_t *on_link = json_object_get(object, "source");
	size_t n_hops = json_array_size(hops);

	row->frames[AT] = int_json_frame(object, "plain");
	row->alive[AT] = true;
	step(0, on_link);
	for (unsigned node = 1; node < ROW_NODES - 1; node++) { // INT-MX stays as it is
		on_link = n_hops ? json_array_get(hops, node - 1) : on_link;
		step(node, on_link);
	}
	step(ROW_NODES - 1, json_object_get(object, "plain"));
	frame_free(&row->frames[AT]);
	row->alive[AT] = false;
}

static void open_row(const json_t *object, unsigned n)
{
	struct hs_int_settings settings = int_json_settings(json_object_get(object, "settings"));

	if (row && !memcmp(&row->settings, &settings, sizeof(settings)))
		return;
	if (row)
		int_row_close(row);
	row = int_row_open(&settings, 1500, HS_HOST_STRIP, n);
	row->usual = true;
}

static void check(const json_t *object, unsigned n)
{
	struct frame plain = int_json_frame(object, "plain");
	uint64_t bitmap = (uint64_t)json_integer_value(json_object_get(object, "bitmap"));

	case_name = json_string_value(json_object_get(object, "name"));
	open_row(object, n);
	struct hs_rule rule = rule_of(&plain, (uint16_t)bitmap);
	uint64_t reports = row->n_reports;
	ask(&rule, false);
	cross(object);
	ask(&rule, true);
	int_row_take_reports(row, true);
	// A new tunnel hides the flow, and INT-MX has no values.
	bool is_told = row->settings.mode == HS_INT_MD && !row->settings.gre_adds_tunnel;
	assert_int_equal(row->n_reports - reports, is_told);
	frame_free(&plain);
}

static void each_link_has_the_bytes_of_the_other_encoder(void **state)
{
	json_t *cases = int_json_load(HS_GOLDEN "/nodes.json"), *object;
	size_t i;
	(void)state;

	assert_true(json_array_size(cases) > 300);
	json_array_foreach (cases, i, object)
		check(object, (unsigned)i);
	int_row_close(row);
	case_name = NULL;
	json_decref(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_teardown(
					each_link_has_the_bytes_of_the_other_encoder, show_case),
	};
	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
