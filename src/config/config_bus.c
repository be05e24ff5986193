// SPDX-License-Identifier: BSD-3-Clause
// The sockets of "control", in a file of its own: the lab reads configurations, and is not linked
// with ZeroMQ.
#include "config_parts.h"

#include "config.h"

#include "bus.h"

int hs_config_open_bus(const struct hs_config *config, struct hs_bus **bus, struct hs_error *err)
{
	const char *bind[HS_MAX_ENDPOINTS], *publish_to[HS_MAX_ENDPOINTS],
			*publish_bind[HS_MAX_ENDPOINTS];
	struct hs_bus_keys keys;
	const struct hs_bus_config sockets = {
			.bind = bind,
			.n_bind = hs_endpoints_point(&config->bind, bind),
			.publish_to = publish_to,
			.n_publish_to = hs_endpoints_point(&config->publish_to, publish_to),
			.publish_bind = publish_bind,
			.n_publish_bind = hs_endpoints_point(&config->publish_bind, publish_bind),
			.publish_queue = config->publish_queue,
			.insecure = config->insecure,
			.keys = hs_config_keys(config, &keys) ? &keys : NULL,
	};
	int rc = hs_bus_open(&sockets, bus, err);

	if (rc < 0)
		hs_error_prefix(err, "control");
	return rc;
}
