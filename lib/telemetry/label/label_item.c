// SPDX-License-Identifier: BSD-3-Clause
#include "label_item.h"

#include "bytes.h"

#include <string.h>

static inline void put(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (; bytes >= 4; bytes -= 4, value >>= 32)
		hs_be32_store(at + bytes - 4, (uint32_t)value);
	for (; bytes > 0; bytes--, value >>= 8)
		at[bytes - 1] = (uint8_t)value;
}

static inline uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static uint32_t depth(uint32_t packets)
{
	return packets < HS_LABEL_MAX_DEPTH ? packets : HS_LABEL_MAX_DEPTH;
}

void hs_label_item_write(const struct hs_label_item *from, uint8_t bytes[HS_LABEL_ITEM_BYTES])
{
	struct hs_label_item item = *from;

	item.enqueue_packets = depth(item.enqueue_packets);
	item.dequeue_packets = depth(item.dequeue_packets);
	memset(bytes, 0, HS_LABEL_ITEM_BYTES);
#define HS_LABEL_FIELD(offset, n, member, shift, unit, text)                                       \
	put(bytes + (offset), n, (uint64_t)item.member >> (shift));
#include "label_fields.def"
}

void hs_label_item_read(const uint8_t bytes[HS_LABEL_ITEM_BYTES], struct hs_label_item *item)
{
	*item = (struct hs_label_item){0};
#define HS_LABEL_FIELD(offset, n, member, shift, unit, text)                                       \
	item->member |= (__typeof__(item->member))(get(bytes + (offset), n) << (shift));
#include "label_fields.def"
}
