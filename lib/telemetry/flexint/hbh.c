// SPDX-License-Identifier: BSD-3-Clause
#include "hbh.h"

#include "bytes.h"
#include "ip.h"

#include <string.h>

#define MIN_TRACE 8 // namespace and trace type
#define MIN_E2E	  2 // bitmap
#define MAX_PADN  257

#define ALL_TELEMETRY 0 // selects all types that are removed

// The findings of one walk over the options.
struct survey {
	size_t first; // first telemetry option; 0: none
	size_t trace; // last 0x31, and last 0x11
	size_t e2e;
	unsigned int n_traces;
	unsigned int n_e2es;
	uint16_t flags;
	bool foreign;	     // an option that is neither telemetry nor padding
	bool foreign_behind; // such an option after the first telemetry option
};

void hs_hbh_pad(uint8_t *at, size_t n)
{
	// Our own blocks need no longer padding than this. A call of memset costs more than these
	// bytes.
	static const uint8_t pad[8] = {HS_OPT_PADN};
	switch (n) {
	case 2:
		memcpy(at, pad, 2);
		return;
	case 4:
		memcpy(at, pad, 4);
		at[1] = 2;
		return;
	case 6:
		memcpy(at, pad, 6);
		at[1] = 4;
		return;
	}
	for (size_t chunk; n > 1; at += chunk, n -= chunk) {
		chunk = n < MAX_PADN ? n : MAX_PADN;
		at[0] = HS_OPT_PADN;
		at[1] = (uint8_t)(chunk - 2);
		memset(at + 2, 0, chunk - 2);
	}
	if (n)
		at[0] = HS_OPT_PAD1;
}

static void set_telemetry(const uint8_t *hbh, size_t trace, size_t e2e, struct hs_packet *packet)
{
	size_t off = packet->l3_off + (size_t)HS_IPV6_BYTES;
	packet->flags |= HS_PACKET_TELEMETRY | HS_PACKET_ANY_TELEMETRY;
	packet->trace_off = (uint16_t)(off + trace);
	packet->e2e_off = (uint16_t)(off + e2e);
	packet->ns_id = hs_be32_load(hbh + trace + 2);
	packet->trace_type = hs_be32_load(hbh + trace + 6);
}

// Nearly all headers with telemetry have this form. Others need a walk over their options. Type and
// length of an option are read as one word.
bool hs_hbh_parse_own(const uint8_t *hbh, struct hs_packet *packet)
{
	size_t bytes = packet->hbh_bytes;
	bool padded = hs_be16_load(hbh + HS_HBH_OPTIONS) == HS_OPT_PADN << 8;
	size_t trace = HS_HBH_OPTIONS + (padded ? 2 : 0);
	unsigned option = hs_be16_load(hbh + trace);
	size_t e2e = trace + 2u + (option & 0xff);

	if (option >> 8 != HS_OPT_TRACE || (option & 0xff) < MIN_TRACE || e2e + 2 > bytes)
		return false;
	option = hs_be16_load(hbh + e2e);
	size_t end = e2e + 2u + (option & 0xff), left = bytes - end;
	if (option >> 8 != HS_OPT_E2E || (option & 0xff) < MIN_E2E)
		return false;
	// If `end` is beyond the header, `left` has wrapped, and if one byte is left, `left - 2`:
	// both are then greater than any option.
	if (left && (left - 2 > UINT8_MAX ||
				    hs_be16_load(hbh + end) != (HS_OPT_PADN << 8 | (left - 2))))
		return false;
	set_telemetry(hbh, trace, e2e, packet);
	packet->flags |= left < 8 ? HS_PACKET_PLAIN : 0;
	packet->telemetry_bytes = packet->hbh_bytes;
	return true;
}

static void see_option(const uint8_t *hbh, size_t at, struct survey *s)
{
	uint8_t type = hbh[at];
	if (hs_hbh_is_padding(type))
		return;
	if (!hs_hbh_is_telemetry(type)) {
		s->foreign = true;
		s->foreign_behind = s->first != 0;
		return;
	}
	if (!s->first)
		s->first = at;
	s->flags |= HS_PACKET_ANY_TELEMETRY;
	switch (type) {
	case HS_OPT_TRACE:
		s->trace = at;
		s->n_traces++;
		break;
	case HS_OPT_E2E:
		s->e2e = at;
		s->n_e2es++;
		break;
	case HS_OPT_REQUEST:
		s->flags |= HS_PACKET_REQUEST;
		break;
	default:
		s->flags |= HS_PACKET_REPORT;
		break;
	}
}

static bool survey(const uint8_t *hbh, size_t bytes, struct survey *s)
{
	*s = (struct survey){0};
	for (size_t at = HS_HBH_OPTIONS; at < bytes;) {
		size_t n = hs_hbh_option_bytes(hbh, bytes, at);
		see_option(hbh, at, s);
		if (!n)
			return false;
		at += n;
	}
	return true;
}

// Sets *kept to what remains of a header without a block of options that begins at `first` and ends
// the header. Returns whether the block lies as our nodes write it: at the very beginning, or after
// whole words of other options.
static bool is_block(const uint8_t *hbh, size_t first, size_t *kept)
{
	bool leads = first == HS_HBH_OPTIONS ||
		     (first == HS_HBH_OPTIONS + 2 && hbh[2] == HS_OPT_PADN && hbh[3] == 0);
	*kept = leads ? 0 : first;
	return leads || first % 8 == 0;
}

static bool is_canonical(const uint8_t *hbh, const struct survey *s, size_t *kept)
{
	return !s->foreign_behind && is_block(hbh, s->first, kept);
}

// Returns whether an option is to be removed: options of one type, or all telemetry.
static bool goes(uint8_t option, uint8_t type)
{
	return type == ALL_TELEMETRY ? hs_hbh_is_telemetry(option) : option == type;
}

// Packs the options from `at` on that stay, from `to` on, each to the first place with its offset
// modulo `align`. Every option moves towards the front or stays in place, so that unread bytes are
// never overwritten. Returns the new length; `out` NULL: writes nothing.
static size_t pack_to(const uint8_t *hbh, size_t bytes, size_t at, size_t to, size_t align,
		uint8_t type, uint8_t *out)
{
	size_t n;
	for (; at < bytes; at += n) {
		n = hs_hbh_option_bytes(hbh, bytes, at);
		if (!n)
			return bytes;
		if (hs_hbh_is_padding(hbh[at]) || goes(hbh[at], type))
			continue;
		size_t gap = (at - to) & (align - 1);
		if (out) {
			memmove(out + to + gap, hbh + at, n);
			hs_hbh_pad(out + to, gap);
		}
		to += gap + n;
	}
	if (to == HS_HBH_OPTIONS)
		return 0;
	if (out)
		hs_hbh_pad(out + to, -to & 7);
	return to + (-to & 7);
}

static size_t pack(const uint8_t *hbh, size_t bytes, size_t from, uint8_t type, uint8_t *out)
{
	return pack_to(hbh, bytes, from, from, 8, type, out);
}

size_t hs_hbh_repack(uint8_t *hbh, size_t bytes)
{
	return pack(hbh, bytes, HS_HBH_OPTIONS, ALL_TELEMETRY, hbh);
}

// Returns where the first option of a type begins, or 0, and whether no other kind follows it.
static size_t first_of_type(const uint8_t *hbh, size_t bytes, uint8_t type, bool *last)
{
	size_t first = 0, n;

	*last = true;
	for (size_t at = HS_HBH_OPTIONS; at < bytes; at += n) {
		n = hs_hbh_option_bytes(hbh, bytes, at);
		if (!n)
			return 0;
		if (hbh[at] == type && !first)
			first = at;
		else if (hbh[at] != type && first && !hs_hbh_is_padding(hbh[at]))
			*last = false;
	}
	return first;
}

static bool is_all_telemetry(const uint8_t *hbh, size_t bytes)
{
	struct survey s;

	return survey(hbh, bytes, &s) && !s.foreign;
}

// Moves the telemetry behind the options of a type, which lead a header without options of the
// host, to where it would be without them: behind `01 00`. With more padding in front, the header
// would look like one of the host.
static size_t let_rest_lead(uint8_t *hbh, size_t bytes, size_t first, uint8_t type)
{
	size_t next = first + hs_hbh_option_bytes(hbh, bytes, first);

	hs_hbh_pad(hbh + HS_HBH_OPTIONS, 2);
	return pack_to(hbh, bytes, next, HS_HBH_OPTIONS + 2, 4, type, hbh);
}

size_t hs_hbh_take_type(uint8_t *hbh, size_t bytes, uint8_t type)
{
	bool last;
	size_t kept, first = first_of_type(hbh, bytes, type, &last);

	if (!first)
		return bytes;
	bool is_ours = is_block(hbh, first, &kept);
	if (last && is_ours)
		return kept;
	if (is_ours && !kept && is_all_telemetry(hbh, bytes))
		return let_rest_lead(hbh, bytes, first, type);
	return pack(hbh, bytes, first, type, hbh);
}

bool hs_hbh_has_telemetry(const uint8_t *hbh, size_t bytes)
{
	struct survey s;

	survey(hbh, bytes, &s);
	return s.flags & HS_PACKET_ANY_TELEMETRY;
}

bool hs_hbh_parse(const uint8_t *hbh, struct hs_packet *packet)
{
	// A second Hop-by-Hop header after this one is an error (RFC 8200 section 4.1). If this
	// header were stripped, the second would be taken for the first. So this header's telemetry
	// is not accepted.
	bool last = hbh[0] != HS_IP_HOP_BY_HOP;
	if (last && hs_hbh_parse_own(hbh, packet))
		return true;

	size_t bytes = packet->hbh_bytes;
	struct survey s;
	if (!survey(hbh, bytes, &s) || !last) {
		packet->flags |= (uint16_t)(HS_PACKET_MALFORMED |
					    (s.flags & HS_PACKET_ANY_TELEMETRY));
		return false;
	}
	packet->flags |= s.flags;
	if (!s.first)
		return true;
	if (s.n_traces == 1 && s.n_e2es == 1 && hbh[s.trace + 1] >= MIN_TRACE &&
			hbh[s.e2e + 1] >= MIN_E2E)
		set_telemetry(hbh, s.trace, s.e2e, packet);

	size_t kept;
	if (!is_canonical(hbh, &s, &kept)) {
		packet->flags |= HS_PACKET_MIXED;
		kept = pack(hbh, bytes, HS_HBH_OPTIONS, ALL_TELEMETRY, NULL);
	}
	packet->telemetry_bytes = (uint16_t)(bytes - kept);
	return true;
}
