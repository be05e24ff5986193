// SPDX-License-Identifier: BSD-3-Clause
// Requests that were received and not yet handed on: a row for each connection, each row in its
// turn, so that who sends many keeps nobody else waiting. A row whose client leaves its replies
// stands still. What waits here is bounded by the gate's credit. For lib/bus only.
//
// Thread rule: owner.
#pragma once

#include "bus_gate.h"
#include "bus_route.h"

#include <stdbool.h>

// Requests of one connection that were handed on and not yet answered.
#define HS_BUS_UNDER_WAY 256

struct hs_bus_queue;

// NULL: memory is out.
struct hs_bus_queue *hs_bus_queue_create(struct hs_bus_gate *gate);
void hs_bus_queue_destroy(struct hs_bus_queue *queue);

// Takes the route over. False, and it is the caller's still: memory is out.
bool hs_bus_queue_put(struct hs_bus_queue *queue, struct hs_bus_route *route);
// The next one whose turn it is and that may be handed on; NULL: there is none now.
struct hs_bus_route *hs_bus_queue_next(struct hs_bus_queue *queue);
// One that was handed on is answered or dropped; `row` is its route's.
void hs_bus_queue_done(struct hs_bus_queue *queue, struct hs_bus_row *row);
// Would hs_bus_queue_next have one? If not, the gate's descriptor tells when a client has taken
// its replies.
bool hs_bus_queue_is_ready(struct hs_bus_queue *queue);
