// SPDX-License-Identifier: BSD-3-Clause
// Runs a scenario in a string, and keeps everything that it published.
#pragma once

#include "lab.h"

#include "eal.h"
#include "log.h"
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
	char *csv;
	size_t csv_bytes;
	uint64_t windows_before_stop; // 0: never
	volatile sig_atomic_t stop;
	uint32_t rules; // overrides the scenario's number; 0: no change
};

static inline void lab_run_publish(
		void *context, int64_t now_ns, const char *topic, const char *json)
{
	struct lab_run *r = context;

	(void)now_ns;
	if (strcmp(topic, "run") == 0)
		return; // no node published this
	fprintf(r->published, "%s %s\n", topic, json);
	r->reports += strncmp(topic, "report.", 7) == 0;
	if (r->windows_before_stop && strncmp(topic, "qos.", 4) == 0 &&
			--r->windows_before_stop == 0)
		r->stop = 1;
}

static inline void lab_run_text(
		struct lab_run *r, struct hs_lab_config config, const char *scenario)
{
	if (hs_scenario_parse(scenario, strlen(scenario), ".", NULL, &r->scenario, &r->err) < 0)
		fail_msg("%s: %s", r->err.path, r->err.message);
	// Tests that fail before they clean up leave their memory. With this limit, several of them
	// fit.
	if (r->scenario.mbufs > LAB_RUN_MBUFS)
		r->scenario.mbufs = LAB_RUN_MBUFS;
	if (r->rules)
		r->scenario.rules = r->rules;
	r->published = open_memstream(&r->text, &r->text_bytes);
	assert_non_null(r->published);
	config.scenario = &r->scenario;
	config.published = lab_run_publish;
	config.context = r;
	config.stop = &r->stop;
	r->rc = hs_lab_create(&config, &r->lab, &r->err);
	if (r->rc == 0) {
		r->rc = hs_lab_run(r->lab, &r->err);
		r->run = hs_lab_result(r->lab);
	}
	fflush(r->published);
}

// The scenario has ' in place of ". Values set in `r` before are used.
__attribute__((format(printf, 3, 4))) static inline void lab_run_with(
		struct lab_run *r, struct hs_lab_config config, const char *format, ...)
{
	char text[8192];
	va_list args;

	va_start(args, format);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	assert_in_range(len, 1, sizeof(text) - 1);
	for (char *c = text; *c; c++) {
		if (*c == '\'')
			*c = '"';
	}
	lab_run_text(r, config, text);
}

#define lab_run(r, ...) lab_run_with(r, (struct hs_lab_config){0}, __VA_ARGS__)

static inline void lab_run_ends(struct lab_run *r)
{
	if (r->published)
		fclose(r->published);
	free(r->text);
	hs_lab_destroy(r->lab);
	hs_scenario_fini(&r->scenario);
	*r = (struct lab_run){0};
}

static inline void assert_ran(const struct lab_run *r)
{
	if (r->rc < 0)
		fail_msg("%s: %s", r->err.path, r->err.message);
	assert_int_equal(json_array_size(r->run->audit), 0);
}

static inline struct hs_stream_counters traffic_of(const struct lab_run *r, unsigned traffic)
{
	return r->run->streams[traffic]->counters;
}

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

// Starts DPDK's environment with room for this scenario, which is a test's largest.
static inline void lab_start_eal(const char *scenario)
{
	struct hs_scenario room;
	struct hs_error err = {0};

	hs_log_setup(HS_LOG_ERROR, false);
	if (hs_scenario_parse(scenario, strlen(scenario), ".", NULL, &room, &err) < 0 ||
			hs_lab_eal(&room, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.path, err.message);
		exit(1);
	}
	hs_scenario_fini(&room);
}
