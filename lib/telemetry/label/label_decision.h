// SPDX-License-Identifier: BSD-3-Clause
// Decides whether a port labels a packet: Base A, Base B, and the nodes' part of Pro.
//
// Base A labels a packet when the last label of the port is more than T ago. Base B also labels
// earlier packets with probability f(INT_num), but not during the rest time T1. Pro replaces T by T
// / 2^S, and a controller writes S. A label of any cause becomes the port's last label. A packet of
// a specific flow is always labelled. T1 = T is Base A. T1 = 0 is Base B without rest time.
//
// Source: 001_72f6b4e6e9dc6295.txt sections 3 and 5, Algorithms 1, 2, 3 and 5.
// Thread rule: struct hs_label_port by any number of workers at once; struct hs_label_rule is
// constant while they run.
#pragma once

#include "label.h"
#include "rng.h"

#include <stdalign.h>

#define HS_LABEL_MAX_SHIFT   62 // S
#define HS_LABEL_CHANCE_BITS 32 // of f: 2^32 stands for 1

enum hs_label_function { // f, of Fig. 19 of the paper
	HS_LABEL_F1,	 // 1 with any item
	HS_LABEL_F2,	 // INT_num / (MAX_hop - 1), at most 1
	HS_LABEL_F3,	 // F2 times the share of T that has passed since the last label
};

struct hs_label_rule {
	int64_t interval_ns;  // T
	int64_t rest_ns;      // T1, 0 to T
	uint8_t max_hops;     // MAX_hop
	bool by_elapsed;      // f is multiplied by the share of T that has passed
	uint64_t chance[256]; // f, of INT_num 0 to MAX_hop
};

// Reg1 and Reg2 of a port.
struct hs_label_port {
	alignas(64) int64_t labelled_ns; // LT
	uint32_t shift;			 // S
};

enum hs_label_cause {
	HS_LABEL_NOT,
	HS_LABEL_BY_INTERVAL,
	HS_LABEL_BY_CHANCE,
	HS_LABEL_BY_FLOW, // a specific flow's
};

// A packet that the port wants to label, and what the port knew then.
struct hs_label_decision {
	enum hs_label_cause cause;
	uint32_t draw; // random number of Base B; a second decision uses it again
	int64_t labelled_ns;
};

void hs_label_rule_init(struct hs_label_rule *rule, uint8_t max_hops, int64_t interval_ns,
		int64_t rest_ns, enum hs_label_function function);
// Sets f(int_num), for int_num up to MAX_hop. `ratio` is 0 to 1.
void hs_label_rule_set_chance(struct hs_label_rule *rule, uint8_t int_num, double ratio);

void hs_label_port_init(struct hs_label_port *port);

// Sets S, to at most HS_LABEL_MAX_SHIFT. Any thread may call it while workers run.
void hs_label_port_set_shift(struct hs_label_port *port, uint32_t shift);

// Decides by Base B for a packet that is not due. This is the slow part of a decision.
enum hs_label_cause hs_label_decide_early(const struct hs_label_rule *rule, int64_t interval_ns,
		int64_t elapsed_ns, unsigned int_num, uint32_t draw);

// Returns T / 2^S of the port.
static inline int64_t hs_label_interval_ns(
		const struct hs_label_rule *rule, const struct hs_label_port *port)
{
	return rule->interval_ns >> __atomic_load_n(&port->shift, __ATOMIC_RELAXED);
}

// Returns whether the last label is more than the interval ago (Base A). An interval of 0 is over
// for each packet, even at the same time.
static inline bool hs_label_is_over(int64_t interval_ns, int64_t elapsed_ns)
{
	return elapsed_ns > interval_ns || !interval_ns;
}

// Returns whether the port labels the next packet in each case.
static inline bool hs_label_is_due(
		const struct hs_label_rule *rule, const struct hs_label_port *port, int64_t now_ns)
{
	return hs_label_is_over(hs_label_interval_ns(rule, port),
			now_ns - __atomic_load_n(&port->labelled_ns, __ATOMIC_RELAXED));
}

// Decides by decision->labelled_ns, and by decision->draw if chance decides.
static inline void hs_label_judge(const struct hs_label_rule *rule,
		const struct hs_label_port *port, int64_t now_ns, unsigned int_num,
		struct hs_label_decision *decision)
{
	int64_t interval_ns = hs_label_interval_ns(rule, port);
	int64_t elapsed_ns = now_ns - decision->labelled_ns;

	decision->cause = HS_LABEL_NOT;
	if (hs_label_is_over(interval_ns, elapsed_ns))
		decision->cause = HS_LABEL_BY_INTERVAL;
	else if (int_num || rule->chance[0])
		decision->cause = hs_label_decide_early(
				rule, interval_ns, elapsed_ns, int_num, decision->draw);
}

// Decides without a change of the port. `now_ns` must be of a monotonic clock. `int_num` is 0
// without items, and above MAX_hop in a specific flow.
static inline struct hs_label_decision hs_label_decide(const struct hs_label_rule *rule,
		const struct hs_label_port *port, int64_t now_ns, unsigned int_num,
		struct hs_rng *rng)
{
	struct hs_label_decision decision = {
			.draw = int_num || rule->chance[0] ? hs_rng_u32(rng) : 0,
			.labelled_ns = __atomic_load_n(&port->labelled_ns, __ATOMIC_RELAXED)};

	hs_label_judge(rule, port, now_ns, int_num, &decision);
	return decision;
}

// Notes the label of a packet that can be labelled. If another worker has labelled a packet since
// the decision, decides again with the time of that label. Returns false if the packet must not be
// labelled.
static inline bool hs_label_claim(const struct hs_label_rule *rule, struct hs_label_port *port,
		int64_t now_ns, unsigned int_num, struct hs_label_decision *decision)
{
	while (decision->cause != HS_LABEL_NOT && now_ns > decision->labelled_ns) {
		if (__atomic_compare_exchange_n(&port->labelled_ns, &decision->labelled_ns, now_ns,
				    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
		hs_label_judge(rule, port, now_ns, int_num, decision);
	}
	return decision->cause != HS_LABEL_NOT; // also if the port's last label is not older
}
