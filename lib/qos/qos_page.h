// SPDX-License-Identifier: BSD-3-Clause
// Prints windows as series for Prometheus.
//
// Thread rule: any; values.
#pragma once

#include "prometheus.h"
#include "qos_window.h"

// Adds the end-to-end metrics of a window (hopsight_path_*), or those of its hops (hopsight_hop_*).
// Of a stale window, only hopsight_path_stale is added.
void hs_qos_page_path(struct hs_prometheus *page, const struct hs_qos_window *window);
void hs_qos_page_hops(struct hs_prometheus *page, const struct hs_qos_window *window);
