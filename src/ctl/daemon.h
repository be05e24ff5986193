// SPDX-License-Identifier: BSD-3-Clause
// One node on real ports: everything that hopsightd opens, its control loop, and the way down.
//
// Thread rule: the main thread, once per process.
#pragma once

#include "config.h"
#include "exit_code.h"

// Runs until SIGTERM, SIGINT or SIGQUIT; a second one exits at once. argv: words for EAL. Returns
// the exit code; what went wrong is in the log.
int hs_daemon_run(const struct hs_config *config, int argc, char **argv);
