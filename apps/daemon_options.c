// SPDX-License-Identifier: BSD-3-Clause
#include "daemon_options.h"

#include "clean_stdio.h"
#include "help_line.h"
#include "log.h"
#include "option_words.h"

#include <errno.h>
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
	const char *config; // borrowed from argv or from the environment
	bool check, print, json, version, help;
	unsigned verbose;
};

static const struct {
	struct option option;
	const char *value, *help;
} table[] = {
		{{"config", required_argument, NULL, 'c'}, "FILE", NULL}, // the program says
		{{"check", no_argument, NULL, OPTION_CHECK}, "",
				"check the configuration, and whether the machine has "
				"what it names; change nothing"},
		{{"print-config", no_argument, NULL, OPTION_PRINT}, "",
				"print the configuration with its defaults"},
		{{"log-json", no_argument, NULL, OPTION_JSON}, "",
				"log one JSON object per line (or HOPSIGHT_LOG_JSON=1)"},
		{{"verbose", no_argument, NULL, 'v'}, "", "log more; -vv: log everything"},
		{{"version", no_argument, NULL, OPTION_VERSION}, "", "print the version"},
		{{"help", no_argument, NULL, 'h'}, "", "print this help"},
};
#define N_OPTIONS (sizeof(table) / sizeof(table[0]))

static void print_help(const struct daemon_program *program)
{
	printf("Usage: %s --config FILE [options]%s\n\n", program->name,
			program->takes_eal_words ? " [-- arguments for DPDK's EAL]" : "");
	for (size_t i = 0; i < N_OPTIONS; i++) {
		char name[32], config[256];
		int letter = table[i].option.val;
		snprintf(name, sizeof(name), "%c%c%s--%s%s%s", letter < OPTION_CHECK ? '-' : ' ',
				letter < OPTION_CHECK ? letter : ' ',
				letter < OPTION_CHECK ? ", " : "  ", table[i].option.name,
				table[i].value[0] ? " " : "", table[i].value);
		snprintf(config, sizeof(config), "%s (or %s)", program->config_help,
				program->environment);
		hs_help_line(stdout, 18, name, table[i].help ? table[i].help : config);
	}
	printf("\n%s\n", program->exit_codes);
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

// Says what is wrong with the option that getopt refused. Returns -EINVAL.
static int refuse_option(const struct daemon_program *program, const struct option *longs, int code,
		int option, const char *word)
{
	char text[OPTION_TEXT];

	option_refusal(&(struct option_set){.all = longs}, code, option, word, text);
	fprintf(stderr, "%s: %s (see --help)\n", program->name, text);
	return -EINVAL;
}

// Returns 0 with optind at the words for EAL, or -EINVAL after an error message.
static int read_options(const struct daemon_program *program, int argc, char **argv,
		struct options *options)
{
	struct option longs[N_OPTIONS + 1] = {{NULL, 0, NULL, 0}};
	const char *json = getenv("HOPSIGHT_LOG_JSON");
	int letter;

	*options = (struct options){
			.config = getenv(program->environment),
			.json = json && strcmp(json, "0") != 0 && json[0],
	};
	for (size_t i = 0; i < N_OPTIONS; i++)
		longs[i] = table[i].option;
	while ((letter = getopt_long(argc, argv, "+:c:vh", longs, NULL)) >= 0) {
		if (option_lacks_value(argv))
			return refuse_option(program, longs, ':', letter, argv[optind - 1]);
		if (read_option(letter, options) < 0)
			return refuse_option(program, longs, letter, optopt, argv[optind - 1]);
	}
	bool words = program->takes_eal_words;
	if (optind < argc && !(words && strcmp(argv[optind - 1], "--") == 0)) {
		fprintf(stderr, "%s: unexpected word '%s'%s\n", program->name, argv[optind],
				!options->config ? "; the configuration comes after --config"
				: words		 ? "; arguments for EAL come after --"
						 : "");
		return -EINVAL;
	}
	if (!options->config && !options->help && !options->version) {
		fprintf(stderr, "%s: --config FILE is missing (see --help)\n", program->name);
		return -EINVAL;
	}
	return 0;
}

static void start_log(const struct options *options)
{
	hs_log_setup(options->verbose == 0	? HS_LOG_NOTICE
			: options->verbose == 1 ? HS_LOG_INFO
						: HS_LOG_DEBUG,
			options->json);
}

static void say_errors(const char *file, const struct hs_errors *errors)
{
	char text[HS_ERROR_TEXT];

	for (unsigned i = 0; i < errors->n && i < HS_ERRORS_MOST; i++)
		fprintf(stderr, "%s:%s%s\n", file, errors->list[i].path[0] ? "" : " ",
				hs_error_text(&errors->list[i], text));
	if (errors->n > HS_ERRORS_MOST)
		fprintf(stderr, "%s: %u more error%s\n", file, errors->n - HS_ERRORS_MOST,
				errors->n - HS_ERRORS_MOST > 1 ? "s" : "");
}

// Returns the exit code: whether all that was printed is written.
static int end_output(const struct daemon_program *program)
{
	return hs_clean_end(program->name) < 0 ? HS_EXIT_FAILED : HS_EXIT_OK;
}

static int print_config(const struct daemon_program *program)
{
	json_t *config = program->print();
	int rc = config ? json_dumpf(config, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : -1;
	json_decref(config);
	putchar('\n');
	return end_output(program) ?: rc < 0 ? HS_EXIT_FAILED : HS_EXIT_OK;
}

// Prints that the file is correct, and what the machine lacks. The file may be for another machine.
static int say_ok(const struct daemon_program *program, const char *file)
{
	static struct hs_errors lacks;
	char text[HS_ERROR_TEXT];

	program->lacks(&lacks);
	printf("%s: ok%s\n", file, lacks.n ? ", but this machine lacks what it names" : "");
	for (unsigned i = 0; i < lacks.n && i < HS_ERRORS_MOST; i++)
		printf("  %s\n", hs_error_text(&lacks.list[i], text));
	if (lacks.n > HS_ERRORS_MOST)
		printf("  and %u more\n", lacks.n - HS_ERRORS_MOST);
	return end_output(program);
}

static int run(const struct daemon_program *program, const struct options *options, int argc,
		char **argv)
{
	if (options->print)
		return print_config(program);
	if (options->check)
		return say_ok(program, options->config);
	start_log(options);
	return program->run(argc, argv);
}

int daemon_main(const struct daemon_program *program, int argc, char **argv)
{
	struct options options;
	static struct hs_errors errors;

	if (hs_clean_stdio("\n\t"))
		return HS_EXIT_FAILED;
	if (read_options(program, argc, argv, &options) < 0)
		return HS_EXIT_USAGE;
	if (options.help) {
		print_help(program);
		return end_output(program);
	}
	if (options.version) {
		printf("%s %s\n", program->name, program->version);
		return end_output(program);
	}
	int code = HS_EXIT_USAGE;
	if (program->load(options.config, &errors) < 0)
		say_errors(options.config, &errors);
	else
		code = run(program, &options, argc - optind, argv + optind);
	program->fini();
	return code;
}
