// SPDX-License-Identifier: BSD-3-Clause
// The network over which probes are planned: switches and the links between their ports. A probe
// can cross a link in both directions.
//
// Thread rule: any; the arrays belong to the caller and do not change while a function reads them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HS_GPINT_SWITCHES                                                                          \
	32767 // at most: a request ID has 15 bits, and a path has a switch or more

struct hs_gpint_link {
	uint32_t ends[2]; // two switches
	uint8_t ports[2]; // of each end, towards the other; above 0, which stands for the monitor
};

struct hs_gpint_graph {
	uint32_t n_switches;
	size_t n_links;
	const struct hs_gpint_link *links;
	const uint8_t *values;	  // that each switch adds to a probe, of 4 bytes each; NULL: none
	const char *const *names; // of the switches, for errors; NULL: their numbers
};
