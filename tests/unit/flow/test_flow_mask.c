// SPDX-License-Identifier: BSD-3-Clause
// Rules for sets of flows: prefixes, any protocol, a DSCP. What a table finds is compared with the
// plainest matcher, which goes over all rules.
#include "dpdk_env.h"
#include "flow_worker.h"
#include "flow_table.h"

#include "ip_address.h"
#include "rng.h"
#include "rule_mask.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#define CAPACITY 256

struct bench {
	struct rte_rcu_qsbr *qsbr;
	struct hs_flow_table *table;
	struct hs_flow_view view;
	uint32_t newest; // namespace
};

static void bench_open(struct bench *b)
{
	b->newest = 0;
	static unsigned serial;
	char name[16];

	snprintf(name, sizeof(name), "m%u", serial++);
	b->qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(1), 64);
	assert_int_equal(rte_rcu_qsbr_init(b->qsbr, 1), 0);
	rte_rcu_qsbr_thread_register(b->qsbr, 0);
	struct hs_flow_table_config config = {
			.name = name, .capacity = CAPACITY, .n_workers = 1, .qsbr = b->qsbr};
	assert_int_equal(hs_flow_table_create(&config, &b->table), 0);
	hs_flow_table_view(b->table, 0, &b->view);
}

static void bench_close(struct bench *b)
{
	hs_flow_table_destroy(b->table);
	rte_free(b->qsbr);
}

// A rule of method int: "10.0.0.0/8" to "0.0.0.0/0".
static struct hs_rule rule_of(uint32_t ns_id, const char *src, const char *dst)
{
	struct hs_rule rule;

	hs_rule_init(&rule);
	rule.ns_id = ns_id;
	rule.method = HS_RULE_INT;
	rule.trace_type = HS_RULE_TRACE_INT | HS_RULE_ASKS_node_id;
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = 1;
	assert_null(hs_ip_prefix_read(src, rule.src_ip, &rule.src_host_bits));
	assert_null(hs_ip_prefix_read(dst, rule.dst_ip, &rule.dst_host_bits));
	return rule;
}

static void install(struct bench *b, const struct hs_rule *rule)
{
	struct hs_error err = {0};

	assert_int_equal(hs_rule_check(rule, &err), 0);
	assert_int_equal(hs_flow_table_install(b->table, rule, NULL, &err), 0);
}

static void remove_rule(struct bench *b, uint32_t ns_id)
{
	struct hs_error err;

	assert_int_equal(hs_flow_table_remove(b->table, ns_id, &err), 0);
}

struct packet {
	bool ipv4;
	uint8_t src[16], dst[16]; // of IPv4, the first four
	uint16_t src_port, dst_port;
	uint8_t protocol, dscp;
};

static void key_of(const struct packet *p, bool dscp, struct hs_flow_key *key)
{
	*key = (struct hs_flow_key){
			.src_port = p->src_port, .dst_port = p->dst_port, .protocol = p->protocol};
	memcpy(key->src_ip, p->src, 16);
	memcpy(key->dst_ip, p->dst, 16);
	if (p->ipv4) {
		hs_ip_address_map(p->src, key->src_ip);
		hs_ip_address_map(p->dst, key->dst_ip);
	}
	key->traits = (uint8_t)((p->ipv4 ? HS_FLOW_IPV4 : 0) | (dscp ? HS_FLOW_DSCP | p->dscp : 0));
}

// Packets name the rule that they match, the rule of `any`, or none.
static void compare_named(struct bench *b, const struct hs_flow_masks *masks,
		const struct hs_flow_tuple *tuples, unsigned n, const uint32_t *slots, uint32_t any)
{
	uint32_t named[64], found[64];

	for (unsigned turn = 0; turn < 3; turn++) {
		for (unsigned i = 0; i < n; i++) {
			bool right = (i + turn) % 3 == 0 && slots[i] != HS_FLOW_NONE;
			uint32_t ns_id = right ? b->view.own[slots[i]].ns_id : any;
			named[i] = (i + turn) % 3 == 1
						   ? HS_FLOW_NONE
						   : hs_flow_by_name_find(&b->view.by_name, ns_id);
		}
		hs_flow_lookup(&b->view, masks, tuples, named, n, found);
		assert_memory_equal(found, slots, n * sizeof(*found));
	}
}

static void match(struct bench *b, const struct packet *packets, unsigned n, uint32_t *ns_ids)
{
	const struct hs_flow_masks *masks = hs_flow_masks_of(&b->view);
	struct hs_flow_tuple tuples[64];
	struct hs_flow_key keys[64];
	uint32_t slots[64];

	for (unsigned i = 0; i < n; i++) {
		key_of(&packets[i], masks->dscp, &keys[i]);
		tuples[i] = hs_flow_key_tuple(&keys[i]);
	}
	hs_flow_lookup(&b->view, masks, tuples, NULL, n, slots);
	for (uint32_t any = b->newest; n > 1 && any + 8 > b->newest; any--)
		compare_named(b, masks, tuples, n, slots, any);
	for (unsigned i = 0; i < n; i++)
		ns_ids[i] = slots[i] == HS_FLOW_NONE ? 0 : b->view.own[slots[i]].ns_id;
}

static uint32_t match_one(struct bench *b, const struct packet *packet)
{
	uint32_t ns_id;

	match(b, packet, 1, &ns_id);
	return ns_id;
}

// ---- the plainest matcher ----

// A rule as the model has it, apart from struct hs_rule and its masks.
struct model_rule {
	uint32_t ns_id, age; // 0: free
	bool ipv4;
	uint8_t src[16], dst[16];
	unsigned src_bits, dst_bits; // lengths of the prefixes
	uint16_t src_port, dst_port;
	int protocol, dscp; // -1: any
};

#define MODEL 60

struct model {
	struct model_rule rules[MODEL];
	uint32_t ages;
};

static bool begins_alike(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++)
		if ((a[i / 8] ^ b[i / 8]) >> (7 - i % 8) & 1)
			return false;
	return true;
}

static bool matches(const struct model_rule *r, const struct packet *p)
{
	int icmp = p->ipv4 ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	int protocol = p->protocol == icmp ? IPPROTO_ICMPV6 : p->protocol;

	return r->ipv4 == p->ipv4 && begins_alike(r->src, p->src, r->src_bits) &&
	       begins_alike(r->dst, p->dst, r->dst_bits) &&
	       (!r->src_port || r->src_port == p->src_port) &&
	       (!r->dst_port || r->dst_port == p->dst_port) &&
	       (r->protocol < 0 || r->protocol == protocol) && (r->dscp < 0 || r->dscp == p->dscp);
}

static bool goes_before(const struct model_rule *a, const struct model_rule *b)
{
	unsigned a_bits = a->src_bits + a->dst_bits, b_bits = b->src_bits + b->dst_bits;
	int a_named = !!a->src_port + !!a->dst_port + (a->protocol >= 0) + (a->dscp >= 0);
	int b_named = !!b->src_port + !!b->dst_port + (b->protocol >= 0) + (b->dscp >= 0);

	if (a_bits != b_bits)
		return a_bits > b_bits;
	return a_named != b_named ? a_named > b_named : a->age < b->age;
}

static uint32_t expected(const struct model *m, const struct packet *p)
{
	const struct model_rule *best = NULL;

	for (unsigned i = 0; i < MODEL; i++) {
		const struct model_rule *rule = &m->rules[i];
		if (rule->ns_id && matches(rule, p) && (!best || goes_before(rule, best)))
			best = rule;
	}
	return best ? best->ns_id : 0;
}

static bool compare_alike(const struct model_rule *a, const struct model_rule *b)
{
	return a->ipv4 == b->ipv4 && a->src_bits == b->src_bits && a->dst_bits == b->dst_bits &&
	       !a->src_port == !b->src_port && !a->dst_port == !b->dst_port &&
	       (a->protocol < 0) == (b->protocol < 0) && (a->dscp < 0) == (b->dscp < 0);
}

// The number of different masks of rules that are like none before them, with `last`.
static unsigned count_masks(const struct model *m, const struct model_rule *last)
{
	unsigned n = 0;

	for (unsigned i = 0; i <= MODEL; i++) {
		const struct model_rule *rule = i < MODEL ? &m->rules[i] : last;
		bool known = !rule->ns_id;
		for (unsigned k = 0; k < i && !known; k++)
			known = m->rules[k].ns_id && compare_alike(rule, &m->rules[k]);
		n += !known;
	}
	return n;
}

// ---- random rules and packets ----

static unsigned draw(struct hs_rng *rng, unsigned n)
{
	return hs_rng_u32(rng) % n;
}

static void draw_address(struct hs_rng *rng, bool ipv4, uint8_t address[16])
{
	memset(address, 0, 16);
	address[0] = ipv4 ? 10 : 0x20;
	for (unsigned i = 1; i < (ipv4 ? 4u : 16u); i += ipv4 ? 1 : 5)
		address[i] = draw(rng, 2) ? 0x81 : 0;
}

static void draw_prefix(struct hs_rng *rng, bool ipv4, uint8_t address[16], unsigned *bits)
{
	static const unsigned few[2][5] = {{128, 48, 9, 9, 0}, {32, 24, 9, 9, 0}};

	*bits = few[ipv4][draw(rng, 5)];
	draw_address(rng, ipv4, address);
	for (unsigned i = *bits; i < 128; i++)
		address[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
}

static struct packet draw_packet(struct hs_rng *rng)
{
	static const uint8_t protocols[] = {IPPROTO_UDP, IPPROTO_TCP, 0};
	static const uint8_t classes[] = {0, 10, 63};
	struct packet p = {.ipv4 = draw(rng, 2), .protocol = protocols[draw(rng, 3)]};

	draw_address(rng, p.ipv4, p.src);
	draw_address(rng, p.ipv4, p.dst);
	p.dscp = classes[draw(rng, 3)];
	if (!p.protocol) {
		p.protocol = p.ipv4 ? IPPROTO_ICMP : IPPROTO_ICMPV6;
		return p;
	}
	p.src_port = (uint16_t)draw(rng, 3);
	p.dst_port = (uint16_t)draw(rng, 3);
	return p;
}

static struct model_rule draw_rule(struct hs_rng *rng, uint32_t ns_id)
{
	static const int protocols[] = {IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMPV6, -1, -1};
	static const int classes[] = {0, 10, 63, -1, -1, -1};
	struct model_rule r = {.ns_id = ns_id, .ipv4 = draw(rng, 2)};

	draw_prefix(rng, r.ipv4, r.src, &r.src_bits);
	draw_prefix(rng, r.ipv4, r.dst, &r.dst_bits);
	r.protocol = protocols[draw(rng, 5)];
	r.dscp = classes[draw(rng, 6)];
	if (r.protocol != IPPROTO_ICMPV6) {
		r.src_port = (uint16_t)draw(rng, 3);
		r.dst_port = (uint16_t)draw(rng, 3);
	}
	return r;
}

static void copy_prefix(bool ipv4, const uint8_t *from, unsigned bits, uint8_t *to, uint8_t *host)
{
	memcpy(to, from, 16);
	if (ipv4)
		hs_ip_address_map(from, to);
	*host = (uint8_t)((ipv4 ? 32 : 128) - bits);
}

static struct hs_rule to_rule(const struct model_rule *r)
{
	struct hs_rule rule = rule_of(r->ns_id, "::", "::");

	copy_prefix(r->ipv4, r->src, r->src_bits, rule.src_ip, &rule.src_host_bits);
	copy_prefix(r->ipv4, r->dst, r->dst_bits, rule.dst_ip, &rule.dst_host_bits);
	rule.src_port = r->src_port;
	rule.dst_port = r->dst_port;
	rule.protocol = r->protocol < 0 ? HS_RULE_ANY_PROTOCOL : (uint8_t)r->protocol;
	rule.dscp = r->dscp < 0 ? 0 : (uint8_t)(HS_RULE_OF_DSCP | r->dscp);
	return rule;
}

// Rules that compare all of a packet but its DSCP, many of them the same.
static struct model_rule draw_whole(struct hs_rng *rng, uint32_t ns_id)
{
	struct model_rule r = draw_rule(rng, ns_id);

	r.dscp = -1;
	if (draw(rng, 8) == 0)
		return r;
	r.src_bits = r.dst_bits = r.ipv4 ? 32 : 128;
	draw_address(rng, r.ipv4, r.src);
	draw_address(rng, r.ipv4, r.dst);
	r.protocol = draw(rng, 2) ? IPPROTO_UDP : IPPROTO_TCP;
	r.src_port = 1;
	r.dst_port = (uint16_t)(1 + draw(rng, 2));
	return r;
}

// Adds the drawn rule where it may, or removes one.
static void change(struct bench *b, struct model *m, struct hs_rng *rng, struct model_rule drawn)
{
	struct model_rule *at = &m->rules[draw(rng, MODEL)];

	if (at->ns_id) {
		remove_rule(b, at->ns_id);
		at->ns_id = 0;
		return;
	}
	struct hs_rule rule = to_rule(&drawn);
	struct hs_error err = {0};
	assert_int_equal(hs_rule_check(&rule, &err), 0);
	int rc = hs_flow_table_install(b->table, &rule, NULL, &err);
	if (count_masks(m, &drawn) > 16) {
		assert_int_equal(rc, -EINVAL);
		assert_string_equal(err.code, "too_many_masks");
		return;
	}
	assert_int_equal(rc, 0);
	*at = drawn;
	b->newest = drawn.ns_id;
	at->age = ++m->ages;
}

static uint64_t compare_with_plain_list(
		struct model_rule (*draw_one)(struct hs_rng *rng, uint32_t ns_id))
{
	struct bench b;
	struct model m = {0};
	struct hs_rng rng;
	uint64_t hits = 0;

	hs_rng_init(&rng, 11);
	bench_open(&b);
	for (uint32_t i = 1; i <= 20000; i++) {
		struct packet packets[8];
		uint32_t found[8];
		change(&b, &m, &rng, draw_one(&rng, i));
		for (unsigned k = 0; k < 8; k++)
			packets[k] = draw_packet(&rng);
		match(&b, packets, 8, found);
		for (unsigned k = 0; k < 8; k++) {
			assert_int_equal(found[k], expected(&m, &packets[k]));
			hits += found[k] != 0;
		}
	}
	for (unsigned i = 0; i < MODEL; i++)
		if (m.rules[i].ns_id)
			remove_rule(&b, m.rules[i].ns_id);
	assert_int_equal(hs_flow_masks_of(&b.view)->n, 0);
	bench_close(&b);
	return hits;
}

static void any_rules_match_as_a_plain_list_says(void **state)
{
	(void)state;
	assert_in_range(compare_with_plain_list(draw_rule), 30000, 150000); // neither few nor all
}

static void a_name_in_a_packet_changes_no_result(void **state)
{
	(void)state;
	assert_in_range(compare_with_plain_list(draw_whole), 10000, 150000);
}

// ---- one thing at a time ----

static struct packet packet_of(const char *src, const char *dst, uint8_t protocol, uint16_t sport,
		uint16_t dport, uint8_t dscp)
{
	struct packet p = {
			.protocol = protocol, .src_port = sport, .dst_port = dport, .dscp = dscp};

	assert_null(hs_ip_address_read(src, p.src));
	assert_null(hs_ip_address_read(dst, p.dst));
	p.ipv4 = hs_ip_address_is_ipv4(p.src);
	if (p.ipv4) {
		memmove(p.src, p.src + 12, 4);
		memmove(p.dst, p.dst + 12, 4);
	}
	return p;
}

static void the_longer_prefixes_win_then_what_names_more_then_the_older(void **state)
{
	const struct packet p = packet_of("10.1.2.3", "192.0.2.1", IPPROTO_UDP, 5, 6, 46);
	struct hs_rule rules[] = {
			rule_of(1, "0.0.0.0/0", "0.0.0.0/0"), rule_of(2, "10.0.0.0/8", "0.0.0.0/0"),
			rule_of(3, "10.0.0.0/8", "0.0.0.0/0"), // and dscp
			rule_of(4, "10.1.2.0/24", "192.0.0.0/8"),
			rule_of(5, "10.1.0.0/16", "192.0.0.0/16"),
			rule_of(6, "10.1.2.3", "192.0.2.1"),
			rule_of(7, "10.1.2.3", "192.0.2.1"), // and a port
	};
	struct bench b;
	(void)state;
	rules[2].dscp = HS_RULE_OF_DSCP | 46;
	rules[0].protocol = IPPROTO_UDP;
	rules[6].dst_port = 6;
	bench_open(&b);
	for (unsigned i = 0; i < 4; i++) {
		install(&b, &rules[i]);
		assert_int_equal(match_one(&b, &p), i + 1);
	}
	install(&b, &rules[4]); // as long together as rule 4, and younger
	assert_int_equal(match_one(&b, &p), 4);
	remove_rule(&b, 4);
	install(&b, &rules[3]);
	assert_int_equal(match_one(&b, &p), 5);
	install(&b, &rules[5]);
	assert_int_equal(match_one(&b, &p), 6);
	install(&b, &rules[6]);
	assert_int_equal(match_one(&b, &p), 7);
	for (uint32_t ns_id = 7; ns_id > 2; ns_id--)
		remove_rule(&b, ns_id);
	assert_int_equal(match_one(&b, &p), 2);
	bench_close(&b);
}

static void a_rule_with_the_same_prefix_text_and_another_length_is_another_rule(void **state)
{
	const struct packet near = packet_of("10.0.0.9", "192.0.2.1", IPPROTO_UDP, 5, 6, 0),
			    far = packet_of("10.0.9.9", "192.0.2.1", IPPROTO_UDP, 5, 6, 0);
	struct hs_rule wide = rule_of(1, "10.0.0.0/8", "0.0.0.0/0"),
		       narrow = rule_of(2, "10.0.0.0/24", "0.0.0.0/0");
	uint32_t shadow = 9;
	struct bench b;
	(void)state;
	bench_open(&b);
	install(&b, &wide);
	assert_int_equal(hs_flow_table_install(b.table, &narrow, &shadow, NULL), 0);
	assert_int_equal(shadow, 0);
	assert_int_equal(match_one(&b, &near), 2);
	assert_int_equal(match_one(&b, &far), 1);
	struct hs_rule same = rule_of(3, "10.0.0.0/24", "0.0.0.0/0");
	assert_int_equal(hs_flow_table_install(b.table, &same, &shadow, NULL), 0);
	assert_int_equal(shadow, 2);
	remove_rule(&b, 2);
	assert_int_equal(match_one(&b, &near), 3);
	bench_close(&b);
}

// Prefix length n of 17, each another mask.
static struct hs_rule nth(unsigned n)
{
	char text[24];

	snprintf(text, sizeof(text), "%u.0.0.0/%u", n < 8 ? 0 : 10, n);
	return rule_of(n + 1, text, "0.0.0.0/0");
}

static void the_seventeenth_mask_is_refused_until_one_is_free(void **state)
{
	struct hs_error err = {0};
	struct bench b;
	(void)state;
	bench_open(&b);
	for (unsigned n = 8; n < 24; n++) {
		struct hs_rule rule = nth(n);
		install(&b, &rule);
	}
	struct hs_rule more = nth(24), other = nth(9);
	assert_int_equal(hs_flow_table_install(b.table, &more, NULL, &err), -EINVAL);
	assert_string_equal(err.code, "too_many_masks");
	for (unsigned n = 8; n < 24; n++) {
		char text[32];
		snprintf(text, sizeof(text), "IPv4 /%u to /0", n);
		assert_non_null(strstr(err.expected, text));
	}
	assert_non_null(strstr(err.message, "IPv4 /24 to /0"));
	assert_int_equal(hs_flow_table_count(b.table), 16);
	assert_int_equal(hs_flow_table_masks(b.table)->n, 16);
	other.ns_id = 99; // of a mask in use, although behind another rule
	install(&b, &other);
	remove_rule(&b, 10);
	assert_int_equal(hs_flow_table_install(b.table, &more, NULL, &err), -EINVAL);
	remove_rule(&b, 99);
	install(&b, &more);
	const struct packet p = packet_of("10.0.0.1", "192.0.2.1", IPPROTO_UDP, 5, 6, 0);
	assert_int_equal(match_one(&b, &p), 25);
	bench_close(&b);
}

static void reverse_entries_need_no_mask_of_the_rules(void **state)
{
	struct hs_rule forward;
	uint32_t slot, again;
	struct bench b;
	(void)state;
	bench_open(&b);
	for (unsigned n = 8; n < 24; n++) {
		struct hs_rule rule = nth(n);
		install(&b, &rule);
	}
	forward = rule_of(77, "2001:db8::1", "2001:db8::2");
	forward.protocol = IPPROTO_UDP;
	for (unsigned ports = 0; ports < 4; ports++) {
		forward.src_port = ports & 1 ? 5 : 0;
		forward.dst_port = ports & 2 ? 6 : 0;
		assert_int_equal(hs_flow_table_add_reverse(b.table, &forward, &slot), 0);
		again = hs_flow_table_reverse(b.table, &forward);
		assert_int_equal(again, slot);
	}
	bench_close(&b);
}

static void rules_overlap_where_a_packet_matches_both(void **state)
{
	static const struct {
		const char *src, *dst;
		uint8_t protocol, dscp;
		uint16_t port;
		bool overlaps; // with the first
	} rows[] = {
			{"10.0.0.0/8", "192.0.2.1", IPPROTO_UDP, HS_RULE_OF_DSCP | 3, 0, true},
			{"10.1.0.0/16", "192.0.0.0/8", 0, 0, 7, true},
			{"0.0.0.0/0", "0.0.0.0/0", 0, 0, 0, true},
			{"11.0.0.0/8", "192.0.2.1", IPPROTO_UDP, 0, 0, false},
			{"10.1.2.3", "192.0.2.2", IPPROTO_UDP, 0, 0, false},
			{"10.1.2.3", "192.0.2.1", IPPROTO_TCP, 0, 0, false},
			{"10.1.2.3", "192.0.2.1", 0, HS_RULE_OF_DSCP | 4, 0, false},
			{"10.1.2.3", "192.0.2.1", 0, HS_RULE_OF_DSCP | 3, 0, true},
			{"::/0", "::/0", 0, 0, 0, false},
	};
	struct bench b;
	(void)state;
	bench_open(&b);
	for (uint32_t i = 0; i < RTE_DIM(rows); i++) {
		struct hs_rule rule = rule_of(i + 1, rows[i].src, rows[i].dst);
		rule.protocol = rows[i].protocol;
		rule.dscp = rows[i].dscp;
		rule.src_port = rows[i].port;
		install(&b, &rule);
		uint32_t first = hs_flow_table_find(b.table, 1),
			 slot = hs_flow_table_find(b.table, i + 1);
		assert_int_equal(hs_flow_overlap(&b.view, first, slot), rows[i].overlaps);
		assert_int_equal(hs_flow_overlap(&b.view, slot, first), rows[i].overlaps);
	}
	struct hs_rule ping = rule_of(50, "10.0.0.0/8", "0.0.0.0/0");
	ping.protocol = IPPROTO_ICMPV6;
	install(&b, &ping);
	uint32_t at = hs_flow_table_find(b.table, 50);
	assert_false(hs_flow_overlap(&b.view, at, hs_flow_table_find(b.table, 2))); // has a port
	assert_true(hs_flow_overlap(&b.view, at, hs_flow_table_find(b.table, 3)));
	bench_close(&b);
}

// ---- changes while a worker looks up ----

struct reader {
	struct bench *bench;
	atomic_bool stop;
	uint64_t lookups, misses;
};

static void *look_up_all_the_time(void *context)
{
	const struct packet p[2] = {packet_of("10.1.2.3", "192.0.2.1", IPPROTO_UDP, 5, 6, 46),
			packet_of("2001:db8::1", "2001:db8::2", IPPROTO_UDP, 5, 6, 0)};
	struct reader *r = context;

	dpdk_env_unpin();
	rte_rcu_qsbr_thread_online(r->bench->qsbr, 0);
	while (!atomic_load(&r->stop)) {
		uint32_t found[2];
		match(r->bench, p, 2, found);
		r->misses += found[0] != 1;
		r->misses += found[1] != 2;
		r->lookups++;
		rte_rcu_qsbr_quiescent(r->bench->qsbr, 0);
	}
	rte_rcu_qsbr_thread_offline(r->bench->qsbr, 0);
	return NULL;
}

static void masks_that_come_and_go_never_make_a_packet_miss_its_rule(void **state)
{
	struct hs_rule stay = rule_of(1, "10.1.2.0/24", "192.0.2.0/24"),
		       exact = rule_of(2, "2001:db8::1", "2001:db8::2");
	struct hs_rng rng;
	struct bench b;
	pthread_t thread;
	(void)state;
	hs_rng_init(&rng, 3);
	exact.protocol = IPPROTO_UDP;
	exact.src_port = 5;
	exact.dst_port = 6;
	bench_open(&b);
	install(&b, &stay);
	install(&b, &exact);
	struct reader reader = {.bench = &b};
	assert_int_equal(pthread_create(&thread, NULL, look_up_all_the_time, &reader), 0);
	for (uint32_t round = 0; round < 20000 || reader.lookups < 1000; round++) {
		// It matches the first packet too, and less well.
		struct hs_rule rule = rule_of(10 + round, "10.0.0.0/8", "192.0.0.0/8");
		if (draw(&rng, 2))
			rule = rule_of(10 + round, "10.0.0.0/9", "0.0.0.0/0");
		rule.dscp = draw(&rng, 2) ? HS_RULE_OF_DSCP | 46 : 0;
		rule.protocol = draw(&rng, 2) ? IPPROTO_UDP : 0;
		install(&b, &rule);
		remove_rule(&b, 10 + round);
		if (round % 64 == 0)
			sched_yield();
	}
	atomic_store(&reader.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(reader.misses, 0);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					the_longer_prefixes_win_then_what_names_more_then_the_older),
			cmocka_unit_test(
					a_rule_with_the_same_prefix_text_and_another_length_is_another_rule),
			cmocka_unit_test(the_seventeenth_mask_is_refused_until_one_is_free),
			cmocka_unit_test(reverse_entries_need_no_mask_of_the_rules),
			cmocka_unit_test(rules_overlap_where_a_packet_matches_both),
			cmocka_unit_test(any_rules_match_as_a_plain_list_says),
			cmocka_unit_test(a_name_in_a_packet_changes_no_result),
			cmocka_unit_test(masks_that_come_and_go_never_make_a_packet_miss_its_rule),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests_name("flow mask", tests, NULL, NULL);
}
