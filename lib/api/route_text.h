// SPDX-License-Identifier: BSD-3-Clause
// Prefixes and MAC addresses as text. Thread rule: any; pure functions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HS_ROUTE_TEXT 64

// Prefixes of IPv4 are mapped as in ip_address.h, with a depth of 96 and more.

// Writes "2001:db8::/32" or "10.0.0.0/8", or without a length if it is one address. Returns text.
const char *hs_route_prefix_text(const uint8_t prefix[16], uint8_t depth, char text[HS_ROUTE_TEXT]);
const char *hs_route_mac_text(const uint8_t mac[6], char text[HS_ROUTE_TEXT]);

// Returns NULL, or the reason why a text cannot be read, for people.
const char *hs_route_read_prefix(const char *text, uint8_t prefix[16], uint8_t *depth);
bool hs_route_is_ipv4(const uint8_t prefix[16], uint8_t depth);
// Returns whether a text is a MAC address, of a station or not.
bool hs_route_is_mac(const char *text);
// Accepts the address of a station: no group's address and not zero.
const char *hs_route_read_mac(const char *text, uint8_t mac[6]);
