// SPDX-License-Identifier: BSD-3-Clause
// Nothing is shared for each packet: two workers on threads of their own take turns, and what the
// process's memory shows afterwards was written by the one or by the other, never by both. Counted
// in blocks of two cache lines, which some machines fetch together.
#include "workers_source.h"

#include "clock.h"
#include "dpdk_env.h"
#include "node_parts.h"
#include "port.h"
#include "sanitized.h"
#include "take_reports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <rte_launch.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>
#include <sched.h>
#include <sys/mman.h>

#define BLOCK	    128
#define WORKERS	    2
#define ROUNDS	    200
#define MAX_REGIONS 512

static_assert(sizeof(struct hs_worker) % RTE_CACHE_LINE_SIZE == 0, "no line with a neighbour");
static_assert(sizeof(struct rte_mempool_cache) % RTE_CACHE_LINE_SIZE == 0,
		"side by side in a pool");
static_assert(offsetof(struct rte_ring, cons) - offsetof(struct rte_ring, prod) >= BLOCK,
		"who makes reports and who takes them write apart");

// ---- what changed in memory ----

struct region {
	uint8_t *from;
	size_t bytes;
};

struct picture {
	struct region regions[MAX_REGIONS];
	unsigned n;
	size_t bytes;
	uint8_t *copy;		   // of all regions, one behind the other
	uint8_t *written[WORKERS]; // for each block of it
};

// Who may go next. On a page of its own, which is not looked at.
static struct turn {
	_Atomic int worker; // -1: nobody
	_Atomic bool stop;
	struct hs_node *node;
} * turn;

static bool is_watched(const struct picture *p, const uint8_t *from, const char *name)
{
	return !strstr(name, "[stack]") && from != (uint8_t *)turn && from != p->copy &&
	       from != p->written[0] && from != p->written[1];
}

static void *pages(size_t bytes)
{
	// Shared: so that the kernel does not join it to a neighbour in the list of maps.
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

static void find_regions(struct picture *p)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], rights[8];
	unsigned long from, to;
	static char buffer[1 << 16];

	assert_non_null(maps);
	setvbuf(maps, buffer, _IOFBF, sizeof(buffer));
	p->n = 0;
	p->bytes = 0;
	while (fgets(line, sizeof(line), maps)) {
		assert_int_equal(sscanf(line, "%lx-%lx %7s", &from, &to, rights), 3);
		if (strncmp(rights, "rw", 2) || !is_watched(p, (uint8_t *)from, line))
			continue;
		assert_true(p->n < MAX_REGIONS);
		p->regions[p->n++] = (struct region){(uint8_t *)from, to - from};
		p->bytes += to - from;
	}
	fclose(maps);
}

static void picture_open(struct picture *p)
{
	memset(p, 0, sizeof(*p));
	find_regions(p);
	p->copy = pages(p->bytes);
	for (unsigned w = 0; w < WORKERS; w++)
		p->written[w] = pages(p->bytes / BLOCK);
	size_t before = p->bytes;
	find_regions(p);
	assert_int_equal(p->bytes, before);
}

static void picture_close(struct picture *p)
{
	munmap(p->copy, p->bytes);
	for (unsigned w = 0; w < WORKERS; w++)
		munmap(p->written[w], p->bytes / BLOCK);
}

static void picture_take(struct picture *p)
{
	uint8_t *to = p->copy;

	for (unsigned r = 0; r < p->n; to += p->regions[r++].bytes)
		memcpy(to, p->regions[r].from, p->regions[r].bytes);
}

static void picture_compare(struct picture *p, unsigned worker)
{
	size_t block = 0;

	for (unsigned r = 0; r < p->n; r++) {
		for (size_t at = 0; at < p->regions[r].bytes; at += BLOCK, block++) {
			if (memcmp(p->copy + block * BLOCK, p->regions[r].from + at, BLOCK))
				p->written[worker][block] = 1;
		}
	}
}

static unsigned written_by_both(const struct picture *p, unsigned *by_one)
{
	unsigned both = 0;
	size_t block = 0;

	*by_one = 0;
	for (unsigned r = 0; r < p->n; r++) {
		for (size_t at = 0; at < p->regions[r].bytes; at += BLOCK, block++) {
			*by_one += p->written[0][block] != p->written[1][block];
			if (!p->written[0][block] || !p->written[1][block])
				continue;
			print_error("both write %p\n", (void *)(p->regions[r].from + at));
			both++;
		}
	}
	return both;
}

// ---- workers by turns ----

static int work(void *context)
{
	int worker = (int)(intptr_t)context;

	hs_node_worker_online(turn->node, (unsigned)worker);
	while (!turn->stop) {
		if (turn->worker == worker) {
			for (unsigned i = 0; i < ROUNDS; i++)
				hs_node_worker_poll(turn->node, (unsigned)worker);
			turn->worker = -1;
		}
		sched_yield();
	}
	hs_node_worker_offline(turn->node, (unsigned)worker);
	return 0;
}

static void let_work(int worker)
{
	turn->worker = worker;
	while (turn->worker >= 0)
		sched_yield();
}

static void drain(struct hs_node *node)
{
	static struct hs_report_record records[64];

	while (take_reports(node, records, 64))
		;
}

static void expect_nothing_in_common(struct hs_node *node, struct picture *p)
{
	unsigned by_one;

	for (unsigned round = 0; round < 3; round++) { // in the first, flows are seen first
		for (int w = 0; w < WORKERS; w++) {
			drain(node);
			picture_take(p);
			let_work(w);
			if (round)
				picture_compare(p, (unsigned)w);
		}
	}
	assert_int_equal(written_by_both(p, &by_one), 0);
	print_message("%u blocks written by one worker\n", by_one);
	assert_true(by_one > 100);
}

struct scene {
	enum hs_port_side in, out;
	bool one_flow, telemetry;
	uint32_t rules;
	double every;
};

static void open_ports(struct hs_node *node, const struct scene *scene,
		struct workers_source *source, struct hs_port *ports[2])
{
	struct hs_port_config config = {.side = scene->in, .rx_queues = WORKERS_QUEUES};

	assert_int_equal(hs_port_open_custom(workers_source_rx, workers_sink_tx, source, &config, 0,
					 WORKERS, &ports[0]),
			0);
	config.side = scene->out;
	assert_int_equal(hs_port_open_custom(workers_nothing_rx, workers_sink_tx, source, &config,
					 1, WORKERS, &ports[1]),
			0);
	for (unsigned p = 0; p < 2; p++)
		assert_int_equal(hs_node_add_port(node, ports[p]), 0);
}

static void install(struct hs_node *node, const struct scene *scene)
{
	for (uint32_t flow = 0; flow < scene->rules; flow++) {
		struct hs_rule rule;
		struct hs_error err = {0};
		workers_source_rule(flow, &rule);
		rule.mode = HS_MODE_COUNT;
		rule.mode_setting = scene->every;
		assert_int_equal(hs_flow_table_install(hs_node_flows(node), &rule, NULL, &err), 0);
	}
}

static void run_scene(const struct scene *scene)
{
	static struct workers_source source;
	struct hs_node_config config = {
			.n_workers = WORKERS,
			.rules = WORKERS_FLOWS,
			.report_ring = 16384,
			.n_pairs = 1,
			.pairs = {{0, 1}},
	};
	struct hs_port *ports[2];
	struct hs_clock *clock;
	struct hs_error err = {0};
	struct picture p;
	struct rte_mempool *pool = SANITIZED ? NULL
					     : rte_pktmbuf_pool_create("sharing", 4095, 64, 0, 2176,
							       SOCKET_ID_ANY);

	if (SANITIZED) // its shadow is terabytes of memory, and all threads write there
		skip();
	assert_non_null(pool);
	assert_int_equal(hs_clock_create(HS_CLOCK_UTC, &clock), 0);
	turn = pages(4096);
	*turn = (struct turn){.worker = -1};
	assert_int_equal(hs_node_create(&config, clock, pool, &turn->node, &err), 0);
	workers_source_init(&source, pool, scene->one_flow, scene->telemetry);
	open_ports(turn->node, scene, &source, ports);
	install(turn->node, scene);
	for (unsigned w = 0; w < WORKERS; w++)
		assert_int_equal(rte_eal_remote_launch(work, (void *)(intptr_t)w, 1 + w), 0);
	picture_open(&p);
	expect_nothing_in_common(turn->node, &p);
	turn->stop = true;
	rte_eal_mp_wait_lcore();
	picture_close(&p);
	hs_node_destroy(turn->node);
	for (unsigned i = 0; i < 2; i++)
		hs_port_close(ports[i]);
	workers_source_fini(&source);
	rte_mempool_free(pool);
	hs_clock_destroy(clock);
	munmap(turn, 4096);
}

#define HOST HS_SIDE_HOST
#define NET  HS_SIDE_NETWORK

static void workers_write_nothing_in_common_without_rules(void **state)
{
	(void)state;
	run_scene(&(struct scene){HOST, NET});
}

static void workers_write_nothing_in_common_with_rules_of_their_own(void **state)
{
	(void)state;
	run_scene(&(struct scene){HOST, NET, .rules = WORKERS_FLOWS, .every = 1});
}

static void workers_write_nothing_in_common_with_a_rule_that_both_serve(void **state)
{
	(void)state;
	run_scene(&(struct scene){HOST, NET, .one_flow = true, .rules = 1, .every = 1});
}

static void workers_write_nothing_in_common_in_transit(void **state)
{
	(void)state;
	run_scene(&(struct scene){NET, NET, .one_flow = true, .telemetry = true, .rules = 1});
}

static void workers_write_nothing_in_common_at_a_sink(void **state)
{
	(void)state;
	run_scene(&(struct scene){NET, HOST, .one_flow = true, .telemetry = true, .rules = 1});
}

// Not the turns' doing: what each worker tells control of its quiescent states, and its own parts.
static void what_a_worker_owns_lies_apart_from_what_others_own(void **state)
{
	struct hs_node_config config = {.n_workers = 16, .rules = 3, .report_ring = 16};
	struct hs_clock *clock;
	struct hs_node *node;
	struct hs_error err = {0};
	uintptr_t parts[16][5];
	(void)state;
	assert_int_equal(hs_clock_create(HS_CLOCK_UTC, &clock), 0);
	assert_int_equal(hs_node_create(&config, clock, NULL, &node, &err), 0);
	for (unsigned w = 0; w < 16; w++) {
		const struct hs_flow_view *view = &node->seats[w]->worker.flows;
		parts[w][0] = (uintptr_t)node->seats[w];
		parts[w][1] = (uintptr_t)view->own;
		parts[w][2] = (uintptr_t)view->others;
		parts[w][3] = (uintptr_t)node->seats[w]->worker.reports;
		parts[w][4] = (uintptr_t)&node->qsbr->qsbr_cnt[hs_node_reader(w)];
		for (unsigned i = 0; i < 5; i++)
			assert_int_equal(parts[w][i] % RTE_CACHE_LINE_SIZE, 0);
	}
	for (unsigned w = 0; w < 16; w++) {
		for (unsigned i = 0; i < 16 * 5; i++) {
			uintptr_t other = parts[i / 5][i % 5];
			if (i / 5 == w)
				continue;
			for (unsigned k = 0; k < 5; k++)
				assert_true(labs((long)(other - parts[w][k])) >= BLOCK);
		}
	}
	hs_node_destroy(node);
	hs_clock_destroy(clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(workers_write_nothing_in_common_without_rules),
			cmocka_unit_test(workers_write_nothing_in_common_with_rules_of_their_own),
			cmocka_unit_test(
					workers_write_nothing_in_common_with_a_rule_that_both_serve),
			cmocka_unit_test(workers_write_nothing_in_common_in_transit),
			cmocka_unit_test(workers_write_nothing_in_common_at_a_sink),
			cmocka_unit_test(what_a_worker_owns_lies_apart_from_what_others_own),
	};
	// Three threads that take turns need one core.
	dpdk_env_init_on("128", "(0-2)@0");
	return cmocka_run_group_tests_name("sharing", tests, NULL, NULL);
}
