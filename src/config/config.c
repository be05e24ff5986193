// SPDX-License-Identifier: BSD-3-Clause
#include "config.h"

#include "config_parts.h"
#include "egress.h"
#include "node.h"
#include "port.h"

#include <stdio.h>

const cpu_set_t *hs_config_own_cores(cpu_set_t *own)
{
	CPU_ZERO(own);
	if (sched_getaffinity(0, sizeof(*own), own) < 0)
		CPU_SET(0, own);
	return own;
}

// Returns the first core from `from` on, or -1.
static int next_core(const cpu_set_t *cores, int from)
{
	for (int core = from; core < CPU_SETSIZE; core++)
		if (CPU_ISSET(core, cores))
			return core;
	return -1;
}

void hs_config_choose_cores(struct hs_config *config, const cpu_set_t *cores)
{
	int first = next_core(cores, 0), second = next_core(cores, first + 1);

	config->control_core = (uint16_t)first;
	config->workers[0] = (uint16_t)(second < 0 ? first : second);
	config->node.n_workers = 1;
}

void hs_config_fini(struct hs_config *config)
{
	json_decref(config->neighbours);
	json_decref(config->routes);
	json_decref(config->requests);
	config->neighbours = config->routes = config->requests = NULL;
}

uint16_t hs_config_mbuf_bytes(const struct hs_config *config)
{
	uint16_t bytes = 0;
	for (unsigned i = 0; i < config->n_ports; i++) {
		uint16_t port = hs_port_mbuf_bytes(&config->ports[i]);
		bytes = port > bytes ? port : bytes;
	}
	return bytes;
}

uint32_t hs_config_mbufs(const struct hs_config *config)
{
	uint32_t n = config->mbufs;

	for (unsigned i = 0; i < config->n_ports; i++)
		n += config->ports[i].queue_packets;
	n += config->node.n_workers * (hs_config_held(config) + hs_config_waiting(config));
	for (unsigned i = 0; i < config->node.n_exports; i++) {
		if (config->node.exports[i].port == HS_EXPORT_NO_PORT)
			n += config->node.n_workers * HS_EXPORT_RING;
	}
	return n;
}

static uint64_t egress_bytes(const struct hs_config *config)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < config->n_ports; i++) {
		if (config->ports[i].rate_bps)
			bytes += hs_egress_bytes(
					config->ports[i].queue_packets, config->node.n_workers);
	}
	return bytes;
}

void hs_config_eal(const struct hs_config *config, struct hs_eal_config *eal)
{
	*eal = (struct hs_eal_config){
			.huge_pages = config->huge_pages,
			.memory_bytes = hs_node_bytes(&config->node) + egress_bytes(config) +
					hs_pool_bytes(hs_config_mbufs(config),
							hs_config_mbuf_bytes(config)),
			.control_core = config->control_core,
			.n_workers = config->node.n_workers,
	};
	snprintf(eal->file_prefix, sizeof(eal->file_prefix), "hopsight-%s", config->node.name);
	for (unsigned i = 0; i < config->node.n_workers; i++)
		eal->worker_cores[i] = config->workers[i];
	for (unsigned i = 0; i < config->n_ports; i++)
		eal->pci |= config->ports[i].kind == HS_PORT_PCI;
}
