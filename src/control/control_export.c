// SPDX-License-Identifier: BSD-3-Clause
#include "control_export.h"
#include "control_config.h"
#include "control_event.h"

#include "clock.h"
#include "ip_address.h"
#include "log.h"
#include "node.h"

#include <errno.h>
#include <inttypes.h>
#include <rte_common.h>
#include <string.h>

// The limit of a second is applied to shorter slices, because a burst fills a ring in less than a
// second.
#define SLICE_NS INT64_C(10000000)
#define SLICE	 (HS_EXPORTS_PER_S / 100)
#define AT_ONCE	 64 // takes the kernel some 0.2 ms

static uint64_t *count_of(struct hs_node_totals *counts, int error)
{
	switch (error) {
	case ECONNREFUSED:
		return &counts->exports_lost_refused;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENETDOWN:
	case EHOSTDOWN:
		return &counts->exports_lost_unreachable;
	default:
		return &counts->exports_lost_socket;
	}
}

static int send_one(void *context, unsigned receiver, const uint8_t *datagram, size_t bytes)
{
	struct control_export *exports = context;
	const struct hs_control_output *output = exports->output;
	int rc = output->send_export
				 ? output->send_export(output->context, receiver, datagram, bytes)
				 : -ENOTSUP;

	if (rc == 0) {
		exports->counts->exports_sent++;
	} else if (rc == -EAGAIN) {
		exports->counts->exports_socket_full++;
	} else {
		++*count_of(exports->counts, -rc);
		exports->receivers[receiver].lost++;
		exports->receivers[receiver].error = -rc;
	}
	return rc;
}

void hs_control_open_exports(struct control_export *exports, struct hs_node *node,
		const struct hs_control_output *output, struct hs_node_totals *counts)
{
	const struct hs_node_config *config = hs_node_config(node);

	exports->node = node;
	exports->output = output;
	exports->counts = counts;
	for (unsigned i = 0; i < config->n_exports; i++)
		exports->needed |= config->exports[i].port == HS_EXPORT_NO_PORT;
}

uint64_t hs_control_exports_sent(const struct control_export *exports)
{
	return exports->counts->exports_sent;
}

static unsigned portion(struct control_export *exports, int64_t now_ns)
{
	int64_t since_ns = now_ns - exports->slice_ns;

	if (since_ns >= SLICE_NS || since_ns < 0) { // the clock may be set back
		exports->slice_ns = now_ns;
		exports->left = SLICE;
	}
	return RTE_MIN(exports->left, (unsigned)AT_ONCE);
}

unsigned hs_control_send_exports(struct control_export *exports, int64_t now_ns, bool all)
{
	unsigned n_exports = hs_node_config(exports->node)->n_exports, gone = 0;

	if (!exports->needed)
		return 0;
	unsigned most = all ? UINT_MAX : portion(exports, now_ns), first = exports->next++;
	for (unsigned i = 0; i < n_exports; i++)
		gone += hs_node_send_exports(exports->node, (first + i) % n_exports, most - gone,
				send_one, exports);
	exports->left -= RTE_MIN(exports->left, gone);
	return gone;
}

// ---- events ----

static void watch_receiver(struct control_export *exports, unsigned receiver, int64_t now_ns,
		struct control_events *events)
{
	const struct hs_export_config *config = &hs_node_config(exports->node)->exports[receiver];
	int error = exports->receivers[receiver].error;
	char to[HS_IP_PORT_TEXT];
	uint64_t grown;

	if (!hs_event_limit(&exports->receivers[receiver].limit, now_ns,
			    exports->receivers[receiver].lost, &grown))
		return;
	hs_ip_port_write(&config->to, to);
	hs_log(HS_LOG_WARNING, "control", "%" PRIu64 " telemetry reports to %s were lost: %s",
			grown, to, strerror(error));
	hs_control_event(events, "exports_lost",
			json_pack("{s:s, s:I, s:s}", "to", to, "reports", (json_int_t)grown,
					"reason", strerror(error)),
			"%" PRIu64 " telemetry reports to %s were lost: %s", grown, to,
			strerror(error));
}

static void watch_rings(struct control_export *exports, int64_t now_ns, uint64_t ring_full,
		struct control_events *events)
{
	uint64_t grown;

	if (!hs_event_limit(&exports->ring_limit, now_ns, ring_full, &grown))
		return;
	hs_control_event(events, "exports_lost",
			json_pack("{s:I, s:s}", "reports", (json_int_t)grown, "reason",
					"a worker's ring to control was full"),
			"%" PRIu64 " telemetry reports were lost: a worker's ring to control was "
			"full",
			grown);
}

void hs_control_watch_exports(struct control_export *exports, int64_t now_ns, uint64_t ring_full,
		struct control_events *events)
{
	if (!exports->needed)
		return;
	for (unsigned i = 0; i < hs_node_config(exports->node)->n_exports; i++)
		watch_receiver(exports, i, now_ns, events);
	watch_rings(exports, now_ns, ring_full, events);
}

void hs_control_shift_exports(struct control_export *exports, int64_t by_ns)
{
	for (unsigned i = 0; i < HS_MAX_EXPORTS; i++)
		hs_clock_shift(&exports->receivers[i].limit.next_ns, by_ns);
	hs_clock_shift(&exports->ring_limit.next_ns, by_ns);
}
