// SPDX-License-Identifier: BSD-3-Clause
// The event loop of the lab. It runs what is due next: a frame, an event of the scenario, a stream
// or a node's control.
#include "lab.h"

#include "lab_parts.h"

#include "os_clock.h"

#include <rte_common.h>
#include <rte_mempool.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS   INT64_C(1000000000)
#define LOOK_EVENTS 256		      // between two checks of the stop flag and of the clock
#define SLEEP_NS    INT64_C(50000000) // on the wall clock, between two checks of the stop flag
#define PROGRESS_NS INT64_C(100000000)
#define DRAIN_NS    (60 * SECOND_NS) // after the run's end, streams that still send are stopped
// After the last frame, control continues until the windows that ended before this frame have
// closed.
#define SETTLE_NS (LAB_LATENESS_NS + LAB_LATENESS_NS / 2)

void lab_fail_as(struct hs_lab *lab, int rc, const struct hs_error *err)
{
	if (lab->rc < 0)
		return;
	lab->rc = rc;
	lab->err = *err;
	if (!hs_error_is_set(err))
		hs_error_set(&lab->err, "internal", err->path, "", "%s", strerror(-rc));
}

// ---- the machine's time ----

// Returns true time by the machine's clock. It does not jump when the machine's wall clock does.
static int64_t wall_ns(const struct hs_lab *lab)
{
	return lab->run.start_ns + hs_os_clock_ns(CLOCK_MONOTONIC) - lab->monotonic_ns;
}

static bool is_stopped(const struct hs_lab *lab)
{
	return lab->config.stop && *lab->config.stop;
}

static void sleep_until(const struct hs_lab *lab, int64_t at_ns)
{
	int64_t left_ns;

	while (!is_stopped(lab) && (left_ns = at_ns - wall_ns(lab)) > 0)
		nanosleep(&(struct timespec){0, RTE_MIN(left_ns, SLEEP_NS)}, NULL);
}

static double passed_s(const struct hs_lab *lab)
{
	return (double)(hs_os_clock_ns(CLOCK_MONOTONIC) - lab->monotonic_ns) / (double)SECOND_NS;
}

static void tell_progress(struct hs_lab *lab)
{
	int64_t now_ns = hs_os_clock_ns(CLOCK_MONOTONIC);

	if (!lab->config.progress || now_ns < lab->progress_ns)
		return;
	lab->progress_ns = now_ns + PROGRESS_NS;
	struct hs_lab_progress progress = {
			.done_ns = lab->now_ns - lab->run.start_ns,
			.duration_ns = lab->scenario->duration_ns,
			.events = lab->run.events,
			.packets = lab->packets,
			.wall_s = passed_s(lab),
	};
	lab->config.progress(lab->config.context, &progress);
}

// ---- events ----

bool lab_push(struct hs_lab *lab, int64_t at_ns, hs_lab_event_fn *run, uintptr_t about)
{
	if (likely(hs_event_push(&lab->queue, at_ns, run, about) == 0))
		return true;
	lab_fail(lab, -ENOMEM, "no_memory", "", "", "no memory for events");
	return false;
}

static void run_next(struct hs_lab *lab)
{
	struct hs_lab_event event = lab->queue.heap[0];

	hs_event_pop(&lab->queue, &event); // a timer stays, until it is set
	lab->now_ns = lab->config.real ? RTE_MAX(wall_ns(lab), event.at_ns) : event.at_ns;
	lab->run.events++;
	event.run(lab, &event);
}

// Returns whether nothing is under way.
static bool is_quiet(const struct hs_lab *lab)
{
	bool quiet = !lab->in_flight && !lab->n_waiting && !lab->extras && !lab_monitor_runs(lab);

	for (uint32_t t = 0; quiet && t < lab->scenario->n_traffic; t++)
		quiet = hs_event_timer_ns(&lab->queue, t) == HS_EVENT_NEVER;
	return quiet;
}

static bool goes_on(const struct hs_lab *lab)
{
	return lab->rc == 0 && !lab->run.partial;
}

// Runs what is due before *end_ns, which an event may move to an earlier time. If until_quiet is
// set, stops as soon as nothing is under way.
static void run_until(struct hs_lab *lab, const int64_t *end_ns, bool until_quiet)
{
	while (goes_on(lab) && !(until_quiet && is_quiet(lab))) {
		int64_t at_ns = hs_event_next_ns(&lab->queue);
		if (at_ns >= *end_ns)
			return;
		if (lab->config.real)
			sleep_until(lab, at_ns);
		if (lab->config.real || lab->run.events % LOOK_EVENTS == 0) {
			lab->run.partial = is_stopped(lab);
			tell_progress(lab);
		}
		if (!lab->run.partial)
			run_next(lab);
	}
}

static void follow_streams(struct hs_lab *lab)
{
	for (uint32_t t = 0; t < lab->scenario->n_traffic; t++)
		lab_follow_stream(lab, t);
}

void lab_end_now(struct hs_lab *lab)
{
	if (lab->now_ns >= lab->run.end_ns)
		return;
	lab->run.end_ns = lab->now_ns;
	for (uint32_t t = 0; t < lab->scenario->n_traffic; t++)
		hs_stream_stop(lab->run.streams[t], lab->now_ns);
	follow_streams(lab);
}

static void drain(struct hs_lab *lab)
{
	const int64_t drained_ns = lab->run.end_ns + DRAIN_NS, never_ns = HS_EVENT_NEVER;

	lab_push_closings(lab);
	run_until(lab, &drained_ns, true);
	if (!is_quiet(lab)) {
		lab->cut = true;
		follow_streams(lab);
	}
	run_until(lab, &never_ns, true);
	const int64_t settled_ns = lab->now_ns + SETTLE_NS;
	run_until(lab, &settled_ns, false);
}

// ---- the run ----

static void start(struct hs_lab *lab)
{
	lab->monotonic_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	follow_streams(lab);
	for (uint32_t i = 0; i < lab->scenario->n_nodes; i++)
		lab_control_step(&lab->nodes[i]);
	lab_push_openings(lab);
	lab_push_events(lab);
}

int hs_lab_run(struct hs_lab *lab, struct hs_error *err)
{
	start(lab);
	run_until(lab, &lab->run.end_ns, false);
	if (goes_on(lab)) {
		lab->now_ns = RTE_MAX(lab->now_ns, lab->run.end_ns);
		drain(lab);
	}
	if (lab->run.partial && lab->now_ns < lab->run.end_ns)
		lab->run.end_ns = lab->now_ns;
	if (lab->rc == 0)
		lab_collect(lab);
	if (lab->config.real)
		lab->run.wall_s = passed_s(lab);
	if (lab->rc < 0)
		*err = lab->err;
	return lab->rc == 0 && lab->run.partial ? -EINTR : lab->rc;
}

const struct hs_run *hs_lab_result(const struct hs_lab *lab)
{
	return &lab->run;
}

// ---- making ----

static int make(struct hs_lab *lab, struct hs_error *err)
{
	const struct hs_scenario *s = lab->scenario;
	int rc = lab_make_pool(lab, err);

	memset(lab->by_id, 0xff, sizeof(lab->by_id));
	for (uint32_t i = 0; i < s->n_nodes; i++)
		lab->by_id[s->nodes[i].id] = i;
	for (uint32_t t = 0; rc == 0 && t < s->n_traffic; t++)
		rc = hs_event_add_timer(&lab->queue, lab_stream_due, t);
	for (uint32_t i = 0; rc == 0 && i < s->n_nodes; i++)
		rc = hs_event_add_timer(&lab->queue, lab_control_due, i);
	for (uint32_t i = 0; rc == 0 && i < s->n_nodes; i++)
		rc = hs_event_add_timer(&lab->queue, lab_departure, i);
	return rc ?: hs_truth_create((uint32_t)s->n_flows, s->window_ns, &lab->run.truth)
		?: hs_measured_create(s, &lab->run.measured)
		?: lab_make_label(lab)
		?: lab_make_probing(lab, err)
		?: lab_make_net(lab, err);
}

int hs_lab_create(const struct hs_lab_config *config, struct hs_lab **out, struct hs_error *err)
{
	struct hs_lab *lab = calloc(1, sizeof(*lab));

	if (!lab)
		return -ENOMEM;
	lab->config = *config;
	lab->scenario = config->scenario;
	lab->now_ns = config->real ? hs_os_clock_wall_ns() : HS_LAB_START_NS;
	lab->run = (struct hs_run){
			.scenario = config->scenario,
			.start_ns = lab->now_ns,
			.end_ns = lab->now_ns + config->scenario->duration_ns,
			.config_changed_ns = INT64_MAX,
			.real = config->real,
			.audit = json_array(),
	};
	int rc = make(lab, err);
	if (rc < 0) {
		if (!hs_error_is_set(err))
			hs_error_set(err, "no_memory", "", "", "%s", strerror(-rc));
		hs_lab_destroy(lab);
		return rc;
	}
	if (config->packets)
		lab_packets_header(config->packets);
	*out = lab;
	return 0;
}

void hs_lab_destroy(struct hs_lab *lab)
{
	if (!lab)
		return;
	lab_free_net(lab);
	lab_free_label(lab);
	lab_free_probing(lab);
	hs_event_queue_fini(&lab->queue);
	hs_measured_destroy(lab->run.measured);
	hs_truth_destroy(lab->run.truth);
	json_decref(lab->run.audit);
	rte_mempool_free(lab->pool); // with the packets that are under way
	free(lab);
}
