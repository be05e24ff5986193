// SPDX-License-Identifier: BSD-3-Clause
// Runs of reports of one flow. If a report and the next one are no event, the next one overwrites
// all values of the first. So the first is only checked and counted: its hops are compared as
// vectors with the bounds of their values.
//
// Thread rule: owner. For collect_apply.c only.
#pragma once

#include "collect_parts.h"

// Counts the view's datagrams from number `from` on that need nothing more. Returns how many. The
// datagram before them took the fast path of collect_fast_path.h, and the one after them will.
unsigned hs_collect_run_pass(
		struct hs_collect *c, const struct hs_collect_view *view, unsigned from);
