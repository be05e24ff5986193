// SPDX-License-Identifier: BSD-3-Clause
// The extension headers of IPv6 that the parser follows, other than Hop-by-Hop.
//
// Source: RFC 8200 section 4, RFC 4302 section 2.2.
// Thread rule: any; pure functions.
#pragma once

#include "ip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool hs_extension_is_followed(uint8_t proto)
{
	switch (proto) {
	case HS_IP_ROUTING:
	case HS_IP_FRAGMENT:
	case HS_IP_AUTH:
	case HS_IP_DESTINATION:
	case HS_IP_MOBILITY:
	case HS_IP_HIP:
	case HS_IP_SHIM6:
		return true;
	default:
		return false;
	}
}

static inline size_t hs_extension_bytes(const uint8_t *header, uint8_t proto)
{
	if (proto == HS_IP_AUTH)
		return 4u * (header[1] + 2u); // four-byte units, minus two
	return proto == HS_IP_FRAGMENT ? 8u : 8u * (header[1] + 1u);
}
