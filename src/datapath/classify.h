// SPDX-License-Identifier: BSD-3-Clause
// The first step over a burst reads headers and telemetry and looks up rules. The step has one
// body, of which each family that has a fast path makes an instance with its own parsers.
//
// Thread rule: owner lcore.
#pragma once

#include "packet_fast.h"
#include "stage.h"

typedef bool (*hs_classify_fast_fn)(const struct hs_profile *profile,
		struct hs_flexint_templates *templates, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet);
typedef void (*hs_classify_parse_fn)(const struct hs_profile *profile, const uint8_t *frame,
		size_t len, size_t frame_len, struct hs_packet *packet);

// Parses packets that have TCP, UDP or ICMP directly behind IP. This is the fast parser of families
// without telemetry in such packets.
static inline bool hs_classify_bare(const struct hs_profile *profile,
		struct hs_flexint_templates *templates, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	(void)profile, (void)templates;
	return hs_packet_parse_fast(frame, len, frame_len, NULL, NULL, packet) ||
	       hs_packet_parse_fast_ipv4(frame, len, frame_len, packet);
}

// Makes one linear copy of a packet whose headers are split over segments, so that all later steps
// can read and change the headers.
static inline void hs_classify_join(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(burst->mbufs[i], worker->pool, 0, UINT32_MAX);

	if (!copy)
		return;
	rte_pktmbuf_free(burst->mbufs[i]);
	burst->mbufs[i] = copy;
	hs_parse_anew(burst, i);
}

// Lets a packet whose IPv4 headers could not be joined go on as a frame that is not understood, if
// the family has no telemetry in IPv4 packets.
static inline void hs_classify_let_pass(struct hs_burst *burst, unsigned i)
{
	const uint16_t cut = HS_PACKET_IPV4 | HS_PACKET_SHORT;

	if (!burst->profile->family->in_ipv4 && (burst->packets[i].flags & cut) == cut)
		burst->packets[i] = (struct hs_packet){0};
}

// Joins the headers of a packet if they are split over segments.
static inline void hs_classify_fault(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	if (burst->packets[i].flags & HS_PACKET_SHORT)
		hs_classify_join(worker, burst, i);
	hs_classify_let_pass(burst, i);
}

static inline void hs_classify_faults(struct hs_worker *worker, struct hs_burst *burst)
{
	for (unsigned i = 0; i < burst->n; i++) {
		hs_classify_fault(worker, burst, i);
		burst->flags |= burst->packets[i].flags;
	}
}

// Parses a burst. `parse` is called where `fast` returns false or is NULL. Returns the flags of all
// packets, or-ed.
static inline __attribute__((always_inline)) uint16_t hs_classify_parse(struct hs_worker *worker,
		struct hs_burst *burst, hs_classify_fast_fn fast, hs_classify_parse_fn parse)
{
	const struct hs_profile *profile = burst->profile;
	struct hs_flexint_templates *templates = worker->templates; // not read for each packet
	const unsigned n = burst->n;
	uint16_t flags = 0;

	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = burst->mbufs[i];
		const uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
		struct hs_packet *packet = &burst->packets[i];
		size_t len = rte_pktmbuf_data_len(m), frame_len = rte_pktmbuf_pkt_len(m);
		if (!fast || !fast(profile, templates, frame, len, frame_len, packet))
			parse(profile, frame, len, frame_len, packet);
		flags |= packet->flags;
	}
	return flags;
}

// Looks up the rules of a parsed burst.
static inline void hs_classify_end(struct hs_worker *worker, struct hs_burst *burst, uint16_t flags)
{
	burst->flags = flags;
	if (unlikely(flags & HS_PACKET_SHORT))
		hs_classify_faults(worker, burst);
	hs_classify_rules(worker, burst);
}

// Parses a burst and looks up its rules. Both parsers are constants of the family and are inlined.
static inline __attribute__((always_inline)) void hs_classify_as(struct hs_worker *worker,
		struct hs_burst *burst, hs_classify_fast_fn fast, hs_classify_parse_fn parse)
{
	uint16_t flags;

	if (unlikely(worker->general))
		flags = hs_classify_parse(worker, burst, NULL, parse);
	else
		flags = hs_classify_parse(worker, burst, fast, parse);
	hs_classify_end(worker, burst, flags);
}

// Does the same without a fast parser, for a family or a profile that has none.
void hs_classify_general(struct hs_worker *worker, struct hs_burst *burst);
