// SPDX-License-Identifier: BSD-3-Clause
// What this node's API has set of rules that came in band. For this folder only.
//
// Thread rule: owner (the control thread).
#pragma once

#include "in_band_base.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

// Fields of such a rule that this node's API has set. They have priority over the fields of
// requests until they are reset, also while the rule is not installed.
struct own {
	TAILQ_ENTRY(own) order; // list by first update
	uint32_t rows;		// bits of hs_rule_fields
	struct hs_rule rule;	// ns_id, and the values of these fields
};
TAILQ_HEAD(own_list, own);

struct in_band_own {
	const struct in_band_base *base;
	struct own_list list;
	void *by_ns; // a tree of tsearch(3)
	uint32_t n;
	struct own *next_line; // of a whole state that is being written
};

void hs_in_band_own_init(struct in_band_own *all, const struct in_band_base *base);
void hs_in_band_own_fini(struct in_band_own *all);
// Applies the own settings to the rule as it came, if the result is valid.
void hs_in_band_own_apply(struct in_band_own *all, struct hs_rule *rule);
// Handles a checked update of a rule that came in band as `asked` and is `rule` now: keeps the
// fields that it sets, forgets those that it resets, and puts their values into *update.
// Returns 0 or -ENOMEM.
int hs_in_band_own_update(struct in_band_own *all, const struct hs_rule *asked,
		const struct hs_rule *rule, struct hs_rule_update *update);
bool hs_in_band_own_has(const struct in_band_own *all, uint32_t ns_id);
void hs_in_band_own_forget(struct in_band_own *all, uint32_t ns_id);
// Returns the fields that the API has set of a rule, with their values: *shown are the API's,
// *in_band those that came: new references, or NULL if there are none.
void hs_in_band_own_show(struct in_band_own *all, const struct hs_rule *asked, json_t **shown,
		json_t **in_band);
// Reads a line of the state: takes its changes of rules that are not installed yet. Returns the
// rest of the line, a new reference, or NULL if there is none.
json_t *hs_in_band_own_replay(struct in_band_own *all, json_t *line);
// Returns the settings as such lines, one for each call: a new reference, NULL at the end. Settings
// that are forgotten meanwhile are left out.
json_t *hs_in_band_own_line(struct in_band_own *all, bool first);
