// SPDX-License-Identifier: BSD-3-Clause
#include "checksum.h"

#include "bytes.h"

#include <rte_ip.h>

#include <netinet/in.h>
#include <stdbool.h>

#define MAX_HEADERS 4

struct segment {
	uint8_t *at;
	size_t len;
	uint8_t protocol;
};

static bool find_in_ipv4(uint8_t *ip, size_t len, struct segment *segment)
{
	if (len < 20 || ip[0] >> 4 != 4)
		return false;
	size_t head = (ip[0] & 15) * 4u, total = hs_be16_load(ip + 2);

	if (head < 20 || total < head || total > len)
		return false;
	*segment = (struct segment){.at = ip + head, .len = total - head, .protocol = ip[9]};
	return true;
}

static bool find_in_ipv6(uint8_t *ip, size_t len, struct segment *segment)
{
	if (len < 40 || ip[0] >> 4 != 6)
		return false;
	size_t at = 40, total = 40u + hs_be16_load(ip + 4);
	uint8_t next = ip[6];

	if (total > len)
		return false;
	for (int i = 0; i < MAX_HEADERS; i++) {
		if (next != IPPROTO_HOPOPTS && next != IPPROTO_DSTOPTS)
			break;
		if (at + 8 > total)
			return false;
		next = ip[at];
		at += 8u + 8u * ip[at + 1];
	}
	if (at > total)
		return false;
	*segment = (struct segment){.at = ip + at, .len = total - at, .protocol = next};
	return true;
}

static bool find_segment(uint8_t *frame, size_t len, struct segment *segment)
{
	size_t at = 12;

	for (int tags = 0; at + 2 <= len; tags++, at += 4) {
		switch (hs_be16_load(frame + at)) {
		case 0x0800:
			return find_in_ipv4(frame + at + 2, len - at - 2, segment);
		case 0x86dd:
			return find_in_ipv6(frame + at + 2, len - at - 2, segment);
		case 0x8100:
		case 0x88a8:
			if (tags < 2)
				continue;
			return false;
		default:
			return false;
		}
	}
	return false;
}

void hs_checksum_complete(uint8_t *frame, size_t len)
{
	struct segment segment;

	if (!find_segment(frame, len, &segment))
		return;
	size_t field = segment.protocol == IPPROTO_TCP ? 16 : 6;
	bool known = segment.protocol == IPPROTO_TCP || segment.protocol == IPPROTO_UDP;
	if (!known || segment.len < field + 2)
		return;
	// The field's content is part of the sum, because it stands for the pseudo header.
	uint16_t sum = (uint16_t)~rte_raw_cksum(segment.at, segment.len);
	if (sum == 0 && segment.protocol == IPPROTO_UDP)
		sum = UINT16_MAX; // 0 means none (RFC 768)
	memcpy(segment.at + field, &sum, sizeof(sum));
}
