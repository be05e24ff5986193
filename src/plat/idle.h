// SPDX-License-Identifier: BSD-3-Clause
// How a worker rests when its queues are empty: spins, or sleeps until a packet or a short time.
//
// `iface` ports are polled on the very sockets that their driver receives from, which costs nothing
// while the worker is busy. Ports without any wake-up bound the sleep to 1 ms.
//
// The loop: if a round brought packets, hs_idle_work; if not and hs_idle_should_arm, then
// hs_idle_arm, one more round, and hs_idle_sleep if that was empty too.
//
// Thread rule: owner lcore, except create, destroy, add and remove (control) and wake (any).
#pragma once

#include "port.h"

struct hs_idle;

// Not adaptive: never sleeps. 0 or negative errno; destroy accepts NULL.
int hs_idle_create(bool adaptive, struct hs_idle **idle);
void hs_idle_destroy(struct hs_idle *idle);

// Queues that the worker polls: all of a port's, or one. Also while the worker runs or sleeps; when
// remove returns, the worker no longer sleeps on the port, so that it may be detached.
int hs_idle_add_port(struct hs_idle *idle, struct hs_port *port);
int hs_idle_add_queue(struct hs_idle *idle, struct hs_port *port, uint16_t queue);
void hs_idle_remove_port(struct hs_idle *idle, struct hs_port *port);

// Called after a round that brought packets.
void hs_idle_work(struct hs_idle *idle);
// Called after an empty round. True when the worker has been idle long enough to sleep: it arms,
// polls its queues once more, and calls hs_idle_sleep if they are still empty, hs_idle_work if not.
bool hs_idle_should_arm(struct hs_idle *idle);
void hs_idle_arm(struct hs_idle *idle);
void hs_idle_sleep(struct hs_idle *idle);
// Ends a sleep from another thread (stop, new configuration).
void hs_idle_wake(struct hs_idle *idle);
