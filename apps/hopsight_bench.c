// SPDX-License-Identifier: BSD-3-Clause
// Measures what a packet costs in each stage and role, and compares with dpdk-testpmd.
#include "bench_baseline.h"
#include "bench_child.h"
#include "bench_frames.h"
#include "bench_machine.h"
#include "bench_peer.h"
#include "bench_process.h"
#include "bench_run.h"

#include "clean_stdio.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUICK_ROUNDS  3
#define QUICK_SECONDS 0.3
#define MAX_NAMES     128

enum {
	OPTION_JSON = 256,
	OPTION_LIST,
	OPTION_SECONDS,
	OPTION_ROUNDS,
	OPTION_CARD,
	OPTION_WORKER,
	OPTION_QUICK,
	OPTION_BASELINE,
	OPTION_UPDATE,
	OPTION_VERSION,
	// The following options are for the processes that measure.
	OPTION_MEASURE,
	OPTION_PACKETS,
	OPTION_PCAP,
	OPTION_CONTROL,
	OPTION_PREFIX,
	OPTION_SOCKETS,
};

enum {
	EXIT_DONE,
	EXIT_FAILED,
	EXIT_USAGE
};

struct options {
	const struct hs_bench_case *cases[MAX_NAMES];
	int n_cases;
	double seconds;
	unsigned rounds;
	int worker, control;
	bool quick, list, help, version;
	const char *json, *card, *baseline, *update;
	const char *measure, *pcap, *prefix, *sockets;
	double packets;
};

static const struct {
	struct option option;
	const char *value, *help; // NULL: not shown to users
} table[] = {
		{{"json", required_argument, NULL, OPTION_JSON}, "FILE",
				"the whole result; - for stdout, without the table"},
		{{"list", no_argument, NULL, OPTION_LIST}, "", "the cases that there are"},
		{{"seconds", required_argument, NULL, OPTION_SECONDS}, "S",
				"length of one measurement (default 1)"},
		{{"rounds", required_argument, NULL, OPTION_ROUNDS}, "N",
				"each case so many times, in turn with the others (default 10)"},
		{{"card", required_argument, NULL, OPTION_CARD}, "FILE",
				"put a card into this Markdown file, between its markers"},
		{{"worker", required_argument, NULL, OPTION_WORKER}, "CORE",
				"core that is measured (default: the last one)"},
		{{"quick", no_argument, NULL, OPTION_QUICK}, "",
				"a small set of cases, 3 rounds of 0.3 s"},
		{{"baseline", required_argument, NULL, OPTION_BASELINE}, "FILE",
				"fail where a ratio is 15 % above this file's"},
		{{"update-baseline", required_argument, NULL, OPTION_UPDATE}, "FILE",
				"write the ratios into this file"},
		{{"version", no_argument, NULL, OPTION_VERSION}, "", "print the version"},
		{{"help", no_argument, NULL, 'h'}, "", "print this"},
		{{"measure", required_argument, NULL, OPTION_MEASURE}, NULL, NULL},
		{{"packets", required_argument, NULL, OPTION_PACKETS}, NULL, NULL},
		{{"pcap", required_argument, NULL, OPTION_PCAP}, NULL, NULL},
		{{"control", required_argument, NULL, OPTION_CONTROL}, NULL, NULL},
		{{"prefix", required_argument, NULL, OPTION_PREFIX}, NULL, NULL},
		{{"sockets", required_argument, NULL, OPTION_SOCKETS}, NULL, NULL},
};
#define N_OPTIONS (sizeof(table) / sizeof(table[0]))

static void print_help(void)
{
	printf("Usage: hopsight-bench [options] [NAME...]\n\n"
	       "What a packet costs one worker in each stage and role, as nanoseconds of its "
	       "core's\n"
	       "own time and as a ratio to dpdk-testpmd's mac forwarding of the same frames,\n"
	       "measured in turn. NAME: a case, or several by a pattern ('matched_*'); all\n"
	       "without one. Needs no huge pages and no NIC.\n\n");
	for (size_t i = 0; i < N_OPTIONS; i++) {
		char name[40];
		if (!table[i].help)
			continue;
		snprintf(name, sizeof(name), "--%s%s%s", table[i].option.name,
				table[i].value[0] ? " " : "", table[i].value);
		printf("  %-24s %s\n", name, table[i].help);
	}
	printf("\nExit codes: 0 done; 1 a case failed or is slower than its baseline; 2 bad "
	       "usage.\n");
}

static void print_list(void)
{
	for (size_t i = 0; i < hs_bench_n_cases; i++)
		printf("%-22s %s\n", hs_bench_cases[i].name, hs_bench_cases[i].about);
}

__attribute__((format(printf, 1, 2))) static int usage(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "hopsight-bench: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; --help has more\n");
	return -EINVAL;
}

static int say_error(const struct hs_error *err)
{
	char text[HS_ERROR_TEXT];

	fprintf(stderr, "hopsight-bench: %s\n", hs_error_text(err, text));
	return EXIT_FAILED;
}

// ---- options ----

static int read_number(const char *word, const char *text, double min, double max, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (text[0] >= '0' && text[0] <= '9' && !*end && *value >= min && *value <= max)
		return 0;
	return usage("--%s: \"%s\" is no number from %g to %g", word, text, min, max);
}

static int read_whole(const char *word, const char *text, int min, int max, int *value)
{
	double number;
	int rc = read_number(word, text, min, max, &number);

	if (rc == 0 && number != (double)(int)number)
		return usage("--%s: \"%s\" is no whole number", word, text);
	*value = rc == 0 ? (int)number : 0;
	return rc;
}

static int read_core(const char *word, const char *text, int *core)
{
	cpu_set_t set;
	int rc = read_whole(word, text, 0, CPU_SETSIZE - 1, core);

	if (rc < 0)
		return rc;
	sched_getaffinity(0, sizeof(set), &set);
	if (!CPU_ISSET(*core, &set))
		return usage("--%s: core %d is not there", word, *core);
	return 0;
}

static int read_rounds(const char *text, struct options *o)
{
	int rounds = 0;
	int rc = read_whole("rounds", text, 1, HS_BENCH_MAX_ROUNDS / 2, &rounds);

	o->rounds = (unsigned)rounds;
	return rc;
}

static int read_option(int letter, struct options *o)
{
	struct {
		int letter;
		const char **text;
	} const texts[] = {
			{OPTION_JSON, &o->json},
			{OPTION_CARD, &o->card},
			{OPTION_BASELINE, &o->baseline},
			{OPTION_UPDATE, &o->update},
			{OPTION_MEASURE, &o->measure},
			{OPTION_PCAP, &o->pcap},
			{OPTION_PREFIX, &o->prefix},
			{OPTION_SOCKETS, &o->sockets},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].letter != letter)
			continue;
		*texts[i].text = optarg;
		return 0;
	}
	switch (letter) {
	case OPTION_SECONDS:
		return read_number("seconds", optarg, 0.01, 600, &o->seconds);
	case OPTION_PACKETS:
		return read_number("packets", optarg, 1, 1e9, &o->packets);
	case OPTION_ROUNDS:
		return read_rounds(optarg, o);
	case OPTION_WORKER:
		return read_core("worker", optarg, &o->worker);
	case OPTION_CONTROL:
		return read_core("control", optarg, &o->control);
	case OPTION_QUICK:
		o->quick = true;
		return 0;
	case OPTION_LIST:
		o->list = true;
		return 0;
	case OPTION_VERSION:
		o->version = true;
		return 0;
	case 'h':
		o->help = true;
		return 0;
	default:
		fprintf(stderr, "hopsight-bench: --help has more\n");
		return -EINVAL;
	}
}

static bool asked_for(const char *pattern, const char *name)
{
	return fnmatch(pattern, name, 0) == 0;
}

static int check_names(char **names, int n)
{
	for (int k = 0; k < n; k++) {
		size_t i = 0;
		while (i < hs_bench_n_cases && !asked_for(names[k], hs_bench_cases[i].name))
			i++;
		if (i == hs_bench_n_cases)
			return usage("there is no case \"%s\" (--list)", names[k]);
	}
	return 0;
}

// Cases come in the order of the table, whatever the order of the names.
static int choose_cases(char **names, int n, struct options *o)
{
	int rc = check_names(names, n);

	for (size_t i = 0; rc == 0 && i < hs_bench_n_cases && o->n_cases < MAX_NAMES; i++) {
		const struct hs_bench_case *spec = &hs_bench_cases[i];
		bool wanted = !n && (!o->quick || spec->quick);
		for (int k = 0; k < n; k++)
			wanted |= asked_for(names[k], spec->name);
		if (wanted)
			o->cases[o->n_cases++] = spec;
	}
	return rc;
}

// The worker uses the last core. Control uses another core if there is one.
static void choose_cores(struct options *o)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (int core = 0; core < CPU_SETSIZE && o->worker < 0; core++)
		if (CPU_ISSET(CPU_SETSIZE - 1 - core, &set))
			o->worker = CPU_SETSIZE - 1 - core;
	for (int core = 0; core < CPU_SETSIZE && o->control < 0; core++)
		if (CPU_ISSET(core, &set) && core != o->worker)
			o->control = core;
	if (o->control < 0)
		o->control = o->worker;
}

static int read_options(int argc, char **argv, struct options *o)
{
	struct option options[N_OPTIONS + 1] = {0};
	int letter, rc = 0;

	for (size_t i = 0; i < N_OPTIONS; i++)
		options[i] = table[i].option;
	while (rc == 0 && (letter = getopt_long(argc, argv, "h", options, NULL)) != -1)
		rc = read_option(letter, o);
	if (rc == 0)
		rc = choose_cases(argv + optind, argc - optind, o);
	choose_cores(o);
	if (o->seconds <= 0)
		o->seconds = o->quick ? QUICK_SECONDS : 1;
	if (!o->rounds)
		o->rounds = o->quick ? QUICK_ROUNDS : 10;
	return rc;
}

// ---- measuring ----

static int measure_one(const struct options *o)
{
	const struct hs_bench_case *spec = hs_bench_case_find(o->measure);
	struct hs_bench_child_config config = {
			.pcap = o->pcap ? o->pcap : "",
			.seconds = o->seconds,
			.packets = (uint64_t)o->packets,
			.worker_core = o->worker,
			.control_core = o->control,
			.sockets = o->sockets ? o->sockets : ".",
	};

	struct hs_error err = {0};

	if (!spec)
		return EXIT_USAGE;
	if (o->packets > 0 && hs_bench_frames_write(&spec->traffic, config.pcap, &err) < 0)
		return say_error(&err);
	snprintf(config.prefix, sizeof(config.prefix), "%s", o->prefix ? o->prefix : "hsbench");
	return hs_bench_child_run(spec, &config) == 0 ? EXIT_DONE : EXIT_FAILED;
}

// Cases that fail the comparison with the baseline get more rounds before they count as slower.
static int retry(const struct options *o, const struct hs_bench_plan *plan,
		struct hs_bench_result *result, const json_t *baseline, struct hs_error *err)
{
	bool *again = calloc((size_t)result->n, sizeof(*again)), any = false;
	struct hs_bench_plan more = *plan;
	int rc = 0;

	more.rounds = 2 * o->rounds;
	for (int i = 0; again && i < result->n; i++) {
		enum hs_bench_verdict verdict =
				hs_bench_baseline_judge(result, &result->rows[i], baseline);
		again[i] = verdict == HS_BENCH_SLOWER || verdict == HS_BENCH_OVER;
		any |= again[i];
	}
	if (any) {
		fprintf(stderr, "some are slower than the baseline: more rounds of these\n");
		rc = hs_bench_run(&more, result, again, err);
	}
	free(again);
	return rc;
}

// ---- what comes out ----

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return strdup("");
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(file);
	return text;
}

static int write_text(const char *path, const char *text)
{
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");

	if (!file || fputs(text, file) < 0 || (file == stdout ? fflush(file) : fclose(file))) {
		fprintf(stderr, "hopsight-bench: %s: cannot be written\n", path);
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

static int write_json(const char *path, json_t *json)
{
	char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(6)), *line = NULL;
	int rc = EXIT_FAILED;

	if (text && asprintf(&line, "%s\n", text) > 0)
		rc = write_text(path, line);
	free(line);
	free(text);
	json_decref(json);
	return rc;
}

static int write_card(const char *path, const struct hs_bench_result *result)
{
	char *card = NULL, *document = read_file(path), *whole = NULL;
	size_t size;
	FILE *stream = open_memstream(&card, &size);
	int rc = EXIT_FAILED;

	if (stream) {
		hs_bench_card_print(result, stream);
		fclose(stream);
	}
	if (card && document)
		whole = hs_bench_card_place(document, card);
	if (whole)
		rc = write_text(path, whole);
	free(whole);
	free(document);
	free(card);
	return rc;
}

static int show(const struct options *o, const struct hs_bench_result *result,
		const json_t *baseline)
{
	int rc = EXIT_DONE;

	if (!o->json || strcmp(o->json, "-") != 0)
		hs_bench_result_print(result, stdout);
	if (o->json)
		rc |= write_json(o->json, hs_bench_result_json(result));
	if (o->card)
		rc |= write_card(o->card, result);
	if (o->update)
		rc |= write_json(o->update, hs_bench_baseline_of(result));
	if (baseline && hs_bench_baseline_print(result, baseline, stdout))
		rc = EXIT_FAILED;
	for (int i = 0; i < result->n; i++)
		if (result->rows[i].error[0])
			rc = EXIT_FAILED;
	return rc;
}

// An interrupted run writes no card and no baseline.
static void show_partial(const struct options *o, const struct hs_bench_result *result)
{
	const struct options some = {.json = o->json};

	fprintf(stderr, "hopsight-bench: interrupted; this is what there is\n");
	json_object_set_new(result->machine, "partial", json_true());
	show(&some, result, NULL);
}

static int run(const struct options *o, const char *command)
{
	const struct hs_bench_plan plan = {
			.cases = o->cases,
			.n_cases = o->n_cases,
			.rounds = o->rounds,
			.seconds = o->seconds,
			.worker_core = o->worker,
			.control_core = o->control,
			.peers = hs_bench_peer_is_there(),
			.quick = o->quick,
	};
	struct hs_bench_result result = {0};
	struct hs_error err = {0};
	json_t *baseline = NULL;

	if (!plan.peers)
		fprintf(o->baseline ? stdout : stderr,
				"%sdpdk-testpmd is not installed: no ratios\n",
				o->baseline ? "SKIP bench: " : "");
	if (o->baseline && plan.peers && hs_bench_baseline_load(o->baseline, &baseline, &err) < 0)
		return say_error(&err), EXIT_USAGE;
	hs_bench_catch_signals();
	int rc = hs_bench_result_init(&result, &plan);
	result.machine = hs_bench_machine(command);
	if (rc == 0)
		rc = hs_bench_run(&plan, &result, NULL, &err);
	if (rc == 0 && baseline)
		rc = retry(o, &plan, &result, baseline, &err);
	if (rc == 0)
		rc = show(o, &result, baseline);
	else if (rc == -EINTR)
		show_partial(o, &result);
	else
		say_error(&err);
	json_decref(baseline);
	hs_bench_result_fini(&result);
	return rc < 0 ? EXIT_FAILED : rc;
}

static void join(int argc, char **argv, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "hopsight-bench");

	for (int i = 1; i < argc && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, " %s", argv[i]);
}

int main(int argc, char **argv)
{
	struct options options = {.worker = -1, .control = -1};
	char command[512];

	if (hs_clean_stdio("\n\t"))
		return EXIT_USAGE;
	join(argc, argv, command, sizeof(command)); // getopt reorders the words
	if (read_options(argc, argv, &options) < 0)
		return EXIT_USAGE;
	if (options.help)
		print_help();
	else if (options.version)
		printf("hopsight-bench %s\n", HS_VERSION);
	else if (options.list)
		print_list();
	else if (options.measure)
		_exit(measure_one(&options)); // DPDK's threads still run, so the process cannot end
					      // normally
	else
		return run(&options, command);
	return EXIT_DONE;
}
