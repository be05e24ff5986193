// SPDX-License-Identifier: BSD-3-Clause
#include "controller_reply.h"

#include "api_label.h"
#include "route_text.h"
#include "schema.h"

#include <string.h>

#define FEATURES 256 // of a node, at most
#define PORTS	 HS_API_LABEL_PORTS

#define ROW(type, how, ...) HS_SCHEMA_ROW(type, how, __VA_ARGS__, .required = true)

static const struct hs_schema_style style = {.missing = " is missing", .open = true};

static int read(const struct hs_schema_field *fields, json_t *value, void *into,
		struct hs_error *err)
{
	if (!value)
		return hs_error_set(err, "missing_field", "", "an object", "there is no answer");
	return hs_schema_read_as(&style, fields, value, "", into, err);
}

// ---- texts ----

static const char *parse_short_word(const char *text, char *at, size_t size)
{
	if (!text[0] || strlen(text) >= size || hs_schema_check_name(text, "", NULL) < 0)
		return "is no word";
	strcpy(at, text);
	return NULL;
}

static const char *parse_word(const char *text, void *at, const char **code)
{
	(void)code;
	return parse_short_word(text, at, REPLY_WORD);
}

// A longer boot id would be cut when it is kept, and would then differ at each hello.
static const char *parse_boot_id(const char *text, void *at, const char **code)
{
	(void)code;
	return parse_short_word(text, at, REPLY_BOOT_ID);
}

// Interfaces and devices without an address of their own have one of zeros.
static const char *parse_mac(const char *text, void *at, const char **code)
{
	(void)code;
	if (!hs_route_is_mac(text))
		return "is not a MAC address";
	strcpy(at, text);
	return NULL;
}

static const struct hs_schema_text word_text = {.parse = parse_word},
				   boot_id_text = {.parse = parse_boot_id},
				   mac_text = {.parse = parse_mac};

// Reads a text of any length, which no kind of row keeps.
static int borrow_text(json_t *value, const char *path, void *at, struct hs_error *err)
{
	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, "a string", err);
	*(const char **)at = json_string_value(value);
	return 0;
}

#define WORD(type, member)                                                                         \
	ROW(type, PARSED, member, NULL, .text = &word_text,                                        \
			.expected = "a word of at most 63 bytes")
#define BOOT_ID(type)                                                                              \
	ROW(type, PARSED, boot_id, NULL, .text = &boot_id_text,                                    \
			.expected = "a word of at most 23 bytes")

// ---- answers ----

int reply_read(json_t *reply, struct reply *into, struct hs_error *err)
{
	static const struct hs_schema_field fields[] = {
			ROW(struct reply, UINT, id, NULL, .max = INT64_MAX),
			HS_SCHEMA_ROW(struct reply, UINT, generation, NULL, .max = INT64_MAX),
			HS_SCHEMA_ROW(struct reply, JSON, ok, NULL),
			HS_SCHEMA_ROW(struct reply, JSON, error, NULL),
			{NULL},
	};

	*into = (struct reply){.generation = REPLY_NO_GENERATION};
	int rc = read(fields, reply, into, err);
	if (rc == 0 && !into->ok && !into->error)
		return hs_error_set(err, "missing_field", "ok", "ok or error",
				"ok and error are missing");
	return rc;
}

int reply_read_error(json_t *error, struct reply_error *into, struct hs_error *err)
{
	static const struct hs_schema_field fields[] = {
			WORD(struct reply_error, code),
			{"message", HS_SCHEMA_CUSTOM, HS_SCHEMA_MEMBER(struct reply_error, message),
					.read = borrow_text},
			{"expected", HS_SCHEMA_CUSTOM,
					HS_SCHEMA_MEMBER(struct reply_error, expected),
					.read = borrow_text},
			{NULL},
	};
	struct hs_errors errors = {0};

	*into = (struct reply_error){.code = "refused"};
	int rc = hs_schema_read_all_as(&style, fields, error, "error", into, &errors);
	if (rc < 0)
		*err = errors.list[0];
	return rc;
}

static int note_feature(void *into, const struct hs_schema_item *item, struct hs_error *err)
{
	struct reply_hello *hello = into;
	const char *feature = NULL;
	int rc = borrow_text(item->value, item->path, &feature, err);

	hello->keeps_owner |= rc == 0 && strcmp(feature, "owner") == 0;
	return rc;
}

int reply_read_hello(json_t *ok, struct reply_hello *into, struct hs_error *err)
{
	static const struct hs_schema_list features = {.item = {.kind = HS_SCHEMA_JSON},
			.item_bytes = sizeof(json_t *),
			.noun = "features",
			.take = note_feature};
	static const struct hs_schema_field fields[] = {
			ROW(struct reply_hello, UINT, node_id, NULL, .max = UINT16_MAX),
			BOOT_ID(struct reply_hello),
			{"features", HS_SCHEMA_LIST, .list = &features, .max = FEATURES},
			{NULL},
	};

	*into = (struct reply_hello){0};
	return read(fields, ok, into, err);
}

// ---- rules ----

static int keep_rule(json_t *item, const char *path, void *into, size_t index, struct hs_error *err)
{
	(void)path;
	(void)err;
	((struct reply_rules *)into)->rules[index].rule = item;
	return 0;
}

int reply_read_rules(json_t *ok, struct reply_rules *into, struct hs_error *err)
{
	static const struct hs_schema_field listed[] = {
			ROW(struct reply_listed, UINT, ns_id, NULL, .min = 1, .max = UINT32_MAX),
			{NULL},
	};
	static const struct hs_schema_list rules = {
			.item = {.kind = HS_SCHEMA_OBJECT, .fields = listed},
			HS_SCHEMA_ITEMS(struct reply_rules, rules),
			HS_SCHEMA_COUNT(struct reply_rules, n),
			.noun = "rules",
			.check = keep_rule,
	};
	static const struct hs_schema_list in_band = {
			.item = {.kind = HS_SCHEMA_UINT,
					.size = sizeof(uint32_t),
					.min = 1,
					.max = UINT32_MAX},
			HS_SCHEMA_ITEMS(struct reply_rules, in_band),
			HS_SCHEMA_COUNT(struct reply_rules, n_in_band),
			.noun = "rules",
	};
	static const struct hs_schema_field fields[] = {
			ROW(struct reply_rules, LIST, rules, NULL, .list = &rules,
					.max = REPLY_PAGE),
			HS_SCHEMA_ROW(struct reply_rules, LIST, in_band, NULL, .list = &in_band,
					.max = REPLY_PAGE),
			HS_SCHEMA_ROW(struct reply_rules, UINT, next, NULL, .min = 1,
					.max = INT64_MAX),
			{NULL},
	};

	into->n = into->n_in_band = 0;
	into->next = 0;
	return read(fields, ok, into, err);
}

int reply_read_rule(json_t *ok, json_t **rule, struct hs_error *err)
{
	static const struct hs_schema_field fields[] = {
			{"rule", HS_SCHEMA_JSON, .required = true},
			{NULL},
	};

	return read(fields, ok, rule, err);
}

int reply_read_audit(json_t *ok, bool *fine, struct hs_error *err)
{
	static const struct hs_schema_field fields[] = {
			{"ok", HS_SCHEMA_BOOL, .size = sizeof(bool), .required = true},
			{NULL},
	};

	*fine = false;
	return read(fields, ok, fine, err);
}

// ---- ports ----

#define PORT(...) ROW(struct reply_port, __VA_ARGS__)
#define NAME	  PORT(TEXT, name, NULL, .max = HS_API_MAX_PORT_NAME)
#define ID	  PORT(UINT, id, NULL, .max = UINT32_MAX)
#define SHIFT	  PORT(UINT, shift, NULL, .max = HS_API_LABEL_SHIFT)

// Reads the list of ports, whose members `fields` has.
static int read_ports(const struct hs_schema_field *fields, json_t *ok, struct reply_ports *into,
		struct hs_error *err)
{
	const struct hs_schema_list list = {
			.item = {.kind = HS_SCHEMA_OBJECT, .fields = fields},
			HS_SCHEMA_ITEMS(struct reply_ports, ports),
			HS_SCHEMA_COUNT(struct reply_ports, n),
			.heap = true,
			.noun = "ports",
	};
	const struct hs_schema_field rows[] = {
			ROW(struct reply_ports, LIST, ports, NULL, .list = &list, .max = PORTS),
			{NULL},
	};

	*into = (struct reply_ports){0};
	return read(rows, ok, into, err);
}

int reply_read_labels(json_t *ok, struct reply_ports *into, struct hs_error *err)
{
	static const struct hs_schema_field fields[] = {NAME, ID, SHIFT, {NULL}};

	return read_ports(fields, ok, into, err);
}

int reply_read_label_set(json_t *ok, struct reply_ports *into, struct hs_error *err)
{
	static const struct hs_schema_field fields[] = {ID, SHIFT, {NULL}};

	return read_ports(fields, ok, into, err);
}

int reply_read_traffic(json_t *ok, struct reply_ports *into, struct hs_error *err)
{
	static const struct hs_schema_field fields[] = {NAME, PORT(BOOL, link_up, NULL),
			PORT(UINT, tx_packets, NULL, .max = INT64_MAX), {NULL}};

	return read_ports(fields, ok, into, err);
}

int reply_read_addresses(json_t *ok, struct reply_ports *into, struct hs_error *err)
{
	static const struct hs_schema_field fields[] = {NAME, ID,
			PORT(PARSED, mac, NULL, .text = &mac_text, .expected = "a MAC address"),
			{NULL}};

	return read_ports(fields, ok, into, err);
}

// ---- publications ----

int reply_read_origin(json_t *content, struct reply_origin *into, struct hs_error *err)
{
	static const struct hs_schema_field fields[] = {
			ROW(struct reply_origin, UINT, node_id, NULL, .max = UINT16_MAX),
			BOOT_ID(struct reply_origin),
			ROW(struct reply_origin, UINT, seq, NULL, .max = INT64_MAX),
			{NULL},
	};

	*into = (struct reply_origin){0};
	return read(fields, content, into, err);
}

int reply_read_event(json_t *content, struct reply_event *into, struct hs_error *err)
{
	static const struct hs_schema_field fields[] = {
			WORD(struct reply_event, kind),
			{"message", HS_SCHEMA_CUSTOM, HS_SCHEMA_MEMBER(struct reply_event, message),
					.read = borrow_text, .required = true},
			{NULL},
	};

	*into = (struct reply_event){0};
	return read(fields, content, into, err);
}

#define NS_ID .min = 1, .max = UINT32_MAX
int reply_read_window(json_t *content, struct reply_window *into, struct hs_error *err)
{
	static const struct hs_schema_field fields[] = {
			ROW(struct reply_window, UINT, ns_id, NULL, NS_ID),
			HS_SCHEMA_ROW(struct reply_window, UINT, app_id, NULL, .max = UINT32_MAX),
			HS_SCHEMA_ROW_AS(struct reply_window, INT, "window_ns", length_ns, NULL,
					.required = true, .min = 1, .max = REPLY_LONGEST_WINDOW_NS),
			{NULL},
	};

	*into = (struct reply_window){0};
	return read(fields, content, into, err);
}

int reply_read_report(json_t *content, uint32_t *ns_id, struct hs_error *err)
{
	static const struct hs_schema_field fields[] = {
			{"ns_id", HS_SCHEMA_UINT, .size = sizeof(*ns_id), .required = true, NS_ID},
			{NULL},
	};

	return read(fields, content, ns_id, err);
}
