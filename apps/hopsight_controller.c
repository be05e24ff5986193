// SPDX-License-Identifier: BSD-3-Clause
// The controller of many nodes.
#include "fleet.h"
#include "fleet_daemon.h"
#include "log.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPTION_CHECK = 256,
	OPTION_PRINT,
	OPTION_JSON,
	OPTION_VERSION
};

struct options {
	const char *config;
	bool check, print, json, version, help;
	unsigned verbose;
};

static const struct {
	struct option option;
	const char *value, *help;
} table[] = {
		{{"config", required_argument, NULL, 'c'}, "FILE",
				"configuration (or HOPSIGHT_CONTROLLER_CONFIG)"},
		{{"check", no_argument, NULL, OPTION_CHECK}, "",
				"say whether the configuration is right; touch nothing"},
		{{"print-config", no_argument, NULL, OPTION_PRINT}, "",
				"print the values in force, defaults included"},
		{{"log-json", no_argument, NULL, OPTION_JSON}, "",
				"log one JSON object per line (or HOPSIGHT_LOG_JSON=1)"},
		{{"verbose", no_argument, NULL, 'v'}, "", "log more; -vv: everything"},
		{{"version", no_argument, NULL, OPTION_VERSION}, "", "print the version"},
		{{"help", no_argument, NULL, 'h'}, "", "print this"},
};
#define N_OPTIONS (sizeof(table) / sizeof(table[0]))

static void print_help(FILE *to)
{
	fprintf(to, "Usage: hopsight-controller --config FILE [options]\n\n");
	for (size_t i = 0; i < N_OPTIONS; i++) {
		char name[32];
		int letter = table[i].option.val;
		snprintf(name, sizeof(name), "%c%c%s--%s%s%s", letter < OPTION_CHECK ? '-' : ' ',
				letter < OPTION_CHECK ? letter : ' ',
				letter < OPTION_CHECK ? ", " : "  ", table[i].option.name,
				table[i].value[0] ? " " : "", table[i].value);
		fprintf(to, "  %-18s %s\n", name, table[i].help);
	}
	fprintf(to, "\nExit codes: 0 done, 1 failed at run time, 2 bad usage or configuration.\n");
}

static int read_option(int letter, struct options *options)
{
	switch (letter) {
	case 'c':
		options->config = optarg;
		return 0;
	case 'v':
		options->verbose++;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	case OPTION_CHECK:
		options->check = true;
		return 0;
	case OPTION_PRINT:
		options->print = true;
		return 0;
	case OPTION_JSON:
		options->json = true;
		return 0;
	case OPTION_VERSION:
		options->version = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int read_options(int argc, char **argv, struct options *options)
{
	struct option longs[N_OPTIONS + 1] = {{NULL, 0, NULL, 0}};
	const char *json = getenv("HOPSIGHT_LOG_JSON");
	int letter;

	*options = (struct options){
			.config = getenv("HOPSIGHT_CONTROLLER_CONFIG"),
			.json = json && strcmp(json, "0") != 0 && json[0],
	};
	for (size_t i = 0; i < N_OPTIONS; i++)
		longs[i] = table[i].option;
	while ((letter = getopt_long(argc, argv, "c:vh", longs, NULL)) >= 0) {
		if (read_option(letter, options) < 0)
			return -EINVAL;
	}
	if (optind < argc) {
		fprintf(stderr, "hopsight-controller: unexpected word '%s'\n", argv[optind]);
		return -EINVAL;
	}
	if (!options->config && !options->help && !options->version) {
		fprintf(stderr, "hopsight-controller: --config FILE is missing; --help has more\n");
		return -EINVAL;
	}
	return 0;
}

static int say_error(const char *file, const struct hs_error *err)
{
	char text[HS_ERROR_TEXT];

	fprintf(stderr, "%s:%s%s\n", file, err->path[0] ? "" : " ", hs_error_text(err, text));
	return HS_EXIT_USAGE;
}

static int print_config(const struct hs_fleet_config *config)
{
	json_t *json = hs_fleet_config_print(config);
	int rc = json ? json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : -1;

	json_decref(json);
	if (rc < 0 || putchar('\n') == EOF || fflush(stdout) != 0)
		return HS_EXIT_FAILED;
	return HS_EXIT_OK;
}

// What the requests say is checked by a fleet that talks to nobody.
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

static int run(const struct options *options, const struct hs_fleet_config *config)
{
	struct hs_error err = {0};

	if (check(config, &err) < 0)
		return say_error(options->config, &err);
	if (options->print)
		return print_config(config);
	if (options->check)
		return HS_EXIT_OK;
	hs_log_setup(options->verbose == 0	? HS_LOG_NOTICE
			: options->verbose == 1 ? HS_LOG_INFO
						: HS_LOG_DEBUG,
			options->json);
	return hs_fleet_daemon_run(config);
}

int main(int argc, char **argv)
{
	struct options options;
	struct hs_fleet_config config;
	struct hs_error err = {0};

	if (read_options(argc, argv, &options) < 0)
		return HS_EXIT_USAGE;
	if (options.help) {
		print_help(stdout);
		return HS_EXIT_OK;
	}
	if (options.version) {
		printf("hopsight-controller %s\n", HS_VERSION);
		return HS_EXIT_OK;
	}
	if (hs_fleet_config_load(options.config, &config, &err) < 0)
		return say_error(options.config, &err);
	int code = run(&options, &config);
	hs_fleet_config_fini(&config);
	return code;
}
