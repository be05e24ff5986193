// SPDX-License-Identifier: BSD-3-Clause
// Profiles of method probe, and what a node with such ports needs.
#include "config_parts.h"

#include "config.h"
#include "probe_state.h"
#include "rule_admission.h"

#include <errno.h>
#include <stdio.h>

#define TIMEOUT_NS INT64_C(1500000000)
#define RATE_PPS   10000

int hs_config_check_probe(struct hs_profile_config *profile, const char *path, struct hs_error *err)
{
#define GIVEN(member, unsaid, otherwise)                                                           \
	(profile->member == (unsaid) ? (otherwise) : (__typeof__(otherwise))profile->member)
#define NUMBER(member, otherwise) GIVEN(member, HS_PROFILE_UNSAID, (uint32_t)(otherwise))
	const struct hs_probe_settings wire = {
			.dscp = (uint8_t)NUMBER(dscp, HS_PROBE_DSCP),
			.feedback_dscp = (uint8_t)NUMBER(feedback_dscp, HS_PROBE_FEEDBACK_DSCP),
			.recovery_dscp = (uint8_t)NUMBER(recovery_dscp, HS_PROBE_RECOVERY_DSCP),
			.udp_port = (uint16_t)NUMBER(udp_port, HS_PROBE_UDP_PORT),
	};
	profile->probe = (struct hs_probe_profile){
			.wire = wire,
			.recovery = profile->recovery,
			.monitor_port = (uint8_t)NUMBER(monitor_port, 0),
			.held = NUMBER(held, HS_PROBE_HELD),
			.rate_pps = NUMBER(rate_pps, RATE_PPS),
			.timeout_ns = GIVEN(timeout_ns, UINT64_MAX, TIMEOUT_NS),
			.seen_ns = GIVEN(seen_ns, UINT64_MAX, TIMEOUT_NS),
	};
#undef NUMBER
#undef GIVEN
	char at[96];

	snprintf(at, sizeof(at), "%s.dscp", path);
	if (wire.dscp != wire.feedback_dscp && wire.dscp != wire.recovery_dscp &&
			wire.feedback_dscp != wire.recovery_dscp)
		return 0;
	return hs_error_set(err, "conflict", at, "three values",
			"dscp %u, feedback_dscp %u and recovery_dscp %u: two of them are the same",
			wire.dscp, wire.feedback_dscp, wire.recovery_dscp);
}

// ---- the node ----

static const struct hs_probe_profile *probe_of(const struct hs_config *config, unsigned port)
{
	return hs_profile_probe(&config->node.profiles[port]);
}

// Returns the first port with probes, or -1.
static int first_port(const struct hs_config *config)
{
	for (unsigned i = 0; i < config->n_ports; i++)
		if (probe_of(config, i))
			return (int)i;
	return -1;
}

uint32_t hs_config_held(const struct hs_config *config)
{
	int first = first_port(config);

	return first < 0 ? 0 : probe_of(config, (unsigned)first)->held;
}

// Refuses an id of more than a byte, because an entry of a probe has one byte for the id of a port.
static int check_port_id(const struct hs_config *config, unsigned port, struct hs_error *err)
{
	const struct hs_port_config *of = &config->ports[port];
	char at[32];

	snprintf(at, sizeof(at), "ports[%u].id", port);
	return of->id <= HS_PROBE_MAX_PORT
			       ? 0
			       : hs_error_set(err, "out_of_range", at,
						 "1 to 255 beside a profile of method probe",
						 "port \"%s\" has the id %u, which an entry of a "
						 "probe has no room for",
						 of->name, of->id);
}

// Returns whether INT is marked by the DSCP of probes: each would be taken for the other.
static bool marks_alike(const struct hs_int_settings *settings, uint8_t dscp)
{
	return settings->carrier == HS_INT_TCP_UDP && settings->mark == HS_INT_MARK_DSCP &&
	       !((settings->dscp ^ dscp) & settings->dscp_mask);
}

static int check_others(const struct hs_config *config, unsigned port,
		const struct hs_probe_profile *probe, struct hs_error *err)
{
	const struct hs_int_settings *settings = hs_profile_int(&config->node.profiles[port]);
	const struct hs_probe_settings *wire = &probe->wire;
	char at[48];

	snprintf(at, sizeof(at), "ports[%u].profile", port);
	if (probe_of(config, port) && probe_of(config, port) != probe)
		return hs_error_set(err, "conflict", at, "one profile of method probe",
				"all ports of a node with probes have the same profile");
	if (!settings || (!marks_alike(settings, wire->dscp) &&
					 !marks_alike(settings, wire->feedback_dscp) &&
					 !marks_alike(settings, wire->recovery_dscp)))
		return 0;
	return hs_error_set(err, "conflict", at, "profiles that mark packets differently",
			"profile \"%s\" marks its packets as probes are marked: dscp %u",
			config->ports[port].profile, settings->dscp);
}

// Checks the port of the monitor, where recovery packets and probes without entries go.
static int check_monitor(const struct hs_config *config, const struct hs_probe_profile *probe,
		struct hs_error *err)
{
	int first = first_port(config);
	char at[32];

	snprintf(at, sizeof(at), "ports[%d].profile", first);
	if (!probe->monitor_port) {
		if (config->node.forwarding != HS_FORWARD_BRIDGE)
			return 0;
		return hs_error_set(err, "missing_field", at, "monitor_port",
				"a bridge does not know behind which port the monitor is");
	}
	for (unsigned i = 0; i < config->n_ports; i++)
		if (config->ports[i].id == probe->monitor_port && probe_of(config, i))
			return 0;
	return hs_error_set(err, "bad_value", at,
			"a monitor_port that is the id of a port with probes",
			"monitor_port: no port with probes has the id %u", probe->monitor_port);
}

void hs_config_check_probes(struct hs_config *config, struct hs_errors *errors)
{
	int first = first_port(config);
	struct hs_error err;

	if (first < 0)
		return;
	if (config->node.id > UINT8_MAX) // a hop of a probe has one byte for the node
		hs_errors_add(errors, "out_of_range", "node.id",
				"0 to 255 beside a profile of method probe",
				"node: a probe has no room for the id %u", config->node.id);
	const struct hs_probe_profile *probe = probe_of(config, (unsigned)first);
	for (unsigned i = 0; i < config->n_ports; i++) {
		if (probe_of(config, i) && check_port_id(config, i, &err) < 0)
			hs_errors_keep(errors, &err);
		if (check_others(config, i, probe, &err) < 0)
			hs_errors_keep(errors, &err);
	}
	if (check_monitor(config, probe, &err) < 0)
		hs_errors_keep(errors, &err);
}
