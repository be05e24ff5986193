// SPDX-License-Identifier: BSD-3-Clause
// Any datagrams: a collector reads them within their bytes, its counters balance, and its fast
// paths tell and know what its general path does. The input: a byte of settings, then datagrams,
// each behind two bytes of length. The highest bit of a length says that the datagram comes in one
// burst with the next.
#include "fuzz.h"

#include "collect_parts.h"

#include <string.h>

static uint64_t points[2];
static unsigned side;

static void tell(void *context, const struct hs_collect_event *event)
{
	(void)context;
	HOLDS(event->n_points && event->n_points <= HS_COLLECT_MAX_POINTS);
	for (unsigned i = 0; i < event->n_points; i++) {
		const struct hs_collect_point *p = &event->points[i];
		HOLDS(p->kind < HS_COLLECT_POINT_KINDS && p->cause < HS_COLLECT_CAUSES);
		HOLDS(p->kind > HS_COLLECT_POINT_HOP || event->flow);
		points[side] = points[side] * 31 + p->value + p->id + p->before + p->node_id;
	}
}

static struct hs_collect *create(uint8_t settings)
{
	struct hs_collect_config config;
	struct hs_collect *c;

	hs_collect_config_init(&config);
	config.max_flows = 4;
	config.max_queues = config.max_links = config.max_exporters = config.max_drops = 3;
	config.new_keys_per_s = 100;
	config.push_ns = 1000;
	config.intercollector = settings & 1;
	if (settings & 2)
		config.formats[settings >> 2 & 1].taken = false;
	for (unsigned i = 0; i < 3; i++) {
		struct hs_int_settings *packet = &config.formats[i].packet;
		if (settings & 8)
			hs_int_settings_init(packet, settings >> 4 & 3, settings >> 6 & 3);
	}
	HOLDS(!hs_collect_create(&config, tell, NULL, &c, NULL));
	c->general = side;
	return c;
}

static void balances(const struct hs_collect *c)
{
	const struct hs_collect_counters *n = hs_collect_counters(c);
	uint64_t refused = 0, datagrams = n->refused[HS_COLLECT_REFUSED_VERSION] +
					  n->refused[HS_COLLECT_REFUSED_SHORT];

	for (unsigned i = 0; i < HS_COLLECT_REFUSALS; i++)
		refused += n->refused[i];
	HOLDS(n->datagrams == n->datagrams_read + datagrams);
	HOLDS(n->reports == n->reports_read + n->reports_skipped + refused - datagrams);
	HOLDS(n->flows <= 4 && n->queues <= 3 && n->links <= 3 && n->exporters <= 3);
}

static void read_all(const struct hs_collect *c)
{
	struct hs_collect_flow flow;
	struct hs_collect_queue queue;
	uint64_t cursor = 0;

	while (hs_collect_flows(c, &cursor, &flow, 1)) {
		HOLDS(flow.n_hops <= HS_COLLECT_MAX_HOPS);
		uint32_t hash = hs_collect_hash_flow(&c->secret, &flow.key);
		HOLDS(hs_collect_flow_number(c, &flow.key, hash) != HS_COLLECT_NONE);
	}
	cursor = 0;
	while (hs_collect_queues(c, &cursor, &queue, 1))
		HOLDS(queue.last_ns);
}

static void free_burst(const struct hs_collect_datagram *burst, unsigned n)
{
	for (unsigned i = 0; i < n; i += 2)
		free((void *)(burst[i].bytes - 1));
}

// Adds the datagram twice. Its end is that of its memory.
static void add(struct hs_collect_datagram *burst, const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len + 1);

	HOLDS(copy);
	memcpy(copy + 1, data, len);
	burst[0] = burst[1] = (struct hs_collect_datagram){.bytes = copy + 1, .len = (uint32_t)len};
}

static void take_all(struct hs_collect *c, const uint8_t *data, size_t size)
{
	struct hs_collect_datagram burst[2 * HS_COLLECT_BURST];
	int64_t now = 1000000000;
	unsigned n = 0;

	for (size_t at = 0; at + 2 <= size;) {
		size_t len = (data[at] & 0x7fu) << 8 | data[at + 1];
		bool more = data[at] & 0x80;
		at += 2;
		len = len < size - at ? len : size - at;
		add(&burst[n], data + at, len);
		n += 2;
		at += len;
		if (more && at + 2 <= size && n < 2 * HS_COLLECT_BURST)
			continue;
		hs_collect_take(c, burst, n, now);
		hs_collect_push(c, now, 2);
		free_burst(burst, n);
		n = 0;
		now += 300000000;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hs_collect *both[2];

	if (!size)
		return 0;
	for (side = 0; side < 2; side++) {
		points[side] = 0;
		both[side] = create(data[0]);
		take_all(both[side], data + 1, size - 1);
		balances(both[side]);
		read_all(both[side]);
	}
	HOLDS(points[0] == points[1]);
	HOLDS(!memcmp(&both[0]->counters, &both[1]->counters, sizeof(both[0]->counters)));
	hs_collect_destroy(both[0]);
	hs_collect_destroy(both[1]);
	return 0;
}
