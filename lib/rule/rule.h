// SPDX-License-Identifier: BSD-3-Clause
// The rule: one monitored flow, named by its namespace id, as the operator requested it.
//
// Source: 000_616928c59136b059.txt section III-B, listings 1 and 2; for method int,
// 004_2771db4e6b3fe8ac.txt. Thread rule: any; a rule is a value.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

enum hs_rule_method {
	HS_RULE_FLEXINT, // trace_type names the values to collect
	HS_RULE_INT,	 // instructions do
	HS_RULE_LABEL,	 // each node adds an item of INT-label
};

// The instructions of a rule of method int, independent of the version.
enum hs_rule_instruction {
#define HS_RULE_INSTRUCTION(name, bit) HS_RULE_ASKS_##name = (bit),
#include "instruction.def"
#undef HS_RULE_INSTRUCTION
};
// hs_rule.trace_type of method int: HS_RULE_TRACE_INT, and bits of enum hs_rule_instruction; or
// with HS_RULE_TRACE_BITMAP a bitmap of the version. No trace type of flexint has these bits.
#define HS_RULE_TRACE_INT    UINT32_C(0x00100000)
#define HS_RULE_TRACE_BITMAP UINT32_C(0x00010000)
// The whole trace type of method label.
#define HS_RULE_TRACE_LABEL UINT32_C(0x00200000)
// Trace types with one of these bits are of other families than flexint.
#define HS_RULE_TRACE_OTHERS (HS_RULE_TRACE_INT | HS_RULE_TRACE_LABEL)

enum hs_rule_mode {
	HS_MODE_COUNT,	     // every setting-th packet
	HS_MODE_FREQUENCY,   // at most one packet in setting milliseconds
	HS_MODE_PROBABILITY, // each packet with setting percent
};

#define HS_RULE_ANY_PROTOCOL 0
#define HS_RULE_OF_DSCP	     0x40 // a bit of hs_rule.dscp: the rule names a class

struct hs_rule {
	uint32_t ns_id; // 1 to 2^32 - 1
	uint32_t app_id;
	// Network order; IPv4 as in ip_address.h. Both addresses are of one version. The host bits
	// after a prefix are zero (hs_ip_prefix_read). The address and the number of host bits are
	// one row of the table.
	uint8_t src_ip[16], src_host_bits;
	uint8_t dst_ip[16], dst_host_bits;
	uint16_t src_port; // host order; 0 any
	uint16_t dst_port;
	uint8_t protocol; // IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6 (of IPv4: ICMP); 0 any
	uint8_t mode;	  // enum hs_rule_mode
	uint8_t method;	  // enum hs_rule_method
	bool in_band;
	bool transmit_report;
	bool piggyback_report;
	bool extract_report;
	bool hop_enabled;
	uint8_t dscp;	     // HS_RULE_OF_DSCP and its 6 bits; 0 any
	uint32_t trace_type; // E2E half in the upper 16 bits, unallocated bits zero
	uint16_t fields; // fields of this node's entries: a number of rule_fields.h; 0: the node's
	// Labels. They change nothing about what the node does.
	uint16_t owner;	     // last writer of the rule: a number of rule_fields.h; 0: not named
	double mode_setting; // packets, milliseconds or percent, as given
	uint64_t revision;   // the owner's number of this content; 0: none
};

// The fields in the order of listing 1: the rows of hs_rule_fields (rule_field.h).
enum hs_rule_row {
	HS_RULE_NS_ID,
	HS_RULE_APP_ID,
	HS_RULE_SRC_IP,
	HS_RULE_DST_IP,
	HS_RULE_SRC_PORT,
	HS_RULE_DST_PORT,
	HS_RULE_PROTOCOL,
	HS_RULE_TRACE_TYPE,
	HS_RULE_MODE,
	HS_RULE_MODE_SETTING,
	HS_RULE_IN_BAND,
	HS_RULE_TRANSMIT_REPORT,
	HS_RULE_PIGGYBACK_REPORT,
	HS_RULE_EXTRACT_REPORT,
	HS_RULE_HOP_ENABLED,
	HS_RULE_FIELDS,
	HS_RULE_OWNER,
	HS_RULE_REVISION,
	HS_RULE_METHOD,
	HS_RULE_INSTRUCTIONS,
	HS_RULE_INSTRUCTION_BITMAP,
	HS_RULE_DSCP,
	HS_RULE_ROWS
};

// Sets of rows: bit i is row i.
#define HS_RULE_BIT(row) (UINT32_C(1) << HS_RULE_##row)
#define HS_RULE_SWITCHES                                                                           \
	(HS_RULE_BIT(TRANSMIT_REPORT) | HS_RULE_BIT(PIGGYBACK_REPORT) |                            \
			HS_RULE_BIT(EXTRACT_REPORT) | HS_RULE_BIT(HOP_ENABLED))
#define HS_RULE_CHANGEABLE                                                                         \
	(HS_RULE_BIT(MODE) | HS_RULE_BIT(MODE_SETTING) | HS_RULE_SWITCHES | HS_RULE_BIT(FIELDS))
// Every update sets the labels, to none if the update leaves them out, because they belong to the
// last writer.
#define HS_RULE_LABELS (HS_RULE_BIT(OWNER) | HS_RULE_BIT(REVISION))

struct hs_rule_update {
	uint32_t rows; // rows that change, of HS_RULE_CHANGEABLE
	uint32_t back; // rows that are reset (null); the rule's keeper has the old values
	struct hs_rule to;
};

const char *hs_rule_protocol_name(uint8_t protocol);
const char *hs_rule_method_name(enum hs_rule_method method);

// Sets the defaults of the optional fields: transmit_report and hop_enabled true, the rest false or
// 0.
void hs_rule_init(struct hs_rule *rule);

// Checks whether a method measures flows with the rule's addresses. Returns 0, or -EINVAL with *err
// ("wrong_family" at src_ip or dst_ip).
int hs_rule_check_method(const struct hs_rule *rule, const char *method, struct hs_error *err);

// Returns the ns_id of a rule whose writer chose none: 100000 to 999999, a hash of the rule's flow.
// So the same request gets the same ns_id at each node where this number is free.
uint32_t hs_rule_flow_ns(const struct hs_rule *rule);

// Checks all fields together. This is the one validator for API, file and CBOR. Returns 0, or
// -EINVAL with *err.
int hs_rule_check(const struct hs_rule *rule, struct hs_error *err);
