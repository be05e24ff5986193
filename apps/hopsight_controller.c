// SPDX-License-Identifier: BSD-3-Clause
// The controller of many nodes.
#include "daemon_options.h"

#include "clean_stdio.h"
#include "controller.h"
#include "controller_daemon.h"

#include <errno.h>
#include <stdio.h>

static const struct daemon_program program = {
		.name = "hopsight-controller",
		.environment = "HOPSIGHT_CONTROLLER_CONFIG",
		.config_help = "configuration",
		.exit_codes = "Exit codes: 0 done, 1 failed at run time, 2 bad usage or "
			      "configuration.",
};

// A controller that sends nothing checks the requests of the configuration.
static int send_nothing(void *context, unsigned node, const char *text, size_t len)
{
	(void)context, (void)node, (void)text, (void)len;
	return -EAGAIN;
}

static int check(const struct hs_controller_config *config, struct hs_error *err)
{
	struct hs_controller_output output = {.send = send_nothing};
	struct hs_controller *controller = NULL;
	int rc = hs_controller_daemon_check(config, err);

	if (rc == 0)
		rc = hs_controller_create(config, "check", &output, 0, &controller, err);
	hs_controller_destroy(controller);
	return rc;
}

static int run(const struct daemon_options *options, const struct hs_controller_config *config)
{
	struct hs_error err = {0};

	if (check(config, &err) < 0) {
		daemon_say_error(options->config, &err);
		return HS_EXIT_USAGE;
	}
	if (options->print)
		return daemon_print_config(hs_controller_config_print(config));
	if (options->check)
		return HS_EXIT_OK;
	daemon_start_log(options);
	return hs_controller_daemon_run(config);
}

int main(int argc, char **argv)
{
	struct daemon_options options;
	struct hs_controller_config config;
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
	if (hs_controller_config_load(options.config, &config, &err) < 0) {
		daemon_say_error(options.config, &err);
		return HS_EXIT_USAGE;
	}
	int code = run(&options, &config);
	hs_controller_config_fini(&config);
	return code;
}
