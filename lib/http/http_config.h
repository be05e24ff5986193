// SPDX-License-Identifier: BSD-3-Clause
// What a server is given, and what it counts.
//
// Thread rule: values.
#pragma once

#include "ip_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Makes the page. Returns its text, which the server frees, and *len. Returns NULL if there is
// no page now.
typedef char *hs_http_page(void *context, bool openmetrics, size_t *len);

struct hs_http_config {
	struct hs_ip_port bind;
	const char *program; // "hopsightd", for the page that names the others
	hs_http_page *page;
	void *context;
	unsigned pages_per_s; // 0: 10
};

// Counts of a server. All members are 64-bit words, because hs_http_counters copies words.
struct hs_http_counters {
	uint64_t requests;    // answered
	uint64_t refused;     // of these: with a status from 400 on
	uint64_t connections; // accepted
	uint64_t turned_away; // connections of an address that has too many
	uint64_t too_slow;    // connections ended because they kept the server waiting
	uint64_t pages;	      // made by the owner
};
