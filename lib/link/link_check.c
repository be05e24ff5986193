// SPDX-License-Identifier: BSD-3-Clause
#include "link.h"

#include <stddef.h>

#define DELAY_MAX_NS	  INT64_C(3600000000000)
#define QUEUE_MAX_PACKETS 10000000

static int check_ratios(const struct hs_link_config *config, struct hs_error *err)
{
	const struct {
		const char *name;
		double value;
	} ratios[] = {
			{"loss_ratio", config->loss_ratio},
			{"telemetry_loss_ratio", config->telemetry_loss_ratio},
			{"duplicate_ratio", config->duplicate_ratio},
			{"reorder_ratio", config->reorder_ratio},
			{"bursts.p", config->bursts.p},
			{"bursts.r", config->bursts.r},
			{"bursts.loss_bad", config->bursts.loss_bad},
			{"bursts.loss_good", config->bursts.loss_good},
	};
	for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++) {
		// NaN fails both comparisons.
		if (!(ratios[i].value >= 0.0 && ratios[i].value <= 1.0))
			return hs_error_set(err, "out_of_range", ratios[i].name, "0 to 1",
					"%s is %g", ratios[i].name, ratios[i].value);
	}
	return 0;
}

static int check_time(const char *name, int64_t value_ns, struct hs_error *err)
{
	if (value_ns < 0 || value_ns > DELAY_MAX_NS)
		return hs_error_set(err, "out_of_range", name, "0 to 3600000000000 (an hour)",
				"%s is %lld", name, (long long)value_ns);
	return 0;
}

int hs_link_check(const struct hs_link_config *config, struct hs_error *err)
{
	int rc = check_time("delay_ns", config->delay_ns, err);
	if (rc == 0)
		rc = check_time("jitter_ns", config->jitter_ns, err);
	if (rc == 0)
		rc = check_ratios(config, err);
	if (rc < 0)
		return rc;
	if (config->distribution != HS_LINK_UNIFORM && config->distribution != HS_LINK_NORMAL)
		return hs_error_set(err, "out_of_range", "distribution", "uniform or normal",
				"no distribution has the number %d", (int)config->distribution);
	if (config->rate_bps &&
			(config->queue_packets < 1 || config->queue_packets > QUEUE_MAX_PACKETS))
		return hs_error_set(err, "out_of_range", "queue_packets", "1 to 10000000",
				"a link with a rate has a queue of %u packets",
				config->queue_packets);
	return 0;
}

const char *hs_link_loss_name(enum hs_link_loss loss)
{
	static const char *const NAMES[HS_LINK_LOSSES] = {
			[HS_LINK_NOT_LOST] = "none",
			[HS_LINK_LOST_DOWN] = "down",
			[HS_LINK_LOST_TELEMETRY] = "telemetry",
			[HS_LINK_LOST_RANDOM] = "random",
			[HS_LINK_LOST_BURST] = "burst",
			[HS_LINK_LOST_QUEUE] = "queue",
	};
	return NAMES[loss];
}
