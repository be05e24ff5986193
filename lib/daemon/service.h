// SPDX-License-Identifier: BSD-3-Clause
// A program that serves until a signal ends it: how it starts, gives up privileges, reports to the
// service manager and stops.
//
// Thread rule: the main thread, once per process.
#pragma once

#include "boot_id.h"
#include "error.h"
#include "exit_code.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_service {
	const char *program; // name that a user calls
	const char *module;  // in lines of the log
	bool sandbox;
	uint64_t privileges; // capabilities that are kept (privileges.h)
	unsigned syscalls;   // groups of system calls that are allowed (syscall_filter.h)

	// Opens everything in order. If this fails, *exit_code is what the process ends with:
	// HS_EXIT_FAILED, if `open` does not change it. System calls are filtered afterwards, when
	// all threads exist.
	int (*open)(void *context, int *exit_code, struct hs_error *err);
	void (*ready)(void *context); // logs that it is ready
	void (*serve)(void *context); // returns when hs_service_ends
	void (*close)(void *context); // closes what is open
	void *context;

	char boot_id[HS_BOOT_ID_BYTES];
	int signal_fd; // becomes readable with a signal that ends the program
	bool filtered; // whether system calls are filtered
};

// For parts of `open` that end the process with another code than HS_EXIT_FAILED: sets *exit_code
// if `rc` says that the part failed. Returns `rc`.
static inline int hs_service_exit_with(int if_failed, int rc, int *exit_code)
{
	if (rc != 0)
		*exit_code = if_failed;
	return rc;
}

// Runs until SIGTERM, SIGINT or SIGQUIT; a second signal exits at once. Returns the exit code. The
// log contains any error.
int hs_service_run(struct hs_service *service);

// Returns whether a signal came. Logs it.
bool hs_service_ends(const struct hs_service *service);

void hs_service_say_error(const struct hs_service *service, const struct hs_error *err);
