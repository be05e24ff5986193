// SPDX-License-Identifier: BSD-3-Clause
// Where a packet goes next: the result of a look-up.
//
// Thread rule: values.
#pragma once

#include <stdint.h>

#define HS_FIB_NO_PORT UINT16_MAX

struct hs_next_hop {
	uint8_t mac[6];
	uint16_t port; // HS_FIB_NO_PORT: no route
};
