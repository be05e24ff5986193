// SPDX-License-Identifier: BSD-3-Clause
#include "sim.h"

#include "flexint.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

struct packet {
	int64_t t_ns; // when it is at the present node, in true time
	uint64_t number;
	uint64_t order; // ties keep the order of transmission
	uint32_t bytes;
	bool telemetry;
	bool duplicate;
	bool other;
	struct sim_report *trail;
};

struct counter {
	uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes;
	uint64_t all_rx_packets, all_tx_packets, all_rx_bytes;
	unsigned resets;
};

struct sim {
	const struct sim_config *config;
	struct sim_result *result;
	struct hs_rng rng;
	struct packet *packets;
	size_t n, capacity;
	struct packet *spare; // where packets go on the next link
	size_t spare_capacity;
};

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static bool chance(struct sim *sim, uint32_t ppm)
{
	return ppm && hs_rng_u32(&sim->rng) % 1000000 < ppm;
}

struct sim_config sim_defaults(uint64_t seed)
{
	struct sim_config config = {
			.seed = seed,
			.n_nodes = 4,
			.start_ns = 1700000000000000000ll,
			.duration_ns = 10000000000ll,
			.gap_ns = 100000,
			.min_bytes = 562,
			.max_bytes = 562,
			.sample_every = 10,
			.e2e_bitmap = HS_E2E_TIMESTAMP | HS_E2E_TX_PACKETS | HS_E2E_TX_BYTES,
	};
	for (unsigned i = 0; i < SIM_MAX_NODES; i++)
		config.nodes[i] =
				(struct sim_node){.id = (uint16_t)(i + 1), .bitmap = HS_HOP_KNOWN};
	for (unsigned i = 0; i <= SIM_MAX_NODES; i++)
		config.links[i].delay_ns = 1000000;
	return config;
}

static struct packet *append(struct sim *sim)
{
	if (sim->n == sim->capacity) {
		sim->capacity = sim->capacity ? 2 * sim->capacity : 4096;
		sim->packets = must(realloc(sim->packets, sim->capacity * sizeof(struct packet)));
	}
	struct packet *packet = &sim->packets[sim->n++];
	memset(packet, 0, sizeof(*packet));
	return packet;
}

static bool has_passed(int64_t at_ns, int64_t now_ns)
{
	return at_ns && now_ns >= at_ns;
}

static bool maybe_reset(struct counter *counter, int64_t reset_ns, int64_t again_ns, int64_t now_ns)
{
	unsigned resets = has_passed(reset_ns, now_ns) + has_passed(again_ns, now_ns);
	if (resets == counter->resets)
		return false;
	*counter = (struct counter){
			.resets = resets,
			.all_rx_packets = counter->all_rx_packets,
			.all_tx_packets = counter->all_tx_packets,
			.all_rx_bytes = counter->all_rx_bytes,
	};
	return true;
}

static bool is_within(int64_t from_ns, int64_t length_ns, int64_t now_ns)
{
	return from_ns && now_ns >= from_ns && now_ns < from_ns + length_ns;
}

static void source(struct sim *sim)
{
	const struct sim_config *config = sim->config;
	struct counter counter = {
			.tx_packets = config->source_packets,
			.tx_bytes = config->source_bytes,
	};
	uint32_t sampled = 0, since = 0;
	for (int64_t t = 0; t < config->duration_ns; t += config->gap_ns) {
		if (config->off_ns && t % (config->on_ns + config->off_ns) >= config->on_ns)
			continue;
		struct packet *packet = append(sim);
		packet->t_ns = config->start_ns + t;
		packet->number = ++sim->result->n_packets;
		packet->bytes = config->min_bytes +
				hs_rng_u32(&sim->rng) % (config->max_bytes - config->min_bytes + 1);
		packet->other = (config->other_from_ns && t >= config->other_from_ns) ||
				chance(sim, config->other_ppm) ||
				(config->other_every && packet->number % config->other_every == 0);
		if (maybe_reset(&counter, config->source_reset_ns, config->source_again_ns, t))
			sampled = since = 0;
		counter.tx_packets++;
		counter.all_tx_packets++;
		counter.tx_bytes += packet->bytes;
		packet->telemetry = config->sample_every ? ++since >= config->sample_every
							 : chance(sim, config->sample_ppm);
		if (!packet->telemetry)
			continue;
		since = 0;
		packet->trail = must(calloc(1, sizeof(*packet->trail)));
		packet->trail->number = packet->number;
		packet->trail->counts[0] = (struct sim_count){
				.valid = true,
				.ts_ns = packet->t_ns + config->source_offset_ns,
				.tx_packets = counter.tx_packets,
				.tx_bytes = counter.tx_bytes,
				.all_tx_packets = counter.all_tx_packets,
		};
		packet->trail->report.telemetry.family = &hs_flexint_family;
		packet->trail->report.telemetry.e2e = (struct hs_e2e){
				.bitmap = config->e2e_bitmap,
				.int_packets = ++sampled,
				.ts_ns = (uint64_t)(packet->t_ns + config->source_offset_ns),
				.tx_packets = (uint32_t)counter.tx_packets,
				.tx_bytes = (uint32_t)counter.tx_bytes,
		};
	}
}

static int by_arrival(const void *a, const void *b)
{
	const struct packet *x = a, *y = b;
	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool in_burst(const struct sim_link *link, uint64_t number)
{
	return link->burst_period && number % link->burst_period < link->burst_len;
}

static int64_t flight(struct sim *sim, const struct sim_link *link)
{
	int64_t jitter = link->jitter_ns ? (int64_t)(hs_rng_u64(&sim->rng) %
							   (uint64_t)link->jitter_ns)
					 : 0;
	return link->delay_ns + jitter;
}

static void cross_link(struct sim *sim, unsigned i)
{
	const struct sim_link *link = &sim->config->links[i];
	size_t before = sim->n, before_capacity = sim->capacity, kept = 0;
	struct packet *old = sim->packets;
	sim->packets = sim->spare;
	sim->n = 0;
	sim->capacity = sim->spare_capacity;
	for (size_t k = 0; k < before; k++) {
		struct packet packet = old[k];
		int64_t at_ns = packet.t_ns - sim->config->start_ns;
		bool down = is_within(link->down_ns, link->up_ns - link->down_ns, at_ns);
		if (down || in_burst(link, packet.number) || chance(sim, link->loss_ppm) ||
				(packet.telemetry && chance(sim, link->telemetry_loss_ppm))) {
			if (!packet.duplicate)
				sim->result->fate[packet.number] = (uint8_t)(1 + 2 * i);
			free(packet.trail);
			continue;
		}
		int64_t sent_ns = packet.t_ns;
		packet.t_ns = sent_ns + flight(sim, link);
		if (packet.other && sim->config->other_id && sim->config->other_at == i)
			packet.t_ns += sim->config->other_delay_ns;
		packet.order = kept++;
		*append(sim) = packet;
		if (!chance(sim, link->duplicate_ppm))
			continue;
		sim->result->duplicated[i]++;
		packet.t_ns = sent_ns + flight(sim, link);
		packet.order = kept++;
		packet.duplicate = true;
		if (packet.trail) {
			struct sim_report *copy = must(malloc(sizeof(*copy)));
			*copy = *packet.trail;
			copy->duplicate = true;
			packet.trail = copy;
		}
		*append(sim) = packet;
	}
	sim->spare = old;
	sim->spare_capacity = before_capacity;
	// Most links keep the order.
	for (size_t k = 1; k < sim->n; k++) {
		if (by_arrival(&sim->packets[k - 1], &sim->packets[k]) < 0)
			continue;
		qsort(sim->packets, sim->n, sizeof(struct packet), by_arrival);
		break;
	}
}

static uint16_t choose_fields(struct sim *sim, const struct sim_node *node, uint64_t number)
{
	uint16_t bitmap = node->bitmap;
	for (unsigned bit = HS_HOP_BYTES; bit <= HS_HOP_PACKETS; bit <<= 1)
		if (chance(sim, node->leave_out_ppm))
			bitmap &= (uint16_t)~bit;
	if (node->leave_out_every && number % node->leave_out_every)
		bitmap &= HS_HOP_TIMESTAMP;
	return bitmap;
}

static void write_entry(struct sim *sim, struct packet *packet, uint16_t id,
		const struct sim_node *node, const struct counter *counter, struct sim_count *count)
{
	struct hs_decoded *telemetry = &packet->trail->report.telemetry;
	memmove(&telemetry->hops[1], &telemetry->hops[0],
			telemetry->n_hops * sizeof(telemetry->hops[0]));
	telemetry->n_hops++;
	*count = (struct sim_count){true, id, packet->t_ns + node->offset_ns, counter->rx_packets,
			counter->tx_packets, counter->rx_bytes, counter->tx_bytes,
			counter->all_rx_packets, counter->all_tx_packets, counter->all_rx_bytes};
	telemetry->hops[0] = (struct hs_hop){
			.node_id = id,
			.bitmap = choose_fields(sim, node, packet->number),
			.tx_packets = (uint16_t)counter->tx_packets,
			.rx_packets = (uint16_t)counter->rx_packets,
			.ts_ns = (uint64_t)(packet->t_ns + node->offset_ns),
			.tx_bytes = (uint32_t)counter->tx_bytes,
			.rx_bytes = (uint32_t)counter->rx_bytes,
	};
}

static void pass_node(struct sim *sim, unsigned i)
{
	const struct sim_config *config = sim->config;
	const struct sim_node *node = &config->nodes[i];
	struct counter counters[2] = {0};
	counters[0].rx_packets = counters[0].tx_packets = node->first_packets;
	counters[0].rx_bytes = counters[0].tx_bytes = node->first_bytes;
	size_t kept = 0;
	for (size_t k = 0; k < sim->n; k++) {
		struct packet packet = sim->packets[k];
		bool other = packet.other && config->other_id && config->other_at == i;
		struct counter *counter = &counters[other];
		bool blind = !packet.telemetry && chance(sim, node->blind_ppm);
		int64_t at_ns = packet.t_ns - config->start_ns;
		bool down = is_within(node->reset_ns, node->down_ns, at_ns);
		bool ruleless = is_within(node->reset_ns, node->blind_ns, at_ns);
		if (!ruleless) // counts from its rule's installation
			maybe_reset(counter, node->reset_ns, node->again_ns, at_ns);
		blind |= ruleless;
		counter->rx_packets += !blind && !down;
		counter->rx_bytes += blind || down ? 0 : packet.bytes;
		counter->all_rx_packets += !down;
		counter->all_rx_bytes += down ? 0 : packet.bytes;
		if (down || chance(sim, node->loss_ppm)) {
			if (!packet.duplicate)
				sim->result->fate[packet.number] = (uint8_t)(2 + 2 * i);
			free(packet.trail);
			continue;
		}
		counter->tx_packets += !blind;
		counter->tx_bytes += blind ? 0 : packet.bytes;
		counter->all_tx_packets++;
		if (packet.telemetry && !ruleless)
			write_entry(sim, &packet, other ? config->other_id : node->id, node,
					counter, &packet.trail->counts[i + 1]);
		sim->packets[kept++] = packet;
	}
	sim->n = kept;
}

static void sink(struct sim *sim)
{
	struct counter counter = {0};
	struct sim_result *result = sim->result;
	size_t sampled = 0;
	for (size_t k = 0; k < sim->n; k++)
		sampled += sim->packets[k].telemetry;
	result->reports = must(malloc((sampled + 1) * sizeof(struct sim_report)));
	for (size_t k = 0; k < sim->n; k++) {
		struct packet *packet = &sim->packets[k];
		maybe_reset(&counter, sim->config->sink_reset_ns, 0,
				packet->t_ns - sim->config->start_ns);
		counter.rx_packets++;
		counter.all_rx_packets++;
		counter.rx_bytes += packet->bytes;
		counter.all_rx_bytes += packet->bytes;
		if (!packet->telemetry)
			continue;
		struct sim_report *report = packet->trail;
		report->report.telemetry.ns_id = 7;
		report->report.telemetry.trace_type = 0x7000E000;
		report->report.sink_ts_ns = packet->t_ns;
		report->report.sink_rx_packets = counter.rx_packets;
		report->report.sink_rx_bytes = counter.rx_bytes;
		report->counts[result->n_nodes + 1] = (struct sim_count){
				.valid = true,
				.ts_ns = packet->t_ns,
				.rx_packets = counter.rx_packets,
				.rx_bytes = counter.rx_bytes,
				.all_rx_packets = counter.all_rx_packets,
				.all_rx_bytes = counter.all_rx_bytes,
		};
		if (!chance(sim, sim->config->report_loss_ppm))
			result->reports[result->n_reports++] = *report;
		free(report);
	}
}

void sim_run(const struct sim_config *config, struct sim_result *result)
{
	struct sim sim = {.config = config, .result = result};
	// Runs take and give back the same pages: the kernel need not clear them each time.
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	memset(result, 0, sizeof(*result));
	result->n_nodes = config->n_nodes;
	hs_rng_init(&sim.rng, config->seed);
	source(&sim);
	result->fate = must(calloc(result->n_packets + 1, 1));
	for (unsigned i = 0; i < config->n_nodes; i++) {
		cross_link(&sim, i);
		pass_node(&sim, i);
	}
	cross_link(&sim, config->n_nodes);
	sink(&sim);
	free(sim.packets);
	free(sim.spare);
}

void sim_free(struct sim_result *result)
{
	free(result->reports);
	free(result->fate);
}

static uint64_t count_fate(
		const struct sim_result *result, uint8_t fate, uint64_t after, uint64_t until)
{
	uint64_t n = 0;
	for (uint64_t i = after + 1; i <= until; i++)
		n += result->fate[i] == fate;
	return n;
}

uint64_t sim_lost_on_link(
		const struct sim_result *result, unsigned i, uint64_t after, uint64_t until)
{
	return count_fate(result, (uint8_t)(1 + 2 * i), after, until);
}

uint64_t sim_lost_in_node(
		const struct sim_result *result, unsigned i, uint64_t after, uint64_t until)
{
	return count_fate(result, (uint8_t)(2 + 2 * i), after, until);
}
