// SPDX-License-Identifier: BSD-3-Clause
#include "rule_instructions.h"

#include "rule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hs_schema_word words[] = {
#define HS_RULE_INSTRUCTION(name, bit) {#name, bit},
#include "instruction.def"
#undef HS_RULE_INSTRUCTION
		{NULL, 0},
};
static const char all_words[] = "node_id, ports, hop_latency, queue, ingress_timestamp, "
				"egress_timestamp, ports_l2, link_utilisation, buffer, "
				"queue_congestion, checksum_complement";

const char hs_rule_instructions_shape[] =
		"{'type': 'array', 'minItems': 1, 'uniqueItems': true, 'items': {'enum': ["
		"'node_id', 'ports', 'hop_latency', 'queue', 'ingress_timestamp', "
		"'egress_timestamp', 'ports_l2', 'link_utilisation', 'buffer', "
		"'queue_congestion', 'checksum_complement']}}";

static int read_word(json_t *item, const char *path, uint32_t *bits, struct hs_error *err)
{
	const char *text = json_string_value(item);
	uint64_t bit = 0;

	if (!text)
		return hs_schema_wrong_type(item, path, all_words, err);
	for (const struct hs_schema_word *word = words; word->text; word++)
		bit = strcmp(word->text, text) == 0 ? word->value : bit;
	if (!bit)
		return hs_error_set(err, "bad_value", path, all_words,
				"%s: \"%.64s\" is no instruction", path, text);
	if (*bits & bit)
		return hs_error_set(err, "bad_value", path, "each instruction once",
				"%s: \"%s\" comes twice", path, text);
	*bits |= (uint32_t)bit;
	return 0;
}

int hs_rule_read_instructions(json_t *list, const char *path, void *at, struct hs_error *err)
{
	uint32_t bits = HS_RULE_TRACE_INT;
	json_t *item;
	size_t i;

	if (!json_is_array(list))
		return hs_schema_wrong_type(list, path, "a list of names", err);
	json_array_foreach (list, i, item) {
		char place[96];
		snprintf(place, sizeof(place), "%s[%zu]", path, i);
		if (read_word(item, place, &bits, err) < 0)
			return -EINVAL;
	}
	if (bits == HS_RULE_TRACE_INT)
		return hs_error_set(err, "out_of_range", path, all_words,
				"%s: the list asks for nothing", path);
	memcpy(at, &bits, sizeof(bits));
	return 0;
}

json_t *hs_rule_print_instructions(const void *at)
{
	uint32_t bits = *(const uint32_t *)at;

	if (!(bits & HS_RULE_TRACE_INT) || bits & HS_RULE_TRACE_BITMAP)
		return NULL;
	json_t *list = json_array();
	for (const struct hs_schema_word *word = words; word->text; word++)
		if (bits & word->value)
			json_array_append_new(list, json_string(word->text));
	return list;
}

static const char *parse_bitmap(const char *text, void *at, const char **code)
{
	size_t len = strlen(text);
	(void)code;

	if (len != 6 || text[0] != '0' || (text[1] | 0x20) != 'x' ||
			strspn(text + 2, "0123456789abcdefABCDEF") != 4 ||
			strtoul(text + 2, NULL, 16) == 0)
		return "is not a bitmap of 16 bits";
	*(uint32_t *)at = HS_RULE_TRACE_INT | HS_RULE_TRACE_BITMAP |
			  (uint32_t)strtoul(text + 2, NULL, 16);
	return NULL;
}

static void write_bitmap(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	uint32_t bits = *(const uint32_t *)at;

	text[0] = '\0';
	if (bits & HS_RULE_TRACE_INT && bits & HS_RULE_TRACE_BITMAP)
		snprintf(text, HS_SCHEMA_TEXT_BYTES, "0x%04X", bits & 0xffff);
}

const struct hs_schema_text hs_rule_bitmap_text = {parse_bitmap, write_bitmap,
		"{'type': 'string', 'pattern': '^0[xX][0-9A-Fa-f]{4}$'}"};
