// SPDX-License-Identifier: BSD-3-Clause
// The QoS monitor: reports of flows in, metrics of windows out (docs/metrics.md).
//
// Source: 000_616928c59136b059.txt section III-F and algorithm 1, with the corrections that
// docs/metrics.md numbers.
// Thread rule: owner (the control thread). Time is an input; nothing here reads a clock.
#pragma once

#include "qos_answer.h"
#include "qos_close.h"
#include "qos_config.h"
#include "qos_help.h"
#include "qos_memory.h"
#include "qos_own_clock.h"

#include "report.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_qos;

// Returns 0, -EINVAL (a window length is not a multiple of the one before) or -ENOMEM.
// hs_qos_destroy accepts NULL, and hands out no windows.
int hs_qos_create(const struct hs_qos_config *config, struct hs_qos **qos);
void hs_qos_destroy(struct hs_qos *qos);

// Adds a report to its flow. The first report creates the flow. Returns 0; -ENOSPC: the monitor is
// full, and the report is counted as refused; -ENOMEM; or -EINVAL: the sink's stamp is before 1970
// or in 2116 or later, a count of the sink is 2^62 or more, or the report has more entries than a
// packet carries. After an error the flow has nothing of the report. Reports of an open window are
// only kept at first, and added up together before any result is read. If a kept report then finds
// no memory, the monitor counts it as out_of_memory instead of as taken.
int hs_qos_report(struct hs_qos *qos, const struct hs_qos_key *key, const struct hs_report *report);

// Prefetch the memory of a flow whose report comes soon. Call hs_qos_expect first, or
// hs_qos_expect_flow with the number that it once returned for the flow. Call hs_qos_expect_next
// some reports later, with this number and the report's time. None changes anything.
uint32_t hs_qos_expect(const struct hs_qos *qos, uint32_t ns_id);
void hs_qos_expect_flow(const struct hs_qos *qos, uint32_t expected);
void hs_qos_expect_next(const struct hs_qos *qos, uint32_t expected, int64_t sink_ts_ns);

// Takes a report without decoding it, if the report need only be kept at first. `expected` is what
// hs_qos_expect returned for the flow. Returns false, with nothing changed, for any other report:
// the caller decodes it and calls hs_qos_report.
bool hs_qos_place(struct hs_qos *qos, uint32_t expected, const struct hs_qos_key *key,
		const struct hs_report_record *record, const struct hs_telemetry_family *family);

// Sets flags (enum hs_qos_flag) that the caller knows of and reports do not show. Sets them in the
// open windows of a flow; if the flow has no open shortest window, also in the windows that repeat
// its last values. Does nothing for a flow that is not monitored.
void hs_qos_mark(struct hs_qos *qos, uint32_t ns_id, uint32_t flags);

// Hands out the flow's open windows and removes the flow. Returns 0, or -ENOENT: the flow is not
// monitored.
int hs_qos_remove(struct hs_qos *qos, uint32_t ns_id);
void hs_qos_counters(struct hs_qos *qos, struct hs_qos_counters *counters);
