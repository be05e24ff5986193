// SPDX-License-Identifier: BSD-3-Clause
// The controller of many nodes.
#include "daemon_options.h"

#include "clean_stdio.h"
#include "fleet.h"
#include "fleet_daemon.h"

#include <errno.h>
#include <stdio.h>

static const struct daemon_program program = {
		.name = "hopsight-controller",
		.environment = "HOPSIGHT_CONTROLLER_CONFIG",
		.config_help = "configuration",
		.exit_codes = "Exit codes: 0 done, 1 failed at run time, 2 bad usage or "
			      "configuration.",
};

// A fleet that sends nothing checks the requests of the configuration.
static int send_nothing(void *context, unsigned node, const char *text, size_t len)
{
	(void)context, (void)node, (void)text, (void)len;
	return -EAGAIN;
}

static int check(const struct hs_fleet_config *config, struct hs_error *err)
{
	struct hs_fleet_output output = {.send = send_nothing};
	struct hs_fleet *fleet = NULL;
	int rc = hs_fleet_daemon_check(config, err);

	if (rc == 0)
		rc = hs_fleet_create(config, "check", &output, 0, &fleet, err);
	hs_fleet_destroy(fleet);
	return rc;
}

static int run(const struct daemon_options *options, const struct hs_fleet_config *config)
{
	struct hs_error err = {0};

	if (check(config, &err) < 0) {
		daemon_say_error(options->config, &err);
		return HS_EXIT_USAGE;
	}
	if (options->print)
		return daemon_print_config(hs_fleet_config_print(config));
	if (options->check)
		return HS_EXIT_OK;
	daemon_start_log(options);
	return hs_fleet_daemon_run(config);
}

int main(int argc, char **argv)
{
	struct daemon_options options;
	struct hs_fleet_config config;
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
		printf("hopsight-controller %s\n", HS_VERSION);
		return HS_EXIT_OK;
	}
	if (hs_fleet_config_load(options.config, &config, &err) < 0) {
		daemon_say_error(options.config, &err);
		return HS_EXIT_USAGE;
	}
	int code = run(&options, &config);
	hs_fleet_config_fini(&config);
	return code;
}
