// SPDX-License-Identifier: BSD-3-Clause
// Runs a scenario in a string, and keeps everything that it published.
#pragma once

#include "lab.h"

#include "eal.h"
#include "log.h"
#include "outcome.h"
#include "scenario_read.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST cmocka_unit_test

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)

#define LAB_RUN_MBUFS 8192

#define RULE                                                                                       \
	"'requests':[{'node':'*','traffic':'*','int_request':{'mode':'count','mode_setting':%d}}]"

// Nodes a, b, ... in a row, with an end node at each side.
#define TWO   "'nodes':[{'id':1,'name':'a'},{'id':2,'name':'b'}]"
#define THREE "'nodes':[{'id':1,'name':'a'},{'id':2,'name':'b'},{'id':3,'name':'c'}]"
#define SIX                                                                                        \
	"'nodes':[{'id':0,'name':'a'},{'id':1,'name':'b'},{'id':2,'name':'c'},{'id':3,'name':"     \
	"'d'},{'id':4,'name':'e'},{'id':9,'name':'f'}]"
#define FIVE_LINKS(more)                                                                           \
	"'links':[{'from':'a','to':'b','delay_ns':10000000" more "},"                              \
	"{'from':'b','to':'c','delay_ns':5000001" more "},{'from':'c','to':'d','delay_ns':0" more  \
	"},"                                                                                       \
	"{'from':'d','to':'e','delay_ns':10000000" more "},"                                       \
	"{'from':'e','to':'f','delay_ns':20000000" more "}]"

// Two nodes, a link between them and traffic over the link, each with these members, and RULE.
#define PAIR(of_run, of_link, of_traffic, more)                                                    \
	"{'name':'pair','forwarding':'patch'," of_run "," TWO                                      \
	",'links':[{'from':'a','to':'b'" of_link                                                   \
	"}],'traffic':[{'name':'t','from':'a','to':'b'," of_traffic "}]" more "," RULE "}"

// What a run is given beside its scenario.
struct lab_wish {
	struct hs_lab_config config;
	uint64_t windows_before_stop; // 0: never
	uint32_t rules;		      // overrides the scenario's number; 0: no change
};

struct lab_run {
	struct hs_scenario scenario;
	struct hs_lab *lab;
	const struct hs_run *run;
	struct hs_error err;
	int rc;
	char *text; // topics and messages, one in each line
	size_t text_bytes;
	FILE *published;
	uint64_t reports; // number of reports among them
	uint64_t windows_before_stop;
	volatile sig_atomic_t stop;
};

// The latest run. The next one ends it.
static struct lab_run r;

static inline void lab_run_publish(
		void *context, int64_t now_ns, const char *topic, const char *json)
{
	(void)context, (void)now_ns;
	// No node published the topic "run", and nobody reads what nodes say when they are
	// destroyed.
	if (strcmp(topic, "run") == 0 || !r.published)
		return;
	fprintf(r.published, "%s %s\n", topic, json);
	r.reports += strncmp(topic, "report.", 7) == 0;
	if (r.windows_before_stop && strncmp(topic, "qos.", 4) == 0 && --r.windows_before_stop == 0)
		r.stop = 1;
}

static inline void lab_run_ends(void)
{
	free(r.text);
	hs_lab_destroy(r.lab);
	hs_scenario_fini(&r.scenario);
	r = (struct lab_run){0};
}

static inline void lab_run_text(struct lab_wish wish, const char *scenario)
{
	lab_run_ends();
	if (hs_scenario_parse(scenario, strlen(scenario), ".", NULL, &r.scenario, &r.err) < 0)
		fail_msg("%s: %s", r.err.path, r.err.message);
	// Tests that fail before they clean up leave their memory. With this limit, several of them
	// fit.
	if (r.scenario.mbufs > LAB_RUN_MBUFS)
		r.scenario.mbufs = LAB_RUN_MBUFS;
	if (wish.rules)
		r.scenario.rules = wish.rules;
	r.windows_before_stop = wish.windows_before_stop;
	r.published = open_memstream(&r.text, &r.text_bytes);
	assert_non_null(r.published);
	wish.config.scenario = &r.scenario;
	wish.config.published = lab_run_publish;
	wish.config.stop = &r.stop;
	r.rc = hs_lab_create(&wish.config, &r.lab, &r.err);
	if (r.rc == 0) {
		r.rc = hs_lab_run(r.lab, &r.err);
		r.run = hs_lab_result(r.lab);
	}
	fclose(r.published);
	r.published = NULL;
}

static inline void lab_quote(char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			*text = '"';
}

// The scenario has ' in place of ".
__attribute__((format(printf, 2, 3))) static inline void lab_run_with(
		struct lab_wish wish, const char *format, ...)
{
	char text[8192];
	va_list args;

	va_start(args, format);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	assert_in_range(len, 1, sizeof(text) - 1);
	lab_quote(text);
	lab_run_text(wish, text);
}

#define lab_run(...) lab_run_with((struct lab_wish){0}, __VA_ARGS__)

static inline void assert_ran(void)
{
	if (r.rc < 0)
		fail_msg("%s: %s", r.err.path, r.err.message);
	assert_int_equal(json_array_size(r.run->audit), 0);
}

// Runs a scenario to its end.
#define lab_runs(...) (lab_run(__VA_ARGS__), assert_ran())

static inline struct hs_stream_counters traffic_of(unsigned traffic)
{
	return r.run->streams[traffic]->counters;
}

// Returns what the sink of the first flow said of the whole run.
static inline const struct hs_measured_window *whole_run(void)
{
	return &r.run->measured->flows[0].run;
}

static inline const struct hs_truth_report *report_at(size_t index)
{
	return &r.run->truth->flows[0].reports[index];
}

struct lab_number {
	const char *path;
	double value;
};

// Compares numbers of this object of the result. A row without a path ends them.
static inline void lab_assert_numbers(const char *object, const struct lab_number *rows)
{
	json_t *result = hs_outcome_json(r.run);

	for (; rows->path; rows++) {
		double value = hs_outcome_number(json_object_get(result, object), rows->path);
		if (value != rows->value)
			fail_msg("%s.%s: %g", object, rows->path, value);
	}
	json_decref(result);
}

#define ASSERT_NUMBERS(object, ...)                                                                \
	lab_assert_numbers(object, (const struct lab_number[]){__VA_ARGS__, {NULL}})

// Returns one of the numbers of a delay.
static inline int64_t delay_of(
		const struct hs_measured_window *window, uint32_t hop, const char *which)
{
	return hs_measured_integer(
			json_object_get(hs_measured_hop(window, hop), "delay_ns"), which);
}

static inline int64_t count_at(
		const struct hs_measured_window *window, uint32_t hop, const char *key)
{
	return hs_measured_integer(hs_measured_hop(window, hop), key);
}

static inline uint64_t lost_on(const struct hs_link_counters *link)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < HS_LINK_LOSSES; i++)
		sum += link->lost[i];
	return sum;
}

static inline unsigned count_of(const char *text, const char *word)
{
	unsigned n = 0;

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		n++;
	return n;
}

// Room for the scenarios of a test.
#define LAB_ROOM                                                                                   \
	"{'name':'room','duration_s':1,'forwarding':'shortest_path','mbufs':131072,'label':{},"    \
	"'topology':{'kind':'fat_tree','k':4},'traffic':[]}"

// Starts DPDK's environment with room for this scenario, which is a test's largest.
static inline void lab_start_eal(const char *scenario)
{
	struct hs_scenario room;
	struct hs_error err = {0};
	char *text = strdup(scenario);

	hs_log_setup(HS_LOG_ERROR, false);
	lab_quote(text);
	if (hs_scenario_parse(text, strlen(text), ".", NULL, &room, &err) < 0 ||
			hs_lab_eal(&room, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.path, err.message);
		exit(1);
	}
	hs_scenario_fini(&room);
	free(text);
}

static inline int lab_end_eal(int rc)
{
	lab_run_ends();
	hs_eal_fini();
	return rc;
}

#define lab_test_group(tests)                                                                      \
	(lab_start_eal(LAB_ROOM), lab_end_eal(cmocka_run_group_tests(tests, NULL, NULL)))
