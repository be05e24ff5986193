// SPDX-License-Identifier: BSD-3-Clause
// The collector as a process: sockets, ports, threads, signals and time.
//
// Thread rule: the main thread, once per process.
#pragma once

#include "collector_config.h"

// Runs until SIGTERM, SIGINT or SIGQUIT; a second signal exits at once. `argv` has options for EAL.
// Returns the exit code. The log contains any error.
int hs_collector_daemon_run(const struct hs_collector_config *config, int argc, char **argv);
