// SPDX-License-Identifier: BSD-3-Clause
// The counters of the packets of one port, at one worker or in sum.
//
// Thread rule: any; values.
#pragma once

#include "drop.h"

#include <stdint.h>

// Summed over workers, at all times between bursts:
//   rx_packets + copies = forwarded + the drops before transmission (counted where it came in)
//   offered = tx_packets + queued + the drops at transmission (counted where it should have
//   gone)
//   sum of forwarded over ports = sum of offered over ports
struct hs_port_counters { // 64-bit words only
	uint64_t rx_packets, rx_bytes;
	uint64_t copies;    // of flooded packets that this port received; reports that it is to
			    // send; feedback and recovery packets of probes; packets that were put
			    // together of fragments
	uint64_t forwarded; // handed to some port for transmission
	uint64_t offered;   // handed to this port for transmission
	uint64_t queued;    // packets that wait in this port's egress queue now, and fragments of
			    // labelled packets that wait for others
	uint64_t tx_packets, tx_bytes;
	uint64_t drops[HS_DROP_COUNT];
	uint64_t events[HS_EVENT_COUNT];
};
