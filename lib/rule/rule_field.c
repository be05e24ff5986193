// SPDX-License-Identifier: BSD-3-Clause
#include "rule_field.h"

#include "clean_text.h"
#include "rule_fields.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define IN_RULE(member)                                                                            \
	.offset = offsetof(struct hs_rule, member), .bytes = sizeof(((struct hs_rule *)0)->member)
#define IN_UPDATE(member)                                                                          \
	.update = offsetof(struct hs_rule_update, member),                                         \
	.update_has = offsetof(struct hs_rule_update, has_##member) + 1

// The order is that of listing 1, and the in-band request is written in it. The switches that
// concern the sink travel. Switches for nodes on the way are set at those nodes.
const struct hs_rule_field hs_rule_fields[] = {
		{"ns_id", HS_RULE_NUMBER, IN_RULE(ns_id), .required = true, .in_band = true,
				.min = 1, .max = UINT32_MAX, .type = "integer",
				.allowed = "1 to 4294967295",
				.help = "names the rule: the namespace id that its telemetry "
					"carries"},
		{"app_id", HS_RULE_NUMBER, IN_RULE(app_id), .in_band = true, .max = UINT32_MAX,
				.type = "integer", .allowed = "0 to 4294967295", .fallback = "0",
				.help = "groups the flows of one application"},
		{"src_ip", HS_RULE_ADDRESS, IN_RULE(src_ip), .required = true, .in_band = true,
				.type = "string", .allowed = "an IPv6 address",
				.help = "source of the flow"},
		{"dst_ip", HS_RULE_ADDRESS, IN_RULE(dst_ip), .required = true, .in_band = true,
				.type = "string", .allowed = "an IPv6 address",
				.help = "destination of the flow"},
		{"src_port", HS_RULE_NUMBER, IN_RULE(src_port), .in_band = true, .max = 65535,
				.type = "integer", .allowed = "0 to 65535", .fallback = "0",
				.help = "source port, 0 for any; 0 with icmp"},
		{"dst_port", HS_RULE_NUMBER, IN_RULE(dst_port), .in_band = true, .max = 65535,
				.type = "integer", .allowed = "0 to 65535", .fallback = "0",
				.help = "destination port, 0 for any; 0 with icmp"},
		{"protocol", HS_RULE_PROTOCOL, IN_RULE(protocol), .required = true, .in_band = true,
				.type = "string", .allowed = "tcp, udp or icmp",
				.help = "protocol of the flow; icmp is ICMPv6"},
		{"trace_type", HS_RULE_TRACE, IN_RULE(trace_type), .required = true,
				.in_band = true, .type = "string",
				.allowed = "0x and 1 to 8 hex digits, bits of 0xF000E000 only",
				.help = "what to collect: the source's half in the upper 16 bits, "
					"the hops' in the "
					"lower"},
		{"mode", HS_RULE_MODE, IN_RULE(mode), IN_UPDATE(mode), .required = true,
				.in_band = true, .type = "string",
				.allowed = "count, frequency or probability",
				.help = "which packets carry telemetry"},
		{"mode_setting", HS_RULE_SETTING, IN_RULE(mode_setting), IN_UPDATE(mode_setting),
				.required = true, .in_band = true, .type = "number",
				.allowed = "count: 1 to 4294967295, whole; frequency: 0.001 to "
					   "86400000; "
					   "probability: above 0, to 100",
				.help = "count: every Nth packet; frequency: at most one in N "
					"milliseconds; "
					"probability: N percent"},
		{"in_band", HS_RULE_SWITCH, IN_RULE(in_band), .type = "boolean",
				.allowed = "true or false", .fallback = "false",
				.help = "the source passes the rule on to the other nodes, in the "
					"flow's own packets"},
		{"transmit_report", HS_RULE_SWITCH, IN_RULE(transmit_report),
				IN_UPDATE(transmit_report), .in_band = true, .type = "boolean",
				.allowed = "true or false", .fallback = "true",
				.help = "publish each raw report"},
		{"piggyback_report", HS_RULE_SWITCH, IN_RULE(piggyback_report),
				IN_UPDATE(piggyback_report), .in_band = true, .type = "boolean",
				.allowed = "true or false", .fallback = "false",
				.help = "the sink sends reports back with packets of the reverse "
					"flow"},
		{"extract_report", HS_RULE_SWITCH, IN_RULE(extract_report),
				IN_UPDATE(extract_report), .type = "boolean",
				.allowed = "true or false", .fallback = "false",
				.help = "take such reports out of packets and publish them here"},
		{"hop_enabled", HS_RULE_SWITCH, IN_RULE(hop_enabled), IN_UPDATE(hop_enabled),
				.type = "boolean", .allowed = "true or false", .fallback = "true",
				.help = "this node adds its own data; it counts the flow in any "
					"case"},
		{"fields", HS_RULE_FIELDS, IN_RULE(fields), IN_UPDATE(fields), .type = "object",
				.allowed = "packets, timestamp and bytes, each with supported, "
					   "probability_percent, min_change, max_age_ms as in "
					   "telemetry.fields",
				.fallback = "the node's",
				.help = "which fields this node's entries have, in place of its "
					"telemetry.fields"},
		{"owner", HS_RULE_OWNER, IN_RULE(owner), .label = true, .type = "string",
				.allowed = "1 to 31 bytes, no control characters",
				.fallback = "none",
				.help = "who writes the rule; a change without it removes the "
					"owner"},
		{"revision", HS_RULE_NUMBER, IN_RULE(revision), .label = true, .min = 1,
				.max = HS_RULE_REVISION_MOST, .type = "integer",
				.allowed = "1 to 9007199254740991, with owner", .fallback = "none",
				.help = "the owner's number of this content"},
};
const size_t hs_rule_n_fields = sizeof(hs_rule_fields) / sizeof(hs_rule_fields[0]);

const struct hs_rule_field *hs_rule_field_find(const char *name, size_t len)
{
	for (size_t i = 0; i < hs_rule_n_fields; i++) {
		const char *candidate = hs_rule_fields[i].name;
		if (strlen(candidate) == len && memcmp(candidate, name, len) == 0)
			return &hs_rule_fields[i];
	}
	return NULL;
}

uint32_t hs_rule_row(const char *name)
{
	const struct hs_rule_field *field = hs_rule_field_find(name, strlen(name));
	return field ? UINT32_C(1) << (field - hs_rule_fields) : 0;
}

static bool *has_of(struct hs_rule_update *update, const struct hs_rule_field *field)
{
	return (bool *)((char *)update + field->update_has - 1);
}

uint32_t hs_rule_update_rows(const struct hs_rule_update *update)
{
	struct hs_rule_update copy = *update;
	uint32_t rows = 0;

	for (size_t i = 0; i < hs_rule_n_fields; i++)
		if (hs_rule_fields[i].update_has && *has_of(&copy, &hs_rule_fields[i]))
			rows |= UINT32_C(1) << i;
	return rows;
}

void hs_rule_update_take(struct hs_rule_update *update, const struct hs_rule *rule, uint32_t rows)
{
	for (size_t i = 0; i < hs_rule_n_fields; i++) {
		const struct hs_rule_field *field = &hs_rule_fields[i];
		if (!field->update_has || !(rows >> i & 1))
			continue;
		*has_of(update, field) = true;
		memcpy((char *)update + field->update, (const char *)rule + field->offset,
				field->bytes);
	}
}

void hs_rule_copy_rows(struct hs_rule *to, const struct hs_rule *from, uint32_t rows)
{
	for (size_t i = 0; i < hs_rule_n_fields; i++) {
		const struct hs_rule_field *field = &hs_rule_fields[i];
		if (rows >> i & 1)
			memcpy((char *)to + field->offset, (const char *)from + field->offset,
					field->bytes);
	}
}

static int fail(const struct hs_rule_field *field, struct hs_error *err, const char *code,
		const char *what, const struct hs_rule_value *value)
{
	char shown[80] = "";

	switch (value->type) {
	case HS_VALUE_INTEGER:
		snprintf(shown, sizeof(shown), "%s%llu", value->negative ? "-" : "",
				(unsigned long long)value->magnitude);
		break;
	case HS_VALUE_REAL:
		snprintf(shown, sizeof(shown), "%.15g", value->real);
		break;
	case HS_VALUE_TEXT:
		snprintf(shown, sizeof(shown), "\"%.*s\"", (int)(value->len < 64 ? value->len : 64),
				value->text);
		break;
	case HS_VALUE_BOOL:
		snprintf(shown, sizeof(shown), "%s", value->boolean ? "true" : "false");
		break;
	case HS_VALUE_OTHER:
		snprintf(shown, sizeof(shown), "the value");
		break;
	}
	return hs_error_set(err, code, field->name, field->allowed, "%s: %s %s", field->name, shown,
			what);
}

static int wrong_type(const struct hs_rule_field *field, struct hs_error *err,
		const struct hs_rule_value *value)
{
	char what[40];
	snprintf(what, sizeof(what), "is not of type %s", field->type);
	return fail(field, err, "wrong_type", what, value);
}

static int set_number(const struct hs_rule_field *field, const struct hs_rule_value *value,
		struct hs_rule *rule, struct hs_error *err)
{
	if (value->type != HS_VALUE_INTEGER)
		return wrong_type(field, err, value);
	if ((value->negative && value->magnitude) || value->magnitude < field->min ||
			value->magnitude > field->max)
		return fail(field, err, "out_of_range", "is out of range", value);

	char *to = (char *)rule + field->offset;
	if (field->bytes == sizeof(uint16_t))
		memcpy(to, &(uint16_t){(uint16_t)value->magnitude}, sizeof(uint16_t));
	else if (field->bytes == sizeof(uint32_t))
		memcpy(to, &(uint32_t){(uint32_t)value->magnitude}, sizeof(uint32_t));
	else
		memcpy(to, &value->magnitude, sizeof(uint64_t));
	return 0;
}

static int set_setting(const struct hs_rule_field *field, const struct hs_rule_value *value,
		struct hs_rule *rule, struct hs_error *err)
{
	switch (value->type) {
	case HS_VALUE_INTEGER:
		rule->mode_setting = (double)value->magnitude;
		if (value->negative)
			rule->mode_setting = -rule->mode_setting;
		return 0;
	case HS_VALUE_REAL:
		rule->mode_setting = value->real;
		return 0;
	default:
		return wrong_type(field, err, value);
	}
}

// Copies and terminates a text. Returns false if it does not fit or contains a zero.
static bool copy_text(const struct hs_rule_value *value, char *text, size_t size)
{
	if (value->len >= size || memchr(value->text, 0, value->len))
		return false;
	memcpy(text, value->text, value->len);
	text[value->len] = 0;
	return true;
}

static int set_address(const struct hs_rule_field *field, const struct hs_rule_value *value,
		struct hs_rule *rule, struct hs_error *err)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t address[16];

	if (value->type != HS_VALUE_TEXT)
		return wrong_type(field, err, value);
	if (!copy_text(value, text, sizeof(text)))
		return fail(field, err, "bad_value", "is not an IPv6 address", value);
	if (inet_pton(AF_INET, text, address) == 1)
		return fail(field, err, "wrong_family",
				"is an IPv4 address where an IPv6 address is needed", value);
	if (inet_pton(AF_INET6, text, address) != 1)
		return fail(field, err, "bad_value", "is not an IPv6 address", value);
	memcpy((char *)rule + field->offset, address, sizeof(address));
	return 0;
}

static const struct hs_schema_word protocols[] = {
		{"tcp", IPPROTO_TCP}, {"udp", IPPROTO_UDP}, {"icmp", IPPROTO_ICMPV6}, {NULL, 0}};
static const struct hs_schema_word modes[] = {{"count", HS_MODE_COUNT},
		{"frequency", HS_MODE_FREQUENCY}, {"probability", HS_MODE_PROBABILITY}, {NULL, 0}};

const struct hs_schema_word *hs_rule_field_words(const struct hs_rule_field *field)
{
	return field->kind == HS_RULE_MODE ? modes : protocols;
}

static const char *word_of(const struct hs_schema_word *words, uint8_t value)
{
	for (; words->text; words++)
		if (words->value == value)
			return words->text;
	return "unknown";
}

const char *hs_rule_protocol_name(uint8_t protocol)
{
	return word_of(protocols, protocol);
}

static int set_word(const struct hs_rule_field *field, const struct hs_rule_value *value,
		struct hs_rule *rule, struct hs_error *err)
{
	const struct hs_schema_word *words = hs_rule_field_words(field);

	if (value->type != HS_VALUE_TEXT)
		return wrong_type(field, err, value);
	for (; words->text; words++) {
		if (strlen(words->text) == value->len &&
				memcmp(words->text, value->text, value->len) == 0) {
			*((uint8_t *)rule + field->offset) = (uint8_t)words->value;
			return 0;
		}
	}
	return fail(field, err, "out_of_range", "is not known", value);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int set_trace(const struct hs_rule_field *field, const struct hs_rule_value *value,
		struct hs_rule *rule, struct hs_error *err)
{
	uint32_t trace_type = 0;

	if (value->type != HS_VALUE_TEXT)
		return wrong_type(field, err, value);
	if (value->len < 3 || value->len > 10 || value->text[0] != '0' ||
			(value->text[1] | 0x20) != 'x')
		return fail(field, err, "bad_value", "is not a hex trace type", value);
	for (size_t i = 2; i < value->len; i++) {
		int digit = hex_digit(value->text[i]);
		if (digit < 0)
			return fail(field, err, "bad_value", "is not a hex trace type", value);
		trace_type = trace_type << 4 | (uint32_t)digit;
	}
	rule->trace_type = trace_type;
	return 0;
}

static int refuse_fields(const struct hs_rule_field *field, const struct hs_rule_value *value,
		struct hs_rule *rule, struct hs_error *err)
{
	(void)rule;
	return wrong_type(field, err, value);
}

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

static int set_owner(const struct hs_rule_field *field, const struct hs_rule_value *value,
		struct hs_rule *rule, struct hs_error *err)
{
	char name[HS_RULE_OWNER_BYTES];

	if (value->type != HS_VALUE_TEXT)
		return wrong_type(field, err, value);
	if (!copy_text(value, name, sizeof(name)) || !name[0] || !is_safe(name, value->len))
		return fail(field, err, "bad_value", "is not a name", value);
	rule->owner = hs_rule_owner_number(name);
	return rule->owner ? 0 : fail(field, err, "too_large", "is one owner too many", value);
}

static int set_switch(const struct hs_rule_field *field, const struct hs_rule_value *value,
		struct hs_rule *rule, struct hs_error *err)
{
	if (value->type != HS_VALUE_BOOL)
		return wrong_type(field, err, value);
	*(bool *)((char *)rule + field->offset) = value->boolean;
	return 0;
}

int hs_rule_field_set(const struct hs_rule_field *field, const struct hs_rule_value *value,
		struct hs_rule *rule, struct hs_error *err)
{
	static int (*const set[])(const struct hs_rule_field *, const struct hs_rule_value *,
			struct hs_rule *, struct hs_error *) = {
			[HS_RULE_NUMBER] = set_number,
			[HS_RULE_SETTING] = set_setting,
			[HS_RULE_ADDRESS] = set_address,
			[HS_RULE_PROTOCOL] = set_word,
			[HS_RULE_MODE] = set_word,
			[HS_RULE_TRACE] = set_trace,
			[HS_RULE_SWITCH] = set_switch,
			[HS_RULE_FIELDS] = refuse_fields,
			[HS_RULE_OWNER] = set_owner,
	};
	return set[field->kind](field, value, rule, err);
}

void hs_rule_field_text(const struct hs_rule_field *field, const struct hs_rule *rule,
		char text[HS_RULE_TEXT_BYTES])
{
	const uint8_t *from = (const uint8_t *)rule + field->offset;

	text[0] = 0;
	switch (field->kind) {
	case HS_RULE_ADDRESS:
		inet_ntop(AF_INET6, from, text, HS_RULE_TEXT_BYTES);
		break;
	case HS_RULE_PROTOCOL:
		snprintf(text, HS_RULE_TEXT_BYTES, "%s", word_of(protocols, *from));
		break;
	case HS_RULE_MODE:
		snprintf(text, HS_RULE_TEXT_BYTES, "%s", word_of(modes, *from));
		break;
	case HS_RULE_TRACE:
		snprintf(text, HS_RULE_TEXT_BYTES, "0x%08X", rule->trace_type);
		break;
	case HS_RULE_OWNER:
		snprintf(text, HS_RULE_TEXT_BYTES, "%s", hs_rule_owner_name(rule->owner));
		break;
	default:
		break;
	}
}

uint64_t hs_rule_field_number(const struct hs_rule_field *field, const struct hs_rule *rule)
{
	const char *from = (const char *)rule + field->offset;
	uint64_t wide = 0;
	uint32_t number = 0;
	uint16_t narrow = 0;

	if (field->bytes == sizeof(narrow))
		memcpy(&narrow, from, sizeof(narrow));
	else if (field->bytes == sizeof(number))
		memcpy(&number, from, sizeof(number));
	else
		memcpy(&wide, from, sizeof(wide));
	return wide + number + narrow;
}

bool hs_rule_field_switch(const struct hs_rule_field *field, const struct hs_rule *rule)
{
	return *(const bool *)((const char *)rule + field->offset);
}
