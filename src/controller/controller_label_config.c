// SPDX-License-Identifier: BSD-3-Clause
#include "controller_label_config.h"

#include "api_label.h"
#include "ip_port_text.h"

#include <stdio.h>
#include <string.h>

#define LABEL(member) HS_SCHEMA_MEMBER(struct hs_controller_label_config, member)
#define PRO(member)   HS_SCHEMA_MEMBER(struct hs_controller_pro_config, member)

static int check_listen(
		json_t *item, const char *path, void *into, size_t index, struct hs_error *err)
{
	const struct hs_controller_label_config *label = into;
	char text[HS_IP_PORT_TEXT];

	(void)item;
	for (size_t i = 0; i < index; i++) {
		const struct hs_ip_port *udp = &label->listen[i];
		if (hs_ip_ports_collide(udp, &label->listen[index]))
			return hs_error_set(err, "duplicate", path, "each address and port once",
					"listen[%zu] takes it already: %s", i,
					hs_ip_port_write(udp, text));
	}
	return 0;
}

static const struct hs_schema_list listen_list = {
		.item = {.kind = HS_SCHEMA_PARSED,
				.size = sizeof(struct hs_ip_port),
				.text = &hs_ip_port_text,
				.expected = "an address and a port like 127.0.0.1:32768 or "
					    "[::1]:32768"},
		HS_SCHEMA_ITEMS(struct hs_controller_label_config, listen),
		HS_SCHEMA_COUNT(struct hs_controller_label_config, n_listen),
		.noun = "sockets",
		.check = check_listen,
};

#define CAPTURE(member) HS_SCHEMA_MEMBER(struct hs_controller_capture, member)
static const struct hs_schema_word format_words[] = {
		{"prototype", HS_CONTROLLER_PROTOTYPE},
		{NULL},
};
static const struct hs_schema_field capture_fields[] = {
		{"iface", HS_SCHEMA_TEXT, CAPTURE(iface), .required = true, .min = 1,
				.max = IF_NAMESIZE - 1},
		{"format", HS_SCHEMA_WORD, CAPTURE(format), .required = true,
				.words = format_words},
		{NULL},
};

static int check_capture(
		json_t *item, const char *at, void *into, size_t index, struct hs_error *err)
{
	const struct hs_controller_label_config *label = into;
	char path[96];

	(void)item;
	snprintf(path, sizeof(path), "%s.iface", at);
	for (size_t i = 0; i < index; i++)
		if (strcmp(label->captures[i].iface, label->captures[index].iface) == 0)
			return hs_error_set(err, "duplicate", path, "each interface once",
					"capture[%zu] takes it already", i);
	return 0;
}

static const struct hs_schema_list capture_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = capture_fields},
		HS_SCHEMA_ITEMS(struct hs_controller_label_config, captures),
		HS_SCHEMA_COUNT(struct hs_controller_label_config, n_captures),
		.noun = "interfaces",
		.check = check_capture,
};

static const struct hs_schema_field pro_fields[] = {
		{"k", HS_SCHEMA_REAL, PRO(k), .least = 0.05, .most = 1000},
		{"interval_ms", HS_SCHEMA_UINT, PRO(interval_ms), .min = 1, .max = 60000},
		{"repeat_ms", HS_SCHEMA_UINT, PRO(repeat_ms), .min = 10, .max = 60000},
		{"max_shift", HS_SCHEMA_UINT, PRO(max_shift), .min = 1, .max = HS_API_LABEL_SHIFT},
		{NULL},
};

static bool has_pro(const void *from)
{
	return ((const struct hs_controller_label_config *)from)->pro.on;
}

static bool listens(const void *from)
{
	return ((const struct hs_controller_label_config *)from)->n_listen > 0;
}

static bool captures(const void *from)
{
	return ((const struct hs_controller_label_config *)from)->n_captures > 0;
}

static bool has_poll(const void *from)
{
	return ((const struct hs_controller_label_config *)from)->poll_ms > 0;
}

const struct hs_schema_field hs_controller_label_fields[] = {
		{"listen", HS_SCHEMA_LIST, LABEL(listen), .min = 1, .max = HS_CONTROLLER_MAX_LISTEN,
				.expected = "a list of addresses like 127.0.0.1:32768",
				.list = &listen_list, .given = listens},
		{"capture", HS_SCHEMA_LIST, LABEL(captures), .min = 1,
				.max = HS_CONTROLLER_MAX_CAPTURES,
				.expected = "a list of interfaces", .list = &capture_list,
				.given = captures},
		{"buffer_kib", HS_SCHEMA_UINT, LABEL(buffer_kib), .min = 16, .max = 1048576},
		{"interval_ms", HS_SCHEMA_UINT, LABEL(interval_ms), .min = 1, .max = 3600000},
		{"ports", HS_SCHEMA_UINT, LABEL(ports), .min = 1, .max = 65536},
		{"series", HS_SCHEMA_UINT, LABEL(series), .min = 1, .max = 4096},
		{"age_ms", HS_SCHEMA_UINT, LABEL(age_ms), .min = 10, .max = 86400000},
		{"poll_ms", HS_SCHEMA_UINT, LABEL(poll_ms), .min = 10, .max = 3600000,
				.given = has_poll},
		{"pro", HS_SCHEMA_OBJECT, LABEL(pro), .fields = pro_fields, .given = has_pro},
		{NULL},
};

void hs_controller_label_defaults(struct hs_controller_label_config *label)
{
	*label = (struct hs_controller_label_config){
			.buffer_kib = 4096,
			.interval_ms = 100,
			.ports = 4096,
			.series = 64,
			.age_ms = 10000,
			.pro = {.k = 2, .interval_ms = 50, .repeat_ms = 200, .max_shift = 6},
	};
}

// Checks the keys of the control loop. The loop runs once in a millisecond at most. A port labels
// after T / 2^S at the soonest.
static void check_pro(const struct hs_controller_pro_config *pro, struct hs_errors *errors)
{
	double patience_ms = pro->k * pro->interval_ms;

	if (patience_ms < 1)
		hs_errors_add(errors, "out_of_range", "label.pro.k",
				"k x label.pro.interval_ms of 1 or more",
				"k x T is %.3g ms, shorter than a step of the control loop",
				patience_ms);
	if (pro->k * (double)(UINT64_C(1) << pro->max_shift) < 1)
		hs_errors_add(errors, "out_of_range", "label.pro.max_shift",
				"2^max_shift of 1 / label.pro.k or more",
				"a port that labels after T / 2^%u is not heard each %.3g x T",
				pro->max_shift, pro->k);
}

void hs_controller_label_check(
		const struct hs_controller_label_config *label, struct hs_errors *errors)
{
	static const char *const of_ways[] = {"label.listen", "label.capture", NULL};
	static const char *const of_age[] = {"label.age_ms", "label.interval_ms", NULL};
	static const char *const of_pro[] = {"label.pro", NULL};
	unsigned n = errors->n;

	if (label->on && !label->n_listen && !label->n_captures &&
			!hs_errors_touch(errors, n, of_ways))
		hs_errors_add(errors, "missing_field", "label.listen",
				"an address, or an interface of label.capture",
				"there is nothing to receive items by");
	if (label->age_ms < label->interval_ms && !hs_errors_touch(errors, n, of_age))
		hs_errors_add(errors, "out_of_range", "label.age_ms", "at least label.interval_ms",
				"items of %u ms age are forgotten within an interval of %u ms",
				label->age_ms, label->interval_ms);
	if (!hs_errors_touch(errors, n, of_pro))
		check_pro(&label->pro, errors);
}
