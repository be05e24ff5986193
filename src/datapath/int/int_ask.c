// SPDX-License-Identifier: BSD-3-Clause
#include "int_ask.h"

#include "int_fields.h"
#include "rule.h"

#define LATER	   0xFD80 // instructions whose bits are those of 1.0 and 2.1
#define CONGESTION 0x0200 // queue_congestion before 1.0
#define SEND_PORT  0x0400 // the second half of `ports` in 2016-06

static uint16_t asked_before_1_0(enum hs_int_version version, uint16_t asks)
{
	uint16_t bits = asks & LATER;

	bits |= asks & HS_RULE_ASKS_queue_congestion ? CONGESTION : 0;
	if (version == HS_INT_2016_06) {
		bits &= (uint16_t)~SEND_PORT;
		bits |= asks & HS_RULE_ASKS_ports ? SEND_PORT : 0;
	}
	return bits & hs_int_known(version);
}

static uint16_t lacking(enum hs_int_version version, uint16_t asks)
{
	uint16_t has = hs_int_known(version);

	if (version >= HS_INT_1_0)
		return asks & (uint16_t)~has;
	if (version == HS_INT_2016_06)
		has &= (uint16_t)~HS_RULE_ASKS_egress_timestamp;
	has &= (uint16_t)~HS_RULE_ASKS_ports_l2;
	has |= HS_RULE_ASKS_queue_congestion;
	return asks & (uint16_t)~has;
}

uint16_t hs_int_ask(enum hs_int_version version, uint32_t trace_type, uint16_t *lacks)
{
	uint16_t asks = (uint16_t)trace_type;
	bool as_it_is = trace_type & HS_RULE_TRACE_BITMAP;

	if (lacks)
		*lacks = as_it_is ? 0 : lacking(version, asks);
	if (as_it_is)
		return asks;
	return version >= HS_INT_1_0 ? asks & hs_int_known(version)
				     : asked_before_1_0(version, asks);
}
