// SPDX-License-Identifier: BSD-3-Clause
#include "probe_network.h"

#include "variate.h"

#include <stdlib.h>
#include <string.h>

#define MONITOR	   UINT32_MAX
#define MOST_HOPS  64
#define MOST_MOVES 65536
#define IDS	   32768
#define HOUR_NS	   INT64_C(3600000000000)

enum kind {
	PROBE,
	FEEDBACK,
	COPY,
	TIMER, // of a copy that a switch holds
};

struct move {
	int64_t at_ns;
	uint64_t number; // of equal times, the first comes first
	enum kind kind;
	uint32_t from, to;
	uint16_t id;
	uint32_t n, done; // hops; switches that added their values
	struct hs_gpint_hop hops[MOST_HOPS];
};

static struct move moves[MOST_MOVES];
static size_t n_moves;
static uint64_t n_made;
static bool held[NET_SWITCHES][IDS];
static uint64_t seen[NET_SWITCHES][IDS]; // by how many switches the probe had visited before

// ---- what is under way ----

static bool is_before(const struct move *a, const struct move *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->number < b->number;
}

static void put(const struct move *move)
{
	size_t i = n_moves++;

	assert_true(n_moves < MOST_MOVES);
	for (; i && is_before(move, &moves[(i - 1) / 2]); i = (i - 1) / 2)
		moves[i] = moves[(i - 1) / 2];
	moves[i] = *move;
}

static struct move take(void)
{
	struct move first = moves[0], last = moves[--n_moves];
	size_t i = 0;

	for (size_t child = 1; child < n_moves; child = 2 * i + 1) {
		child += child + 1 < n_moves && is_before(&moves[child + 1], &moves[child]);
		if (!is_before(&moves[child], &last))
			break;
		moves[i] = moves[child];
		i = child;
	}
	moves[i] = last;
	return first;
}

// ---- links ----

static bool is_cut(const struct network *net, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < net->graph->graph.n_links; i++)
		for (unsigned end = 0; end < 2; end++)
			if (net->graph->links[i].ends[end] == from &&
					net->graph->links[i].ends[!end] == to && net->cut[i][end])
				return true;
	return false;
}

bool network_is_dead(const struct network *net, uint32_t from, uint32_t to)
{
	return net->dead[from] || net->dead[to] || is_cut(net, from, to);
}

static void send(struct network *net, struct move move)
{
	bool by_link = move.from != MONITOR && move.to != MONITOR;
	bool lost = hs_variate_chance(&net->rng, by_link ? net->loss : net->monitor_loss);

	move.at_ns = net->now_ns + 100000 + (int64_t)hs_variate_below(&net->rng, 400000);
	move.number = n_made++;
	if (!lost && !(by_link && is_cut(net, move.from, move.to)))
		put(&move);
}

// ---- switches ----

static void forward(struct network *net, struct move *move)
{
	uint32_t at = move->to;
	const struct hs_gpint_hop *hop = &move->hops[move->done - 1];

	if (move->done == move->n) {
		assert_int_equal(hop->next_port, 0);
		move->from = at;
		move->to = MONITOR;
		send(net, *move);
		return;
	}
	move->from = at;
	move->to = graph_behind(net->graph, at, hop->next_port);
	assert_int_equal(move->to, move->hops[move->done].at);
	held[at][move->id] = true;
	struct move timer = *move;
	timer.kind = TIMER;
	timer.to = at;
	timer.at_ns = net->now_ns + net->feedback_ns;
	timer.number = n_made++;
	put(&timer);
	send(net, *move);
}

static void receive(struct network *net, struct move *move)
{
	uint32_t at = move->to;

	if (net->dead[at])
		return;
	if (move->kind == FEEDBACK) {
		held[at][move->id] = false;
	} else if (move->kind == TIMER && held[at][move->id]) {
		held[at][move->id] = false;
		move->kind = COPY;
		move->to = MONITOR;
		send(net, *move);
	} else if (move->kind == PROBE) {
		assert_int_equal(move->hops[move->done].at, at);
		if (!(seen[at][move->id] & UINT64_C(1) << move->done))
			send(net, (struct move){.kind = FEEDBACK,
						  .from = at,
						  .to = move->from,
						  .id = move->id});
		seen[at][move->id] |= UINT64_C(1) << move->done;
		move->done++;
		forward(net, move);
	}
}

// ---- the monitor ----

static void answer(struct network *net, const struct move *move)
{
	static const enum hs_gpint_answer answers[] = {[PROBE] = HS_GPINT_DONE,
			[FEEDBACK] = HS_GPINT_FEEDBACK,
			[COPY] = HS_GPINT_RECOVERED};

	for (uint32_t i = 0; i < move->done; i++) {
		const struct hs_gpint_hop *hop = &move->hops[i];
		if (hop->end == net->graph->values[hop->at])
			net->delivered[hop->at] = true;
	}
	net->answers[answers[move->kind]]++;
	hs_gpint_prober_take(net->prober, net->now_ns, answers[move->kind], move->id, move->done);
}

static uint32_t sent_at_once;

static void send_probe(void *context, uint16_t id, const struct hs_gpint_hop *hops, uint32_t n)
{
	struct move move = {.kind = PROBE, .from = MONITOR, .to = hops[0].at, .id = id, .n = n};

	assert_true(n && n <= MOST_HOPS);
	memcpy(move.hops, hops, n * sizeof(*hops));
	sent_at_once++;
	send(context, move);
}

static bool step(struct network *net)
{
	sent_at_once = 0;
	bool runs = hs_gpint_prober_step(net->prober, net->now_ns, send_probe, net);
	if (sent_at_once > net->most_at_once)
		net->most_at_once = sent_at_once;
	return runs;
}

void network_session(struct network *net, const struct hs_gpint_plan *plan)
{
	int64_t limit_ns = net->now_ns + HOUR_NS;

	memset(net->delivered, 0, sizeof(net->delivered));
	assert_int_equal(hs_gpint_prober_begin(net->prober, net->now_ns, plan), 0);
	net->feedback_ns = hs_gpint_prober_session(net->prober)->feedback_ns;
	while (step(net)) {
		int64_t due_ns = hs_gpint_prober_next_ns(net->prober);
		bool moves_first = n_moves && moves[0].at_ns <= due_ns;
		net->now_ns = moves_first ? moves[0].at_ns : due_ns;
		if (net->now_ns >= net->dies_ns)
			net->dead[net->dying] = true;
		if (!moves_first)
			continue;
		struct move move = take();
		if (move.to == MONITOR)
			answer(net, &move);
		else
			receive(net, &move);
		assert_true(net->now_ns < limit_ns);
	}
}

void network_init(struct network *net, struct test_graph *graph, uint64_t seed,
		const struct hs_gpint_prober_config *config)
{
	memset(net, 0, sizeof(*net));
	net->graph = graph;
	net->dies_ns = INT64_MAX;
	n_moves = 0;
	memset(seen, 0, sizeof(seen));
	memset(held, 0, sizeof(held));
	hs_rng_init(&net->rng, seed);
	assert_int_equal(hs_gpint_prober_create(config, &net->prober), 0);
}

void network_fini(struct network *net)
{
	hs_gpint_prober_destroy(net->prober);
}
