// SPDX-License-Identifier: BSD-3-Clause
// Reports on their way back. For this folder only.
//
// Thread rule: owner (the control thread).
#pragma once

#include "in_band_backlog.h"
#include "punt_record.h"

struct in_band_piggyback {
	struct in_band_base *base;
	TAILQ_HEAD(backlog_list, backlog) backlogs;
	uint32_t n;
	uint32_t serial;  // serial number of the last report
	uint64_t waiting; // reports in all backlogs
	int64_t next_ns;  // time of the next look
};

void hs_in_band_piggyback_init(struct in_band_piggyback *all, struct in_band_base *base);
// Keeps a report of the rule of this slot until a packet takes it.
void hs_in_band_piggyback_report(
		struct in_band_piggyback *all, uint32_t slot, const struct hs_report *report);
void hs_in_band_piggyback_changed(struct in_band_piggyback *all, uint32_t slot);
// Makes the ready reports of a slot wait again, because the slot is about to be removed.
void hs_in_band_piggyback_slot_goes(struct in_band_piggyback *all, uint32_t slot);
void hs_in_band_piggyback_end(struct in_band_piggyback *all, uint32_t slot);
// Counts what packets took, and makes more reports ready.
void hs_in_band_piggyback_step(struct in_band_piggyback *all);
void hs_in_band_piggyback_shift(struct in_band_piggyback *all, int64_t by_ns);
// Takes the options of one packet that brought reports back.
void hs_in_band_piggyback_take(
		struct in_band_piggyback *all, const struct hs_punt *punts, unsigned n);
