// SPDX-License-Identifier: BSD-3-Clause
#include "dpdk_env.h"
#include "log.h"
#include "port.h"
#include "port_private.h"

#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <net/if.h>
#include <rte_mbuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static unsigned n_features, tcp4, tcp6, sums; // of the interface, and the places of three
static uint32_t active[64];

// Writes as many names as there are, as the kernel does.
static void write_names(struct ethtool_gstrings *names)
{
	size_t needed = sizeof(*names) + (size_t)n_features * ETH_GSTRING_LEN;

	assert_true(malloc_usable_size(names) >= needed);
	names->len = n_features;
	for (unsigned i = 0; i < n_features; i++)
		snprintf((char *)names->data + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN, "%s",
				i == tcp4   ? "tx-tcp-segmentation"
				: i == tcp6 ? "tx-tcp6-segmentation"
				: i == sums ? "tx-checksum-ip-generic"
					    : "another");
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	va_start(args, request);
	struct ifreq *ifr = va_arg(args, struct ifreq *);
	va_end(args);
	if (request != SIOCETHTOOL)
		return (int)syscall(SYS_ioctl, fd, request, ifr);
	struct ethtool_sset_info *info = (void *)ifr->ifr_data;
	struct ethtool_gfeatures *features = (void *)ifr->ifr_data;
	switch (info->cmd) {
	case ETHTOOL_GSSET_INFO:
		info->data[0] = n_features;
		return 0;
	case ETHTOOL_GSTRINGS:
		write_names((void *)ifr->ifr_data);
		return 0;
	default: // as many blocks as the caller has room for
		for (unsigned i = 0; i < features->size && i < (n_features + 31) / 32; i++)
			features->features[i].active = active[i];
		return 0;
	}
}

static int bypass; // of the socket that sends

int setsockopt(int fd, int level, int option, const void *value, socklen_t len)
{
	if (level == SOL_PACKET && option == PACKET_QDISC_BYPASS)
		memcpy(&bypass, value, sizeof(bypass));
	return (int)syscall(SYS_setsockopt, fd, level, option, value, len);
}

static bool without_frames; // the kernel says that no frame is short enough

static void forbid_frames(struct nlmsghdr *message)
{
	struct rtattr *attr = IFLA_RTA(NLMSG_DATA(message));
	int left = (int)IFLA_PAYLOAD(message);

	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		if (attr->rta_type == IFLA_GSO_MAX_SIZE)
			memset(RTA_DATA(attr), 0, sizeof(uint32_t));
}

ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
	ssize_t n = syscall(SYS_recvfrom, fd, buffer, size, flags, NULL, NULL);
	struct nlmsghdr *message = buffer;

	if (without_frames && n > 0 && message->nlmsg_type == RTM_NEWLINK)
		forbid_frames(message);
	return n;
}

static void set_active(unsigned feature, bool on)
{
	active[feature / 32] &= ~(1u << feature % 32);
	active[feature / 32] |= (uint32_t)on << feature % 32;
}

// A port on the interface lo, which has no queueing discipline.
static struct hs_port *open_port(void)
{
	struct hs_port_config config = {.name = "p"};
	struct hs_port *port;

	hs_log_setup(HS_LOG_ERROR, false);
	assert_int_equal(hs_port_open_custom(NULL, NULL, NULL, &config, 0, 1, &port), 0);
	struct port_private *p = port_private(port);
	p->iface_driver = &port_packet_driver;
	p->iface.index = if_nametoindex("lo");
	snprintf(p->iface.name, sizeof(p->iface.name), "lo");
	return port;
}

static void an_interface_may_have_any_number_of_features(void **state)
{
	static const struct {
		unsigned n, tcp4, tcp6, sums;
	} cases[] = {{60, 3, 40, 4}, {256, 1, 255, 0}, {300, 2, 299, 298}, {2000, 1998, 1999, 7}};
	struct hs_port *port = open_port();
	struct port_private *p = port_private(port);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		n_features = cases[i].n, tcp4 = cases[i].tcp4, tcp6 = cases[i].tcp6;
		sums = cases[i].sums;
		memset(active, 0, sizeof(active));
		set_active(tcp4, true);
		port_follow_offloads(port);
		assert_int_equal(p->join_bytes, 0); // one of two
		assert_int_equal(p->joins, PORT_JOINS_NOTHING);
		set_active(tcp6, true);
		port_follow_offloads(port);
		assert_true(p->join_bytes > 0);
		assert_int_equal(p->joins, PORT_JOINS_FOR_INTERFACE);
	}
	n_features = 0;
	port_follow_offloads(port);
	assert_int_equal(p->join_bytes, 0);
	hs_port_close(port);
}

static void the_kernel_cuts_frames_where_nothing_is_left_to_hardware(void **state)
{
	struct hs_port *port = open_port();
	struct port_private *p = port_private(port);

	(void)state;
	n_features = 60, tcp4 = 3, tcp6 = 40, sums = 4;
	memset(active, 0, sizeof(active));
	port_follow_offloads(port);
	assert_int_equal(p->joins, PORT_JOINS_FOR_KERNEL);
	assert_true(p->join_bytes > 0);
	set_active(sums, true); // the kernel would leave checksums open
	port_follow_offloads(port);
	assert_int_equal(p->joins, PORT_JOINS_NOTHING);
	set_active(tcp4, true);
	set_active(tcp6, true);
	port_follow_offloads(port);
	assert_int_equal(p->joins, PORT_JOINS_FOR_INTERFACE);
	n_features = 0;
	port_follow_offloads(port);
	assert_int_equal(p->joins, PORT_JOINS_NOTHING);
	hs_port_close(port);
}

// With `ip link set ... gso_max_size 0`, which older kernels take.
static void a_limit_of_no_bytes_forbids_frames(void **state)
{
	struct hs_port *port = open_port();
	struct port_private *p = port_private(port);

	(void)state;
	n_features = 60, tcp4 = 3, tcp6 = 40, sums = 4;
	set_active(tcp4, true);
	set_active(tcp6, true);
	without_frames = true;
	port_follow_offloads(port);
	without_frames = false;
	assert_int_equal(p->join_bytes, 0);
	assert_int_equal(p->joins, PORT_JOINS_NOTHING);
	hs_port_close(port);
}

// A port that cannot be opened yet hears of its interface.
static void sockets_that_are_opened_later_are_right_for_frames(void **state)
{
	struct hs_port *port = open_port();
	struct port_private *p = port_private(port);
	struct hs_error err = {0};

	(void)state;
	if (geteuid() != 0)
		skip();
	dpdk_env_init("64");
	p->pool = rte_pktmbuf_pool_create("pool", 255, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	assert_non_null(p->pool);
	n_features = 60, tcp4 = 3, tcp6 = 40, sums = 4;
	memset(active, 0, sizeof(active));
	for (unsigned i = 0; i < 2; i++) { // also after it was open
		port_follow_offloads(port);
		assert_int_equal(port_packet_driver.attach(port, &err), 0);
		port_follow_offloads(port);
		assert_int_equal(p->joins, PORT_JOINS_FOR_KERNEL);
		assert_int_equal(bypass, 0);
		port_silence(port);
		port_packet_driver.detach(port);
	}
	hs_port_close(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(an_interface_may_have_any_number_of_features),
			cmocka_unit_test(the_kernel_cuts_frames_where_nothing_is_left_to_hardware),
			cmocka_unit_test(a_limit_of_no_bytes_forbids_frames),
			cmocka_unit_test(sockets_that_are_opened_later_are_right_for_frames),
	};
	return cmocka_run_group_tests_name("offloads", tests, NULL, NULL);
}
