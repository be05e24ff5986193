// SPDX-License-Identifier: BSD-3-Clause
// The loop. It runs what is due next: a frame, an event of the scenario, a stream or a node's
// control.
#include "lab_parts.h"

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS   INT64_C(1000000000)
#define LOOK_EVENTS 256		      // between two checks of the stop flag and of the clock
#define SLEEP_NS    INT64_C(50000000) // on the wall clock, between two checks of the stop flag
#define PROGRESS_NS INT64_C(100000000)
#define DRAIN_NS    (60 * SECOND_NS) // after the end, endless streams are cut off
// After the last frame, control continues until the windows that had ended by then have closed.
#define SETTLE_NS (LAB_LATENESS_NS + LAB_LATENESS_NS / 2)

void lab_fail(struct hs_lab *lab, int rc, const char *code, const char *path, const char *format,
		...)
{
	char text[sizeof(lab->err.message)];
	va_list args;

	if (lab->rc < 0)
		return;
	lab->rc = rc;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	hs_error_set(&lab->err, code, path, "", "%s", text);
}

// ---- the machine's time ----

static int64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

// Returns true time by the machine's clock. It does not jump when the machine's wall clock does.
static int64_t wall_ns(const struct hs_lab *lab)
{
	return lab->start_ns + read_clock(CLOCK_MONOTONIC) - lab->monotonic_ns;
}

static bool is_stopped(const struct hs_lab *lab)
{
	return lab->config.stop && *lab->config.stop;
}

static void sleep_until(const struct hs_lab *lab, int64_t at_ns)
{
	while (!is_stopped(lab)) {
		int64_t left_ns = at_ns - wall_ns(lab);
		if (left_ns <= 0)
			return;
		if (left_ns > SLEEP_NS)
			left_ns = SLEEP_NS;
		int64_t until_ns = read_clock(CLOCK_MONOTONIC) + left_ns;
		struct timespec until = {until_ns / SECOND_NS, until_ns % SECOND_NS};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

static void tell_progress(struct hs_lab *lab)
{
	int64_t now_ns = read_clock(CLOCK_MONOTONIC);
	int64_t done_ns = lab->now_ns - lab->start_ns;

	if (!lab->config.progress || now_ns < lab->progress_ns)
		return;
	lab->progress_ns = now_ns + PROGRESS_NS;
	struct hs_lab_progress progress = {
			.done_ns = done_ns,
			.duration_ns = lab->scenario->duration_ns,
			.events = lab->events,
			.packets = lab->packets,
			.wall_s = (double)(now_ns - lab->monotonic_ns) / (double)SECOND_NS,
	};
	lab->config.progress(lab->config.context, &progress);
}

// ---- events ----

static void run_queued(struct hs_lab *lab)
{
	struct hs_lab_event event;
	struct hs_error err = {0};

	hs_event_pop(&lab->queue, &event);
	switch ((enum lab_event_kind)event.kind) {
	case LAB_FRAME:
		lab_frame_arrives(lab, event.index, event.subject);
		return;
	case LAB_SCENARIO:
		lab_scenario_event(lab, event.index, event.at_ns);
		return;
	case LAB_REROUTE:
		if (lab_reroute(lab, &err) < 0)
			lab_fail(lab, -EINVAL, "routes", err.path, "%s", err.message);
		return;
	case LAB_NODE_BACK:
		lab_node_back(lab, event.index);
		return;
	case LAB_CLOSING:
		lab_closing(lab, event.index);
		return;
	case LAB_OPENING:
		lab_opening(lab, event.index);
		return;
	case LAB_OPENED:
		lab_opened(lab, event.index);
		return;
	}
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void run_next(struct hs_lab *lab, int64_t at_ns)
{
	int64_t now_ns = lab->config.real ? wall_ns(lab) : at_ns;

	lab->now_ns = now_ns > at_ns ? now_ns : at_ns;
	lab->events++;
	if (hs_event_next_ns(&lab->queue) == at_ns)
		run_queued(lab);
	else if (hs_timers_next_ns(&lab->stream_timers) == at_ns)
		lab_stream_due(lab, hs_timers_first(&lab->stream_timers));
	else
		lab_control_step(lab, hs_timers_first(&lab->control_timers));
}

// Returns whether something is still under way.
static bool is_quiet(const struct hs_lab *lab)
{
	return !lab->in_flight && !lab->closings &&
	       hs_timers_next_ns(&lab->stream_timers) == HS_EVENT_NEVER;
}

// Runs what is due before this time, or until nothing is under way. Returns 0, -EINTR, or the
// failure.
static int run_until(struct hs_lab *lab, int64_t end_ns, bool until_quiet)
{
	while (lab->rc == 0 && !(until_quiet && is_quiet(lab))) {
		int64_t at_ns = earlier(hs_event_next_ns(&lab->queue),
				earlier(hs_timers_next_ns(&lab->stream_timers),
						hs_timers_next_ns(&lab->control_timers)));
		if (at_ns >= end_ns)
			break;
		if (lab->config.real)
			sleep_until(lab, at_ns);
		if (lab->config.real || lab->events % LOOK_EVENTS == 0) {
			if (is_stopped(lab))
				return -EINTR;
			tell_progress(lab);
		}
		run_next(lab, at_ns);
	}
	return lab->rc;
}

static void silence_streams(struct hs_lab *lab)
{
	for (uint32_t t = 0; t < lab->scenario->n_traffic; t++)
		hs_timers_set(&lab->stream_timers, t, HS_EVENT_NEVER);
}

static int run_all(struct hs_lab *lab)
{
	int rc = run_until(lab, lab->end_ns, false);

	if (rc < 0)
		return rc;
	lab->now_ns = lab->end_ns > lab->now_ns ? lab->end_ns : lab->now_ns;
	lab_push_closings(lab);
	rc = run_until(lab, lab->end_ns + DRAIN_NS, true);
	if (rc == 0 && !is_quiet(lab)) {
		silence_streams(lab);
		rc = run_until(lab, HS_EVENT_NEVER, true);
	}
	return rc < 0 ? rc : run_until(lab, lab->now_ns + SETTLE_NS, false);
}

// ---- the run ----

static int start(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;

	lab->monotonic_ns = read_clock(CLOCK_MONOTONIC);
	lab_announce(lab);
	for (uint32_t t = 0; t < s->n_traffic; t++)
		hs_timers_set(&lab->stream_timers, t, hs_stream_next_ns(lab->streams[t]));
	for (uint32_t i = 0; i < s->n_nodes; i++)
		lab_control_step(lab, i);
	int rc = lab_push_openings(lab);
	return rc < 0 ? rc : lab_push_events(lab);
}

int hs_lab_run(struct hs_lab *lab, struct hs_error *err)
{
	int rc = start(lab);

	if (rc == 0)
		rc = run_all(lab);
	lab->run.partial = rc == -EINTR;
	if (lab->run.partial)
		lab->run.end_ns = earlier(lab->now_ns, lab->end_ns);
	if (rc == 0 || lab->run.partial) {
		int collected = lab_collect(lab);
		rc = collected < 0 ? collected : rc;
	}
	lab->run.events = lab->events;
	if (lab->config.real)
		lab->run.wall_s = (double)(read_clock(CLOCK_MONOTONIC) - lab->monotonic_ns) /
				  (double)SECOND_NS;
	if (rc < 0 && rc != -EINTR && err)
		*err = lab->err;
	return rc;
}

const struct hs_run *hs_lab_result(const struct hs_lab *lab)
{
	return &lab->run;
}

// ---- making ----

static int make(struct hs_lab *lab, struct hs_error *err)
{
	const struct hs_scenario *s = lab->scenario;

	lab->run.audit = json_array();
	hs_event_queue_init(&lab->queue);
	hs_event_queue_init(&lab->announcements);
	int rc = lab_make_pool(lab, err);
	if (rc == 0)
		rc = hs_timers_init(&lab->stream_timers, (uint32_t)s->n_traffic);
	if (rc == 0)
		rc = hs_timers_init(&lab->control_timers, (uint32_t)s->n_nodes);
	if (rc == 0)
		rc = hs_truth_create((uint32_t)s->n_flows, (uint32_t)s->n_nodes, s->window_ns,
				&lab->truth);
	if (rc == 0)
		rc = hs_measured_create(s, &lab->measured);
	return rc == 0 ? lab_make_net(lab, err) : rc;
}

static void describe(struct hs_lab *lab)
{
	struct hs_run *run = &lab->run;

	run->scenario = lab->scenario;
	run->truth = lab->truth;
	run->measured = lab->measured;
	run->streams = lab->streams;
	run->node_counts = lab->node_counts;
	run->links = (const struct hs_link_counters(*)[2])lab->link_counters;
	run->start_ns = lab->start_ns;
	run->end_ns = lab->end_ns;
	run->real = lab->config.real;
}

int hs_lab_create(const struct hs_lab_config *config, struct hs_lab **out, struct hs_error *err)
{
	struct hs_error own = {0};
	struct hs_lab *lab = calloc(1, sizeof(*lab));

	if (!err)
		err = &own;
	if (!lab)
		return -ENOMEM;
	lab->config = *config;
	lab->scenario = config->scenario;
	lab->start_ns = config->real ? read_clock(CLOCK_REALTIME) : HS_LAB_START_NS;
	lab->now_ns = lab->start_ns;
	lab->end_ns = lab->start_ns + config->scenario->duration_ns;
	lab->run.config_changed_ns = INT64_MAX;
	int rc = make(lab, err);
	if (rc < 0) {
		if (!hs_error_is_set(err))
			hs_error_set(err, "no_memory", "", "", "%s", strerror(-rc));
		hs_lab_destroy(lab);
		return rc;
	}
	describe(lab);
	if (config->packets)
		lab_packets_header(config->packets);
	*out = lab;
	return 0;
}

static void free_frames(struct hs_event_queue *queue)
{
	struct hs_lab_event event;

	while (hs_event_pop(queue, &event)) {
		if (event.kind == LAB_FRAME)
			rte_pktmbuf_free(event.subject);
	}
	hs_event_queue_fini(queue);
}

void hs_lab_destroy(struct hs_lab *lab)
{
	if (!lab)
		return;
	free_frames(&lab->queue);
	free_frames(&lab->announcements);
	lab_free_net(lab);
	hs_measured_destroy(lab->measured);
	hs_truth_destroy(lab->truth);
	hs_timers_fini(&lab->stream_timers);
	hs_timers_fini(&lab->control_timers);
	json_decref(lab->run.audit);
	rte_mempool_free(lab->pool);
	free(lab);
}
