// SPDX-License-Identifier: BSD-3-Clause
#include "scrape.h"

#include "http.h"

#include "ip_address.h"
#include "log.h"
#include "process_stats.h"

#include <errno.h>
#include <stdlib.h>

struct hs_scrape {
	struct hs_scrape_config config;
	struct hs_http *http;
	int64_t start_ns;
	uint64_t capped;
};

static const struct hs_prometheus_family build = {"hopsight_build_info",
		"The program and what it was built with", NULL, HS_PROMETHEUS_INFO};
static const struct hs_prometheus_family cpu = {"process_cpu_seconds_total",
		"Total user and system CPU time spent in seconds", "seconds",
		HS_PROMETHEUS_COUNTER};
static const struct hs_prometheus_family start = {"process_start_time_seconds",
		"Start time of the process since unix epoch in seconds", "seconds",
		HS_PROMETHEUS_GAUGE};

#define COUNTER(name, unit, help)                                                                  \
	{                                                                                          \
		"hopsight_http_" name "_total", help, unit, HS_PROMETHEUS_COUNTER                  \
	}
#define GAUGE(name, unit, help)                                                                    \
	{                                                                                          \
		"process_" name, help, unit, HS_PROMETHEUS_GAUGE                                   \
	}
#define OF_HTTP(member)	   offsetof(struct hs_http_counters, member)
#define OF_PROCESS(member) offsetof(struct hs_process_stats, member)

struct row {
	struct hs_prometheus_family family;
	size_t offset; // of a uint64_t
};

static const struct row process_rows[] = {
		{GAUGE("resident_memory_bytes", "bytes", "Resident memory size in bytes"),
				OF_PROCESS(resident_bytes)},
		{GAUGE("virtual_memory_bytes", "bytes", "Virtual memory size in bytes"),
				OF_PROCESS(virtual_bytes)},
		{GAUGE("virtual_memory_max_bytes", "bytes",
				 "Maximum amount of virtual memory available in bytes"),
				OF_PROCESS(virtual_max_bytes)},
		{GAUGE("open_fds", "fds", "Number of open file descriptors"), OF_PROCESS(open_fds)},
		{GAUGE("max_fds", "fds", "Maximum number of open file descriptors"),
				OF_PROCESS(max_fds)},
		{GAUGE("threads", "threads", "Number of threads of the process"),
				OF_PROCESS(threads)},
		{.family = {NULL}},
};

static const struct row http_rows[] = {
		{COUNTER("requests", "requests", "Requests answered over HTTP"), OF_HTTP(requests)},
		{COUNTER("requests_refused", "requests",
				 "Requests answered over HTTP with an error"),
				OF_HTTP(refused)},
		{COUNTER("connections", "connections", "Connections accepted over HTTP"),
				OF_HTTP(connections)},
		{COUNTER("connections_turned_away", "connections",
				 "HTTP connections of an address that had too many"),
				OF_HTTP(turned_away)},
		{COUNTER("connections_too_slow", "connections",
				 "HTTP connections ended because the client was too slow"),
				OF_HTTP(too_slow)},
		{COUNTER("pages", "pages", "Pages of metrics made for all who waited"),
				OF_HTTP(pages)},
		{.family = {NULL}},
};

static void add_rows(struct hs_prometheus *page, const struct row *rows, const void *from)
{
	for (; rows->family.name; rows++)
		hs_prometheus_uint(page, &rows->family, NULL,
				*(const uint64_t *)(const void *)((const char *)from +
								  rows->offset));
}

static void add_common(struct hs_scrape *scrape, struct hs_prometheus *page)
{
	struct hs_process_stats process;
	struct hs_http_counters http;

	hs_process_stats_read(&process);
	hs_http_counters(scrape->http, &http);
	hs_prometheus_uint(page, &build,
			HS_PROMETHEUS_LABELS({"program", scrape->config.program},
					{"version", scrape->config.version},
					{"dpdk", scrape->config.dpdk}),
			1);
	hs_prometheus_ns(page, &cpu, NULL, (int64_t)process.cpu_ns);
	hs_prometheus_ns(page, &start, NULL, scrape->start_ns);
	add_rows(page, process_rows, &process);
	add_rows(page, http_rows, &http);
}

static char *make_page(void *context, bool openmetrics, size_t *len)
{
	struct hs_scrape *scrape = context;
	struct hs_prometheus *page = hs_prometheus_begin(&(const struct hs_prometheus_config){
			.openmetrics = openmetrics,
			.max_series = scrape->config.settings->max_series,
			.capped = &scrape->capped,
	});

	add_common(scrape, page);
	scrape->config.fill(scrape->config.context, page);
	return hs_prometheus_end(page, len);
}

static void say_open(const struct hs_scrape_config *config)
{
	const struct hs_ip_port *bind = &config->settings->bind;
	char at[HS_IP_PORT_TEXT];

	hs_ip_port_write(bind, at);
	hs_log(HS_LOG_NOTICE, "http", "metrics at http://%s/metrics", at);
	if (!hs_ip_address_is_loopback(bind->address))
		hs_log(HS_LOG_WARNING, "http",
				"prometheus.bind: whoever reaches %s can read the metrics", at);
}

int hs_scrape_open(const struct hs_scrape_config *config, struct hs_scrape **scrape,
		struct hs_error *err)
{
	*scrape = NULL;
	if (!config->settings->on)
		return 0;
	struct hs_scrape *opened = calloc(1, sizeof(*opened));
	if (!opened)
		return -ENOMEM;
	opened->config = *config;
	opened->start_ns = hs_process_start_ns();
	const struct hs_http_config http = {
			.bind = config->settings->bind,
			.program = config->program,
			.page = make_page,
			.context = opened,
	};
	int rc = hs_http_open(&http, &opened->http, err);
	if (rc < 0) {
		hs_error_prefix(err, "prometheus");
		free(opened);
		return rc;
	}
	say_open(config);
	*scrape = opened;
	return 0;
}

void hs_scrape_close(struct hs_scrape *scrape)
{
	if (!scrape)
		return;
	hs_http_close(scrape->http);
	free(scrape);
}

int hs_scrape_fd(const struct hs_scrape *scrape)
{
	return scrape ? hs_http_fd(scrape->http) : -1;
}

int64_t hs_scrape_serve(struct hs_scrape *scrape, int64_t now_ns)
{
	return scrape ? hs_http_serve(scrape->http, now_ns) : INT64_MAX;
}

void hs_scrape_set_ready(struct hs_scrape *scrape, const char *why_not)
{
	if (scrape)
		hs_http_set_ready(scrape->http, why_not);
}
