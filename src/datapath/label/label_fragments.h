// SPDX-License-Identifier: BSD-3-Clause
// Labelled packets that a router fragmented. Only the first fragment has items, and every one has
// INT_TYPE: where items end, fragments wait until their packet is whole. Then the packet takes the
// place of the fragment that came last, and the fragments end as HS_DROP_FRAGMENT_JOINED.
//
// A fragment counts as handed to the port that its packet leaves by, where it is among the queued
// ones (port_counters.h). A packet that is put together is one of the copies of the port that its
// last fragment came by. A packet that is flooded waits at the port that it came by.
//
// librte_ip_frag does the work. What it does not look at is checked here: whether lengths add up,
// and whether all fragments are of one network and leave by one port.
//
// Source: RFC 791 sections 2.3 and 3.2; RFC 3168 section 5.3.
// Thread rule: owner lcore. Create, destroy and drop_all by control, while no worker runs.
#pragma once

#include "worker.h"

#include <rte_branch_prediction.h>

// Bounds of a worker. A packet may have eight fragments (RTE_LIBRTE_IP_FRAG_MAX_FRAG).
#define HS_LABEL_WAITING_PACKETS 128
#define HS_LABEL_WAITING_BUFFERS 512
#define HS_LABEL_WAIT_NS	 INT64_C(500000000) // from a packet's first fragment on

struct hs_label_fragments;

// Creates a worker's fragments. Returns NULL without memory. hs_label_fragments_destroy accepts
// NULL; no fragment may wait.
struct hs_label_fragments *hs_label_fragments_create(void);
void hs_label_fragments_destroy(struct hs_label_fragments *own);
// Returns the EAL memory of a worker's fragments.
uint64_t hs_label_fragments_bytes(void);

// Implements hs_family.join.
unsigned hs_label_join(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, const struct hs_port *out);

// Drops the fragments that have waited too long. Called in each round of a worker at which
// fragments wait.
void hs_label_fragments_serve(struct hs_worker *worker);
// Returns the steady time at which hs_label_fragments_serve is due. INT64_MAX: nothing waits.
int64_t hs_label_fragments_next_ns(const struct hs_label_fragments *own);
// Drops all fragments that wait, as HS_DROP_PORT_DOWN.
void hs_label_fragments_drop_all(struct hs_worker *worker);
