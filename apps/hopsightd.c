// SPDX-License-Identifier: BSD-3-Clause
// One node on real ports.
#include "daemon_options.h"

#include "config_read.h"
#include "daemon.h"

#include <rte_version.h>

#include <stdio.h>

static struct hs_config config;

static int load(const char *file, struct hs_errors *errors)
{
	return hs_config_load(file, NULL, &config, errors);
}

static void say_lacks(struct hs_errors *lacks)
{
	hs_config_lacks(&config, lacks);
}

static json_t *print(void)
{
	return hs_config_print(&config);
}

static int run(int argc, char **argv)
{
	return hs_daemon_run(&config, argc, argv);
}

static void fini(void)
{
	hs_config_fini(&config);
}

int main(int argc, char **argv)
{
	char version[64];
	const struct daemon_program program = {
			.name = "hopsightd",
			.version = version,
			.environment = "HOPSIGHT_CONFIG",
			.config_help = "configuration of the node",
			.exit_codes = "Exit codes: 0 done, 1 failed at run time, 2 bad usage or "
				      "configuration,\n"
				      "3 a port cannot be opened.",
			.takes_eal_words = true,
			.load = load,
			.lacks = say_lacks,
			.print = print,
			.run = run,
			.fini = fini,
	};

	snprintf(version, sizeof(version), HS_VERSION ", %s", rte_version());
	return daemon_main(&program, argc, argv);
}
