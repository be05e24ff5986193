// SPDX-License-Identifier: BSD-3-Clause
// How a worker behaves when its queues are empty: it spins, it rests for a short time, or it sleeps
// until a packet comes or a time has passed (pace.h has the rule).
//
// `iface` ports are polled on the sockets that their driver receives from, which costs nothing
// while the worker is busy. Ports without a wake-up limit the sleep to 2 ms, and to less soon after
// a packet. Memif ports set the same limits until their bell rings (memif_bell.h): then the limit
// is 20 ms for those of one queue.
//
// The loop is: if a round brought packets, call hs_idle_work. If not, do as hs_idle_next says: for
// HS_PACE_REST, call hs_idle_rest; for HS_PACE_SLEEP, call hs_idle_arm, run one more round, and
// call hs_idle_sleep if that round was also empty.
//
// Without EAL, the time of DPDK is not known: a worker then sleeps after its first empty round.
//
// Thread rule: owner lcore, except create, destroy, add and remove (control) and wake (any).
#pragma once

#include "pace.h"
#include "port.h"

struct hs_idle;

// Creates the state of one worker. If not adaptive, the worker never sleeps. Returns 0 or a
// negative errno. hs_idle_destroy accepts NULL.
int hs_idle_create(bool adaptive, struct hs_idle **idle);
void hs_idle_destroy(struct hs_idle *idle);

// Adds queues that the worker polls: all of a port's, or one. This works while the worker runs or
// sleeps. When remove returns, the worker no longer sleeps on the port, so that the port may be
// detached.
int hs_idle_add_port(struct hs_idle *idle, struct hs_port *port);
int hs_idle_add_queue(struct hs_idle *idle, struct hs_port *port, uint16_t queue);
// Adds a descriptor that is readable when there is work, for example a socket. The descriptor is
// never removed.
int hs_idle_add_fd(struct hs_idle *idle, int fd);
void hs_idle_remove_port(struct hs_idle *idle, struct hs_port *port);

// Call this after a round that brought packets.
void hs_idle_work(struct hs_idle *idle, unsigned packets);
// Call this after an empty round. Returns what the worker should do: HS_PACE_SPIN if not adaptive.
enum hs_pace_step hs_idle_next(struct hs_idle *idle);
void hs_idle_arm(struct hs_idle *idle);
// Sleep or rest for at most limit_ns, and not at all if limit_ns is less than a sleep costs.
// Packets end a sleep but no rest. hs_idle_wake ends both.
void hs_idle_sleep(struct hs_idle *idle, int64_t limit_ns);
void hs_idle_rest(struct hs_idle *idle, int64_t limit_ns);
// Sleeps for this time even if packets come, so that more packets come together. Only hs_idle_wake
// ends the sleep. Does nothing if not adaptive.
void hs_idle_nap(struct hs_idle *idle, int64_t ns);
// Ends a sleep from another thread (stop, new configuration).
void hs_idle_wake(struct hs_idle *idle);
