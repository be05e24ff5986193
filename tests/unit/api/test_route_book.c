// SPDX-License-Identifier: BSD-3-Clause
#include "route_book.h"
#include "route_text.h"

#include "ip_address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hs_route_entry entry_of(
		const char *prefix, enum hs_route_kind kind, uint16_t port, const char *via)
{
	struct hs_route_entry entry = {.kind = (uint8_t)kind, .port = port};

	assert_null(hs_route_read_prefix(prefix, entry.prefix, &entry.depth));
	memset(entry.mac, port, sizeof(entry.mac));
	if (via)
		assert_null(hs_ip_address_read(via, entry.via));
	return entry;
}

static int add(struct hs_route_book *book, const char *prefix, enum hs_route_kind kind,
		uint16_t port, const char *via, struct hs_error *err)
{
	struct hs_route_entry entry = entry_of(prefix, kind, port, via);
	return hs_route_book_add(book, &entry, err);
}

static int take(struct hs_route_book *book, const char *prefix, bool neighbour,
		struct hs_error *err)
{
	struct hs_route_entry entry = entry_of(prefix, HS_ROUTE_DIRECT, 0, NULL);
	return hs_route_book_delete(book, entry.prefix, entry.depth, neighbour, err);
}

static const struct hs_route_entry *find(const struct hs_route_book *book, const char *prefix)
{
	struct hs_route_entry entry = entry_of(prefix, HS_ROUTE_DIRECT, 0, NULL);
	return hs_route_book_find(book, entry.prefix, entry.depth);
}

static void routes_via_a_neighbour_follow_it(void **state)
{
	struct hs_route_book *book = hs_route_book_create(8);
	struct hs_error err = {0};
	size_t n;
	(void)state;
	assert_int_not_equal(add(book, "2001:db8::/32", HS_ROUTE_VIA, 0, "fe80::1", &err), 0);
	assert_string_equal(err.code, "no_such_neighbour");
	assert_int_equal(add(book, "fe80::1", HS_ROUTE_NEIGHBOUR, 3, NULL, &err), 0);
	assert_int_equal(add(book, "2001:db8::/32", HS_ROUTE_VIA, 0, "fe80::1", &err), 0);
	assert_int_equal(add(book, "2001:db9::/32", HS_ROUTE_DIRECT, 5, NULL, &err), 0);
	assert_int_equal(find(book, "2001:db8::/32")->port, 3);
	hs_route_book_forget_changes(book);
	assert_int_equal(add(book, "fe80::1", HS_ROUTE_NEIGHBOUR, 4, NULL, &err), 0);
	assert_int_equal(find(book, "2001:db8::/32")->port, 4);
	assert_int_equal(find(book, "2001:db8::/32")->mac[5], 4);
	assert_int_equal(find(book, "2001:db9::/32")->port, 5);
	const struct hs_route_change *changes = hs_route_book_changes(book, &n);
	assert_int_equal(n, 2); // the neighbour's own and the one via it
	assert_int_equal(changes[1].depth, 32);
	assert_int_equal(changes[1].port, 4);
	assert_int_not_equal(take(book, "fe80::1", true, &err), 0);
	assert_string_equal(err.code, "in_use");
	// A route that changes its way releases its neighbour.
	assert_int_equal(add(book, "2001:db8::/32", HS_ROUTE_DIRECT, 6, NULL, &err), 0);
	assert_int_equal(take(book, "fe80::1", true, &err), 0);
	assert_int_equal(hs_route_book_neighbours(book), 0);
	assert_int_equal(hs_route_book_count(book), 2);
	hs_route_book_destroy(book);
}

static void a_prefix_is_a_route_or_a_neighbour(void **state)
{
	struct hs_route_book *book = hs_route_book_create(8);
	struct hs_error err = {0};
	(void)state;
	assert_int_equal(add(book, "2001:db8::1", HS_ROUTE_NEIGHBOUR, 1, NULL, &err), 0);
	assert_int_equal(add(book, "2001:db8::2", HS_ROUTE_DIRECT, 1, NULL, &err), 0);
	assert_int_not_equal(add(book, "2001:db8::1", HS_ROUTE_DIRECT, 2, NULL, &err), 0);
	assert_string_equal(err.code, "in_use");
	assert_int_not_equal(add(book, "2001:db8::2", HS_ROUTE_NEIGHBOUR, 2, NULL, &err), 0);
	assert_string_equal(err.code, "in_use");
	assert_int_not_equal(take(book, "2001:db8::1", false, &err), 0);
	assert_string_equal(err.code, "no_such_route");
	assert_int_not_equal(take(book, "2001:db8::2", true, &err), 0);
	assert_string_equal(err.code, "no_such_neighbour");
	// Nor does a route go via one that is no neighbour.
	assert_int_not_equal(add(book, "::/0", HS_ROUTE_VIA, 0, "2001:db8::2", &err), 0);
	assert_string_equal(err.code, "no_such_neighbour");
	assert_int_equal(hs_route_book_count(book), 2);
	hs_route_book_destroy(book);
}

static void a_full_book_still_replaces(void **state)
{
	struct hs_route_book *book = hs_route_book_create(2);
	struct hs_error err = {0};
	(void)state;
	assert_int_equal(add(book, "fe80::1", HS_ROUTE_NEIGHBOUR, 1, NULL, &err), 0);
	assert_int_equal(add(book, "::/0", HS_ROUTE_VIA, 1, "fe80::1", &err), 0);
	assert_int_not_equal(add(book, "2001::/16", HS_ROUTE_DIRECT, 1, NULL, &err), 0);
	assert_string_equal(err.code, "table_full");
	assert_int_equal(add(book, "::/0", HS_ROUTE_DIRECT, 2, NULL, &err), 0);
	assert_int_equal(take(book, "fe80::1", true, &err), 0);
	assert_int_equal(add(book, "2001::/16", HS_ROUTE_DIRECT, 1, NULL, &err), 0);
	hs_route_book_destroy(book);
}

static void a_copy_is_a_book_of_its_own(void **state)
{
	struct hs_route_book *book = hs_route_book_create(8), *copy;
	struct hs_error err = {0};
	size_t n;
	(void)state;
	assert_int_equal(add(book, "fe80::1", HS_ROUTE_NEIGHBOUR, 1, NULL, &err), 0);
	assert_int_equal(add(book, "::/0", HS_ROUTE_VIA, 1, "fe80::1", &err), 0);
	copy = hs_route_book_clone(book);
	hs_route_book_changes(copy, &n);
	assert_int_equal(n, 0);
	assert_int_equal(take(copy, "::/0", false, &err), 0);
	assert_int_equal(take(copy, "fe80::1", true, &err), 0);
	assert_int_equal(add(copy, "2001::/16", HS_ROUTE_DIRECT, 1, NULL, &err), 0);
	assert_int_equal(hs_route_book_count(book), 2);
	assert_int_equal(find(book, "fe80::1")->users, 1);
	assert_null(find(book, "2001::/16"));
	hs_route_book_destroy(copy);
	hs_route_book_destroy(book);
}

// ---- against an array that is searched from end to end ----

#define MODEL 64

struct model {
	unsigned n;
	struct hs_route_entry entries[MODEL];
};

static struct hs_route_entry *model_find(struct model *model, const struct hs_route_entry *key)
{
	for (unsigned i = 0; i < model->n; i++) {
		if (model->entries[i].depth == key->depth &&
				memcmp(model->entries[i].prefix, key->prefix, 16) == 0)
			return &model->entries[i];
	}
	return NULL;
}

static void compare(struct hs_route_book *book, struct model *model)
{
	const struct hs_route_entry *entry, *before = NULL;

	assert_int_equal(hs_route_book_count(book), model->n);
	for (uint32_t i = 0; (entry = hs_route_book_at(book, i)); i++) {
		if (before)
			assert_true(memcmp(before, entry, 17) < 0);
		before = entry;
	}
	for (unsigned i = 0; i < model->n; i++) {
		const struct hs_route_entry *want = &model->entries[i];
		entry = hs_route_book_find(book, want->prefix, want->depth);
		assert_non_null(entry);
		assert_int_equal(entry->port, want->port);
	}
	assert_null(hs_route_book_at(book, model->n));
}

static void any_order_of_changes_leaves_what_a_plain_array_holds(void **state)
{
	struct hs_route_book *book = hs_route_book_create(MODEL);
	static struct model model;
	struct hs_error err;
	(void)state;
	srand(1);
	for (unsigned step = 0; step < 20000; step++) {
		struct hs_route_entry entry = {.kind = HS_ROUTE_DIRECT,
				.depth = 128,
				.port = (uint16_t)(rand() % 32)};
		entry.prefix[15] = (uint8_t)(rand() % 100);
		struct hs_route_entry *old = model_find(&model, &entry);
		if (rand() % 2) {
			int rc = hs_route_book_add(book, &entry, &err);
			assert_int_equal(rc != 0, !old && model.n == MODEL);
			if (rc == 0)
				*(old ? old : &model.entries[model.n++]) = entry;
		} else {
			int rc = hs_route_book_delete(book, entry.prefix, 128, false, &err);
			assert_int_equal(rc != 0, !old);
			if (old)
				*old = model.entries[--model.n];
		}
		if (step % 50 == 0)
			compare(book, &model);
	}
	hs_route_book_destroy(book);
}

static void a_route_goes_via_a_neighbour_of_its_own_version(void **state)
{
	struct hs_route_book *book = hs_route_book_create(8);
	struct hs_error err;
	size_t n;
	(void)state;
	assert_int_equal(add(book, "192.0.2.9", HS_ROUTE_NEIGHBOUR, 3, NULL, &err), 0);
	assert_int_equal(add(book, "fe80::9", HS_ROUTE_NEIGHBOUR, 4, NULL, &err), 0);
	assert_int_equal(add(book, "10.0.0.0/8", HS_ROUTE_VIA, 0, "192.0.2.9", &err), 0);
	assert_int_equal(add(book, "0.0.0.0/0", HS_ROUTE_VIA, 0, "192.0.2.9", &err), 0);
	assert_int_not_equal(add(book, "::/0", HS_ROUTE_VIA, 0, "192.0.2.9", &err), 0);
	assert_string_equal(err.code, "wrong_family");
	assert_string_equal(err.path, "via");
	assert_non_null(strstr(err.message, "192.0.2.9"));
	assert_int_not_equal(add(book, "10.0.0.0/9", HS_ROUTE_VIA, 0, "fe80::9", &err), 0);
	assert_string_equal(err.code, "wrong_family");
	assert_int_not_equal(add(book, "10.0.0.0/9", HS_ROUTE_VIA, 0, "192.0.2.8", &err), 0);
	assert_string_equal(err.code, "no_such_neighbour");
	hs_route_book_forget_changes(book);
	assert_int_equal(add(book, "192.0.2.9", HS_ROUTE_NEIGHBOUR, 5, NULL, &err), 0);
	const struct hs_route_change *changes = hs_route_book_changes(book, &n);
	assert_int_equal(n, 3); // the neighbour and the two routes via it
	for (size_t i = 0; i < n; i++)
		assert_int_equal(changes[i].port, 5);
	hs_route_book_destroy(book);
}

// ---- text ----

static void prefixes_are_read_and_printed(void **state)
{
	static const char *const good[] = {"::/0", "2001:db8::/32", "fe80::1", "2001:db8::/127",
			"0.0.0.0/0", "10.0.0.0/8", "192.0.2.1", "192.0.2.128/31", "::/96",
			"::fffe:0:0/95"};
	static const char *const bad[] = {"", "/", "::/", "::/129", "::/256", "::/-1", "::/01",
			"::/0x1", "2001:db8::/16", "11.0.0.0/7", "10.0.0.1/31", "10.0.0.0/33",
			"10.0.0.0/128", "10.0.0/8", "010.0.0.0/8", "::ffff:10.0.0.0/104",
			"::ffff:0:0/96", "ffff:ffff::/32", "ffff:ffff::1", "::1/0",
			"2001:db8::1/127", "::/0/0", "g::/0", "1:2:3:4:5:6:7:8:9/128"};
	uint8_t prefix[16], depth;
	char text[HS_ROUTE_TEXT];
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_null(hs_route_read_prefix(good[i], prefix, &depth));
		assert_string_equal(hs_route_prefix_text(prefix, depth, text), good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!hs_route_read_prefix(bad[i], prefix, &depth))
			fail_msg("\"%s\" was read", bad[i]);
	}
}

static void mac_addresses_are_read_and_printed(void **state)
{
	static const char *const bad[] = {"", "02:00:00:00:00", "02:00:00:00:00:0",
			"02:00:00:00:00:001", "02-00-00-00-00-01", "02:00:00:00:00:0g",
			"00:00:00:00:00:00", "01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff",
			" 2:00:00:00:00:01"};
	uint8_t mac[6];
	char text[HS_ROUTE_TEXT];
	(void)state;
	assert_null(hs_route_read_mac("02:aB:00:00:fe:01", mac));
	assert_string_equal(hs_route_mac_text(mac, text), "02:ab:00:00:fe:01");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!hs_route_read_mac(bad[i], mac))
			fail_msg("\"%s\" was read", bad[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(routes_via_a_neighbour_follow_it),
			cmocka_unit_test(a_prefix_is_a_route_or_a_neighbour),
			cmocka_unit_test(a_full_book_still_replaces),
			cmocka_unit_test(a_copy_is_a_book_of_its_own),
			cmocka_unit_test(any_order_of_changes_leaves_what_a_plain_array_holds),
			cmocka_unit_test(a_route_goes_via_a_neighbour_of_its_own_version),
			cmocka_unit_test(prefixes_are_read_and_printed),
			cmocka_unit_test(mac_addresses_are_read_and_printed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
