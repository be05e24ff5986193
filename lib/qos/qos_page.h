// SPDX-License-Identifier: BSD-3-Clause
// Windows of metrics as series for Prometheus.
//
// Thread rule: any; values.
#pragma once

#include "prometheus.h"
#include "qos_window.h"

// Adds what a window says end to end (hopsight_path_*), or of its hops (hopsight_hop_*). A stale
// window has nothing but that it is stale.
void hs_qos_page_path(struct hs_prometheus *page, const struct hs_qos_window *window);
void hs_qos_page_hops(struct hs_prometheus *page, const struct hs_qos_window *window);
