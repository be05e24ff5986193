// SPDX-License-Identifier: BSD-3-Clause
// `hopsight-lab run`: runs a scenario from its file and writes tables, files and an exit code.
#include "hopsight_lab.h"

#include "eal.h"
#include "lab.h"
#include "lab_progress.h"
#include "lab_table.h"
#include "lab_words.h"
#include "log.h"
#include "outcome.h"
#include "whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	JSON,
	PACKETS,
	PUBLISHED,
	N_FILES
};

struct work {
	const struct lab_options *options;
	char file[HS_LAB_PATH];
	struct hs_scenario scenario;
	struct hs_whole_file files[N_FILES];
	bool json_on_stdout, eal_open;
	struct hs_lab_line line;
	struct hs_lab *lab;
	json_t *result;
	size_t unmet; // expectations
};

// ---- signals ----

static volatile sig_atomic_t stop;

static void take_signal(int number)
{
	static const char text[] = "\nhopsight-lab: second signal: exiting at once\n";

	(void)number;
	if (!stop) {
		stop = 1;
		return;
	}
	hs_whole_file_remove_all();
	ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)n;
	_exit(LAB_FAILED);
}

// Installs the handler of signals. The threads that EAL starts block all signals, so that only this
// thread is interrupted.
static void take_signals(void)
{
	struct sigaction action = {.sa_handler = take_signal};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

// ---- before the run ----

// Refuses a second output to a file, and standard output for lines that belong into a file.
static int check_path(const char *const paths[N_FILES], size_t i, struct hs_error *err)
{
	static const char *const options[N_FILES] = {"--json", "--packets", "--published"};

	if (strcmp(paths[i], "-") == 0)
		return hs_error_set(err, "bad_value", options[i], "a file",
				"- is standard output, which --json alone can use");
	for (size_t k = 0; k < i; k++)
		if (paths[k] && strcmp(paths[k], paths[i]) == 0)
			return hs_error_set(err, "bad_value", options[i], "a file of its own",
					"%s writes %s already", options[k], paths[i]);
	return 0;
}

// Opens the output files before the run, so that a run of minutes does not end with a file that
// cannot be written.
static int open_files(struct work *work)
{
	const struct lab_options *options = work->options;
	const char *paths[N_FILES] = {options->json, options->packets, options->published};
	struct hs_error err = {0};
	int rc = 0;

	work->json_on_stdout = options->json && strcmp(options->json, "-") == 0;
	if (work->json_on_stdout)
		paths[JSON] = NULL;
	for (size_t i = 0; i < N_FILES && rc == 0; i++)
		if (paths[i])
			rc = check_path(paths, i, &err)
					     ?: hs_whole_file_open(&work->files[i], paths[i], &err);
	if (rc == 0)
		return LAB_DONE;
	lab_say_error(NULL, &err);
	return LAB_USAGE;
}

// ---- the run ----

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void say_total(const struct work *work, double wall_s)
{
	const struct hs_run *run = hs_lab_result(work->lab);
	char events[HS_LAB_WORD];

	if (work->options->quiet)
		return;
	hs_lab_number((double)run->events, events);
	fprintf(stderr, "%.6g s of %s time in %.1f s, %s events%s\n",
			(double)(run->end_ns - run->start_ns) / 1e9, run->real ? "real" : "virtual",
			wall_s, events, run->partial ? ": interrupted" : "");
}

// Prints the error of a run, and returns the exit code. A limit of the machine is no error of the
// scenario.
static int say_failure(const struct work *work, int rc, struct hs_error *err)
{
	if (!hs_error_is_set(err))
		hs_error_set(err, "internal", "", "", "%s", strerror(-rc));
	lab_say_error(work->file, err);
	return rc == -EINVAL ? LAB_USAGE : LAB_FAILED;
}

static void show_progress(void *context, const struct hs_lab_progress *progress)
{
	hs_lab_line_show(&((struct work *)context)->line, progress);
}

static void write_published(void *context, int64_t now_ns, const char *topic, const char *json)
{
	const struct work *work = context;

	fprintf(work->files[PUBLISHED].stream,
			"{\"at_ns\":%" PRId64 ",\"topic\":\"%s\",\"message\":%s}\n", now_ns, topic,
			json);
}

static int create(struct work *work)
{
	bool shows = !work->options->quiet && isatty(STDERR_FILENO);
	struct hs_lab_config config = {
			.scenario = &work->scenario,
			.real = work->options->real,
			.stop = &stop,
			.packets = work->files[PACKETS].stream,
			.progress = shows ? show_progress : NULL,
			.published = work->files[PUBLISHED].stream ? write_published : NULL,
			.context = work,
	};
	struct hs_error err = {0};
	int rc;

	work->line = (struct hs_lab_line){.to = stderr};
	rc = hs_lab_eal(&work->scenario, &err);
	if (rc < 0) {
		say_failure(work, rc, &err);
		return LAB_FAILED;
	}
	work->eal_open = true;
	rc = hs_lab_create(&config, &work->lab, &err);
	return rc < 0 ? say_failure(work, rc, &err) : LAB_DONE;
}

static int run(struct work *work)
{
	double begin_s = seconds_now();
	struct hs_error err = {0};
	int rc = hs_lab_run(work->lab, &err);

	hs_lab_line_clear(&work->line);
	if (rc < 0 && rc != -EINTR) {
		say_failure(work, rc, &err);
		return LAB_FAILED;
	}
	say_total(work, seconds_now() - begin_s);
	work->result = hs_outcome_json(hs_lab_result(work->lab));
	if (work->result)
		return LAB_DONE;
	fprintf(stderr, "hopsight-lab: no memory for the result\n");
	return LAB_FAILED;
}

// ---- after the run ----

static int write_files(struct work *work, struct hs_error *err)
{
	FILE *json = work->json_on_stdout ? stdout : work->files[JSON].stream;
	int rc = 0;

	// If the text cannot be written, the file's commit or the end of the program says so.
	if (json && lab_dump(work->result, json, JSON_REAL_PRECISION(15)) < 0 && !ferror(json))
		return hs_error_set(err, "no_memory", "", "", "no memory for the result");
	for (size_t i = 0; i < N_FILES && rc == 0; i++)
		if (work->files[i].stream)
			rc = hs_whole_file_commit(&work->files[i], err);
	return rc;
}

// Prints tables, then expectations. The last line says how many expectations were met.
static int print(struct work *work)
{
	const struct hs_run *result = hs_lab_result(work->lab);
	bool unmet_alone = work->options->quiet || work->json_on_stdout;
	FILE *to = work->json_on_stdout ? stderr : stdout;
	int rc = 0;

	if (!unmet_alone) {
		rc = hs_lab_table_print(stdout, &work->scenario, work->result);
		if (json_array_size(json_object_get(work->result, "expect")))
			printf("\nExpectations\n");
	}
	work->unmet = hs_lab_expect_print(to, work->result, unmet_alone);
	if (result->partial)
		fprintf(to, "interrupted: partial results\n");
	if (!work->json_on_stdout || !work->options->quiet)
		hs_lab_expect_total(to, work->result, work->unmet);
	return rc;
}

static int tell(struct work *work)
{
	struct hs_error err = {0};
	int rc = write_files(work, &err);

	if (rc < 0)
		lab_say_error(NULL, &err);
	if (print(work) < 0)
		rc = -EIO;
	return rc < 0 || hs_lab_result(work->lab)->partial || work->unmet ? LAB_FAILED : LAB_DONE;
}

// ---- all of it ----

static void release(struct work *work)
{
	for (size_t i = 0; i < N_FILES; i++)
		hs_whole_file_abandon(&work->files[i]);
	json_decref(work->result);
	hs_lab_destroy(work->lab);
	if (work->eal_open)
		hs_eal_fini();
}

int lab_run(const struct lab_options *options)
{
	static struct work work; // two paths of a file are too large for the stack
	int code;

	work.options = options;
	hs_log_setup(HS_LOG_WARNING, false);
	code = lab_load(options, work.file, &work.scenario);
	if (code != LAB_DONE)
		return code;
	code = open_files(&work);
	if (code == LAB_DONE) {
		take_signals();
		code = create(&work);
		if (code == LAB_DONE)
			code = run(&work);
		if (code == LAB_DONE)
			code = tell(&work);
	}
	release(&work);
	hs_scenario_fini(&work.scenario);
	return code;
}
