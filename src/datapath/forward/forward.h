// SPDX-License-Identifier: BSD-3-Clause
// Where packets go: by pairs of ports, by learnt MAC addresses, or by routes.
//
// Thread rule: owner lcore.
#pragma once

#include "stage.h"

// Chooses out[i] for each packet, as the worker's forward_kind says.
void hs_forward(struct hs_worker *worker, struct hs_burst *burst);

// Does the same for a node that lowers the MSS of TCP connections.
void hs_forward_and_clamp(struct hs_worker *worker, struct hs_burst *burst);

// Chooses out[i] at a router. Packets that go on get new MAC addresses and a lower hop limit.
void hs_forward_route(struct hs_worker *worker, struct hs_burst *burst);
