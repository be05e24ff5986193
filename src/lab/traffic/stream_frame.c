// SPDX-License-Identifier: BSD-3-Clause
#include "stream_frame.h"

#include "ip.h"
#include "ip_header.h"
#include "packet.h"

#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <string.h>

#define HOP_LIMIT 64

enum {
	ICMP_ECHO_REPLY = 0,
	ICMP_ECHO_REQUEST = 8,
	ICMPV6_ECHO_REQUEST = 128,
	ICMPV6_ECHO_REPLY = 129,
};

#define GRE_ETHERNET                                                                               \
	{                                                                                          \
		0, 0, 0x65, 0x58                                                                   \
	} // RFC 2784; RFC 1701 has the number

// What a tunnel's packets begin with: RFC 7348, draft-ietf-nvo3-vxlan-gpe, RFC 8926. The network
// is 7.
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
	rte_be16_t ports[2] = {
			rte_cpu_to_be_16(traffic->src_port), rte_cpu_to_be_16(traffic->dst_port)};
	uint32_t bytes = template->len - template->l4;
	void *at = template->bytes + template->l4;

	if (template->protocol == HS_IP_TCP) {
		bool pushes = bytes > sizeof(struct rte_tcp_hdr);
		*(struct rte_tcp_hdr *)at = (struct rte_tcp_hdr){
				.src_port = ports[reply],
				.dst_port = ports[!reply],
				.data_off = sizeof(struct rte_tcp_hdr) / 4 << 4,
				.tcp_flags = RTE_TCP_ACK_FLAG | (pushes ? RTE_TCP_PSH_FLAG : 0),
				.rx_win = UINT16_MAX,
		};
	} else if (template->protocol == HS_IP_ICMPV6) {
		*(struct rte_icmp_hdr *)at = (struct rte_icmp_hdr){
				.icmp_type = echo_type(is_ipv4(template), reply),
				.icmp_ident = rte_cpu_to_be_16(identifier),
		};
	} else if (template->protocol == IPPROTO_GRE) {
		memcpy(at, (const uint8_t[])GRE_ETHERNET, 4);
	} else {
		*(struct rte_udp_hdr *)at = (struct rte_udp_hdr){
				.src_port = ports[reply],
				.dst_port = ports[!reply],
				.dgram_len = rte_cpu_to_be_16((uint16_t)bytes),
		};
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
	const void *ip = template->bytes + HS_ETHER_BYTES;

	memcpy(template->bytes, macs->next[reply], 6);
	memcpy(template->bytes + 6, macs->own[reply], 6);
	hs_ip_header_write(&header, template->bytes);
	// The checksum of ICMP for IPv4 covers no address.
	template->sum = !ipv4 ? rte_ipv6_phdr_cksum(ip, 0) : icmp ? 0 : rte_ipv4_phdr_cksum(ip, 0);
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
	template->sum += rte_raw_cksum(template->bytes + l4, template->len - l4);
	hs_stream_template_number(template, 0, 0);
}

static uint32_t halves(uint32_t v)
{
	return (v >> 16) + (v & 0xffff);
}

static uint16_t checksum_of(uint32_t sum)
{
	return (uint16_t)~halves(halves(sum));
}

void hs_stream_template_number(struct hs_stream_template *template, uint32_t seq, uint32_t ack)
{
	void *at = template->bytes + template->l4;
	struct rte_tcp_hdr *tcp = at;
	struct rte_icmp_hdr *icmp = at;
	struct rte_udp_hdr *udp = at;

	if (template->protocol == HS_IP_TCP) {
		tcp->sent_seq = rte_cpu_to_be_32(seq);
		tcp->recv_ack = rte_cpu_to_be_32(ack);
		tcp->cksum = checksum_of(
				template->sum + halves(tcp->sent_seq) + halves(tcp->recv_ack));
	} else if (template->protocol == HS_IP_ICMPV6) {
		icmp->icmp_seq_nb = rte_cpu_to_be_16((uint16_t)seq);
		icmp->icmp_cksum = checksum_of(template->sum + icmp->icmp_seq_nb);
	} else if (template->protocol == HS_IP_UDP) {
		udp->dgram_cksum = checksum_of(template->sum);
		// RFC 8200 section 8.1: a UDP checksum of zero would mean that there is no
		// checksum.
		if (!udp->dgram_cksum)
			udp->dgram_cksum = UINT16_MAX;
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
		if (rte_raw_cksum(ip, HS_IPV4_BYTES) != UINT16_MAX)
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
