// SPDX-License-Identifier: BSD-3-Clause
// hs_profile.settings of the family probe: the same at all ports of a node.
//
// Thread rule: constant while workers run.
#pragma once

#include "probe.h"

#include <stdbool.h>

struct hs_probe_profile {
	struct hs_probe_settings wire;
	bool recovery;	      // feedback, copies and recovery packets (SQR)
	uint8_t monitor_port; // the number of the port that leads to the monitor; 0: as the node
			      // forwards other packets
	uint32_t held;	    // copies that a worker holds at most
	uint32_t rate_pps;  // packets of probes from a port
	int64_t timeout_ns; // t_f: the time that a copy waits for feedback
	int64_t seen_ns;    // the time that a request ID is remembered
};
