// SPDX-License-Identifier: BSD-3-Clause
#include "fake_backend.h"

#include "api_label.h"
#include "api_verbs.h"
#include "rule_field.h"
#include "rule_json.h"
#include "rule_mask.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static struct hs_rule *find(struct fake *fake, uint32_t ns_id)
{
	for (unsigned i = 0; i < fake->n_rules; i++)
		if (fake->rules[i].ns_id == ns_id)
			return &fake->rules[i];
	return NULL;
}

static int install(struct fake *fake, const struct hs_rule *rule)
{
	unsigned at = fake->n_rules;

	if (fake->rules_free == 0 || fake->n_rules == FAKE_RULES || find(fake, rule->ns_id))
		return -ENOSPC;
	for (; at > 0 && fake->rules[at - 1].ns_id > rule->ns_id; at--)
		fake->rules[at] = fake->rules[at - 1];
	fake->rules[at] = *rule;
	fake->n_rules++;
	fake->rules_free--;
	return 0;
}

static void delete (struct fake *fake, struct hs_rule *rule)
{
	size_t after = (size_t)(&fake->rules[fake->n_rules] - (rule + 1));

	memmove(rule, rule + 1, after * sizeof(*rule));
	fake->n_rules--;
	fake->rules_free++;
	// So that a table that was changed back compares equal.
	memset(&fake->rules[fake->n_rules], 0, sizeof(*rule));
}

static json_t *echo(const struct hs_api_args *args)
{
	json_t *result = json_pack("{s:s, s:I, s:I, s:I, s:I}", "verb",
			hs_api_verb_name(args->verb), "offset", (json_int_t)args->offset, "limit",
			(json_int_t)args->limit, "window_ns", (json_int_t)args->window_ns, "since",
			(json_int_t)args->since);
	if (args->has_ns_id)
		json_object_set_new(result, "ns_id", json_integer(args->ns_id));
	if (args->app_id)
		json_object_set_new(result, "app_id", json_integer(args->app_id));
	return result;
}

static int run(void *context, const struct hs_api_args *args, json_t **result, struct hs_error *err)
{
	struct fake *fake = context;
	struct hs_rule *rule = find(fake, args->ns_id);
	int rc = 0;

	fake->runs_of_changes += hs_api_verbs[args->verb].changes;
	if (++fake->runs == fake->fail_at)
		return -EIO;
	switch (args->verb) {
	case HS_VERB_INT_REQUEST:
		if (rule && fake->learned == args->ns_id) {
			delete (fake, rule);
			fake->learned = 0;
		}
		rc = install(fake, &args->rule);
		break;
	case HS_VERB_INT_UPDATE:
		rc = hs_rule_apply(rule, &args->update, err);
		break;
	case HS_VERB_INT_DELETE:
		delete (fake, rule);
		break;
	case HS_VERB_LABEL_SET:
		fake->shift = hs_api_label_at(args->labels, 0).shift;
		*result = json_pack("{s:O}", "ports", args->labels);
		return 0;
	case HS_VERB_INT_GET:
		*result = json_pack("{s:o}", "rule", hs_rule_to_json(rule));
		return 0;
	case HS_VERB_INT_LIST:
		*result = json_pack("{s:o}", "rules", fake_rules(fake));
		return 0;
	default:
		*result = echo(args);
		return 0;
	}
	if (rc == 0) {
		fake->generation++;
		*result = json_pack("{s:i}", "ns_id", (int)args->ns_id);
	}
	return rc;
}

static bool ns_exists(void *context, uint32_t ns_id)
{
	return find(context, ns_id) != NULL;
}

static const struct hs_rule *rule_of(void *context, uint32_t ns_id)
{
	return find(context, ns_id);
}

static uint32_t rules_free(void *context)
{
	struct fake *fake = context;
	return fake->rules_free + (fake->learned && find(fake, fake->learned) ? 1 : 0);
}

static void masks(void *context, struct hs_rule_masks *used)
{
	const struct fake *fake = context;

	for (unsigned i = 0; i < fake->n_rules; i++)
		hs_rule_masks_add(used, hs_rule_mask(&fake->rules[i]), NULL);
}

static int admits(void *context, const struct hs_rule *rule, struct hs_error *err)
{
	if (!rule->in_band || !((struct fake *)context)->no_in_band)
		return 0;
	return hs_error_set(err, "too_large", "in_band", "", "in_band: not here");
}

static bool gives_way(void *context, uint32_t ns_id)
{
	return ((struct fake *)context)->learned == ns_id;
}

static json_t *labels_now(void *context, const json_t *labels, struct hs_error *err)
{
	const struct fake *fake = context;

	for (size_t i = 0; i < json_array_size(labels); i++)
		if (hs_api_label_at(labels, i).id != 2) {
			hs_error_set(err, "unknown_port", "ports", "2", "no such port");
			return NULL;
		}
	return json_pack("[{s:i, s:i}]", "id", 2, "shift", (int)fake->shift);
}

static int save(void *context, const json_t *changes, struct hs_error *err)
{
	struct fake *fake = context;

	if (fake->no_save) {
		hs_error_set(err, "not_saved", "", "", "the disk is full");
		return -ENOSPC;
	}
	fake->saves++;
	fake->runs_when_saved = fake->runs;
	memset(fake->saved, 0, sizeof(fake->saved));
	json_dumpb(changes, fake->saved, sizeof(fake->saved) - 1, JSON_COMPACT);
	return 0;
}

static void unsave(void *context)
{
	((struct fake *)context)->unsaves++;
}

static uint64_t generation(void *context)
{
	return ((struct fake *)context)->generation;
}

void fake_init(struct fake *fake)
{
	memset(fake, 0, sizeof(*fake));
	fake->rules_free = 3;
	fake->generation = 41;

	struct hs_rule rule;
	memset(&rule, 0, sizeof(rule));
	hs_rule_init(&rule);
	rule.ns_id = 5;
	memcpy(rule.src_ip, (uint8_t[16]){0x20, 0x01, 0x0d, 0xb8, [15] = 1}, 16);
	memcpy(rule.dst_ip, (uint8_t[16]){0x20, 0x01, 0x0d, 0xb8, [15] = 2}, 16);
	rule.protocol = IPPROTO_TCP;
	rule.trace_type = 0x7000E000;
	rule.mode = HS_MODE_PROBABILITY;
	rule.mode_setting = 0.5;
	install(fake, &rule);
}

struct hs_api_backend fake_backend(struct fake *fake)
{
	return (struct hs_api_backend){.context = fake,
			.run = run,
			.ns_exists = ns_exists,
			.rule_of = rule_of,
			.rules_free = rules_free,
			.masks = masks,
			.admits = admits,
			.gives_way = gives_way,
			.labels_now = labels_now,
			.save = save,
			.unsave = unsave,
			.generation = generation};
}

json_t *fake_rules(const struct fake *fake)
{
	json_t *rules = json_array();
	for (unsigned i = 0; i < fake->n_rules; i++)
		json_array_append_new(rules, hs_rule_to_json(&fake->rules[i]));
	return rules;
}

json_t *fake_ask_bytes(struct fake *fake, const char *text, size_t len)
{
	struct hs_api_backend backend = fake_backend(fake);
	char *reply = hs_api_handle(&backend, text, len, true);
	assert(reply);
	json_t *json = json_loads(reply, 0, NULL);
	assert(json);
	free(reply);
	return json;
}

json_t *fake_ask(struct fake *fake, const char *text)
{
	return fake_ask_bytes(fake, text, strlen(text));
}

const char *fake_error(const json_t *reply, const char *name)
{
	return json_string_value(json_object_get(json_object_get(reply, "error"), name));
}
