// SPDX-License-Identifier: BSD-3-Clause
// What leaves the controller: requests to nodes, publications and events.
#include "controller_call.h"

#include "controller_state.h"

#include "log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int controller_call(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, const char *verb, json_t *content)
{
	bool room = node->n_calls < CALLS_AT_ONCE;
	json_t *request = room ? json_pack("{s:I, s:O}", "id", (json_int_t)(controller->calls + 1),
						 verb, content)
			       : NULL;
	char *text = request ? json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
	int rc = text ? controller->output.send(
					controller->output.context, node->index, text, strlen(text))
		      : -EAGAIN;

	json_decref(content);
	json_decref(request);
	free(text);
	if (rc < 0)
		return rc;
	struct call *kept = &node->calls[(node->first_call + node->n_calls++) % CALLS_AT_ONCE];
	*kept = *call;
	kept->id = ++controller->calls;
	kept->verb = verb;
	kept->sent_ns = controller->now_ns;
	node->n_hellos += call->kind == CALL_HELLO;
	node->n_relays += call->kind == CALL_RELAY;
	node->requests++;
	return 0;
}

void controller_bad_reply(struct hs_controller *controller, struct controller_node *node,
		const char *verb, const struct hs_error *err)
{
	char text[HS_ERROR_TEXT];
	uint64_t grown;

	node->replies_bad++;
	if (hs_event_limit(&node->bad_limit, controller->now_ns, node->replies_bad, &grown))
		hs_log_at(controller->now_ns, HS_LOG_WARNING, "controller",
				"node \"%s\": %" PRIu64
				" answers could not be read, the last one to %s: %s",
				node->config->name, grown, verb, hs_error_text(err, text));
}

int controller_publish(struct hs_controller *controller, const char *topic, const char *key,
		json_t *content)
{
	json_t *own = json_copy(content);

	json_decref(content);
	json_object_set_new(own, "seq", json_integer((json_int_t)++controller->seq));
	json_object_set_new(own, "boot_id", json_string(controller->boot_id));
	if (controller->output.record)
		controller->output.record(controller->output.context, key, own);
	json_t *message = json_pack("{s:o}", key, own);
	char *text = message && controller->output.publish
				     ? json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(15))
				     : NULL;
	int rc = text ? controller->output.publish(controller->output.context, topic, text) : 0;
	if (rc < 0)
		controller->publish_lost++;
	free(text);
	json_decref(message);
	return rc;
}

void hs_controller_event(void *owner, const char *kind, json_t *details, const char *format, ...)
{
	struct hs_controller *controller = owner;
	char topic[80];
	va_list args;

	va_start(args, format);
	json_t *event = hs_event_log_add(
			&controller->events, controller->now_ns, kind, details, format, args);
	va_end(args);
	snprintf(topic, sizeof(topic), "event.%s", kind);
	if (event)
		controller_publish(controller, topic, "event", event);
}
