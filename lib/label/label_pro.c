// SPDX-License-Identifier: BSD-3-Clause
#include "label_pro.h"

static void set_shift(struct hs_label_wish *wish, unsigned shift, int64_t now_ns)
{
	wish->shift = (uint8_t)shift;
	wish->changed_ns = now_ns;
	wish->confirmed = wish->sent = false;
}

static void adapt(const struct hs_label_pro *pro, struct hs_label_entry *entry, int64_t now_ns)
{
	struct hs_label_wish *wish = &entry->wish;
	int64_t since_ns = entry->seen ? entry->received_ns : entry->known_ns;

	if (!entry->active || now_ns - wish->changed_ns <= pro->patience_ns)
		return;
	if (now_ns - since_ns > pro->patience_ns) {
		if (wish->shift < pro->max_shift)
			set_shift(wish, wish->shift + 1u, now_ns);
	} else if (wish->shift) {
		set_shift(wish, wish->shift - 1u, now_ns);
	}
}

unsigned hs_label_pro_step(const struct hs_label_pro *pro, struct hs_label_database *database,
		int64_t now_ns, hs_label_tell_fn tell, void *context)
{
	unsigned told = 0;

	for (uint32_t i = 0; i < hs_label_database_count(database); i++) {
		struct hs_label_entry *entry = hs_label_database_entry(database, i);
		struct hs_label_wish *wish = &entry->wish;
		adapt(pro, entry, now_ns);
		if (wish->confirmed || (wish->sent && now_ns - wish->sent_ns < pro->repeat_ns) ||
				!tell(context, entry->node_id, entry->port, wish->shift))
			continue;
		wish->sent = true;
		wish->sent_ns = now_ns;
		told++;
	}
	return told;
}

void hs_label_pro_confirm(
		struct hs_label_database *database, uint16_t node_id, uint8_t port, uint8_t shift)
{
	struct hs_label_entry *entry = hs_label_database_find(database, node_id, port);

	if (entry && entry->wish.shift == shift)
		entry->wish.confirmed = true;
}

void hs_label_pro_set(struct hs_label_database *database, int64_t now_ns, uint16_t node_id,
		uint8_t port, uint8_t shift)
{
	struct hs_label_entry *entry = hs_label_database_find(database, node_id, port);

	if (!entry)
		return;
	set_shift(&entry->wish, shift, now_ns);
	entry->wish.confirmed = true;
}

void hs_label_pro_doubt(
		struct hs_label_database *database, uint16_t node_id, uint8_t port, uint8_t shift)
{
	struct hs_label_entry *entry = hs_label_database_find(database, node_id, port);

	if (entry && entry->wish.confirmed && entry->wish.shift != shift)
		entry->wish.confirmed = entry->wish.sent = false;
}

void hs_label_pro_restart(struct hs_label_database *database, uint16_t node_id)
{
	for (uint32_t i = 0; i < hs_label_database_count(database); i++) {
		struct hs_label_entry *entry = hs_label_database_entry(database, i);
		if (entry->node_id == node_id)
			entry->wish.confirmed = entry->wish.sent = false;
	}
}
