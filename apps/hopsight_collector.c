// SPDX-License-Identifier: BSD-3-Clause
// A collector of telemetry reports.
#include "daemon_options.h"

#include "collector_config.h"
#include "collector_daemon.h"

#include <rte_version.h>

#include <stdio.h>

static struct hs_collector_config config;

static int load(const char *file, struct hs_errors *errors)
{
	return hs_collector_config_load(file, NULL, &config, errors);
}

static void say_lacks(struct hs_errors *lacks)
{
	hs_config_lacks(&config.base, lacks);
}

static json_t *print(void)
{
	return hs_collector_config_print(&config);
}

static int run(int argc, char **argv)
{
	return hs_collector_daemon_run(&config, argc, argv);
}

static void fini(void)
{
	hs_collector_config_fini(&config);
}

int main(int argc, char **argv)
{
	char version[64];
	const struct daemon_program program = {
			.name = "hopsight-collector",
			.version = version,
			.environment = "HOPSIGHT_COLLECTOR_CONFIG",
			.config_help = "configuration",
			.exit_codes = "Exit codes: 0 done, 1 failed at run time, 2 bad usage or "
				      "configuration,\n"
				      "3 a port or socket cannot be opened.",
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
