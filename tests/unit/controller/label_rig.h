// SPDX-License-Identifier: BSD-3-Clause
// A controller with INT-label for a test: the ports of its nodes, datagrams, and what it shows.
#pragma once

#include "controller_rig.h"

#include "label_export.h"

#define MS	 INT64_C(1000000)
#define INTERVAL (100 * MS)

static const char label_config[] =
		"{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"},"
		" {\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"},"
		" {\"name\": \"c\", \"id\": 0, \"api\": \"ipc:///c\"},"
		" {\"name\": \"d\", \"id\": 0, \"api\": \"ipc:///d\"}],"
		" \"label\": {\"listen\": [\"127.0.0.1:32768\"], \"interval_ms\": 100, \"ports\": "
		"8,"
		"  \"series\": 4, \"age_ms\": 1000%s}}";
static const char slow[] = ", \"poll_ms\": 200";
static const char pro[] =
		", \"poll_ms\": 200, \"pro\": {\"k\": 2, \"interval_ms\": 50, \"repeat_ms\": 100, "
		"\"max_shift\": 3}";

static inline void open_with(const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text), label_config, more);
	fake_open(&fake, text);
}

static inline int setup_base(void **state)
{
	(void)state;
	open_with(slow);
	return 0;
}

static inline int setup_pro(void **state)
{
	(void)state;
	open_with(pro);
	return 0;
}

// Gives node `node` ports with ids 1 to n, each with traffic.
static inline void give_ports(unsigned node, unsigned n)
{
	fake.nodes[node].n_labels = n;
	for (unsigned i = 0; i < n; i++)
		fake.nodes[node].labels[i] = (struct fake_label){
				.id = i + 1, .pps = 1000, .labelled_ns = fake.now_ns};
}

// ---- sending ----

static inline void send_bytes(const uint8_t *payload, size_t len)
{
	hs_controller_label_take(fake.controller, fake.now_ns, payload, len, false);
}

static inline void send_items(const struct hs_label_item *items, uint8_t n)
{
	uint8_t bytes[8 * HS_LABEL_ITEM_BYTES], payload[HS_LABEL_EXPORT_MAX_BYTES];
	const struct hs_label_export export = {.proto = 17, .n_items = n, .items = bytes};

	for (unsigned i = 0; i < n; i++)
		hs_label_item_write(&items[i], bytes + i * HS_LABEL_ITEM_BYTES);
	hs_label_export_write(&export, payload);
	send_bytes(payload, hs_label_export_bytes(&export));
}

static inline void send_item(uint16_t node_id, uint8_t port, uint64_t egress_us)
{
	const struct hs_label_item item = {.node_id = node_id,
			.egress_port = port,
			.ingress_us = egress_us - 3,
			.egress_us = egress_us};

	send_items(&item, 1);
}

static inline void send_now(uint16_t node_id, uint8_t port)
{
	send_item(node_id, port, (uint64_t)fake.now_ns / 1000);
}

// ---- asking ----

static inline json_t *label_get(void)
{
	return fake_ok(&fake, "{\"label_get\": {}}");
}

static inline json_int_t of(const char *object, const char *key)
{
	json_t *value = json_object_get(json_object_get(label_get(), object), key);

	assert_non_null(value);
	return json_integer_value(value);
}

static inline json_t *port_json(json_int_t node_id, json_int_t id)
{
	json_t *row;
	size_t i;

	json_array_foreach (json_object_get(label_get(), "ports"), i, row)
		if (json_integer_value(json_object_get(row, "node_id")) == node_id &&
				json_integer_value(json_object_get(row, "id")) == id)
			return row;
	return NULL;
}

static inline json_int_t of_port(json_int_t node_id, json_int_t id, const char *key)
{
	return json_integer_value(json_object_get(port_json(node_id, id), key));
}

static inline void run_to_interval(void)
{
	fake_run(&fake, INTERVAL - fake.now_ns % INTERVAL);
}

#define BASE(name) cmocka_unit_test_setup_teardown(name, setup_base, teardown)
#define PRO(name)  cmocka_unit_test_setup_teardown(name, setup_pro, teardown)
