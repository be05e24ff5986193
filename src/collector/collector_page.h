// SPDX-License-Identifier: BSD-3-Clause
// The page of metrics of a collector: counters, exporters, links, queues, drops and nodes, and
// flows where the configuration asks for them.
//
// Thread rule: the control thread.
#pragma once

#include "collector_parts.h"

struct hs_prometheus;

void hs_collector_page(struct hs_collector *collector, struct hs_prometheus *page);
