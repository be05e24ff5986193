// SPDX-License-Identifier: BSD-3-Clause
// Reports that control sends: their way from a worker, and what control does with them.
//
// Thread rule: as each function says.
#pragma once

#include "export_values.h"

struct hs_export_outlet;
struct hs_export_target;
struct hs_exporter;
struct hs_worker;

// ---- for the exporter ----

// Creates the ring to control. Returns NULL without memory.
struct hs_export_outlet *hs_export_outlet_create(void);
// Frees the outlet and the datagrams that wait. `outlet` may be NULL.
void hs_export_outlet_destroy(struct hs_export_outlet *outlet);
// Hands the target's datagrams to control. Returns how many of them, from the first on, found a
// place.
unsigned hs_export_hand_over(struct hs_worker *worker, struct hs_export_target *target);

// ---- control ----

// Passes up to n datagrams for a receiver without a port to `send`. Each has the number that
// follows the last one sent. Returns how many were sent or lost; the others wait.
unsigned hs_exporter_send(struct hs_exporter *exporter, unsigned receiver, unsigned n,
		hs_export_send_fn send, void *context);
// Returns how many datagrams for receivers without a port wait.
unsigned hs_exporter_waiting(const struct hs_exporter *exporter);
