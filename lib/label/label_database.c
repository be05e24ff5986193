// SPDX-License-Identifier: BSD-3-Clause
#include "label_database.h"

#include "u32_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MASK ((UINT64_C(1) << HS_LABEL_TIME_BITS) - 1)
#define TIME_HALF (UINT64_C(1) << (HS_LABEL_TIME_BITS - 1))

struct hs_label_database {
	struct hs_label_database_config config;
	struct hs_u32_map map; // from node and port to the place in entries
	struct hs_label_entry *entries;
	struct hs_label_value *values; // config.series of each entry
	uint32_t n;
	int64_t from_ns; // when the open interval began
	bool began;
	struct hs_label_coverage coverage;
	uint64_t taken[HS_LABEL_N_TAKEN];
	uint64_t forgotten;
};

static uint32_t key_of(uint16_t node_id, uint8_t port)
{
	return (uint32_t)node_id << 8 | port;
}

static uint64_t values_bytes(const struct hs_label_database_config *config)
{
	return (uint64_t)config->ports * config->series * sizeof(struct hs_label_value);
}

int hs_label_database_create(
		const struct hs_label_database_config *config, struct hs_label_database **database)
{
	struct hs_label_database *db = calloc(1, sizeof(*db));

	if (!db)
		return -ENOMEM;
	db->config = *config;
	db->coverage.min = 1;
	db->entries = calloc(config->ports, sizeof(*db->entries));
	db->values = malloc(values_bytes(config));
	if (!db->entries || !db->values || hs_u32_map_init(&db->map, config->ports)) {
		hs_label_database_destroy(db);
		return -ENOMEM;
	}
	*database = db;
	return 0;
}

void hs_label_database_destroy(struct hs_label_database *db)
{
	if (!db)
		return;
	hs_u32_map_fini(&db->map);
	free(db->entries);
	free(db->values);
	free(db);
}

// ---- entries ----

struct hs_label_entry *hs_label_database_find(
		const struct hs_label_database *db, uint16_t node_id, uint8_t port)
{
	uint32_t at = hs_u32_map_find(&db->map, key_of(node_id, port));

	return at == HS_U32_MAP_NONE ? NULL : &db->entries[at];
}

struct hs_label_entry *hs_label_database_entry(const struct hs_label_database *db, uint32_t i)
{
	return &db->entries[i];
}

uint32_t hs_label_database_count(const struct hs_label_database *db)
{
	return db->n;
}

static struct hs_label_entry *add(
		struct hs_label_database *db, int64_t now_ns, uint16_t node_id, uint8_t port)
{
	struct hs_label_entry *entry = &db->entries[db->n];

	if (db->n == db->config.ports || hs_u32_map_add(&db->map, key_of(node_id, port), db->n) < 0)
		return NULL;
	*entry = (struct hs_label_entry){
			.node_id = node_id,
			.port = port,
			.active = true,
			.known_ns = now_ns,
			.wish = {.changed_ns = now_ns},
	};
	db->n++;
	return entry;
}

static struct hs_label_value *values_of(
		const struct hs_label_database *db, const struct hs_label_entry *entry)
{
	return db->values + (size_t)(entry - db->entries) * db->config.series;
}

// The last entry takes the place of the one that goes.
static void forget(struct hs_label_database *db, struct hs_label_entry *entry)
{
	uint32_t at = (uint32_t)(entry - db->entries), last = --db->n;
	const struct hs_label_entry *moved = &db->entries[last];

	hs_u32_map_erase(&db->map, key_of(entry->node_id, entry->port), at);
	db->forgotten++;
	if (at == last)
		return;
	hs_u32_map_replace(&db->map, key_of(moved->node_id, moved->port), last, at);
	memcpy(values_of(db, entry), values_of(db, moved),
			db->config.series * sizeof(struct hs_label_value));
	*entry = *moved;
}

uint32_t hs_label_database_series(const struct hs_label_database *db,
		const struct hs_label_entry *entry, struct hs_label_value *values, uint32_t n)
{
	const struct hs_label_value *ring = values_of(db, entry);
	uint32_t i;

	for (i = 0; i < n && i < db->config.series && i < entry->n_series; i++)
		values[i] = ring[(entry->n_series - 1 - i) % db->config.series];
	return i;
}

// ---- coverage ----

static void count_interval(struct hs_label_database *db, uint32_t ports, uint32_t seen, uint64_t n)
{
	struct hs_label_coverage *coverage = &db->coverage;

	if (!n)
		return;
	coverage->last_ports = ports;
	coverage->last_seen = seen;
	if (!ports)
		return;
	double share = (double)seen / ports;
	coverage->intervals += n;
	coverage->whole += seen == ports ? n : 0;
	coverage->sum += share * (double)n;
	coverage->min = share < coverage->min ? share : coverage->min;
}

// Closes the intervals that ended before now_ns. Only the first one can have items, because no item
// was taken since.
static void close_intervals(struct hs_label_database *db, int64_t now_ns)
{
	int64_t length_ns = db->config.interval_ns;
	uint32_t ports = 0, seen = 0;

	if (!db->began) {
		db->from_ns = now_ns - now_ns % length_ns;
		db->began = true;
	}
	int64_t n = (now_ns - db->from_ns) / length_ns;
	if (n <= 0)
		return;
	for (uint32_t i = 0; i < db->n; i++) {
		struct hs_label_entry *entry = &db->entries[i];
		bool was_seen = entry->seen && entry->received_ns >= db->from_ns;
		ports += entry->active;
		seen += entry->active && was_seen;
		entry->missed = !entry->active ? 0
				: was_seen     ? (uint64_t)n - 1
					       : entry->missed + (uint64_t)n;
	}
	count_interval(db, ports, seen, 1);
	count_interval(db, ports, 0, (uint64_t)n - 1);
	db->from_ns += n * length_ns;
}

const struct hs_label_coverage *hs_label_database_coverage(const struct hs_label_database *db)
{
	return &db->coverage;
}

void hs_label_database_step(struct hs_label_database *db, int64_t now_ns)
{
	close_intervals(db, now_ns);
	for (uint32_t i = db->n; i > 0; i--) {
		struct hs_label_entry *entry = &db->entries[i - 1];
		if (now_ns - entry->known_ns <= db->config.age_ns)
			continue;
		if (entry->expected)
			entry->seen = false;
		else
			forget(db, entry);
	}
}

// ---- items ----

static bool is_newer(uint64_t us, uint64_t than_us)
{
	uint64_t ahead = (us - than_us) & TIME_MASK;

	return ahead && ahead < TIME_HALF;
}

static enum hs_label_taken take(
		struct hs_label_database *db, int64_t now_ns, const struct hs_label_item *item)
{
	struct hs_label_entry *entry = hs_label_database_find(db, item->node_id, item->egress_port);
	bool is_new = !entry || !entry->seen;

	if (!entry)
		entry = add(db, now_ns, item->node_id, item->egress_port);
	if (!entry)
		return HS_LABEL_TAKEN_NO_ROOM;
	if (!is_new && !is_newer(item->egress_us, entry->item.egress_us))
		return HS_LABEL_TAKEN_OLDER;
	entry->item = *item;
	entry->seen = true;
	entry->received_ns = entry->known_ns = now_ns;
	entry->items++;
	values_of(db, entry)[entry->n_series++ % db->config.series] = (struct hs_label_value){
			.received_ns = now_ns,
			.latency_us = hs_label_item_latency_us(item),
			.queue_packets = item->enqueue_packets,
			.queue_us = item->queue_us,
	};
	return is_new ? HS_LABEL_TAKEN_NEW : HS_LABEL_TAKEN_NEWER;
}

enum hs_label_taken hs_label_database_take(
		struct hs_label_database *db, int64_t now_ns, const struct hs_label_item *item)
{
	close_intervals(db, now_ns);
	enum hs_label_taken taken = take(db, now_ns, item);
	db->taken[taken]++;
	return taken;
}

void hs_label_database_take_export(
		struct hs_label_database *db, int64_t now_ns, const struct hs_label_export *export)
{
	struct hs_label_item item;

	for (size_t i = export->n_items; i > 0; i--) {
		hs_label_item_read(export->items + (i - 1) * HS_LABEL_ITEM_BYTES, &item);
		hs_label_database_take(db, now_ns, &item);
	}
}

int hs_label_database_set_active(struct hs_label_database *db, int64_t now_ns, uint16_t node_id,
		uint8_t port, bool active)
{
	struct hs_label_entry *entry = hs_label_database_find(db, node_id, port);

	close_intervals(db, now_ns);
	if (!entry && active)
		entry = add(db, now_ns, node_id, port);
	if (!entry)
		return active ? -ENOSPC : 0;
	if (active && !entry->active)
		entry->wish.changed_ns = now_ns; // the silence before it was active says nothing
	entry->active = entry->expected = active;
	return 0;
}

void hs_label_database_set_unknown(struct hs_label_database *db, int64_t now_ns, uint16_t node_id)
{
	close_intervals(db, now_ns);
	for (uint32_t i = 0; i < db->n; i++)
		if (db->entries[i].node_id == node_id)
			db->entries[i].expected = false;
}

const uint64_t *hs_label_database_taken(const struct hs_label_database *db)
{
	return db->taken;
}

uint64_t hs_label_database_forgotten(const struct hs_label_database *db)
{
	return db->forgotten;
}
