// SPDX-License-Identifier: BSD-3-Clause
#include "profile_marks.h"

#include <inttypes.h>
#include <stdio.h>

#define GENEVE_TYPES 3 // that follow each other: hop by hop, destination, INT-MX

static bool is_marked(const struct hs_int_settings *settings, enum hs_int_mark mark)
{
	return settings->carrier == HS_INT_TCP_UDP && settings->mark == mark;
}

// Returns whether the carrier is in packets to UDP's port `port`.
static bool takes_port(const struct hs_int_settings *settings, uint16_t port)
{
	switch (settings->carrier) {
	case HS_INT_VXLAN_GPE:
		return port == HS_INT_GPE_PORT ||
		       (settings->upgrade_vxlan && port == HS_INT_VXLAN_PORT);
	case HS_INT_GENEVE:
		return port == HS_INT_GENEVE_PORT;
	default:
		return is_marked(settings, HS_INT_MARK_UDP_PORT) && settings->udp_port == port;
	}
}

static bool ports_collide(const struct hs_int_settings *a, const struct hs_int_settings *b,
		char text[HS_MARK_TEXT])
{
	bool by_a = is_marked(a, HS_INT_MARK_UDP_PORT) && takes_port(b, a->udp_port);
	bool by_b = is_marked(b, HS_INT_MARK_UDP_PORT) && takes_port(a, b->udp_port);

	snprintf(text, HS_MARK_TEXT, "udp_port %u", by_a ? a->udp_port : b->udp_port);
	return by_a || by_b;
}

static bool tcp_udp_collide(const struct hs_int_settings *a, const struct hs_int_settings *b,
		char text[HS_MARK_TEXT])
{
	if (a->mark != b->mark)
		return false;
	if (a->mark == HS_INT_MARK_PROBE) {
		snprintf(text, HS_MARK_TEXT, "probe_marker 0x%016" PRIX64, a->probe_marker);
		return a->probe_marker == b->probe_marker;
	}
	// A DSCP that has the bits of both marks is a mark of both profiles.
	snprintf(text, HS_MARK_TEXT, "dscp %u", a->dscp);
	return a->mark == HS_INT_MARK_DSCP && !((a->dscp ^ b->dscp) & a->dscp_mask & b->dscp_mask);
}

static bool geneve_collide(const struct hs_int_settings *a, const struct hs_int_settings *b,
		char text[HS_MARK_TEXT])
{
	int apart = a->geneve_type - b->geneve_type;

	snprintf(text, HS_MARK_TEXT, "geneve_type %u to %u of class %u", a->geneve_type,
			a->geneve_type + GENEVE_TYPES - 1u, a->geneve_class);
	return a->geneve_class == b->geneve_class && apart < GENEVE_TYPES && apart > -GENEVE_TYPES;
}

bool hs_profile_marks_collide(const struct hs_int_settings *a, const struct hs_int_settings *b,
		char text[HS_MARK_TEXT])
{
	if (ports_collide(a, b, text))
		return true;
	if (a->carrier != b->carrier)
		return false;
	switch (a->carrier) {
	case HS_INT_GRE:
		snprintf(text, HS_MARK_TEXT, "gre_protocol %u", a->gre_protocol);
		return a->gre_protocol == b->gre_protocol;
	case HS_INT_VXLAN_GPE:
		snprintf(text, HS_MARK_TEXT, "gpe_protocol %u", a->gpe_protocol);
		return a->gpe_protocol == b->gpe_protocol;
	case HS_INT_GENEVE:
		return geneve_collide(a, b, text);
	default:
		return tcp_udp_collide(a, b, text);
	}
}
