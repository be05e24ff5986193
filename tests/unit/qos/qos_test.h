// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the monitor share: windows caught as they are handed out, reports by hand.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "flexint.h"
#include "qos.h"
#include "qos_parts.h"

#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ll
#define MS     1000000ll
#define US     1000ll
#define T0     (1700000040ll * SECOND) // a multiple of a minute

struct caught {
	struct hs_qos_window window;
	struct hs_qos_hop hops[192];
	uint32_t path[32];
};

struct catcher {
	struct caught *windows;
	size_t n, capacity;
};

// Hands out the open windows of all flows, and keeps the flows.
static inline void flush_all(struct hs_qos *qos)
{
	struct hs_qos_flow *next;

	for (struct hs_qos_flow *flow = qos->active; flow; flow = next) {
		next = flow->next;
		hs_qos_flush_flow(qos, flow);
	}
}

static inline void catch_window(void *user, const struct hs_qos_window *window)
{
	struct catcher *catcher = user;
	if (catcher->n == catcher->capacity) {
		catcher->capacity = catcher->capacity ? 2 * catcher->capacity : 64;
		catcher->windows = realloc(
				catcher->windows, catcher->capacity * sizeof(catcher->windows[0]));
		assert_non_null(catcher->windows);
	}
	struct caught *caught = &catcher->windows[catcher->n++];
	assert_true(window->n_hops <= 62 && window->n_path <= 32);
	caught->window = *window;
	if (window->n_hops) // none if all links of the path made room for others
		memcpy(caught->hops, window->hops, window->n_hops * sizeof(window->hops[0]));
	memcpy(caught->path, window->path, window->n_path * sizeof(window->path[0]));
}

// The n-th caught window of a length, in order; NULL: there are fewer.
static inline const struct caught *caught_at(
		const struct catcher *catcher, int64_t window_ns, size_t n)
{
	for (size_t i = 0; i < catcher->n; i++)
		if (catcher->windows[i].window.window_ns == window_ns && !n--)
			return &catcher->windows[i];
	return NULL;
}

static inline const struct caught *caught_ending(
		const struct catcher *catcher, int64_t window_ns, int64_t end_ns)
{
	for (size_t i = 0; i < catcher->n; i++)
		if (catcher->windows[i].window.window_ns == window_ns &&
				catcher->windows[i].window.end_ns == end_ns)
			return &catcher->windows[i];
	return NULL;
}

static inline const struct hs_qos_hop *hop_between(
		const struct caught *caught, uint32_t from, uint32_t to)
{
	for (unsigned i = 0; i < caught->window.n_hops; i++)
		if (caught->hops[i].from == from && caught->hops[i].to == to)
			return &caught->hops[i];
	return NULL;
}

// Windows of these lengths; NULL: the usual ones.
static inline struct hs_qos *monitor_with(struct catcher *catcher, const int64_t *window_ns)
{
	struct hs_qos *qos;
	struct hs_qos_config config = {
			.max_flows = 16,
			.on_window = catch_window,
			.user = catcher,
	};
	if (window_ns)
		memcpy(config.window_ns, window_ns, sizeof(config.window_ns));
	memset(catcher, 0, sizeof(*catcher));
	assert_int_equal(hs_qos_create(&config, &qos), 0);
	return qos;
}

static inline struct hs_qos *monitor_new(struct catcher *catcher)
{
	return monitor_with(catcher, NULL);
}

static inline void monitor_free(struct hs_qos *qos, struct catcher *catcher)
{
	hs_qos_destroy(qos);
	free(catcher->windows);
}

static const struct hs_qos_key KEY = {.ns_id = 7, .app_id = 1, .generation = 1, .sink_node_id = 9};

static inline void give(struct hs_qos *qos, const struct hs_report *report)
{
	assert_int_equal(hs_qos_report(qos, &KEY, report), 0);
}

// A report as a well-behaved path makes it: `number` packets of 562 bytes since the start, one
// each gap_ns, over the given transit nodes, 1 ms from one to the next, nothing lost.
static inline struct hs_report plain_report(
		uint64_t number, int64_t gap_ns, unsigned n_nodes, const uint16_t *nodes)
{
	struct hs_report report = {0};
	struct hs_decoded *telemetry = &report.telemetry;
	int64_t ts = T0 + (int64_t)number * gap_ns;
	telemetry->family = &hs_flexint_family;
	telemetry->ns_id = 7;
	telemetry->trace_type = 0x7000E000;
	telemetry->e2e = (struct hs_e2e){
			.bitmap = HS_E2E_TIMESTAMP | HS_E2E_TX_PACKETS | HS_E2E_TX_BYTES,
			.ts_ns = (uint64_t)ts,
			.tx_packets = (uint32_t)number,
			.tx_bytes = (uint32_t)(number * 562),
	};
	telemetry->n_hops = (uint16_t)n_nodes;
	for (unsigned i = 0; i < n_nodes; i++) {
		ts += MS;
		telemetry->hops[n_nodes - 1 - i] = (struct hs_hop){
				.node_id = nodes[i],
				.bitmap = HS_HOP_KNOWN,
				.tx_packets = (uint16_t)number,
				.rx_packets = (uint16_t)number,
				.ts_ns = (uint64_t)ts,
				.tx_bytes = (uint32_t)(number * 562),
				.rx_bytes = (uint32_t)(number * 562),
		};
	}
	report.sink_ts_ns = ts + MS;
	report.sink_rx_packets = number;
	report.sink_rx_bytes = number * 562;
	return report;
}

// Transit node i in path order.
static inline struct hs_hop *hop_of(struct hs_report *report, unsigned i)
{
	return &report->telemetry.hops[report->telemetry.n_hops - 1 - i];
}
