// SPDX-License-Identifier: BSD-3-Clause
// Telemetry of the Flexible INT framework in an IPv6 Hop-by-Hop header: option 0x31 (main header
// and one entry for each hop, newest first), option 0x11 (the source's entry), options 0x32 and
// 0x33 (in-band request and report). docs/wire-flexint.md has the layout bit by bit.
//
// Source: 000_616928c59136b059.txt section III-A, table I, figures 2 and 3.
// Thread rule: any; pure functions on bytes that the caller owns.
#pragma once

#include "flexint_options.h"
#include "packet.h"
#include "telemetry_model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Halves of the trace type are the bitmaps of struct hs_e2e and struct hs_hop.
#define HS_E2E_KNOWN 0xF000
#define HS_HOP_KNOWN 0xE000

#define HS_FLEXINT_MAX_HOPS  61	 // 4-byte entries that fit the 8-bit option length
#define HS_FLEXINT_MAX_TRACE 255 // bytes of option 0x31's data
#define HS_FLEXINT_MAX_E2E   22	 // bytes of option 0x11's data: bitmap and all known fields

enum hs_flexint_layout {
	HS_LAYOUT_ALIGNED, // PadN(2) before 0x31: Linux drops an unaligned 0x31
	HS_LAYOUT_PAPER,   // exactly as the paper has it
};

// The table of the fields. Sizes, writing, reading, JSON keys, printing and the documents are
// derived from it.
extern const struct hs_telemetry_field hs_flexint_fields[];
extern const size_t hs_flexint_n_fields;
extern const struct hs_telemetry_family hs_flexint_family;

// Parses packets that may carry this telemetry, as hs_packet_parse does.
void hs_flexint_parse(const uint8_t *frame, size_t len, size_t frame_len, struct hs_packet *packet);

// ---- source ----

// Returns by how much a frame grows when the source inserts telemetry of this trace type, into a
// new Hop-by-Hop header or at the end of the host's. (There may be only one such header. A multiple
// of eight bytes after the host's options does not change their bytes or alignment.) Returns 0 if
// the header would exceed its length byte or the payload its 16 bits, or if the packet is not IPv6,
// malformed or short.
size_t hs_flexint_source_growth(
		const struct hs_packet *packet, uint32_t trace_type, enum hs_flexint_layout layout);

// Returns by how much a packet without a Hop-by-Hop header grows on a path of n_nodes, the source
// included, if each node adds the values that the trace type requests and the option has room for.
size_t hs_flexint_path_growth(uint32_t trace_type, enum hs_flexint_layout layout, unsigned n_nodes);

// Inserts the source's telemetry. `frame` is the new start: `growth` free bytes, then the old
// frame. Moves the front of the frame down, writes the options, and corrects Next Header and
// Payload Length. `e2e->bitmap` must be the upper half of trace_type restricted to known bits.
void hs_flexint_source_insert(uint8_t *frame, const struct hs_packet *packet, size_t growth,
		uint32_t ns_id, uint32_t trace_type, enum hs_flexint_layout layout,
		const struct hs_e2e *e2e);

// ---- transit ----

// Returns by how much a frame grows when a hop with this bitmap is added. The trailing padding is
// computed anew, so the growth may differ from the entry's bytes, and may be 0. Returns -ENOSPC if
// the option's, header's or payload's length would overflow, and -EINVAL without
// HS_PACKET_TELEMETRY.
int hs_flexint_hop_growth(const uint8_t *frame, const struct hs_packet *packet, uint16_t bitmap);

// Adds the entry directly after the main header. `frame` is the new start: `growth` free bytes,
// then the old frame (growth may be 0). Corrects both length bytes, padding and Payload Length.
void hs_flexint_hop_insert(uint8_t *frame, const struct hs_packet *packet, size_t growth,
		const struct hs_hop *hop);

// ---- sink ----

// Removes every telemetry option (0x31, 0x11, 0x32, 0x33) with its padding, and restores Next
// Header and Payload Length. If our source inserted the telemetry, the host's bytes are exactly
// restored. If other nodes mixed it with other options, each other option keeps its offset modulo
// 8. The remaining frame begins at frame + result, and result == packet->telemetry_bytes. The
// result can be 0 if a mixture's telemetry only becomes padding; HS_PACKET_ANY_TELEMETRY says
// whether there is telemetry to strip. Options that cannot be walked (HS_PACKET_MALFORMED) do not
// change.
size_t hs_flexint_strip(uint8_t *frame, const struct hs_packet *packet);

// Decodes the data of options 0x31 (from the namespace on) and 0x11 (from the E2E bitmap on).
// Returns 0, or -EBADMSG: an entry has an unknown bit, so that its size is not known, or does not
// fit.
int hs_flexint_decode(const uint8_t *trace, size_t trace_len, const uint8_t *e2e, size_t e2e_len,
		struct hs_decoded *out);

// Packs telemetry of type 0x7000E000 only: see hs_telemetry_family.
bool hs_flexint_pack(const uint8_t *trace, size_t trace_len, const uint8_t *e2e, size_t e2e_len,
		size_t room, struct hs_packed *out);

// ---- requests and reports (0x32, 0x33): CBOR is opaque here ----

// Growth and insertion of `bytes` of complete options (1 to HS_HBH_MAX_BYTES - 8), in their order.
// Each has type, length and data. The rules are those of the source.
size_t hs_flexint_block_growth(const struct hs_packet *packet, size_t bytes);
void hs_flexint_block_insert(uint8_t *frame, const struct hs_packet *packet, size_t growth,
		const uint8_t *options, size_t bytes);

// Removes the options of one type in place, as hs_flexint_strip does, and keeps all other options,
// other telemetry included. Returns by how much the frame shrank (a multiple of 8, may be 0). The
// frame begins at frame + result and must be parsed anew. The options must be walkable.
size_t hs_flexint_take_type(uint8_t *frame, const struct hs_packet *packet, uint8_t type);

// Finds the next option of `type` in a frame. *cursor is 0 at first. Returns false if there is no
// further one.
bool hs_flexint_option_next(const uint8_t *frame, const struct hs_packet *packet, uint8_t type,
		size_t *cursor, const uint8_t **data, size_t *len);
