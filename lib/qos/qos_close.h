// SPDX-License-Identifier: BSD-3-Clause
// Closes windows that end.
//
// Thread rule: owner.
#pragma once

#include <stdint.h>

struct hs_qos;

// Tells what time it is. A window that is cut (hs_qos_remove) ends at this time, if it is newer
// than the flow's reports. hs_qos_advance does the same.
void hs_qos_tell_time(struct hs_qos *qos, int64_t now_ns);

// Closes the windows that ended lateness_ns ago or earlier. This takes some 20 us for each flow
// with a hundred reports. Between window ends the function returns at once. With flows_per_advance,
// call hs_qos_advance again while hs_qos_next_ns is not later than now.
void hs_qos_advance(struct hs_qos *qos, int64_t now_ns);

// Returns when hs_qos_advance has something to do next, or INT64_MAX if it has nothing to do before
// the next report.
int64_t hs_qos_next_ns(const struct hs_qos *qos);
