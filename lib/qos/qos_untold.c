// SPDX-License-Identifier: BSD-3-Clause
#include "qos_untold.h"

#include "telemetry_model.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#define E2E(bits) ((uint32_t)(bits) << 16)
#define SENT	  E2E(HS_E2E_TX_PACKETS)
#define SENT_AT	  E2E(HS_E2E_TIMESTAMP)

struct untold {
	uint32_t needs; // any of them missing: not told
	const char *metric, *of, *text;
};

static const struct untold table[] = {
		{SENT, "loss_ratio", "e2e", "the source's count of packets is not carried"},
		{SENT | HS_HOP_PACKETS, "loss_ratio", "first hop",
				"the counts of packets of both its ends are not carried"},
		{HS_HOP_PACKETS, "loss_ratio", "hops",
				"the counts of packets of transit nodes are not carried"},
		{HS_HOP_BYTES, "throughput_bps", "hops",
				"the counts of bytes of transit nodes are not carried"},
		{SENT_AT, "delay_ns", "e2e", "the source's stamp is not carried"},
		{SENT_AT | HS_HOP_TIMESTAMP, "delay_ns", "first hop",
				"the stamps of both its ends are not carried"},
		{HS_HOP_TIMESTAMP, "delay_ns", "hops",
				"the stamps of transit nodes are not carried"},
};

// Counts of 16 bits that nothing else checks: what passed unseen in an outage may have gone round.
static bool wraps_unseen(uint32_t trace_type)
{
	return trace_type & HS_HOP_PACKETS && !(trace_type & SENT) && !(trace_type & HS_HOP_BYTES);
}

static int add(json_t *list, const struct untold *untold, uint32_t missing)
{
	char needs[16];

	snprintf(needs, sizeof(needs), "0x%08" PRIX32, missing);
	return json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:s}", "metric", untold->metric, "of",
					      untold->of, "needs", needs, "text", untold->text));
}

void hs_qos_put_untold(json_t *answer, uint32_t trace_type)
{
	static const struct untold wraps = {SENT, "loss_ratio", "hops",
			"across a restart or an outage it is left out or flagged "
			"counter_ambiguous: "
			"neither the source's count nor bytes are carried"};
	json_t *list = json_array();
	int rc = list ? 0 : -1;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].needs & ~trace_type)
			rc |= add(list, &table[i], table[i].needs & ~trace_type);
	if (wraps_unseen(trace_type))
		rc |= add(list, &wraps, SENT);
	if (!rc && json_array_size(list))
		json_object_set(answer, "not_told", list);
	json_decref(list);
}
