// SPDX-License-Identifier: BSD-3-Clause
#include "bench_reports.h"

#include "bus.h"
#include "control.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUND_NS    10000000 // between two reports of a flow
#define ROUNDS	    100	     // in a second, which is the shortest window
#define WARM_ROUNDS 1100     // each flow then has a thousand reports
#define CALM_ROUNDS 20	     // after a second: its windows are closed
#define BATCH	    2048     // reports between two steps of control
#define MINUTE_NS   INT64_C(60000000000)
#define PATIENCE_NS 20000000000

// Shared with the subscriber's process.
struct subscriber {
	atomic_ulong messages, bytes, not_reports;
	atomic_bool ready;
};

struct feed {
	struct hs_bench_setup setup;
	struct hs_control *control;
	struct hs_bus *bus;
	struct subscriber *subscriber;
	pid_t subscriber_pid;
	char endpoint[96];
	int64_t now_ns;
	uint64_t step_ns; // of control
	bool counts;	  // instructions
};

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// ---- the subscriber ----

static void receive_all(struct subscriber *count, struct hs_bus_subscriber *subscriber)
{
	struct hs_bus_message message;

	atomic_store(&count->ready, true);
	for (;;) {
		if (hs_bus_subscriber_next(subscriber, 1000, &message))
			continue;
		if (strncmp(message.topic, "report.", 7) ||
				strncmp(message.json, "{\"int_report\":{", 15))
			atomic_fetch_add(&count->not_reports, 1);
		atomic_fetch_add(&count->bytes, message.len);
		atomic_fetch_add(&count->messages, 1);
		free(message.json);
	}
}

static int start_subscriber(struct feed *feed, struct hs_error *err)
{
	struct hs_bus_subscriber *subscriber;

	feed->subscriber = mmap(NULL, sizeof(*feed->subscriber), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (feed->subscriber == MAP_FAILED)
		return -errno;
	feed->subscriber_pid = fork();
	if (feed->subscriber_pid < 0)
		return -errno;
	if (!feed->subscriber_pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!hs_bus_subscriber_open(
				    feed->endpoint, "report.", true, NULL, &subscriber, err))
			receive_all(feed->subscriber, subscriber);
		_exit(1);
	}
	uint64_t begin = cpu_ns(CLOCK_MONOTONIC);
	while (!atomic_load(&feed->subscriber->ready))
		if (cpu_ns(CLOCK_MONOTONIC) - begin > PATIENCE_NS ||
				waitpid(feed->subscriber_pid, NULL, WNOHANG))
			return hs_error_set(err, "bus", "subscriber", "", "it does not come up");
	return 0;
}

static uint64_t sent(const struct feed *feed)
{
	struct hs_node_totals totals = {0};

	hs_control_totals(feed->control, &totals);
	return totals.reports_published;
}

// Waits for the subscriber. The waiting time is not counted, because the length of a queue is not
// measured.
static int let_it_read(struct feed *feed, struct hs_error *err)
{
	const struct timespec pause = {.tv_nsec = 20000};
	uint64_t begin = cpu_ns(CLOCK_MONOTONIC);

	while (atomic_load(&feed->subscriber->messages) < sent(feed)) {
		hs_bus_poll(feed->bus, 0, NULL, 0);
		nanosleep(&pause, NULL);
		if (cpu_ns(CLOCK_MONOTONIC) - begin > PATIENCE_NS)
			return hs_error_set(err, "bus", "subscriber", "",
					"%lu of %" PRIu64 " messages came",
					atomic_load(&feed->subscriber->messages), sent(feed));
	}
	return 0;
}

// ---- control ----

static int publish(void *context, const char *topic, const char *json)
{
	return hs_bus_publish(((struct feed *)context)->bus, topic, json);
}

static int open_bus(struct feed *feed, struct hs_error *err)
{
	const char *to = feed->endpoint;
	const struct hs_bus_config config = {
			.publish_to = &to,
			.n_publish_to = 1,
			.publish_queue = 2 * BATCH,
	};

	return hs_bus_open(&config, &feed->bus, err);
}

static int open_control(struct feed *feed)
{
	const struct hs_control_config config = {
			.boot_id = "0123456789abcdef",
			.monitored_rules = feed->setup.spec->rules,
	};
	const struct hs_control_output output = {
			.context = feed, .publish = feed->bus ? publish : NULL};

	feed->now_ns = hs_clock_now(feed->setup.clock);
	return hs_control_create(&config, feed->setup.node, feed->setup.clock, &output,
			feed->now_ns, &feed->control);
}

static int open_feed(struct feed *feed, const struct hs_bench_case *spec,
		const struct hs_bench_child_config *config, struct hs_error *err)
{
	int rc = 0;

	// This happens before EAL and ZeroMQ have threads that a fork would lose.
	if (spec->kind == HS_BENCH_JSON) {
		snprintf(feed->endpoint, sizeof(feed->endpoint), "ipc://%s/subscriber",
				config->sockets);
		rc = start_subscriber(feed, err);
	}
	if (rc == 0)
		rc = hs_bench_setup_open(&feed->setup, spec, config, err);
	if (rc == 0 && spec->kind == HS_BENCH_JSON)
		rc = open_bus(feed, err);
	return rc == 0 ? open_control(feed) : rc;
}

// Steps control. callgrind begins and ends counting at this function.
__attribute__((noinline)) static unsigned counted_step(struct hs_control *control, int64_t now_ns)
{
	return hs_control_step(control, now_ns);
}

// Lets control take the reports of a batch of packets.
static int take_batch(struct feed *feed, struct hs_error *err)
{
	unsigned made = 0;

	while (made < BATCH)
		made += hs_node_worker_poll(feed->setup.node, 0);
	uint64_t begin = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	unsigned taken = feed->counts ? counted_step(feed->control, feed->now_ns)
				      : hs_control_step(feed->control, feed->now_ns);
	feed->step_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	if (taken != made)
		return hs_error_set(
				err, "counters", "reports", "", "%u of %u were taken", taken, made);
	return feed->bus ? let_it_read(feed, err) : 0;
}

// Takes one report of each flow.
static int take_round(struct feed *feed, struct hs_error *err)
{
	int rc = 0;

	feed->now_ns += ROUND_NS;
	hs_clock_set(feed->setup.clock, feed->now_ns);
	for (uint32_t n = 0; rc == 0 && n < feed->setup.spec->rules; n += BATCH)
		rc = take_batch(feed, err);
	return rc;
}

// ---- the measurement ----

// Waits until the subscriber is connected. It connects with a delay, and messages before that are
// lost. The first message that arrives shows the connection.
static int await_subscription(struct feed *feed, struct hs_error *err)
{
	uint64_t begin = cpu_ns(CLOCK_MONOTONIC);

	while (!atomic_load(&feed->subscriber->messages)) {
		hs_bus_poll(feed->bus, 10, NULL, 0);
		hs_bus_publish(feed->bus, "report.0", "{\"int_report\":{}}");
		if (cpu_ns(CLOCK_MONOTONIC) - begin > PATIENCE_NS)
			return hs_error_set(err, "bus", "subscriber", "", "nothing reaches it");
	}
	const struct timespec calm = {.tv_nsec = 100000000};
	nanosleep(&calm, NULL);
	atomic_store(&feed->subscriber->messages, 0);
	atomic_store(&feed->subscriber->not_reports, 0);
	return 0;
}

static int check(const struct feed *feed, struct hs_error *err)
{
	struct hs_bench_outcome outcome;
	struct hs_node_totals totals = {0};
	int rc = hs_bench_setup_check(&feed->setup, &outcome, err);

	if (rc < 0)
		return rc;
	hs_control_totals(feed->control, &totals);
	if (outcome.reports_lost || totals.reports_taken != outcome.reports_made ||
			totals.reports_bad || totals.reports_stale)
		return hs_error_set(err, "counters", "reports", "", "not all were taken");
	if (!totals.windows_published && !feed->bus)
		return hs_error_set(err, "counters", "windows", "", "none was made");
	if (feed->bus && (totals.reports_published != outcome.reports_made ||
					 totals.reports_publish_lost ||
					 atomic_load(&feed->subscriber->messages) !=
							 totals.reports_published ||
					 atomic_load(&feed->subscriber->not_reports)))
		return hs_error_set(err, "counters", "messages", "", "not all were received");
	return 0;
}

// Takes the reports whose instructions are counted. All runs of this number of reports are alike,
// because they begin when the windows of the first second of a minute are closed. So as many
// reports wait to be added up at the begin as at the end.
static int count(struct feed *feed, struct hs_error *err)
{
	uint64_t rounds = feed->setup.config->packets / feed->setup.spec->rules;
	int rc = 0;

	feed->now_ns += MINUTE_NS - feed->now_ns % MINUTE_NS;
	for (unsigned i = 0; rc == 0 && i < ROUNDS + CALM_ROUNDS; i++)
		rc = take_round(feed, err);
	feed->counts = true;
	while (rc == 0 && rounds--)
		rc = take_round(feed, err);
	return rc;
}

static int measure(struct feed *feed, double *per_second, struct hs_error *err)
{
	uint64_t rounds, warm = feed->bus ? ROUNDS : WARM_ROUNDS;
	double limit_ns = feed->setup.config->seconds * 1e9;
	int rc = feed->bus ? await_subscription(feed, err) : 0;

	for (rounds = 0; rc == 0 && rounds < warm; rounds++)
		rc = take_round(feed, err);
	feed->step_ns = 0;
	uint64_t process_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t own_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	// Runs whole seconds, because windows close once in each.
	for (rounds = 0; rc == 0 && ((double)feed->step_ns < limit_ns || rounds % ROUNDS); rounds++)
		rc = take_round(feed, err);
	own_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - own_ns;
	process_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - process_ns;
	uint64_t others_ns = process_ns > own_ns ? process_ns - own_ns : 0;
	*per_second = (double)(rounds * feed->setup.spec->rules) * 1e9 /
		      (double)(feed->step_ns + (feed->bus ? others_ns : 0));
	return rc == 0 ? check(feed, err) : rc;
}

int hs_bench_reports(const struct hs_bench_case *spec, const struct hs_bench_child_config *config,
		double *per_second, struct hs_error *err)
{
	static struct feed feed;
	int rc = open_feed(&feed, spec, config, err);

	if (rc == 0)
		rc = config->packets ? count(&feed, err) : measure(&feed, per_second, err);
	if (feed.subscriber_pid > 0)
		kill(feed.subscriber_pid, SIGKILL);
	return rc;
}
