// SPDX-License-Identifier: BSD-3-Clause
#include "classify.h"
#include "stage.h"

#include "ip.h"
#include "mss.h"

// Returns the largest MSS with which a packet of full size has room for telemetry where it leaves
// by the port or came by it.
static uint16_t limit_of_port(const struct hs_worker *worker, uint16_t index, bool ipv4)
{
	const struct hs_port *port = worker->ports[index];
	const struct hs_profile *profile = &worker->profiles[index];

	if (port->side == HS_SIDE_HOST)
		return UINT16_MAX;
	int limit = __atomic_load_n(&port->mtu, __ATOMIC_RELAXED) - HS_TCP_BYTES;
	limit -= ipv4 ? HS_IPV4_BYTES : HS_IPV6_BYTES;
	if (!ipv4 || profile->family->in_ipv4)
		limit -= profile->path_bytes;
	return limit < HS_MSS_LEAST ? HS_MSS_LEAST : (uint16_t)limit;
}

static uint16_t limit_of(const struct hs_worker *worker, uint16_t in, uint16_t out, bool ipv4)
{
	uint16_t limit = limit_of_port(worker, in, ipv4);

	for (uint16_t p = 0; p < worker->n_ports; p++) {
		if (p != out && out != HS_OUT_FLOOD)
			continue;
		uint16_t other = limit_of_port(worker, p, ipv4);
		limit = RTE_MIN(limit, other);
	}
	return limit;
}

// Returns the start of the TCP header. *len is how many bytes from there on can be read and belong
// to the packet.
static uint8_t *tcp_of(const struct hs_burst *burst, unsigned i, size_t *len)
{
	const struct hs_packet *packet = &burst->packets[i];
	size_t end = packet->l3_off + (size_t)packet->l3_bytes;

	end = RTE_MIN(end, (size_t)rte_pktmbuf_data_len(burst->mbufs[i]));
	*len = end - packet->l4_off;
	return rte_pktmbuf_mtod_offset(burst->mbufs[i], uint8_t *, packet->l4_off);
}

static bool is_tcp(const struct hs_packet *packet)
{
	const uint16_t no = HS_PACKET_FRAGMENT | HS_PACKET_MALFORMED | HS_PACKET_SHORT;

	return packet->l4_proto == HS_IP_TCP && !(packet->flags & no);
}

// Returns the start of the TCP header, as tcp_of does, in a packet that may be written. Returns
// NULL if there is no buffer for a copy, or if the copy is cut into other segments, of which the
// first has no TCP header.
static uint8_t *changeable_tcp_of(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, size_t *len)
{
	if (!hs_make_changeable(worker, burst, i) || !is_tcp(&burst->packets[i]))
		return NULL;
	return tcp_of(burst, i, len);
}

static void clamp(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	bool ipv4 = burst->packets[i].flags & HS_PACKET_IPV4;
	uint16_t limit = limit_of(worker, burst->in->index, burst->out[i], ipv4);
	size_t len;

	const uint8_t *header = tcp_of(burst, i, &len);
	if (!hs_mss_is_above(header, len, limit))
		return;
	uint8_t *tcp = changeable_tcp_of(worker, burst, i, &len);
	if (unlikely(!tcp || !hs_mss_is_above(tcp, len, limit))) {
		hs_event(worker, burst, HS_EVENT_MSS_NOT_CLAMPED);
		return;
	}
	hs_mss_lower(tcp, limit);
	hs_event(worker, burst, HS_EVENT_MSS_CLAMPED);
}

// Returns whether the TCP header whose first `len` bytes are at `tcp` ends in another segment.
static bool is_split(const struct hs_burst *burst, unsigned i, const uint8_t *tcp, size_t len)
{
	return unlikely(hs_tcp_goes_on(tcp, len)) && burst->mbufs[i]->nb_segs > 1;
}

// Clamps a packet whose TCP header is split.
static __attribute__((noinline)) void clamp_split(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const struct hs_packet packet = burst->packets[i]; // as stages before have marked it
	size_t len;

	hs_classify_join(worker, burst, i);
	burst->packets[i] = packet;
	const uint8_t *tcp = tcp_of(burst, i, &len);
	if (len > HS_TCP_FLAGS && !(tcp[HS_TCP_FLAGS] & HS_TCP_FLAG_SYN))
		return;
	if (is_split(burst, i, tcp, len)) // there is no buffer for all of it
		hs_event(worker, burst, HS_EVENT_MSS_NOT_CLAMPED);
	else
		clamp(worker, burst, i);
}

void hs_clamp_mss(struct hs_worker *worker, struct hs_burst *burst)
{
	for (unsigned i = 0; i < burst->n; i++) {
		size_t len;
		if (!is_tcp(&burst->packets[i]) || burst->out[i] & HS_OUT_DROP)
			continue;
		const uint8_t *tcp = tcp_of(burst, i, &len);
		if (is_split(burst, i, tcp, len))
			clamp_split(worker, burst, i);
		else if (unlikely(len > HS_TCP_FLAGS && tcp[HS_TCP_FLAGS] & HS_TCP_FLAG_SYN))
			clamp(worker, burst, i);
	}
}
