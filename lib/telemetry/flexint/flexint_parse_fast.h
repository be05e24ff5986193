// SPDX-License-Identifier: BSD-3-Clause
// Parses packets whose Hop-by-Hop header is as our own nodes write it, in few steps.
//
// Headers of one rule and one path usually differ in values alone: they have the same next header,
// the same length, and options of the same types and lengths at the same places. A template has
// these bytes of a header, and what the parser found in it. A header with the same bytes is parsed
// by a copy.
//
// Thread rule: any; pure functions but for the templates, of which each worker has its own.
#pragma once

#include "bytes.h"
#include "packet_fast.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HS_FLEXINT_TEMPLATES 64

// Offsets count from the first byte of the frame.
struct hs_flexint_template {
	_Alignas(64) uint64_t key; // hs_flexint_template_key of the header; 0: no template
	uint32_t ports_end;	   // where the ports end
	uint32_t ports_mask;	   // 0: the protocol has no ports
	uint16_t trace;		   // the first two bytes of option 0x31
	uint16_t e2e;		   // the first two bytes of option 0x11
	uint16_t padding;	   // the first two bytes of the padding that follows, or `e2e`
	uint16_t padding_off;	   // where `padding` is
	struct hs_packet packet;   // values, ports and lengths are read anew
};
static_assert(sizeof(struct hs_flexint_template) == 64, "one line for a template");

struct hs_flexint_templates {
	struct hs_flexint_template list[HS_FLEXINT_TEMPLATES];
};

static inline uint16_t hs_flexint_template_word(const uint8_t *at)
{
	uint16_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

// Returns the first four bytes of a header (next header, length, two bytes of an option) as a
// number, plus 1, so that no key is 0.
static inline uint64_t hs_flexint_template_key(const uint8_t *hbh)
{
	uint32_t first;

	memcpy(&first, hbh, sizeof(first));
	return (uint64_t)first + 1;
}

// Returns the only place in which a header's template may be. Each length up to 256 bytes has two:
// one for UDP, whose number is odd, and one for TCP and ICMPv6.
static inline struct hs_flexint_template *hs_flexint_template_of(
		struct hs_flexint_templates *templates, const uint8_t *hbh)
{
	return &templates->list[(hbh[1] + 32u * hbh[0]) % HS_FLEXINT_TEMPLATES];
}

// Parses a packet if a template matches its header. `len` is at least HS_FAST_L4 + 8. `payload` is
// the length that IPv6 states, which is within the frame. Returns false if no template matches.
static inline bool hs_flexint_template_parse(struct hs_flexint_templates *templates,
		const uint8_t *frame, size_t len, size_t payload, struct hs_packet *packet)
{
	const uint8_t *hbh = frame + HS_FAST_L4;
	const struct hs_flexint_template *template = hs_flexint_template_of(templates, hbh);

	if (template->key != hs_flexint_template_key(hbh) || (uint32_t)len < template->ports_end ||
			HS_FAST_L4 + (uint32_t)payload < template->ports_end ||
			hs_flexint_template_word(frame + template->packet.trace_off) !=
					template->trace ||
			hs_flexint_template_word(frame + template->packet.e2e_off) !=
					template->e2e ||
			hs_flexint_template_word(frame + template->padding_off) !=
					template->padding)
		return false;
	*packet = template->packet;
	packet->l3_bytes = (uint32_t)(HS_IPV6_BYTES + payload);
	uint64_t named = hs_be64_load(frame + template->packet.trace_off + 2);
	named = named << 32 | named >> 32;
	memcpy((uint8_t *)packet + offsetof(struct hs_packet, ns_id), &named, sizeof(named));
	uint32_t ports = hs_be32_load(frame + template->ports_end - 4);
	hs_packet_fast_put_ports(ports & template->ports_mask, packet);
	return true;
}

// Parses a packet for which there was no template, and makes a template of its header. It replaces
// the one in its place. The arguments are those of hs_flexint_template_parse. Returns false if
// hs_flexint_parse must parse the packet.
bool hs_flexint_template_make(struct hs_flexint_templates *templates, const uint8_t *frame,
		size_t len, size_t payload, struct hs_packet *packet);

static inline bool hs_flexint_fast_hbh(void *templates, const uint8_t *frame, size_t len,
		size_t payload, struct hs_packet *packet)
{
	return len >= HS_FAST_L4 + 8 &&
	       (hs_flexint_template_parse(templates, frame, len, payload, packet) ||
			       hs_flexint_template_make(templates, frame, len, payload, packet));
}

// Parses a frame with the result of hs_flexint_parse. Returns false if hs_flexint_parse must parse
// it.
static inline bool hs_flexint_parse_fast(struct hs_flexint_templates *templates,
		const uint8_t *frame, size_t len, size_t frame_len, struct hs_packet *packet)
{
	return hs_packet_parse_fast(
			       frame, len, frame_len, hs_flexint_fast_hbh, templates, packet) ||
	       hs_packet_parse_fast_ipv4(frame, len, frame_len, packet);
}
