// SPDX-License-Identifier: BSD-3-Clause
// Exit codes of the programs.
#pragma once

enum {
	HS_EXIT_OK = 0,
	HS_EXIT_FAILED = 1, // failed at run time
	HS_EXIT_USAGE = 2,  // bad usage or configuration
	HS_EXIT_PORTS = 3,  // a port cannot be opened, or a node cannot be reached
};
