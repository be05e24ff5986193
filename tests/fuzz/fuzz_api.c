// SPDX-License-Identifier: BSD-3-Clause
// A message of any bytes gets a JSON reply, and a refused message has changed nothing. The node has
// two ports, a neighbour, a route via it, and room for two more routes.
#include "fuzz.h"

#include "fake_backend.h"
#include "route_book.h"

#include <stdlib.h>
#include <string.h>

static struct hs_route_book *book;

static struct hs_route_book *routes(void *context)
{
	(void)context;
	return book;
}

static int port_of(void *context, const char *name)
{
	(void)context;
	return name[0] == 'p' && (name[1] == '0' || name[1] == '1') && !name[2] ? name[1] - '0'
										: -1;
}

static void open_book(void)
{
	struct hs_route_entry neighbour = {.prefix = {0xfe, 0x80, [15] = 1},
			.depth = 128,
			.kind = HS_ROUTE_NEIGHBOUR,
			.mac = {2, [5] = 1}};
	struct hs_route_entry route = {
			.prefix = {0x20, 0x01, 0x0d, 0xb8}, .depth = 32, .kind = HS_ROUTE_VIA};
	struct hs_error err;

	memcpy(route.via, neighbour.prefix, sizeof(route.via));
	book = hs_route_book_create(4);
	HOLDS(book && hs_route_book_add(book, &neighbour, &err) == 0);
	HOLDS(hs_route_book_add(book, &route, &err) == 0);
	hs_route_book_forget_changes(book);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fake fake;

	fake_init(&fake);
	open_book();
	struct hs_api_backend backend = fake_backend(&fake);
	backend.routes = routes;
	backend.port_of = port_of;
	char *reply = hs_api_handle(&backend, (const char *)data, size, true);
	json_t *json = reply ? json_loads(reply, JSON_REJECT_DUPLICATES, NULL) : NULL;
	const json_t *error = json_object_get(json, "error");
	HOLDS(json && !error == !!json_object_get(json, "ok"));
	if (error) {
		const char *code = json_string_value(json_object_get(error, "code"));
		HOLDS(code && *code);
		// A list of questions may be refused after some of them ran, because each is read
		// when those before it are answered.
		HOLDS(fake.runs_of_changes == 0);
		HOLDS(fake.generation == 41);
	}
	// The check works on a copy. Only the backend may change its own data.
	size_t changes;
	hs_route_book_changes(book, &changes);
	HOLDS(changes == 0 && hs_route_book_count(book) == 2);
	hs_route_book_destroy(book);
	json_decref(json);
	free(reply);
	return 0;
}
