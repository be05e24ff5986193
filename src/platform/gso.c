// SPDX-License-Identifier: BSD-3-Clause
#include "gso.h"

#include "bytes.h"
#include "checksum.h"

#include <netinet/in.h>

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5 // since Linux 6.2
#endif

#define ETHER_BYTES  12 // two addresses
#define IPV6_BYTES   40
#define MAX_OPTIONS  4
#define TCP_FIN	     0x01
#define TCP_PSH	     0x08
#define TCP_ACK	     0x10
#define TCP_CWR	     0x80
#define TCP_CHECKSUM 16
#define UDP_CHECKSUM 6
#define FRAGMENT     0x3fff // more fragments, or an offset

// ---- reading ----

static bool read_ipv4(const uint8_t *ip, size_t seen, size_t len, size_t *bytes, uint8_t *protocol)
{
	if (seen < 20 || ip[0] >> 4 != 4)
		return false;
	*bytes = (ip[0] & 15) * 4u;
	*protocol = ip[9];
	return *bytes >= 20 && *bytes <= seen && hs_be16_load(ip + 2) == len &&
	       !(hs_be16_load(ip + 6) & FRAGMENT);
}

static bool read_ipv6(const uint8_t *ip, size_t seen, size_t len, size_t *bytes, uint8_t *protocol)
{
	size_t at = IPV6_BYTES;

	if (seen < IPV6_BYTES || ip[0] >> 4 != 6 ||
			len != IPV6_BYTES + (size_t)hs_be16_load(ip + 4))
		return false;
	*protocol = ip[6];
	for (int i = 0; i < MAX_OPTIONS; i++) {
		if (*protocol != IPPROTO_HOPOPTS && *protocol != IPPROTO_DSTOPTS)
			break;
		if (at + 8 > seen)
			return false;
		*protocol = ip[at];
		at += 8u + 8u * ip[at + 1];
	}
	*bytes = at;
	return at <= seen;
}

// Finds the IP header behind at most two tags.
static bool find_ip(const uint8_t *frame, size_t seen, struct hs_gso *gso)
{
	size_t at = ETHER_BYTES;

	for (int tags = 0; tags < 3 && at + 2 <= seen; tags++, at += 4) {
		uint16_t type = hs_be16_load(frame + at);

		gso->l3 = (uint16_t)(at + 2);
		gso->ipv6 = type == 0x86dd;
		if (type == 0x0800 || type == 0x86dd)
			return true;
		if (type != 0x8100 && type != 0x88a8)
			return false;
	}
	return false;
}

static bool find_payload(const uint8_t *frame, size_t seen, uint8_t protocol, struct hs_gso *gso)
{
	size_t bytes = 8;

	gso->tcp = protocol == IPPROTO_TCP;
	if (!gso->tcp && protocol != IPPROTO_UDP)
		return false;
	if (gso->tcp) {
		if (gso->l4 + 20u > seen)
			return false;
		bytes = (frame[gso->l4 + 12] >> 4) * 4u;
		if (bytes < 20)
			return false;
	}
	gso->header = (uint16_t)(gso->l4 + bytes);
	return gso->header <= seen;
}

static bool kinds_agree(const struct virtio_net_hdr *vnet, const struct hs_gso *gso)
{
	switch (vnet->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) {
	case VIRTIO_NET_HDR_GSO_TCPV4:
		return gso->tcp && !gso->ipv6;
	case VIRTIO_NET_HDR_GSO_TCPV6:
		return gso->tcp && gso->ipv6;
	case VIRTIO_NET_HDR_GSO_UDP_L4:
		return !gso->tcp;
	default:
		return false;
	}
}

bool hs_gso_read(const struct virtio_net_hdr *vnet, const uint8_t *frame, size_t seen, size_t len,
		struct hs_gso *gso)
{
	size_t bytes;
	uint8_t protocol;

	*gso = (struct hs_gso){0};
	if (seen > len || !find_ip(frame, seen, gso))
		return false;
	bool (*read_ip)(const uint8_t *, size_t, size_t, size_t *, uint8_t *) =
			gso->ipv6 ? read_ipv6 : read_ipv4;
	if (!read_ip(frame + gso->l3, seen - gso->l3, len - gso->l3, &bytes, &protocol))
		return false;
	gso->l4 = (uint16_t)(gso->l3 + bytes);
	if (!find_payload(frame, seen, protocol, gso) || !kinds_agree(vnet, gso))
		return false;
	// Behind a tunnel's header, the checksum begins elsewhere.
	if (!(vnet->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || vnet->csum_start != gso->l4 ||
			vnet->csum_offset != (gso->tcp ? TCP_CHECKSUM : UDP_CHECKSUM))
		return false;
	gso->ecn = vnet->gso_type & VIRTIO_NET_HDR_GSO_ECN;
	gso->payload = vnet->gso_size;
	gso->total = (uint32_t)(len - gso->header);
	return gso->payload && gso->total && hs_gso_packets(gso) <= HS_GSO_MAX_PACKETS;
}

// ---- cutting ----

static uint64_t pseudo_sum(const uint8_t *ip, bool ipv6, uint8_t protocol, size_t bytes)
{
	uint64_t sum = ipv6 ? hs_checksum_add(0, ip + 8, 32) : hs_checksum_add(0, ip + 12, 8);
	uint8_t rest[4] = {0, protocol, (uint8_t)(bytes >> 8), (uint8_t)bytes};

	return hs_checksum_add(sum, rest, sizeof(rest));
}

static void store_ipv4_checksum(uint8_t *ip)
{
	uint16_t sum = 0;

	memcpy(ip + 10, &sum, sizeof(sum));
	sum = (uint16_t)~hs_checksum_fold(hs_checksum_add(0, ip, (ip[0] & 15) * 4u));
	memcpy(ip + 10, &sum, sizeof(sum));
}

static void finish_ip(const struct hs_gso *gso, uint32_t i, uint8_t *ip, size_t bytes)
{
	if (gso->ipv6) {
		hs_be16_store(ip + 4, (uint16_t)(bytes - IPV6_BYTES));
		return;
	}
	hs_be16_store(ip + 2, (uint16_t)bytes);
	hs_be16_store(ip + 4, (uint16_t)(hs_be16_load(ip + 4) + i));
	store_ipv4_checksum(ip);
}

static void finish_tcp(const struct hs_gso *gso, uint32_t i, uint8_t *tcp)
{
	hs_be32_store(tcp + 4, hs_be32_load(tcp + 4) + i * gso->payload);
	if ((i + 1) * gso->payload < gso->total)
		tcp[13] &= (uint8_t) ~(TCP_FIN | TCP_PSH);
	// RFC 3168 sets CWR once. In Accurate ECN (RFC 9768) the flag is a bit of a counter, which
	// each packet has.
	if (i && gso->ecn)
		tcp[13] &= (uint8_t)~TCP_CWR;
}

void hs_gso_finish_packet(const struct hs_gso *gso, uint32_t i, uint8_t *packet)
{
	size_t len = (size_t)gso->header + hs_gso_payload_of(gso, i), bytes = len - gso->l4;
	uint8_t *ip = packet + gso->l3, *l4 = packet + gso->l4;
	uint8_t protocol = gso->tcp ? IPPROTO_TCP : IPPROTO_UDP;
	size_t offset = gso->tcp ? TCP_CHECKSUM : UDP_CHECKSUM;

	finish_ip(gso, i, ip, len - gso->l3);
	if (gso->tcp)
		finish_tcp(gso, i, l4);
	else
		hs_be16_store(l4 + 4, (uint16_t)bytes);
	uint16_t sum = hs_checksum_fold(pseudo_sum(ip, gso->ipv6, protocol, bytes));
	memcpy(l4 + offset, &sum, sizeof(sum));
	hs_checksum_complete(packet, len, gso->l4, offset);
}

// ---- joining ----

// Returns how many bytes are before the TCP header, or 0 if it is not TCP or its IP header has
// something that a joined frame would lose.
static uint16_t tcp_in_ip(const uint8_t *packet, size_t len)
{
	const uint8_t *ip = packet + 14;

	if (len < 14 + 20 + 20)
		return 0;
	switch (hs_be16_load(packet + ETHER_BYTES)) {
	case 0x0800:
		if (ip[0] != 0x45 || ip[9] != IPPROTO_TCP || hs_be16_load(ip + 2) != len - 14 ||
				hs_be16_load(ip + 6) & FRAGMENT)
			return 0;
		// The frame gets a new checksum, which must not repair a broken one.
		if (hs_checksum_fold(hs_checksum_add(0, ip, 20)) != UINT16_MAX)
			return 0;
		return hs_be16_load(ip + 10) != UINT16_MAX ? 34 : 0; // see tcp_at
	case 0x86dd:
		if (ip[0] >> 4 != 6 || len < 14 + IPV6_BYTES + 20 || ip[6] != IPPROTO_TCP ||
				hs_be16_load(ip + 4) != len - 14 - IPV6_BYTES)
			return 0;
		return 54;
	default:
		return 0;
	}
}

// Does the same for a packet that may be part of a frame. A checksum of 0xffff stands for the same
// sum as 0x0000. Cutting writes 0x0000, so that 0xffff would be lost.
static uint16_t tcp_at(const uint8_t *packet, size_t len)
{
	uint16_t l4 = tcp_in_ip(packet, len);

	return l4 && hs_be16_load(packet + l4 + TCP_CHECKSUM) != UINT16_MAX ? l4 : 0;
}

bool hs_join_verify(const uint8_t *packet, size_t len)
{
	uint16_t l4 = tcp_at(packet, len);

	if (!l4)
		return false;
	uint64_t sum = pseudo_sum(packet + 14, l4 == 54, IPPROTO_TCP, len - l4);
	return hs_checksum_fold(hs_checksum_add(sum, packet + l4, len - l4)) == UINT16_MAX;
}

// Notes a packet as the last one so far.
static void take(struct hs_join *join, const uint8_t *packet, uint16_t payload)
{
	const uint8_t *tcp = packet + join->l4;

	join->next_sequence = hs_be32_load(tcp + 4) + payload;
	join->next_id = (uint16_t)(hs_be16_load(packet + 14 + 4) + 1);
	join->last_flags = tcp[13];
	join->ended = payload < join->payload || tcp[13] != TCP_ACK;
	join->bytes += payload;
	join->n++;
}

static bool has_common_flags(const uint8_t *tcp)
{
	return (tcp[13] & ~(TCP_PSH | TCP_FIN)) == TCP_ACK;
}

bool hs_join_begin(struct hs_join *join, const uint8_t *packet, size_t len)
{
	uint16_t l4 = tcp_at(packet, len);

	if (!l4)
		return false;
	size_t header = l4 + (packet[l4 + 12] >> 4) * 4u;
	if (header < l4 + 20u || header >= len || !has_common_flags(packet + l4))
		return false;
	*join = (struct hs_join){
			.first = packet,
			.bytes = (uint32_t)header,
			.l4 = l4,
			.header = (uint16_t)header,
			.payload = (uint16_t)(len - header),
	};
	take(join, packet, join->payload);
	return !join->ended;
}

// Returns whether the headers are equal, but for lengths, identification, sequence number, flags
// and checksums.
static bool same_header(const struct hs_join *join, const uint8_t *packet)
{
	const uint8_t *a = join->first, *b = packet;
	const uint8_t *at = a + join->l4, *bt = b + join->l4;

	if (memcmp(at, bt, 4) || memcmp(at + 8, bt + 8, 5) || memcmp(at + 14, bt + 14, 2) ||
			memcmp(at + 18, bt + 18, join->header - join->l4 - 18u))
		return false;
	if (join->l4 == 34)
		return !memcmp(a, b, 16) && !memcmp(a + 20, b + 20, 4) &&
		       !memcmp(a + 26, b + 26, 8);
	return !memcmp(a, b, 18) && !memcmp(a + 20, b + 20, 34);
}

bool hs_join_add(struct hs_join *join, const uint8_t *packet, size_t len, uint32_t max_bytes)
{
	if (join->ended || len <= join->header || tcp_at(packet, len) != join->l4 ||
			!same_header(join, packet))
		return false;
	size_t payload = len - join->header;
	const uint8_t *tcp = packet + join->l4;
	if (payload > join->payload || join->bytes + payload > max_bytes ||
			hs_be32_load(tcp + 4) != join->next_sequence || !has_common_flags(tcp))
		return false;
	if (join->l4 == 34 && hs_be16_load(packet + 14 + 4) != join->next_id)
		return false;
	take(join, packet, (uint16_t)payload);
	return true;
}

void hs_join_finish(const struct hs_join *join, struct virtio_net_hdr *vnet, uint8_t *header)
{
	bool ipv6 = join->l4 == 54;
	uint8_t *ip = header + 14, *tcp = header + join->l4;

	memcpy(header, join->first, join->header);
	if (ipv6) {
		hs_be16_store(ip + 4, (uint16_t)(join->bytes - join->l4));
	} else {
		hs_be16_store(ip + 2, (uint16_t)(join->bytes - 14));
		store_ipv4_checksum(ip);
	}
	tcp[13] = join->last_flags;
	uint16_t sum = hs_checksum_fold(pseudo_sum(ip, ipv6, IPPROTO_TCP, join->bytes - join->l4));
	memcpy(tcp + TCP_CHECKSUM, &sum, sizeof(sum));
	*vnet = (struct virtio_net_hdr){
			.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			.gso_type = ipv6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4,
			.hdr_len = join->header,
			.gso_size = join->payload,
			.csum_start = join->l4,
			.csum_offset = TCP_CHECKSUM,
	};
}
