// SPDX-License-Identifier: BSD-3-Clause
// "prometheus" of a configuration.
//
// Thread rule: any; values.
#pragma once

#include "ip_port_text.h"
#include "prometheus.h"

#include <stdbool.h>

// The default ports of the programs.
#define HS_SCRAPE_PORT_NODE	  9463
#define HS_SCRAPE_PORT_CONTROLLER 9464
#define HS_SCRAPE_PORT_COLLECTOR  9465

struct hs_scrape_settings {
	bool on; // the configuration has the key
	struct hs_ip_port bind;
	uint32_t max_series;
};

// The rest of a row {"bind", HS_SCHEMA_PARSED, ..., HS_SCRAPE_BIND}.
#define HS_SCRAPE_BIND                                                                             \
	.text = &hs_ip_port_text, .expected = "an address and a port, like 127.0.0.1:9463 or "     \
					      "[::1]:9463"

// Rows of the object: {"prometheus", HS_SCHEMA_OBJECT, CONFIG(prometheus), .fields =
// hs_scrape_fields, .given = ...}.
extern const struct hs_schema_field hs_scrape_fields[];

// The settings of an object without any key, with a program's own port. `on` is false.
#define HS_SCRAPE_SETTINGS(own_port)                                                               \
	{                                                                                          \
		.bind = {.address = {[10] = 0xff, 0xff, 127, 0, 0, 1}, .port = own_port},          \
		.max_series = HS_PROMETHEUS_SERIES                                                 \
	}

// Returns whether there is a server that needs CAP_NET_BIND_SERVICE.
bool hs_scrape_low_port(const struct hs_scrape_settings *settings);
