// SPDX-License-Identifier: BSD-3-Clause
#include "port.h"

#include "log.h"
#include "port_private.h"
#include "port_watch.h"

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DESCRIPTORS  1024
#define XDP_HEADROOM 256
#define XDP_MTU_MAX  3500
#define RING_BYTES   (8u << 20) // each way; 4,096 frames of 2 KiB outlast a worker's absence
#define BLOCK_BYTES  (256u << 10)
#define PAGE_BYTES   4096u
// A frame's own head: tpacket2_hdr and address as the kernel aligns them, then room for a MAC
// header.
#define PACKET_RX_OFFSET 66u
#define PACKET_TX_OFFSET ((unsigned)(TPACKET2_HDRLEN - sizeof(struct sockaddr_ll)))

static bool is_packet(const struct hs_port *port)
{
	return port->config.kind == HS_PORT_IFACE &&
	       strcmp(port->driver_name, "net_af_packet") == 0;
}

// ---- sizes ----

// The size of an af_packet frame: what the driver asks of mbufs, and a size that fills whole
// blocks.
static unsigned packet_frame_bytes(uint16_t mtu)
{
	unsigned need = PACKET_RX_OFFSET + mtu + PORT_FRAME_OVERHEAD;
	unsigned step = need > 2048 ? 1024 : 512;

	return (need + step - 1) / step * step;
}

static unsigned packet_block_bytes(unsigned frame)
{
	unsigned unit = frame;

	while (unit % PAGE_BYTES) // the least common multiple
		unit += frame;
	return unit >= BLOCK_BYTES ? unit : BLOCK_BYTES / unit * unit;
}

static unsigned packet_frame_count(unsigned frame)
{
	unsigned block = packet_block_bytes(frame);

	return (RING_BYTES + block - 1) / block * (block / frame);
}

uint16_t hs_port_mbuf_bytes(const struct hs_port_config *config)
{
	unsigned mtu = config->mtu ? config->mtu : 1500;
	unsigned bytes = RTE_PKTMBUF_HEADROOM + mtu + PORT_FRAME_OVERHEAD;

	if (config->kind == HS_PORT_IFACE) {
		unsigned packet = RTE_PKTMBUF_HEADROOM + packet_frame_bytes((uint16_t)mtu) -
				  PACKET_TX_OFFSET;
		unsigned xdp = mtu <= XDP_MTU_MAX ? bytes + XDP_HEADROOM : 0;

		bytes = RTE_MAX(packet, xdp);
	}
	return (uint16_t)RTE_MIN(
			RTE_MAX(bytes, (unsigned)RTE_MBUF_DEFAULT_BUF_SIZE), (unsigned)UINT16_MAX);
}

// ---- bursts ----

static uint16_t device_rx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_eth_rx_burst(port->ethdev_id, queue, mbufs, n);
}

static uint16_t device_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_eth_tx_burst(port->ethdev_id, queue, mbufs, n);
}

// For a device with fewer transmit queues than there are workers.
static uint16_t shared_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct port_private *p = port_private(port);
	uint16_t device_queue = queue % p->device_tx_queues;

	rte_spinlock_lock(&p->tx_locks[device_queue]);
	uint16_t sent = rte_eth_tx_burst(port->ethdev_id, device_queue, mbufs, n);
	rte_spinlock_unlock(&p->tx_locks[device_queue]);
	return sent;
}

static uint16_t gone_rx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)port, (void)queue, (void)mbufs, (void)n;
	return 0;
}

static uint16_t gone_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)port, (void)queue, (void)mbufs, (void)n;
	return 0;
}

// The kernel skips what is longer than the interface takes and tells nobody. A tag does not count.
static bool frame_fits(const struct rte_mbuf *mbuf, uint32_t max_frame)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(mbuf, const struct rte_ether_hdr *);

	if (mbuf->pkt_len <= max_frame)
		return true;
	return mbuf->pkt_len <= max_frame + 4 && eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_VLAN);
}

// A kernel interface: packets it would not send are freed and counted as failed by the device.
static uint16_t iface_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct port_private *p = port_private(port);
	uint32_t max_frame = atomic_load_explicit(&p->max_frame, memory_order_relaxed);
	hs_port_tx_fn send = p->device_tx_queues < p->n_workers ? shared_tx : device_tx;
	uint16_t from = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (likely(frame_fits(mbufs[i], max_frame)))
			continue;
		uint16_t run = i - from;
		uint16_t sent = run ? send(port, queue, &mbufs[from], run) : 0;

		if (sent < run)
			return from + sent;
		rte_pktmbuf_free(mbufs[i]);
		uint64_t count = atomic_load_explicit(&p->tx[queue].oversize, memory_order_relaxed);
		atomic_store_explicit(&p->tx[queue].oversize, count + 1, memory_order_relaxed);
		from = i + 1;
	}
	return from == n ? n : from + send(port, queue, &mbufs[from], n - from);
}

static void choose_bursts(struct hs_port *port)
{
	struct port_private *p = port_private(port);

	port->rx_burst = p->attached ? device_rx : gone_rx;
	if (!p->attached)
		port->tx_burst = gone_tx;
	else if (port->config.kind == HS_PORT_IFACE)
		port->tx_burst = iface_tx;
	else
		port->tx_burst = p->device_tx_queues < p->n_workers ? shared_tx : device_tx;
}

// ---- DPDK devices ----

static const char *device_key(const struct hs_port_config *config)
{
	static const char *const keys[] = {
			[HS_PORT_IFACE] = "iface",
			[HS_PORT_DEVARGS] = "devargs",
			[HS_PORT_PCI] = "pci",
			[HS_PORT_CUSTOM] = "",
	};

	return keys[config->kind];
}

static int find_ethdev(const char *devargs, bool pci, uint16_t *id)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_dev_iterator iterator;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(devargs, ","), devargs);
	if (!pci)
		return rte_eth_dev_get_port_by_name(name, id) == 0 ? 0 : -ENODEV;

	*id = RTE_MAX_ETHPORTS;
	RTE_ETH_FOREACH_MATCHING_DEV(*id, name, &iterator)
	{
		rte_eth_iterator_cleanup(&iterator);
		return 0;
	}
	return -ENODEV;
}

static void remove_device(uint16_t id)
{
	struct rte_eth_dev_info info;
	struct rte_device *device = NULL;

	if (rte_eth_dev_info_get(id, &info) == 0)
		device = info.device;
	rte_eth_dev_stop(id);
	rte_eth_dev_close(id);
	if (device)
		rte_dev_remove(device);
}

// How many transmit queues to set up. Most virtual devices pair their queues with a peer's receive
// queues, so more of them than receive queues would send where nobody looks.
static uint16_t tx_queues_of(const struct hs_port *port, const struct rte_eth_dev_info *info)
{
	uint16_t wanted = port->rx_queues;

	if (port->config.kind == HS_PORT_PCI || strcmp(info->driver_name, "net_null") == 0)
		wanted = port_private(port)->n_workers;
	return RTE_MAX(RTE_MIN(wanted, info->max_tx_queues), 1);
}

static int setup_queues(struct hs_port *port)
{
	struct port_private *p = port_private(port);
	int socket = rte_eth_dev_socket_id(port->ethdev_id);
	uint16_t rx_descriptors = DESCRIPTORS, tx_descriptors = DESCRIPTORS;
	int ret;

	rte_eth_dev_adjust_nb_rx_tx_desc(port->ethdev_id, &rx_descriptors, &tx_descriptors);
	for (uint16_t q = 0; q < port->rx_queues; q++) {
		ret = rte_eth_rx_queue_setup(port->ethdev_id, q, rx_descriptors, (unsigned)socket,
				NULL, p->pool);
		if (ret < 0)
			return ret;
	}
	for (uint16_t q = 0; q < p->device_tx_queues; q++) {
		ret = rte_eth_tx_queue_setup(
				port->ethdev_id, q, tx_descriptors, (unsigned)socket, NULL);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static void configuration(const struct hs_port *port, const struct rte_eth_dev_info *info,
		struct rte_eth_conf *conf)
{
	*conf = (struct rte_eth_conf){0};
	conf->txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	conf->rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	if (port->rx_queues > 1 && info->flow_type_rss_offloads) {
		conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf->rx_adv_conf.rss_conf.rss_hf =
				info->flow_type_rss_offloads &
				(RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
	}
}

static int too_many_queues(const struct hs_port *port, uint16_t max, struct hs_error *err)
{
	char expected[48];

	snprintf(expected, sizeof(expected), "1 to %u for this device", max);
	return hs_error_set(err, "out_of_range", "rx_queues", expected,
			"%u receive queues are more than the device has", port->rx_queues);
}

static int start_device(struct hs_port *port, struct hs_error *err)
{
	struct port_private *p = port_private(port);
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	int ret = rte_eth_dev_info_get(port->ethdev_id, &info);

	if (ret < 0)
		goto fail;
	if (port->rx_queues > info.max_rx_queues)
		return too_many_queues(port, info.max_rx_queues, err);
	snprintf(port->driver_name, sizeof(port->driver_name), "%s", info.driver_name);
	p->device_tx_queues = tx_queues_of(port, &info);
	configuration(port, &info, &conf);
	port->tx_multi_seg = conf.txmode.offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;

	ret = rte_eth_dev_configure(port->ethdev_id, port->rx_queues, p->device_tx_queues, &conf);
	if (ret < 0)
		goto fail;
	// An interface's MTU is its owner's; of other devices it is ours, and a refusal is no
	// error: the node keeps to its own limit.
	if (port->config.kind != HS_PORT_IFACE)
		rte_eth_dev_set_mtu(port->ethdev_id, port->mtu);
	ret = setup_queues(port);
	if (ret < 0)
		goto fail;
	ret = rte_eth_dev_start(port->ethdev_id);
	if (ret < 0)
		goto fail;
	if (port->config.kind != HS_PORT_IFACE)
		rte_eth_promiscuous_enable(port->ethdev_id);
	return 0;
fail:
	hs_error_set(err, "device", device_key(&port->config), "",
			"the device cannot be set up: %s", rte_strerror(-ret));
	return ret;
}

static int attach(struct hs_port *port, const char *devargs, struct hs_error *err)
{
	struct port_private *p = port_private(port);
	bool pci = port->config.kind == HS_PORT_PCI;
	const char *key = device_key(&port->config);
	int ret;

	if (find_ethdev(devargs, pci, &port->ethdev_id) == 0) {
		hs_error_set(err, "in_use", key, "a device that no other port has",
				"\"%s\" is a port already", port->config.device);
		return -EEXIST;
	}
	ret = rte_dev_probe(devargs);
	if (ret == 0)
		ret = find_ethdev(devargs, pci, &port->ethdev_id);
	if (ret < 0) {
		hs_error_set(err, "device", key, "", "\"%s\" cannot be opened: %s", devargs,
				rte_strerror(-ret));
		return -ENODEV;
	}
	ret = start_device(port, err);
	if (ret < 0) {
		remove_device(port->ethdev_id);
		return ret;
	}
	p->attached = true;
	return 0;
}

// ---- interfaces ----

struct iface_driver {
	const char *name; // as configured
	int family;	  // of its sockets
	// Says why it cannot serve this port, or NULL.
	const char *(*objection)(const struct hs_port *port);
	void (*devargs)(const struct hs_port *port, char *out, size_t size);
};

static const char *xdp_objection(const struct hs_port *port)
{
	const struct port_private *p = port_private(port);
	uint32_t object = rte_mempool_calc_obj_size(p->pool->elt_size, p->pool->flags, NULL);

	if (port->config.mtu > XDP_MTU_MAX)
		return "its MTU is above 3,500";
	if (object > PAGE_BYTES)
		return "the node's buffers are larger than a page";
	if (iface_rx_channels(&p->iface) != port->rx_queues)
		return "the interface has another number of receive queues";
	return NULL;
}

static const char *packet_objection(const struct hs_port *port)
{
	const struct port_private *p = port_private(port);
	unsigned room = rte_pktmbuf_data_room_size(p->pool);

	if (room < RTE_PKTMBUF_HEADROOM + packet_frame_bytes(port->config.mtu) - PACKET_TX_OFFSET)
		return "the node's buffers are too small for its MTU";
	return NULL;
}

// Device names stay unique when a device comes back while the old one's name lingers.
static unsigned next_device(void)
{
	static atomic_uint devices;

	return atomic_fetch_add(&devices, 1);
}

static void xdp_devargs(const struct hs_port *port, char *out, size_t size)
{
	snprintf(out, size, "net_af_xdp_hs%u,iface=%s,queue_count=%u", next_device(),
			port->config.device, port->rx_queues);
}

static void packet_devargs(const struct hs_port *port, char *out, size_t size)
{
	unsigned frame = packet_frame_bytes(port->config.mtu);

	snprintf(out, size,
			"net_af_packet_hs%u,iface=%s,qpairs=%u,blocksz=%u,framesz=%u,framecnt=%u",
			next_device(), port->config.device, port->rx_queues,
			packet_block_bytes(frame), frame, packet_frame_count(frame));
}

static const struct iface_driver iface_drivers[] = {
		{"af_packet", AF_PACKET, packet_objection, packet_devargs},
		{"af_xdp", AF_XDP, xdp_objection, xdp_devargs},
};

static int attach_with(
		struct hs_port *port, const struct iface_driver *driver, struct hs_error *err)
{
	struct port_private *p = port_private(port);
	const char *objection = driver->objection(port);
	struct fd_set_snapshot *before;
	int fds[PORT_MAX_QUEUES], ret;
	char devargs[256];
	unsigned found;

	if (objection) {
		hs_error_set(err, "unsupported", "iface", "", "%s cannot serve interface %s: %s",
				driver->name, port->config.device, objection);
		return -EINVAL;
	}
	driver->devargs(port, devargs, sizeof(devargs));
	before = fd_snapshot_take();
	ret = attach(port, devargs, err);
	found = fd_snapshot_new_sockets(
			before, driver->family, p->iface.index, fds, PORT_MAX_QUEUES);
	if (ret < 0)
		return ret;
	port->needs_timed_poll = found != port->rx_queues;
	if (port->needs_timed_poll)
		hs_log(HS_LOG_WARNING, "port",
				"%s: %u sockets found for %u queues: sleeps are short",
				port->config.name, found, port->rx_queues);
	// A driver opens its sockets in the order of its queues.
	for (unsigned i = 0; i < found && found == port->rx_queues; i++)
		p->wake_fds[i] = fds[i];
	return 0;
}

static int pick_driver(struct hs_port *port, struct hs_error *err)
{
	const char *forced = port->config.driver;
	int ret = -EINVAL;

	for (size_t i = 0; i < RTE_DIM(iface_drivers); i++) {
		if (forced[0] && strcmp(forced, iface_drivers[i].name) != 0)
			continue;
		ret = attach_with(port, &iface_drivers[i], err);
		if (ret == 0)
			return 0;
		hs_log(HS_LOG_NOTICE, "port", "%s: not %s: %s", port->config.name,
				iface_drivers[i].name, err->message);
	}
	return ret;
}

void port_follow_mtu(struct hs_port *port, uint32_t mtu)
{
	struct port_private *p = port_private(port);
	uint16_t limit = (uint16_t)RTE_MIN(mtu, (uint32_t)port->config.mtu);

	if (mtu == 0 || mtu > UINT16_MAX)
		return;
	p->iface.mtu = (uint16_t)mtu;
	atomic_store_explicit(&p->max_frame, mtu + RTE_ETHER_HDR_LEN, memory_order_relaxed);
	if (limit == port->mtu)
		return;
	// Read by workers as they go: either value is right for the packets of that moment.
	__atomic_store_n(&port->mtu, limit, __ATOMIC_RELAXED);
	hs_log(limit < port->config.mtu ? HS_LOG_WARNING : HS_LOG_NOTICE, "port",
			"%s: interface %s has an MTU of %u: the port's limit is %u, of %u "
			"configured",
			port->config.name, p->iface.name, mtu, limit, port->config.mtu);
}

static int attach_iface(struct hs_port *port, struct hs_error *err)
{
	struct port_private *p = port_private(port);
	struct iface *iface = &p->iface;
	struct hs_error scratch = {0};
	int ret;

	snprintf(iface->name, sizeof(iface->name), "%.15s", port->config.device);
	if (iface_find(iface) < 0) {
		hs_error_set(err, "no_such_interface", "iface",
				"an interface of this network namespace",
				"there is no interface \"%s\"", port->config.device);
		return -ENODEV;
	}
	iface_prepare(iface);
	port->mtu = port->config.mtu;
	port_follow_mtu(port, iface->mtu);
	ret = pick_driver(port, err ? err : &scratch);
	if (ret < 0) {
		iface_restore(iface);
		return ret;
	}
	if (is_packet(port))
		packet_sockets_setup(
				port, packet_frame_bytes(port->config.mtu) - PACKET_RX_OFFSET - 4);
	p->kernel_dropped_last = iface_tx_dropped(iface);
	iface_find(iface); // it may be up only now
	p->link_up = iface->up;
	hs_log(HS_LOG_INFO, "port", "%s: interface %s on %s, %u queue%s, mtu %u", port->config.name,
			iface->name, port->driver_name + strlen("net_"), port->rx_queues,
			port->rx_queues == 1 ? "" : "s", port->mtu);
	return 0;
}

static int attach_any(struct hs_port *port, struct hs_error *err)
{
	int ret;

	if (port->config.kind == HS_PORT_IFACE)
		return attach_iface(port, err);
	port->mtu = port->config.mtu;
	port->needs_timed_poll = true;
	ret = attach(port, port->config.device, err);
	if (ret == 0)
		hs_log(HS_LOG_INFO, "port", "%s: %s on %s, %u queue%s, mtu %u", port->config.name,
				port->config.device, port->driver_name, port->rx_queues,
				port->rx_queues == 1 ? "" : "s", port->mtu);
	return ret;
}

// ---- opening and closing ----

static int check_config(
		const struct hs_port_config *config, uint16_t n_workers, struct hs_error *err)
{
	char expected[64];

	if (config->kind != HS_PORT_CUSTOM && config->device[0] == '\0')
		return hs_error_set(err, "missing", device_key(config), "", "no device is named");
	if (config->kind == HS_PORT_IFACE &&
			strlen(config->device) >= sizeof(((struct iface *)0)->name))
		return hs_error_set(err, "out_of_range", "iface", "at most 15 characters",
				"no interface has a name as long as \"%s\"", config->device);
	snprintf(expected, sizeof(expected), "%d to %d", HS_PORT_MTU_MIN, HS_PORT_MTU_MAX);
	if (config->mtu && (config->mtu < HS_PORT_MTU_MIN || config->mtu > HS_PORT_MTU_MAX))
		return hs_error_set(err, "out_of_range", "mtu", expected,
				"an MTU of %u cannot be served", config->mtu);
	if (config->rx_queues > PORT_MAX_QUEUES)
		return hs_error_set(err, "out_of_range", "rx_queues", "1 to 16",
				"%u receive queues are too many", config->rx_queues);
	if (config->driver[0] && strcmp(config->driver, "af_xdp") &&
			strcmp(config->driver, "af_packet"))
		return hs_error_set(err, "out_of_range", "driver", "af_xdp or af_packet",
				"there is no driver \"%s\"", config->driver);
	if (n_workers < 1 || n_workers > HS_MAX_WORKERS)
		return hs_error_set(err, "out_of_range", "", "1 to 16", "%u workers", n_workers);
	return 0;
}

static struct port_private *create_private(uint16_t n_workers, struct rte_mempool *pool)
{
	struct port_private *p = aligned_alloc(alignof(struct port_private), sizeof(*p));

	if (!p)
		return NULL;
	memset(p, 0, sizeof(*p));
	p->pool = pool;
	p->n_workers = n_workers;
	p->max_frame = UINT32_MAX;
	p->oversize_fd = -1;
	p->iface.promiscuous_fd = -1;
	for (unsigned i = 0; i < PORT_MAX_QUEUES; i++) {
		p->wake_fds[i] = -1;
		rte_spinlock_init(&p->tx_locks[i]);
	}
	pthread_mutex_init(&p->stats_lock, NULL);
	return p;
}

static struct hs_port *create_port(const struct hs_port_config *config, uint16_t index,
		uint16_t n_workers, struct rte_mempool *pool)
{
	struct hs_port *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	port->private_data = create_private(n_workers, pool);
	if (!port->private_data) {
		free(port);
		return NULL;
	}
	port->config = *config;
	if (!port->config.mtu)
		port->config.mtu = 1500;
	if (!port->config.rx_queues)
		port->config.rx_queues = 1;
	port->index = index;
	port->mtu = port->config.mtu;
	port->rx_queues = port->config.rx_queues;
	port->tx_queues = n_workers;
	port->side = (uint8_t)config->side;
	return port;
}

static void free_port(struct hs_port *port)
{
	pthread_mutex_destroy(&port_private(port)->stats_lock);
	free(port->private_data);
	free(port);
}

int hs_port_open(const struct hs_port_config *config, uint16_t index, uint16_t n_workers,
		struct rte_mempool *pool, struct hs_port **port, struct hs_error *err)
{
	int ret = check_config(config, n_workers, err);
	struct hs_port *made;

	if (ret < 0)
		return ret;
	made = create_port(config, index, n_workers, pool);
	if (!made)
		return -ENOMEM;
	ret = attach_any(made, err);
	if (ret < 0) {
		free_port(made);
		return ret;
	}
	choose_bursts(made);
	made->usable = true;
	*port = made;
	return 0;
}

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
	made->config.kind = HS_PORT_CUSTOM;
	made->rx_burst = rx_burst;
	made->tx_burst = tx_burst;
	made->driver_data = driver_data;
	made->ethdev_id = RTE_MAX_ETHPORTS;
	made->tx_multi_seg = true;
	made->needs_timed_poll = true;
	made->usable = true;
	snprintf(made->driver_name, sizeof(made->driver_name), "custom");
	*port = made;
	return 0;
}

// ---- counters ----

// What a device counts may start anew (memif when its peer leaves); ours only grows.
static uint64_t growth(uint64_t now, uint64_t *last)
{
	uint64_t by = now >= *last ? now - *last : now;

	*last = now;
	return by;
}

static void take_device_stats(struct hs_port *port)
{
	struct port_private *p = port_private(port);
	struct hs_port_device_stats *last = &p->device_last, *total = &p->total;
	struct rte_eth_stats now;

	if (!p->attached || rte_eth_stats_get(port->ethdev_id, &now) != 0)
		return;
	total->rx_packets += growth(now.ipackets, &last->rx_packets);
	total->tx_packets += growth(now.opackets, &last->tx_packets);
	total->rx_missed += growth(now.imissed, &last->rx_missed);
	total->rx_errors += growth(now.ierrors, &last->rx_errors);
	total->tx_errors += growth(now.oerrors, &last->tx_errors);
	total->rx_nombuf += growth(now.rx_nombuf, &last->rx_nombuf);
	if (port->config.kind == HS_PORT_IFACE)
		total->tx_errors += growth(iface_tx_dropped(&p->iface), &p->kernel_dropped_last);
	if (is_packet(port)) {
		total->rx_missed += packet_sockets_drops(port);
		total->rx_errors += packet_oversize_count(port);
	}
}

void hs_port_device_stats(struct hs_port *port, struct hs_port_device_stats *stats)
{
	struct port_private *p = port_private(port);

	pthread_mutex_lock(&p->stats_lock);
	take_device_stats(port);
	*stats = p->total;
	pthread_mutex_unlock(&p->stats_lock);
	for (unsigned i = 0; i < p->n_workers; i++)
		stats->tx_errors += atomic_load_explicit(&p->tx[i].oversize, memory_order_relaxed);
}

bool hs_port_link_up(const struct hs_port *port)
{
	const struct port_private *p = port_private(port);
	struct rte_eth_link link = {0};

	if (port->config.kind == HS_PORT_CUSTOM)
		return true;
	if (port->config.kind == HS_PORT_IFACE)
		return p->attached && p->link_up;
	return p->attached && rte_eth_link_get_nowait(port->ethdev_id, &link) == 0 &&
	       link.link_status == RTE_ETH_LINK_UP;
}

// ---- going and coming back ----

static void forget_device_stats(struct port_private *p)
{
	p->device_last = (struct hs_port_device_stats){0};
	p->kernel_dropped_last = 0;
}

int hs_port_detach(struct hs_port *port)
{
	struct port_private *p = port_private(port);

	if (!p->attached)
		return 0;
	pthread_mutex_lock(&p->stats_lock);
	take_device_stats(port);
	forget_device_stats(p);
	p->attached = false;
	pthread_mutex_unlock(&p->stats_lock);
	choose_bursts(port);

	remove_device(port->ethdev_id);
	port->ethdev_id = RTE_MAX_ETHPORTS;
	if (p->oversize_fd >= 0)
		close(p->oversize_fd);
	p->oversize_fd = -1;
	for (unsigned i = 0; i < PORT_MAX_QUEUES; i++)
		p->wake_fds[i] = -1;
	if (port->config.kind == HS_PORT_IFACE) {
		iface_restore(&p->iface);
		p->iface.index = 0;
		p->link_up = false;
	}
	return 0;
}

int hs_port_reopen(struct hs_port *port, struct hs_error *err)
{
	int ret;

	if (port_private(port)->attached || port->config.kind == HS_PORT_CUSTOM)
		return 0;
	ret = attach_any(port, err);
	if (ret < 0)
		return ret;
	choose_bursts(port);
	return 0;
}

void hs_port_close(struct hs_port *port)
{
	if (!port)
		return;
	hs_port_detach(port);
	free_port(port);
}
