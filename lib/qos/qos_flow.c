// SPDX-License-Identifier: BSD-3-Clause
#include "qos_flow.h"

#include <stdlib.h>
#include <string.h>

#define LASTING_NS 3000000000ll

void hs_qos_flow_init(struct hs_qos_flow *flow, const struct hs_qos_key *key,
		const struct hs_qos_config *config, uint64_t packets_wrap,
		struct hs_qos_step *scratch)
{
	memset(flow, 0, sizeof(*flow));
	flow->ns_id = key->ns_id;
	flow->app_id = key->app_id;
	flow->generation = key->generation;
	flow->sink_id = key->sink_node_id;
	flow->sink_tells = config->tells_steps && config->node_id == key->sink_node_id;
	flow->base_tag = INT64_MIN;
	flow->general = config->general;
	flow->slack = config->slack_packets;
	flow->limits.slack_packets = config->slack_packets;
	flow->limits.packets_wrap = packets_wrap;
	flow->last_step = scratch;
	int64_t windows = LASTING_NS / config->window_ns[0];
	flow->lasting = windows > 3 ? (uint32_t)windows : 3;
	flow->n_sums = HS_QOS_TIER;
	for (unsigned i = 1; i < HS_QOS_WINDOWS && config->window_ns[i]; i++)
		flow->n_sums++;
	flow->seen = flow->first_seen;
	flow->seen_capacity = HS_QOS_SEEN_FIRST;
}

void hs_qos_flow_free_locals(struct hs_qos_sum *sum, unsigned n_links)
{
	for (unsigned i = 0; i < n_links && sum->locals; i++)
		hs_qos_hist_fini(&sum->locals[i].latency);
	free(sum->locals);
}

void hs_qos_flow_fini(struct hs_qos_flow *flow)
{
	for (unsigned i = 0; i < flow->n_sums; i++) {
		for (unsigned j = 0; j < flow->n_links; j++)
			hs_qos_hist_fini(&flow->sums[i].links[j].hist);
		free(flow->sums[i].links);
		hs_qos_flow_free_locals(&flow->sums[i], flow->n_links);
	}
	for (unsigned i = 0; i < HS_QOS_WINDOWS; i++)
		free(flow->latest[i].window.hops);
	hs_qos_ring_fini(&flow->ring);
	if (flow->seen != flow->first_seen)
		free(flow->seen);
	free(flow->marks);
	free(flow->links);
}

struct hs_qos_sum *hs_qos_flow_sum(struct hs_qos_flow *flow, int64_t tag)
{
	for (unsigned i = HS_QOS_CURRENT; i <= HS_QOS_CLOSING; i++)
		if (flow->sums[i].open && flow->sums[i].tag == tag)
			return &flow->sums[i];
	return NULL;
}
