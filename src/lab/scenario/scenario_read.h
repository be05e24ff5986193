// SPDX-License-Identifier: BSD-3-Clause
// Reads a scenario from JSON and checks it as a whole. Errors name the path.
//
// Thread rule: as in scenario.h.
#pragma once

#include "scenario.h"

// Values of the command line that override the file; 0 or negative: none.
struct hs_scenario_override {
	bool has_seed;
	uint64_t seed;
	int64_t duration_ns; // later traffic, events and expectations are cut off, which is no
			     // error
};

// Returns 0, or a negative errno with all errors of the file that do not follow from others. The
// path of a syntax error is "line:column", that of other errors is like "links[3].loss_ratio". On
// failure, nothing needs to be released.
int hs_scenario_load(const char *file, const struct hs_scenario_override *override,
		struct hs_scenario *scenario, struct hs_errors *errors);
// Does the same with a text, and returns the first error.
int hs_scenario_parse(const char *text, size_t len, const char *folder,
		const struct hs_scenario_override *override, struct hs_scenario *scenario,
		struct hs_error *err);

// Reads only name and description, for lists.
int hs_scenario_peek(const char *file, struct hs_scenario *scenario, struct hs_error *err);

// Returns the JSON Schema of a scenario. New reference.
json_t *hs_scenario_schema(void);
