// SPDX-License-Identifier: BSD-3-Clause
// Profiles: the form of telemetry on the ports that name them.
#include "config_parts.h"

#include "config.h"

#include "flexint.h"
#include "flexint_steps.h"
#include "int_fields.h"
#include "int_steps.h"
#include "label_steps.h"
#include "probe_state.h"
#include "probe_steps.h"
#include "profile_marks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hs_schema_word method_words[] = {
		{"flexint", HS_METHOD_FLEXINT},
		{"int", HS_METHOD_INT},
		{"label", HS_METHOD_LABEL},
		{"probe", HS_METHOD_PROBE},
		{NULL, 0},
};
static const struct hs_schema_word version_words[] = {
		{"2016-06", HS_INT_2016_06},
		{"0.5", HS_INT_0_5},
		{"1.0", HS_INT_1_0},
		{"2.1", HS_INT_2_1},
		{NULL, 0},
};
static const struct hs_schema_word mode_words[] = {
		{"md", HS_INT_MD},
		{"mx", HS_INT_MX},
		{"xd", HS_INT_XD},
		{NULL, 0},
};
static const struct hs_schema_word carrier_words[] = {
		{"tcp_udp", HS_INT_TCP_UDP},
		{"gre", HS_INT_GRE},
		{"vxlan-gpe", HS_INT_VXLAN_GPE},
		{"geneve", HS_INT_GENEVE},
		{NULL, 0},
};
static const struct hs_schema_word mark_words[] = {
		{"dscp", HS_INT_MARK_DSCP},
		{"udp_port", HS_INT_MARK_UDP_PORT},
		{"probe_marker", HS_INT_MARK_PROBE},
		{NULL, 0},
};

static const struct hs_schema_word function_words[] = {
		{"f1", HS_LABEL_F1},
		{"f2", HS_LABEL_F2},
		{"f3", HS_LABEL_F3},
		{NULL, 0},
};

enum {
	DROP,
	PASS
};
static const struct hs_schema_word recovery_words[] = {
		{"off", false},
		{"sqr", true},
		{NULL, 0},
};
static const struct hs_schema_word malformed_words[] = {
		{"drop", DROP},
		{"pass", PASS},
		{NULL, 0},
};

const struct hs_schema_word hs_config_layout_words[] = {
		{"aligned", HS_LAYOUT_ALIGNED},
		{"paper", HS_LAYOUT_PAPER},
		{NULL, 0},
};

static const char *parse_marker(const char *text, void *at, const char **code)
{
	size_t len = strlen(text);
	(void)code;

	if (len < 3 || len > 18 || strncmp(text, "0x", 2) != 0 ||
			strspn(text + 2, "0123456789abcdefABCDEF") != len - 2)
		return "is not a number of 64 bits in hex";
	*(uint64_t *)at = strtoull(text + 2, NULL, 16);
	return *(uint64_t *)at ? NULL : "is 0";
}

static void write_marker(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	uint64_t marker = *(const uint64_t *)at;

	text[0] = '\0';
	if (marker)
		snprintf(text, HS_SCHEMA_TEXT_BYTES, "0x%016" PRIX64, marker);
}

static const struct hs_schema_text marker_text = {parse_marker, write_marker,
		"{'type': 'string', 'pattern': '^0x[0-9A-Fa-f]{1,16}$'}"};

// Returns whether a key was given: the byte or number of a key that is left out is all ones.
#define GIVEN(member)                                                                              \
	static bool has_##member(const void *from)                                                 \
	{                                                                                          \
		const struct hs_profile_config *profile = from;                                    \
		return profile->member != (__typeof__(profile->member))HS_PROFILE_UNSAID;          \
	}
GIVEN(layout)
GIVEN(version)
GIVEN(mode)
GIVEN(carrier)
GIVEN(mark)
GIVEN(malformed)
GIVEN(dscp)
GIVEN(dscp_mask)
GIVEN(udp_port)
GIVEN(max_hops)
GIVEN(domain_id)
GIVEN(gre_protocol)
GIVEN(gpe_protocol)
GIVEN(geneve_class)
GIVEN(geneve_type)
GIVEN(ip_protocol)
GIVEN(function)
GIVEN(recovery)
GIVEN(feedback_dscp)
GIVEN(recovery_dscp)
GIVEN(held)
GIVEN(rate_pps)
GIVEN(monitor_port)

static bool has_probe_marker(const void *from)
{
	return ((const struct hs_profile_config *)from)->probe_marker;
}

static bool has_interval_ns(const void *from)
{
	return ((const struct hs_profile_config *)from)->interval_ns != UINT64_MAX;
}

static bool has_rest_ns(const void *from)
{
	return ((const struct hs_profile_config *)from)->rest_ns != UINT64_MAX;
}

static bool has_chances(const void *from)
{
	return ((const struct hs_profile_config *)from)->n_chances;
}

static const struct hs_schema_list chance_list = {
		.item = {.kind = HS_SCHEMA_REAL,
				.size = sizeof(double),
				.most = 1,
				.expected = "a number from 0 to 1"},
		HS_SCHEMA_ITEMS(struct hs_profile_config, chances),
		HS_SCHEMA_COUNT(struct hs_profile_config, n_chances),
		.noun = "numbers",
};

static bool has_timeout_ns(const void *from)
{
	return ((const struct hs_profile_config *)from)->timeout_ns != UINT64_MAX;
}

static bool has_seen_ns(const void *from)
{
	return ((const struct hs_profile_config *)from)->seen_ns != UINT64_MAX;
}

#define PROFILE(member) HS_SCHEMA_MEMBER(struct hs_profile_config, member)
#define WORD(member)	PROFILE(member), .words = member##_words, .given = has_##member
#define NUMBER(member, least, greatest)                                                            \
	PROFILE(member), .min = (least), .max = (greatest), .given = has_##member
const struct hs_schema_field hs_config_profile_fields[] = {
		{"method", HS_SCHEMA_WORD, PROFILE(method), .required = true,
				.words = method_words},
		{"layout", HS_SCHEMA_WORD, PROFILE(layout), .words = hs_config_layout_words,
				.given = has_layout},
		{"version", HS_SCHEMA_WORD, WORD(version)},
		{"mode", HS_SCHEMA_WORD, WORD(mode)},
		{"carrier", HS_SCHEMA_WORD, WORD(carrier)},
		{"mark", HS_SCHEMA_WORD, WORD(mark)},
		{"malformed", HS_SCHEMA_WORD, WORD(malformed)},
		{"dscp", HS_SCHEMA_UINT, NUMBER(dscp, 1, 63)},
		{"dscp_mask", HS_SCHEMA_UINT, NUMBER(dscp_mask, 1, 63)},
		{"udp_port", HS_SCHEMA_UINT, NUMBER(udp_port, 1, 65535)},
		{"probe_marker", HS_SCHEMA_PARSED, PROFILE(probe_marker), .text = &marker_text,
				.expected = "0x and 1 to 16 hex digits, not 0",
				.given = has_probe_marker},
		{"max_hops", HS_SCHEMA_UINT, NUMBER(max_hops, 1, 255)},
		{"domain_id", HS_SCHEMA_UINT, NUMBER(domain_id, 0, 65535)},
		{"gre_protocol", HS_SCHEMA_UINT, NUMBER(gre_protocol, 1536, 65535)},
		{"gpe_protocol", HS_SCHEMA_UINT, NUMBER(gpe_protocol, 5, 255)},
		{"geneve_class", HS_SCHEMA_UINT, NUMBER(geneve_class, 0, 65535)},
		{"geneve_type", HS_SCHEMA_UINT, NUMBER(geneve_type, 1, 125)},
		{"ip_protocol", HS_SCHEMA_UINT, NUMBER(ip_protocol, 0, 255)},
		{"interval_ns", HS_SCHEMA_UINT, NUMBER(interval_ns, 0, HS_CONFIG_LABEL_MOST_NS)},
		{"rest_ns", HS_SCHEMA_UINT, NUMBER(rest_ns, 0, HS_CONFIG_LABEL_MOST_NS)},
		{"function", HS_SCHEMA_WORD, WORD(function)},
		{"chances", HS_SCHEMA_LIST, PROFILE(chances), .min = 2, .max = 256,
				.expected = "a list of max_hops + 1 numbers from 0 to 1",
				.list = &chance_list, .given = has_chances},
		{"feedback_dscp", HS_SCHEMA_UINT, NUMBER(feedback_dscp, 1, 63)},
		{"recovery_dscp", HS_SCHEMA_UINT, NUMBER(recovery_dscp, 1, 63)},
		{"recovery", HS_SCHEMA_WORD, WORD(recovery)},
		{"timeout_ns", HS_SCHEMA_UINT, NUMBER(timeout_ns, 1, HS_CONFIG_PROBE_MOST_NS)},
		{"seen_ns", HS_SCHEMA_UINT, NUMBER(seen_ns, 0, HS_CONFIG_PROBE_MOST_NS)},
		{"held", HS_SCHEMA_UINT, NUMBER(held, 1, HS_PROBE_HELD_MAX)},
		{"rate_pps", HS_SCHEMA_UINT, NUMBER(rate_pps, 1, HS_CONFIG_PROBE_MOST_PPS)},
		{"monitor_port", HS_SCHEMA_UINT, NUMBER(monitor_port, 1, HS_PROBE_MAX_PORT)},
		{NULL},
};

const struct hs_profile_config hs_config_profile_fresh = {
		.layout = HS_PROFILE_NO_LAYOUT,
		.version = UINT8_MAX,
		.mode = UINT8_MAX,
		.carrier = UINT8_MAX,
		.mark = UINT8_MAX,
		.malformed = UINT8_MAX,
		.dscp = HS_PROFILE_UNSAID,
		.dscp_mask = HS_PROFILE_UNSAID,
		.udp_port = HS_PROFILE_UNSAID,
		.max_hops = HS_PROFILE_UNSAID,
		.domain_id = HS_PROFILE_UNSAID,
		.gre_protocol = HS_PROFILE_UNSAID,
		.gpe_protocol = HS_PROFILE_UNSAID,
		.geneve_class = HS_PROFILE_UNSAID,
		.geneve_type = HS_PROFILE_UNSAID,
		.ip_protocol = HS_PROFILE_UNSAID,
		.interval_ns = UINT64_MAX,
		.rest_ns = UINT64_MAX,
		.function = UINT8_MAX,
		.recovery = UINT8_MAX,
		.feedback_dscp = HS_PROFILE_UNSAID,
		.recovery_dscp = HS_PROFILE_UNSAID,
		.held = HS_PROFILE_UNSAID,
		.rate_pps = HS_PROFILE_UNSAID,
		.monitor_port = HS_PROFILE_UNSAID,
		.timeout_ns = UINT64_MAX,
		.seen_ns = UINT64_MAX,
};

// ---- method int ----

// Fills in the settings: a key that is given takes the place of the version's value.
static void make_settings(struct hs_profile_config *profile)
{
	struct hs_int_settings *settings = &profile->settings;
	enum hs_int_version version = profile->version;
	enum hs_int_carrier carrier = version == HS_INT_2016_06 ? HS_INT_VXLAN_GPE : HS_INT_TCP_UDP;

	hs_int_settings_init(settings, version, has_carrier(profile) ? profile->carrier : carrier);
#define TAKE(member)                                                                               \
	if (has_##member(profile))                                                                 \
	settings->member = (__typeof__(settings->member))profile->member
	TAKE(mode);
	TAKE(mark);
	TAKE(dscp);
	TAKE(dscp_mask);
	TAKE(udp_port);
	TAKE(probe_marker);
	TAKE(max_hops);
	TAKE(domain_id);
	TAKE(gre_protocol);
	TAKE(gpe_protocol);
	TAKE(geneve_class);
	TAKE(geneve_type);
#undef TAKE
}

static bool is_of_label(const struct hs_schema_field *field)
{
	return field->given == has_ip_protocol || field->given == has_interval_ns ||
	       field->given == has_rest_ns || field->given == has_function ||
	       field->given == has_chances;
}

static bool is_of_probe(const struct hs_schema_field *field)
{
	return field->given == has_feedback_dscp || field->given == has_recovery_dscp ||
	       field->given == has_recovery || field->given == has_timeout_ns ||
	       field->given == has_seen_ns || field->given == has_held ||
	       field->given == has_rate_pps || field->given == has_monitor_port;
}

// Returns whether the profile's method, carrier or mark has a use for the key.
static bool is_useful(const struct hs_profile_config *profile, const struct hs_schema_field *field)
{
	const struct hs_int_settings *settings = &profile->settings;
	bool is_int = profile->method == HS_METHOD_INT;
	bool is_label = profile->method == HS_METHOD_LABEL;
	bool tcp_udp = is_int && settings->carrier == HS_INT_TCP_UDP;
	bool by_dscp = tcp_udp && settings->mark == HS_INT_MARK_DSCP;

	if (profile->method == HS_METHOD_PROBE)
		return is_of_probe(field) || field->given == has_dscp ||
		       field->given == has_udp_port;
	if (is_of_probe(field))
		return false;
	if (field->given == has_layout)
		return profile->method == HS_METHOD_FLEXINT;
	if (is_of_label(field))
		return is_label;
	if (field->given == has_max_hops || field->given == has_malformed)
		return is_int || is_label;
	if (field->given == has_mark)
		return tcp_udp;
	if (field->given == has_dscp || field->given == has_dscp_mask)
		return by_dscp;
	if (field->given == has_udp_port)
		return tcp_udp && settings->mark == HS_INT_MARK_UDP_PORT;
	if (field->given == has_probe_marker)
		return tcp_udp && settings->mark == HS_INT_MARK_PROBE;
	if (field->given == has_gre_protocol)
		return is_int && settings->carrier == HS_INT_GRE;
	if (field->given == has_gpe_protocol)
		return is_int && settings->carrier == HS_INT_VXLAN_GPE;
	if (field->given == has_geneve_class || field->given == has_geneve_type)
		return is_int && settings->carrier == HS_INT_GENEVE;
	if (field->given == has_domain_id)
		return is_int && settings->version == HS_INT_2_1;
	return is_int;
}

static int check_int(struct hs_profile_config *profile, const char *path, struct hs_error *err)
{
	const char *allowed, *key;
	char at[96];

	snprintf(at, sizeof(at), "%s.version", path);
	if (!has_version(profile))
		return hs_error_set(err, "missing_field", at, "2016-06, 0.5, 1.0 or 2.1",
				"version is missing");
	make_settings(profile);
	key = hs_int_settings_wrong(&profile->settings, &allowed);
	snprintf(at, sizeof(at), "%s.%s", path, key ? key : "");
	return key ? hs_error_set(err, "out_of_range", at, allowed,
				     "%s does not go with version %s and what stands before it",
				     key, hs_int_version_name(profile->version))
		   : 0;
}

void hs_config_check_profile(
		struct hs_profile_config *profile, const char *path, struct hs_errors *errors)
{
	bool is_int = profile->method == HS_METHOD_INT;
	struct hs_error err;
	char at[96];
	int rc = is_int				      ? check_int(profile, path, &err)
		 : profile->method == HS_METHOD_LABEL ? hs_config_check_label(profile, path, &err)
		 : profile->method == HS_METHOD_PROBE ? hs_config_check_probe(profile, path, &err)
						      : 0;

	if (rc < 0)
		hs_errors_keep(errors, &err);
	if (rc < 0 && is_int) // the version and the carrier decide which other keys are of use
		return;
	if (profile->method == HS_METHOD_FLEXINT && !has_layout(profile))
		profile->layout = HS_LAYOUT_ALIGNED;
	for (const struct hs_schema_field *field = hs_config_profile_fields + 1; field->key;
			field++) {
		if (!field->given(profile) || is_useful(profile, field))
			continue;
		snprintf(at, sizeof(at), "%s.%s", path, field->key);
		hs_errors_add(errors, "conflict", at, "none", "%s: this profile has no use for it",
				field->key);
	}
}

static void check_profile(
		json_t *item, const char *path, void *into, size_t index, struct hs_errors *errors)
{
	(void)item;
	hs_config_check_profile(&((struct hs_config *)into)->profiles[index], path, errors);
}

const struct hs_schema_list hs_config_profile_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = hs_config_profile_fields},
		HS_SCHEMA_ITEMS(struct hs_config, profiles),
		.name = offsetof(struct hs_profile_config, name),
		.name_bytes = HS_PORT_NAME_MAX,
		HS_SCHEMA_COUNT(struct hs_config, n_profiles),
		.noun = "profiles",
		.check_all = check_profile,
		.fresh = &hs_config_profile_fresh,
};

static const struct hs_profile_config *find(const struct hs_config *config, const char *name)
{
	for (unsigned i = 0; i < config->n_profiles; i++) {
		if (strcmp(config->profiles[i].name, name) == 0)
			return &config->profiles[i];
	}
	return NULL;
}

// Returns the profile that a port got, or NULL.
static const struct hs_profile_config *profile_of(const struct hs_config *config, unsigned port)
{
	return config->node.profiles[port].family ? find(config, config->ports[port].profile)
						  : NULL;
}

// Refuses profiles that mark their packets alike: each would take the other's packets for its own.
static int check_marks(const struct hs_config *config, unsigned index,
		const struct hs_profile_config *profile, struct hs_error *err)
{
	char at[48], mark[HS_MARK_TEXT];

	snprintf(at, sizeof(at), "ports[%u].profile", index);
	for (unsigned i = 0; i < index; i++) {
		const struct hs_profile_config *its = profile_of(config, i);
		if (!its || its == profile || its->method != HS_METHOD_INT ||
				!hs_profile_marks_collide(&profile->settings, &its->settings, mark))
			continue;
		return hs_error_set(err, "conflict", at, "profiles that mark packets differently",
				"profiles \"%s\" and \"%s\" mark their packets alike: %s",
				its->name, profile->name, mark);
	}
	return 0;
}

static bool is_alike(const struct hs_profile_config *a, const struct hs_profile_config *b)
{
	return a->label.wire.ip_protocol == b->label.wire.ip_protocol &&
	       a->label.wire.max_hops == b->label.wire.max_hops &&
	       (a->malformed == PASS) == (b->malformed == PASS);
}

// Requires equal settings of profiles of method label: all ports that label are of one network, so
// that no port ends the items of another one. Host ports use these settings, too.
static int check_alike(const struct hs_config *config, unsigned index,
		const struct hs_profile_config *profile, struct hs_error *err)
{
	char at[48];

	snprintf(at, sizeof(at), "ports[%u].profile", index);
	for (unsigned i = 0; i < index; i++) {
		const struct hs_profile_config *its = profile_of(config, i);
		if (!its || its->method != HS_METHOD_LABEL || is_alike(its, profile))
			continue;
		return hs_error_set(err, "conflict", at,
				"profiles with the same ip_protocol, max_hops and malformed",
				"profiles \"%s\" and \"%s\" of method label differ in ip_protocol, "
				"max_hops or malformed, which are the same at all ports of a node",
				its->name, profile->name);
	}
	return 0;
}

// Writes the names as "one of dc, lab".
static void list_names(const struct hs_config *config, char *text, size_t size)
{
	size_t used = (size_t)snprintf(
			text, size, config->n_profiles ? "one of " : "a name from \"profiles\"");

	for (unsigned i = 0; i < config->n_profiles && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
				config->profiles[i].name);
}

static int resolve(struct hs_config *config, unsigned index, bool readable, struct hs_error *err)
{
	const struct hs_port_config *port = &config->ports[index];
	const struct hs_profile_config *profile = find(config, port->profile);
	char at[48], names[sizeof(err->expected)];

	if (!port->profile[0])
		return 0;
	snprintf(at, sizeof(at), "ports[%u].profile", index);
	if (port->side == HS_SIDE_HOST)
		return hs_error_set(err, "conflict", at, "only beside side network",
				"port \"%s\" has side host: no telemetry of hosts is believed",
				port->name);
	if (!readable)
		return 0;
	if (!profile) {
		list_names(config, names, sizeof(names));
		return hs_error_set(err, "unknown_profile", at, names,
				"no profile is called \"%s\"", port->profile);
	}
	if (profile->method == HS_METHOD_FLEXINT) {
		config->node.profiles[index] = (struct hs_profile){
				.family = &hs_flexint_steps, .layout = profile->layout};
		return 0;
	}
	if (profile->method == HS_METHOD_LABEL) {
		config->node.profiles[index] = (struct hs_profile){.family = &hs_label_steps,
				.settings = &profile->label,
				.pass_malformed = profile->malformed == PASS};
		return check_alike(config, index, profile, err);
	}
	if (profile->method == HS_METHOD_PROBE) {
		config->node.profiles[index] = (struct hs_profile){
				.family = &hs_probe_steps, .settings = &profile->probe};
		return 0;
	}
	config->node.profiles[index] =
			(struct hs_profile){.family = &hs_int_steps[profile->version],
					.settings = &profile->settings,
					.pass_malformed = profile->malformed == PASS,
					.domain = (uint8_t)(profile - config->profiles)};
	return check_marks(config, index, profile, err);
}

void hs_config_resolve_profiles(struct hs_config *config, struct hs_errors *errors)
{
	struct hs_error err;
	char at[48];

	for (unsigned i = 0; i < config->n_ports; i++) {
		snprintf(at, sizeof(at), "profiles.%s", config->ports[i].profile);
		if (resolve(config, i, !hs_errors_touch_one(errors, at), &err) < 0)
			hs_errors_keep(errors, &err);
	}
}
