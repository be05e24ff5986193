// SPDX-License-Identifier: BSD-3-Clause
#include "rule_field.h"

#include "clean_text.h"
#include "config_partial.h"
#include "ip_address.h"
#include "rule_fields.h"
#include "rule_instructions.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- kinds of text ----

static const char *parse_address(const char *text, void *at, const char **code)
{
	(void)code;
	return hs_ip_address_read(text, at);
}

static void write_address(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	hs_ip_address_write(at, text);
}

// A row of a prefix has the address, followed by the number of host bits.
#define PREFIX_BYTES 17
static_assert(offsetof(struct hs_rule, src_host_bits) == offsetof(struct hs_rule, src_ip) + 16 &&
				offsetof(struct hs_rule, dst_host_bits) ==
						offsetof(struct hs_rule, dst_ip) + 16,
		"the number is behind its address");

static const char *parse_prefix(const char *text, void *at, const char **code)
{
	uint8_t *prefix = at;

	(void)code;
	return hs_ip_prefix_read(text, prefix, prefix + 16);
}

static void write_prefix(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	const uint8_t *prefix = at;

	hs_ip_prefix_write(prefix, prefix[16], text);
}
static_assert(HS_SCHEMA_TEXT_BYTES >= HS_IP_ADDRESS_TEXT, "room for an address");

const struct hs_schema_text hs_rule_address_text = {parse_address, write_address,
		"{'type': 'string', 'anyOf': [{'format': 'ipv6'}, {'format': 'ipv4'}]}"};

static const struct hs_schema_text prefix_text = {parse_prefix, write_prefix,
		"{'type': 'string', 'anyOf': [{'format': 'ipv6'}, {'format': 'ipv4'}, "
		"{'pattern': '^[0-9A-Fa-f:.]+/[0-9]{1,3}$'}]}"};

static const char *parse_trace(const char *text, void *at, const char **code)
{
	size_t len = strlen(text);
	(void)code;

	if (len < 3 || len > 10 || text[0] != '0' || (text[1] | 0x20) != 'x' ||
			strspn(text + 2, "0123456789abcdefABCDEF") != len - 2)
		return "is not a hex trace type";
	*(uint32_t *)at = (uint32_t)strtoul(text + 2, NULL, 16);
	return NULL;
}

static void write_trace(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	snprintf(text, HS_SCHEMA_TEXT_BYTES, "0x%08X", *(const uint32_t *)at);
}

static const struct hs_schema_text trace_text = {parse_trace, write_trace,
		"{'type': 'string', 'pattern': '^0[xX][0-9A-Fa-f]{1,8}$'}"};

static bool is_safe(const char *text, size_t len)
{
	int32_t code;

	for (size_t at = 0, n; at < len; at += n) {
		n = hs_clean_next(text + at, len - at, &code);
		if (n == 0 || hs_clean_is_unsafe(code))
			return false;
	}
	return true;
}

static const char *parse_owner(const char *text, void *at, const char **code)
{
	size_t len = strlen(text);

	if (len == 0 || len >= HS_RULE_OWNER_BYTES || !is_safe(text, len))
		return "is not a name";
	*code = "too_large";
	*(uint16_t *)at = hs_rule_owner_number(text);
	return *(uint16_t *)at ? NULL : "is one owner too many";
}

static void write_owner(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	snprintf(text, HS_SCHEMA_TEXT_BYTES, "%s", hs_rule_owner_name(*(const uint16_t *)at));
}

static const struct hs_schema_text owner_text = {
		parse_owner, write_owner, "{'type': 'string', 'minLength': 1, 'maxLength': 31}"};
static_assert(HS_RULE_OWNER_BYTES == 32, "the length in the schema");

// ---- words, fields ----

static const struct hs_schema_word protocols[] = {{"tcp", IPPROTO_TCP}, {"udp", IPPROTO_UDP},
		{"icmp", IPPROTO_ICMPV6}, {"any", HS_RULE_ANY_PROTOCOL}, {NULL, 0}};
static const struct hs_schema_word modes[] = {{"count", HS_MODE_COUNT},
		{"frequency", HS_MODE_FREQUENCY}, {"probability", HS_MODE_PROBABILITY}, {NULL, 0}};

const char *hs_rule_protocol_name(uint8_t protocol)
{
	for (const struct hs_schema_word *word = protocols; word->text; word++)
		if (word->value == protocol)
			return word->text;
	return "unknown";
}

static int read_fields(json_t *json, const char *path, void *at, struct hs_error *err)
{
	struct hs_partial partial;

	memset(&partial, 0, sizeof(partial));
	int rc = hs_config_read_partial(json, path, &partial, err);
	uint16_t number = rc < 0 ? 0 : (uint16_t)hs_rule_fields_number(&partial);
	if (rc == 0 && !number)
		return hs_error_set(err, "too_large", path, "at most 65535 different ones",
				"fields: there have been as many different ones as may");
	memcpy(at, &number, sizeof(number));
	return rc;
}

static json_t *print_fields(const void *at)
{
	uint16_t number = *(const uint16_t *)at;
	return number ? hs_config_print_partial(hs_rule_fields_of(number)) : NULL;
}

static int read_dscp(json_t *json, const char *path, void *at, struct hs_error *err)
{
	static const struct hs_schema_field plain = {
			"dscp", HS_SCHEMA_UINT, 0, 1, .max = 63, .allowed = "0 to 63"};
	uint8_t value;

	if (hs_schema_read_value(&plain, json, path, &value, err) < 0)
		return -EINVAL;
	*(uint8_t *)at = HS_RULE_OF_DSCP | value;
	return 0;
}

static json_t *print_dscp(const void *at)
{
	uint8_t dscp = *(const uint8_t *)at;
	return dscp ? json_integer(dscp & ~HS_RULE_OF_DSCP) : NULL;
}

static bool has_revision(const void *rule)
{
	return ((const struct hs_rule *)rule)->revision != 0;
}

static const struct hs_schema_word methods[] = {{"flexint", HS_RULE_FLEXINT}, {"int", HS_RULE_INT},
		{"label", HS_RULE_LABEL}, {NULL, 0}};

static bool is_flexint(const void *rule)
{
	return ((const struct hs_rule *)rule)->method == HS_RULE_FLEXINT;
}

static bool is_of_method(const void *rule)
{
	return !is_flexint(rule);
}

// ---- the table ----

#define IN_RULE(member) HS_SCHEMA_MEMBER(struct hs_rule, member)

// The order is that of listing 1, in which the in-band request is written, too. The in-band request
// has the switches that concern the sink. Switches for nodes on the path are set at those nodes.
const struct hs_schema_field hs_rule_fields[HS_RULE_ROWS + 1] = {
		[HS_RULE_NS_ID] = {"ns_id", HS_SCHEMA_UINT, IN_RULE(ns_id), .required = true,
				.min = 1, .max = UINT32_MAX, .allowed = "1 to 4294967295",
				.help = "names the rule: the namespace id that its telemetry "
					"carries"},
		[HS_RULE_APP_ID] = {"app_id", HS_SCHEMA_UINT, IN_RULE(app_id), .max = UINT32_MAX,
				.allowed = "0 to 4294967295", .fallback = "0",
				.help = "groups the flows of one application"},
		[HS_RULE_SRC_IP] = {"src_ip", HS_SCHEMA_PARSED, offsetof(struct hs_rule, src_ip),
				PREFIX_BYTES, .text = &prefix_text, .required = true,
				.allowed = "an IPv6 or IPv4 address, or with method int or label a "
					   "prefix",
				.help = "source of the flow, not multicast; method flexint needs "
					"IPv6"},
		[HS_RULE_DST_IP] = {"dst_ip", HS_SCHEMA_PARSED, offsetof(struct hs_rule, dst_ip),
				PREFIX_BYTES, .text = &prefix_text, .required = true,
				.allowed = "an IPv6 or IPv4 address, or with method int or label a "
					   "prefix",
				.help = "destination of the flow, of the same version"},
		[HS_RULE_SRC_PORT] = {"src_port", HS_SCHEMA_UINT, IN_RULE(src_port), .max = 65535,
				.allowed = "0 to 65535", .fallback = "0",
				.help = "source port, 0 for any; 0 with icmp"},
		[HS_RULE_DST_PORT] = {"dst_port", HS_SCHEMA_UINT, IN_RULE(dst_port), .max = 65535,
				.allowed = "0 to 65535", .fallback = "0",
				.help = "destination port, 0 for any; 0 with icmp"},
		[HS_RULE_PROTOCOL] = {"protocol", HS_SCHEMA_WORD, IN_RULE(protocol),
				.words = protocols, .required = true,
				.allowed = "tcp, udp, icmp or any",
				.help = "protocol of the flow; icmp is ICMPv6, or ICMP between "
					"IPv4 addresses"},
		[HS_RULE_TRACE_TYPE] = {"trace_type", HS_SCHEMA_PARSED, IN_RULE(trace_type),
				.text = &trace_text, .given = is_flexint,
				.allowed = "0x and 1 to 8 hex digits, bits of 0xF000E000 only",
				.fallback = "must be given with method flexint",
				.help = "what to collect: the source's half in the upper 16 bits, "
					"the hops' in the lower; with method flexint"},
		[HS_RULE_MODE] = {"mode", HS_SCHEMA_WORD, IN_RULE(mode), .words = modes,
				.required = true, .allowed = "count, frequency or probability",
				.help = "which packets carry telemetry"},
		[HS_RULE_MODE_SETTING] = {"mode_setting", HS_SCHEMA_NUMBER, IN_RULE(mode_setting),
				.shape = "{'type': 'number', 'exclusiveMinimum': 0, 'maximum': "
					 "4294967295}",
				.required = true,
				.allowed = "count: 1 to 4294967295, whole; frequency: 0.001 to "
					   "86400000; "
					   "probability: above 0, to 100",
				.help = "count: every Nth packet; frequency: at most one in N "
					"milliseconds; "
					"probability: N percent"},
		[HS_RULE_IN_BAND] = {"in_band", HS_SCHEMA_BOOL, IN_RULE(in_band),
				.allowed = "true or false", .fallback = "false",
				.help = "the source passes the rule on to the other nodes, in the "
					"flow's own packets"},
		[HS_RULE_TRANSMIT_REPORT] = {"transmit_report", HS_SCHEMA_BOOL,
				IN_RULE(transmit_report), .allowed = "true or false",
				.fallback = "true", .help = "publish each raw report"},
		[HS_RULE_PIGGYBACK_REPORT] = {"piggyback_report", HS_SCHEMA_BOOL,
				IN_RULE(piggyback_report), .allowed = "true or false",
				.fallback = "false",
				.help = "the sink sends reports back with packets of the reverse "
					"flow"},
		[HS_RULE_EXTRACT_REPORT] = {"extract_report", HS_SCHEMA_BOOL,
				IN_RULE(extract_report), .allowed = "true or false",
				.fallback = "false",
				.help = "take such reports out of packets and publish them here"},
		[HS_RULE_HOP_ENABLED] = {"hop_enabled", HS_SCHEMA_BOOL, IN_RULE(hop_enabled),
				.allowed = "true or false", .fallback = "true",
				.help = "this node adds its own data; it counts the flow in any "
					"case"},
		[HS_RULE_FIELDS] = {"fields", HS_SCHEMA_CUSTOM, IN_RULE(fields),
				.read = read_fields, .print = print_fields,
				.fields = hs_partial_fields,
				.allowed = "packets, timestamp and bytes, each with supported, "
					   "probability_percent, min_change, max_age_ms as in "
					   "telemetry.fields",
				.fallback = "the node's",
				.help = "which fields this node's entries have, in place of its "
					"telemetry.fields"},
		[HS_RULE_OWNER] = {"owner", HS_SCHEMA_PARSED, IN_RULE(owner), .text = &owner_text,
				.allowed = "1 to 31 bytes, no control characters",
				.fallback = "none",
				.help = "who writes the rule; a change without it removes the "
					"owner"},
		[HS_RULE_REVISION] = {"revision", HS_SCHEMA_UINT, IN_RULE(revision),
				.given = has_revision, .min = 1, .max = HS_RULE_REVISION_MOST,
				.allowed = "1 to 9007199254740991, with owner", .fallback = "none",
				.help = "the owner's number of this content"},
		[HS_RULE_METHOD] = {"method", HS_SCHEMA_WORD, IN_RULE(method), .words = methods,
				.given = is_of_method, .allowed = "flexint, int or label",
				.fallback = "flexint", .help = "the family of telemetry"},
		[HS_RULE_INSTRUCTIONS] = {"instructions", HS_SCHEMA_CUSTOM, IN_RULE(trace_type),
				.read = hs_rule_read_instructions,
				.print = hs_rule_print_instructions,
				.shape = hs_rule_instructions_shape,
				.allowed = "a list of names, with method int",
				.fallback = "must be given with method int, or instruction_bitmap",
				.help = "what each node adds"},
		[HS_RULE_INSTRUCTION_BITMAP] = {"instruction_bitmap", HS_SCHEMA_PARSED,
				IN_RULE(trace_type), .text = &hs_rule_bitmap_text,
				.allowed = "0x and 4 hex digits, not 0x0000, with method int",
				.fallback = "none",
				.help = "the same, as the profile's version numbers it"},
		[HS_RULE_DSCP] = {"dscp", HS_SCHEMA_CUSTOM, IN_RULE(dscp), .read = read_dscp,
				.print = print_dscp,
				.shape = "{'type': 'integer', 'minimum': 0, 'maximum': 63}",
				.allowed = "0 to 63, with method int or label", .fallback = "any",
				.help = "only packets of this class"},
		[HS_RULE_ROWS] = {NULL},
};

void hs_rule_update_fields(struct hs_schema_field fields[HS_RULE_ROWS + 1])
{
	const uint32_t rows = HS_RULE_BIT(NS_ID) | HS_RULE_CHANGEABLE | HS_RULE_LABELS;

	for (unsigned row = 0; row < HS_RULE_ROWS; row++) {
		if (!(rows >> row & 1))
			continue;
		*fields = hs_rule_fields[row];
		fields->required = row == HS_RULE_NS_ID;
		fields->nullable = HS_RULE_CHANGEABLE >> row & 1;
		fields->fallback = NULL;
		fields++;
	}
	fields->key = NULL;
}

unsigned hs_rule_row_find(const char *name, size_t len)
{
	unsigned row = 0;

	while (row < HS_RULE_ROWS && (strlen(hs_rule_fields[row].key) != len ||
						     memcmp(hs_rule_fields[row].key, name, len)))
		row++;
	return row;
}

void hs_rule_copy_rows(struct hs_rule *to, const struct hs_rule *from, uint32_t rows)
{
	for (unsigned row = 0; row < HS_RULE_ROWS; row++) {
		const struct hs_schema_field *field = &hs_rule_fields[row];
		if (rows >> row & 1)
			memcpy((char *)to + field->offset, (const char *)from + field->offset,
					field->size);
	}
}

void hs_rule_update_take(struct hs_rule_update *update, const struct hs_rule *rule, uint32_t rows)
{
	update->rows |= rows & HS_RULE_CHANGEABLE;
	hs_rule_copy_rows(&update->to, rule, rows & HS_RULE_CHANGEABLE);
}

int hs_rule_apply(struct hs_rule *rule, const struct hs_rule_update *update, struct hs_error *err)
{
	struct hs_rule changed = *rule;

	hs_rule_copy_rows(&changed, &update->to, update->rows | HS_RULE_LABELS);
	int rc = hs_rule_check(&changed, err);
	if (rc == 0)
		*rule = changed;
	return rc;
}
