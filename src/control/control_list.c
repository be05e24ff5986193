// SPDX-License-Identifier: BSD-3-Clause
#include "control_list.h"
#include "control_rule.h"

#include "api_reply.h"
#include "rule_json.h"

// Returns the slot before a page. A page that follows the last one continues where that one ended.
// For any other offset, walks over the rules before it.
static uint32_t seek(const struct control_list *last, const struct control_rules *rules,
		const struct hs_flow_table *flows, uint64_t offset)
{
	if (offset && offset == last->offset && hs_control_rule_changes(rules) == last->changes)
		return last->slot;
	uint32_t slot = HS_FLOW_NONE;
	for (uint64_t i = 0; i < offset && hs_flow_table_next(flows, &slot); i++)
		;
	return slot;
}

// Returns the list of a page for the rules of an origin, or NULL for the API's, which are in no
// list.
static json_t *list_of(const struct hs_api_rules *page, enum hs_rule_origin origin)
{
	return origin == HS_ORIGIN_IN_BAND  ? page->in_band
	       : origin == HS_ORIGIN_CONFIG ? page->config
	       : origin == HS_ORIGIN_STATE  ? page->state
					    : NULL;
}

json_t *hs_control_list_rules(struct control_list *last, const struct control_rules *rules,
		const struct hs_flow_table *flows, const struct hs_api_args *args)
{
	struct hs_api_rules page = {.rules = json_array(),
			.in_band = json_array(),
			.config = json_array(),
			.state = json_array(),
			.shadowed = json_array()};
	uint64_t count = hs_flow_table_count(flows);
	uint64_t end = args->offset + args->limit < count ? args->offset + args->limit : count;
	uint32_t slot = args->offset < count ? seek(last, rules, flows, args->offset)
					     : HS_FLOW_NONE,
		 next = slot;
	size_t used = 0;

	for (uint64_t i = args->offset; i < end && hs_flow_table_next(flows, &next); i++) {
		const struct hs_rule *rule = hs_flow_table_rule(flows, next);
		if (!hs_api_page_add(args, page.rules, hs_rule_to_json(rule), &used)) {
			end = i;
			break;
		}
		slot = next;
		json_t *list = list_of(&page, hs_control_rule_origin(rules, slot));
		if (list)
			json_array_append_new(list, json_integer(rule->ns_id));
		const struct hs_api_shadowed shadowed = {
				rule->ns_id, hs_flow_table_shadowed_by(flows, slot)};
		if (shadowed.shadowed_by)
			json_array_append_new(page.shadowed,
					hs_schema_print(hs_api_shadowed_fields, &shadowed));
	}
	page.count = count;
	if (end < count && args->offset < end) {
		page.next = end;
		*last = (struct control_list){end, hs_control_rule_changes(rules), slot};
	}
	return hs_schema_print(hs_api_rules_fields, &page);
}
