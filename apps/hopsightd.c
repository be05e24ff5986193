// SPDX-License-Identifier: BSD-3-Clause
// One node on real ports.
#include "daemon_options.h"

#include "clean_stdio.h"
#include "config.h"
#include "daemon.h"

#include <rte_version.h>

#include <getopt.h>
#include <stdio.h>

static const struct daemon_program program = {
		.name = "hopsightd",
		.environment = "HOPSIGHT_CONFIG",
		.config_help = "configuration of the node",
		.exit_codes = "Exit codes: 0 done, 1 failed at run time, 2 bad usage or "
			      "configuration,\n"
			      "3 a port cannot be opened.",
		.takes_eal_words = true,
};

static int run(const struct daemon_options *options, const struct hs_config *config, int argc,
		char **argv)
{
	if (options->print)
		return daemon_print_config(hs_config_print(config));
	if (options->check)
		return HS_EXIT_OK;
	daemon_start_log(options);
	return hs_daemon_run(config, argc, argv);
}

int main(int argc, char **argv)
{
	struct daemon_options options;
	struct hs_config config;
	struct hs_error err = {0};

	if (hs_clean_stdio("\n\t"))
		return HS_EXIT_FAILED;
	if (daemon_read_options(&program, argc, argv, &options) < 0)
		return HS_EXIT_USAGE;
	if (options.help) {
		daemon_print_help(&program);
		return HS_EXIT_OK;
	}
	if (options.version) {
		printf("hopsightd %s, %s\n", HS_VERSION, rte_version());
		return HS_EXIT_OK;
	}
	if (hs_config_load(options.config, NULL, &config, &err) < 0) {
		daemon_say_error(options.config, &err);
		return HS_EXIT_USAGE;
	}
	int code = run(&options, &config, argc - optind, argv + optind);
	hs_config_fini(&config);
	return code;
}
