// SPDX-License-Identifier: BSD-3-Clause
// Corrects the headers that enclose INT: lengths and checksums of IP, UDP, TCP and GRE.
#include "int_wire.h"

static size_t ipv4_bytes(const uint8_t *ip)
{
	return 4u * (ip[0] & 0xfu);
}

void hs_int_note_before(const uint8_t *frame, const struct hs_packet *packet,
		const struct hs_l4 *l4, size_t end, struct hs_int_before *before)
{
	const uint8_t *ip = frame + packet->l3_off;

	before->ip = packet->flags & HS_PACKET_IPV4 ? hs_ip_sum_even(ip, ipv4_bytes(ip)) : 0;
	before->l4 = hs_ip_sum_even(frame + l4->off, end - l4->off);
}

static void add16(uint8_t *at, int growth)
{
	hs_be16_store(at, (uint16_t)(hs_be16_load(at) + growth));
}

void hs_int_correct_lengths(uint8_t *frame, const struct hs_packet *packet, const struct hs_l4 *l4,
		int growth, const struct hs_int_before *before)
{
	uint8_t *ip = frame + packet->l3_off;

	if (l4->proto == HS_IP_UDP)
		add16(frame + l4->off + UDP_LENGTH, growth);
	if (!(packet->flags & HS_PACKET_IPV4)) {
		add16(ip + HS_IPV6_PAYLOAD, growth);
		return;
	}
	add16(ip + HS_IPV4_TOTAL, growth);
	uint32_t change = hs_sum_change(before->ip, hs_ip_sum_even(ip, ipv4_bytes(ip)));
	uint8_t *checksum = ip + HS_IPV4_CHECKSUM;
	hs_be16_store(checksum, hs_checksum_changed(hs_be16_load(checksum), change));
}

uint32_t hs_int_l4_change(const uint8_t *frame, const struct hs_l4 *l4, size_t end, int growth,
		const struct hs_int_before *before)
{
	uint32_t change = hs_sum_change(before->l4, hs_ip_sum_even(frame + l4->off, end - l4->off));

	if (l4->proto != HS_IP_UDP && l4->proto != HS_IP_TCP)
		return change;
	// The pseudo-header's length.
	return change + (growth < 0 ? (uint16_t) ~(uint16_t)-growth : (uint16_t)growth);
}

uint8_t *hs_int_checksum_at(uint8_t *frame, const struct hs_l4 *l4)
{
	uint8_t *header = frame + l4->off;

	switch (l4->proto) {
	case HS_IP_UDP:
		return hs_be16_load(header + UDP_CHECKSUM) ? header + UDP_CHECKSUM : NULL;
	case HS_IP_TCP:
		return header + TCP_CHECKSUM;
	case IP_GRE:
		return header[0] & GRE_C ? header + GRE_CHECKSUM : NULL;
	default:
		return NULL;
	}
}

void hs_int_correct_checksum(uint8_t *frame, const struct hs_l4 *l4, uint32_t change)
{
	uint8_t *at = hs_int_checksum_at(frame, l4);
	if (!at)
		return;
	uint16_t checksum = hs_checksum_changed(hs_be16_load(at), change);
	if (!checksum && l4->proto == HS_IP_UDP)
		checksum = 0xffff; // 0 stands for no checksum
	hs_be16_store(at, checksum);
}

void hs_int_finish(uint8_t *frame, const struct hs_packet *packet, const struct hs_l4 *l4,
		size_t end, int growth, const struct hs_int_before *before)
{
	hs_int_correct_lengths(frame, packet, l4, growth, before);
	hs_int_correct_checksum(frame, l4, hs_int_l4_change(frame, l4, end, growth, before));
}
