// SPDX-License-Identifier: BSD-3-Clause
// The lists of ZeroMQ endpoints in the configurations of nodes and controllers.
//
// Thread rule: any; values.
#pragma once

#include "schema.h"

#define HS_MAX_ENDPOINTS  8
#define HS_ENDPOINT_BYTES 256

struct hs_endpoints {
	unsigned n;
	char text[HS_MAX_ENDPOINTS][HS_ENDPOINT_BYTES];
};

// The rest of a row {"bind", HS_SCHEMA_LIST, HS_ENDPOINTS(struct hs_config, bind, 127)}: each
// endpoint has at most `longest` bytes.
#define HS_ENDPOINTS(type, member, longest)                                                        \
	HS_SCHEMA_MEMBER(type, member.text), .max = HS_MAX_ENDPOINTS,                              \
					     .expected = "a list of endpoints like ipc:///run/x",  \
					     .list = &(const struct hs_schema_list)                \
	{                                                                                          \
		.item = {.kind = HS_SCHEMA_TEXT,                                                   \
				.size = HS_ENDPOINT_BYTES,                                         \
				.min = 1,                                                          \
				.max = longest},                                                   \
		HS_SCHEMA_ITEMS(type, member.text), HS_SCHEMA_COUNT(type, member.n),               \
		.noun = "endpoints"                                                                \
	}

// Returns whether `holds` is true of an endpoint.
bool hs_endpoints_any(const struct hs_endpoints *endpoints, bool (*holds)(const char *endpoint));

// Fills an array of pointers to the texts. Returns their number.
unsigned hs_endpoints_point(
		const struct hs_endpoints *endpoints, const char *list[HS_MAX_ENDPOINTS]);

// A list in "control", by its key.
struct hs_endpoints_named {
	const char *key;
	const struct hs_endpoints *endpoints;
};
// Refuses an endpoint that stands twice in lists that one process binds. Ports that the kernel
// chooses differ. Returns 0 or -EINVAL.
int hs_endpoints_check_once(
		const struct hs_endpoints_named *lists, unsigned n, struct hs_error *err);
