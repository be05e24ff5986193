// SPDX-License-Identifier: BSD-3-Clause
// A datagram for one receiver: how it is made, numbered, and sent. For exporter.c and export_*.c
// only.
//
// Thread rule: owner lcore.
#pragma once

#include "exporter_parts.h"

// Makes the report for one receiver, if the receiver's quota has room. Returns false if no report
// was made, and counts why.
bool hs_export_put(struct hs_worker *worker, struct hs_export_target *target,
		enum hs_export_kind kind, const struct hs_int_report *report,
		const struct rte_mbuf *packet, struct hs_export_flow *of);

// The steps of hs_export_put, for reports that are written in another way. hs_export_take_places
// returns for how many of n <= HS_BURST reports the quota has room; target->mbufs then has room for
// them, too. hs_export_put_made takes a datagram. `made` NULL: there was no buffer.
unsigned hs_export_take_places(struct hs_worker *worker, struct hs_export_target *target,
		enum hs_export_kind kind, unsigned n);
void hs_export_complete(const struct hs_export_target *target, struct hs_int_report *report);
bool hs_export_put_made(struct hs_worker *worker, struct hs_export_target *target,
		struct rte_mbuf *made, struct hs_export_flow *of);

// Sends the datagrams that wait for the receiver.
void hs_export_send(struct hs_worker *worker, struct hs_export_target *target);
