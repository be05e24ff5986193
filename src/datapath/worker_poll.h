// SPDX-License-Identifier: BSD-3-Clause
// The path of a burst, from a receive queue through the stages to the transmit queues.
//
// Thread rule: owner lcore.
#pragma once

#include "stage.h"
#include "worker.h"

// Receives one burst from a queue and takes it to completion. Returns packets received.
unsigned hs_worker_poll_queue(struct hs_worker *worker, struct hs_port *port, uint16_t queue);

// Ends a round of all queues.
static inline void hs_worker_end_round(struct hs_worker *worker)
{
	if (unlikely(worker->kept))
		hs_send_kept(worker);
}
