// SPDX-License-Identifier: BSD-3-Clause
// How a worker rests when its queues are empty: spins, or sleeps until a packet or a short time.
//
// `iface` ports on af_packet have a second packet socket of the interface whose filter accepts
// nothing while the worker is busy; arming lets one packet through to wake the sleeper. af_xdp
// ports are polled on their own XDP socket. Ports without any wake-up bound the sleep to 1 ms.
//
// Thread rule: owner lcore, except create, destroy and add_port (control, before the worker runs or
// while it is quiescent).
#pragma once

#include "port.h"

struct hs_idle;

int hs_idle_create(bool adaptive, struct hs_idle **idle);
void hs_idle_destroy(struct hs_idle *idle);
int hs_idle_add_port(struct hs_idle *idle, struct hs_port *port);
void hs_idle_remove_port(struct hs_idle *idle, struct hs_port *port);

// Called after every round over the worker's queues. Cheap while there is work.
void hs_idle_work(struct hs_idle *idle);
// True when the worker has been idle long enough to sleep: it arms, polls its queues once more,
// and calls hs_idle_sleep if they are still empty, hs_idle_work if not.
bool hs_idle_should_arm(struct hs_idle *idle);
void hs_idle_arm(struct hs_idle *idle);
void hs_idle_sleep(struct hs_idle *idle);
// Ends a sleep from another thread (stop, new configuration).
void hs_idle_wake(struct hs_idle *idle);
