// SPDX-License-Identifier: BSD-3-Clause
// The command line of a program that serves from a configuration file, and what the program prints
// about the file.
#pragma once

#include "error.h"

#include <jansson.h>
#include <stdbool.h>

struct daemon_program {
	const char *name;
	const char *environment; // names the file if --config does not
	const char *config_help; // help text of --config
	const char *exit_codes;	 // the last lines of the help
	bool takes_eal_words;	 // accepts words for DPDK's EAL after --
};

struct daemon_options {
	const char *config;
	bool check, print, json, version, help;
	unsigned verbose;
};

void daemon_print_help(const struct daemon_program *program);

// Returns 0 with optind at the words for EAL, or -EINVAL after an error message. `config` is
// borrowed from argv or from the environment.
int daemon_read_options(const struct daemon_program *program, int argc, char **argv,
		struct daemon_options *options);

// Configures the log as the options say.
void daemon_start_log(const struct daemon_options *options);

void daemon_say_error(const char *file, const struct hs_error *err);

// Prints a configuration and takes ownership of it; NULL is a failure. Returns an exit code.
int daemon_print_config(json_t *config);
