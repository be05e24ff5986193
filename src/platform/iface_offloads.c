// SPDX-License-Identifier: BSD-3-Clause
#include "port_private.h"

#include "log.h"

#include <linux/ethtool.h>
#include <rte_common.h>
#include <stdlib.h>
#include <string.h>

// The names of the offloads without which an interface takes no frame of several packets.
static const char *const segments[] = {"tx-tcp-segmentation", "tx-tcp6-segmentation"};
// With one of these offloads, the kernel leaves checksums open in the packets that it cuts from a
// frame.
static const char *const checksums[] = {
		"tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6"};

// The offloads of an interface at one moment.
struct offloads {
	unsigned n;
	struct ethtool_gstrings *names;
	struct ethtool_gfeatures *features;
};

static unsigned count_features(const struct iface *iface)
{
	union {
		struct ethtool_sset_info info;
		uint8_t room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} set = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_FEATURES}};

	if (iface_ethtool(iface->name, &set) < 0 || !set.info.sset_mask)
		return 0;
	return set.info.data[0];
}

// Reads the names of the offloads. The kernel writes all names that it has, however many are asked
// for.
static struct ethtool_gstrings *names_of(const struct iface *iface, unsigned n)
{
	struct ethtool_gstrings *names = calloc(1, sizeof(*names) + (size_t)n * ETH_GSTRING_LEN);

	if (!names)
		return NULL;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = n;
	if (iface_ethtool(iface->name, names) == 0)
		return names;
	free(names);
	return NULL;
}

static struct ethtool_gfeatures *features_of(const struct iface *iface, unsigned n)
{
	unsigned blocks = (n + 31) / 32;
	struct ethtool_gfeatures *features =
			calloc(1, sizeof(*features) + blocks * sizeof(features->features[0]));

	if (!features)
		return NULL;
	features->cmd = ETHTOOL_GFEATURES;
	features->size = blocks;
	if (iface_ethtool(iface->name, features) == 0)
		return features;
	free(features);
	return NULL;
}

static bool is_active(const struct offloads *offloads, const char *wanted)
{
	for (unsigned i = 0; i < offloads->n; i++)
		if (strncmp((const char *)offloads->names->data + i * ETH_GSTRING_LEN, wanted,
				    ETH_GSTRING_LEN) == 0)
			return offloads->features->features[i / 32].active & 1u << i % 32;
	return false;
}

static unsigned count_active(const struct offloads *offloads, const char *const *names, unsigned n)
{
	unsigned active = 0;

	for (unsigned i = 0; i < n; i++)
		active += is_active(offloads, names[i]);
	return active;
}

// Returns for whom packets may be joined. Where the kernel cuts a frame, the interface must send
// what it would send without the frame: complete checksums. A queueing discipline would take the
// frame as one packet. The kernel gives an interface without carrier a discipline that drops every
// packet and reports it as sent.
static enum port_joins joins_of(const struct offloads *offloads, const struct iface_gso *gso)
{
	unsigned n = count_active(offloads, segments, RTE_DIM(segments));

	if (!gso->bytes)
		return PORT_JOINS_NOTHING;
	if (n == RTE_DIM(segments))
		return PORT_JOINS_FOR_INTERFACE;
	if (n || gso->queue || !gso->up || count_active(offloads, checksums, RTE_DIM(checksums)))
		return PORT_JOINS_NOTHING;
	return PORT_JOINS_FOR_KERNEL;
}

static enum port_joins ask_joins(const struct iface *iface, const struct iface_gso *gso)
{
	struct offloads offloads = {.n = count_features(iface)};
	enum port_joins joins = PORT_JOINS_NOTHING;

	if (offloads.n)
		offloads.names = names_of(iface, offloads.n);
	if (offloads.names)
		offloads.features = features_of(iface, offloads.n);
	if (offloads.features)
		joins = joins_of(&offloads, gso);
	free(offloads.features);
	free(offloads.names);
	return joins;
}

void port_follow_offloads(struct hs_port *port)
{
	static const char *const words[] = {
			[PORT_JOINS_NOTHING] = "takes each packet by itself",
			[PORT_JOINS_FOR_INTERFACE] = "takes several TCP packets as one frame",
			[PORT_JOINS_FOR_KERNEL] = "gets several TCP packets as one frame",
	};
	struct port_private *p = port_private(port);

	if (p->iface_driver != &port_packet_driver)
		return;
	struct iface_gso gso = iface_gso(&p->iface);
	enum port_joins joins = ask_joins(&p->iface, &gso);
	uint32_t bytes = joins == PORT_JOINS_NOTHING ? 0 : gso.bytes;

	if (atomic_load(&p->joins) == joins && atomic_load(&p->join_bytes) == bytes)
		return;
	// The sockets are switched before the first frame is joined.
	atomic_store(&p->joins, PORT_JOINS_NOTHING);
	port_packet_bypass(port, joins != PORT_JOINS_FOR_KERNEL);
	atomic_store(&p->join_bytes, bytes);
	atomic_store(&p->joins, joins);
	hs_log(HS_LOG_NOTICE, "port", "%s: interface %s %s", port->config.name, p->iface.name,
			words[joins]);
}
