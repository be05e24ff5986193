// SPDX-License-Identifier: BSD-3-Clause
#include "int_ask.h"

#include "int_fields.h"
#include "rule.h"

#include <stdio.h>

#define LATER	   0xFD80 // instructions that have the same bits in 1.0 and 2.1
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

// ---- what a rule may ask for ----

static const struct {
	const char *name;
	uint16_t bit;
} words[] = {
#define HS_RULE_INSTRUCTION(name, bit) {#name, bit},
#include "instruction.def"
#undef HS_RULE_INSTRUCTION
};

static void put(char *text, size_t size, size_t *used, const char *what)
{
	if (*used < size)
		*used += (size_t)snprintf(
				text + *used, size - *used, "%s%s", *used ? ", " : "", what);
}

static void list_instructions(uint16_t asks, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (asks & words[i].bit)
			put(text, size, &used, words[i].name);
}

static void list_versions(unsigned versions, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (enum hs_int_version v = 0; v < HS_INT_N_VERSIONS; v++)
		if (versions & 1u << v)
			put(text, size, &used, hs_int_version_name(v));
}

static int check_bitmap(unsigned versions, uint16_t bitmap, struct hs_error *err)
{
	char text[64], known[64] = "";
	size_t used = 0;

	for (enum hs_int_version v = 0; v < HS_INT_N_VERSIONS; v++) {
		char one[32];
		if (!(versions & 1u << v))
			continue;
		if (!(bitmap & (uint16_t)~hs_int_known(v)))
			return 0;
		snprintf(one, sizeof(one), "bits of 0x%04X", hs_int_known(v));
		put(known, sizeof(known), &used, one);
	}
	list_versions(versions, text, sizeof(text));
	return hs_error_set(err, "unsupported", "instruction_bitmap", known,
			"instruction_bitmap: 0x%04X has bits without a meaning in INT %s", bitmap,
			text);
}

int hs_int_ask_check(unsigned versions, uint32_t trace_type, struct hs_error *err)
{
	uint16_t asks = (uint16_t)trace_type, none = UINT16_MAX;
	char missing[160], of[64], allowed[sizeof(err->expected)];

	if (trace_type & HS_RULE_TRACE_BITMAP)
		return check_bitmap(versions, asks, err);
	for (enum hs_int_version v = 0; v < HS_INT_N_VERSIONS; v++)
		none &= versions & 1u << v ? lacking(v, UINT16_MAX) : UINT16_MAX;
	if (!(asks & none))
		return 0;
	list_instructions(asks & none, missing, sizeof(missing));
	list_versions(versions, of, sizeof(of));
	list_instructions((uint16_t)~none, allowed, sizeof(allowed));
	return hs_error_set(err, "unsupported", "instructions", allowed,
			"instructions: INT %s has no %s", of, missing);
}
