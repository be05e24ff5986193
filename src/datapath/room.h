// SPDX-License-Identifier: BSD-3-Clause
// Room for telemetry in front of a packet, found before the first byte is changed.
//
// Thread rule: owner lcore.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_mbuf.h>

// Returns whether this buffer's bytes may be written. Others may hold a reference to the buffer, or
// to its data.
static inline bool hs_room_is_changeable(const struct rte_mbuf *m)
{
	return rte_mbuf_refcnt_read(m) == 1 && RTE_MBUF_DIRECT(m);
}

// Returns whether the buffer has room for `growth` bytes. Headroom is 128 bytes whatever the pool
// says (drivers set it). Where headroom is used up, a packet in one segment can move towards the
// tail instead.
static inline bool hs_room_is_there(const struct rte_mbuf *m, size_t growth)
{
	return rte_pktmbuf_headroom(m) >= growth ||
	       (m->nb_segs == 1 && rte_pktmbuf_tailroom(m) >= growth);
}

// Moves the packet's first byte towards the buffer's start, or away from it where `growth` is
// negative. The caller has checked that the buffer has the room. Returns the new first byte.
static inline uint8_t *hs_room_shift(struct rte_mbuf *m, int growth)
{
	m->data_off = (uint16_t)(m->data_off - growth);
	m->data_len = (uint16_t)(m->data_len + growth);
	m->pkt_len += (uint32_t)growth;
	return rte_pktmbuf_mtod(m, uint8_t *);
}

// Makes `growth` free bytes in front of the packet and returns the new first byte. The caller has
// called hs_room_is_there.
static inline uint8_t *hs_room_open(struct rte_mbuf *m, size_t growth)
{
	if (rte_pktmbuf_headroom(m) >= growth)
		return hs_room_shift(m, (int)growth);

	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	size_t len = rte_pktmbuf_data_len(m);
	rte_pktmbuf_append(m, (uint16_t)growth);
	memmove(frame + growth, frame, len);
	return frame;
}
