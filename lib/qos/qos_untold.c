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
	uint32_t needs; // if any bit is missing, the metric cannot be computed
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

// Returns whether counts of 16 bits may wrap unnoticed in an outage, because no other field checks
// them.
static bool wraps_unseen(uint32_t trace_type)
{
	return trace_type & HS_HOP_PACKETS && !(trace_type & SENT) && !(trace_type & HS_HOP_BYTES);
}

struct missing {
	struct untold untold;
	char needs[16];
};

#define UNTOLD(key) #key, HS_SCHEMA_STRING, HS_SCHEMA_MEMBER(struct missing, untold.key)
const struct hs_schema_field hs_qos_untold_fields[] = {
		{UNTOLD(metric), .help = "the metric"},
		{UNTOLD(of), .help = "of e2e, the first hop, or hops"},
		{"needs", HS_SCHEMA_TEXT, HS_SCHEMA_MEMBER(struct missing, needs), .required = true,
				.shape = "{'type': 'string', 'pattern': '^0x[0-9A-F]{8}$'}",
				.help = "the bits of the trace type that are missing"},
		{UNTOLD(text), .help = "what is missing, in words"},
		{NULL},
};

static void add(json_t *list, const struct untold *untold, uint32_t bits)
{
	struct missing missing = {.untold = *untold};

	snprintf(missing.needs, sizeof(missing.needs), "0x%08" PRIX32, bits);
	json_array_append_new(list, hs_schema_print(hs_qos_untold_fields, &missing));
}

json_t *hs_qos_untold(uint32_t trace_type)
{
	static const struct untold wraps = {SENT, "loss_ratio", "hops",
			"across a restart or an outage it is left out or flagged "
			"counter_ambiguous: "
			"neither the source's count nor bytes are carried"};
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].needs & ~trace_type)
			add(list, &table[i], table[i].needs & ~trace_type);
	if (wraps_unseen(trace_type))
		add(list, &wraps, SENT);
	return list;
}
