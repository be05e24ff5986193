// SPDX-License-Identifier: BSD-3-Clause
// The lengths of windows, as a configuration lists them in milliseconds: `telemetry.windows_ms`.
//
// Thread rule: any.
#pragma once

#include "qos.h"

#include "error.h"

#include <jansson.h>

#define HS_QOS_DEFAULT_LENGTHS                                                                     \
	{                                                                                          \
		1000000000, 10000000000, 60000000000                                               \
	}

// Reads one to four lengths of 100 to 600,000 ms, which ascend, each a multiple of the one before.
// Fewer than four end with a 0. Returns 0, or -EINVAL with *err. window_ns has HS_QOS_WINDOWS
// lengths. The types are those of a row of lib/schema.
int hs_qos_lengths_read(json_t *list, const char *path, void *window_ns, struct hs_error *err);
// Returns the list in milliseconds, as a new reference.
json_t *hs_qos_lengths_print(const void *window_ns);
#define HS_QOS_LENGTHS_SHAPE                                                                       \
	"{'type': 'array', 'minItems': 1, 'maxItems': 4, 'items': {'type': 'integer', "            \
	"'minimum': 100, 'maximum': 600000}, 'description': "                                      \
	"'lengths that ascend, each a multiple of the one before'}"

// Returns the index of a length, or -1.
int hs_qos_lengths_find(const int64_t window_ns[HS_QOS_WINDOWS], int64_t ns);
// Returns the length to show where no length is given: the first of 10 s or more, else the longest.
int64_t hs_qos_lengths_shown(const int64_t window_ns[HS_QOS_WINDOWS]);
