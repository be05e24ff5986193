// SPDX-License-Identifier: BSD-3-Clause
// An address and a port as a configuration says them: "127.0.0.1:9463" or "[::1]:9463".
//
// Thread rule: any; pure functions.
#pragma once

#include "ip_address.h"
#include "schema_table.h"

// The functions and the shape of hs_ip_port_text, for a table with a check of its own.
const char *hs_ip_port_text_parse(const char *text, void *at, const char **code);
void hs_ip_port_text_write(const void *at, char text[HS_SCHEMA_TEXT_BYTES]);
#define HS_IP_PORT_TEXT_SHAPE                                                                      \
	"{'type': 'string', 'pattern': '^(\\\\[[0-9A-Fa-f:.]+\\\\]|[0-9.]+):[0-9]{1,5}$'}"

// For a row {"udp", HS_SCHEMA_PARSED, ..., .text = &hs_ip_port_text} of a struct hs_ip_port.
extern const struct hs_schema_text hs_ip_port_text;
