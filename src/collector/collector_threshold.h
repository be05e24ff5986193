// SPDX-License-Identifier: BSD-3-Clause
// A threshold of `events` as JSON: a number in the exporter's unit, "10%" of the last value that
// was an event, or "off".
//
// Thread rule: any; pure functions.
#pragma once

#include "collect.h"
#include "error.h"

#include <jansson.h>

#define HS_COLLECTOR_THRESHOLD_SHAPE                                                               \
	"{'oneOf': [{'type': 'integer', 'minimum': 0}, {'type': 'string', 'pattern': "             \
	"'^([0-9]{1,3}([.][0-9]{1,2})?%|off)$'}]}"

// Read and print rows of HS_SCHEMA_CUSTOM, at a struct hs_collect_threshold.
int hs_collector_threshold_read(json_t *value, const char *path, void *into, struct hs_error *err);
json_t *hs_collector_threshold_print(const void *from);
