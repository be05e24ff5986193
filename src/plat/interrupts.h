// SPDX-License-Identifier: BSD-3-Clause
// DPDK's interrupt thread on a leash. It runs what drivers want done when a descriptor says so, at
// any time; that of net_memif (22.11) unmaps a link's rings when the peer leaves, also while a
// worker is inside a burst on them. Held, the thread does nothing until it is let go, which is for
// a moment in which no worker is inside a burst.
//
// Thread rule: control, one for the process.
#pragma once

// Holds the thread, for good or until hs_interrupts_pass. Again: nothing. 0, or negative errno: it
// is as free as before.
int hs_interrupts_hold(void);
// A descriptor that is readable when the held thread has something to do; -1: it is not held.
// Another one after each hs_interrupts_pass.
int hs_interrupts_fd(void);
// Lets the held thread do some of what waits for it; returns when it is held again. What is left
// shows in hs_interrupts_fd. No worker may be inside a burst.
void hs_interrupts_pass(void);
