// SPDX-License-Identifier: BSD-3-Clause
// The controller of many nodes.
#include "daemon_options.h"

#include "controller.h"
#include "controller_daemon.h"

#include <errno.h>

static struct hs_controller_config config;

// Sends nothing, for the controller that only checks the requests of the configuration.
static int send_nothing(void *context, unsigned node, const char *text, size_t len)
{
	(void)context, (void)node, (void)text, (void)len;
	return -EAGAIN;
}

static int load(const char *file, struct hs_errors *errors)
{
	struct hs_controller_output output = {.send = send_nothing};
	struct hs_controller *controller = NULL;
	struct hs_error err = {0};
	int rc = hs_controller_config_load(file, &config, errors);

	if (rc < 0)
		return rc;
	hs_controller_daemon_check(&config, errors);
	if (hs_controller_create(&config, "check", &output, 0, &controller, &err) < 0)
		hs_errors_keep(errors, &err);
	hs_controller_destroy(controller);
	return errors->n ? -EINVAL : 0;
}

static void say_lacks(struct hs_errors *lacks)
{
	hs_controller_config_lacks(&config, lacks);
}

static json_t *print(void)
{
	return hs_controller_config_print(&config);
}

static int run(int argc, char **argv)
{
	(void)argc, (void)argv;
	return hs_controller_daemon_run(&config);
}

static void fini(void)
{
	hs_controller_config_fini(&config);
}

int main(int argc, char **argv)
{
	static const struct daemon_program program = {
			.name = "hopsight-controller",
			.version = HS_VERSION,
			.environment = "HOPSIGHT_CONTROLLER_CONFIG",
			.config_help = "configuration",
			.exit_codes = "Exit codes: 0 done, 1 failed at run time, 2 bad usage or "
				      "configuration.",
			.load = load,
			.lacks = say_lacks,
			.print = print,
			.run = run,
			.fini = fini,
	};

	return daemon_main(&program, argc, argv);
}
