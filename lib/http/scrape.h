// SPDX-License-Identifier: BSD-3-Clause
// The HTTP server of a program with its page of metrics. What all programs have in common is added
// here: build, process, the server's own counters, and the bound on series.
//
// Thread rule: the owner, as in http.h.
#pragma once

#include "error.h"
#include "prometheus.h"
#include "scrape_settings.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_scrape_config {
	const struct hs_scrape_settings *settings; // borrowed
	const char *program;			   // "hopsightd"
	const char *version;			   // label of hopsight_build_info
	const char *dpdk;			   // label of hopsight_build_info; NULL: none
	// Adds the program's own metrics, the most important first: series beyond max_series are
	// left out and counted.
	void (*fill)(void *context, struct hs_prometheus *page);
	void *context;
};

struct hs_scrape;

// Returns 0, or a negative errno with *err, whose path is "prometheus.bind". If the settings are
// not on, returns 0 and *scrape is NULL.
int hs_scrape_open(const struct hs_scrape_config *config, struct hs_scrape **scrape,
		struct hs_error *err);
// Accepts NULL, as do the next three.
void hs_scrape_close(struct hs_scrape *scrape);
// Do what the functions of these names in http.h do.
int hs_scrape_fd(const struct hs_scrape *scrape);
int64_t hs_scrape_serve(struct hs_scrape *scrape, int64_t now_ns);
void hs_scrape_set_ready(struct hs_scrape *scrape, const char *why_not);
