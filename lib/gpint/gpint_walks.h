// SPDX-License-Identifier: BSD-3-Clause
// Walks over a network while a plan is made, and changes of them. For lib/gpint.
//
// Thread rule: owner.
#pragma once

#include "gpint_net.h"
#include "ip.h"
#include "probe.h"

// The bytes of a probe's IP packet without entries, hops and values.
#define HS_GPINT_HEAD_BYTES (HS_IPV4_BYTES + HS_PROBE_UDP_BYTES + HS_PROBE_BYTES)

struct hs_gpint_walk {
	uint32_t n; // 1 or more
	uint32_t room;
	uint32_t *at; // switches, each a neighbour of the next
};

struct hs_gpint_walks {
	const struct hs_gpint_net *net;
	uint32_t max_bytes; // of a probe at the end of a walk
	uint32_t n;
	struct hs_gpint_walk *walks; // room for all switches, or all links
	uint32_t *visits;	     // of each switch, by all walks
	uint32_t *home;		     // of each switch: a walk that visits it
	uint32_t *seen, round;	     // scratch: the round in which a switch was seen
	uint32_t *made[2];	     // scratch: the switches of two walks
	size_t made_room;
};

// Returns 0 or -ENOMEM. Call fini in any case.
int hs_gpint_walks_init(
		struct hs_gpint_walks *walks, const struct hs_gpint_net *net, uint32_t max_bytes);
void hs_gpint_walks_fini(struct hs_gpint_walks *walks);

// Returns the bytes of a probe that visits these switches: the values of each count once.
uint32_t hs_gpint_walks_bytes(struct hs_gpint_walks *walks, const uint32_t *at, uint32_t n);

// Adds a walk of these switches. Returns 0 or -ENOMEM.
int hs_gpint_walks_add(struct hs_gpint_walks *walks, const uint32_t *at, uint32_t n);
// Replaces the switches of a walk. Returns 0 or -ENOMEM; nothing has changed then.
int hs_gpint_walks_set(struct hs_gpint_walks *walks, uint32_t walk, const uint32_t *at, uint32_t n);
// Removes a walk; the last walk takes its place.
void hs_gpint_walks_remove(struct hs_gpint_walks *walks, uint32_t walk);
void hs_gpint_walks_reverse(struct hs_gpint_walks *walks, uint32_t walk);
// Divides a walk of two switches or more in the middle. Returns 0 or -ENOMEM.
int hs_gpint_walks_divide(struct hs_gpint_walks *walks, uint32_t walk);

// A part of a walk, backwards where last is below first.
struct hs_gpint_piece {
	uint32_t walk, first, last;
};
// A change of two walks: the pieces of present walks that each becomes. If only the first walk
// changes, the second has no pieces.
#define HS_GPINT_PIECES 4
struct hs_gpint_change {
	uint32_t walks[2];
	unsigned n[2];
	struct hs_gpint_piece pieces[2][HS_GPINT_PIECES];
};

// Returns by how much the sum of the squares of the lengths falls.
int64_t hs_gpint_walks_gain(
		const struct hs_gpint_walks *walks, const struct hs_gpint_change *change);
// Makes the change. Returns 1, or -ENOMEM. Returns 0 if the ends of two pieces are no neighbours, a
// probe would be too large, or a switch would have no visit.
int hs_gpint_walks_apply(struct hs_gpint_walks *walks, const struct hs_gpint_change *change);
