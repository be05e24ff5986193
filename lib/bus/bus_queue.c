// SPDX-License-Identifier: BSD-3-Clause
#include "bus_queue.h"

#include "array.h"
#include "u32_map.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// A row exists for each client with requests that wait or are under way. The routing id identifies
// a client; it does not change while messages of the client are here.
struct hs_bus_row {
	struct hs_bus_visit visit;
	struct hs_bus_route *first, **last;
	unsigned under_way;
	struct hs_bus_row *next_in_turn; // next row with requests
	uint32_t number;		 // in rows[]
	uint32_t hash;			 // of the id
	size_t id_len;
	uint8_t id[];
};

struct hs_bus_queue {
	struct hs_bus_gate *gate;
	size_t n_rows;
	struct hs_bus_row **rows;
	struct hs_u32_map by_id;	  // hash -> rows[]
	struct hs_bus_row *first, **last; // the first row has the next turn
};

struct hs_bus_queue *hs_bus_queue_create(struct hs_bus_gate *gate)
{
	struct hs_bus_queue *queue = calloc(1, sizeof(*queue));

	if (queue) {
		queue->gate = gate;
		queue->last = &queue->first;
	}
	return queue;
}

static struct hs_bus_route *shift(struct hs_bus_row *row)
{
	struct hs_bus_route *route = row->first;

	row->first = route->next;
	if (!row->first)
		row->last = &row->first;
	route->next = NULL;
	return route;
}

void hs_bus_queue_destroy(struct hs_bus_queue *queue)
{
	if (!queue)
		return;
	for (size_t i = 0; i < queue->n_rows; i++) {
		while (queue->rows[i]->first)
			hs_bus_route_free(shift(queue->rows[i]));
		free(queue->rows[i]);
	}
	free(queue->rows);
	hs_u32_map_fini(&queue->by_id);
	free(queue);
}

// ---- rows ----

static struct hs_bus_row *add(
		struct hs_bus_queue *queue, const uint8_t *id, size_t len, uint32_t hash)
{
	struct hs_bus_row *row = calloc(1, sizeof(*row) + len);
	uint32_t number = (uint32_t)queue->n_rows;

	if (!row || !HS_ARRAY_APPEND(queue->rows, queue->n_rows, row))
		goto free_row;
	if (hs_u32_map_add(&queue->by_id, hash, number) < 0)
		goto remove_row;
	row->last = &row->first;
	row->number = number;
	row->hash = hash;
	row->id_len = len;
	memcpy(row->id, id, len);
	return row;

remove_row:
	queue->n_rows--;
free_row:
	free(row);
	return NULL;
}

static struct hs_bus_row *row_of(struct hs_bus_queue *queue, struct hs_bus_route *route)
{
	const uint8_t *id = zmq_msg_data(&route->parts[0]);
	size_t len = zmq_msg_size(&route->parts[0]);
	uint32_t hash = hs_u32_map_hash(id, len);
	uint32_t probe = 0, i;

	while ((i = hs_u32_map_next(&queue->by_id, hash, &probe)) != HS_U32_MAP_NONE)
		if (queue->rows[i]->id_len == len && memcmp(queue->rows[i]->id, id, len) == 0)
			return queue->rows[i];
	return add(queue, id, len, hash);
}

static void forget_if_idle(struct hs_bus_queue *queue, struct hs_bus_row *row)
{
	if (row->first || row->under_way > 0)
		return;
	hs_u32_map_erase(&queue->by_id, row->hash, row->number);
	struct hs_bus_row *last = queue->rows[--queue->n_rows];
	if (last != row) {
		hs_u32_map_replace(&queue->by_id, last->hash, last->number, row->number);
		last->number = row->number;
		queue->rows[row->number] = last;
	}
	free(row);
}

static void enlist(struct hs_bus_queue *queue, struct hs_bus_row *row)
{
	row->next_in_turn = NULL;
	*queue->last = row;
	queue->last = &row->next_in_turn;
}

static struct hs_bus_row *delist_first(struct hs_bus_queue *queue)
{
	struct hs_bus_row *row = queue->first;

	queue->first = row->next_in_turn;
	if (!queue->first)
		queue->last = &queue->first;
	return row;
}

// ---- requests ----

bool hs_bus_queue_put(struct hs_bus_queue *queue, struct hs_bus_route *route)
{
	struct hs_bus_row *row = row_of(queue, route);

	if (!row)
		return false;
	if (route->visit.serial)
		row->visit = route->visit;
	if (!row->first)
		enlist(queue, row);
	route->row = row;
	route->next = NULL;
	*row->last = route;
	row->last = &route->next;
	hs_bus_gate_parked(queue->gate, route->visit);
	return true;
}

static bool is_still(struct hs_bus_queue *queue, const struct hs_bus_row *row)
{
	return row->under_way >= HS_BUS_UNDER_WAY || hs_bus_gate_choked(queue->gate, row->visit);
}

static struct hs_bus_route *take_from(struct hs_bus_queue *queue, struct hs_bus_row *row)
{
	struct hs_bus_route *route = shift(row);

	row->under_way++;
	hs_bus_gate_taken(queue->gate, route->visit, route->weight, true);
	if (row->first)
		enlist(queue, row);
	return route;
}

struct hs_bus_route *hs_bus_queue_next(struct hs_bus_queue *queue)
{
	const struct hs_bus_row *begin = queue->first;

	while (queue->first) {
		struct hs_bus_row *row = delist_first(queue);
		if (!is_still(queue, row))
			return take_from(queue, row);
		enlist(queue, row);
		if (queue->first == begin)
			break;
	}
	return NULL;
}

void hs_bus_queue_done(struct hs_bus_queue *queue, struct hs_bus_row *row)
{
	if (!row)
		return;
	row->under_way--;
	forget_if_idle(queue, row);
}

bool hs_bus_queue_is_ready(struct hs_bus_queue *queue)
{
	for (const struct hs_bus_row *row = queue->first; row; row = row->next_in_turn)
		if (!is_still(queue, row))
			return true;
	return false;
}
