// SPDX-License-Identifier: BSD-3-Clause
#include "influx_config.h"

#include "influx_secret.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define QUEUE_BYTES_LEAST (64u << 10)
#define QUEUE_BYTES_MOST  (1u << 30)
#define LONGEST_S	  86400

const struct hs_influx_config hs_influx_fresh = {
		.queue_bytes = 16u << 20,
		.interval_ns = INT64_C(10000000000),
};

static const struct hs_schema_word lines_words[] = {
		{"hopsight", HS_INFLUX_LINES_HOPSIGHT},
		{"intcollector", HS_INFLUX_LINES_INTCOLLECTOR},
		{NULL, 0},
};

// Refuses a user and a password in an address: they would be printed wherever the address is.
static const char *parse_url(const char *text, void *at, const char **code)
{
	const char *host = strncmp(text, "http://", 7) == 0    ? text + 7
			   : strncmp(text, "https://", 8) == 0 ? text + 8
							       : NULL;
	size_t name = host ? strcspn(host, "/?#@") : 0;

	(void)code;
	static_assert(HS_SCHEMA_TEXT_BYTES == 128, "as the text says");
	if (!text[0])
		return "is empty, or longer than 127 bytes";
	if (name == 0)
		return "is not the address of a server";
	if (strchr(host, '@'))
		return "names a user: user and password_file are keys of their own";
	if (strpbrk(host, "?# \t\n\\\""))
		return "has more than a server and a path";
	snprintf(at, HS_INFLUX_TEXT_BYTES, "%s", text);
	return NULL;
}

static void write_url(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	snprintf(text, HS_SCHEMA_TEXT_BYTES, "%s", (const char *)at);
}

static const struct hs_schema_text url_text = {parse_url, write_url,
		"{'type': 'string', 'pattern': '^https?://[^@?# ]+$'}", .hidden = true};

#define DATABASE(member) HS_SCHEMA_MEMBER(struct hs_influx_config, member)
#define TEXT(name)                                                                                 \
	{                                                                                          \
#name, HS_SCHEMA_TEXT, DATABASE(name), .min = 1, .max = HS_INFLUX_TEXT_BYTES - 1,  \
						       .optional = true                            \
	}
// The keys of every program.
#define ROWS                                                                                       \
	{"url", HS_SCHEMA_PARSED, DATABASE(url), .required = true, .text = &url_text,              \
			.expected = "like http://127.0.0.1:8086"},                                 \
			TEXT(database), TEXT(user), TEXT(password_file), TEXT(org), TEXT(bucket),  \
			TEXT(token_file), TEXT(ca_file),                                           \
			{"queue_bytes", HS_SCHEMA_UINT, DATABASE(queue_bytes),                     \
					.min = QUEUE_BYTES_LEAST, .max = QUEUE_BYTES_MOST},        \
	{                                                                                          \
		"interval_s", HS_SCHEMA_SECONDS, DATABASE(interval_ns), .least = 0.1,              \
									.most = LONGEST_S          \
	}

const struct hs_schema_field hs_influx_rows[] = {ROWS, {NULL}};

const struct hs_schema_field hs_influx_collector_rows[] = {
		ROWS,
		{"lines", HS_SCHEMA_WORD, DATABASE(lines), .words = lines_words},
		{"flow_tags", HS_SCHEMA_BOOL, DATABASE(flow_tags)},
		{NULL},
};

// ---- keys that exclude or need each other ----

static void refuse(unsigned index, const char *key, const char *code, const char *expected,
		const char *why, struct hs_errors *errors)
{
	char path[64];

	snprintf(path, sizeof(path), "influx[%u].%s", index, key);
	hs_errors_add(errors, code, path, expected, "%s", why);
}

static void check_version_1(
		const struct hs_influx_config *of, unsigned index, struct hs_errors *errors)
{
	static const char only[] = "only beside org and bucket";

	if (of->bucket[0])
		refuse(index, "bucket", "conflict", "database, or org and bucket",
				"a database and a bucket are of two versions of InfluxDB", errors);
	else if (of->org[0])
		refuse(index, "org", "conflict", only, "a database belongs to no organisation",
				errors);
	if (of->password_file[0] && !of->user[0])
		refuse(index, "user", "missing_field", "the name of a user",
				"password_file is the password of a user", errors);
	else if (of->user[0] && of->token_file[0])
		refuse(index, "token_file", "conflict", "user or token_file",
				"a request carries one of them", errors);
}

static void check_version_2(
		const struct hs_influx_config *of, unsigned index, struct hs_errors *errors)
{
	if (!of->bucket[0]) {
		refuse(index, of->org[0] ? "bucket" : "database", "missing_field",
				"database, or org and bucket",
				"nothing says where lines are written", errors);
		return;
	}
	if (!of->org[0])
		refuse(index, "org", "missing_field", "the name of an organisation",
				"a bucket belongs to one", errors);
	if (of->user[0] || of->password_file[0])
		refuse(index, of->user[0] ? "user" : "password_file", "conflict",
				"only beside database", "a bucket takes a token", errors);
}

static void check_file(const char *file, unsigned index, const char *key, struct hs_errors *errors)
{
	char secret[INFLUX_SECRET_BYTES], path[64];
	struct hs_error err;

	if (!file[0])
		return;
	snprintf(path, sizeof(path), "influx[%u].%s", index, key);
	if (influx_secret_read(file, path, secret, &err) < 0)
		hs_errors_keep(errors, &err);
	explicit_bzero(secret, sizeof(secret));
}

static bool has_errors(unsigned index, const struct hs_errors *errors)
{
	char path[32];

	snprintf(path, sizeof(path), "influx[%u]", index);
	return hs_errors_touch(errors, errors->n, (const char *const[]){path, NULL});
}

void hs_influx_check(const struct hs_influx_list *list, struct hs_errors *errors)
{
	for (unsigned i = 0; i < list->n; i++) {
		const struct hs_influx_config *of = &list->of[i];
		if (has_errors(i, errors))
			continue;
		if (of->database[0])
			check_version_1(of, i, errors);
		else
			check_version_2(of, i, errors);
		check_file(of->password_file, i, "password_file", errors);
		check_file(of->token_file, i, "token_file", errors);
	}
}
