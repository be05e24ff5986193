// SPDX-License-Identifier: BSD-3-Clause
// Where a UDP socket listens.
//
// Thread rule: any; pure functions.
#pragma once

#include "schema.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_collector_address {
	uint8_t address[16]; // IPv4: mapped
	uint16_t port;
};

// "127.0.0.1:32766" or "[::1]:32766".
extern const struct hs_schema_text hs_collector_address_text;

// Whether the kernel gives only one of them a socket. 0.0.0.0 is every IPv4 address, and [::] every
// IPv6 address.
bool hs_collector_addresses_collide(
		const struct hs_collector_address *one, const struct hs_collector_address *other);
