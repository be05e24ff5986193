// SPDX-License-Identifier: BSD-3-Clause
// Lists that change rules and routes: the forwarding table may refuse the routes at the end.
#include "fake_backend.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct router {
	struct fake fake; // the context of the backend
	int (*run)(void *context, const struct hs_api_args *args, json_t **result,
			struct hs_error *err);
	struct hs_route_book *book;
	unsigned commits, fail_commits;
	char ran[512]; // the verbs in the order in which they ran
};

static struct hs_route_book *routes(void *context)
{
	return ((struct router *)context)->book;
}

static int port_of(void *context, const char *name)
{
	(void)context;
	return strcmp(name, "east") == 0 ? 0 : -1;
}

static int commit(void *context, struct hs_error *err)
{
	struct router *router = context;

	if (++router->commits > router->fail_commits)
		return 0;
	hs_error_set(err, "no_memory", "", "", "memory is out");
	return -ENOMEM;
}

static int run(void *context, const struct hs_api_args *args, json_t **result, struct hs_error *err)
{
	struct router *router = context;
	const struct hs_route_entry *route = &args->route;
	size_t used = strlen(router->ran);
	int rc = 0;

	snprintf(router->ran + used, sizeof(router->ran) - used, "%s ",
			hs_api_verb_name(args->verb));
	if (args->verb == HS_VERB_ROUTE_ADD)
		rc = hs_route_book_add(router->book, route, err);
	else if (args->verb == HS_VERB_ROUTE_DELETE)
		rc = hs_route_book_delete(router->book, route->prefix, route->depth, false, err);
	else if (args->verb != HS_VERB_ROUTE_LIST)
		return router->run(context, args, result, err);
	*result = json_pack("{s:i}", hs_api_verb_name(args->verb),
			(int)hs_route_book_count(router->book));
	return rc;
}

static unsigned fail_at;

// Returns the reply to a list. The caller frees it.
static char *ask(struct router *router, unsigned fail_commits, const char *text)
{
	*router = (struct router){.fail_commits = fail_commits, .book = hs_route_book_create(8)};
	fake_init(&router->fake);
	router->fake.fail_at = fail_at;
	struct hs_api_backend backend = fake_backend(&router->fake);
	router->run = backend.run;
	backend.run = run;
	backend.routes = routes;
	backend.port_of = port_of;
	backend.commit_routes = commit;
	char *reply = hs_api_handle(&backend, text, strlen(text), true);
	hs_route_book_destroy(router->book);
	return reply;
}

#define ADD                                                                                        \
	"{\"route_add\": {\"prefix\": \"2001:db8::/32\", \"port\": \"east\", "                     \
	"\"next_hop_mac\": \"02:00:00:00:00:01\"}}"
#define REMOVE "{\"route_delete\": {\"prefix\": \"2001:db8::/32\"}}"

static void routes_that_cannot_be_committed_cost_no_rule_its_counters(void **state)
{
	struct router router;
	(void)state;

	char *reply = ask(&router, 1, "[{\"int_delete\": {\"ns_id\": 5}}, " ADD "]");
	assert_non_null(strstr(reply, "\"no_memory\""));
	assert_string_equal(router.ran, "route_add route_delete ");
	assert_int_equal(router.commits, 2);
	assert_int_equal(router.fake.n_rules, 1);
	free(reply);
}

static void a_rule_that_fails_reverts_the_routes_that_were_committed(void **state)
{
	struct router router;
	(void)state;

	fail_at = 1; // the fake node counts its own calls only
	char *reply = ask(&router, 0, "[{\"int_delete\": {\"ns_id\": 5}}, " ADD "]");
	fail_at = 0;
	assert_non_null(strstr(reply, "\"path\":\"[0].int_delete\""));
	assert_string_equal(router.ran, "route_add int_delete route_delete ");
	assert_int_equal(router.commits, 2);
	free(reply);
}

static void questions_about_routes_keep_their_place_among_the_changes(void **state)
{
	struct router router;
	(void)state;

	char *reply = ask(&router, 0,
			"[{\"route_list\": {}}, " ADD ", {\"route_list\": {}}, {\"int_delete\": "
			"{\"ns_id\": 5}}, " REMOVE ", {\"route_list\": {}}]");
	assert_non_null(strstr(reply, "[{\"route_list\":0},{\"route_add\":1},{\"route_list\":1},"
				      "{\"ns_id\":5},{\"route_delete\":0},{\"route_list\":0}]"));
	free(reply);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(routes_that_cannot_be_committed_cost_no_rule_its_counters),
			cmocka_unit_test(a_rule_that_fails_reverts_the_routes_that_were_committed),
			cmocka_unit_test(questions_about_routes_keep_their_place_among_the_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
