// SPDX-License-Identifier: BSD-3-Clause
// The QoS monitor: reports of flows in, metrics of windows out (docs/metrics.md).
//
// Source: 000_616928c59136b059.txt section III-F and algorithm 1, with the corrections that
// docs/metrics.md numbers.
// Thread rule: owner (the control thread). Time is an input; nothing here reads a clock.
#pragma once

#include "qos_answer.h"
#include "qos_clock.h"
#include "qos_close.h"
#include "qos_config.h"
#include "qos_memory.h"

#include "report.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_qos;

// 0, -EINVAL (windows that do not divide each other) or -ENOMEM. destroy accepts NULL and hands
// out nothing.
int hs_qos_create(const struct hs_qos_config *config, struct hs_qos **qos);
void hs_qos_destroy(struct hs_qos *qos);

// Takes a report into its flow, which its first report creates. 0; -ENOSPC: the monitor is full
// and the flow is counted but not monitored; -ENOMEM, or -EINVAL where the sink's stamp is from
// before 1970 or of the year 2116 or later, a count of its is above 2^62, or more entries came than
// packets carry: nothing changed. Reports of an open window are only kept at first and taken
// together, before anything can tell: one that finds no memory then is counted as out_of_memory
// after all.
int hs_qos_report(struct hs_qos *qos, const struct hs_qos_key *key, const struct hs_report *report);

// Of a flow whose report comes soon: brings what it will touch first near the processor. To be
// called some thirty reports ahead, then some four ahead with what the first call returned.
// Changes nothing.
uint32_t hs_qos_expect(const struct hs_qos *qos, uint32_t ns_id);
void hs_qos_expect_next(const struct hs_qos *qos, uint32_t expected);

// Takes a report without decoding it, where it need only be kept at first, of a flow for which
// hs_qos_expect returned `expected`. False, with nothing changed, where there is more to it: it is
// to be decoded for hs_qos_report.
bool hs_qos_place(struct hs_qos *qos, uint32_t expected, const struct hs_qos_key *key,
		const struct hs_report_record *record, const struct hs_telemetry_family *family);

// Sets flags (enum hs_qos_flag) in the windows that are open of a flow, and in those that repeat
// its last values while it is silent: what the caller knows and reports do not tell. Of a flow that
// is not monitored it does nothing.
void hs_qos_mark(struct hs_qos *qos, uint32_t ns_id, uint32_t flags);

// Hands out what is open and forgets the flow. -ENOENT: it is not monitored.
int hs_qos_remove(struct hs_qos *qos, uint32_t ns_id);
void hs_qos_counters(struct hs_qos *qos, struct hs_qos_counters *counters);
