// SPDX-License-Identifier: BSD-3-Clause
#include "stream_frame.h"

#include "ip.h"
#include "packet.h"

#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <string.h>

#define L4	     (HS_ETHER_BYTES + HS_IPV6_BYTES)
#define HOP_LIMIT    64
#define HOP_LIMIT_AT 7U // in the IPv6 header

enum {
	ICMPV6_ECHO_REQUEST = 128,
	ICMPV6_ECHO_REPLY = 129,
};

static uint32_t l4_bytes_of(uint8_t protocol)
{
	return protocol == HS_IP_TCP ? sizeof(struct rte_tcp_hdr) : sizeof(struct rte_udp_hdr);
}

static void write_l4(struct hs_stream_template *template, const struct hs_scenario_traffic *traffic,
		uint16_t identifier, bool reply)
{
	rte_be16_t ports[2] = {
			rte_cpu_to_be_16(traffic->src_port), rte_cpu_to_be_16(traffic->dst_port)};
	uint32_t bytes = template->len - L4;
	void *at = template->bytes + L4;

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
				.icmp_type = reply ? ICMPV6_ECHO_REPLY : ICMPV6_ECHO_REQUEST,
				.icmp_ident = rte_cpu_to_be_16(identifier),
		};
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
	struct rte_ether_hdr *ether = (void *)template->bytes;
	struct rte_ipv6_hdr *ip = (void *)(ether + 1);

	memcpy(&ether->dst_addr, macs->next[reply], 6);
	memcpy(&ether->src_addr, macs->own[reply], 6);
	ether->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV6);
	*ip = (struct rte_ipv6_hdr){
			.vtc_flow = RTE_BE32(6U << 28),
			.payload_len = rte_cpu_to_be_16((uint16_t)(template->len - L4)),
			.proto = template->protocol,
			.hop_limits = HOP_LIMIT,
	};
	memcpy(ip->src_addr, src_addr, 16);
	memcpy(ip->dst_addr, dst_addr, 16);
	template->sum = rte_ipv6_phdr_cksum(ip, 0);
}

void hs_stream_template_init(struct hs_stream_template *template,
		const struct hs_scenario *scenario, uint32_t index,
		const struct hs_stream_macs *macs, bool reply)
{
	const struct hs_scenario_traffic *traffic = &scenario->traffic[index];
	const uint8_t *ends[2] = {
			scenario->hosts[traffic->from].addr, scenario->hosts[traffic->to].addr};
	bool acknowledges = reply && traffic->kind == HS_TRAFFIC_WINDOW;
	uint32_t headers_end = L4 + l4_bytes_of(traffic->protocol);

	template->protocol = traffic->protocol;
	template->len = headers_end + (acknowledges ? 0 : traffic->payload_bytes);
	write_l2_l3(template, macs, ends[reply], ends[!reply], reply);
	write_l4(template, traffic, (uint16_t)(index + 1), reply);
	for (uint32_t i = headers_end; i < template->len; i++)
		template->bytes[i] = (uint8_t)(i - headers_end);
	template->sum += rte_raw_cksum(template->bytes + L4, template->len - L4);
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
	void *at = template->bytes + L4;
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
	} else {
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
	const uint32_t type = HS_ETHER_TYPE, hop_limit = HS_ETHER_BYTES + HOP_LIMIT_AT;

	return len == template->len &&
	       memcmp(template->bytes + type, bytes + type, hop_limit - type) == 0 &&
	       memcmp(template->bytes + hop_limit + 1, bytes + hop_limit + 1,
			       len - hop_limit - 1) == 0;
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
	uint32_t hop_limit = packet.flags & HS_PACKET_IPV6 ? packet.l3_off + HOP_LIMIT_AT : len;
	uint64_t hash = hash_on(len, bytes + HS_ETHER_TYPE, hop_limit - HS_ETHER_TYPE);
	if (hop_limit < len)
		hash = hash_on(hash, bytes + hop_limit + 1, len - hop_limit - 1);
	return hash;
}
