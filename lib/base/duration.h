// SPDX-License-Identifier: BSD-3-Clause
// Lengths of time as people write them: 250ms, 10s, 1m, 2h.
//
// Thread rule: any.
#pragma once

#include <stdint.h>

#define HS_DURATION_BYTES 24 // of a text, its end included

// A whole number above 0 and ms, s, m or h. 0, or -EINVAL: anything else, or above 10,000 hours.
int hs_duration_read(const char *text, int64_t *ns);

// In the shortest of s, ms and ns that is exact: 1s, 60s, 1500ms.
void hs_duration_write(int64_t ns, char text[HS_DURATION_BYTES]);
