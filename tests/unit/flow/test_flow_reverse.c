// SPDX-License-Identifier: BSD-3-Clause
// Reverse entries: hidden entries for packets that no rule matches; and the pending options of
// slots.
#include "dpdk_env.h"
#include "flow_sampling.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "flow_bench.h"

// Of the flow from host 1 to host 2, or back.
static struct hs_rule rule_between(
		uint32_t ns_id, uint8_t src, uint16_t sport, uint8_t dst, uint16_t dport)
{
	struct hs_rule rule = rule_of(ns_id, 0, sport, dport);

	rule.src_ip[15] = src;
	rule.dst_ip[15] = dst;
	return rule;
}

static struct hs_rule forward(uint16_t sport, uint16_t dport)
{
	return rule_between(99, 1, sport, 2, dport);
}

static void install_back(struct bench *b, uint32_t ns_id, uint16_t sport, uint16_t dport)
{
	struct hs_rule rule = rule_between(ns_id, 2, sport, 1, dport);
	struct hs_error err = {0};

	assert_int_equal(hs_flow_table_install(b->table, &rule, NULL, &err), 0);
}

static uint32_t add_reverse(struct bench *b, uint16_t sport, uint16_t dport)
{
	struct hs_rule rule = forward(sport, dport);
	uint32_t slot;

	assert_int_equal(hs_flow_table_add_reverse(b->table, &rule, &slot), 0);
	return slot;
}

// What a packet of the way back finds.
static uint32_t found(struct bench *b, uint16_t sport, uint16_t dport)
{
	struct hs_flow_key key = {.src_port = sport, .dst_port = dport, .protocol = IPPROTO_UDP};

	key.src_ip[0] = key.dst_ip[0] = 0x20;
	key.src_ip[15] = 2;
	key.dst_ip[15] = 1;
	return hs_flow_lookup_one(&b->view, &key);
}

static uint32_t found_ns(struct bench *b, uint16_t sport, uint16_t dport)
{
	uint32_t slot = found(b, sport, dport);
	return slot == HS_FLOW_NONE ? 0 : b->view.own[slot].ns_id;
}

static uint32_t reverse(struct bench *b, uint16_t sport, uint16_t dport)
{
	struct hs_rule rule = forward(sport, dport);
	return hs_flow_table_reverse(b->table, &rule);
}

static void a_reverse_entry_is_found_by_packets_that_go_back_and_by_nobody_else(void **state)
{
	struct bench b;
	uint32_t cursor = HS_FLOW_NONE;
	struct hs_rng rng;
	(void)state;
	hs_rng_init(&rng, 1);
	bench_open(&b, 16, 1);
	assert_int_equal(reverse(&b, 10, 20), HS_FLOW_NONE);
	uint32_t slot = add_reverse(&b, 10, 20);
	assert_true(slot >= b.view.n_rules);
	assert_int_equal(found(&b, 20, 10), slot);
	assert_int_equal(found(&b, 10, 20), HS_FLOW_NONE);
	assert_int_equal(reverse(&b, 10, 20), slot);
	assert_int_equal(hs_flow_table_count(b.table), 0);
	assert_int_equal(hs_flow_table_find(b.table, 0), HS_FLOW_NONE);
	assert_null(hs_flow_table_rule(b.table, slot));
	assert_false(hs_flow_table_next(b.table, &cursor));
	assert_false(hs_flow_is_of(&b.view, slot, 0));
	for (int i = 0; i < 1000; i++)
		assert_false(hs_flow_due(&b.view.own[slot], &rng, i));
	hs_flow_table_remove_reverse(b.table, slot);
	assert_int_equal(found(&b, 20, 10), HS_FLOW_NONE);
	assert_int_equal(hs_flow_masks_of(&b.view)->n, 0);
	bench_close(&b);
}

static void a_rule_of_the_same_tuple_goes_before_a_reverse_entry_and_leaves_it_behind(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 16, 1);
	uint32_t entry = add_reverse(&b, 10, 20);
	for (int i = 0; i < 3; i++) {
		install_back(&b, 1, 20, 10);
		assert_int_equal(found_ns(&b, 20, 10), 1);
		install_back(&b, 2, 20, 10); // waits behind the first, before the reverse entry
		uint32_t second = hs_flow_table_find(b.table, 2);
		assert_int_equal(hs_flow_table_shadowed_by(b.table, second), 1);
		assert_int_equal(reverse(&b, 10, 20), hs_flow_table_find(b.table, 1));
		remove_rule(&b, 1);
		assert_int_equal(found(&b, 20, 10), second);
		remove_rule(&b, 2);
		assert_int_equal(found(&b, 20, 10), entry);
	}
	install_back(&b, 1, 20, 10);
	hs_flow_table_remove_reverse(b.table, entry); // while it waits
	assert_int_equal(found_ns(&b, 20, 10), 1);
	entry = add_reverse(&b, 10, 20); // behind a rule that was first
	assert_int_equal(found_ns(&b, 20, 10), 1);
	remove_rule(&b, 1);
	assert_int_equal(found(&b, 20, 10), entry);
	hs_flow_table_remove_reverse(b.table, entry);
	assert_int_equal(hs_flow_masks_of(&b.view)->n, 0);
	bench_close(&b);
}

// Otherwise its reports would take a rule's packets away from it.
static void a_reverse_entry_gives_way_to_rules_of_any_port_too(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 16, 1);
	uint32_t exact = add_reverse(&b, 10, 20);
	install_back(&b, 1, 0, 0);
	assert_int_equal(found_ns(&b, 20, 10), 1);
	assert_int_equal(reverse(&b, 10, 20), hs_flow_table_find(b.table, 1));
	install_back(&b, 2, 20, 0);
	install_back(&b, 3, 0, 10);
	assert_int_equal(found_ns(&b, 20, 10), 2);
	remove_rule(&b, 2);
	assert_int_equal(found_ns(&b, 20, 10), 3);
	remove_rule(&b, 3);
	remove_rule(&b, 1);
	assert_int_equal(found(&b, 20, 10), exact);

	// Of reverse entries, the most specific.
	uint32_t any_destination = add_reverse(&b, 0, 20);
	uint32_t any = add_reverse(&b, 0, 0);
	assert_int_equal(found(&b, 20, 10), exact);
	assert_int_equal(found(&b, 20, 11), any_destination);
	assert_int_equal(found(&b, 21, 11), any);
	install_back(&b, 4, 20, 11);
	assert_int_equal(found_ns(&b, 20, 11), 4);
	bench_close(&b);
}

static void reverse_entries_of_one_tuple_are_one_until_all_who_asked_are_gone(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 16, 1);
	uint32_t slot = add_reverse(&b, 10, 20);
	assert_int_equal(add_reverse(&b, 10, 20), slot);
	install_back(&b, 1, 20, 10);
	assert_int_equal(add_reverse(&b, 10, 20), slot);
	remove_rule(&b, 1);
	hs_flow_table_remove_reverse(b.table, slot);
	hs_flow_table_remove_reverse(b.table, slot);
	assert_int_equal(found(&b, 20, 10), slot);
	hs_flow_table_remove_reverse(b.table, slot);
	assert_int_equal(found(&b, 20, 10), HS_FLOW_NONE);
	bench_close(&b);
}

static void reverse_entries_and_rules_take_no_place_from_each_other(void **state)
{
	struct bench b;
	struct hs_rule rule = forward(1, 9999);
	struct hs_error err = {0};
	uint32_t slot, reverses = 0;
	(void)state;
	bench_open(&b, 1000, 1);
	while (hs_flow_table_add_reverse(b.table, &rule, &slot) == 0) {
		rule.src_port++;
		reverses++;
	}
	assert_in_range(reverses, 64, 1000);
	for (uint32_t i = 1; i <= 1000; i++)
		install_back(&b, i, (uint16_t)i, 5);
	rule = rule_between(1001, 2, 1001, 1, 5);
	assert_int_equal(hs_flow_table_install(b.table, &rule, NULL, &err), -ENOSPC);
	for (uint32_t i = 1; i <= 3000; i++) { // over each other's dying slots
		uint16_t port = (uint16_t)(1 + i % reverses);
		hs_flow_table_remove_reverse(b.table, found(&b, 9999, port));
		remove_rule(&b, i);
		install_back(&b, 1000 + i, (uint16_t)(1000 + i), 5);
		add_reverse(&b, port, 9999);
		assert_int_equal(found_ns(&b, (uint16_t)(1000 + i), 5), 1000 + i);
	}
	bench_close(&b);
}

static void an_offer_lives_as_long_as_its_slot_and_a_grace_period_more(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 1, 1);
	install_back(&b, 1, 20, 10);
	uint32_t slot = hs_flow_table_find(b.table, 1);
	assert_null(b.view.pending[slot]);
	assert_false(hs_flow_is_pending(&b.view.own[slot]));
	struct hs_flow_pending *pending = hs_flow_table_pending(b.table, slot);
	assert_ptr_equal(hs_flow_table_pending(b.table, slot), pending);
	assert_ptr_equal(b.view.pending[slot], pending);
	assert_false(hs_flow_pending_holds(pending));
	hs_flow_table_pending_set(b.table, slot, true);
	assert_true(hs_flow_is_pending(&b.view.own[slot]));

	rte_rcu_qsbr_thread_online(b.qsbr, 0); // a worker in the middle of a burst
	remove_rule(&b, 1);
	hs_flow_table_reclaim(b.table);
	assert_ptr_equal(b.view.pending[slot], pending);
	rte_rcu_qsbr_quiescent(b.qsbr, 0);
	hs_flow_table_reclaim(b.table);
	assert_null(b.view.pending[slot]);
	rte_rcu_qsbr_thread_offline(b.qsbr, 0);

	struct hs_rule in_band = rule_between(2, 2, 20, 1, 10);
	struct hs_error err = {0};
	in_band.in_band = true;
	assert_int_equal(hs_flow_table_install(b.table, &in_band, NULL, &err), 0);
	assert_int_equal(hs_flow_table_find(b.table, 2), slot);
	assert_true(hs_flow_is_pending(&b.view.own[slot]));
	assert_true(hs_flow_pending_holds(hs_flow_table_pending(b.table, slot)));
	bench_close(&b);
}

static void a_reverse_entry_keeps_its_pending_options_while_a_rule_is_before_it(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 4, 1);
	uint32_t slot = add_reverse(&b, 10, 20);
	struct hs_flow_pending *pending = hs_flow_table_pending(b.table, slot);
	hs_flow_table_pending_set(b.table, slot, true);
	install_back(&b, 1, 20, 10);
	remove_rule(&b, 1);
	hs_flow_table_reclaim(b.table);
	assert_int_equal(found(&b, 20, 10), slot);
	assert_ptr_equal(b.view.pending[slot], pending);
	assert_true(hs_flow_is_pending(&b.view.own[slot]));
	bench_close(&b);
}

// ---- any order of changes, against the plainest model ----

#define MODEL 40

struct model {
	unsigned n, ages;
	struct thing {
		uint32_t ns_id; // 0: a reverse entry, of so many users
		unsigned users, age;
		uint16_t sport, dport; // of the way back
		uint32_t slot;
	} things[MODEL];
};

static bool matches(const struct thing *thing, uint16_t sport, uint16_t dport)
{
	return (!thing->sport || thing->sport == sport) && (!thing->dport || thing->dport == dport);
}

// Rules before reverse entries; both ports, then one, then none; of rules the older, of reverse
// entries with one port the one that names the destination's.
static bool goes_before(const struct thing *a, const struct thing *b)
{
	unsigned a_any = !a->sport + !a->dport, b_any = !b->sport + !b->dport;

	if (!a->ns_id != !b->ns_id)
		return a->ns_id != 0;
	if (a_any != b_any)
		return a_any < b_any;
	return a->ns_id ? a->age < b->age : a->dport != 0;
}

static uint32_t expected(const struct model *m, uint16_t sport, uint16_t dport)
{
	const struct thing *best = NULL;

	for (unsigned i = 0; i < m->n; i++)
		if (matches(&m->things[i], sport, dport) &&
				(!best || goes_before(&m->things[i], best)))
			best = &m->things[i];
	return best ? best->slot : HS_FLOW_NONE;
}

static void add_thing(
		struct model *m, uint32_t ns_id, uint16_t sport, uint16_t dport, uint32_t slot)
{
	for (unsigned i = 0; !ns_id && i < m->n; i++) {
		if (m->things[i].ns_id == 0 && m->things[i].slot == slot) {
			m->things[i].users++;
			return;
		}
	}
	m->things[m->n++] = (struct thing){ns_id, 1, m->ages++, sport, dport, slot};
}

static void drop_thing(struct bench *b, struct model *m, unsigned at)
{
	struct thing *thing = &m->things[at];

	if (thing->ns_id)
		remove_rule(b, thing->ns_id);
	else
		hs_flow_table_remove_reverse(b->table, thing->slot);
	if (thing->ns_id || --thing->users == 0)
		*thing = m->things[--m->n];
}

static void change(struct bench *b, struct model *m, struct hs_rng *rng, uint32_t ns_id)
{
	static const uint16_t sports[] = {0, 20, 21}, dports[] = {0, 10, 11};
	uint16_t sport = sports[hs_rng_u32(rng) % 3], dport = dports[hs_rng_u32(rng) % 3];
	unsigned kind = hs_rng_u32(rng) % 4;

	if (m->n == MODEL || (m->n && kind < 2)) {
		drop_thing(b, m, hs_rng_u32(rng) % m->n);
	} else if (kind == 3) {
		add_thing(m, 0, sport, dport, add_reverse(b, dport, sport));
	} else {
		install_back(b, ns_id, sport, dport);
		add_thing(m, ns_id, sport, dport, hs_flow_table_find(b->table, ns_id));
	}
}

static void compare_all(struct bench *b, const struct model *m)
{
	for (uint16_t sport = 20; sport <= 22; sport++) {
		for (uint16_t dport = 10; dport <= 12; dport++) {
			uint32_t want = expected(m, sport, dport);
			assert_int_equal(found(b, sport, dport), want);
			assert_int_equal(reverse(b, dport, sport), want);
		}
	}
}

static void reverse_entries_and_rules_in_any_order_are_found_as_a_model_says(void **state)
{
	struct bench b;
	struct model m = {0};
	struct hs_rng rng;
	(void)state;
	hs_rng_init(&rng, 5);
	bench_open(&b, MODEL, 1);
	for (uint32_t i = 1; i <= 20000; i++) {
		change(&b, &m, &rng, i);
		compare_all(&b, &m);
	}
	while (m.n)
		drop_thing(&b, &m, 0);
	assert_int_equal(hs_flow_masks_of(&b.view)->n, 0);
	bench_close(&b);
}

int main(void)
{
	dpdk_env_init("64");
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_reverse_entry_is_found_by_packets_that_go_back_and_by_nobody_else),
			cmocka_unit_test(
					a_rule_of_the_same_tuple_goes_before_a_reverse_entry_and_leaves_it_behind),
			cmocka_unit_test(a_reverse_entry_gives_way_to_rules_of_any_port_too),
			cmocka_unit_test(
					reverse_entries_of_one_tuple_are_one_until_all_who_asked_are_gone),
			cmocka_unit_test(reverse_entries_and_rules_take_no_place_from_each_other),
			cmocka_unit_test(
					an_offer_lives_as_long_as_its_slot_and_a_grace_period_more),
			cmocka_unit_test(
					a_reverse_entry_keeps_its_pending_options_while_a_rule_is_before_it),
			cmocka_unit_test(
					reverse_entries_and_rules_in_any_order_are_found_as_a_model_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
