// SPDX-License-Identifier: BSD-3-Clause
#include "in_band.h"

void hs_in_band_init(struct hs_in_band *in_band)
{
	*in_band = (struct hs_in_band){
			.n_repeats = 6,
			.repeats_ns = {100000000, 300000000, 1000000000, 3000000000, 10000000000,
					30000000000},
			.interval_s = 60,
			.accept = true,
			.ports = UINT32_MAX,
			.max_rules = 1024,
			.missed_repeats = 3,
			.max_age_s = 120,
	};
}
