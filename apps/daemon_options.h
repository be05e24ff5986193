// SPDX-License-Identifier: BSD-3-Clause
// The main function of a program that serves from a configuration file: its command line, and what
// it prints about the file.
#pragma once

#include "errors.h"
#include "exit_code.h"

#include <jansson.h>
#include <stdbool.h>

struct daemon_program {
	const char *name;
	const char *version;	 // text of --version
	const char *environment; // names the file if --config does not
	const char *config_help; // help text of --config
	const char *exit_codes;	 // the last lines of the help
	bool takes_eal_words;	 // accepts words for DPDK's EAL after --

	// Reads and checks the configuration, which the program keeps. Returns 0, or a negative
	// errno with *errors.
	int (*load)(const char *file, struct hs_errors *errors);
	// Adds what the configuration names and the machine does not have.
	void (*lacks)(struct hs_errors *lacks);
	json_t *(*print)(void);		   // the configuration; NULL is a failure
	int (*run)(int argc, char **argv); // argv has words for EAL; returns an exit code
	void (*fini)(void);
};

// Runs the program from its command line to its end. Returns an exit code.
int daemon_main(const struct daemon_program *program, int argc, char **argv);
