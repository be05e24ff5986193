// SPDX-License-Identifier: BSD-3-Clause
// Where a server listens, as a configuration says it: "127.0.0.1:9463" or "[::1]:9463".
//
// Thread rule: any; values.
#pragma once

#include "schema_table.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_http_bind {
	uint8_t address[16]; // IPv4 is mapped, as in ip_address.h
	uint16_t port;
};

// The rest of a row {"bind", HS_SCHEMA_PARSED, ..., HS_HTTP_BIND} of a struct hs_http_bind.
extern const struct hs_schema_text hs_http_bind_text;
#define HS_HTTP_BIND                                                                               \
	.text = &hs_http_bind_text, .expected = "an address and a port, like 127.0.0.1:9463 or "   \
						"[::1]:9463"

// Whether nobody from outside can reach it.
bool hs_http_bind_is_local(const struct hs_http_bind *bind);
