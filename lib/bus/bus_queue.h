// SPDX-License-Identifier: BSD-3-Clause
// Requests that were received and not yet handed on. Each connection has a row and the rows take
// turns, so that a client that sends many requests delays nobody else. The row of a client that
// does not take its replies is skipped. The gate's credit limits what waits here. For lib/bus only.
//
// Thread rule: owner.
#pragma once

#include "bus_gate.h"
#include "bus_route.h"

#include <stdbool.h>

// Requests of one connection that were handed on and not yet answered.
#define HS_BUS_UNDER_WAY 256

struct hs_bus_queue;

// Returns NULL if memory is out.
struct hs_bus_queue *hs_bus_queue_create(struct hs_bus_gate *gate);
void hs_bus_queue_destroy(struct hs_bus_queue *queue);

// Takes ownership of the route. Returns false if memory is out; the caller then still owns the
// route.
bool hs_bus_queue_put(struct hs_bus_queue *queue, struct hs_bus_route *route);
// Returns the next request whose turn it is and that may be handed on, or NULL if there is none
// now.
struct hs_bus_route *hs_bus_queue_next(struct hs_bus_queue *queue);
// Notes that a request that was handed on has been answered or dropped. `row` is that of its route.
void hs_bus_queue_done(struct hs_bus_queue *queue, struct hs_bus_row *row);
// Returns whether hs_bus_queue_next would return a request. If not, the gate's descriptor becomes
// readable when a client has taken its replies.
bool hs_bus_queue_is_ready(struct hs_bus_queue *queue);
