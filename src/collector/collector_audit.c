// SPDX-License-Identifier: BSD-3-Clause
// Checks by the counters that each frame, datagram, report and point is accounted for.
#include "collector_metric.h"
#include "collector_shape.h"

#include "api_reply.h"

struct audit {
	bool ok;
	json_t *equations;
};

#define AUDIT(...) HS_SCHEMA_ROW(struct audit, __VA_ARGS__)
const struct hs_schema_field hs_collector_audit_fields[] = {
		AUDIT(BOOL, ok, "whether all of it adds up"),
		AUDIT(TAKEN, equations, "each equation", .items = hs_api_equation_fields),
		{NULL},
};

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static void add(struct audit *audit, const char *name, const char *text, uint64_t left,
		uint64_t right, json_t *terms)
{
	audit->ok &= hs_api_equation(audit->equations, &(struct hs_api_equation){.name = name,
								       .text = text,
								       .left = left,
								       .right = right,
								       .terms = terms});
}

static void audit_in(struct audit *audit, const struct hs_collector_snapshot *now)
{
	const uint64_t *kinds = now->worker.frame_kinds;
	uint64_t frames = 0;

	for (unsigned i = 0; i < HS_COLLECTOR_FRAMES; i++)
		frames += kinds[i];
	add(audit, "frames", "frames = datagram + other + fragment + malformed + scattered",
			now->worker.frames, frames,
			json_pack("{s:o, s:o, s:o, s:o, s:o}", "datagram",
					number(kinds[HS_COLLECTOR_FRAME_DATAGRAM]), "other",
					number(kinds[HS_COLLECTOR_FRAME_OTHER]), "fragment",
					number(kinds[HS_COLLECTOR_FRAME_FRAGMENT]), "malformed",
					number(kinds[HS_COLLECTOR_FRAME_MALFORMED]), "scattered",
					number(kinds[HS_COLLECTOR_FRAME_SCATTERED])));
	add(audit, "received", "socket_datagrams + frames with a datagram = datagrams",
			now->worker.socket_datagrams + kinds[HS_COLLECTOR_FRAME_DATAGRAM],
			now->collect.datagrams,
			json_pack("{s:o, s:o, s:o}", "socket_datagrams",
					number(now->worker.socket_datagrams), "frames",
					number(kinds[HS_COLLECTOR_FRAME_DATAGRAM]), "datagrams",
					number(now->collect.datagrams)));
}

// Compares reports with their counters. The first two reasons refuse a datagram, the others a
// report in a datagram.
static void audit_reports(struct audit *audit, const struct hs_collect_counters *now)
{
	json_t *reasons = json_object();
	uint64_t of_datagrams = now->refused[HS_COLLECT_REFUSED_VERSION] +
				now->refused[HS_COLLECT_REFUSED_SHORT],
		 of_reports = 0;

	for (unsigned i = 0; i < HS_COLLECT_REFUSALS; i++) {
		of_reports += now->refused[i];
		json_object_set_new(reasons, hs_collector_refusal_name(i), number(now->refused[i]));
	}
	of_reports -= of_datagrams;
	add(audit, "datagrams", "datagrams = read + refused as version or short", now->datagrams,
			now->datagrams_read + of_datagrams,
			json_pack("{s:o, s:o, s:o}", "datagrams", number(now->datagrams), "read",
					number(now->datagrams_read), "refused",
					number(of_datagrams)));
	json_object_set_new(reasons, "reports_read", number(now->reports_read));
	json_object_set_new(reasons, "reports_skipped", number(now->reports_skipped));
	add(audit, "reports", "reports = read + skipped + each other reason of refusal",
			now->reports, now->reports_read + now->reports_skipped + of_reports,
			reasons);
}

static void audit_points(struct audit *audit, const struct hs_collector_snapshot *now)
{
	uint64_t told = 0;

	for (unsigned i = 0; i < HS_COLLECT_POINT_KINDS * HS_COLLECT_CAUSES; i++)
		told += now->collect.events[i / HS_COLLECT_CAUSES][i % HS_COLLECT_CAUSES];
	add(audit, "points", "points_made = written + lost + waiting", now->worker.points_made,
			now->outcome.points + now->worker.points_lost + now->points_waiting,
			json_pack("{s:o, s:o, s:o, s:o}", "points_made",
					number(now->worker.points_made), "written",
					number(now->outcome.points), "lost",
					number(now->worker.points_lost), "waiting",
					number(now->points_waiting)));
	add(audit, "causes", "points_made = points by kind and cause", now->worker.points_made,
			told, json_object());
}

static void audit_lines(struct audit *audit, const struct hs_influx_counters *lines)
{
	uint64_t dropped = 0;

	for (unsigned i = 0; i < HS_INFLUX_DROPS; i++)
		dropped += lines->dropped[i];
	add(audit, "influx_lines", "lines made = written + dropped + waiting", lines->made,
			lines->written + dropped + lines->waiting,
			json_pack("{s:o, s:o, s:o, s:o}", "made", number(lines->made), "written",
					number(lines->written), "dropped", number(dropped),
					"waiting", number(lines->waiting)));
}

json_t *hs_collector_audit(struct hs_collector *collector)
{
	struct hs_collector_snapshot now;
	struct audit audit = {true, json_array()};

	hs_collector_snapshot(collector, &now);
	audit_in(&audit, &now);
	audit_reports(&audit, &now.collect);
	audit_points(&audit, &now);
	if (collector->influx)
		audit_lines(&audit, &now.influx);
	return hs_schema_print(hs_collector_audit_fields, &audit);
}
