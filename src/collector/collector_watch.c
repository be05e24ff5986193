// SPDX-License-Identifier: BSD-3-Clause
#include "collector_watch.h"

#include "collector_publish.h"
#include "collector_shape.h"

#include "influx.h"

#include <inttypes.h>
#include <string.h>

#define LOOK_NS INT64_C(100000000)

static void tell_refused(struct hs_collector_watch *watch, struct hs_collector *collector,
		const struct hs_collect_counters *counters, int64_t steady_ns)
{
	uint64_t now[HS_COLLECT_REFUSALS], *said = watch->refused_said, sum = 0, grown;
	unsigned most = 0;

	for (unsigned i = 0; i < HS_COLLECT_REFUSALS; i++) {
		now[i] = counters->refused[i];
		sum += now[i];
		most = now[i] - said[i] > now[most] - said[most] ? i : most;
	}
	if (!hs_event_limit(&watch->refused, steady_ns, sum, &grown))
		return;
	memcpy(said, now, sizeof(now));
	hs_collector_event(collector, "reports_refused",
			json_pack("{s:I, s:s}", "reports", (json_int_t)grown, "reason",
					hs_collector_refusal_name(most)),
			"%" PRIu64 " datagrams or reports were refused, most of all: %s", grown,
			hs_collector_refusal_text(most));
}

static void tell_lost(struct hs_collector_watch *watch, struct hs_collector *collector,
		const struct hs_collector_counters *counters, int64_t steady_ns)
{
	uint64_t lost = 0, grown;

	for (unsigned i = 0; i < collector->worker.n_sockets; i++)
		lost += hs_collector_udp_lost(collector->worker.sockets[i]);
	if (hs_event_limit(&watch->socket_lost, steady_ns, lost, &grown))
		hs_collector_event(collector, "datagrams_lost",
				json_pack("{s:I}", "packets", (json_int_t)grown),
				"the kernel dropped %" PRIu64
				" datagrams because a socket's buffer was full",
				grown);
	if (hs_event_limit(&watch->points_lost, steady_ns, counters->points_lost, &grown))
		hs_collector_event(collector, "points_lost",
				json_pack("{s:I}", "packets", (json_int_t)grown),
				"%" PRIu64 " points were lost: control was too slow for them",
				grown);
}

static void tell_tables(struct hs_collector_watch *watch, struct hs_collector *collector,
		const struct hs_collect_counters *counters, int64_t steady_ns)
{
	uint64_t full = counters->flows_evicted + counters->queues_evicted +
			counters->links_evicted + counters->exporters_evicted +
			counters->drops_evicted + counters->flows_refused +
			counters->queues_refused + counters->links_refused +
			counters->exporters_refused + counters->drops_refused,
		 grown;

	if (hs_event_limit(&watch->full, steady_ns, full, &grown))
		hs_collector_event(collector, "tables_full",
				json_pack("{s:I}", "entries", (json_int_t)grown),
				"tables are full: %" PRIu64 " entries went or were not taken",
				grown);
	if (hs_event_limit(&watch->missing, steady_ns, counters->reports_missing, &grown))
		hs_collector_event(collector, "reports_missing",
				json_pack("{s:I}", "reports", (json_int_t)grown),
				"sequence numbers say that %" PRIu64
				" datagrams were lost on the way",
				grown);
}

static void tell_lines(
		struct hs_collector_watch *watch, struct hs_collector *collector, int64_t steady_ns)
{
	struct hs_influx_counters lines;
	uint64_t dropped = 0, grown;

	hs_influx_counters(collector->lines, HS_INFLUX_ALL, &lines);
	for (unsigned i = 0; i < HS_INFLUX_DROPS; i++)
		dropped += lines.dropped[i];
	if (hs_event_limit(&watch->lines_lost, steady_ns, dropped, &grown))
		hs_collector_event(collector, "influx_lines_lost",
				json_pack("{s:I}", "lines", (json_int_t)grown),
				"%" PRIu64 " lines for databases were lost", grown);
}

void hs_collector_watch_look(
		struct hs_collector_watch *watch, struct hs_collector *collector, int64_t steady_ns)
{
	const struct hs_collect_counters *counters = hs_collect_counters(collector->worker.collect);

	if (steady_ns < watch->look_ns)
		return;
	watch->look_ns = steady_ns + LOOK_NS;
	tell_refused(watch, collector, counters, steady_ns);
	tell_lost(watch, collector, &collector->worker.counters, steady_ns);
	tell_tables(watch, collector, counters, steady_ns);
	tell_lines(watch, collector, steady_ns);
}
