// SPDX-License-Identifier: BSD-3-Clause
// Trace types as people write them: names of values, or hex.
#include "hopsight_cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name;
	uint32_t bits; // in the half of the source and in that of the hops
} values[] = {
		{"packets", 0x20008000},
		{"time", 0x40004000},
		{"bytes", 0x10002000},
		{"telemetry", 0x80000000},
};
#define N_VALUES (sizeof(values) / sizeof(values[0]))
#define ALL	 "all"
#define NAMES	 64 // bytes of all names

static uint32_t bits_of(const char *name, size_t len)
{
	uint32_t bits = 0, all = 0;

	for (size_t i = 0; i < N_VALUES; i++) {
		all |= values[i].bits;
		if (strlen(values[i].name) == len && memcmp(values[i].name, name, len) == 0)
			bits = values[i].bits;
	}
	return len == strlen(ALL) && memcmp(name, ALL, len) == 0 ? all : bits;
}

const char *hs_cli_trace_hex(const char *text)
{
	static char hex[16];
	uint32_t bits = 0;

	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		if (!bits_of(at, len))
			return text;
		bits |= bits_of(at, len);
		at += len;
		if (!*at)
			break;
	}
	snprintf(hex, sizeof(hex), "0x%08" PRIX32, bits);
	return hex;
}

static bool is_hex(const char *text)
{
	return strncasecmp(text, "0x", 2) == 0; // the node looks at the digits
}

int hs_cli_trace_check(const char *text)
{
	return is_hex(text) || hs_cli_trace_hex(text) != text
			       ? HS_CLI_DONE
			       : hs_cli_usage("--trace: \"%s\" is not one of: " HS_CLI_TRACE_NAMES
					      "hex such as 0x7000E000",
						 text);
}

// Writes the names of the values whose bits are all set in `bits`, or, with `some`, of those with a
// bit set. Returns the bits of these values.
static uint32_t write_names(uint32_t bits, bool some, char *names, size_t size)
{
	uint32_t named = 0;
	size_t used = 0;

	names[0] = '\0';
	for (size_t i = 0; i < N_VALUES; i++) {
		uint32_t there = bits & values[i].bits;
		if (!there || (!some && there != values[i].bits))
			continue;
		named |= values[i].bits;
		used += (size_t)snprintf(
				names + used, size - used, "%s%s", used ? "," : "", values[i].name);
	}
	return named;
}

json_t *hs_cli_trace_names(const char *hex)
{
	uint32_t bits = (uint32_t)strtoul(hex, NULL, 16);
	char names[NAMES];

	if (bits == bits_of(ALL, strlen(ALL)))
		return json_string(ALL);
	return json_string(write_names(bits, false, names, sizeof(names)) == bits ? names : hex);
}

json_t *hs_cli_trace_needs(const struct hs_cli *cli, const char *hex)
{
	const char *trace = cli->values[HS_CLI_TRACE];
	char names[NAMES];

	write_names((uint32_t)strtoul(hex, NULL, 16), true, names, sizeof(names));
	return json_string((trace && is_hex(trace)) || !names[0] ? hex : names);
}
