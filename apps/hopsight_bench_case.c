// SPDX-License-Identifier: BSD-3-Clause
// One measurement of hopsight-bench. hopsight-bench (tools/bench) starts this program for each
// measurement and reads the line of JSON that it prints.
#include "bench_child.h"
#include "bench_frames.h"
#include "bench_list.h"

#include "clean_stdio.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	EXIT_DONE,
	EXIT_FAILED,
	EXIT_USAGE
};

struct words {
	const char *list, *routes, *frames, *pcap, *seconds, *packets, *worker, *control, *prefix,
			*sockets, *huge;
};

static int usage(void)
{
	fprintf(stderr, "Usage: hopsight-bench-case --list\n"
			"       hopsight-bench-case CASE --routes\n"
			"       hopsight-bench-case CASE --frames FILE\n"
			"       hopsight-bench-case CASE --pcap FILE --worker CORE --control CORE\n"
			"                           --seconds S | --packets N\n"
			"                           [--prefix NAME] [--sockets FOLDER] [--huge]\n"
			"hopsight-bench starts it: for one measurement, or to write its frames.\n"
			"tools/peer_bench.py asks for the routes of a case.\n");
	return EXIT_USAGE;
}

static int say(json_t *line)
{
	if (!line)
		return EXIT_FAILED;
	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(line);
	return hs_clean_end("hopsight-bench-case") < 0 ? EXIT_FAILED : EXIT_DONE;
}

static bool read_words(int argc, char **argv, struct words *words)
{
	const char **texts[] = {&words->list, &words->frames, &words->pcap, &words->seconds,
			&words->packets, &words->worker, &words->control, &words->prefix,
			&words->sockets, &words->huge, &words->routes};
	static const struct option options[] = {
			{"list", no_argument, NULL, 0},
			{"frames", required_argument, NULL, 1},
			{"pcap", required_argument, NULL, 2},
			{"seconds", required_argument, NULL, 3},
			{"packets", required_argument, NULL, 4},
			{"worker", required_argument, NULL, 5},
			{"control", required_argument, NULL, 6},
			{"prefix", required_argument, NULL, 7},
			{"sockets", required_argument, NULL, 8},
			{"huge", no_argument, NULL, 9},
			{"routes", no_argument, NULL, 10},
			{0},
	};
	int index;

	while ((index = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (index >= (int)(sizeof(texts) / sizeof(texts[0])))
			return false; // '?'
		*texts[index] = optarg ? optarg : "";
	}
	return argc - optind == (words->list ? 0 : 1);
}

// Reads a number from min to 1e9. An absent option is 0.
static bool read_number(const char *text, double min, double *value)
{
	char *end;

	*value = 0;
	if (!text)
		return true;
	*value = strtod(text, &end);
	return *text && !*end && *value >= min && *value <= 1e9;
}

static int write_frames(const struct hs_bench_case *spec, const char *path)
{
	struct hs_error err;
	char text[HS_ERROR_TEXT];

	if (hs_bench_frames_write(&spec->traffic, path, &err) == 0)
		return say(json_pack("{s:i}", "frames", (int)spec->traffic.frames));
	say(json_pack("{s:s}", "error", hs_error_text(&err, text)));
	return EXIT_FAILED;
}

static int measure(const struct hs_bench_case *spec, const struct words *words)
{
	struct hs_bench_child_config config = {
			.pcap = words->pcap,
			.sockets = words->sockets ? words->sockets : ".",
			.huge_pages = words->huge,
	};
	double packets, worker, control;

	if (!read_number(words->seconds, 0.001, &config.seconds) ||
			!read_number(words->packets, 1, &packets) ||
			!read_number(words->worker, 0, &worker) ||
			!read_number(words->control, 0, &control))
		return usage();
	config.packets = (uint64_t)packets;
	config.worker_core = (int)worker;
	config.control_core = (int)control;
	snprintf(config.prefix, sizeof(config.prefix), "%s",
			words->prefix ? words->prefix : "hsbench");
	return hs_bench_child_run(spec, &config) == 0 ? EXIT_DONE : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	struct words words = {0};

	if (hs_clean_stdio("\n\t") || !read_words(argc, argv, &words))
		return usage();
	if (words.list)
		return say(hs_bench_list());
	const struct hs_bench_case *spec = hs_bench_case_find(argv[optind]);
	if (spec && words.routes)
		return say(hs_bench_list_routes(spec));
	if (spec && words.frames)
		return write_frames(spec, words.frames);
	if (!spec || !words.pcap || !words.worker || !words.control ||
			!words.seconds == !words.packets)
		return usage();
	// DPDK's threads still run, so the process cannot end normally.
	_exit(measure(spec, &words));
}
