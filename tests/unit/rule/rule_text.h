// SPDX-License-Identifier: BSD-3-Clause
// The texts of rules that tests read as JSON.
#pragma once

#include "rule_field.h"
#include "rule_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char listing1[] =
		"{\"ns_id\": 7, \"app_id\": 1, \"src_ip\": \"2001:db8::1\", \"dst_ip\": "
		"\"2001:db8::2\","
		"\"src_port\": 0, \"dst_port\": 5001, \"protocol\": \"udp\","
		"\"trace_type\": \"0x7000E000\", \"mode\": \"count\", \"mode_setting\": 100}";

static inline json_t *loads(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	assert_non_null(json);
	return json;
}
