// SPDX-License-Identifier: BSD-3-Clause
#include "bench_setup.h"

#include "bench_frames.h"

#include "eal.h"
#include "fib.h"
#include "flexint.h"
#include "int_steps.h"
#include "label_steps.h"
#include "probe_state.h"
#include "probe_steps.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MBUFS		16384 // the same number as testpmd gets
#define MBUF_BYTES	RTE_MBUF_DEFAULT_BUF_SIZE
#define RULES_MIN	1024
#define EXTRA_BYTES	(UINT64_C(64) << 20) // memory of devices
#define PROBE_FRAME_LEN 60
#define START_NS	INT64_C(1700000040000000000)
#define NEVER_NS	INT64_C(3600000000000) // an interval that no measurement outlasts

// ---- the node ----

static enum hs_port_side side_of(enum hs_bench_role role, int port)
{
	enum hs_bench_role host_at = port == HS_BENCH_IN ? HS_BENCH_SOURCE : HS_BENCH_SINK;

	return role == host_at ? HS_SIDE_HOST : HS_SIDE_NETWORK;
}

// Returns the profile of ports that label. Base B is off, so that only the interval decides.
static const struct hs_label_profile *label_profile(enum hs_bench_label label)
{
	static struct hs_label_profile profile = {
			.wire = {HS_LABEL_IP_PROTOCOL, HS_LABEL_MAX_HOPS}};
	int64_t interval_ns = label == HS_BENCH_LABEL_ALL ? 0 : NEVER_NS;

	hs_label_rule_init(&profile.rule, HS_LABEL_MAX_HOPS, interval_ns, interval_ns, HS_LABEL_F1);
	return &profile;
}

static const struct hs_probe_profile *probe_profile(void)
{
	static struct hs_probe_profile profile = {
			.recovery = true,
			.held = HS_PROBE_HELD,
			.rate_pps = 1000000000, // none that is taken is refused
			.timeout_ns = INT64_C(1500000000),
			.seen_ns = INT64_C(1500000000),
	};

	profile.wire = hs_bench_probe;
	return &profile;
}

static void node_config(const struct hs_bench_case *spec, struct hs_node_config *node)
{
	static const enum hs_forwarding_mode modes[] = {
			[HS_BENCH_PATCH] = HS_FORWARD_PATCH,
			[HS_BENCH_BRIDGE] = HS_FORWARD_BRIDGE,
			[HS_BENCH_ROUTE] = HS_FORWARD_ROUTE,
	};

	*node = (struct hs_node_config){
			.id = 2,
			.name = "bench",
			.n_workers = 1,
			.rules = spec->rules > RULES_MIN ? spec->rules : RULES_MIN,
			.forwarding = modes[spec->forward],
			.n_pairs = spec->forward == HS_BENCH_PATCH,
			.pairs = {{HS_BENCH_IN, HS_BENCH_OUT}},
			.routes = spec->traffic.routes,
			.seed = 1,
	};
	for (int p = 0; spec->int_md && p < HS_BENCH_PORTS; p++)
		if (side_of(spec->role, p) == HS_SIDE_NETWORK)
			node->profiles[p] = (struct hs_profile){.family = &hs_int_steps[HS_INT_2_1],
					.settings = hs_bench_int(spec->traffic.int_mx)};
	for (int p = 0; spec->label && p < HS_BENCH_PORTS; p++)
		if (side_of(spec->role, p) == HS_SIDE_NETWORK)
			node->profiles[p] = (struct hs_profile){.family = &hs_label_steps,
					.settings = label_profile(spec->label)};
	for (int p = 0; spec->probes && p < HS_BENCH_PORTS; p++)
		if (side_of(spec->role, p) == HS_SIDE_NETWORK)
			node->profiles[p] = (struct hs_profile){
					.family = &hs_probe_steps, .settings = probe_profile()};
	if (spec->traffic.int_mx) {
		node->n_exports = 1;
		node->exports[0] = (struct hs_export_config){.format = HS_INT_REPORT_2_0,
				.flows = true,
				.bytes = HS_EXPORT_BYTES,
				.port = HS_BENCH_OUT,
				.to = {{[10] = 0xff, 0xff, 192, 0, 2, 9}, 32766},
				.from = {[10] = 0xff, 0xff, 192, 0, 2, 1}};
	}
}

static int open_eal(const struct hs_bench_setup *setup, const struct hs_node_config *node,
		struct hs_error *err)
{
	// With --in-memory, huge pages need no mount. This word is the last one, so that it can be
	// left out.
	static char *words[] = {"--no-telemetry", "--log-level=*:error", "--in-memory"};
	struct hs_eal_config eal = {
			.memory_bytes = hs_node_bytes(node) + hs_pool_bytes(MBUFS, MBUF_BYTES) +
					EXTRA_BYTES,
			.control_core = setup->config->control_core,
			.worker_cores = {setup->config->worker_core},
			.n_workers = 1,
			.huge_pages = setup->config->huge_pages,
			.argc = setup->config->huge_pages ? 3 : 2,
			.argv = words,
	};

	snprintf(eal.file_prefix, sizeof(eal.file_prefix), "%s", setup->config->prefix);
	return hs_eal_init(&eal, err);
}

static int install_rules(const struct hs_bench_setup *setup, struct hs_error *err)
{
	struct hs_rule rule;
	uint32_t shadowed_by;

	for (uint32_t i = 0; i < setup->spec->rules; i++) {
		hs_bench_rule(setup->spec, i, &rule);
		int rc = hs_flow_table_install(
				hs_node_flows(setup->node), &rule, &shadowed_by, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int install_routes(const struct hs_bench_setup *setup, struct hs_error *err)
{
	uint32_t n = setup->spec->traffic.routes;
	struct hs_fib *fib = hs_node_fib(setup->node);
	struct hs_fib_change *changes = fib ? calloc(n, sizeof(*changes)) : NULL;

	if (!changes)
		return fib ? -ENOMEM : 0;
	for (uint32_t i = 0; i < n; i++) {
		struct hs_route *route = &changes[i].route;
		route->depth = hs_bench_prefix(&setup->spec->traffic, i, route->prefix);
		route->port = HS_BENCH_OUT;
		hs_bench_station_mac(false, i, route->next_hop_mac);
	}
	int rc = hs_fib_change(fib, changes, n, err);
	free(changes);
	return rc;
}

// ---- ports ----

static void device_of(const struct hs_bench_setup *setup, int port, char *device, size_t size)
{
	enum hs_bench_target target = setup->spec->target;

	if (target == HS_BENCH_MEMIF)
		snprintf(device, size,
				"net_memif%d,role=server,socket=%s/%d.sock,socket-abstract=no",
				port, setup->config->sockets, port);
	else if (port == HS_BENCH_IN)
		snprintf(device, size, "net_pcap0,rx_pcap=%s,infinite_rx=1", setup->config->pcap);
	else
		snprintf(device, size, target == HS_BENCH_RING ? "net_ring0" : "net_null0,no-rx=1");
}

static int open_port(struct hs_bench_setup *setup, int port, struct hs_error *err)
{
	struct hs_port_config config = {
			.kind = HS_PORT_DEVARGS,
			.side = side_of(setup->spec->role, port),
			.mtu = port == HS_BENCH_IN ? 1700 : 1800,
	};

	snprintf(config.name, sizeof(config.name), "%s", port == HS_BENCH_IN ? "in" : "out");
	device_of(setup, port, config.device, sizeof(config.device));
	return hs_port_open(&config, (uint16_t)port, 1, setup->pool, &setup->ports[port], err);
}

// Finds the offsets of telemetry's values in a frame of this traffic.
static void find_options(struct hs_bench_setup *setup)
{
	struct hs_bench_source *source = &setup->source;
	uint8_t frame[HS_BENCH_FRAME_BYTES];
	struct hs_packet packet;
	size_t len = hs_bench_frame(&setup->spec->traffic, 0, frame);

	hs_flexint_parse(frame, len, len, &packet);
	source->stamped = true;
	source->clock = setup->clock;
	source->frames = setup->spec->traffic.frames;
	source->trace_off = packet.trace_off;
	source->e2e_off = packet.e2e_off;
	source->hops = (uint16_t)setup->spec->traffic.hops;
	source->counted_bytes = hs_packet_counted_bytes(&packet);
}

static int wrap_source(struct hs_bench_setup *setup)
{
	struct hs_port *inner = setup->ports[HS_BENCH_IN];

	setup->source.inner = inner;
	if (setup->spec->rewritten)
		hs_bench_source_spread(&setup->source, setup->spec->rewritten);
	if (setup->spec->stamped)
		find_options(setup);
	return hs_port_open_custom(hs_bench_source_rx, hs_bench_source_tx, &setup->source,
			&inner->config, HS_BENCH_IN, 1, &setup->ports[HS_BENCH_IN]);
}

static uint16_t receive_nothing(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)port, (void)queue, (void)mbufs, (void)n;
	return 0;
}

static int open_ports(struct hs_bench_setup *setup, struct hs_error *err)
{
	int rc = open_port(setup, HS_BENCH_IN, err);

	if (rc == 0)
		rc = open_port(setup, HS_BENCH_OUT, err);
	if (rc == 0 && (setup->spec->rewritten || setup->spec->stamped))
		rc = wrap_source(setup);
	if (rc < 0)
		return rc;
	memcpy(setup->ports[HS_BENCH_IN]->mac, hs_bench_router_mac, 6);
	// Packets that go into net_ring come out of it again. The other core takes these packets.
	if (setup->spec->target == HS_BENCH_RING)
		setup->ports[HS_BENCH_OUT]->rx_burst = receive_nothing;
	for (int p = 0; rc == 0 && p < HS_BENCH_PORTS; p++)
		rc = hs_node_add_port(setup->node, setup->ports[p]);
	return rc;
}

// ---- what a bridge must have seen ----

static struct {
	struct rte_mempool *pool;
	unsigned next;
} teacher;

static uint16_t teach(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t made = 0;

	(void)port, (void)queue;
	while (made < n && teacher.next < HS_BENCH_STATIONS) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(teacher.pool);
		uint8_t *frame = m ? (uint8_t *)rte_pktmbuf_append(m, PROBE_FRAME_LEN) : NULL;
		if (!frame) {
			rte_pktmbuf_free(m);
			break;
		}
		memset(frame, 0, PROBE_FRAME_LEN);
		hs_bench_station_mac(true, teacher.next, frame);
		hs_bench_station_mac(false, teacher.next++, frame + 6);
		mbufs[made++] = m;
	}
	return made;
}

// Lets the stations behind the receiving port send once. Otherwise, all packets to these stations
// would be flooded.
static void teach_bridge(struct hs_bench_setup *setup)
{
	struct hs_port *in = setup->ports[HS_BENCH_IN], *out = setup->ports[HS_BENCH_OUT];
	hs_port_rx_fn in_rx = in->rx_burst, out_rx = out->rx_burst;

	teacher.pool = setup->pool;
	in->rx_burst = receive_nothing;
	out->rx_burst = teach;
	while (hs_node_worker_poll(setup->node, 0))
		;
	in->rx_burst = in_rx;
	out->rx_burst = out_rx;
}

int hs_bench_setup_open(struct hs_bench_setup *setup, const struct hs_bench_case *spec,
		const struct hs_bench_child_config *config, struct hs_error *err)
{
	struct hs_node_config node;

	*setup = (struct hs_bench_setup){.spec = spec, .config = config};
	node_config(spec, &node);
	int rc = open_eal(setup, &node, err);
	// If control is measured, windows end by the number of reports, not by the machine's clock.
	if (rc == 0)
		rc = spec->kind == HS_BENCH_PACKETS
				     ? hs_clock_create(HS_CLOCK_UTC, &setup->clock)
				     : hs_clock_create_manual(START_NS, &setup->clock);
	if (rc == 0)
		rc = hs_pool_create("mbufs", MBUFS, MBUF_BYTES, &setup->pool);
	if (rc == 0)
		rc = hs_node_create(&node, setup->clock, setup->pool, &setup->node, err);
	if (rc == 0)
		rc = open_ports(setup, err);
	if (rc == 0)
		rc = install_rules(setup, err);
	if (rc == 0)
		rc = install_routes(setup, err);
	if (rc < 0)
		return rc;
	if (spec->forward == HS_BENCH_BRIDGE)
		teach_bridge(setup);
	hs_node_snapshot(setup->node, setup->before);
	return 0;
}
