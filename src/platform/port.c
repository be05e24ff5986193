// SPDX-License-Identifier: BSD-3-Clause
#include "port.h"

#include "log.h"
#include "port_private.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *port_device_key(const struct hs_port *port)
{
	static const char *const keys[] = {
			[HS_PORT_IFACE] = "iface",
			[HS_PORT_DEVARGS] = "devargs",
			[HS_PORT_PCI] = "pci",
			[HS_PORT_CUSTOM] = "",
	};

	return keys[port->config.kind];
}

uint16_t hs_port_mbuf_bytes(const struct hs_port_config *config)
{
	uint16_t mtu = config->mtu ? config->mtu : HS_PORT_MTU_DEFAULT;
	uint16_t bytes = RTE_PKTMBUF_HEADROOM + mtu + PORT_FRAME_OVERHEAD;

	if (config->kind == HS_PORT_IFACE)
		bytes = strcmp(config->driver, "af_xdp") == 0 ? port_xdp_mbuf_bytes(mtu)
							      : port_packet_mbuf_bytes(mtu);
	return RTE_MAX(bytes, (uint16_t)RTE_MBUF_DEFAULT_BUF_SIZE);
}

// ---- checks ----

static int check_device(const struct hs_port *port, struct hs_error *err)
{
	const struct hs_port_config *config = &port->config;

	if (config->device[0] == '\0')
		return hs_error_set(
				err, "missing", port_device_key(port), "", "no device is named");
	if (config->kind == HS_PORT_IFACE &&
			strlen(config->device) >= sizeof(port_private(port)->iface.name))
		return hs_error_set(err, "out_of_range", "iface", "at most 15 characters",
				"no interface has a name as long as \"%s\"", config->device);
	if (config->driver[0] && strcmp(config->driver, "af_xdp") != 0 &&
			strcmp(config->driver, "af_packet") != 0)
		return hs_error_set(err, "out_of_range", "driver", "af_xdp or af_packet",
				"there is no driver \"%s\"", config->driver);
	return 0;
}

static int check_numbers(const struct hs_port *port, struct hs_error *err)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "%d to %d", HS_PORT_MTU_MIN, HS_PORT_MTU_MAX);
	if (port->config.mtu < HS_PORT_MTU_MIN || port->config.mtu > HS_PORT_MTU_MAX)
		return hs_error_set(err, "out_of_range", "mtu", expected,
				"an MTU of %u cannot be served", port->config.mtu);
	if (port->config.rx_queues > PORT_MAX_QUEUES)
		return hs_error_set(err, "out_of_range", "rx_queues", "1 to 16",
				"%u receive queues are too many", port->config.rx_queues);
	return 0;
}

// ---- making ----

// Receives and sends nothing, for a port without a device. Workers may still poll the port.
static uint16_t gone_burst(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)port, (void)queue, (void)mbufs, (void)n;
	return 0;
}

void port_silence(struct hs_port *port)
{
	port->rx_burst = gone_burst;
	port->tx_burst = gone_burst;
	port->tx_keep = NULL;
}

static struct port_private *create_private(uint16_t n_workers, struct rte_mempool *pool)
{
	struct port_private *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pool = pool;
	p->n_workers = n_workers;
	p->iface.promiscuous_fd = -1;
	p->iface.claim_fd = -1;
	for (unsigned i = 0; i < PORT_MAX_QUEUES; i++)
		p->wake_fds[i] = -1;
	pthread_mutex_init(&p->stats_lock, NULL);
	return p;
}

static void destroy_port(struct hs_port *port)
{
	if (port->private_data)
		pthread_mutex_destroy(&port_private(port)->stats_lock);
	free(port->private_data);
	free(port);
}

static struct hs_port *create_port(const struct hs_port_config *config, uint16_t index,
		uint16_t n_workers, struct rte_mempool *pool)
{
	// Workers read this for each burst, so no line of it may contain other data that is
	// written.
	size_t bytes = RTE_ALIGN_CEIL(sizeof(struct hs_port), PORT_APART);
	struct hs_port *port = aligned_alloc(PORT_APART, bytes);

	if (!port)
		return NULL;
	memset(port, 0, bytes);
	port->private_data = create_private(n_workers, pool);
	if (!port->private_data) {
		destroy_port(port);
		return NULL;
	}
	port->config = *config;
	port->config.mtu = config->mtu ? config->mtu : HS_PORT_MTU_DEFAULT;
	port->config.rx_queues = config->rx_queues ? config->rx_queues : 1;
	port->ethdev_id = RTE_MAX_ETHPORTS;
	port->index = index;
	port->mtu = port->config.mtu;
	port->rx_queues = port->config.rx_queues;
	port->tx_queues = n_workers;
	port->side = (uint8_t)config->side;
	port->needs_timed_poll = true;
	port_silence(port);
	return port;
}

static int attach(struct hs_port *port, struct hs_error *err)
{
	struct port_private *p = port_private(port);
	int ret = p->driver->attach(port, err);

	if (ret < 0)
		return ret;
	p->attached = true;
	hs_port_look(port);
	return 0;
}

int hs_port_open(const struct hs_port_config *config, uint16_t index, uint16_t n_workers,
		struct rte_mempool *pool, struct hs_port **port, struct hs_error *err)
{
	struct hs_port *made;
	int ret;

	if (n_workers < 1 || n_workers > HS_MAX_WORKERS)
		return hs_error_set(err, "out_of_range", "", "1 to 16", "%u workers", n_workers);
	made = create_port(config, index, n_workers, pool);
	if (!made)
		return -ENOMEM;
	port_private(made)->driver =
			config->kind == HS_PORT_IFACE ? &port_iface_driver : &port_ethdev_driver;
	ret = check_device(made, err);
	if (ret == 0)
		ret = check_numbers(made, err);
	if (ret == 0)
		ret = attach(made, err);
	if (ret < 0) {
		destroy_port(made);
		return ret;
	}
	made->usable = true;
	*port = made;
	return 0;
}

// ---- custom ports ----

static int custom_attach(struct hs_port *port, struct hs_error *err)
{
	(void)port, (void)err;
	return 0;
}

static void custom_detach(struct hs_port *port)
{
	(void)port;
}

static void custom_stats(struct hs_port *port, struct hs_port_device_stats *stats)
{
	(void)port, (void)stats;
}

static bool custom_link_up(const struct hs_port *port)
{
	(void)port;
	return true;
}

static const struct port_driver custom_driver = {
		.attach = custom_attach,
		.detach = custom_detach,
		.stats = custom_stats,
		.link_up = custom_link_up,
};

int hs_port_open_custom(hs_port_rx_fn rx_burst, hs_port_tx_fn tx_burst, void *driver_data,
		const struct hs_port_config *config, uint16_t index, uint16_t n_workers,
		struct hs_port **port)
{
	struct hs_port *made;

	if (n_workers < 1 || n_workers > HS_MAX_WORKERS)
		return -EINVAL;
	made = create_port(config, index, n_workers, NULL);
	if (!made)
		return -ENOMEM;
	port_private(made)->driver = &custom_driver;
	port_private(made)->attached = true;
	made->config.kind = HS_PORT_CUSTOM;
	made->rx_burst = rx_burst;
	made->tx_burst = tx_burst;
	made->driver_data = driver_data;
	made->tx_multi_seg = true;
	made->usable = true;
	snprintf(made->driver_name, sizeof(made->driver_name), "custom");
	*port = made;
	return 0;
}

// ---- limits and counters ----

void port_follow_mtu(struct hs_port *port, uint32_t mtu)
{
	struct port_private *p = port_private(port);
	uint16_t limit = (uint16_t)RTE_MIN(mtu, (uint32_t)port->config.mtu);

	if (mtu == 0)
		return;
	atomic_store_explicit(&p->max_frame, mtu + RTE_ETHER_HDR_LEN, memory_order_relaxed);
	if (limit == port->mtu)
		return;
	// Workers read the MTU at any time. Either value is right for the packets of that moment.
	__atomic_store_n(&port->mtu, limit, __ATOMIC_RELAXED);
	hs_log(limit < port->config.mtu ? HS_LOG_WARNING : HS_LOG_NOTICE, "port",
			"%s: interface %s has an MTU of %u: the port's limit is %u, of %u "
			"configured",
			port->config.name, p->iface.name, mtu, limit, port->config.mtu);
}

// Adds the growth of a device's counter. The device's counters may restart (memif's do when its
// peer leaves). Ours only grow.
static void add_growth(uint64_t now, uint64_t *last, uint64_t *total)
{
	*total += now >= *last ? now - *last : now;
	*last = now;
}

static void take_stats(struct hs_port *port)
{
	struct port_private *p = port_private(port);
	struct hs_port_device_stats now = {0}, *last = &p->last, *total = &p->total;

	if (!p->attached)
		return;
	p->driver->stats(port, &now);
	add_growth(now.rx_packets, &last->rx_packets, &total->rx_packets);
	add_growth(now.tx_packets, &last->tx_packets, &total->tx_packets);
	add_growth(now.rx_missed, &last->rx_missed, &total->rx_missed);
	add_growth(now.rx_errors, &last->rx_errors, &total->rx_errors);
	add_growth(now.tx_errors, &last->tx_errors, &total->tx_errors);
	add_growth(now.rx_nombuf, &last->rx_nombuf, &total->rx_nombuf);
}

void hs_port_device_stats(struct hs_port *port, struct hs_port_device_stats *stats)
{
	struct port_private *p = port_private(port);

	pthread_mutex_lock(&p->stats_lock);
	take_stats(port);
	*stats = p->total;
	pthread_mutex_unlock(&p->stats_lock);
}

bool hs_port_link_up(const struct hs_port *port)
{
	const struct port_private *p = port_private(port);

	return p->attached && p->driver->link_up(port);
}

static void tell_link(struct hs_port *port, bool up)
{
	__atomic_store_n(&port->link_down, !up, __ATOMIC_RELAXED);
}

void port_set_link(struct hs_port *port, bool up)
{
	atomic_store(&port_private(port)->link_up, up);
	tell_link(port, up);
}

bool hs_port_look(struct hs_port *port)
{
	const struct port_private *p = port_private(port);
	bool up = hs_port_link_up(port);

	if (up && p->driver->look)
		p->driver->look(port);
	tell_link(port, up);
	return up;
}

// ---- going and coming back ----

bool hs_port_waits_for_peer(const struct hs_port *port)
{
	const struct port_private *p = port_private(port);

	return p->attached && p->driver->waits_for_peer && p->driver->waits_for_peer(port);
}

int hs_port_call_peer(struct hs_port *port)
{
	int ret = port_private(port)->driver->call_peer(port);

	hs_port_look(port);
	return ret;
}

// Sends the packets that the port keeps. Those that cannot leave now count as refused.
static void send_kept(struct hs_port *port)
{
	for (uint16_t q = 0; port->tx_keep && q < port->tx_queues; q++)
		port->tx_burst(port, q, NULL, 0);
}

int hs_port_detach(struct hs_port *port)
{
	struct port_private *p = port_private(port);

	if (!p->attached)
		return 0;
	send_kept(port);
	pthread_mutex_lock(&p->stats_lock);
	take_stats(port);
	p->last = (struct hs_port_device_stats){0};
	p->attached = false;
	pthread_mutex_unlock(&p->stats_lock);

	port_silence(port);
	p->driver->detach(port);
	for (unsigned i = 0; i < PORT_MAX_QUEUES; i++)
		p->wake_fds[i] = -1;
	p->rung = false;
	port->ethdev_id = RTE_MAX_ETHPORTS;
	return 0;
}

int hs_port_reopen(struct hs_port *port, struct hs_error *err)
{
	if (port_private(port)->attached)
		return 0;
	return attach(port, err);
}

void hs_port_close(struct hs_port *port)
{
	if (!port)
		return;
	hs_port_detach(port);
	destroy_port(port);
}
