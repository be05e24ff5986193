// SPDX-License-Identifier: BSD-3-Clause
#include "mss.h"

#include "bytes.h"
#include "checksum_change.h"

#define TCP_CHECKSUM 16

#define OPTION_END   0
#define OPTION_NONE  1
#define OPTION_MSS   2
#define MSS_BYTES    4
#define MSS_VALUE    2 // offset of the value in the option
#define OPTION_LEAST 2 // kind and length

static size_t header_bytes(const uint8_t *tcp)
{
	return 4u * (tcp[HS_TCP_OFFSET] >> 4);
}

// Returns where the next MSS option from *at on is, or 0. Sets *at to the byte after the option, or
// to `end` at the end of the list. If the list is malformed, *at is beyond `end`.
static size_t next_mss(const uint8_t *tcp, size_t *at, size_t end)
{
	while (*at < end && tcp[*at] != OPTION_END) {
		size_t here = *at;
		if (tcp[here] == OPTION_NONE) {
			++*at;
			continue;
		}
		size_t bytes = end - here < OPTION_LEAST ? 0 : tcp[here + 1];
		bool is_mss = tcp[here] == OPTION_MSS;
		if (bytes < OPTION_LEAST || bytes > end - here || (is_mss && bytes != MSS_BYTES)) {
			*at = end + 1;
			return 0;
		}
		*at += bytes;
		if (is_mss)
			return here;
	}
	*at = end;
	return 0;
}

bool hs_mss_is_above(const uint8_t *tcp, size_t len, uint16_t limit)
{
	bool above = false;

	if (len < HS_TCP_BYTES || !(tcp[HS_TCP_FLAGS] & HS_TCP_FLAG_SYN))
		return false;
	size_t at = HS_TCP_BYTES, end = header_bytes(tcp), mss;
	if (end < HS_TCP_BYTES || end > len)
		return false;
	while ((mss = next_mss(tcp, &at, end)))
		above |= hs_be16_load(tcp + mss + MSS_VALUE) > limit;
	return above && at == end;
}

// Returns the checksum after a change of a value. A value at an odd offset lies in two words, so
// its bytes are swapped in the sum.
static uint16_t checksum_of(uint16_t checksum, uint16_t before, uint16_t after, bool odd)
{
	if (odd) {
		before = __builtin_bswap16(before);
		after = __builtin_bswap16(after);
	}
	return hs_checksum_changed(checksum, hs_sum_change(before, after));
}

void hs_mss_lower(uint8_t *tcp, uint16_t limit)
{
	size_t at = HS_TCP_BYTES, end = header_bytes(tcp), mss;

	while ((mss = next_mss(tcp, &at, end))) {
		uint8_t *value = tcp + mss + MSS_VALUE;
		uint16_t before = hs_be16_load(value);
		if (before <= limit)
			continue;
		hs_be16_store(value, limit);
		hs_be16_store(tcp + TCP_CHECKSUM, checksum_of(hs_be16_load(tcp + TCP_CHECKSUM),
								  before, limit, mss & 1));
	}
}
