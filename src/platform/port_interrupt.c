// SPDX-License-Identifier: BSD-3-Clause
// Receive interrupts of DPDK devices: packets wake a worker that sleeps. Interrupts are on only
// while the worker sleeps, because each of them costs more than a look at the queue.
//
// Each queue has an epoll descriptor of its own: DPDK knows what to read from the device's
// descriptor behind it.
#include "port_private.h"

#include "log.h"

#include <rte_ethdev.h>
#include <rte_interrupts.h>

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

// Returns whether the device is a TAP, on which packets wake a waiting worker at all times.
static bool is_tap(const char *driver_name)
{
	return strcmp(driver_name, "net_tap") == 0;
}

// Returns whether a driver can wake workers. net_vhost cannot: its interrupts are requested in the
// rings of a guest, which the driver unmaps at any time.
bool port_interrupt_suits(const struct hs_port *port, const char *driver_name)
{
	return port->config.kind == HS_PORT_PCI || is_tap(driver_name) ||
	       strcmp(driver_name, "net_virtio_user") == 0;
}

static int open_queue(struct hs_port *port, uint16_t queue)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);
	int ret = fd < 0 ? -errno
			 : rte_eth_dev_rx_intr_ctl_q(
					   port->ethdev_id, queue, fd, RTE_INTR_EVENT_ADD, NULL);

	if (ret == 0) {
		ret = rte_eth_dev_rx_intr_enable(port->ethdev_id, queue);
		ret = is_tap(port->driver_name) && ret == -ENOTSUP ? 0 : ret;
		rte_eth_dev_rx_intr_disable(port->ethdev_id, queue);
		if (ret < 0)
			rte_eth_dev_rx_intr_ctl_q(
					port->ethdev_id, queue, fd, RTE_INTR_EVENT_DEL, NULL);
	}
	if (ret == 0)
		port_private(port)->wake_fds[queue] = fd;
	else if (fd >= 0)
		close(fd);
	return ret;
}

void port_interrupt_open(struct hs_port *port)
{
	struct port_private *p = port_private(port);
	int ret = 0;

	p->interrupts = true;
	for (uint16_t q = 0; q < port->rx_queues && ret == 0; q++)
		ret = open_queue(port, q);
	if (ret < 0) {
		hs_log(HS_LOG_NOTICE, "port", "%s: %s has no receive interrupts here (%s)",
				port->config.name, port->driver_name, strerror(-ret));
		port_interrupt_close(port);
	}
	// The driver of TAPs looks for packets only after a signal, which goes to another thread
	// and may come later than the wake-up.
	port->needs_timed_poll = !p->interrupts || is_tap(port->driver_name);
}

void port_interrupt_close(struct hs_port *port)
{
	struct port_private *p = port_private(port);

	for (uint16_t q = 0; p->interrupts && q < port->rx_queues; q++) {
		if (p->wake_fds[q] < 0)
			continue;
		rte_eth_dev_rx_intr_ctl_q(
				port->ethdev_id, q, p->wake_fds[q], RTE_INTR_EVENT_DEL, NULL);
		close(p->wake_fds[q]);
		p->wake_fds[q] = -1;
	}
	p->interrupts = false;
}

void port_interrupt_arm(struct hs_port *port, uint16_t queue)
{
	rte_eth_dev_rx_intr_enable(port->ethdev_id, queue);
}

void port_interrupt_quiet(struct hs_port *port, uint16_t queue)
{
	struct rte_epoll_event event;

	rte_eth_dev_rx_intr_disable(port->ethdev_id, queue);
	rte_epoll_wait(port_private(port)->wake_fds[queue], &event, 1, 0);
}
