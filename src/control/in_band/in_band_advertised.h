// SPDX-License-Identifier: BSD-3-Clause
// Rules that this node, as their source, sends in band. For this folder only.
//
// Thread rule: owner (the control thread).
#pragma once

#include "in_band_base.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

// A rule with `in_band`. The flow's packets carry its request repeatedly.
struct advertised {
	TAILQ_ENTRY(advertised) order;
	uint32_t slot;
	bool stands;	   // the request is in the slot's pending, until it is seen to be sent
	bool changed;	   // the ready request differs from the rule
	bool told;	   // request_waiting was reported for the ready request
	uint8_t stage;	   // position in the list of repeats
	int64_t due_ns;	   // when it must be ready again
	int64_t stands_ns; // ready since; ready with this signature since
	int64_t signed_ns;
	int64_t first_ns, last_ns; // sendings; first: since the rule's last change
	uint64_t sent;
	uint64_t refused; // packets without room for the ready request, before the pending options
			  // were made anew
	uint64_t counter; // of the last signature
};
TAILQ_HEAD(advertised_list, advertised);

struct in_band_advertised {
	struct in_band_base *base;
	struct advertised_list rules;
	uint32_t n;
	uint64_t counter;	     // the greatest of all signatures
	struct advertised *at;	     // where the next look continues; NULL: at the beginning
	int64_t next_ns, soonest_ns; // time of the next look; earliest time that this look found so
				     // far
};

void hs_in_band_advertised_init(struct in_band_advertised *all, struct in_band_base *base);
// Prepares the requests that are due.
void hs_in_band_advertised_step(struct in_band_advertised *all);
void hs_in_band_advertised_shift(struct in_band_advertised *all, int64_t by_ns);

// These functions take a slot that has a rule.
void hs_in_band_advertised_begin(struct in_band_advertised *all, uint32_t slot);
void hs_in_band_advertised_changed(struct in_band_advertised *all, uint32_t slot);
void hs_in_band_advertised_end(struct in_band_advertised *all, uint32_t slot);
