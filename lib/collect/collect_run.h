// SPDX-License-Identifier: BSD-3-Clause
// Reports of one flow that follow each other. Where a report and the one behind it are no event,
// the second writes over whatever the first leaves, so the first is only compared and counted: its
// hops are compared as vectors with the bounds of all that they tell.
//
// Thread rule: owner. For collect_apply.c only.
#pragma once

#include "collect_parts.h"

// Of the view's datagrams from number `from` on, counts those that need nothing more. The one
// before them was quick (collect_quick.h), and the one behind them is.
unsigned hs_collect_run_pass(
		struct hs_collect *c, const struct hs_collect_view *view, unsigned from);
