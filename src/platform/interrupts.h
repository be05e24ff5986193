// SPDX-License-Identifier: BSD-3-Clause
// Controls when DPDK's interrupt thread runs. Drivers let it do work whenever a descriptor is
// ready. The work of net_memif (22.11) unmaps a link's rings when the peer leaves, even while a
// worker processes a burst on them. A held thread does nothing until it is released, at a moment in
// which no worker is inside a burst.
//
// Thread rule: control, one for the process.
#pragma once

// Holds the thread permanently, or until hs_interrupts_pass. A second call does nothing. Returns 0,
// or a negative errno; the thread then stays free.
int hs_interrupts_hold(void);
// Returns a descriptor that is readable if the held thread has work, or -1 if the thread is not
// held. The descriptor changes with each hs_interrupts_pass.
int hs_interrupts_fd(void);
// Lets the held thread do some of its waiting work. Returns when the thread is held again.
// hs_interrupts_fd shows remaining work. No worker may be inside a burst.
void hs_interrupts_pass(void);
