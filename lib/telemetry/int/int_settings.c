// SPDX-License-Identifier: BSD-3-Clause
#include "int_settings.h"

#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const mode_names[] = {"md", "mx", "xd"};
static const char *const carrier_names[] = {"tcp_udp", "gre", "vxlan-gpe", "geneve"};
_Static_assert(N_OF(mode_names) == HS_INT_N_MODES, "each has a name");
_Static_assert(N_OF(carrier_names) == HS_INT_N_CARRIERS, "each has a name");

const char *hs_int_mode_name(enum hs_int_mode mode)
{
	return mode_names[mode];
}

const char *hs_int_carrier_name(enum hs_int_carrier carrier)
{
	return carrier_names[carrier];
}

void hs_int_settings_init(struct hs_int_settings *settings, enum hs_int_version version,
		enum hs_int_carrier carrier)
{
	static const uint8_t gpe[] = {0x05, 0x05, 0x08, 0x82};

	*settings = (struct hs_int_settings){
			.version = (uint8_t)version,
			.carrier = (uint8_t)carrier,
			.dscp = 0x17,
			.dscp_mask = 0x3F,
			.max_hops = 8,
			.fill_reserved = version >= HS_INT_1_0,
			.upgrade_vxlan = true,
			.gpe_protocol = gpe[version],
			.geneve_type = HS_INT_TYPE_MD,
			.gre_ttl = HS_INT_DEFAULT_TTL,
			.gre_protocol = HS_INT_DEFAULT_GRE_PROTOCOL,
			.geneve_class = version == HS_INT_2_1 ? 0x0103 : 0x00AB,
	};
}

static const char *carrier_wrong(const struct hs_int_settings *settings, const char **allowed)
{
	static const char *const carriers[] = {"vxlan-gpe, geneve", "tcp_udp, vxlan-gpe, geneve",
			"tcp_udp, vxlan-gpe, geneve", "tcp_udp, gre, vxlan-gpe, geneve"};
	bool no = settings->carrier >= HS_INT_N_CARRIERS ||
		  (settings->carrier == HS_INT_GRE && settings->version != HS_INT_2_1) ||
		  (settings->carrier == HS_INT_TCP_UDP && settings->version == HS_INT_2016_06);

	*allowed = carriers[settings->version];
	return no ? "carrier" : NULL;
}

static const char *mark_wrong(const struct hs_int_settings *settings, const char **allowed)
{
	static const char *const marks[] = {
			"", "dscp, udp_port", "dscp, probe_marker", "dscp, udp_port, probe_marker"};
	bool no = settings->mark >= HS_INT_N_MARKS ||
		  (settings->mark == HS_INT_MARK_UDP_PORT && settings->version == HS_INT_1_0) ||
		  (settings->mark == HS_INT_MARK_PROBE && settings->version < HS_INT_1_0);

	*allowed = marks[settings->version];
	if (no)
		return "mark";
	if (settings->mark == HS_INT_MARK_UDP_PORT) {
		*allowed = "1 to 65535";
		return settings->udp_port ? NULL : "udp_port";
	}
	if (settings->mark == HS_INT_MARK_PROBE) {
		*allowed = "not 0";
		return settings->probe_marker ? NULL : "probe_marker";
	}
	*allowed = "1 to 63";
	if (!settings->dscp_mask || settings->dscp_mask > 0x3F)
		return "dscp_mask";
	*allowed = "1 to 63, a bit of dscp_mask among them";
	return settings->dscp <= 0x3F && settings->dscp & settings->dscp_mask ? NULL : "dscp";
}

static const char *tunnel_wrong(const struct hs_int_settings *settings, const char **allowed)
{
	static const uint8_t none[16];

	if (settings->carrier == HS_INT_VXLAN_GPE) {
		*allowed = "5 to 255"; // 1 to 4 are IPv4, IPv6, Ethernet, NSH
		return settings->gpe_protocol > 4 ? NULL : "gpe_protocol";
	}
	if (settings->carrier == HS_INT_GENEVE) {
		*allowed = "1 to 125"; // the next two types are used too, and none is critical
		return settings->geneve_type && settings->geneve_type <= 125 ? NULL : "geneve_type";
	}
	*allowed = "1536 to 65535, not 2048, 25944 or 34525, which are IPv4's, Ethernet's and "
		   "IPv6's";
	if (settings->gre_protocol < 1536 || settings->gre_protocol == 0x0800 ||
			settings->gre_protocol == 0x6558 || settings->gre_protocol == 0x86DD)
		return "gre_protocol";
	size_t bytes = settings->gre_ipv6 ? 16 : 4;
	*allowed = "an address";
	if (settings->gre_adds_tunnel && !memcmp(settings->gre_src, none, bytes))
		return "gre_src";
	return settings->gre_adds_tunnel && !memcmp(settings->gre_dst, none, bytes) ? "gre_dst"
										    : NULL;
}

const char *hs_int_settings_wrong(const struct hs_int_settings *settings, const char **allowed)
{
	*allowed = "2016-06, 0.5, 1.0, 2.1";
	if (settings->version >= HS_INT_N_VERSIONS)
		return "version";
	bool has_modes = settings->version == HS_INT_2_1;
	*allowed = has_modes ? "md, mx, xd" : "md";
	if (settings->mode >= (has_modes ? HS_INT_N_MODES : 1))
		return "mode";
	const char *wrong = carrier_wrong(settings, allowed);
	if (wrong)
		return wrong;
	*allowed = "1 to 255";
	if (!settings->max_hops)
		return "max_hops";
	return settings->carrier == HS_INT_TCP_UDP ? mark_wrong(settings, allowed)
						   : tunnel_wrong(settings, allowed);
}
