// SPDX-License-Identifier: BSD-3-Clause
#include "stream_frame.h"

#include "bytes.h"
#include "ip.h"
#include "ip_header.h"
#include "packet.h"

#include <string.h>

#define HOP_LIMIT 64

enum {
	ICMP_ECHO_REPLY = 0,
	ICMP_ECHO_REQUEST = 8,
	ICMPV6_ECHO_REQUEST = 128,
	ICMPV6_ECHO_REPLY = 129,
	ICMP_CHECKSUM = 2,
	ICMP_IDENTIFIER = 4,
	ICMP_SEQUENCE = 6,
	UDP_LENGTH = 4,
	UDP_CHECKSUM = 6,
	TCP_BYTES = 20,
	TCP_SEQUENCE = 4,
	TCP_ACKNOWLEDGED = 8,
	TCP_OFFSET = 12,
	TCP_FLAGS = 13,
	TCP_WINDOW = 14,
	TCP_CHECKSUM = 16,
	TCP_PSH = 8,
	TCP_ACK = 16,
};

static const uint8_t gre_ethernet[4] = {0, 0, 0x65, 0x58}; // RFC 2784; RFC 1701 has the number

// The headers of tunnels: RFC 7348, draft-ietf-nvo3-vxlan-gpe, RFC 8926. The network identifier is
// 7.
static const uint8_t tunnels[][HS_TUNNEL_HEADER_BYTES] = {
		[HS_TUNNEL_VXLAN] = {0x08, [6] = 7},
		[HS_TUNNEL_VXLAN_GPE] = {0x0c, [3] = 3, [6] = 7},
		[HS_TUNNEL_GENEVE] = {0, 0, 0x65, 0x58, [6] = 7},
};

static bool is_ipv4(const struct hs_stream_template *template)
{
	return template->l4 == HS_ETHER_BYTES + HS_IPV4_BYTES;
}

static uint8_t echo_type(bool ipv4, bool reply)
{
	if (ipv4)
		return reply ? ICMP_ECHO_REPLY : ICMP_ECHO_REQUEST;
	return reply ? ICMPV6_ECHO_REPLY : ICMPV6_ECHO_REQUEST;
}

static void write_l4(struct hs_stream_template *template, const struct hs_scenario_traffic *traffic,
		uint16_t identifier, bool reply)
{
	const uint16_t ports[2] = {traffic->src_port, traffic->dst_port};
	uint32_t bytes = template->len - template->l4;
	uint8_t *at = template->bytes + template->l4;

	memset(at, 0, hs_scenario_l4_bytes(traffic));
	if (template->protocol == IPPROTO_GRE) {
		memcpy(at, gre_ethernet, sizeof(gre_ethernet));
		return;
	}
	if (template->protocol == HS_IP_ICMPV6) {
		at[0] = echo_type(is_ipv4(template), reply);
		hs_be16_store(at + ICMP_IDENTIFIER, identifier);
		return;
	}
	hs_be16_store(at, ports[reply]);
	hs_be16_store(at + 2, ports[!reply]);
	if (template->protocol == HS_IP_TCP) {
		at[TCP_OFFSET] = TCP_BYTES / 4 << 4;
		at[TCP_FLAGS] = bytes > TCP_BYTES ? TCP_ACK | TCP_PSH : TCP_ACK;
		hs_be16_store(at + TCP_WINDOW, UINT16_MAX);
	} else {
		hs_be16_store(at + UDP_LENGTH, (uint16_t)bytes);
	}
}

static void write_l2_l3(struct hs_stream_template *template, const struct hs_stream_macs *macs,
		const uint8_t src_addr[16], const uint8_t dst_addr[16], bool reply)
{
	bool ipv4 = is_ipv4(template), icmp = template->protocol == HS_IP_ICMPV6;
	const struct hs_ip_header header = {.ipv4 = ipv4,
			.protocol = ipv4 && icmp ? HS_IP_ICMP : template->protocol,
			.hop_limit = HOP_LIMIT,
			.bytes = (uint16_t)(template->len - template->l4),
			.src = src_addr + (ipv4 ? 12 : 0),
			.dst = dst_addr + (ipv4 ? 12 : 0)};
	const size_t address = ipv4 ? 4 : 16;

	memcpy(template->bytes, macs->next[reply], 6);
	memcpy(template->bytes + 6, macs->own[reply], 6);
	hs_ip_header_write(&header, template->bytes);
	// The checksum of ICMP for IPv4 covers no address.
	template->sum = 0;
	if (!ipv4 || !icmp)
		template->sum = header.bytes + header.protocol + hs_ip_sum(header.src, address) +
				hs_ip_sum(header.dst, address);
}

void hs_stream_template_init(struct hs_stream_template *template,
		const struct hs_scenario *scenario, uint32_t index,
		const struct hs_stream_macs *macs, bool reply)
{
	const struct hs_scenario_traffic *traffic = &scenario->traffic[index];
	const uint8_t *ends[2] = {
			scenario->hosts[traffic->from].addr, scenario->hosts[traffic->to].addr};
	bool acknowledges = reply && traffic->kind == HS_TRAFFIC_WINDOW;
	uint32_t l4 = HS_ETHER_BYTES + hs_scenario_ip_bytes(&scenario->hosts[traffic->from]);
	uint32_t headers_end = l4 + hs_scenario_l4_bytes(traffic);
	uint32_t in_tunnel = traffic->tunnel && traffic->tunnel != HS_TUNNEL_GRE
					     ? HS_TUNNEL_HEADER_BYTES
					     : 0;

	template->l4 = l4;
	template->protocol = traffic->protocol;
	template->len = headers_end + (acknowledges ? 0 : traffic->payload_bytes);
	write_l2_l3(template, macs, ends[reply], ends[!reply], reply);
	write_l4(template, traffic, (uint16_t)(index + 1), reply);
	for (uint32_t i = headers_end; i < template->len; i++) {
		uint32_t at = i - headers_end;
		template->bytes[i] = at < in_tunnel ? tunnels[traffic->tunnel][at] : (uint8_t)at;
	}
	template->sum += hs_ip_sum(template->bytes + l4, template->len - l4);
	hs_stream_template_number(template, 0, 0);
}

static uint32_t halves(uint32_t v)
{
	return (v >> 16) + (v & 0xffff);
}

void hs_stream_template_number(struct hs_stream_template *template, uint32_t seq, uint32_t ack)
{
	uint8_t *at = template->bytes + template->l4;
	uint32_t sum = template->sum;

	if (template->protocol == HS_IP_TCP) {
		hs_be32_store(at + TCP_SEQUENCE, seq);
		hs_be32_store(at + TCP_ACKNOWLEDGED, ack);
		hs_be16_store(at + TCP_CHECKSUM, hs_ip_checksum(sum + halves(seq) + halves(ack)));
	} else if (template->protocol == HS_IP_ICMPV6) {
		hs_be16_store(at + ICMP_SEQUENCE, (uint16_t)seq);
		hs_be16_store(at + ICMP_CHECKSUM, hs_ip_checksum(sum + (uint16_t)seq));
	} else if (template->protocol == HS_IP_UDP) {
		// RFC 8200 section 8.1: a UDP checksum of zero would mean that there is no
		// checksum.
		hs_be16_store(at + UDP_CHECKSUM, hs_ip_checksum(sum) ?: UINT16_MAX);
	}
}

bool hs_stream_template_equals(
		const struct hs_stream_template *template, const uint8_t *bytes, uint32_t len)
{
	const uint32_t type = HS_ETHER_TYPE, l4 = template->l4;
	uint8_t head[HS_ETHER_BYTES + HS_IPV6_BYTES];
	uint8_t *ip = head + HS_ETHER_BYTES;

	if (len != template->len)
		return false;
	memcpy(head, bytes, l4);
	if (!is_ipv4(template)) {
		ip[HS_IPV6_HOPS] = HOP_LIMIT;
	} else {
		if (hs_ip_checksum(hs_ip_sum(ip, HS_IPV4_BYTES)))
			return false;
		ip[HS_IPV4_TTL] = HOP_LIMIT;
		memcpy(ip + HS_IPV4_CHECKSUM, template->bytes + HS_ETHER_BYTES + HS_IPV4_CHECKSUM,
				2);
	}
	return memcmp(template->bytes + type, head + type, l4 - type) == 0 &&
	       memcmp(template->bytes + l4, bytes + l4, len - l4) == 0;
}

// ---- frames of a file ----

// Hashes eight bytes a step by multiplying and mixing. The hash only needs to detect an altered
// byte. The odd multiplier and the xor-shift are one to one, so that a single altered word is
// always detected.
static uint64_t hash_on(uint64_t hash, const uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i += 8) {
		uint64_t word = 0;
		memcpy(&word, bytes + i, len - i < 8 ? len - i : 8);
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

uint64_t hs_stream_frame_hash(const uint8_t *bytes, uint32_t len)
{
	struct hs_packet packet;

	hs_packet_parse(bytes, len, len, NULL, &packet);
	uint32_t hop_limit = len, behind = len;
	if (packet.flags & HS_PACKET_IPV6) {
		hop_limit = packet.l3_off + (uint32_t)HS_IPV6_HOPS;
		behind = hop_limit + 1;
	} else if ((packet.flags & (HS_PACKET_IPV4 | HS_PACKET_SHORT)) == HS_PACKET_IPV4) {
		hop_limit = packet.l3_off + (uint32_t)HS_IPV4_TTL;
		behind = packet.l3_off + (uint32_t)HS_IPV4_SRC;
	}
	uint64_t hash = hash_on(len, bytes + HS_ETHER_TYPE, hop_limit - HS_ETHER_TYPE);
	if (packet.flags & HS_PACKET_IPV4 && behind < len)
		hash = hash_on(hash, bytes + hop_limit + 1, 1); // the protocol
	if (behind < len)
		hash = hash_on(hash, bytes + behind, len - behind);
	return hash;
}
