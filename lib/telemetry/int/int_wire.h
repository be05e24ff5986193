// SPDX-License-Identifier: BSD-3-Clause
// The layout of the headers of INT and of its carriers, and the functions that the files of this
// folder share.
//
// Source: 004_2771db4e6b3fe8ac.txt sections 4 to 6; P4.org INT dataplane specification v0.5, v1.0,
// v2.1; RFC 2784 and 2890 (GRE), RFC 7348 (VXLAN), draft-ietf-nvo3-vxlan-gpe, RFC 8926 (Geneve).
// Thread rule: any; pure functions. For this folder only.
#pragma once

#include "bytes.h"
#include "checksum_change.h"
#include "int.h"
#include "ip.h"
#include "ip_sum.h"
#include "l4.h"

#define SHIM_BYTES	  4
#define TAIL_BYTES	  4 // 0.5 over TCP and UDP
#define MARKER_BYTES	  8
#define MAX_SHIM_WORDS	  255
#define MAX_HOP_WORDS	  31
#define NO_OFF		  0
#define UDP_BYTES	  8
#define UDP_DST		  2
#define UDP_LENGTH	  4
#define UDP_CHECKSUM	  6
#define TCP_BYTES	  20
#define TCP_OFFSET	  12
#define TCP_CHECKSUM	  16
#define GRE_BYTES	  4
#define GRE_C		  0x80
#define GRE_ROUTING	  0x40
#define GRE_K		  0x20
#define GRE_S		  0x10
#define GRE_PROTOCOL	  2
#define GRE_CHECKSUM	  4
#define IP_GRE		  47
#define GPE_BYTES	  8
#define GPE_VERSION	  0x30
#define GPE_I		  0x08
#define GPE_P		  0x04
#define GPE_NEXT	  3
#define GPE_ETHERNET	  3
#define GENEVE_BYTES	  8
#define GENEVE_MAX_WORDS  63
#define GENEVE_OPT_HEAD	  4
#define GENEVE_OPT_WORDS  31
#define GENEVE_OPT_LENGTH 0x1f
#define SHIM_G_GRE	  0x08 // of byte 0
#define SHIM_G_GPE	  0x80 // 2.1: of byte 2; before 2.0: Hopsight's own, in the reserved byte 1

// Offsets in the INT header. Bytes 4 and 5 are the instruction bitmap in every version and mode.
#define HEAD_BITMAP   4
#define HEAD_DOMAIN   6
#define HEAD_DS	      8
#define HEAD_DS_FLAGS 10

static inline bool hs_int_counts_hops(unsigned version)
{
	return version <= HS_INT_0_5; // maximum and count; later versions have a remaining count
}

// Returns the words that a hop adds, from the header.
static inline unsigned hs_int_stated_words(unsigned version, const uint8_t *head)
{
	return head[hs_int_counts_hops(version) ? 1 : 2] & 0x1f;
}

static inline size_t hs_int_shim_length_at(unsigned version)
{
	return version == HS_INT_2_1 ? 1 : 2;
}

// Returns the type of service of IPv4, or the traffic class of IPv6.
static inline uint8_t hs_int_tclass(const uint8_t *ip, const struct hs_packet *packet)
{
	return packet->flags & HS_PACKET_IPV4 ? ip[1] : (uint8_t)(hs_be16_load(ip) >> 4);
}

static inline void hs_int_set_dscp(uint8_t *ip, const struct hs_packet *packet, uint8_t dscp)
{
	if (packet->flags & HS_PACKET_IPV4) {
		ip[1] = (uint8_t)(dscp << 2 | (ip[1] & 3));
		return;
	}
	hs_be16_store(ip, (uint16_t)((hs_be16_load(ip) & 0xf03f) | dscp << 6));
}

static inline bool hs_int_is_marked(const struct hs_int_settings *settings, const uint8_t *ip,
		const struct hs_packet *packet)
{
	uint8_t dscp = hs_int_tclass(ip, packet) >> 2;

	return !((dscp ^ settings->dscp) & settings->dscp_mask);
}

// ---- lengths and checksums of the headers that enclose a change ----

// Sums of a frame's front before a change, for the checksums.
struct hs_int_before {
	uint16_t ip;
	uint16_t l4;
};

// Notes the sums before a change. `end` is the end of the change, and `l4` is an even number of
// bytes before it. If `l4->proto` is not TCP, UDP or GRE, its checksum is not corrected.
void hs_int_note_before(const uint8_t *frame, const struct hs_packet *packet,
		const struct hs_l4 *l4, size_t end, struct hs_int_before *before);

// Corrects the lengths of IP and UDP by `growth`, which may be negative, and the checksum of IPv4.
void hs_int_correct_lengths(uint8_t *frame, const struct hs_packet *packet, const struct hs_l4 *l4,
		int growth, const struct hs_int_before *before);

// Returns what the change adds to the sum that the L4 checksum covers. `end` is the end of the
// change now.
uint32_t hs_int_l4_change(const uint8_t *frame, const struct hs_l4 *l4, size_t end, int growth,
		const struct hs_int_before *before);

// Returns where the L4 checksum is, or NULL: there is none.
uint8_t *hs_int_checksum_at(uint8_t *frame, const struct hs_l4 *l4);

void hs_int_correct_checksum(uint8_t *frame, const struct hs_l4 *l4, uint32_t change);

// Corrects all lengths and checksums, for a change without Checksum Complement.
void hs_int_finish(uint8_t *frame, const struct hs_packet *packet, const struct hs_l4 *l4,
		size_t end, int growth, const struct hs_int_before *before);

// ---- finding, by carrier ----

struct hs_int_view {
	const struct hs_int_settings *settings;
	const uint8_t *frame;
	size_t len;
	struct hs_packet *packet;
	struct hs_l4 l4;
	size_t end; // end of what may hold INT: of the IP packet, or of UDP's length
};

// Returns whether `n` bytes at `at` are before view->end and can be read. Sets HS_PACKET_SHORT if
// they are cut off.
bool hs_int_has(const struct hs_int_view *view, size_t at, size_t n);

// Returns the end of a TCP or UDP header, and sets view->end for UDP. Returns 0 if the header is
// malformed.
size_t hs_int_pass_l4(struct hs_int_view *view);

// Reads `bytes` of INT header and stack at `at`, and sets the members of the packet. Returns false
// if they are malformed.
bool hs_int_read_head(struct hs_int_view *view, unsigned type, size_t at, size_t bytes);

// Sets HS_PACKET_ANY_TELEMETRY if the packet would claim INT with other lengths of the enclosing
// headers. `has_l4` says that view->l4 is known. Not for marks by DSCP, which depend on no length.
void hs_int_claim_anyway(struct hs_int_view *view, size_t frame_len, bool has_l4);

void hs_int_find_gre(struct hs_int_view *view);
void hs_int_find_gpe(struct hs_int_view *view);
void hs_int_find_geneve(struct hs_int_view *view);

struct hs_int_gpe_shim {
	unsigned type;
	size_t bytes; // with header and stack
	bool was_plain;
	uint8_t next;
};

struct hs_int_gpe_shim hs_int_gpe_shim_at(unsigned version, const uint8_t *shim);

// Returns the bytes of a GRE header with its optional fields.
size_t hs_int_gre_bytes(const uint8_t *gre);

// Returns the enum hs_int_type of a Geneve option, or 0: it is not INT.
unsigned hs_int_geneve_type(const struct hs_int_settings *settings, const uint8_t *option);

// Returns whether `bytes` of INT header and stack match the header's fields.
bool hs_int_is_well_formed(unsigned version, unsigned type, const uint8_t *head, size_t bytes);
// Returns whether each reserved field of such a header is 0, and a hop has the length of the
// instructions.
bool hs_int_is_plain(unsigned version, unsigned type, const uint8_t *head);

// ---- writing ----

// Returns the words that each hop adds in INT-MD, or 0 in other modes.
unsigned hs_int_request_words(
		const struct hs_int_settings *settings, const struct hs_int_request *request);

// Returns how many nodes may add values. A Geneve option has at most 31 words.
uint8_t hs_int_hop_limit(const struct hs_int_settings *settings,
		const struct hs_int_request *request, unsigned hop_words);

// Writes the header and the source's values, the last steps of a source. Returns the end of the
// written bytes.
uint8_t *hs_int_write_head(const struct hs_int_settings *settings,
		const struct hs_int_request *request, uint8_t *at, const struct hs_int_values *own);

// Writes one hop's block of `words`. Returns the end of the written bytes.
uint8_t *hs_int_write_hop(unsigned version, uint16_t bitmap, unsigned words, uint8_t *at,
		const struct hs_int_values *values);

// The place and the number of a source's bytes.
struct hs_int_plan {
	struct hs_l4 l4;
	size_t at;
	size_t front; // before the shim: probe marker, UDP header, a tunnel's headers
	size_t bytes; // all
	bool adds_header;
};

// Writes the shim of TCP and UDP, GRE or VXLAN-GPE before `bytes` of header and stack (and tail).
void hs_int_write_shim(const struct hs_int_settings *settings, uint8_t *shim, size_t bytes,
		unsigned low_nibble, uint16_t last);

void hs_int_insert_gre(const struct hs_int_settings *settings, const struct hs_int_request *request,
		uint8_t *frame, const struct hs_packet *packet, const struct hs_int_plan *plan,
		const struct hs_int_values *own);
void hs_int_insert_gpe(const struct hs_int_settings *settings, const struct hs_int_request *request,
		uint8_t *frame, const struct hs_packet *packet, const struct hs_int_plan *plan,
		const struct hs_int_values *own);
void hs_int_insert_geneve(const struct hs_int_settings *settings,
		const struct hs_int_request *request, uint8_t *frame,
		const struct hs_packet *packet, const struct hs_int_plan *plan,
		const struct hs_int_values *own);

// ---- removing ----

// Removes `bytes` at `at` from the frame, whose front moves up. Returns the new first byte.
static inline uint8_t *hs_int_take(uint8_t *frame, size_t at, size_t bytes)
{
	memmove(frame + bytes, frame, at);
	return frame + bytes;
}

void hs_int_strip_gre(uint8_t *frame, const struct hs_packet *packet, const struct hs_l4 *l4);
void hs_int_strip_gpe(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, const struct hs_l4 *l4);
void hs_int_strip_geneve(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, const struct hs_l4 *l4);
