// SPDX-License-Identifier: BSD-3-Clause
// The controller as a process: sockets, signals and time around hs_fleet.
//
// Thread rule: the main thread, once per process.
#pragma once

#include "exit_code.h"
#include "fleet_config.h"

// Runs until SIGTERM, SIGINT or SIGQUIT; a second one exits at once. Returns the exit code; what
// went wrong is in the log.
int hs_fleet_daemon_run(const struct hs_fleet_config *config);

// What a configuration says of sockets, checked without opening any. 0 or -EINVAL with *err.
int hs_fleet_daemon_check(const struct hs_fleet_config *config, struct hs_error *err);
