// SPDX-License-Identifier: BSD-3-Clause
#include "rule.h"

#include "ip_address.h"

#include <math.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#define TRACE_KNOWN 0xF000E000u // every bit that has a meaning in table I

void hs_rule_init(struct hs_rule *rule)
{
	*rule = (struct hs_rule){.transmit_report = true, .hop_enabled = true};
}

static uint32_t hash(uint32_t so_far, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) // FNV-1a
		so_far = (so_far ^ bytes[i]) * UINT32_C(16777619);
	return so_far;
}

uint32_t hs_rule_flow_ns(const struct hs_rule *rule)
{
	const uint8_t rest[] = {rule->src_host_bits, rule->dst_host_bits,
			(uint8_t)(rule->src_port >> 8), (uint8_t)rule->src_port,
			(uint8_t)(rule->dst_port >> 8), (uint8_t)rule->dst_port, rule->protocol,
			rule->dscp};
	uint32_t number = hash(UINT32_C(2166136261), rule->src_ip, sizeof(rule->src_ip));

	number = hash(number, rule->dst_ip, sizeof(rule->dst_ip));
	return 100000 + hash(number, rest, sizeof(rest)) % 900000;
}

const char *hs_rule_method_name(enum hs_rule_method method)
{
	static const char *const names[] = {[HS_RULE_FLEXINT] = "flexint",
			[HS_RULE_INT] = "int",
			[HS_RULE_LABEL] = "label"};

	return names[method];
}

static int check_flow(const struct hs_rule *rule, struct hs_error *err)
{
	const char *port_path = rule->src_port ? "src_port" : "dst_port";

	if (rule->ns_id == 0)
		return hs_error_set(err, "out_of_range", "ns_id", "1 to 4294967295",
				"ns_id: 0 names no namespace");
	switch (rule->protocol) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case HS_RULE_ANY_PROTOCOL:
		return 0;
	case IPPROTO_ICMPV6:
		if (rule->src_port || rule->dst_port)
			return hs_error_set(err, "out_of_range", port_path, "0",
					"%s: %u, but icmp has no ports", port_path,
					rule->src_port ? rule->src_port : rule->dst_port);
		return 0;
	default:
		return hs_error_set(err, "out_of_range", "protocol", "tcp, udp, icmp or any",
				"protocol: %u cannot be monitored", rule->protocol);
	}
}

static int check_versions(const struct hs_rule *rule, struct hs_error *err)
{
	bool is_4 = hs_ip_address_is_ipv4(rule->dst_ip);

	if (hs_ip_address_is_ipv4(rule->src_ip) == is_4)
		return 0;
	return hs_error_set(err, "wrong_family", "dst_ip",
			is_4 ? "an IPv6 address" : "an IPv4 address",
			"dst_ip: an IPv%c address, but src_ip is an IPv%c address",
			is_4 ? '4' : '6', is_4 ? '6' : '4');
}

// In-band requests need IPv6 too, because they are options of IPv6.
int hs_rule_check_method(const struct hs_rule *rule, const char *method, struct hs_error *err)
{
	bool source = hs_ip_address_is_ipv4(rule->src_ip);
	const char *path = source ? "src_ip" : "dst_ip";
	const uint8_t *address = source ? rule->src_ip : rule->dst_ip;
	char text[HS_IP_ADDRESS_TEXT];

	if ((!rule->in_band && strcmp(method, "flexint") != 0) || !hs_ip_address_is_ipv4(address))
		return 0;
	return hs_error_set(err, "wrong_family", path, "an IPv6 address",
			"%s: \"%s\" is an IPv4 address, but method flexint needs IPv6 addresses",
			path, hs_ip_address_write(address, text));
}

static int check_prefix(
		const char *path, const uint8_t ip[16], uint8_t host_bits, struct hs_error *err)
{
	char text[HS_IP_ADDRESS_TEXT], right[HS_IP_ADDRESS_TEXT];
	uint8_t cleared[16];

	memcpy(cleared, ip, sizeof(cleared));
	hs_ip_prefix_clear(cleared, host_bits);
	if (memcmp(cleared, ip, sizeof(cleared)) == 0)
		return 0;
	hs_ip_prefix_write(cleared, host_bits, right);
	return hs_error_set(err, "bad_value", path, right,
			"%s: \"%s\" has bits set behind its length", path,
			hs_ip_prefix_write(ip, host_bits, text));
}

// Refuses the unspecified address. No packet of a flow has it, and its writer probably means any
// address.
static int refuse_unspecified(
		const char *path, const uint8_t ip[16], uint8_t host_bits, struct hs_error *err)
{
	bool is_4 = hs_ip_address_is_ipv4(ip);

	if (host_bits || !hs_ip_address_is_any(ip))
		return 0;
	return hs_error_set(err, "bad_value", path,
			is_4 ? "a host's address, or with method int or label 0.0.0.0/0 for any"
			     : "a host's address, or with method int or label ::/0 for any",
			"%s: \"%s\" is the address of no host", path, is_4 ? "0.0.0.0" : "::");
}

// Refuses a multicast source (RFC 1112 section 7.2, RFC 4291 section 2.7). Refuses a prefix if it
// has only multicast addresses.
static int refuse_multicast_source(const struct hs_rule *rule, struct hs_error *err)
{
	unsigned most = hs_ip_address_is_ipv4(rule->src_ip) ? 28 : 120;
	char text[HS_IP_ADDRESS_TEXT];

	if (!hs_ip_address_is_multicast(rule->src_ip) || rule->src_host_bits > most)
		return 0;
	return hs_error_set(err, "bad_value", "src_ip", "a host's address",
			"src_ip: \"%s\" is multicast, and no packet has a multicast source",
			hs_ip_prefix_write(rule->src_ip, rule->src_host_bits, text));
}

static int check_prefixes(const struct hs_rule *rule, struct hs_error *err)
{
	int rc = check_prefix("src_ip", rule->src_ip, rule->src_host_bits, err);

	if (rc == 0)
		rc = check_prefix("dst_ip", rule->dst_ip, rule->dst_host_bits, err);
	if (rc == 0)
		rc = refuse_unspecified("src_ip", rule->src_ip, rule->src_host_bits, err);
	if (rc == 0)
		rc = refuse_multicast_source(rule, err);
	return rc ? rc : refuse_unspecified("dst_ip", rule->dst_ip, rule->dst_host_bits, err);
}

// Checks a rule of method flexint. Each end of its flow is one address; only other methods take
// prefixes.
static int check_flexint(const struct hs_rule *rule, struct hs_error *err)
{
	if (rule->src_host_bits || rule->dst_host_bits) {
		const char *path = rule->src_host_bits ? "src_ip" : "dst_ip";
		return hs_error_set(err, "bad_value", path, "an IPv6 address",
				"%s: method flexint needs an address, methods int and label take a "
				"prefix",
				path);
	}
	if (rule->dscp)
		return hs_error_set(
				err, "conflict", "dscp", "none", "dscp: method flexint has none");
	if (rule->trace_type & ~TRACE_KNOWN)
		return hs_error_set(err, "out_of_range", "trace_type",
				"0x and 1 to 8 hex digits, bits of 0xF000E000 only",
				"trace_type: 0x%08X has bits without a meaning (0x%08X); the "
				"allowed mask "
				"is 0xF000E000",
				rule->trace_type, rule->trace_type & ~TRACE_KNOWN);
	return 0;
}

static int check_mode(const struct hs_rule *rule, struct hs_error *err)
{
	static const struct {
		const char *name, *expected;
		double min, max;
	} modes[] = {
			[HS_MODE_COUNT] = {"count", "a whole number of packets, 1 to 4294967295", 1,
					UINT32_MAX},
			[HS_MODE_FREQUENCY] = {"frequency", "milliseconds, 0.001 to 86400000",
					0.001, 86400e3},
			[HS_MODE_PROBABILITY] = {"probability", "percent, above 0, to 100", 0, 100},
	};
	double setting = rule->mode_setting;

	if (rule->mode > HS_MODE_PROBABILITY)
		return hs_error_set(err, "out_of_range", "mode", "count, frequency or probability",
				"mode: %u is not known", rule->mode);
	// The comparison refuses a NaN, which compares false with everything.
	bool good = setting >= modes[rule->mode].min && setting <= modes[rule->mode].max;
	if (rule->mode == HS_MODE_COUNT && good)
		good = floor(setting) == setting;
	if (rule->mode == HS_MODE_PROBABILITY && good)
		good = setting > 0;
	if (!good)
		return hs_error_set(err, "out_of_range", "mode_setting", modes[rule->mode].expected,
				"mode_setting: %.15g is out of range for mode %s", setting,
				modes[rule->mode].name);
	return 0;
}

// Checks a rule of another method, which must not set the members that only flexint has.
static int check_others(const struct hs_rule *rule, struct hs_error *err)
{
	static const struct {
		const char *key;
		size_t at;
	} none[] = {
			{"in_band", offsetof(struct hs_rule, in_band)},
			{"piggyback_report", offsetof(struct hs_rule, piggyback_report)},
			{"extract_report", offsetof(struct hs_rule, extract_report)},
	};

	if (rule->method == HS_RULE_INT && !(rule->trace_type & HS_RULE_TRACE_INT))
		return hs_error_set(err, "missing_field", "instructions", "a list of names",
				"instructions is missing");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		if (*(const bool *)((const char *)rule + none[i].at))
			return hs_error_set(err, "conflict", none[i].key, "false",
					"%s: method %s has none", none[i].key,
					hs_rule_method_name(rule->method));
	}
	return rule->fields ? hs_error_set(err, "conflict", "fields", "none",
					      "fields: method %s has none",
					      hs_rule_method_name(rule->method))
			    : 0;
}

int hs_rule_check(const struct hs_rule *rule, struct hs_error *err)
{
	int rc = check_flow(rule, err);

	if (rc == 0)
		rc = hs_rule_check_method(rule, hs_rule_method_name(rule->method), err);
	if (rc == 0)
		rc = check_versions(rule, err);
	if (rc == 0)
		rc = check_prefixes(rule, err);
	if (rc == 0)
		rc = rule->method == HS_RULE_FLEXINT ? check_flexint(rule, err)
						     : check_others(rule, err);
	if (rc == 0 && rule->revision && !rule->owner)
		rc = hs_error_set(err, "missing_field", "owner", "1 to 31 bytes",
				"owner is missing: a revision is a number of its owner's");
	return rc ? rc : check_mode(rule, err);
}
