// SPDX-License-Identifier: BSD-3-Clause
// The metrics of the node over HTTP.
#include "daemon_parts.h"

#include <rte_version.h>

#include <stdio.h>

#define LOOK_NS INT64_C(1000000000)

static void fill(void *context, struct hs_prometheus *page)
{
	hs_control_page(((struct hs_daemon *)context)->control, page);
}

int hs_daemon_open_scrape(struct hs_daemon *d, struct hs_error *err)
{
	const struct hs_scrape_config scrape = {
			.settings = &d->config->prometheus,
			.program = "hopsightd",
			.version = HS_VERSION,
			.dpdk = rte_version(),
			.fill = fill,
			.context = d,
	};
	return hs_scrape_open(&scrape, &d->scrape, err);
}

// Sets whether the node is ready: every port is up.
static void look_at_ports(struct hs_daemon *d)
{
	char why[64];

	for (unsigned i = 0; i < d->config->n_ports; i++) {
		struct hs_port *port = d->ports[i];
		bool usable = __atomic_load_n(&port->usable, __ATOMIC_RELAXED);
		if (usable && hs_port_link_up(port))
			continue;
		snprintf(why, sizeof(why), "port \"%s\" is %s", port->config.name,
				usable ? "down" : "gone");
		hs_scrape_set_ready(d->scrape, why);
		return;
	}
	hs_scrape_set_ready(d->scrape, NULL);
}

int64_t hs_daemon_serve_scrape(struct hs_daemon *d, int64_t now_ns)
{
	if (d->scrape && now_ns >= d->ready_ns) {
		d->ready_ns = now_ns + LOOK_NS;
		look_at_ports(d);
	}
	return hs_scrape_serve(d->scrape, now_ns);
}
