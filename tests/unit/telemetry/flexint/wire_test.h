// SPDX-License-Identifier: BSD-3-Clause
// What the tests of lib/telemetry/flexint share: frames from hexadecimal, and the four operations
// with every growth checked and every buffer of exactly the size it claims.
#pragma once

#include "flexint.h"
#include "packet.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

// A frame alone in its allocation, so that a sanitizer sees each byte too far.
struct frame {
	uint8_t *bytes;
	size_t len;
};

struct frame frame_of(const void *bytes, size_t len);
struct frame frame_from_hex(const char *hex);
// UDP over IPv4, and a tag, behind LLC and SNAP.
#define IPV4_IN_SNAP "0200000000020200000000010024aaaa030000000800" IPV4_OF_SNAP
#define TAG_IN_SNAP                                                                                \
	"0200000000020200000000010028aaaa030000008100"                                             \
	"00010800" IPV4_OF_SNAP
#define IPV4_OF_SNAP "4500001c0000000040110000c0000201c000020203e807d000080000"
struct frame frame_join(struct frame a, struct frame b); // takes both
void frame_free(struct frame *frame);
void frame_assert_equal(const struct frame *is, const struct frame *should);

void frame_parse(const struct frame *frame, struct hs_packet *packet);

// Each replaces the frame's bytes by the changed ones.
void frame_insert_source(struct frame *frame, uint32_t ns_id, uint32_t trace_type,
		enum hs_flexint_layout layout, const struct hs_e2e *e2e);
int frame_insert_hop(struct frame *frame, const struct hs_hop *hop);
void frame_insert_option(struct frame *frame, uint8_t type, const uint8_t *data, size_t len);
void frame_insert_block(struct frame *frame, const uint8_t *options, size_t bytes);
void frame_strip(struct frame *frame);
void frame_take_type(struct frame *frame, uint8_t type);

// Decodes the telemetry of a frame that has it; what decode returned.
int frame_decode(const struct frame *frame, struct hs_decoded *out);
