// SPDX-License-Identifier: BSD-3-Clause
// The DPDK ports of a collector: EAL, buffers, and interfaces that come and go. Without ports, EAL
// is not started.
//
// Thread rule: the control thread.
#pragma once

#include "collector_parts.h"

#include <poll.h>

struct hs_collector_ports;

// Starts EAL, with the options of `argv`, and opens the ports of the configuration. Without ports
// *ports is NULL, which every function here accepts. Returns 0, or a negative errno with *err.
int hs_collector_ports_open(struct hs_collector *collector, int argc, char **argv,
		struct hs_collector_ports **ports, struct hs_error *err);
// Closes the ports. The collecting thread must have stopped.
void hs_collector_ports_close(struct hs_collector_ports *ports);
// Holds DPDK's interrupt thread if a driver needs it. Called before the collecting thread starts.
int hs_collector_ports_hold(struct hs_collector_ports *ports, struct hs_error *err);

// Lists the descriptors to wait for: *n of `fds`, at most 2.
void hs_collector_ports_fds(
		const struct hs_collector_ports *ports, struct pollfd *fds, unsigned *n);
// Handles the descriptors that became ready, and looks at devices once a second.
void hs_collector_ports_look(struct hs_collector_ports *ports, int64_t steady_ns);
