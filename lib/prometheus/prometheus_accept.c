// SPDX-License-Identifier: BSD-3-Clause
// Source: RFC 9110 section 12.5.1 (Accept).
#include "prometheus.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

// One range of the header: "application/openmetrics-text;version=1.0.0;q=0.8".
struct range {
	const char *type;
	size_t type_len;
	const char *version; // NULL: none
	size_t version_len;
	double q;
};

static size_t skip_blanks(const char *at)
{
	return strspn(at, " \t");
}

static bool is(const char *at, size_t len, const char *word)
{
	return len == strlen(word) && strncasecmp(at, word, len) == 0;
}

// Returns the length without blanks at the end.
static size_t trim(const char *at, size_t len)
{
	while (len && (at[len - 1] == ' ' || at[len - 1] == '\t'))
		len--;
	return len;
}

static void take_parameter(struct range *range, const char *at, size_t len)
{
	const char *equals = memchr(at, '=', len);

	if (!equals)
		return;
	size_t name = trim(at, (size_t)(equals - at));
	const char *value = equals + 1 + skip_blanks(equals + 1);
	size_t value_len = trim(value, (size_t)(at + len - value));
	if (is(at, name, "q")) {
		range->q = strtod(value, NULL);
	} else if (is(at, name, "version")) {
		bool quoted = value_len >= 2 && value[0] == '"' && value[value_len - 1] == '"';
		range->version = value + quoted;
		range->version_len = value_len - 2u * quoted;
	}
}

// Reads one range, and returns where the next begins.
static const char *take_range(const char *at, struct range *range)
{
	at += skip_blanks(at);
	size_t len = strcspn(at, ",;");
	*range = (struct range){.type = at, .type_len = trim(at, len), .q = 1};
	for (at += len; *at == ';'; at += len) {
		at += 1 + skip_blanks(at + 1);
		len = strcspn(at, ",;");
		take_parameter(range, at, len);
	}
	return at + (*at == ',');
}

static bool has_version(const struct range *range, const char *one, const char *other)
{
	return !range->version || is(range->version, range->version_len, one) ||
	       is(range->version, range->version_len, other);
}

static bool is_openmetrics(const struct range *range)
{
	return is(range->type, range->type_len, "application/openmetrics-text") &&
	       has_version(range, "1.0.0", "0.0.1");
}

static bool is_text(const struct range *range)
{
	return (is(range->type, range->type_len, "text/plain") &&
			       has_version(range, "0.0.4", "0.0.4")) ||
	       is(range->type, range->type_len, "text/*") ||
	       is(range->type, range->type_len, "*/*");
}

bool hs_prometheus_wants_openmetrics(const char *accept)
{
	double openmetrics = 0, text = 0;
	struct range range;

	for (const char *at = accept; at && *at;) {
		at = take_range(at, &range);
		if (is_openmetrics(&range) && range.q > openmetrics)
			openmetrics = range.q;
		if (is_text(&range) && range.q > text)
			text = range.q;
	}
	return openmetrics > 0 && openmetrics >= text;
}

const char *hs_prometheus_content_type(bool openmetrics)
{
	return openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			   : "text/plain; version=0.0.4; charset=utf-8";
}
