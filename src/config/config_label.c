// SPDX-License-Identifier: BSD-3-Clause
// Profiles of method label, and what a node with such ports needs.
#include "config_parts.h"

#include "config.h"
#include "label_fragments.h"
#include "rule_admission.h"

#include <errno.h>
#include <stdio.h>

#define FIRST_UNASSIGNED 148 // of IPv4's protocol numbers (IANA, 2024)
#define LAST_USABLE	 254 // 253 and 254 are for experiments (RFC 3692), 255 is reserved

static int check_protocol(uint32_t ip_protocol, const char *path, struct hs_error *err)
{
	char at[96];

	if (ip_protocol >= FIRST_UNASSIGNED && ip_protocol <= LAST_USABLE)
		return 0;
	snprintf(at, sizeof(at), "%s.ip_protocol", path);
	return hs_error_set(err, "out_of_range", at, "148 to 254",
			"ip_protocol: %u is %s: packets of that protocol would be taken for "
			"labelled ones",
			ip_protocol, ip_protocol > LAST_USABLE ? "reserved" : "another protocol's");
}

// Sets the chance of each number of items, in place of that of the function f.
static int set_chances(struct hs_profile_config *profile, const char *path, struct hs_error *err)
{
	struct hs_label_rule *rule = &profile->label.rule;
	unsigned wanted = rule->max_hops + 1u;
	char at[96], expected[32];

	snprintf(at, sizeof(at), "%s.chances", path);
	snprintf(expected, sizeof(expected), "%u numbers", wanted);
	if (profile->n_chances && profile->n_chances != wanted)
		return hs_error_set(err, "out_of_range", at, expected,
				"chances: there are %u, and a packet has 0 to %u items",
				profile->n_chances, rule->max_hops);
	for (unsigned i = 0; i < profile->n_chances; i++)
		hs_label_rule_set_chance(rule, (uint8_t)i, profile->chances[i]);
	return 0;
}

int hs_config_check_label(struct hs_profile_config *profile, const char *path, struct hs_error *err)
{
#define GIVEN(member, unsaid, otherwise)                                                           \
	(profile->member == (unsaid) ? (otherwise) : (__typeof__(otherwise))profile->member)
	uint32_t ip_protocol =
			GIVEN(ip_protocol, HS_PROFILE_UNSAID, (uint32_t)HS_LABEL_IP_PROTOCOL);
	uint8_t max_hops = GIVEN(max_hops, HS_PROFILE_UNSAID, (uint8_t)HS_LABEL_MAX_HOPS);
	int64_t interval_ns = GIVEN(interval_ns, UINT64_MAX, HS_PROFILE_LABEL_NS);
	int64_t rest_ns = GIVEN(rest_ns, UINT64_MAX, INT64_C(0));
	enum hs_label_function function = GIVEN(function, UINT8_MAX, HS_LABEL_F2);
#undef GIVEN
	char at[96], most[32];

	if (check_protocol(ip_protocol, path, err) < 0)
		return -EINVAL;
	snprintf(at, sizeof(at), "%s.rest_ns", path);
	snprintf(most, sizeof(most), "0 to %lld", (long long)interval_ns);
	if (rest_ns > interval_ns)
		return hs_error_set(err, "out_of_range", at, most,
				"rest_ns: %lld is longer than interval_ns", (long long)rest_ns);
	profile->label.wire = (struct hs_label_settings){
			.ip_protocol = (uint8_t)ip_protocol, .max_hops = max_hops};
	hs_label_rule_init(&profile->label.rule, max_hops, interval_ns, rest_ns, function);
	return set_chances(profile, path, err);
}

// ---- the node ----

static bool does_label(const struct hs_config *config, unsigned port)
{
	return hs_profile_label(&config->node.profiles[port]) != NULL;
}

static int receiver(const struct hs_config *config)
{
	for (unsigned i = 0; i < config->node.n_exports; i++)
		if (config->exports[i].of.format == HS_EXPORT_LABEL)
			return (int)i;
	return -1;
}

// Refuses an id of more than a byte, because an item has one byte for the id of a port.
static int check_id(const struct hs_config *config, unsigned port, struct hs_error *err)
{
	const struct hs_port_config *of = &config->ports[port];
	char at[32];

	if (of->id <= HS_LABEL_MAX_PORT)
		return 0;
	snprintf(at, sizeof(at), "ports[%u].id", port);
	return hs_error_set(err, "out_of_range", at, "1 to 255 beside a profile of method label",
			"port \"%s\" has the id %u, which an item of INT-label has no room for",
			of->name, of->id);
}

static unsigned labels(const struct hs_config *config)
{
	unsigned n = 0;

	for (unsigned i = 0; i < config->n_ports; i++)
		n += does_label(config, i);
	return n;
}

// Returns whether items end at this node: at a port without labels, or because packets are flooded,
// which lose their items.
static bool ends_items(const struct hs_config *config)
{
	bool floods = config->node.forwarding == HS_FORWARD_BRIDGE;
	unsigned n = labels(config);

	return n && (n < config->n_ports || floods);
}

uint32_t hs_config_waiting(const struct hs_config *config)
{
	return ends_items(config) ? HS_LABEL_WAITING_BUFFERS : 0;
}

void hs_config_check_labels(struct hs_config *config, struct hs_errors *errors)
{
	struct hs_error err;
	unsigned n_labels = labels(config);
	int to = receiver(config);
	char at[32];

	snprintf(at, sizeof(at), "export[%d].format", to);
	if (to >= 0 && !n_labels)
		hs_errors_add(errors, "conflict", at, "only beside a profile of method label",
				"no port of the node has a profile of method label");
	for (unsigned i = 0; n_labels && i < config->n_ports; i++)
		if (check_id(config, i, &err) < 0)
			hs_errors_keep(errors, &err);
	if (ends_items(config) && to < 0)
		hs_errors_add(errors, "missing_field", "export", "a receiver with format label",
				"items of INT-label end at this node, and no receiver takes them");
}
