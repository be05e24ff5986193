// SPDX-License-Identifier: BSD-3-Clause
// The records that a worker hands up to control from packets that carried in-band requests (0x32)
// or reports on their way back (0x33): one record for each option. The options of one packet and
// type come together and in order, or not at all. If the ring is full, they are lost and counted,
// and the packet goes on.
//
// Thread rule: written by the owner lcore into its worker's ring, read by control.
#pragma once

#include <assert.h>
#include <stdint.h>

#define HS_PUNT_BYTES 272
#define HS_PUNT_PARTS 8 // options of one type in a packet; a packet with more hands up none

struct hs_punt {
	int64_t rx_ns; // receive time of the packet
	uint16_t port; // where the packet came in: of a network side, because guards remove what
		       // hosts send
	uint8_t type;  // HS_OPT_REQUEST or HS_OPT_REPORT
	uint8_t part;  // 0 to parts - 1
	uint8_t parts; // options of this type in the packet
	uint8_t taken; // 1: taken out of the packet here (sink, or extract_report); 0: seen
	uint8_t len;   // of data
	uint8_t data[HS_PUNT_BYTES - 15];
};
static_assert(sizeof(struct hs_punt) == HS_PUNT_BYTES, "record size");
static_assert(sizeof(((struct hs_punt *)0)->data) >= 255, "the longest option fits");
