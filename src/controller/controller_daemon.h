// SPDX-License-Identifier: BSD-3-Clause
// The controller as a process: sockets, signals and time around hs_controller.
//
// Thread rule: the main thread, once per process.
#pragma once

#include "controller_config.h"
#include "exit_code.h"

// Runs until SIGTERM, SIGINT or SIGQUIT; a second signal exits at once. Returns the exit code. The
// log contains any error.
int hs_controller_daemon_run(const struct hs_controller_config *config);

// Checks what a configuration says about sockets, without opening any. Keeps the errors.
void hs_controller_daemon_check(
		const struct hs_controller_config *config, struct hs_errors *errors);
