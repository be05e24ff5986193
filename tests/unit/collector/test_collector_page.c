// SPDX-License-Identifier: BSD-3-Clause
// The page of metrics of a collector with more entries than the page has room for.
#include "collector_page.h"
#include "collector_parts.h"

#include "collect_test.h"

#include "prometheus.h"

#define EXPORTERS 1000
#define OF_EACH	  4
#define ROOM	  400

static struct hs_collector_config config;
static struct hs_collector owner;

static void send_of_exporters(void)
{
	for (unsigned i = 0; i < EXPORTERS; i++) {
		struct hop hop = {1, 10, 1, 2, 3, 4};
		struct hs_collect_datagram datagram = {
				.is_ipv4 = true, .address = {10, 0, (uint8_t)(i >> 8), (uint8_t)i}};
		struct bytes b;
		put_report(&b, 9, 1, 1, &hop, 1);
		datagram.bytes = b.at;
		datagram.len = (uint32_t)b.n;
		hs_collect_take(owner.worker.collect, &datagram, 1, SECOND);
	}
}

static uint64_t lines_of(const char *page, const char *name)
{
	uint64_t n = 0;

	for (const char *at = page; (at = strstr(at, name)); at += strlen(name))
		n += at == page || at[-1] == '\n';
	return n;
}

static void every_series_is_there_or_counted(void **state)
{
	static const char text[] = "{\"listen\": [{\"udp\": \"127.0.0.1:32766\"}]}";
	const uint32_t rooms[] = {ROOM, 100};
	struct hs_error err = {0};
	cpu_set_t cores;

	(void)state;
	CPU_ZERO(&cores);
	CPU_SET(0, &cores);
	CPU_SET(1, &cores);
	assert_int_equal(hs_collector_config_parse(text, strlen(text), &cores, &config, &err), 0);
	owner.config = &config;
	assert_int_equal(hs_collector_worker_init(&owner.worker, &config.collect, true, &err), 0);
	send_of_exporters();
	for (unsigned i = 0; i < 2; i++) {
		uint64_t capped = 0;
		size_t len;
		struct hs_prometheus *page =
				hs_prometheus_begin(&(const struct hs_prometheus_config){
						.max_series = rooms[i], .capped = &capped});
		hs_collector_page(&owner, page);
		char *shown = hs_prometheus_end(page, &len);
		uint64_t shown_series =
				lines_of(shown, "hopsight_collector_exporter_reports_total{") +
				lines_of(shown, "hopsight_collector_exporter_missing{") +
				lines_of(shown, "hopsight_collector_exporter_restarts_total{") +
				lines_of(shown, "hopsight_collector_exporter_last_report_seconds{");
		assert_true(shown_series < ROOM);
		assert_true(capped >= OF_EACH * EXPORTERS - shown_series);
		assert_true(capped < OF_EACH * EXPORTERS + 200);
		free(shown);
	}
	hs_collector_worker_fini(&owner.worker);
	hs_collector_config_fini(&config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(every_series_is_there_or_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
