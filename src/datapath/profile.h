// SPDX-License-Identifier: BSD-3-Clause
// The telemetry of a port: its family, and how the family reads and writes it.
//
// Thread rule: constant while workers run.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hs_family;

struct hs_profile {
	const struct hs_family *family;
	const void *settings; // the family's own, which outlive the node; flexint has none
	uint8_t layout;	      // flexint: enum hs_flexint_layout
	uint8_t max_hops;     // flexint: assumed number of nodes on a path that add values
	uint16_t path_bytes;  // hs_family.path_bytes of a rule that asks for every field
	uint8_t domain;	      // of one family: ports with the same number read the same telemetry
	bool pass_malformed;  // malformed telemetry passes host ports as it came
};

static inline bool hs_profile_reads_same(const struct hs_profile *a, const struct hs_profile *b)
{
	return a->family == b->family && a->domain == b->domain;
}
