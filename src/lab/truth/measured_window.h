// SPDX-License-Identifier: BSD-3-Clause
// Reads published metrics and reports from their JSON. Whatever has not the shape that
// docs/api.md promises is refused; keys that a later version adds are passed over.
//
// Thread rule: any; pure functions.
#pragma once

#include "measured.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// The integer under a key, in [min, max].
bool hs_measured_integer(
		const json_t *object, const char *key, int64_t min, int64_t max, int64_t *value);

// What "qos_report" has; `run`: a reply about the whole run, else published. `flow` is not set. 0
// with a window for the caller to free() (its hops are in the same block), -EINVAL, -ENOMEM.
int hs_measured_read_window(const json_t *body, bool run, struct hs_measured_window **window);

// What "int_report" has. 1 with the trip; 0: the source did not stamp it; -EINVAL.
int hs_measured_read_trip(const json_t *body, struct hs_trip *trip);
