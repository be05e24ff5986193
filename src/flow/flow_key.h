// SPDX-License-Identifier: BSD-3-Clause
// The fields of a packet that rules compare.
//
// Thread rule: any; values.
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_hash_crc.h>

#define HS_FLOW_IPV4 0x80 // traits: the addresses are of IPv4, mapped as in ip_address.h
#define HS_FLOW_DSCP 0x40 // the six bits below are the DSCP; else they are 0

struct hs_rule;

struct hs_flow_key {
	uint8_t src_ip[16];
	uint8_t dst_ip[16];
	uint16_t src_port; // host order; 0 if the rule matches any
	uint16_t dst_port;
	uint8_t protocol;      // 0 if the rule matches any
	uint8_t traits;	       // HS_FLOW_IPV4, HS_FLOW_DSCP
	uint8_t src_host_bits; // of a rule with an address prefix (ip_address.h); else 0
	uint8_t dst_host_bits;
	uint8_t zero[8]; // pads to a length that rte_hash compares with vector instructions
};
static_assert(sizeof(struct hs_flow_key) == 48, "no hidden padding: the key is compared as bytes");
#define HS_FLOW_KEY_WORDS 5			  // 64-bit words of a key that are not always zero
#define HS_FLOW_KEY_LAST  (HS_FLOW_KEY_WORDS - 1) // the word behind the addresses

// Makes the key that packets of a rule have.
void hs_flow_key_of_rule(const struct hs_rule *rule, struct hs_flow_key *key);

// The key of a packet. The addresses stay in the packet.
struct hs_flow_tuple {
	const uint8_t *addresses; // source and destination, side by side, as in a key
	union {
		struct { // as in a key
			uint16_t src_port;
			uint16_t dst_port;
			uint8_t protocol;
			uint8_t traits;
			uint8_t src_host_bits;
			uint8_t dst_host_bits;
		};
		uint64_t last;
	};
};
static_assert(offsetof(struct hs_flow_key, src_port) == HS_FLOW_KEY_LAST * sizeof(uint64_t),
		"the addresses are four words");

static inline struct hs_flow_tuple hs_flow_key_tuple(const struct hs_flow_key *key)
{
	struct hs_flow_tuple tuple = {.addresses = key->src_ip};

	memcpy(&tuple.last, &key->src_port, sizeof(tuple.last));
	return tuple;
}

// Returns word i of the addresses.
static inline uint64_t hs_flow_tuple_word(const struct hs_flow_tuple *tuple, unsigned i)
{
	uint64_t word;

	memcpy(&word, tuple->addresses + i * sizeof(word), sizeof(word));
	return word;
}

// Adds one more word to a CRC-32C.
static inline uint64_t hs_flow_crc(uint64_t crc, uint64_t word)
{
#ifdef __SSE4_2__
	return __builtin_ia32_crc32di(crc, word); // selects no algorithm at each word
#else
	return rte_hash_crc_8byte(word, (uint32_t)crc);
#endif
}

// Returns the hash of a key: CRC-32C over the words that are not always zero. The function is
// inlined, so that several hashes are computed at once.
static inline uint32_t hs_flow_tuple_hash(const struct hs_flow_tuple *tuple)
{
	uint64_t crc = 0;

	for (unsigned i = 0; i < HS_FLOW_KEY_LAST; i++)
		crc = hs_flow_crc(crc, hs_flow_tuple_word(tuple, i));
	return (uint32_t)hs_flow_crc(crc, tuple->last);
}

static inline uint32_t hs_flow_key_hash(const struct hs_flow_key *key)
{
	struct hs_flow_tuple tuple = hs_flow_key_tuple(key);

	return hs_flow_tuple_hash(&tuple);
}
