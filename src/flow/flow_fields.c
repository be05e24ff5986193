// SPDX-License-Identifier: BSD-3-Clause
#include "flow_fields.h"

#include "rule_fields.h"
#include "telemetry_model.h"

#include <stdlib.h>
#include <string.h>

#include <rte_rcu_qsbr.h>

static bool is_threshold(const struct hs_partial_field *field)
{
	return !field->unsupported && field->policy == HS_PARTIAL_THRESHOLD;
}

bool hs_partial_has_threshold(const struct hs_partial *config)
{
	return is_threshold(&config->packets) || is_threshold(&config->timestamp) ||
	       is_threshold(&config->bytes);
}

static void add_row(
		struct hs_partial_rows *rows, uint16_t bit, const struct hs_partial_field *field)
{
	if (field->unsupported)
		return;
	if (field->policy == HS_PARTIAL_ALWAYS) {
		rows->always |= bit;
		return;
	}
	struct hs_partial_row row = {
			.bit = bit,
			.policy = field->policy,
			.max_age_ns = field->max_age_ns,
	};
	if (field->policy == HS_PARTIAL_PROBABILITY)
		row.share = (uint64_t)(field->probability_percent / 100 * 4294967296.0 + 0.5);
	else
		row.min_change = field->min_change;
	rows->rows[rows->n_rows++] = row;
}

void hs_partial_rows_make(const struct hs_partial *config, struct hs_partial_rows *rows)
{
	*rows = (struct hs_partial_rows){0};
	add_row(rows, HS_HOP_PACKETS, &config->packets);
	add_row(rows, HS_HOP_TIMESTAMP, &config->timestamp);
	add_row(rows, HS_HOP_BYTES, &config->bytes);
}

// ---- of rules ----

// Limits a field to what the node supports: a rule cannot enable a field that the node does not.
static void limit(struct hs_partial_field *field, const struct hs_partial_field *node)
{
	if (node->unsupported)
		*field = *node;
}

struct hs_flow_fields *hs_flow_fields_make(const struct hs_flow_field_store *store, uint32_t number)
{
	struct hs_partial partial = *hs_rule_fields_of(number);
	size_t bytes = sizeof(struct hs_flow_fields) +
		       store->n_workers * sizeof(struct hs_partial_last);
	struct hs_flow_fields *fields =
			aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_CACHE_LINE_ROUNDUP(bytes));

	if (!fields)
		return NULL;
	memset(fields, 0, bytes);
	limit(&partial.packets, &store->node.packets);
	limit(&partial.timestamp, &store->node.timestamp);
	limit(&partial.bytes, &store->node.bytes);
	hs_partial_rows_make(&partial, &fields->rows);
	return fields;
}

void hs_flow_fields_replace(struct hs_flow_field_store *store,
		struct hs_flow_fields *_Atomic *place, struct hs_flow_fields *fields)
{
	struct hs_flow_fields *old = atomic_exchange_explicit(place, fields, memory_order_acq_rel);

	if (!old)
		return;
	// A worker may read the old fields until the worker's burst ends.
	old->token = rte_rcu_qsbr_start(store->qsbr);
	old->next = store->old;
	store->old = old;
}

void hs_flow_fields_reclaim(struct hs_flow_field_store *store)
{
	struct hs_flow_fields **at = &store->old, *old;

	while ((old = *at)) {
		if (rte_rcu_qsbr_check(store->qsbr, old->token, false) != 1) {
			at = &old->next;
			continue;
		}
		*at = old->next;
		free(old);
	}
}

void hs_flow_fields_fini(struct hs_flow_field_store *store)
{
	while (store->old) {
		struct hs_flow_fields *old = store->old;
		store->old = old->next;
		free(old);
	}
}
