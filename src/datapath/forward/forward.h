// SPDX-License-Identifier: BSD-3-Clause
// Where packets go: by pairs of ports, by MAC addresses that were learnt, by routes.
//
// Thread rule: owner lcore.
#pragma once

#include "stage.h"

// Chooses out[i] for each packet, as the worker's forward_kind says.
void hs_forward(struct hs_worker *worker, struct hs_burst *burst);

// The same for a node that lowers the MSS of TCP connections.
void hs_forward_and_clamp(struct hs_worker *worker, struct hs_burst *burst);

// Of a router; also gives what goes on its new addresses and hop limit.
void hs_forward_route(struct hs_worker *worker, struct hs_burst *burst);
