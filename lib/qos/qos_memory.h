// SPDX-License-Identifier: BSD-3-Clause
// How much memory flows take.
//
// Thread rule: owner.
#pragma once

#include "qos_config.h"

#include <stddef.h>
#include <stdint.h>

struct hs_qos;
struct hs_qos_flow;

void hs_qos_memory(const struct hs_qos *qos, struct hs_qos_memory *memory);
// What one flow takes at most, whatever its reports are.
uint64_t hs_qos_most_bytes(void);

// ---- for lib/qos only ----

// What each flow is reckoned with at least: a thousand reports of five nodes, and their links. So
// all flows that were taken fit, unless one of them takes more.
#define HS_QOS_SHARE_BYTES (256u << 10)

// All but histograms and finished windows: without a look at each link.
size_t hs_qos_flow_frame_bytes(const struct hs_qos_flow *flow);
size_t hs_qos_flow_bytes(const struct hs_qos_flow *flow);

// What a flow takes is added up where it may have grown.
void hs_qos_charge(struct hs_qos *qos, struct hs_qos_flow *flow);
// The same when a window has ended.
void hs_qos_charge_all(struct hs_qos *qos, struct hs_qos_flow *flow);
void hs_qos_discharge(struct hs_qos *qos, struct hs_qos_flow *flow);
