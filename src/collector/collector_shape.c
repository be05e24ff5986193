// SPDX-License-Identifier: BSD-3-Clause
#include "collector_shape.h"

#include "config_parts.h"
#include "int_report.h"
#include "ip_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define UNKNOWN UINT32_MAX

static const char *word_of(const struct hs_schema_word *words, unsigned value)
{
	return words[value].text;
}

static const char *address_text(
		const uint8_t address[16], bool is_ipv4, char text[HS_COLLECTOR_ADDRESS_TEXT])
{
	return inet_ntop(is_ipv4 ? AF_INET : AF_INET6, address, text, HS_COLLECTOR_ADDRESS_TEXT);
}

// ---- words ----

static const char *const refusals[][2] = {
#define HS_COLLECT_REFUSAL(NAME, name, text) [HS_COLLECT_REFUSED_##NAME] = {#name, text},
#include "collect_counter.def"
};

const char *hs_collector_refusal_name(enum hs_collect_refusal reason)
{
	return refusals[reason][0];
}

const char *hs_collector_refusal_text(enum hs_collect_refusal reason)
{
	return refusals[reason][1];
}

const char *hs_collector_listener_name(const struct hs_collector_config *config, unsigned listener,
		char text[HS_SCHEMA_TEXT_BYTES])
{
	if (listener >= config->n_listen + config->n_ports)
		return "";
	if (listener >= config->n_listen)
		return config->ports[listener - config->n_listen].port.name;
	return hs_ip_port_write(&config->listen[listener].udp, text);
}

// ---- flows ----

struct shown_key {
	const char *src_ip, *dst_ip;
	const struct hs_collect_flow_key *key;
	char texts[2][HS_COLLECTOR_ADDRESS_TEXT];
};

static bool has_reporter(const void *from)
{
	return ((const struct hs_collect_flow_key *)from)->reporter != UNKNOWN;
}

#define KEY(...) HS_SCHEMA_ROW(struct hs_collect_flow_key, UINT, __VA_ARGS__)
static const struct hs_schema_field number_rows[] = {
		KEY(src_port, "of the packet; 0 where its protocol has none"),
		KEY(dst_port, "of the packet; 0 where its protocol has none"),
		KEY(protocol, "number of the protocol above IP: 6 is TCP, 17 is UDP"),
		KEY(vlan, "id of the outermost VLAN tag", .optional = true),
		KEY(reporter,
				"the node that told of the flow, where its report does not have "
				"the whole path",
				.given = has_reporter),
		{NULL},
};
#define SHOWN_KEY(...) HS_SCHEMA_ROW(struct shown_key, __VA_ARGS__)
const struct hs_schema_field hs_collector_key_fields[] = {
		SHOWN_KEY(STRING, src_ip, "source of the reported packets"),
		SHOWN_KEY(STRING, dst_ip, "destination of the reported packets"),
		SHOWN_KEY(MEMBERS, key, NULL, .behind = true, .fields = number_rows),
		{NULL},
};

static void show_key(const struct hs_collect_flow_key *key, struct shown_key *shown)
{
	shown->key = key;
	shown->src_ip = address_text(key->src, key->is_ipv4, shown->texts[0]);
	shown->dst_ip = address_text(key->dst, key->is_ipv4, shown->texts[1]);
}

json_t *hs_collector_key_json(const struct hs_collect_flow_key *key)
{
	struct shown_key shown;

	show_key(key, &shown);
	return hs_schema_print(hs_collector_key_fields, &shown);
}

void hs_collector_key_text(const struct hs_collect_flow_key *key, char *text, size_t size)
{
	struct shown_key shown;

	show_key(key, &shown);
	snprintf(text, size, key->is_ipv4 ? "%s:%u -> %s:%u" : "[%s]:%u -> [%s]:%u", shown.src_ip,
			key->src_port, shown.dst_ip, key->dst_port);
}

struct shown_hop {
	const struct hs_collect_hop *hop;
	const char *unit;
};

static bool has_node(const void *from)
{
	return ((const struct hs_collect_hop *)from)->node_id != UNKNOWN;
}

static bool has_hop_latency(const void *from)
{
	return ((const struct hs_collect_hop *)from)->has_latency;
}

static bool unit_applies(const void *from)
{
	return ((const struct shown_hop *)from)->hop->has_latency;
}

#define HOP(...) HS_SCHEMA_ROW(struct hs_collect_hop, UINT, __VA_ARGS__)
static const struct hs_schema_field hop_rows[] = {
		HOP(node_id, "the node; left out where it did not say its id", .given = has_node),
		HOP(latency, "the newest, in the unit beside it", .given = has_hop_latency),
		{NULL},
};
#define SHOWN_HOP(...) HS_SCHEMA_ROW(struct shown_hop, __VA_ARGS__)
static const struct hs_schema_field hop_fields[] = {
		SHOWN_HOP(MEMBERS, hop, NULL, .behind = true, .fields = hop_rows),
		SHOWN_HOP(STRING, unit, "of the latency", .given = unit_applies),
		{NULL},
};

struct shown_flow {
	struct shown_key key;
	const struct hs_collect_flow *flow;
	const char *unit;
	json_t *hops;
};

static bool has_latency(const void *from)
{
	return ((const struct hs_collect_flow *)from)->has_latency;
}

static bool flow_has_latency(const void *from)
{
	return ((const struct shown_flow *)from)->flow->has_latency;
}

#define FLOW(...) HS_SCHEMA_ROW(struct hs_collect_flow, __VA_ARGS__)
static const struct hs_schema_field flow_rows[] = {
		FLOW(UINT, reports, "reports of the flow so far"),
		FLOW(INT, first_ns, "when the first of them came"),
		FLOW(INT, last_ns, "when the newest of them came"),
		FLOW(INT, event_ns, "when the flow's last event was"),
		FLOW(UINT, latency, "the sum of its hops' latencies", .given = has_latency),
		FLOW(BOOL, entries_missing,
				"nodes on the path wrote nothing, so that hops are missing",
				.optional = true),
		{NULL},
};
#define SHOWN_FLOW(...) HS_SCHEMA_ROW(struct shown_flow, __VA_ARGS__)
const struct hs_schema_field hs_collector_flow_fields[] = {
		{"", HS_SCHEMA_MEMBERS, .offset = offsetof(struct shown_flow, key),
				.fields = hs_collector_key_fields},
		SHOWN_FLOW(MEMBERS, flow, NULL, .behind = true, .fields = flow_rows),
		SHOWN_FLOW(STRING, unit, "of the latency", .given = flow_has_latency),
		SHOWN_FLOW(TAKEN, hops, "the path, the source first", .items = hop_fields),
		{NULL},
};

// Returns the unit that all hops have in common. A sum of different units means nothing.
const char *hs_collector_flow_unit(
		const struct hs_collector_config *config, const struct hs_collect_flow *flow)
{
	unsigned first = 0;

	for (unsigned i = 0; i < flow->n_hops; i++) {
		unsigned unit = hs_collector_units_of(config, flow->hops[i].node_id)->latency;
		if (i > 0 && unit != first)
			return "mixed";
		first = unit;
	}
	return word_of(hs_collector_latency_words, first);
}

json_t *hs_collector_flow_json(
		const struct hs_collector_config *config, const struct hs_collect_flow *flow)
{
	struct shown_flow shown = {.flow = flow,
			.unit = hs_collector_flow_unit(config, flow),
			.hops = json_array()};

	show_key(&flow->key, &shown.key);
	for (unsigned i = 0; i < flow->n_hops; i++) {
		const struct hs_collector_units *units =
				hs_collector_units_of(config, flow->hops[i].node_id);
		const struct shown_hop hop = {&flow->hops[i],
				word_of(hs_collector_latency_words, units->latency)};
		json_array_append_new(shown.hops, hs_schema_print(hop_fields, &hop));
	}
	return hs_schema_print(hs_collector_flow_fields, &shown);
}

// ---- queues and links ----

struct shown_queue {
	const struct hs_collect_queue *queue;
	const char *unit;
};

static bool has_occupancy(const void *from)
{
	return ((const struct hs_collect_queue *)from)->has_occupancy;
}

static bool has_congestion(const void *from)
{
	return ((const struct hs_collect_queue *)from)->has_congestion;
}

static bool queue_unit_applies(const void *from)
{
	return ((const struct shown_queue *)from)->queue->has_occupancy;
}

static bool has_queue_id(const void *from)
{
	return ((const struct hs_collect_queue *)from)->queue_id != UNKNOWN;
}

#define QUEUE(...) HS_SCHEMA_ROW(struct hs_collect_queue, __VA_ARGS__)
static const struct hs_schema_field queue_rows[] = {
		QUEUE(UINT, node_id, "the node"),
		QUEUE(UINT, queue_id, "the queue there; left out where the node did not say it",
				.given = has_queue_id),
		QUEUE(UINT, occupancy, "the newest, in the unit beside it", .given = has_occupancy),
		QUEUE(UINT, congestion, "the newest; INT 2016-06 and 0.5 have it",
				.given = has_congestion),
		QUEUE(BOOL, congested,
				"the node's last report about it said so, less than ten seconds "
				"before the newest value",
				.optional = true),
		QUEUE(INT, last_ns, "when the newest value came"),
		QUEUE(UINT, device_ns, "the node's time of it", .optional = true),
		{NULL},
};
#define SHOWN_QUEUE(...) HS_SCHEMA_ROW(struct shown_queue, __VA_ARGS__)
const struct hs_schema_field hs_collector_queue_fields[] = {
		SHOWN_QUEUE(MEMBERS, queue, NULL, .behind = true, .fields = queue_rows),
		SHOWN_QUEUE(STRING, unit, "of the occupancy", .given = queue_unit_applies),
		{NULL},
};

json_t *hs_collector_queue_json(
		const struct hs_collector_config *config, const struct hs_collect_queue *queue)
{
	unsigned unit = hs_collector_units_of(config, queue->node_id)->occupancy;
	const struct shown_queue shown = {queue, word_of(hs_collector_occupancy_words, unit)};

	return hs_schema_print(hs_collector_queue_fields, &shown);
}

struct shown_link {
	const struct hs_collect_link *link;
	const char *unit;
};

#define LINK(...) HS_SCHEMA_ROW(struct hs_collect_link, __VA_ARGS__)
static const struct hs_schema_field link_rows[] = {
		LINK(UINT, node_id, "the node"),
		LINK(UINT, port, "the port that packets leave by"),
		LINK(UINT, utilisation, "the newest, in the unit beside it"),
		LINK(INT, last_ns, "when the newest value came"),
		LINK(UINT, device_ns, "the node's time of it", .optional = true),
		{NULL},
};
#define SHOWN_LINK(...) HS_SCHEMA_ROW(struct shown_link, __VA_ARGS__)
const struct hs_schema_field hs_collector_link_fields[] = {
		SHOWN_LINK(MEMBERS, link, NULL, .behind = true, .fields = link_rows),
		SHOWN_LINK(STRING, unit, "of the utilisation"),
		{NULL},
};

json_t *hs_collector_link_json(
		const struct hs_collector_config *config, const struct hs_collect_link *link)
{
	unsigned unit = hs_collector_units_of(config, link->node_id)->utilisation;
	const struct shown_link shown = {link, word_of(hs_collector_utilisation_words, unit)};

	return hs_schema_print(hs_collector_link_fields, &shown);
}

// ---- drops and exporters ----

struct shown_drop {
	const struct hs_collect_drop *drop;
	const char *reason, *text;
};

static bool drop_has_node(const void *from)
{
	return ((const struct hs_collect_drop *)from)->node_id != UNKNOWN;
}

#define DROP(...) HS_SCHEMA_ROW(struct hs_collect_drop, __VA_ARGS__)
static const struct hs_schema_field drop_rows[] = {
		DROP(UINT, node_id,
				"the node that dropped packets; left out where it did not say its "
				"id",
				.given = drop_has_node),
		HS_SCHEMA_ROW_AS(struct hs_collect_drop, UINT, "reason_id", reason,
				"as the node numbers it"),
		DROP(UINT, reports, "reports of such drops so far"),
		DROP(INT, first_ns, "when the first of them came"),
		DROP(INT, last_ns, "when the newest of them came"),
		{NULL},
};
#define SHOWN_DROP(...) HS_SCHEMA_ROW(struct shown_drop, __VA_ARGS__)
const struct hs_schema_field hs_collector_drop_fields[] = {
		SHOWN_DROP(MEMBERS, drop, NULL, .behind = true, .fields = drop_rows),
		SHOWN_DROP(STRING, reason, "a word for scripts, where p4lang/switch has the number",
				.optional = true),
		SHOWN_DROP(STRING, text, "the reason as a sentence", .optional = true),
		{NULL},
};

json_t *hs_collector_drop_json(const struct hs_collect_drop *drop)
{
	const struct shown_drop shown = {drop, hs_int_drop_reason_word(drop->reason),
			hs_int_drop_reason_sentence(drop->reason)};

	return hs_schema_print(hs_collector_drop_fields, &shown);
}

struct shown_exporter {
	const struct hs_collect_exporter *exporter;
	const char *address, *listener, *version;
};

static bool exporter_has_node(const void *from)
{
	return ((const struct hs_collect_exporter *)from)->has_node;
}

#define EXPORTER(...) HS_SCHEMA_ROW(struct hs_collect_exporter, __VA_ARGS__)
static const struct hs_schema_field exporter_rows[] = {
		EXPORTER(UINT, node_id, "of its first report; 0.5 may not say it",
				.given = exporter_has_node),
		EXPORTER(UINT, hw_id, "which part of the node"),
		EXPORTER(UINT, sequence, "the newest sequence number"),
		EXPORTER(UINT, datagrams, "that came"),
		EXPORTER(UINT, reports, "in them, without skipped ones"),
		EXPORTER(UINT, missing, "datagrams that sequence numbers say were lost"),
		EXPORTER(UINT, late, "datagrams that came behind a later one"),
		EXPORTER(UINT, duplicates, "datagrams that came twice"),
		EXPORTER(UINT, restarts, "times its sequence numbers began anew"),
		EXPORTER(INT, first_ns, "when its first datagram came"),
		EXPORTER(INT, last_ns, "when its newest datagram came"),
		{NULL},
};
#define SHOWN_EXPORTER(...) HS_SCHEMA_ROW(struct shown_exporter, __VA_ARGS__)
const struct hs_schema_field hs_collector_exporter_fields[] = {
		SHOWN_EXPORTER(STRING, address, "who sends"),
		SHOWN_EXPORTER(STRING, listener, "where it arrives: an entry of listen or ports"),
		SHOWN_EXPORTER(STRING, version, "of the newest report: 0.5, 1.0 or 2.0"),
		SHOWN_EXPORTER(MEMBERS, exporter, NULL, .behind = true, .fields = exporter_rows),
		{NULL},
};

json_t *hs_collector_exporter_json(const struct hs_collector_config *config,
		const struct hs_collect_exporter *exporter)
{
	char address[HS_COLLECTOR_ADDRESS_TEXT], listener[HS_SCHEMA_TEXT_BYTES];
	const struct shown_exporter shown = {exporter,
			address_text(exporter->address, exporter->is_ipv4, address),
			hs_collector_listener_name(config, exporter->listener, listener),
			word_of(hs_config_report_words, exporter->version)};

	return hs_schema_print(hs_collector_exporter_fields, &shown);
}
