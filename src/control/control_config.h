// SPDX-License-Identifier: BSD-3-Clause
// The configuration of control: what a daemon, a lab or a test gives it.
//
// Thread rule: values.
#pragma once

#include "in_band_settings.h"
#include "metric.h"
#include "qos.h"

#include <jansson.h>
#include <stdint.h>

struct hs_dpdk_telemetry;

// The destinations of messages. Each may be NULL.
struct hs_control_output {
	void *context;
	// Publishes a topic and a JSON text, which are valid during the call. Returns 0, or -EAGAIN
	// if a subscriber missed the message.
	int (*publish)(void *context, const char *topic, const char *json);
	// Gets what is published as JSON: the content of a "qos_report" or "event".
	void (*record)(void *context, const char *key, const json_t *content);
	// Sends a telemetry report to a receiver without a port: hs_export_send_fn. NULL: all such
	// reports are lost.
	int (*send_export)(void *context, unsigned receiver, const uint8_t *datagram, size_t bytes);
	// Adds the transport's counts: requests, replies, connections, lines for databases.
	void (*totals)(void *context, struct hs_node_totals *totals);
};

// Who asked for a rule.
enum hs_rule_origin {
	HS_ORIGIN_API,
	HS_ORIGIN_CONFIG,
	HS_ORIGIN_IN_BAND,
	HS_ORIGIN_STATE,
};

struct hs_control_config {
	char boot_id[24];		   // hexadecimal digits that change with every start
	uint32_t monitored_rules;	   // number of rules that can have a monitor at once
	uint64_t monitor_bytes;		   // memory of all monitors; 0: no limit
	int64_t window_ns[HS_QOS_WINDOWS]; // 0 ends them; without any: 1, 10 and 60 s
	// Members that node_get repeats, among them "polling" and the endpoints. May be NULL;
	// borrowed for the life of the control.
	json_t *settings;
	struct hs_dpdk_telemetry *telemetry;	   // may be NULL; borrowed
	const struct hs_in_band_settings *in_band; // NULL: the defaults; copied
	// A step takes well under a millisecond, however many reports wait, because requests wait
	// for it.
	bool brief_steps;
	// Workers add up reports for the monitor while reports pile up (hs_node_set_help). No
	// worker may run when control is created or destroyed.
	bool workers_help;
	// Keeps the delays of all reports in buckets, for hs_control_page.
	bool delay_buckets;
	// Returns the owner's processor time so far, which limits what a list of requests may ask
	// for. May be NULL.
	int64_t (*spent_ns)(void);
	// The limits of the owner's sockets, for hello. NULL: there are no sockets. Borrowed for
	// the life of the control.
	const struct hs_api_connection_limits *connection;
};
