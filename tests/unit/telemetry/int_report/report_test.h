// SPDX-License-Identifier: BSD-3-Clause
// Reports as bytes, and as what they say.
#pragma once

#include "hex.h"
#include "int_report_reader.h"
#include "int_report_writer.h"

#include <errno.h>

#define TAKE_ALL (HS_INT_REPORT_TAKE_0_5 | HS_INT_REPORT_TAKE_1_0 | HS_INT_REPORT_TAKE_2_0)

// Of the specifications' examples; made by an encoder that is not ours.
#define TR05_SWITCH_LOCAL                                                                          \
	"0220000300000007075bcd1500000003000100020500001e075bcde702000000000202000000000108"       \
	"00"
#define TR05_DROP	 "0180000300000008075bcd15000000030001000205320000"
#define TR10_MINIMAL	 "140000430000000300000007075bcd15"
#define TR10_PORTS_QUEUE "163400430000000300000007075bcd15000100020500001e"
#define TR10_DROP	 "150101030000000300000008075bcd1505320000"
#define TR20_TWO                                                                                   \
	"20c0000700000003140e02205000000000000000000100020500001e4500002800010000400663cd0a000101" \
	"0a0002029c400016000003e8000007d050182000d0bb0000100503804101000000000000000100020000004d" \
	"05320000"

static inline void same_values(const struct hs_int_report *a, const struct hs_int_report *b)
{
	assert_int_equal(a->has, b->has);
	assert_int_equal(a->inner, b->inner);
	assert_int_equal(a->hw_id, b->hw_id);
	assert_int_equal(a->dropped, b->dropped);
	assert_int_equal(a->congested, b->congested);
	assert_int_equal(a->tracked, b->tracked);
	assert_int_equal(a->intermediate, b->intermediate);
	assert_int_equal(a->node_id, b->node_id);
	assert_int_equal(a->sequence, b->sequence);
	assert_int_equal(a->ingress_port, b->ingress_port);
	assert_int_equal(a->egress_port, b->egress_port);
	assert_int_equal(a->hop_latency_ns, b->hop_latency_ns);
	assert_int_equal(a->queue_id, b->queue_id);
	assert_int_equal(a->queue_packets, b->queue_packets);
	assert_int_equal(a->buffer_id, b->buffer_id);
	assert_int_equal(a->buffer_used, b->buffer_used);
	assert_int_equal(a->ingress_port_l2, b->ingress_port_l2);
	assert_int_equal(a->egress_port_l2, b->egress_port_l2);
	assert_int_equal(a->link_utilisation, b->link_utilisation);
	assert_int_equal(a->ingress_ns, b->ingress_ns);
	assert_int_equal(a->egress_ns, b->egress_ns);
	assert_int_equal(a->drop_queue_id, b->drop_queue_id);
	assert_int_equal(a->drop_reason, b->drop_reason);
	assert_int_equal(a->domain_id, b->domain_id);
	assert_int_equal(a->domain_bits, b->domain_bits);
	assert_int_equal(a->domain_status, b->domain_status);
	assert_int_equal(a->domain_words, b->domain_words);
	if (a->domain_words)
		assert_memory_equal(a->domain, b->domain, 4u * a->domain_words);
}
