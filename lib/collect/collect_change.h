// SPDX-License-Identifier: BSD-3-Clause
// Whether a value is an event.
//
// Thread rule: any; pure functions. For this folder only.
#pragma once

#include "collect_parts.h"

static inline bool hs_collect_is_change(const struct hs_collect *c, enum hs_collect_measure measure,
		uint64_t before, uint64_t now)
{
	const struct hs_collect_threshold *threshold = &c->config.thresholds[measure];
	uint64_t by = now > before ? now - before : before - now;

	if (threshold->off || !by)
		return false;
	if (c->config.interval)
		return before / c->config.interval != now / c->config.interval;
	if (!threshold->relative)
		return by > threshold->absolute;
	return (__extension__(unsigned __int128) by * 10000) >
	       (__extension__(unsigned __int128) before * threshold->relative);
}
