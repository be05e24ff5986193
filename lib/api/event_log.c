// SPDX-License-Identifier: BSD-3-Clause
#include "event_log.h"

#include "api_page.h"
#include "clean_text.h"
#include "event_schema.h"

#include <stdio.h>
#include <string.h>

#define REPEAT_NS INT64_C(60000000000)

bool hs_event_limit(struct hs_event_limit *limit, int64_t now_ns, uint64_t count, uint64_t *grown)
{
	if (count < limit->said) // the count fell, e.g. because a "lost" datagram came late
		limit->said = count;
	// After the clock was set back, the last event seems to lie in the future.
	if (count == limit->said ||
			(now_ns < limit->next_ns && now_ns > limit->next_ns - 2 * REPEAT_NS))
		return false;
	*grown = count - limit->said;
	limit->said = count;
	limit->next_ns = now_ns + REPEAT_NS;
	return true;
}

void hs_event_log_init(struct hs_event_log *log)
{
	memset(log, 0, sizeof(*log));
}

void hs_event_log_fini(struct hs_event_log *log)
{
	for (unsigned i = 0; i < HS_EVENT_LOG_EVENTS; i++)
		json_decref(log->events[i]);
	hs_event_log_init(log);
}

// ---- as JSON ----

struct event {
	int64_t ts_ns;
	const char *kind, *message;
	json_t *details;
	uint64_t seq;
};

// All details of all kinds. docs/operating.md and docs/controller.md say which kind has which.
#define DETAIL(key, type, text)                                                                    \
	{                                                                                          \
		key, HS_SCHEMA_JSON, .optional = true, .shape = "{'type': '" type "'}",            \
				     .help = text                                                  \
	}
static const struct hs_schema_field detail_rows[] = {
		DETAIL("ns_id", "integer", "the rule"),
		DETAIL("shadowed_by", "integer", "the rule that takes the packets"),
		DETAIL("packets", "integer", "how many packets since the last such event"),
		DETAIL("mtu_needed_bytes", "integer",
				"the MTU with which all telemetry would have fitted"),
		DETAIL("reports", "integer", "how many reports"),
		DETAIL("signals", "integer", "in-band requests and reports that were lost"),
		DETAIL("limit", "integer", "the limit"),
		DETAIL("rules", "integer", "how many rules"),
		DETAIL("limit_bytes", "integer", "the limit"),
		DETAIL("bytes", "integer", "what is used"),
		DETAIL("monitors_evicted", "integer", "monitors that made room so far"),
		DETAIL("reports_refused", "integer", "reports without a monitor so far"),
		DETAIL("errors", "integer", "how many errors"),
		DETAIL("lines", "integer", "lines of the file, or for databases"),
		DETAIL("refused", "integer", "lines that were refused"),
		DETAIL("left_out", "integer", "lines that were left out"),
		DETAIL("amount_ns", "integer", "the size of the step"),
		DETAIL("old_offset_ns", "integer", "the offset before the step"),
		DETAIL("new_offset_ns", "integer", "the offset after the step"),
		DETAIL("steps", "integer", "how many steps so far"),
		DETAIL("request_bytes", "integer", "the length of the request"),
		DETAIL("requests", "integer", "how many requests"),
		DETAIL("silent_ns", "integer", "for how long nobody asked"),
		DETAIL("handshakes", "integer", "how many handshakes failed"),
		DETAIL("connections", "integer", "how many connections were refused"),
		DETAIL("keys", "integer", "how many keys are allowed"),
		DETAIL("port", "string", "the port's name"),
		DETAIL("file", "string", "the file of the state"),
		DETAIL("set_aside", "string", "where the damaged file is now"),
		DETAIL("reason", "string", "why, in words"),
		DETAIL("action", "string", "what was done"),
		DETAIL("node", "string", "the node's name at a controller"),
		DETAIL("code", "string", "the code of the node's error"),
		DETAIL("peer", "string", "the address of the peer"),
		DETAIL("to", "string", "the receiver of telemetry reports"),
		DETAIL("public_key", "string", "the peer's key"),
		DETAIL("problem", "string", "what is wrong with a key"),
		DETAIL("node_id", "integer", "the node's id"),
		DETAIL("port_id", "integer", "the id of the port of a link"),
		DETAIL("peer_id", "integer", "the id of the node at the other end of a link"),
		DETAIL("peer_port_id", "integer", "the id of its port"),
		DETAIL("prefix", "string", "the destination of routes"),
		DETAIL("nodes", "integer", "how many nodes"),
		DETAIL("nodes_without_way", "integer", "from how many no way leads"),
		DETAIL("entries", "integer", "entries of tables"),
		DETAIL("ports", "integer", "how many ports"),
		DETAIL("intervals", "integer", "how many intervals in a row"),
		DETAIL("flow", "object", "at a collector: the flow, as in flow_get"),
		{"points", HS_SCHEMA_JSON, .optional = true,
				.shape = "{'type': 'array', 'items': {'type': 'object'}}",
				.help = "at a collector: values that changed together, as those of "
					"hop.<node_id>"},
		DETAIL("synchronised", "boolean", "what the system says of its clock"),
		{NULL},
};
#define EVENT(...) HS_SCHEMA_ROW(struct event, __VA_ARGS__)
static const struct hs_schema_field event_fields[] = {
		EVENT(INT, ts_ns, "when it happened"),
		EVENT(STRING, kind, "a word for programs"),
		EVENT(STRING, message, "what happened, in words"),
		EVENT(JSON_MEMBERS, details, NULL, .fields = detail_rows),
		EVENT(UINT, seq, "in the reply to events: counts events; published: messages"),
		{NULL},
};

static const struct hs_schema_field published_rows[] = {
		{"event_seq", HS_SCHEMA_UINT, .size = sizeof(uint64_t),
				.help = "its seq in the reply to events"},
		{NULL},
};
// The members that the publisher adds.
static const struct hs_schema_field origin_rows[] = {
		{"boot_id", HS_SCHEMA_STRING, .help = "of the publisher"},
		{"node_id", HS_SCHEMA_UINT, .optional = true, .max = UINT16_MAX,
				.help = "of the publisher, if it is a node"},
		{NULL},
};

json_t *hs_event_schema(void)
{
	static const struct hs_schema_field published[] = {
			{"", HS_SCHEMA_MEMBERS, .fields = event_fields},
			{"", HS_SCHEMA_MEMBERS, .fields = published_rows},
			{"", HS_SCHEMA_MEMBERS, .fields = origin_rows},
			{NULL},
	};
	static const struct hs_schema_field message[] = {
			{"event", HS_SCHEMA_OBJECT, .fields = published, .help = "the event"},
			{NULL},
	};
	json_t *schema = hs_schema_describe_printed(message);

	json_object_set_new(schema, "$defs",
			json_pack("{s:o}", "event", hs_schema_describe_printed(event_fields)));
	return schema;
}

json_t *hs_event_log_add(struct hs_event_log *log, int64_t now_ns, const char *kind,
		json_t *details, const char *format, va_list args)
{
	char text[320];
	uint64_t number = log->last + 1;

	vsnprintf(text, sizeof(text), format, args);
	hs_clean_mend(text);
	json_t *event = hs_schema_print(
			event_fields, &(struct event){now_ns, kind, text, details, number});
	json_decref(details);
	if (!event)
		return NULL;
	json_t **place = &log->events[number % HS_EVENT_LOG_EVENTS];
	json_decref(*place);
	*place = event;
	log->last = number;
	json_t *published = json_copy(event);
	hs_schema_print_into(published, published_rows, &number);
	return published;
}

// ---- answers ----

struct page {
	json_t *events;
	uint64_t lost, next;
	bool more;
};

#define PAGE(...) HS_SCHEMA_ROW(struct page, __VA_ARGS__)
const struct hs_schema_field hs_event_log_fields[] = {
		PAGE(TAKEN, events, "events, the oldest first",
				.shape = "{'type': 'array', 'items': {'$ref': "
					 "'event.json#/$defs/event'}}"),
		PAGE(UINT, lost, "events that are gone: their numbers are too old"),
		PAGE(UINT, next, "the `since` of the next question"),
		PAGE(BOOL, more, "there are further events", .optional = true),
		{NULL},
};

json_t *hs_event_log_since(const struct hs_event_log *log, const struct hs_api_args *args)
{
	uint64_t since = args->since > log->last ? 0 : args->since;
	uint64_t kept = log->last < HS_EVENT_LOG_EVENTS ? log->last : HS_EVENT_LOG_EVENTS;
	uint64_t oldest = log->last - kept; // the newest event that is gone
	uint64_t from = since > oldest ? since : oldest;

	struct page page = {json_array(), from - since, from, false};
	size_t used = 0;
	while (page.next < log->last &&
			hs_api_page_add(args, page.events,
					json_incref(log->events[(page.next + 1) %
								HS_EVENT_LOG_EVENTS]),
					&used))
		page.next++;
	page.more = page.next < log->last;
	return hs_schema_print(hs_event_log_fields, &page);
}
