// SPDX-License-Identifier: BSD-3-Clause
// One node on real ports: everything that hopsightd opens, its control loop, and its end.
//
// Thread rule: the main thread, once per process.
#pragma once

#include "config.h"
#include "exit_code.h"

// Runs until SIGTERM, SIGINT or SIGQUIT; a second signal exits at once. argv has words for EAL.
// Returns the exit code. The log contains any error.
int hs_daemon_run(const struct hs_config *config, int argc, char **argv);
