// SPDX-License-Identifier: BSD-3-Clause
// Rules that came in band. For this folder only.
//
// Thread rule: owner (the control thread).
#pragma once

#include "event_log.h"
#include "in_band_own.h"
#include "in_band_piggyback.h"
#include "in_band_rank.h"
#include "in_band_seen.h"
#include "punt_record.h"

struct in_band_learned {
	struct in_band_base *base;
	struct in_band_seen *seen; // NULL: no key
	struct in_band_own *own;
	struct in_band_piggyback *piggyback;
	struct learned_list rules;
	struct in_band_ranks ranks;
	uint32_t n;
	uint64_t refused; // requests, for whatever reason
	struct hs_event_limit refused_limit, displaced_limit;
	int64_t taken_told_ns; // the second in which so many events reported accepted requests
	unsigned taken_told;
};

// The caller sets the other members.
void hs_in_band_learned_init(struct in_band_learned *all, struct in_band_base *base);
void hs_in_band_learned_request(struct in_band_learned *all, const struct hs_punt *punt);
// Returns NULL if the rule of this slot did not come in band.
struct learned *hs_in_band_learned_of(const struct in_band_learned *all, uint32_t slot);
// Moves the rule behind all others of its 5-tuple. Its counts are reset and its expiry begins anew.
void hs_in_band_learned_step_back(struct in_band_learned *all, uint32_t ns_id);
// If the table is full, removes a rule that came in band: an unproven one, or the one whose last
// request is oldest.
void hs_in_band_learned_make_room(struct in_band_learned *all);
void hs_in_band_learned_end(struct in_band_learned *all, uint32_t slot);
void hs_in_band_learned_expire(struct in_band_learned *all);
void hs_in_band_learned_shift(struct in_band_learned *all, int64_t by_ns);
