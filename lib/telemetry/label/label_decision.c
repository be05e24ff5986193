// SPDX-License-Identifier: BSD-3-Clause
#include "label_decision.h"

#define ALWAYS (UINT64_C(1) << HS_LABEL_CHANCE_BITS)

void hs_label_rule_set_chance(struct hs_label_rule *rule, uint8_t int_num, double ratio)
{
	rule->chance[int_num] = (uint64_t)(ratio * (double)ALWAYS + 0.5);
}

void hs_label_rule_init(struct hs_label_rule *rule, uint8_t max_hops, int64_t interval_ns,
		int64_t rest_ns, enum hs_label_function function)
{
	*rule = (struct hs_label_rule){
			.interval_ns = interval_ns,
			.rest_ns = rest_ns,
			.max_hops = max_hops,
			.by_elapsed = function == HS_LABEL_F3,
	};
	for (unsigned i = 1; i <= max_hops; i++) {
		bool whole = function == HS_LABEL_F1 || i + 1 >= max_hops;
		hs_label_rule_set_chance(
				rule, (uint8_t)i, whole ? 1.0 : (double)i / (max_hops - 1));
	}
}

// Sets the last label so long ago that the first packet is due, but not so long that a difference
// overflows.
void hs_label_port_init(struct hs_label_port *port)
{
	*port = (struct hs_label_port){.labelled_ns = INT64_MIN / 2};
}

void hs_label_port_set_shift(struct hs_label_port *port, uint32_t shift)
{
	__atomic_store_n(&port->shift, shift < HS_LABEL_MAX_SHIFT ? shift : HS_LABEL_MAX_SHIFT,
			__ATOMIC_RELAXED);
}

enum hs_label_cause hs_label_decide_early(const struct hs_label_rule *rule, int64_t interval_ns,
		int64_t elapsed_ns, unsigned int_num, uint32_t draw)
{
	if (int_num > rule->max_hops)
		return HS_LABEL_BY_FLOW;
	uint64_t chance = rule->chance[int_num];
	if (!chance || (rule->rest_ns && elapsed_ns <= rule->rest_ns))
		return HS_LABEL_NOT;
	if (!rule->by_elapsed)
		return draw < chance ? HS_LABEL_BY_CHANCE : HS_LABEL_NOT;
	// draw / 2^32 < f * elapsed / T, without a division.
	__extension__ typedef unsigned __int128 wide;
	uint64_t elapsed = elapsed_ns > 0 ? (uint64_t)elapsed_ns : 0;
	bool labels = (wide)draw * (uint64_t)interval_ns < (wide)chance * elapsed;
	return labels ? HS_LABEL_BY_CHANCE : HS_LABEL_NOT;
}
