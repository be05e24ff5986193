// SPDX-License-Identifier: BSD-3-Clause
// A rule table for a unit test, with the access of worker 0.
#pragma once

#include "flow_table.h"
#include "flow_worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

struct bench {
	struct rte_rcu_qsbr *qsbr;
	struct hs_flow_table *table;
	struct hs_flow_view view;
};

static inline void bench_open(struct bench *b, uint32_t capacity, unsigned n_workers)
{
	static unsigned serial;
	char name[16];

	snprintf(name, sizeof(name), "t%u", serial++);
	b->qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(n_workers), 64);
	assert_int_equal(rte_rcu_qsbr_init(b->qsbr, n_workers), 0);
	for (unsigned w = 0; w < n_workers; w++)
		rte_rcu_qsbr_thread_register(b->qsbr, w);
	struct hs_flow_table_config config = {
			.name = name,
			.capacity = capacity,
			.n_workers = n_workers,
			.qsbr = b->qsbr,
	};
	assert_int_equal(hs_flow_table_create(&config, &b->table), 0);
	hs_flow_table_view(b->table, 0, &b->view);
}

static inline void bench_close(struct bench *b)
{
	hs_flow_table_destroy(b->table);
	rte_free(b->qsbr);
}

static inline struct hs_rule rule_of(uint32_t ns_id, uint32_t host, uint16_t sport, uint16_t dport)
{
	struct hs_rule rule;

	hs_rule_init(&rule);
	rule.ns_id = ns_id;
	rule.src_ip[0] = 0x20;
	memcpy(&rule.src_ip[12], &host, 4);
	rule.dst_ip[0] = 0x20;
	rule.src_port = sport;
	rule.dst_port = dport;
	rule.protocol = IPPROTO_UDP;
	rule.trace_type = 0x7000E000;
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = 1;
	return rule;
}

static inline uint32_t install(struct bench *b, struct hs_rule rule)
{
	uint32_t shadow = 0;
	struct hs_error err = {0};

	assert_int_equal(hs_flow_table_install(b->table, &rule, &shadow, &err), 0);
	return shadow;
}

static inline void remove_rule(struct bench *b, uint32_t ns_id)
{
	struct hs_error err;
	assert_int_equal(hs_flow_table_remove(b->table, ns_id, &err), 0);
}

static inline uint32_t slot_for(struct bench *b, uint32_t host, uint16_t sport, uint16_t dport)
{
	struct hs_flow_key key = {.src_port = sport, .dst_port = dport, .protocol = IPPROTO_UDP};

	key.src_ip[0] = 0x20;
	memcpy(&key.src_ip[12], &host, 4);
	key.dst_ip[0] = 0x20;
	return hs_flow_lookup_one(&b->view, &key);
}

// The namespace of the rule that a packet matches, 0 for none.
static inline uint32_t match(struct bench *b, uint32_t host, uint16_t sport, uint16_t dport)
{
	uint32_t slot = slot_for(b, host, sport, dport);
	return slot == HS_FLOW_NONE ? 0 : b->view.own[slot].ns_id;
}
