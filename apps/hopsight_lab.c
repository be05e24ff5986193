// SPDX-License-Identifier: BSD-3-Clause
// Runs many nodes, links and traffic in one process.
#include "hopsight_lab.h"

#include "clean_stdio.h"
#include "help_line.h"
#include "lab_words.h"
#include "scenario_read.h"
#include "text_table.h"

#include <rte_version.h>

#include <jansson.h>

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_WIDTH 100
#define FIRST_LONG 256 // what getopt_long returns for the first row of the table

// ---- options ----

enum lab_verb {
	VERB_RUN = 1,
	VERB_LIST = 2,
	VERB_CHECK = 4,
	VERB_PLAN = 8,
	VERB_ANY = 15,
};

static const struct {
	const char *name, *args, *help;
	int min_args, max_args;
	enum lab_verb verb;
} verbs[] = {
		{"run", "SCENARIO", "run it and compare measurement with truth", 1, 1, VERB_RUN},
		{"list", "[FOLDER]", "list the scenarios", 0, 1, VERB_LIST},
		{"check", "SCENARIO", "check it without running it", 1, 1, VERB_CHECK},
		{"plan", "SCENARIO", "plan probes that visit every switch", 1, 1, VERB_PLAN},
};
#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

__attribute__((format(printf, 1, 2))) static int usage(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "hopsight-lab: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (see --help)\n");
	return -EINVAL;
}

static int read_seed(const char *text, struct lab_options *options)
{
	char *end;

	errno = 0;
	options->seed = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno)
		return usage("--seed: \"%s\" is no number from 0 to 18446744073709551615", text);
	options->has_seed = true;
	return 0;
}

static int read_duration(const char *text, struct lab_options *options)
{
	char *end;
	double seconds = strtod(text, &end);

	if (text[0] < '0' || text[0] > '9' || *end || !(seconds >= 1e-3 && seconds <= 1e6))
		return usage("--duration: \"%s\" is no number of seconds from 0.001 to 1000000",
				text);
	options->duration_ns = (int64_t)(seconds * 1e9 + 0.5);
	return 0;
}

static int read_number(const char *name, const char *text, uint32_t most, uint32_t *number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || value < 1 || value > most)
		return usage("--%s: \"%s\" is no number from 1 to %u", name, text, most);
	*number = (uint32_t)value;
	return 0;
}

static int read_probes(const char *text, struct lab_options *options)
{
	return read_number("probes", text, 32767, &options->probes);
}

static int read_mtu(const char *text, struct lab_options *options)
{
	return read_number("mtu", text, 65535, &options->mtu);
}

// An option without a value sets a flag of struct lab_options. One with a value stores it, or has a
// function that reads it.
struct option_row {
	const char *name, *value, *help;
	enum lab_verb verbs; // verbs that take it
	size_t at;	     // offset of the member
	int (*read)(const char *text, struct lab_options *options);
	char letter;
	bool clears; // the flag
};
#define MEMBER(member) offsetof(struct lab_options, member)
static const struct option_row table[] = {
		{"virtual", "", "run in virtual time: fast and reproducible (default)", VERB_RUN,
				MEMBER(real), .clears = true},
		{"real", "", "run on the machine's clock", VERB_RUN, MEMBER(real)},
		{"seed", "N", "override the scenario's seed", VERB_RUN | VERB_CHECK | VERB_PLAN,
				.read = read_seed},
		{"duration", "S", "override the scenario's duration, in seconds",
				VERB_RUN | VERB_CHECK, .read = read_duration},
		{"json", "FILE",
				"write the result; - is stdout, without tables (list, plan: no "
				"FILE)",
				VERB_RUN | VERB_LIST | VERB_PLAN, MEMBER(json)},
		{"packets", "FILE", "write what each link did to each packet (CSV; large)",
				VERB_RUN, MEMBER(packets)},
		{"published", "FILE", "write all published messages (one JSON object a line)",
				VERB_RUN, MEMBER(published)},
		{"probes", "K", "the number of probes (default: 3 for 10 switches)", VERB_PLAN,
				.read = read_probes},
		{"mtu", "BYTES", "the most bytes of a probe (default: the scenario's MTU)",
				VERB_PLAN, .read = read_mtu},
		{"euler", "", "list the probes of Euler's method, not of GPINT", VERB_PLAN,
				MEMBER(euler)},
		{"quiet", "", "print only unmet expectations and the last line", VERB_RUN,
				MEMBER(quiet), .letter = 'q'},
		{"version", "", "print the version", VERB_ANY, MEMBER(version)},
		{"help", "", "print this help", VERB_ANY, MEMBER(help), .letter = 'h'},
};
#define N_OPTIONS (sizeof(table) / sizeof(table[0]))

static void print_help(void)
{
	printf("hopsight-lab runs many nodes, links and traffic in one process, and compares\n"
	       "what telemetry measures with the truth. It needs neither root nor huge pages.\n"
	       "\nUsage:\n");
	for (size_t i = 0; i < N_VERBS; i++) {
		char words[64];
		snprintf(words, sizeof(words), "hopsight-lab %s %s [options]", verbs[i].name,
				verbs[i].args);
		hs_help_line(stdout, 40, words, verbs[i].help);
	}
	printf("\nSCENARIO is a file, or a name that `list` shows; of `plan` also a topology in\n"
	       "JSON: '{\"kind\": \"watts_strogatz\", \"n\": 100, \"k\": 4, \"beta\": "
	       "0.1}'.\n\nOptions:\n");
	for (size_t i = 0; i < N_OPTIONS; i++) {
		char name[40];
		char letter = table[i].letter;
		snprintf(name, sizeof(name), "%c%c%s--%s%s%s", letter ? '-' : ' ',
				letter ? letter : ' ', letter ? ", " : "  ", table[i].name,
				table[i].value[0] ? " " : "", table[i].value);
		hs_help_line(stdout, 21, name, table[i].help);
	}
	printf("\nFiles appear when they are complete. Ctrl-C ends a run with partial results,\n"
	       "which are marked; a second Ctrl-C ends the program at once.\n\n"
	       "Exit codes: 0 done and every expectation met; 1 an expectation not met,\n"
	       "interrupted, or failed at run time; 2 bad usage or scenario.\n");
}

static const struct option_row *find_option(int letter)
{
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (letter == FIRST_LONG + (int)i || (table[i].letter && letter == table[i].letter))
			return &table[i];
	return NULL;
}

static int read_option(int letter, const char *word, const char *value, struct lab_options *options)
{
	const struct option_row *row = find_option(letter);
	char *at = (char *)options + (row ? row->at : 0);

	if (letter == ':')
		return usage("%s needs a value", word);
	if (!row)
		return usage("%s: there is no such option, or it takes no value", word);
	if (row->read)
		return row->read(value, options);
	if (row->value[0] && !value)
		value = "-"; // --json of list and plan
	if (row->value[0])
		memcpy(at, &value, sizeof(value));
	else
		*(bool *)at = !row->clears;
	return 0;
}

static int find_verb(const char *word)
{
	for (size_t i = 0; word && i < N_VERBS; i++)
		if (strcmp(verbs[i].name, word) == 0)
			return (int)i;
	return -1;
}

static int check_words(int verb, const struct lab_options *options, const char *strange)
{
	if (options->help || options->version)
		return 0;
	if (options->n_args < verbs[verb].min_args)
		return usage("%s: %s is missing", verbs[verb].name, verbs[verb].args);
	if (options->n_args > verbs[verb].max_args)
		return usage("%s: unexpected word \"%s\"", verbs[verb].name,
				options->args[verbs[verb].max_args]);
	if (strange)
		return usage("%s does not take --%s", verbs[verb].name, strange);
	return 0;
}

// Returns the verb's index, or -EINVAL after an error message. getopt may reorder the words, but
// keeps the order of those that are no options.
static int read_options(int argc, char **argv, struct lab_options *options)
{
	struct option longs[N_OPTIONS + 1] = {{NULL, 0, NULL, 0}};
	int verb = argc > 1 ? find_verb(argv[1]) : -1;
	bool prints = verb >= 0 && verbs[verb].verb & (VERB_LIST | VERB_PLAN);
	const char *strange = NULL;
	int letter;

	for (size_t i = 0; i < N_OPTIONS; i++) {
		bool to_stdout = prints && table[i].at == MEMBER(json);
		longs[i] = (struct option){table[i].name, table[i].value[0] && !to_stdout, NULL,
				FIRST_LONG + (int)i};
	}
	optind = verb >= 0 ? 2 : 1;
	while ((letter = getopt_long(argc, argv, ":qh", longs, NULL)) >= 0) {
		if (read_option(letter, argv[optind - 1], optarg, options) < 0)
			return -EINVAL;
		if (verb >= 0 && !(find_option(letter)->verbs & verbs[verb].verb))
			strange = find_option(letter)->name;
	}
	options->args = argv + optind;
	options->n_args = argc - optind;
	if (verb < 0 && !options->help && !options->version)
		return usage("the first argument must be run, list, check or plan");
	return check_words(verb, options, strange) < 0 ? -EINVAL : verb < 0 ? 0 : verb;
}

// ---- errors ----

void lab_say_error(const char *file, const struct hs_error *err)
{
	char text[HS_ERROR_TEXT];

	fprintf(stderr, "hopsight-lab: %s%s%s\n", file ? file : "",
			!file	       ? ""
			: err->path[0] ? ":"
				       : ": ",
			hs_error_text(err, text));
}

// ---- where scenarios are ----

// Finds the folders of scenarios: those of the working directory, of the source tree of the build,
// and of the installation.
static void find_folders(struct lab_options *options)
{
	static char of_tree[PATH_MAX + 32];
	char program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char real[PATH_MAX];

	options->folders[options->n_folders++] = "config/lab";
	if (n > 0) {
		program[n] = '\0';
		*strrchr(program, '/') = '\0';
		snprintf(of_tree, sizeof(of_tree), "%s/../../config/lab", program);
		if (realpath(of_tree, real)) {
			strcpy(of_tree, real);
			options->folders[options->n_folders++] = of_tree;
		}
	}
	options->folders[options->n_folders++] = HS_LAB_DATA;
}

// ---- verbs ----

static int list_json(const struct hs_lab_list *list)
{
	json_t *array = json_array();
	int rc;

	for (size_t i = 0; i < list->n; i++) {
		const struct hs_lab_entry *entry = &list->entries[i];
		json_t *object = json_pack("{s:s, s:s, s:s}", "name", entry->name, "file",
				entry->file, entry->error[0] ? "error" : "description",
				entry->error[0] ? entry->error : entry->description);
		json_array_append_new(array, object);
	}
	rc = json_dumpf(array, stdout, isatty(STDOUT_FILENO) ? JSON_INDENT(2) : JSON_COMPACT);
	json_decref(array);
	putchar('\n');
	return rc;
}

// Adds a text as lines of the second column.
static void add_wrapped(struct hs_text_table *out, const char *name, const char *text, size_t width)
{
	for (bool first = true; first || *text; first = false) {
		size_t n = hs_lab_first_line(text, width);
		char line[400];
		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		hs_text_table_cell(out, first ? name : "");
		hs_text_table_cell(out, line);
		text += n + (text[n] == ' ');
	}
}

static int list_table(const struct hs_lab_list *list)
{
	struct hs_text_table *out;
	size_t width = 4;
	char *text;

	if (hs_text_table_create(&out) < 0)
		return -ENOMEM;
	hs_text_table_column(out, "name", false);
	hs_text_table_column(out, "description", false);
	for (size_t i = 0; i < list->n; i++)
		if (hs_text_width(list->entries[i].name) > width)
			width = hs_text_width(list->entries[i].name);
	width = width + 32 < LINE_WIDTH ? LINE_WIDTH - width - 2 : 30;
	for (size_t i = 0; i < list->n; i++) {
		const struct hs_lab_entry *entry = &list->entries[i];
		add_wrapped(out, entry->name, entry->error[0] ? entry->error : entry->description,
				width);
	}
	text = hs_text_table_text(out);
	if (text)
		fputs(text, stdout);
	hs_text_table_destroy(out);
	free(text);
	return text ? 0 : -ENOMEM;
}

static int lab_list(const struct lab_options *options)
{
	struct hs_lab_list list;
	int rc;

	if (options->n_args && access(options->args[0], R_OK | X_OK) < 0) {
		fprintf(stderr, "hopsight-lab: %s: %s\n", options->args[0], strerror(errno));
		return LAB_USAGE;
	}
	rc = hs_lab_list_read(
			options->n_args ? (const char *const *)options->args : options->folders,
			options->n_args ? 1 : options->n_folders, &list);
	if (rc == 0)
		rc = options->json ? list_json(&list) : list_table(&list);
	if (rc == 0 && !list.n)
		fprintf(stderr, "hopsight-lab: no scenarios found\n");
	hs_lab_list_fini(&list);
	return rc < 0 || fflush(stdout) != 0 ? LAB_FAILED : LAB_DONE;
}

int lab_load(const struct lab_options *options, char path[HS_LAB_PATH],
		struct hs_scenario *scenario)
{
	struct hs_scenario_override override = {.has_seed = options->has_seed,
			.seed = options->seed,
			.duration_ns = options->duration_ns};
	struct hs_error err = {0};

	int rc = hs_lab_find(options->args[0], options->folders, options->n_folders, path, &err);
	if (rc < 0) {
		lab_say_error(NULL, &err);
		return LAB_USAGE;
	}
	if (hs_scenario_load(path, &override, scenario, &err) == 0)
		return LAB_DONE;
	lab_say_error(path, &err);
	return LAB_USAGE;
}

static int lab_check(const struct lab_options *options)
{
	struct hs_scenario scenario;
	char path[HS_LAB_PATH];

	if (lab_load(options, path, &scenario) != LAB_DONE)
		return LAB_USAGE;
	printf("%s is right: %zu nodes, %zu links, %zu hosts, %zu entries of traffic, %zu flows, "
	       "%zu events, %zu expectations, %.6g s\n",
			scenario.name, scenario.n_nodes, scenario.n_links, scenario.n_hosts,
			scenario.n_traffic, scenario.n_flows, scenario.n_events, scenario.n_expects,
			(double)scenario.duration_ns / 1e9);
	hs_scenario_fini(&scenario);
	return fflush(stdout) == 0 ? LAB_DONE : LAB_FAILED;
}

int main(int argc, char **argv)
{
	static int (*const functions[N_VERBS])(const struct lab_options *) = {
			lab_run, lab_list, lab_check, lab_plan};
	struct lab_options options = {0};

	if (hs_clean_stdio("\n\t\r")) // progress returns to the beginning of its line
		return LAB_USAGE;
	int verb = read_options(argc, argv, &options);
	if (verb < 0)
		return LAB_USAGE;
	if (options.help) {
		print_help();
		return LAB_DONE;
	}
	if (options.version) {
		printf("hopsight-lab %s, %s\n", HS_VERSION, rte_version());
		return LAB_DONE;
	}
	find_folders(&options);
	return functions[verb](&options);
}
