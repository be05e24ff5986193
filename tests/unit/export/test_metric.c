// SPDX-License-Identifier: BSD-3-Clause
#include "metric.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// Each metric of each scope.
#define EACH_METRIC(m)                                                                             \
	for (unsigned scope = 0; scope < HS_SCOPE_COUNT; scope++)                                  \
		for (const struct hs_metric *m = hs_metrics[scope]; (m)->field.key; (m)++)

static void every_metric_has_unit_help_and_a_name_of_its_own(void **state)
{
	(void)state;
	const struct hs_metric *seen[500];
	size_t n = 0;

	EACH_METRIC(m)
	{
		assert_true(strlen(m->field.help) > 5);
		assert_true(strlen(m->unit) > 3);
		for (const struct hs_metric *other = hs_metrics[scope]; other < m; other++)
			assert_string_not_equal(m->field.key, other->field.key);
		for (size_t i = 0; i < n; i++)
			assert_string_not_equal(m->name, seen[i]->name);
		seen[n++] = m;
	}
	assert_true(n > 50);
}

static void names_follow_the_rules_of_prometheus(void **state)
{
	(void)state;
	EACH_METRIC(m)
	{
		size_t len = strlen(m->name);
		assert_int_equal(strncmp(m->name, "hopsight_", 9), 0);
		for (size_t c = 0; c < len; c++)
			assert_true(islower((unsigned char)m->name[c]) || m->name[c] == '_' ||
					isdigit((unsigned char)m->name[c]));
		bool total = len > 6 && strcmp(m->name + len - 6, "_total") == 0;
		if (total != (m->kind == HS_METRIC_COUNTER))
			fail_msg("%s: counters and only they end in _total", m->name);
		if (m->nanoseconds)
			assert_string_equal(m->name + len - 8, "_seconds");
	}
}

// rte_telemetry's limits: 128 bytes for a name, 256 entries in a dictionary, 16 KiB in all.
static void keys_fit_the_limits_of_rte_telemetry(void **state)
{
	(void)state;
	size_t bytes[HS_SCOPE_COUNT] = {0};
	EACH_METRIC(m)
	{
		assert_true(strlen(m->field.key) < 64);
		bytes[scope] += strlen(m->field.key) + sizeof("\"\":,") + 20;
	}
	// 32 ports and 32 rules to a page, with numbers of 20 digits a port or rule may take 500.
	assert_true(bytes[HS_SCOPE_PORT] < 500);
}

static void a_reader_takes_the_value_it_is_named_after(void **state)
{
	(void)state;
	struct hs_metric_view view = {
			.port = {.rx_packets = 1, .tx_bytes = UINT64_C(1) << 40},
			.rule = {.mtu_needed = 1600, .no_room_option = 7, .last_int_ns = 1700},
			.node = {.clock_offset_ns = -5},
			.worker = {.idle_rounds = 9, .signals_made = 11, .signals_lost = 12},
			.device = {.rx_missed = 2, .rx_errors = 3, .tx_errors = 4},
	};
	static const struct {
		const char *name;
		int64_t value;
	} expected[] = {
			{"hopsight_port_rx_packets_total", 1},
			{"hopsight_port_tx_bytes_total", INT64_C(1) << 40},
			{"hopsight_port_rx_missed_total", 2},
			{"hopsight_port_rx_errors_total", 3},
			{"hopsight_port_tx_errors_total", 4},
			{"hopsight_rule_mtu_needed_bytes", 1600},
			{"hopsight_rule_no_room_option_total", 7},
			{"hopsight_clock_offset_seconds", -5},
			{"hopsight_worker_idle_rounds_total", 9},
			{"hopsight_worker_signals_made_total", 11},
			{"hopsight_worker_signals_lost_total", 12},
			{"hopsight_rule_last_int_tx_timestamp_seconds", 1700},
	};
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		bool found = false;
		EACH_METRIC(m)
		{
			if (strcmp(m->name, expected[i].name) != 0)
				continue;
			assert_int_equal(hs_metric_value(m, &view), expected[i].value);
			found = true;
		}
		assert_true(found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(every_metric_has_unit_help_and_a_name_of_its_own),
			cmocka_unit_test(names_follow_the_rules_of_prometheus),
			cmocka_unit_test(keys_fit_the_limits_of_rte_telemetry),
			cmocka_unit_test(a_reader_takes_the_value_it_is_named_after),
	};
	return cmocka_run_group_tests_name("export", tests, NULL, NULL);
}
