// SPDX-License-Identifier: BSD-3-Clause
// Runs many nodes, links and traffic in one process.
#include "hopsight_lab.h"

#include "clean_stdio.h"
#include "help_line.h"
#include "lab_words.h"
#include "nearest.h"
#include "option_words.h"
#include "terminal.h"

#include <rte_version.h>

#include <jansson.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_WIDTH 100
#define FIRST_LONG 256 // what getopt_long returns for the first row of the table

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

int lab_dump(const json_t *json, FILE *to, size_t flags)
{
	flags |= isatty(fileno(to)) ? JSON_INDENT(2) : JSON_COMPACT;
	return json_dumpf(json, to, flags) < 0 || fputc('\n', to) == EOF ? -EIO : 0;
}

static int list_json(const struct hs_lab_list *list)
{
	json_t *array = json_array();
	int rc;

	for (size_t i = 0; i < list->n; i++) {
		const struct hs_lab_entry *entry = &list->entries[i];
		json_array_append_new(
				array, json_pack("{s:s, s:s, s:s}", "name", entry->name, "file",
						       entry->file,
						       entry->broken ? "error" : "description",
						       entry->words));
	}
	rc = lab_dump(array, stdout, 0);
	json_decref(array);
	return rc;
}

// Returns the columns of the terminal behind stdout, but at most those that other output has.
static size_t list_width(void)
{
	size_t columns = isatty(STDOUT_FILENO) ? hs_terminal_size().ws_col : LINE_WIDTH;

	return columns < LINE_WIDTH ? columns : LINE_WIDTH;
}

static int list_table(const struct hs_lab_list *list)
{
	static const char *const columns[] = {"name", "description"};
	struct hs_text_table *table = hs_lab_table_begin("ll", columns);
	size_t width = 4, line = list_width();

	for (size_t i = 0; i < list->n; i++)
		if (hs_text_width(list->entries[i].name) > width)
			width = hs_text_width(list->entries[i].name);
	width = width + 32 < line ? line - width - 2 : 30;
	for (size_t i = 0; i < list->n; i++) {
		hs_lab_cell(table, "%s", list->entries[i].name);
		hs_lab_wrapped_cell(table, 1, list->entries[i].words, width);
	}
	return hs_lab_table_end(stdout, "", table);
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
	return rc < 0 ? LAB_FAILED : LAB_DONE;
}

int lab_load(const struct lab_options *options, char path[HS_LAB_PATH],
		struct hs_scenario *scenario)
{
	struct hs_errors errors = {0};
	struct hs_error err = {0};

	int rc = hs_lab_find(options->args[0], options->folders, options->n_folders, path, &err);
	if (rc < 0) {
		lab_say_error(NULL, &err);
		return LAB_USAGE;
	}
	if (hs_scenario_load(path, &options->override, scenario, &errors) == 0)
		return LAB_DONE;
	for (unsigned i = 0; i < errors.n && i < HS_ERRORS_MOST; i++)
		lab_say_error(path, &errors.list[i]);
	if (errors.n > HS_ERRORS_MOST)
		fprintf(stderr, "hopsight-lab: %s: %u more errors\n", path,
				errors.n - HS_ERRORS_MOST);
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
	return LAB_DONE;
}

// ---- words of the command line ----

enum lab_verb {
	RUN = 1,
	LIST = 2,
	CHECK = 4,
	PLAN = 8,
	ANY = 15,
};

static const struct verb {
	const char *name, *arg, *help;
	bool needs_arg;
	enum lab_verb verb;
	int (*function)(const struct lab_options *options);
} verbs[] = {
		{"run", "SCENARIO", "run it and compare measurement with truth", true, RUN,
				lab_run},
		{"list", "[FOLDER]", "list the scenarios", false, LIST, lab_list},
		{"check", "SCENARIO", "check it without running it", true, CHECK, lab_check},
		{"plan", "SCENARIO", "plan probes that visit every switch", true, PLAN, lab_plan},
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

// An option with a value stores it at the member: a text, or an integer that is not above `most`.
// An option without a value sets a flag.
struct option_row {
	const char *name, *value, *help;
	enum lab_verb verbs; // verbs that take it
	size_t at;	     // offset of the member
	uint64_t least, most;
	char letter;
	bool clears; // the flag
};
#define MEMBER(member) offsetof(struct lab_options, member)
static const struct option_row table[] = {
		{"virtual", "", "run in virtual time: fast and reproducible (default)", RUN,
				MEMBER(real), .clears = true},
		{"real", "", "run on the machine's clock", RUN, MEMBER(real)},
		{"seed", "N", "override the scenario's seed", RUN | CHECK | PLAN,
				MEMBER(override.seed), 0, INT64_MAX},
		{"duration", "S", "override the scenario's duration, in seconds", RUN | CHECK,
				MEMBER(override.duration_ns)},
		{"json", "FILE",
				"write the result; - is stdout, without tables (list, plan: no "
				"FILE)",
				RUN | LIST | PLAN, MEMBER(json)},
		{"packets", "FILE", "write what each link did to each packet (CSV; large)", RUN,
				MEMBER(packets)},
		{"published", "FILE", "write all published messages (one JSON object a line)", RUN,
				MEMBER(published)},
		{"probes", "K", "the number of probes (default: 3 for 10 switches)", PLAN,
				MEMBER(probes), 1, 32767},
		{"mtu", "BYTES", "the most bytes of a probe (default: the scenario's MTU)", PLAN,
				MEMBER(mtu), 1, 65535},
		{"euler", "", "list the probes of Euler's method, not of GPINT", PLAN,
				MEMBER(euler)},
		{"quiet", "", "print only unmet expectations and the last line", RUN, MEMBER(quiet),
				.letter = 'q'},
		{"version", "", "print the version", ANY, MEMBER(version)},
		{"help", "", "print this help", ANY, MEMBER(help), .letter = 'h'},
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
				verbs[i].arg);
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

// Returns what getopt_long returns for a row of the table.
static int code_of(size_t row)
{
	return table[row].letter ? table[row].letter : FIRST_LONG + (int)row;
}

static int read_integer(const struct option_row *row, const char *text, uint64_t *to)
{
	char *end;

	errno = 0;
	*to = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || *to < row->least || *to > row->most)
		return usage("--%s: \"%s\" is no number from %" PRIu64 " to %" PRIu64, row->name,
				text, row->least, row->most);
	return 0;
}

static int read_duration(const char *text, int64_t *to_ns)
{
	char *end;
	double seconds = strtod(text, &end);

	if (text[0] < '0' || text[0] > '9' || *end || !(seconds >= 1e-3 && seconds <= 1e6))
		return usage("--duration: \"%s\" is no number of seconds from 0.001 to 1000000",
				text);
	*to_ns = (int64_t)(seconds * 1e9 + 0.5);
	return 0;
}

static int take_option(const struct option_row *row, const char *value, struct lab_options *options)
{
	void *at = (char *)options + row->at;

	options->override.has_seed |= row->at == MEMBER(override.seed);
	if (row->at == MEMBER(override.duration_ns))
		return read_duration(value, at);
	if (row->most)
		return read_integer(row, value, at);
	if (row->value[0])
		*(const char **)at = value ? value : "-"; // --json of list and plan has none
	else
		*(bool *)at = !row->clears;
	return 0;
}

static const struct verb *find_verb(const char *word)
{
	for (size_t i = 0; word && i < N_VERBS; i++)
		if (strcmp(verbs[i].name, word) == 0)
			return &verbs[i];
	return NULL;
}

static int refuse_verb(const char *word)
{
	struct hs_nearest nearest = {.typed = word};

	for (size_t i = 0; i < N_VERBS; i++)
		hs_nearest_try(&nearest, verbs[i].name);
	if (nearest.word)
		return usage("%s is not a verb; did you mean %s?", word, nearest.word);
	return usage("the first argument must be run, list, check or plan");
}

static int check_words(
		const struct verb *verb, const struct lab_options *options, const char *strange)
{
	if (options->help || options->version)
		return 0;
	if (!verb)
		return refuse_verb(options->n_args ? options->args[0] : "");
	if (options->n_args < verb->needs_arg)
		return usage("%s: %s is missing", verb->name, verb->arg);
	if (options->n_args > 1)
		return usage("%s: unexpected word \"%s\"", verb->name, options->args[1]);
	if (strange)
		return usage("%s does not take --%s", verb->name, strange);
	return 0;
}

static size_t row_of(int code)
{
	size_t row = 0;

	while (row < N_OPTIONS && code_of(row) != code)
		row++;
	return row;
}

static bool may_mean(const void *verb, int code)
{
	const struct verb *of = verb;

	return !of || table[row_of(code)].verbs & of->verb;
}

static int refuse_option(const struct verb *verb, const struct option *longs, int code, int option,
		const char *word)
{
	char text[OPTION_TEXT];

	option_refusal(&(struct option_set){longs, may_mean, verb}, code, option, word, text);
	return usage("%s", text);
}

// Returns 0, or -EINVAL after an error message. getopt may reorder the words, but keeps the order
// of those that are no options.
static int read_words(int argc, char **argv, const struct verb *verb, struct lab_options *options)
{
	struct option longs[N_OPTIONS + 1] = {{NULL, 0, NULL, 0}};
	bool prints = verb && verb->verb & (LIST | PLAN);
	const char *strange = NULL;
	int code;

	for (size_t i = 0; i < N_OPTIONS; i++) {
		bool to_stdout = prints && table[i].at == MEMBER(json);
		longs[i] = (struct option){
				table[i].name, table[i].value[0] && !to_stdout, NULL, code_of(i)};
	}
	optind = verb ? 2 : 1;
	while ((code = getopt_long(argc, argv, ":qh", longs, NULL)) >= 0) {
		size_t row = row_of(code);
		if (option_lacks_value(argv))
			return refuse_option(verb, longs, ':', code, argv[optind - 1]);
		if (row == N_OPTIONS)
			return refuse_option(verb, longs, code, optopt, argv[optind - 1]);
		if (take_option(&table[row], optarg, options) < 0)
			return -EINVAL;
		if (verb && !(table[row].verbs & verb->verb))
			strange = table[row].name;
	}
	options->args = argv + optind;
	options->n_args = argc - optind;
	return check_words(verb, options, strange);
}

// Returns the exit code: another one if not all that was printed is written.
static int end_output(int code)
{
	return hs_clean_end("hopsight-lab") < 0 && code == LAB_DONE ? LAB_FAILED : code;
}

int main(int argc, char **argv)
{
	const struct verb *verb = argc > 1 ? find_verb(argv[1]) : NULL;
	struct lab_options options = {0};

	if (hs_clean_stdio("\n\t\r")) // progress returns to the beginning of its line
		return LAB_USAGE;
	if (read_words(argc, argv, verb, &options) < 0)
		return LAB_USAGE;
	if (options.help) {
		print_help();
		return end_output(LAB_DONE);
	}
	if (options.version) {
		printf("hopsight-lab %s, %s\n", HS_VERSION, rte_version());
		return end_output(LAB_DONE);
	}
	find_folders(&options);
	return end_output(verb->function(&options));
}
