// SPDX-License-Identifier: BSD-3-Clause
// What rules compare of a packet.
//
// Thread rule: any; values.
#pragma once

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include <rte_hash_crc.h>

#define HS_FLOW_IPV4 0x80 // traits: the addresses are of IPv4, mapped as in ip_address.h
#define HS_FLOW_DSCP 0x40 // the six bits below are the DSCP; else they are 0

struct hs_flow_key {
	uint8_t src_ip[16];
	uint8_t dst_ip[16];
	uint16_t src_port; // host order; 0 if the rule matches any
	uint16_t dst_port;
	uint8_t protocol;      // 0 if the rule matches any
	uint8_t traits;	       // HS_FLOW_IPV4, HS_FLOW_DSCP
	uint8_t src_host_bits; // of a rule whose address is a prefix (ip_address.h); else 0
	uint8_t dst_host_bits;
	uint8_t zero[8]; // pads to a length that rte_hash compares with vector instructions
};
static_assert(sizeof(struct hs_flow_key) == 48, "no hidden padding: the key is compared as bytes");
#define HS_FLOW_KEY_WORDS 5 // its 64-bit words that are not always zero

// Returns the hash of a key (CRC-32C over the words that are not always zero). It is inlined, so
// that several are computed at once.
static inline uint32_t hs_flow_key_hash(const struct hs_flow_key *key)
{
	uint64_t w[HS_FLOW_KEY_WORDS];

	memcpy(w, key, sizeof(w));
	uint32_t hash = rte_hash_crc_8byte(w[0], 0);
	hash = rte_hash_crc_8byte(w[1], hash);
	hash = rte_hash_crc_8byte(w[2], hash);
	hash = rte_hash_crc_8byte(w[3], hash);
	return rte_hash_crc_8byte(w[4], hash);
}
