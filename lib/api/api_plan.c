// SPDX-License-Identifier: BSD-3-Clause
#include "api_plan.h"

#include "api_verbs.h"
#include "route_book.h"
#include "rule_field.h"
#include "rule_mask.h"
#include "u32_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A namespace that the plan has touched, in its planned state.
struct planned {
	uint32_t ns_id;
	bool exists;
	bool gives_way;
	bool has_settings; // the rule gives way, but this node saved updates of it
	struct hs_rule rule;
};

struct step {
	struct hs_api_args run;
	struct hs_api_args undo;
	bool changes; // changes something that can be reverted
	bool saved;   // changes something that is saved
	bool ran;
	json_t *result; // of a step that ran, until the result is in the answers
	json_t *before; // what `undo` borrows; NULL: nothing
};

struct hs_api_plan {
	const struct hs_api_backend *backend;
	int64_t rules_free;
	struct hs_rule_masks masks;
	size_t n_steps;
	struct step *steps;
	uint32_t price; // price of what it asks
	bool changes;
	struct planned *planned;
	struct hs_u32_map by_ns;      // ns_id -> planned[]
	struct hs_route_book *routes; // copied when a request first changes them
	uint32_t chosen_from,
			chosen; // the first ns_id that was tried, and the last that was chosen
};

struct hs_api_plan *hs_api_plan_create(const struct hs_api_backend *backend, size_t n)
{
	struct hs_api_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->backend = backend;
	plan->rules_free = backend->rules_free(backend->context);
	if (backend->masks)
		backend->masks(backend->context, &plan->masks);
	plan->planned = calloc(n ? n : 1, sizeof(*plan->planned));
	plan->steps = calloc(n ? n : 1, sizeof(*plan->steps));
	if (!plan->planned || !plan->steps || hs_u32_map_init(&plan->by_ns, (uint32_t)n) < 0) {
		hs_api_plan_destroy(plan);
		return NULL;
	}
	return plan;
}

void hs_api_plan_destroy(struct hs_api_plan *plan)
{
	if (!plan)
		return;
	hs_route_book_destroy(plan->routes);
	hs_u32_map_fini(&plan->by_ns);
	free(plan->planned);
	for (size_t i = 0; i < plan->n_steps; i++) {
		json_decref(plan->steps[i].result);
		json_decref(plan->steps[i].before);
	}
	free(plan->steps);
	free(plan);
}

// Returns the planned state of a namespace. Takes it from the backend if the plan has not touched
// the namespace.
static struct planned *find(struct hs_api_plan *plan, uint32_t ns_id)
{
	const struct hs_api_backend *backend = plan->backend;
	uint32_t at = hs_u32_map_find(&plan->by_ns, ns_id);

	if (at != HS_U32_MAP_NONE)
		return &plan->planned[at];

	const struct hs_rule *rule = backend->rule_of(backend->context, ns_id);
	struct planned *planned = &plan->planned[plan->by_ns.count];
	hs_u32_map_add(&plan->by_ns, ns_id, plan->by_ns.count);
	planned->ns_id = ns_id;
	planned->exists = backend->ns_exists(backend->context, ns_id);
	planned->gives_way = planned->exists && backend->gives_way &&
			     backend->gives_way(backend->context, ns_id);
	planned->has_settings = planned->gives_way && backend->has_settings &&
				backend->has_settings(backend->context, ns_id);
	if (rule)
		planned->rule = *rule;
	return planned;
}

static bool is_free(const struct hs_api_plan *plan, uint32_t ns_id)
{
	const struct hs_api_backend *backend = plan->backend;
	uint32_t at = hs_u32_map_find(&plan->by_ns, ns_id);

	if (at != HS_U32_MAP_NONE)
		return !plan->planned[at].exists || plan->planned[at].gives_way;
	return !backend->ns_exists(backend->context, ns_id) ||
	       (backend->gives_way && backend->gives_way(backend->context, ns_id));
}

// Begins at the last ns_id chosen for the same flow: those before it are known to be taken.
void hs_api_plan_choose_ns(struct hs_api_plan *plan, struct hs_api_args *args)
{
	uint32_t from = hs_rule_flow_ns(&args->rule);
	uint32_t ns_id = from == plan->chosen_from ? plan->chosen : from;

	while (!is_free(plan, ns_id))
		ns_id++;
	plan->chosen_from = from;
	plan->chosen = ns_id;
	args->ns_id = args->rule.ns_id = ns_id;
}

static int ask_admission(
		const struct hs_api_plan *plan, const struct hs_rule *rule, struct hs_error *err)
{
	const struct hs_api_backend *backend = plan->backend;
	return backend->admits ? backend->admits(backend->context, rule, err) : 0;
}

static void leave_mask(struct hs_api_plan *plan, const struct planned *planned)
{
	if (planned->rule.ns_id)
		hs_rule_masks_remove(&plan->masks, hs_rule_mask(&planned->rule));
}

// Adds the mask of a rule. Removes the mask of a rule that gives way, because it is replaced.
static int plan_mask(struct hs_api_plan *plan, const struct planned *planned,
		const struct hs_rule *rule, struct hs_error *err)
{
	if (!plan->backend->masks)
		return 0;
	if (planned->gives_way)
		leave_mask(plan, planned);
	return hs_rule_masks_add(&plan->masks, hs_rule_mask(rule), err);
}

static int plan_install(struct hs_api_plan *plan, struct planned *planned, struct step *step,
		struct hs_error *err)
{
	int rc = ask_admission(plan, &step->run.rule, err);

	if (rc)
		return rc;
	if (planned->exists && !planned->gives_way)
		return hs_error_set(err, "ns_in_use", "ns_id", "an ns_id without a rule",
				"ns_id: %u has a rule already", planned->ns_id);
	if (plan->rules_free <= 0)
		return hs_error_set(err, "table_full", "", "fewer rules, or a larger memory.rules",
				"there is no room for another rule");
	rc = plan_mask(plan, planned, &step->run.rule, err);
	if (rc)
		return rc;
	plan->rules_free--;
	planned->exists = true;
	planned->gives_way = false;
	planned->rule = step->run.rule;
	step->undo = (struct hs_api_args){
			.verb = HS_VERB_INT_DELETE, .ns_id = planned->ns_id, .has_ns_id = true};
	return 0;
}

static void plan_delete(struct hs_api_plan *plan, struct planned *planned, struct step *step)
{
	// The deletion of a rule that gives way is not reverted: the rule would then count as one
	// that was asked for here. Such a rule comes again in band.
	step->changes = !planned->gives_way;
	plan->rules_free += !planned->gives_way;
	if (!planned->gives_way)
		leave_mask(plan, planned);
	planned->exists = planned->gives_way = false;
	step->undo = (struct hs_api_args){.verb = HS_VERB_INT_REQUEST,
			.ns_id = planned->ns_id,
			.has_ns_id = true,
			.rule = planned->rule};
}

// Refuses to reset a rule that did not come in band, because it has no values to go back to.
static int refuse_back(const struct planned *planned, const struct hs_rule_update *update,
		struct hs_error *err)
{
	uint32_t back = update->back & ~HS_RULE_BIT(FIELDS); // fields return to the configuration

	if (!back || planned->gives_way)
		return 0;
	const char *name = hs_rule_fields[__builtin_ctz(back)].key;
	return hs_error_set(err, "not_in_band", name,
			"a value, or null of a rule that came in band",
			"%s: null gives a field back to what travels in band, and rule %u did not "
			"come in band",
			name, planned->ns_id);
}

// Refuses an owner of a rule that came in band, because nobody asked this node for the rule.
static int refuse_owner(const struct planned *planned, const struct hs_rule_update *update,
		struct hs_error *err)
{
	if (!planned->gives_way || !update->to.owner)
		return 0;
	return hs_error_set(err, "unsupported", "owner", "a rule that did not come in band",
			"owner: rule %u came in band and has no owner", planned->ns_id);
}

static int plan_update(struct hs_api_plan *plan, struct planned *planned, struct step *step,
		struct hs_error *err)
{
	const struct hs_rule_update *update = &step->run.update;
	const struct hs_rule before = planned->rule;
	int rc = refuse_back(planned, update, err);

	if (rc == 0)
		rc = refuse_owner(planned, update, err);
	if (rc == 0)
		rc = hs_rule_apply(&planned->rule, update, err);
	if (rc == 0)
		rc = ask_admission(plan, &planned->rule, err);

	step->undo = step->run;
	step->undo.update = (struct hs_rule_update){.to = before};
	hs_rule_update_take(&step->undo.update, &before, update->rows | update->back);
	return rc;
}

static int refuse_absent(const struct planned *planned, struct hs_error *err)
{
	if (planned->exists)
		return 0;
	return hs_error_set(err, "no_such_rule", "ns_id", "the ns_id of a rule",
			"ns_id: %u has no rule", planned->ns_id);
}

// ---- routes ----

static bool is_route_verb(enum hs_api_verb verb)
{
	return verb == HS_VERB_ROUTE_ADD || verb == HS_VERB_ROUTE_DELETE ||
	       verb == HS_VERB_NEIGHBOUR_ADD || verb == HS_VERB_NEIGHBOUR_DELETE;
}

static int copy_routes(struct hs_api_plan *plan, struct hs_error *err)
{
	const struct hs_api_backend *backend = plan->backend;
	const struct hs_route_book *routes =
			backend->routes ? backend->routes(backend->context) : NULL;

	if (!routes)
		return hs_api_refuse_routes(err);
	plan->routes = hs_route_book_clone(routes);
	if (!plan->routes)
		return hs_error_set(err, "internal", "", "", "memory is out");
	return 0;
}

int hs_api_resolve_port(int (*port_of)(void *context, const char *name), void *context,
		struct hs_api_args *args, struct hs_error *err)
{
	if (!args->port[0])
		return 0;
	int port = port_of ? port_of(context, args->port) : -1;
	if (port < 0)
		return hs_error_set(err, "unknown_port", "port", "the name of a port",
				"port: no port is called \"%s\"", args->port);
	args->route.port = (uint16_t)port;
	return 0;
}

static int plan_route(struct hs_api_plan *plan, struct step *step, struct hs_error *err)
{
	struct hs_route_entry *route = &step->run.route;
	bool neighbour = step->run.verb == HS_VERB_NEIGHBOUR_ADD ||
			 step->run.verb == HS_VERB_NEIGHBOUR_DELETE;
	bool add = step->run.verb == HS_VERB_ROUTE_ADD || step->run.verb == HS_VERB_NEIGHBOUR_ADD;
	int rc = plan->routes ? 0 : copy_routes(plan, err);

	if (rc == 0)
		rc = hs_api_resolve_port(
				plan->backend->port_of, plan->backend->context, &step->run, err);
	if (rc)
		return rc;
	const struct hs_route_entry *old =
			hs_route_book_find(plan->routes, route->prefix, route->depth);
	step->undo = (struct hs_api_args){.route = old ? *old : *route};
	step->undo.verb = old ? (neighbour ? HS_VERB_NEIGHBOUR_ADD : HS_VERB_ROUTE_ADD)
			      : (neighbour ? HS_VERB_NEIGHBOUR_DELETE : HS_VERB_ROUTE_DELETE);
	return add ? hs_route_book_add(plan->routes, route, err)
		   : hs_route_book_delete(
				     plan->routes, route->prefix, route->depth, neighbour, err);
}

// ---- S of ports ----

static int plan_labels(struct hs_api_plan *plan, struct step *step, struct hs_error *err)
{
	const struct hs_api_backend *backend = plan->backend;

	if (!backend->labels_now)
		return hs_error_set(err, "unsupported", "", "a running node",
				"label_set is for a running node");
	step->before = backend->labels_now(backend->context, step->run.labels, err);
	step->undo = (struct hs_api_args){.verb = HS_VERB_LABEL_SET, .labels = step->before};
	return step->before ? 0 : -EINVAL;
}

static int check_node(const struct hs_api_backend *backend, const struct hs_api_args *args,
		struct hs_error *err)
{
	if (!args->node[0] || backend->check_on)
		return 0;
	return hs_error_set(err, "unknown_field", "node", "a controller's API",
			"node is for controllers: a node knows its own ports");
}

static int check_on(const struct hs_api_backend *backend, const json_t *on, struct hs_error *err)
{
	if (backend->check_on)
		return backend->check_on(backend->context, on, err);
	return hs_error_set(err, "unknown_field", "on", "a controller's API",
			"on is for controllers: a node takes rules for itself");
}

// The questions that a list asks beside its changes must be cheap from the start. Once a change is
// made, it is too late to refuse the list (a rule that is deleted and installed again has lost its
// counters).
static int check_price(
		struct hs_api_plan *plan, const struct hs_api_verb_row *verb, struct hs_error *err)
{
	plan->changes |= verb->changes;
	plan->price += verb->changes ? 0 : verb->light ? 1 : HS_API_LARGE_PRICE;
	if (!plan->changes || plan->price <= HS_API_MAX_PRICE)
		return 0;
	return hs_error_set(err, "too_large", "",
			"beside changes, at most 256 int_get or 16 of the larger answers",
			"the list asks for too much beside what it changes: ask in a list of its "
			"own");
}

int hs_api_plan_add(struct hs_api_plan *plan, const struct hs_api_args *args, struct hs_error *err)
{
	const struct hs_api_backend *backend = plan->backend;
	struct step *step = &plan->steps[plan->n_steps++];
	int rc = check_price(plan, &hs_api_verbs[args->verb], err);

	if (rc == 0)
		rc = check_node(backend, args, err);
	if (rc == 0 && backend->answers)
		rc = backend->answers(backend->context, args, err);
	if (rc)
		return rc;
	step->run = *args;
	// A session of probes is not reverted, because it ends by itself.
	step->changes = hs_api_verbs[args->verb].changes && args->verb != HS_VERB_PROBE_RUN;
	step->saved = step->changes && !hs_api_verbs[args->verb].passing;
	if (args->verb == HS_VERB_LABEL_SET)
		return plan_labels(plan, step, err);
	if (is_route_verb(args->verb))
		return plan_route(plan, step, err);
	if (!args->has_ns_id)
		return 0;

	rc = args->on ? check_on(backend, args->on, err) : 0;
	if (rc)
		return rc;
	struct planned *planned = find(plan, args->ns_id);
	if (args->verb == HS_VERB_INT_REQUEST)
		return plan_install(plan, planned, step, err);
	if (!planned->exists && !step->changes && backend->knows &&
			backend->knows(backend->context, args->verb, args->ns_id))
		return 0;
	// A rule that came in band comes again in band. This node's own settings for it do not.
	planned->has_settings |= planned->gives_way && args->verb == HS_VERB_INT_UPDATE;
	step->saved &= !planned->gives_way || planned->has_settings;
	rc = refuse_absent(planned, err);
	if (rc == 0 && args->verb == HS_VERB_INT_UPDATE)
		rc = plan_update(plan, planned, step, err);
	if (rc == 0 && args->verb == HS_VERB_INT_DELETE)
		plan_delete(plan, planned, step);
	return rc;
}

const char *hs_api_plan_saves(const struct hs_api_plan *plan, size_t i)
{
	return plan->steps[i].saved ? hs_api_verbs[plan->steps[i].run.verb].name : NULL;
}

static int run_one(const struct hs_api_backend *backend, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	*result = NULL;
	err->code[0] = '\0';
	int rc = backend->run(backend->context, args, result, err);
	if (rc == 0 && !*result)
		rc = -ENOMEM;
	if (rc && !hs_error_is_set(err))
		hs_error_set(err, "internal", "", "", "%s failed: %s",
				hs_api_verbs[args->verb].name, strerror(-rc));
	return rc;
}

static void take_back(struct hs_api_plan *plan, struct hs_error *err)
{
	for (size_t n = plan->n_steps; n-- > 0;) {
		struct hs_error ignored;
		json_t *result;
		if (!plan->steps[n].changes || !plan->steps[n].ran)
			continue;
		plan->steps[n].undo.undo = true;
		if (run_one(plan->backend, &plan->steps[n].undo, &result, &ignored) == 0) {
			json_decref(result);
			continue;
		}
		size_t used = strlen(err->message);
		snprintf(err->message + used, sizeof(err->message) - used,
				"; request %zu could not be taken back", n);
	}
}

static int commit_routes(const struct hs_api_plan *plan, struct hs_error *err)
{
	const struct hs_api_backend *backend = plan->backend;

	if (!plan->routes || !backend->commit_routes)
		return 0;
	return backend->commit_routes(backend->context, err);
}

static void undo(struct hs_api_plan *plan, struct hs_error *err)
{
	struct hs_error ignored;

	take_back(plan, err);
	commit_routes(plan, &ignored);
}

static int run_step(struct hs_api_plan *plan, struct step *step, size_t room, struct hs_error *err)
{
	step->run.room = room;
	int rc = run_one(plan->backend, &step->run, &step->result, err);
	step->ran = rc == 0;
	return rc;
}

static bool is_of_routes(const struct step *step)
{
	return is_route_verb(step->run.verb) || step->run.verb == HS_VERB_ROUTE_LIST ||
	       step->run.verb == HS_VERB_NEIGHBOUR_LIST;
}

// Routes come first, because the forwarding table may refuse them at the end. A rule that is
// deleted and installed again has lost its counters. Rules and routes do not depend on each other.
static int run_routes(struct hs_api_plan *plan, size_t room, size_t *failed, struct hs_error *err)
{
	for (size_t i = 0; i < plan->n_steps; i++) {
		struct step *step = &plan->steps[i];
		if (!is_of_routes(step))
			continue;
		*failed = i;
		int rc = run_step(plan, step, room, err);
		if (rc)
			return rc;
		size_t bytes = step->changes ? 0 : json_dumpb(step->result, NULL, 0, HS_API_DUMP);
		room = bytes < room ? room - bytes : 1;
	}
	*failed = plan->n_steps;
	return commit_routes(plan, err);
}

static int answer(struct step *step, struct hs_api_answers *answers, struct hs_error *err)
{
	json_t *result = step->result;

	step->result = NULL;
	if (hs_api_answers_add(answers, result, hs_api_verbs[step->run.verb].changes) == 0)
		return 0;
	hs_error_set(err, "internal", "", "", "memory is out");
	return -ENOMEM;
}

int hs_api_plan_run(struct hs_api_plan *plan, struct hs_api_answers *answers, size_t *failed,
		struct hs_error *err)
{
	int rc = run_routes(plan, hs_api_answers_room(answers), failed, err);

	for (size_t i = 0; i < plan->n_steps && rc == 0; i++) {
		struct step *step = &plan->steps[i];
		*failed = i;
		if (!is_of_routes(step))
			rc = run_step(plan, step, hs_api_answers_room(answers), err);
		rc = rc ? rc : answer(step, answers, err);
	}
	if (rc)
		undo(plan, err);
	return rc;
}
