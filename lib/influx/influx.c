// SPDX-License-Identifier: BSD-3-Clause
#include "influx.h"

#include "influx_database.h"
#include "influx_http.h"

#include "log.h"
#include "os_clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_WAIT_MS 1000 // also how late the log hears of a full queue
#define THREAD_END_NS	INT64_C(1000000000)

struct hs_influx {
	struct hs_influx_list config;
	const char *module;
	struct influx_http *http;
	pthread_t thread;
	pthread_mutex_t lock; // protects the members below; the thread holds it briefly
	struct influx_database targets[HS_INFLUX_MAX];
	bool ending;
	int64_t end_ns;
};

static int64_t steady_ns(void)
{
	return hs_os_clock_ns(CLOCK_MONOTONIC);
}

static void tell(const struct hs_influx *influx, const struct influx_says *says)
{
	if (says->text[0])
		hs_log(says->is_good_news ? HS_LOG_NOTICE : HS_LOG_WARNING, influx->module, "%s",
				says->text);
}

// ---- the thread ----

static void take_answers(struct hs_influx *influx)
{
	struct influx_answer answer;
	unsigned index;

	while (influx_http_next(influx->http, &index, &answer)) {
		struct influx_says says = {0};
		pthread_mutex_lock(&influx->lock);
		influx_database_answer(&influx->targets[index], steady_ns(), &answer, &says);
		pthread_mutex_unlock(&influx->lock);
		tell(influx, &says);
	}
}

// Sends the batch that is due. Returns when there is more to do.
static int64_t send_due(struct hs_influx *influx, unsigned index)
{
	struct influx_database *target = &influx->targets[index];
	struct influx_says says = {0};
	int64_t now_ns = steady_ns(), due_ns;

	pthread_mutex_lock(&influx->lock);
	struct influx_batch *batch = influx_database_next(target, now_ns, &due_ns);
	influx_database_look(target, now_ns, &says);
	pthread_mutex_unlock(&influx->lock);
	tell(influx, &says);
	if (batch) // nobody else touches the batch until its answer is here
		influx_http_send(influx->http, index, batch->bytes, batch->len);
	return due_ns;
}

static int wait_ms(int64_t due_ns)
{
	int64_t left_ms = due_ns == INT64_MAX ? LONGEST_WAIT_MS
					      : (due_ns - steady_ns()) / 1000000 + 1;

	return (int)(left_ms < 0 ? 0 : left_ms < LONGEST_WAIT_MS ? left_ms : LONGEST_WAIT_MS);
}

static int64_t send_all_due(struct hs_influx *influx)
{
	int64_t first_ns = INT64_MAX;

	for (unsigned i = 0; i < influx->config.n; i++) {
		int64_t due_ns = send_due(influx, i);
		first_ns = due_ns < first_ns ? due_ns : first_ns;
	}
	return first_ns;
}

// Begins to flush the targets if the thread was told to end. Returns whether it ends now, because
// all is written or the time is over.
static bool is_over(struct hs_influx *influx, int64_t *end_ns)
{
	bool empty = true;

	pthread_mutex_lock(&influx->lock);
	bool ending = influx->ending;
	*end_ns = ending ? influx->end_ns : INT64_MAX;
	for (unsigned i = 0; i < influx->config.n; i++) {
		if (ending && !influx->targets[i].flushing)
			influx_database_flush(&influx->targets[i]);
		empty &= influx_database_is_empty(&influx->targets[i]);
	}
	pthread_mutex_unlock(&influx->lock);
	return ending && (empty || steady_ns() >= *end_ns);
}

static void drop_rest(struct hs_influx *influx)
{
	for (unsigned i = 0; i < influx->config.n; i++) {
		struct influx_says says = {0};
		pthread_mutex_lock(&influx->lock);
		influx_database_abort(&influx->targets[i], &says);
		pthread_mutex_unlock(&influx->lock);
		tell(influx, &says);
	}
}

static void *serve(void *context)
{
	struct hs_influx *influx = context;
	int64_t end_ns;

	pthread_setname_np(pthread_self(), "influx");
	while (!is_over(influx, &end_ns)) {
		int64_t due_ns = send_all_due(influx);
		influx_http_wait(influx->http, wait_ms(due_ns < end_ns ? due_ns : end_ns));
		take_answers(influx);
	}
	influx_http_close(influx->http);
	influx->http = NULL;
	drop_rest(influx);
	return NULL;
}

// ---- life ----

static int start(struct hs_influx *influx, struct hs_error *err)
{
	int rc = influx_http_open(&influx->config, &influx->http, err);

	if (rc < 0)
		return rc;
	rc = -pthread_create(&influx->thread, NULL, serve, influx);
	if (rc < 0)
		influx_http_close(influx->http);
	return rc;
}

int hs_influx_open(const struct hs_influx_list *config, const char *module,
		struct hs_influx **influx, struct hs_error *err)
{
	*influx = NULL;
	if (config->n == 0)
		return 0;
	struct hs_influx *i = calloc(1, sizeof(*i));
	if (!i)
		return -ENOMEM;
	i->config = *config;
	i->module = module;
	pthread_mutex_init(&i->lock, NULL);
	for (unsigned k = 0; k < config->n; k++)
		influx_database_init(&i->targets[k], &i->config.of[k], (uint64_t)steady_ns() + k);
	int rc = start(i, err);
	if (rc < 0) {
		pthread_mutex_destroy(&i->lock);
		free(i);
		return rc;
	}
	*influx = i;
	return 0;
}

// Returns whether the thread has ended. libcurl may wait for a name look-up that nothing can end.
// Such a thread is left behind, because the process ends soon.
static bool join(struct hs_influx *influx)
{
	int64_t end_ns = steady_ns() + HS_INFLUX_FLUSH_NS + THREAD_END_NS;
	struct timespec end = {end_ns / 1000000000, end_ns % 1000000000};

	return pthread_clockjoin_np(influx->thread, NULL, CLOCK_MONOTONIC, &end) == 0;
}

void hs_influx_close(struct hs_influx *influx)
{
	if (!influx)
		return;
	pthread_mutex_lock(&influx->lock);
	influx->ending = true;
	influx->end_ns = steady_ns() + HS_INFLUX_FLUSH_NS;
	influx_http_wake(influx->http); // before the thread can know, and end
	pthread_mutex_unlock(&influx->lock);
	if (!join(influx)) {
		hs_log(HS_LOG_WARNING, influx->module,
				"a name look-up of a database does not end; the last lines are "
				"lost");
		return;
	}
	for (unsigned i = 0; i < influx->config.n; i++)
		influx_database_fini(&influx->targets[i]);
	pthread_mutex_destroy(&influx->lock);
	free(influx);
}

// ---- for the owner ----

unsigned hs_influx_count(const struct hs_influx *influx)
{
	return influx ? influx->config.n : 0;
}

const struct hs_influx_config *hs_influx_config(const struct hs_influx *influx, unsigned index)
{
	return &influx->config.of[index];
}

void hs_influx_add(
		struct hs_influx *influx, unsigned index, const char *lines, size_t len, unsigned n)
{
	bool ripe = false;

	if (!influx || n == 0)
		return;
	pthread_mutex_lock(&influx->lock);
	for (unsigned i = 0; i < influx->config.n; i++) {
		if (index == HS_INFLUX_ALL || index == i)
			ripe |= influx_database_add(&influx->targets[i], lines, len, n);
	}
	pthread_mutex_unlock(&influx->lock);
	if (ripe)
		influx_http_wake(influx->http);
}

static void add_counters(struct hs_influx_counters *sum, const struct hs_influx_counters *one)
{
	const uint64_t *from = (const uint64_t *)one;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(uint64_t); i++)
		to[i] += from[i];
}

void hs_influx_counters(
		struct hs_influx *influx, unsigned index, struct hs_influx_counters *counters)
{
	*counters = (struct hs_influx_counters){0};
	if (!influx)
		return;
	pthread_mutex_lock(&influx->lock);
	for (unsigned i = 0; i < influx->config.n; i++) {
		struct hs_influx_counters one;
		if (index != HS_INFLUX_ALL && index != i)
			continue;
		influx_database_counters(&influx->targets[i], &one);
		add_counters(counters, &one);
	}
	pthread_mutex_unlock(&influx->lock);
}
