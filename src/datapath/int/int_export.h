// SPDX-License-Identifier: BSD-3-Clause
// Reports to collectors (exporter.h) of packets with INT, or with a rule (INT-XD).
//
// Thread rule: owner lcore.
#pragma once

#include "worker.h"

#include <rte_branch_prediction.h>

// Reports packet i at the source of INT-MX, which asks for `asked` and inserts `growth` bytes.
void hs_int_export_source(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out, uint16_t asked, size_t growth);

// Reports packet i in transit, if the packet asks for a report: INT-MX.
void hs_int_export_transit(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out);

// Packets of INT-MX in transit whose reports differ only in the packet.
struct hs_int_export_run {
	unsigned first; // index of the first one in the burst
	unsigned n;
	uint16_t asked;			    // what all of them ask for
	struct rte_mbuf *packets[HS_BURST]; // not sent yet
};
// Returns whether packets by `out` can be such a run: no egress queue makes each differ, and no
// receiver compares their reports.
bool hs_int_export_may_run(const struct hs_worker *worker, const struct hs_port *out);
// Returns whether some receiver wants reports of such packets.
bool hs_int_export_wants_run(const struct hs_worker *worker);
// Reports the packets as hs_int_export_transit does.
void hs_int_export_run(struct hs_worker *worker, struct hs_burst *burst, const struct hs_port *out,
		const struct hs_int_export_run *run);

// Reports packet i where its telemetry ends: the stack is in the copy of the packet. `out` NULL:
// several ports, or a port that is not known.
void hs_int_export_end(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out);

// Reports packet i, which is due, of a rule: INT-XD.
void hs_int_export_watched(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);

// Does the same for those of the packets [first, end) that are due.
void hs_int_watch(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out);
