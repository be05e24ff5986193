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

static int refuse(unsigned index, const char *key, const char *code, const char *expected,
		const char *why, struct hs_error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "influx[%u].%s", index, key);
	return hs_error_set(err, code, path, expected, "%s", why);
}

static int check_version_1(const struct hs_influx_config *of, unsigned index, struct hs_error *err)
{
	static const char only[] = "only beside org and bucket";

	if (of->bucket[0])
		return refuse(index, "bucket", "conflict", "database, or org and bucket",
				"a database and a bucket are of two versions of InfluxDB", err);
	if (of->org[0])
		return refuse(index, "org", "conflict", only,
				"a database belongs to no organisation", err);
	if (of->password_file[0] && !of->user[0])
		return refuse(index, "user", "missing_field", "the name of a user",
				"password_file is the password of a user", err);
	if (of->user[0] && of->token_file[0])
		return refuse(index, "token_file", "conflict", "user or token_file",
				"a request carries one of them", err);
	return 0;
}

static int check_version_2(const struct hs_influx_config *of, unsigned index, struct hs_error *err)
{
	if (!of->bucket[0])
		return refuse(index, of->org[0] ? "bucket" : "database", "missing_field",
				"database, or org and bucket",
				"nothing says where lines are written", err);
	if (!of->org[0])
		return refuse(index, "org", "missing_field", "the name of an organisation",
				"a bucket belongs to one", err);
	if (of->user[0] || of->password_file[0])
		return refuse(index, of->user[0] ? "user" : "password_file", "conflict",
				"only beside database", "a bucket takes a token", err);
	return 0;
}

static int check_file(const char *file, unsigned index, const char *key, struct hs_error *err)
{
	char secret[INFLUX_SECRET_BYTES], path[64];

	if (!file[0])
		return 0;
	snprintf(path, sizeof(path), "influx[%u].%s", index, key);
	int rc = influx_secret_read(file, path, secret, err);
	explicit_bzero(secret, sizeof(secret));
	return rc < 0 ? -EINVAL : 0;
}

int hs_influx_check(const struct hs_influx_list *list, struct hs_error *err)
{
	for (unsigned i = 0; i < list->n; i++) {
		const struct hs_influx_config *of = &list->of[i];
		int rc = of->database[0] ? check_version_1(of, i, err)
					 : check_version_2(of, i, err);
		if (rc < 0 || check_file(of->password_file, i, "password_file", err) < 0 ||
				check_file(of->token_file, i, "token_file", err) < 0)
			return -EINVAL;
	}
	return 0;
}
