// SPDX-License-Identifier: BSD-3-Clause
// "prometheus" of a configuration: the HTTP server with the page of metrics of a program. What all
// programs have in common is added here: build, process, the server's own counters, and the bound
// on series.
//
// Thread rule: the owner, as in http.h.
#pragma once

#include "error.h"
#include "http.h"
#include "prometheus.h"
#include "schema_table.h"

#include <stdbool.h>
#include <stdint.h>

// The contents of "prometheus".
struct hs_scrape_settings {
	bool on; // the configuration has the key
	struct hs_http_bind bind;
	uint32_t max_series;
};

// Rows of the object: {"prometheus", HS_SCHEMA_OBJECT, CONFIG(prometheus), .fields =
// hs_scrape_fields, .given = ...}.
extern const struct hs_schema_field hs_scrape_fields[];

// What a configuration without any key means, at a program's own port. `on` is false.
#define HS_SCRAPE_SETTINGS(own_port)                                                               \
	{                                                                                          \
		.bind = {.address = {[10] = 0xff, 0xff, 127, 0, 0, 1}, .port = own_port},          \
		.max_series = HS_PROMETHEUS_SERIES                                                 \
	}
#define HS_SCRAPE_PORT_NODE	  9463
#define HS_SCRAPE_PORT_CONTROLLER 9464
#define HS_SCRAPE_PORT_COLLECTOR  9465

// Whether the port is one that needs CAP_NET_BIND_SERVICE.
bool hs_scrape_low_port(const struct hs_scrape_settings *settings);

struct hs_scrape_config {
	const struct hs_scrape_settings *settings; // borrowed
	const char *program;			   // "hopsightd"
	const char *version;			   // label of hopsight_build_info
	const char *dpdk;			   // the same; NULL: none
	// Adds the program's own metrics, the most important first: what goes beyond max_series is
	// left out and counted.
	void (*fill)(void *context, struct hs_prometheus *page);
	void *context;
};

struct hs_scrape;

// Returns 0 with *scrape NULL where the settings are not on; 0; or a negative errno with *err,
// whose path is "prometheus.bind".
int hs_scrape_open(const struct hs_scrape_config *config, struct hs_scrape **scrape,
		struct hs_error *err);
// Accepts NULL, as do the next three.
void hs_scrape_close(struct hs_scrape *scrape);
// As in http.h.
int hs_scrape_fd(const struct hs_scrape *scrape);
int64_t hs_scrape_serve(struct hs_scrape *scrape, int64_t now_ns);
void hs_scrape_set_ready(struct hs_scrape *scrape, const char *why_not);
