// SPDX-License-Identifier: BSD-3-Clause
// The amount of DPDK's memory that a scenario takes. It is known before DPDK's environment starts.
#include "lab.h"

#include "lab_parts.h"

#include "eal.h"
#include "egress.h"
#include "rng.h"

#include <rte_mbuf.h>

#include <sched.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The room for a node's own bookkeeping and for the allocator's loss. The need was measured at 40
// KiB.
#define NODE_SLACK_BYTES (UINT64_C(96) << 10)

static_assert(sizeof(struct hs_packet_truth) % RTE_MBUF_PRIV_ALIGN == 0, "a private area's size");

uint64_t lab_seed(const struct hs_scenario *scenario, const char *purpose, uint64_t index)
{
	struct hs_rng rng;
	uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a

	for (; *purpose; purpose++)
		hash = (hash ^ (uint8_t)*purpose) * UINT64_C(0x100000001b3);
	hs_rng_init(&rng, scenario->seed ^ hash);
	hs_rng_init(&rng, hs_rng_u64(&rng) + index);
	return hs_rng_u64(&rng);
}

// Returns the data room of a buffer, which is that of any port with this MTU. Nodes in the lab have
// as much room for telemetry as daemons.
static uint16_t data_room(const struct hs_scenario *scenario)
{
	struct hs_port_config port = {.kind = HS_PORT_CUSTOM, .mtu = scenario->mtu};

	return hs_port_mbuf_bytes(&port);
}

void lab_node_config(
		const struct hs_scenario *scenario, uint32_t node, struct hs_node_config *config)
{
	static const enum hs_forwarding_mode modes[] = {
			[HS_LAB_PATCH] = HS_FORWARD_PATCH,
			[HS_LAB_BRIDGE] = HS_FORWARD_BRIDGE,
			[HS_LAB_SHORTEST_PATH] = HS_FORWARD_ROUTE,
	};

	*config = (struct hs_node_config){
			.id = scenario->nodes[node].id,
			.n_workers = 1,
			.rules = scenario->rules,
			.report_ring = LAB_REPORT_RING,
			.punt_ring = LAB_PUNT_RING,
			.forwarding = modes[scenario->forwarding],
			.n_pairs = scenario->forwarding == HS_LAB_PATCH, // its two ports
			.pairs = {{0, 1}},
			// A bridge is taught once: see lab_teach_bridge.
			.mac_age_s = UINT32_MAX / 2,
			.routes = (uint32_t)scenario->n_hosts,
			.layout = scenario->nodes[node].layout,
			.partial = scenario->nodes[node].partial,
			.seed = lab_seed(scenario, "node", node),
			// The datagrams to the controller of INT-label.
			.n_exports = scenario->label.given,
			.exports = {{.format = HS_EXPORT_LABEL,
					.flows = true,
					.port = HS_EXPORT_NO_PORT}},
	};
	memcpy(config->name, scenario->nodes[node].name, sizeof(config->name));
	hs_scenario_profiles(scenario, node, config->profiles, &(struct hs_error){});
}

int lab_make_pool(struct hs_lab *lab, struct hs_error *err)
{
	static const struct rte_mbuf_dynfield stamp = {
			.name = "hopsight_lab_stamp",
			.size = sizeof(void *),
			.align = alignof(void *),
	};
	static unsigned pools; // DPDK identifies pools by their name
	char name[16];
	uint32_t n = lab->scenario->mbufs + LAB_SPARE_MBUFS;
	uint16_t room = data_room(lab->scenario);

	lab->frame_room = (uint32_t)room - RTE_PKTMBUF_HEADROOM;
	lab->stamp_offset = rte_mbuf_dynfield_register(&stamp);
	if (lab->stamp_offset < 0) {
		hs_error_set(err, "no_memory", "", "", "no room for a field in packet buffers");
		return -ENOSPC;
	}
	snprintf(name, sizeof(name), "lab%u", pools++);
	int rc = hs_pool_create_private(name, n, sizeof(struct hs_packet_truth), room, &lab->pool);
	if (rc < 0)
		hs_error_set(err, "no_memory", "mbufs", "fewer, or more memory",
				"%u packet buffers do not fit", n);
	return rc;
}

static uint64_t memory_bytes(const struct hs_scenario *scenario)
{
	uint64_t bytes = hs_pool_bytes_private(scenario->mbufs + LAB_SPARE_MBUFS,
			sizeof(struct hs_packet_truth), data_room(scenario));

	for (uint32_t i = 0; i < scenario->n_nodes; i++) {
		const struct hs_scenario_node *node = &scenario->nodes[i];
		struct hs_node_config config;
		lab_node_config(scenario, i, &config);
		bytes += hs_node_bytes(&config) + NODE_SLACK_BYTES;
		if (node->rate_pps)
			bytes += (node->n_links + node->n_hosts + node->rate_of_node) *
				 hs_egress_bytes(node->queue_packets, 1);
	}
	for (size_t i = 0; i < 2 * scenario->n_links; i++)
		if (scenario->links[i / 2].queue_at_node)
			bytes += hs_egress_bytes(
					scenario->links[i / 2].directions[i % 2].queue_packets, 1);
	return bytes;
}

int hs_lab_eal(const struct hs_scenario *scenario, struct hs_error *err)
{
	static char no_telemetry[] = "--no-telemetry"; // no client asks the lab by DPDK's telemetry
	char *words[] = {no_telemetry};
	struct hs_eal_config config = {
			.memory_bytes = memory_bytes(scenario),
			.argc = 1,
			.argv = words,
			.control_core = sched_getcpu(), // one that this process may use
	};
	cpu_set_t cores;

	CPU_ZERO(&cores);
	sched_getaffinity(0, sizeof(cores), &cores);
	snprintf(config.file_prefix, sizeof(config.file_prefix), "hopsight-lab-%ld",
			(long)getpid());
	int rc = hs_eal_init(&config, err);
	// EAL has pinned this thread. If it stayed pinned, several labs would share one core.
	sched_setaffinity(0, sizeof(cores), &cores);
	return rc;
}
