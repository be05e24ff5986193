// SPDX-License-Identifier: BSD-3-Clause
// A controller of four nodes for a test, and the requests that tests make.
#pragma once

#include "fake_nodes.h"

// clang-format off: cmocka wants these before it
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static const char config[] = "{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"},"
			     " {\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"},"
			     " {\"name\": \"c\", \"id\": 3, \"api\": \"ipc:///c\"},"
			     " {\"name\": \"d\", \"id\": 4, \"api\": \"ipc:///d\"}],"
			     " \"paths\": [{\"name\": \"a-c\", \"nodes\": [\"a\", \"b\", \"c\"]}]}";

static struct fake_nodes fake;

static inline int setup(void **state)
{
	(void)state;
	fake_open(&fake, config);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	fake_close(&fake);
	return 0;
}

static inline char *request(uint32_t ns_id, unsigned setting, const char *on)
{
	static char text[512];

	snprintf(text, sizeof(text),
			"{\"int_request\": {\"ns_id\": %u, \"src_ip\": \"2001:db8::1\", "
			"\"dst_ip\": "
			"\"2001:db8::2\", \"dst_port\": %u, \"protocol\": \"udp\", \"trace_type\": "
			"\"0x7000E000\", \"mode\": \"count\", \"mode_setting\": %u%s%s}}",
			ns_id, ns_id % 60000 + 1, setting, on ? ", \"on\": " : "", on ? on : "");
	return text;
}

static inline char *in_band_request(uint32_t ns_id, const char *on)
{
	char *text = request(ns_id, 100, on);
	char *end = strstr(text, "\"ns_id\"");

	memmove(end + 17, end, strlen(end) + 1);
	memcpy(end, "\"in_band\": true, ", 17);
	return text;
}

static inline json_t *node_json(unsigned at)
{
	return json_array_get(json_object_get(fake_ok(&fake, "{\"node_get\": {}}"), "nodes"), at);
}

static inline int64_t of_node(unsigned at, const char *key)
{
	return json_integer_value(json_object_get(node_json(at), key));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
