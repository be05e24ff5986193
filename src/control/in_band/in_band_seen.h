// SPDX-License-Identifier: BSD-3-Clause
// Signatures of in-band requests that came before. For this folder only.
//
// Thread rule: owner (the control thread).
#pragma once

#include "in_band_base.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define HS_SEEN_LINE "in_band_seen" // a line of the state

struct in_band_seen;

// Creates the memory of signatures. *seen is NULL if there is no key. All other functions but the
// last two accept NULL and do nothing then. Returns 0 or -ENOMEM.
int hs_in_band_seen_create(const struct in_band_base *base, struct in_band_seen **seen);
void hs_in_band_seen_destroy(struct in_band_seen *seen);
// Returns lines of the state with the seen signatures, or only those not saved yet, one for each
// call: a new reference. NULL at the end. *at is 0 at first.
json_t *hs_in_band_seen_line(struct in_band_seen *seen, unsigned *at, bool all);
// Saves the signatures that are not saved yet, at most ten times a second, or now.
void hs_in_band_seen_save(struct in_band_seen *seen, bool now);
// Call this when the clock stepped.
void hs_in_band_seen_shift(struct in_band_seen *seen, int64_t by_ns);
// Reads the content of such a line. Returns 0, or -EINVAL with *err.
int hs_in_band_seen_read(struct in_band_seen *seen, json_t *line, struct hs_error *err);

// Call these functions only if there is a key. The first checks a signature: it returns NULL if the
// signature is newer than all before, else the reason why it is refused. The second notes a
// signature.
const char *hs_in_band_seen_check(struct in_band_seen *seen, uint32_t ns_id, uint64_t counter);
void hs_in_band_seen_note(struct in_band_seen *seen, uint32_t ns_id, uint64_t counter);
