// SPDX-License-Identifier: BSD-3-Clause
// Ports on DPDK devices: any virtual device by devargs, a NIC by PCI address, and af_xdp.
#include "port_private.h"

#include "eal_log.h"
#include "interrupts.h"
#include "log.h"
#include "memif_bell.h"

#include <rte_alarm.h>
#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_spinlock.h>

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTORS  1024
#define XDP_HEADROOM 256 // the kernel reserves this before each frame
#define PAGE_BYTES   4096

struct ethdev {
	uint16_t tx_queues;
	bool calls;   // a memif client: it must call the server, and again after losing it
	sem_t called; // the interrupt thread has done its work
	unsigned patience;
	bool started;		 // false: polling it would log an error in DPDK each time
	struct memif_bell *bell; // between the other end's workers and ours; NULL: none
	hs_port_tx_fn send;	 // called before a bell is rung
	struct queue_lock {
		alignas(PORT_APART) rte_spinlock_t lock;
	} locks[PORT_MAX_QUEUES];
};

// ---- bursts ----

static uint16_t device_rx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_eth_rx_burst(port->ethdev_id, queue, mbufs, n);
}

static uint16_t device_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_eth_tx_burst(port->ethdev_id, queue, mbufs, n);
}

// Sends on a device with fewer transmit queues than workers.
static uint16_t shared_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct ethdev *device = port_private(port)->device;
	uint16_t device_queue = queue % device->tx_queues;

	rte_spinlock_lock(&device->locks[device_queue].lock);
	uint16_t sent = rte_eth_tx_burst(port->ethdev_id, device_queue, mbufs, n);
	rte_spinlock_unlock(&device->locks[device_queue].lock);
	return sent;
}

static uint16_t ringing_tx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	const struct ethdev *device = port_private(port)->device;
	uint16_t sent = device->send(port, queue, mbufs, n);

	if (sent > 0)
		memif_bell_ring(device->bell, queue);
	return sent;
}

// ---- opening ----

static int find_ethdev(const struct hs_port *port, const char *devargs, uint16_t *id)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_dev_iterator iterator;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(devargs, ","), devargs);
	if (port->config.kind != HS_PORT_PCI)
		return rte_eth_dev_get_port_by_name(name, id) == 0 ? 0 : -ENODEV;
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

// Returns the number of transmit queues to set up. Most virtual devices pair them with a peer's
// receive queues. More transmit queues than receive queues would send where nobody receives.
static uint16_t tx_queues_of(const struct hs_port *port, const struct rte_eth_dev_info *info)
{
	uint16_t wanted = port->rx_queues;

	if (port->config.kind == HS_PORT_PCI || strcmp(info->driver_name, "net_null") == 0)
		wanted = port_private(port)->n_workers;
	return RTE_MAX(RTE_MIN(wanted, info->max_tx_queues), 1);
}

static int setup_queues(struct hs_port *port, uint16_t tx_queues)
{
	unsigned socket = (unsigned)rte_eth_dev_socket_id(port->ethdev_id);
	uint16_t wanted = port->config.rx_descriptors;
	uint16_t rx_descriptors = wanted ? wanted : DESCRIPTORS, tx_descriptors = DESCRIPTORS;
	struct rte_mempool *pool = port_private(port)->pool;
	int ret;

	rte_eth_dev_adjust_nb_rx_tx_desc(port->ethdev_id, &rx_descriptors, &tx_descriptors);
	port->rx_room = rx_descriptors;
	for (uint16_t q = 0; q < port->rx_queues; q++) {
		ret = rte_eth_rx_queue_setup(
				port->ethdev_id, q, rx_descriptors, socket, NULL, pool);
		if (ret < 0)
			return ret;
	}
	for (uint16_t q = 0; q < tx_queues; q++) {
		ret = rte_eth_tx_queue_setup(port->ethdev_id, q, tx_descriptors, socket, NULL);
		if (ret < 0)
			return ret;
	}
	return 0;
}

#define RSS_ADDRESSES (RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER)
#define RSS_PORTS     (RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP)

// Warns if the device cannot tell IPv6 flows apart: workers then share the work badly.
static void say_how_flows_spread(const struct hs_port *port, const struct rte_eth_dev_info *info)
{
	uint64_t can = info->flow_type_rss_offloads;

	if (port->rx_queues == 1 || (can & RSS_PORTS) == RSS_PORTS)
		return;
	if (can & (RSS_ADDRESSES | RSS_PORTS))
		hs_log(HS_LOG_WARNING, "port",
				"%s: %s spreads IPv6 over its %u queues without the ports of TCP "
				"and UDP: flows between the same two hosts share a worker",
				port->config.name, info->driver_name, port->rx_queues);
	else
		hs_log(HS_LOG_WARNING, "port",
				"%s: %s does not spread IPv6 flows over its %u queues: what comes "
				"into which is its own or the other end's choice",
				port->config.name, info->driver_name, port->rx_queues);
}

static struct rte_eth_conf configuration(
		const struct hs_port *port, const struct rte_eth_dev_info *info)
{
	struct rte_eth_conf conf = {0};

	conf.txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	conf.rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	if (port->rx_queues > 1 && info->flow_type_rss_offloads) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
				info->flow_type_rss_offloads &
				(RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
	}
	return conf;
}

static int too_many_queues(const struct hs_port *port, uint16_t max, struct hs_error *err)
{
	char expected[48];

	snprintf(expected, sizeof(expected), "1 to %u for this device", max);
	return hs_error_set(err, "out_of_range", "rx_queues", expected,
			"%u receive queues are more than the device has", port->rx_queues);
}

// Starts the device: *started is what rte_eth_dev_start returned. Returns an earlier step's error.
static int set_up(struct hs_port *port, const struct rte_eth_conf *conf, int *started)
{
	uint16_t tx_queues = ((struct ethdev *)port_private(port)->device)->tx_queues;
	int ret = rte_eth_dev_configure(port->ethdev_id, port->rx_queues, tx_queues, conf);

	if (ret < 0)
		return ret;
	// An interface's owner decides its MTU. We decide the MTU of other devices, and a refusal
	// is no error, because the node keeps to its own limit.
	if (port->config.kind != HS_PORT_IFACE)
		rte_eth_dev_set_mtu(port->ethdev_id, port->mtu);
	ret = setup_queues(port, tx_queues);
	if (ret == 0)
		*started = rte_eth_dev_start(port->ethdev_id);
	return ret;
}

static int start_device(struct hs_port *port, struct hs_error *err)
{
	struct ethdev *device = port_private(port)->device;
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	int ret = rte_eth_dev_info_get(port->ethdev_id, &info);

	if (ret < 0)
		goto fail;
	if (port->rx_queues > info.max_rx_queues)
		return too_many_queues(port, info.max_rx_queues, err);
	conf = configuration(port, &info);
	say_how_flows_spread(port, &info);
	device->tx_queues = tx_queues_of(port, &info);
	port->tx_multi_seg = conf.txmode.offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	snprintf(port->driver_name, sizeof(port->driver_name), "%s", info.driver_name);
	rte_eth_macaddr_get(port->ethdev_id, (struct rte_ether_addr *)port->mac);

	device->calls = port_memif_is_client(port->config.device);
	conf.intr_conf.rxq = port_interrupt_suits(port, port->driver_name);
	int started = 0;
	ret = set_up(port, &conf, &started);
	if ((ret < 0 || started < 0) && conf.intr_conf.rxq) {
		conf.intr_conf.rxq = 0; // its bus may have none
		ret = set_up(port, &conf, &started);
	}
	if (ret == 0 && started < 0 && !device->calls)
		ret = started;
	if (ret < 0)
		goto fail;
	device->started = started == 0;
	if (conf.intr_conf.rxq)
		port_interrupt_open(port);
	if (!device->started)
		hs_log(HS_LOG_NOTICE, "port",
				"%s: nobody answers yet: the port waits for the other end",
				port->config.name);
	if (port->config.kind != HS_PORT_IFACE)
		rte_eth_promiscuous_enable(port->ethdev_id);
	return 0;
fail:
	hs_error_set(err, "device", port_device_key(port), "", "the device cannot be set up: %s",
			strerror(-ret));
	return ret;
}

// Reports a failure. DPDK's own error numbers mislead: a driver that refuses its arguments returns
// "not permitted", and an unknown name is a "bad address".
static void explain(const struct hs_port *port, int error, struct hs_error *err)
{
	const char *key = port_device_key(port), *device = port->config.device;
	char said[160];

	hs_eal_log_first_error(said, sizeof(said));
	if (said[0])
		hs_error_set(err, "device", key, "", "\"%s\" cannot be opened: %s", device, said);
	else if (error == -EFAULT)
		hs_error_set(err, "device", key, "", "DPDK has no driver for \"%s\"", device);
	else if (error == -EPERM)
		hs_error_set(err, "device", key, "",
				"\"%s\" cannot be opened: its driver refused it and does not say "
				"why; look at the words behind the name",
				device);
	else
		hs_error_set(err, "device", key, "", "\"%s\" cannot be opened: %s", device,
				strerror(-error));
}

static int probe(struct hs_port *port, const char *devargs, struct hs_error *err)
{
	const char *key = port_device_key(port);
	int ret;

	if (find_ethdev(port, devargs, &port->ethdev_id) == 0) {
		hs_error_set(err, "in_use", key, "a device that no other port has",
				"\"%s\" is a port already", port->config.device);
		return -EEXIST;
	}
	port_memif_prepare(devargs);
	hs_eal_log_forget();
	ret = port_memif_probe(devargs);
	if (ret == 0)
		ret = find_ethdev(port, devargs, &port->ethdev_id);
	if (ret == 0)
		return 0;
	explain(port, ret, err);
	return -ENODEV;
}

static void choose_bursts(struct hs_port *port)
{
	struct ethdev *device = port_private(port)->device;

	device->send = device->tx_queues < port_private(port)->n_workers ? shared_tx : device_tx;
	port->rx_burst = device_rx;
	port->tx_burst = device->bell ? ringing_tx : device->send;
}

// Opens the bell. A sleeping worker also polls the port: the other end may have no bell.
static void hang_bell(struct hs_port *port)
{
	struct port_private *p = port_private(port);
	struct ethdev *device = p->device;

	device->bell = memif_bell_open(port->config.device);
	if (!device->bell)
		hs_log(HS_LOG_WARNING, "port",
				"%s: no bell beside the socket of %s: packets wake no sleeping "
				"worker",
				port->config.name, port->config.device);
	for (unsigned i = 0; device->bell && i < port->rx_queues; i++)
		p->wake_fds[i] = memif_bell_fd(device->bell);
}

int port_ethdev_open(struct hs_port *port, const char *devargs, struct hs_error *err)
{
	struct port_private *p = port_private(port);
	struct ethdev *device = aligned_alloc(alignof(struct ethdev), sizeof(*device));
	int ret;

	if (!device)
		return -ENOMEM;
	memset(device, 0, sizeof(*device));
	for (unsigned i = 0; i < PORT_MAX_QUEUES; i++)
		rte_spinlock_init(&device->locks[i].lock);
	sem_init(&device->called, 0, 0);
	p->device = device;
	ret = probe(port, devargs, err);
	if (ret < 0)
		goto free_device;
	ret = start_device(port, err);
	if (ret < 0)
		goto remove_device;
	if (port_is_memif(port))
		hang_bell(port);
	if (device->started)
		choose_bursts(port);
	return 0;

remove_device:
	remove_device(port->ethdev_id);
free_device:
	free(device);
	p->device = NULL;
	return ret;
}

static int ethdev_attach(struct hs_port *port, struct hs_error *err)
{
	int ret = port_ethdev_open(port, port->config.device, err);

	if (ret == 0)
		hs_log(HS_LOG_NOTICE, "port", "%s: %s on %s, %u queue%s, mtu %u", port->config.name,
				port->config.device, port->driver_name, port->rx_queues,
				port->rx_queues == 1 ? "" : "s", port->mtu);
	return ret;
}

static void ethdev_detach(struct hs_port *port)
{
	struct port_private *p = port_private(port);
	struct ethdev *device = p->device;

	port_interrupt_close(port);
	remove_device(port->ethdev_id);
	memif_bell_close(device->bell);
	free(device);
	p->device = NULL;
}

static void ethdev_stats(struct hs_port *port, struct hs_port_device_stats *stats)
{
	struct rte_eth_stats now;

	if (rte_eth_stats_get(port->ethdev_id, &now) != 0) {
		*stats = port_private(port)->last;
		return;
	}
	*stats = (struct hs_port_device_stats){
			.rx_packets = now.ipackets,
			.tx_packets = now.opackets,
			.rx_missed = now.imissed,
			.rx_errors = now.ierrors,
			.tx_errors = now.oerrors,
			.rx_nombuf = now.rx_nombuf,
	};
}

static bool ethdev_link_up(const struct hs_port *port)
{
	struct rte_eth_link link = {0};

	return rte_eth_link_get_nowait(port->ethdev_id, &link) == 0 &&
	       link.link_status == RTE_ETH_LINK_UP;
}

static void ethdev_look(struct hs_port *port)
{
	const struct ethdev *device = port_private(port)->device;

	if (device->bell)
		memif_bell_connect(device->bell);
}

static bool ethdev_calls(const struct hs_port *port)
{
	const struct ethdev *device = port_private(port)->device;

	return device->calls && !ethdev_link_up(port);
}

static void hang_up_and_call(void *context)
{
	struct hs_port *port = context;
	struct ethdev *device = port_private(port)->device;

	if (device->started)
		rte_eth_dev_stop(port->ethdev_id);
	device->started = rte_eth_dev_start(port->ethdev_id) == 0;
	sem_post(&device->called);
}

// Calls the server. A memif client calls once, when it is started. DPDK's interrupt thread handles
// its handshake and its disconnects. Stopping the client elsewhere would free what that thread
// uses, so an alarm does this on that thread. A call under way gets another second.
static int ethdev_call(struct hs_port *port)
{
	struct ethdev *device = port_private(port)->device;

	if (device->started && device->patience++ < 1)
		return 0;
	device->patience = 0;
	if (rte_eal_alarm_set(1, hang_up_and_call, port) < 0)
		return -EAGAIN;
	while (hs_interrupts_fd() >= 0 && sem_trywait(&device->called) < 0)
		hs_interrupts_pass();
	while (hs_interrupts_fd() < 0 && sem_wait(&device->called) < 0 && errno == EINTR)
		;
	if (device->started)
		choose_bursts(port);
	else
		port_silence(port);
	return device->started ? 0 : -ECONNREFUSED;
}

const struct port_driver port_ethdev_driver = {
		.attach = ethdev_attach,
		.detach = ethdev_detach,
		.stats = ethdev_stats,
		.link_up = ethdev_link_up,
		.look = ethdev_look,
		.waits_for_peer = ethdev_calls,
		.call_peer = ethdev_call,
};

// ---- af_xdp ----

uint16_t port_xdp_mbuf_bytes(uint16_t mtu)
{
	return RTE_PKTMBUF_HEADROOM + XDP_HEADROOM + mtu + PORT_FRAME_OVERHEAD;
}

static const char *xdp_objection(const struct hs_port *port)
{
	const struct port_private *p = port_private(port);
	uint32_t object = rte_mempool_calc_obj_size(p->pool->elt_size, p->pool->flags, NULL);

	if (port->config.mtu > HS_PORT_XDP_MTU_MAX)
		return "its MTU is above 3,434";
	if (object > PAGE_BYTES)
		return "the node's buffers are larger than a page";
	if (rte_pktmbuf_data_room_size(p->pool) < port_xdp_mbuf_bytes(port->config.mtu))
		return "the node's buffers are too small for its MTU";
	// Packets on a queue that nobody reads are lost.
	if (iface_rx_channels(&p->iface) != port->rx_queues)
		return "the interface has another number of receive queues than rx_queues says";
	return NULL;
}

// Returns a number that keeps names unique while the name of a device that is gone still exists.
static unsigned next_device(void)
{
	static atomic_uint devices;

	return atomic_fetch_add(&devices, 1);
}

static int xdp_attach(struct hs_port *port, struct hs_error *err)
{
	struct port_private *p = port_private(port);
	const char *objection = xdp_objection(port);
	struct fd_list *before;
	char devargs[256];
	int fds[PORT_MAX_QUEUES], ret;
	unsigned found;

	if (objection)
		return hs_error_set(err, "unsupported", "driver", "",
				"af_xdp cannot serve interface %s: %s", port->config.device,
				objection);
	iface_keep_tags(&p->iface);
	snprintf(devargs, sizeof(devargs), "net_af_xdp_hs%u,iface=%s,queue_count=%u", next_device(),
			p->iface.name, port->rx_queues);
	before = fd_list_take();
	ret = port_ethdev_open(port, devargs, err);
	found = fd_list_new_xdp_sockets(before, fds, PORT_MAX_QUEUES);
	if (ret < 0)
		return ret;
	// A driver opens its sockets in the order of its queues.
	port->needs_timed_poll = found != port->rx_queues;
	for (unsigned i = 0; i < found && !port->needs_timed_poll; i++)
		p->wake_fds[i] = fds[i];
	return 0;
}

// Reads the counters. The kernel counts on the interface what the driver does not see: frames for
// which there was no buffer, and frames that the kernel took and dropped.
static void xdp_stats(struct hs_port *port, struct hs_port_device_stats *stats)
{
	struct iface_drops kernel = iface_drops(&port_private(port)->iface);

	ethdev_stats(port, stats);
	stats->rx_missed = kernel.rx;
	stats->tx_errors += kernel.tx;
}

const struct port_driver port_xdp_driver = {
		.attach = xdp_attach,
		.detach = ethdev_detach,
		.stats = xdp_stats,
		.link_up = ethdev_link_up,
};
