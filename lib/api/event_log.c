// SPDX-License-Identifier: BSD-3-Clause
#include "event_log.h"

#include "api_reply.h"
#include "clean_text.h"

#include <stdio.h>
#include <string.h>

#define REPEAT_NS INT64_C(60000000000)

bool hs_event_limit(struct hs_event_limit *limit, int64_t now_ns, uint64_t count, uint64_t *grown)
{
	if (count == limit->said || now_ns < limit->next_ns)
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

json_t *hs_event_log_add(struct hs_event_log *log, int64_t now_ns, const char *kind,
		json_t *details, const char *format, va_list args)
{
	char text[320];
	uint64_t number = log->last + 1;

	vsnprintf(text, sizeof(text), format, args);
	hs_clean_mend(text);
	json_t *event = json_pack("{s:I, s:s, s:s}", "ts_ns", (json_int_t)now_ns, "kind", kind,
			"message", text);
	json_object_update(event, details);
	json_decref(details);
	if (json_object_set_new(event, "seq", json_integer((json_int_t)number)) < 0) {
		json_decref(event);
		return NULL;
	}
	json_t **place = &log->events[number % HS_EVENT_LOG_EVENTS];
	json_decref(*place);
	*place = event;
	log->last = number;
	json_t *published = json_copy(event);
	json_object_set_new(published, "event_seq", json_integer((json_int_t)number));
	return published;
}

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
