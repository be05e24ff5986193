// SPDX-License-Identifier: BSD-3-Clause
// Control on a real node with in-process ports and time by hand.
#pragma once

#include "bytes.h"
#include "control.h"
#include "harness.h"
#include "hex.h"

#include <errno.h>
#include <stdio.h>

#define NOW    INT64_C(1700000000000000000)
#define SECOND INT64_C(1000000000)
#define LOG    4096

struct rig {
	struct rte_mempool *pool;
	struct hs_clock *clock;
	struct test_node t;
	struct hs_port *ports[2];
	struct hs_control *control;
	int64_t now_ns;
	uint32_t source_packets; // what the source of telemetry has counted
	int publish_result;
	unsigned n_published;
	struct {
		char topic[64];
		json_t *message;
	} published[LOG];
};

static inline int record(void *context, const char *topic, const char *json)
{
	struct rig *r = context;
	assert_true(r->n_published < LOG);
	snprintf(r->published[r->n_published].topic, sizeof(r->published[0].topic), "%s", topic);
	r->published[r->n_published].message = json_loads(json, 0, NULL);
	assert_non_null(r->published[r->n_published].message);
	r->n_published++;
	return r->publish_result;
}

static const enum hs_port_side SOURCE[] = {HS_SIDE_HOST, HS_SIDE_NETWORK};
static const enum hs_port_side SINK[] = {HS_SIDE_NETWORK, HS_SIDE_HOST};

// Of what is opened from now on: rules, packet buffers, and more of node and output (NULL: none).
static uint32_t rig_rules = 64, rig_buffers = 255;
static bool rig_helps; // hs_control_config.workers_help
__attribute__((unused)) static void (*rig_change)(
		struct hs_node_config *node, struct hs_control_output *output);
// What their clock reads; NULL: the clock is set by hand.
static const struct hs_clock_source *rig_source;

// The harness' node with ports that src/platform made, because control asks those for more.
static inline void open_node(struct rig *r, const struct hs_node_config *config,
		const enum hs_port_side *sides, uint16_t mtu)
{
	struct hs_error err = {0};
	r->t.pool = r->pool;
	r->t.n_ports = 2;
	assert_int_equal(hs_node_create(config, r->clock, r->pool, &r->t.node, &err), 0);
	for (uint16_t p = 0; p < 2; p++) {
		struct hs_port_config port = {.side = sides[p], .mtu = mtu, .rx_queues = 1};
		snprintf(port.name, sizeof(port.name), "p%u", p);
		r->t.ports[p].accepts = HARNESS_QUEUE;
		assert_int_equal(hs_port_open_custom(test_port_rx, test_port_tx, &r->t.ports[p],
						 &port, p, 1, &r->ports[p]),
				0);
		assert_int_equal(hs_node_add_port(r->t.node, r->ports[p]), 0);
	}
}

// `in_band` NULL: the defaults.
static inline struct rig *rig_open_with(const enum hs_port_side *sides, uint16_t mtu,
		uint32_t monitored, const struct hs_in_band_settings *in_band)
{
	static unsigned serial;
	char name[16];
	struct rig *r = calloc(1, sizeof(*r));
	struct hs_node_config node = {.id = 9,
			.name = "n",
			.n_workers = 1,
			.rules = rig_rules,
			.report_ring = 16,
			.n_pairs = 1,
			.pairs = {{0, 1}}};
	struct hs_control_config config = {.boot_id = "b007",
			.monitored_rules = monitored,
			.in_band = in_band,
			.workers_help = rig_helps};
	struct hs_control_output output = {.context = r, .publish = record};

	if (rig_change)
		rig_change(&node, &output);
	snprintf(name, sizeof(name), "control%u", serial++);
	r->now_ns = NOW;
	r->pool = rte_pktmbuf_pool_create(name, rig_buffers, 0, 0, 4096, SOCKET_ID_ANY);
	assert_non_null(r->pool);
	assert_int_equal(rig_source ? hs_clock_create_from(rig_source, HS_CLOCK_UTC, &r->clock)
				    : hs_clock_create_manual(NOW, &r->clock),
			0);
	open_node(r, &node, sides, mtu);
	assert_int_equal(hs_control_create(&config, r->t.node, r->clock, &output, NOW, &r->control),
			0);
	return r;
}

static inline struct rig *rig_open(const enum hs_port_side *sides, uint16_t mtu, uint32_t monitored)
{
	return rig_open_with(sides, mtu, monitored, NULL);
}

static inline void forget_published(struct rig *r)
{
	while (r->n_published > 0)
		json_decref(r->published[--r->n_published].message);
}

static inline void rig_close(struct rig *r)
{
	forget_published(r);
	hs_control_destroy(r->control);
	test_node_close(&r->t);
	for (unsigned p = 0; p < 2; p++)
		hs_port_close(r->ports[p]);
	rte_mempool_free(r->pool);
	hs_clock_destroy(r->clock);
	free(r);
}

static inline unsigned step(struct rig *r, int64_t by_ns)
{
	r->now_ns += by_ns;
	hs_clock_set(r->clock, r->now_ns);
	return hs_control_step(r->control, r->now_ns);
}

// The whole reply, a new reference.
static inline json_t *ask_raw(struct rig *r, const char *text)
{
	char *reply = hs_control_request(r->control, r->now_ns, text, strlen(text), true);
	json_t *json = json_loads(reply, 0, NULL);
	assert_non_null(json);
	free(reply);
	return json;
}

// What a request that must succeed gave, a new reference.
static inline json_t *ask(struct rig *r, const char *text)
{
	json_t *reply = ask_raw(r, text);
	json_t *ok = json_incref(json_object_get(reply, "ok"));
	if (!ok)
		fail_msg("%s", json_dumps(reply, 0));
	json_decref(reply);
	return ok;
}

static inline json_int_t number(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);
	if (!json_is_integer(value))
		fail_msg("%s is no integer in %s", key, json_dumps(object, 0));
	return json_integer_value(value);
}

static inline void assert_number(json_t *object, const char *key, json_int_t expected)
{
	assert_int_equal(number(object, key), expected);
}

static inline void install(struct rig *r, unsigned ns_id, const char *more)
{
	char text[512];
	snprintf(text, sizeof(text),
			"{\"int_request\": {\"ns_id\": %u, \"app_id\": 3, \"src_ip\": "
			"\"2001:db8::1\", \"dst_ip\": \"2001:db8::2\", \"src_port\": 0, "
			"\"dst_port\": %u, \"protocol\": \"udp\", \"trace_type\": \"0x7000E000\", "
			"\"mode\": \"count\", \"mode_setting\": 1%s}}",
			ns_id, 5000 + ns_id, more);
	json_decref(ask(r, text));
}

#define ETHERNET  "02000000000202000000000186dd"
#define ADDRESSES "20010db800000000000000000000000120010db8000000000000000000000002"
#define UDP	  "1234138900105e94494e544441544121"

// A packet of rule `ns_id` from a host.
static inline void feed_plain(struct rig *r, unsigned ns_id)
{
	uint8_t bytes[256];
	size_t len = unhex(ETHERNET "6000000000101140" ADDRESSES UDP, bytes);
	hs_be16_store(bytes + 56, (uint16_t)(5000 + ns_id));
	test_node_feed(&r->t, 0, bytes, len, 0);
	test_node_run(&r->t);
}

// The same with telemetry of a source that counted one packet more; `bitmap` of its entry.
static inline void feed_sampled(struct rig *r, unsigned ns_id, uint16_t bitmap)
{
	uint8_t bytes[256];
	size_t len = unhex(ETHERNET "6000000000300040" ADDRESSES "11033108000000077000e00011127000"
				    "17979cfe362a0000000003e80007c060" UDP,
			bytes);
	hs_be32_store(bytes + 58, ns_id);
	hs_be16_store(bytes + 68, bitmap);
	hs_be64_store(bytes + 70, (uint64_t)r->now_ns - 1000);
	hs_be32_store(bytes + 78, ++r->source_packets);
	hs_be32_store(bytes + 82, r->source_packets * 70);
	hs_be16_store(bytes + 88, (uint16_t)(5000 + ns_id));
	test_node_feed(&r->t, 0, bytes, len, 0);
	test_node_run(&r->t);
	static uint8_t out[256];
	test_node_take(&r->t, 1, out, sizeof(out));
}

static inline json_t *published(struct rig *r, const char *topic, unsigned nth)
{
	for (unsigned i = 0; i < r->n_published; i++) {
		if (strcmp(r->published[i].topic, topic) == 0 && nth-- == 0)
			return r->published[i].message;
	}
	return NULL;
}

static inline unsigned count_published(struct rig *r, const char *topic)
{
	unsigned n = 0;
	while (published(r, topic, n))
		n++;
	return n;
}

static inline json_t *totals(struct rig *r)
{
	return ask(r, "{\"node_get\": {}}");
}

static inline void assert_audit_ok(struct rig *r)
{
	json_t *audit = ask(r, "{\"audit\": {}}");
	if (!json_is_true(json_object_get(audit, "ok")))
		fail_msg("%s", json_dumps(audit, JSON_INDENT(1)));
	json_decref(audit);
}
