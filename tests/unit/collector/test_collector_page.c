// SPDX-License-Identifier: BSD-3-Clause
// The page of metrics of a collector with more entries than the page has room for.
#include "collector_page.h"
#include "collector_parts.h"

#include "collect_test.h"

#include "prometheus.h"
#include "text_file.h"

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

static void open_collector(void)
{
	static const char text[] = "{\"listen\": [{\"udp\": \"127.0.0.1:32766\"}]}";
	struct hs_errors errors = {0};
	struct hs_error err = {0};
	cpu_set_t cores;
	char name[64];

	CPU_ZERO(&cores);
	CPU_SET(0, &cores);
	CPU_SET(1, &cores);
	int fd = text_file(text, strlen(text), name);
	assert_int_equal(hs_collector_config_load(name, &cores, &config, &errors), 0);
	close(fd);
	owner.config = &config;
	assert_int_equal(hs_collector_worker_init(&owner.worker, &config.collect, true, &err), 0);
}

static void close_collector(void)
{
	hs_collector_worker_fini(&owner.worker);
	hs_collector_config_fini(&config);
}

// The caller frees it.
static char *page_of(uint32_t room, uint64_t *capped)
{
	size_t len;
	struct hs_prometheus *page = hs_prometheus_begin(
			&(const struct hs_prometheus_config){.max_series = room, .capped = capped});

	hs_collector_page(&owner, page);
	return hs_prometheus_end(page, &len);
}

static void every_series_is_there_or_counted(void **state)
{
	const uint32_t rooms[] = {ROOM, 100};

	(void)state;
	open_collector();
	send_of_exporters();
	for (unsigned i = 0; i < 2; i++) {
		uint64_t capped = 0;
		char *shown = page_of(rooms[i], &capped);
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
	close_collector();
}

static void values_of_a_minute_ago_are_left_out(void **state)
{
	(void)state;
	open_collector();
	send_of_exporters();
	for (unsigned old = 0; old < 2; old++) {
		uint64_t capped = 0;
		owner.now_ns = (old ? 61 : 60) * SECOND;
		char *shown = page_of(10000, &capped);
		assert_int_equal(lines_of(shown, "hopsight_collector_link_utilisation_ratio{"),
				!old);
		assert_int_equal(lines_of(shown, "hopsight_collector_queue_occupancy_packets{"),
				!old);
		assert_int_equal(
				lines_of(shown, "hopsight_collector_exporter_missing{"), EXPORTERS);
		// No report is of the node of the queue.
		assert_int_equal(lines_of(shown, "hopsight_collector_queue_congested{"), 0);
		free(shown);
	}
	owner.now_ns = 0;
	close_collector();
}

// A value that changes comes as an event, one that stays as it is comes with pushes only.
static void a_latency_stays_for_a_minute_and_a_push(void **state)
{
	static const struct {
		int64_t age_s;
		bool shown;
	} cases[] = {{0, true}, {61, true}, {179, true}, {181, false}};

	(void)state;
	open_collector();
	config.collect.push_ns = 120 * SECOND;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t capped = 0;
		owner.now_ns = 1000 * SECOND;
		owner.hops.n = 1;
		owner.hops.of[0] = (struct hs_collector_hop){
				7, 5, owner.now_ns - cases[i].age_s * SECOND};
		char *shown = page_of(10000, &capped);
		assert_int_equal(lines_of(shown, "hopsight_collector_hop_latency_seconds{"),
				cases[i].shown);
		free(shown);
	}
	owner.hops.n = 0;
	owner.now_ns = 0;
	close_collector();
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

// Leaves the series of each line.
static unsigned cut_lines(char *page, char **lines, unsigned most)
{
	unsigned n = 0;
	char *rest;

	for (char *line = strtok_r(page, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (line[0] == '#')
			continue;
		*strrchr(line, ' ') = '\0';
		assert_true(n < most);
		lines[n++] = line;
	}
	return n;
}

// An exporter that changes from 0.5 to 1.0 begins to count anew: both counts stay for a while.
static void no_series_is_there_twice(void **state)
{
	struct hop hop = {3, 10, 1, 2, 3, 4};
	char *lines[1000];
	uint64_t capped = 0;
	struct bytes b;

	(void)state;
	open_collector();
	take_hex(owner.worker.collect,
			"0220000000000007075bcd1500000003000100020500001e075bcde7"
			"0200000000020200000000010800",
			SECOND);
	put_report(&b, 3, 1, 1, &hop, 1);
	take(owner.worker.collect, b.at, b.n, SECOND);
	char *page = page_of(10000, &capped);
	assert_int_equal(lines_of(page, "hopsight_collector_exporter_reports_total{"), 2);
	unsigned n = cut_lines(page, lines, 1000);
	qsort(lines, n, sizeof(lines[0]), by_text);
	for (unsigned i = 1; i < n; i++)
		assert_string_not_equal(lines[i - 1], lines[i]);
	free(page);
	close_collector();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(every_series_is_there_or_counted),
			cmocka_unit_test(values_of_a_minute_ago_are_left_out),
			cmocka_unit_test(a_latency_stays_for_a_minute_and_a_push),
			cmocka_unit_test(no_series_is_there_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
