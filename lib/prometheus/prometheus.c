// SPDX-License-Identifier: BSD-3-Clause
#include "prometheus.h"

#include "array.h"
#include "clean_text.h"
#include "u32_map.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 40
#define NS_PER_S     1000000000
#define FOUND	     256 // families that are found by the address of their names; a power of two

struct text {
	char *bytes;
	size_t len, size;
	bool failed; // memory is out
};

struct family {
	struct hs_prometheus_family of;
	struct text series;
};

struct hs_prometheus {
	bool openmetrics;
	uint32_t room;
	uint64_t left_out;
	uint64_t *capped;
	bool failed;
	size_t n_families;
	struct family *families;
	struct hs_u32_map by_name; // hash of the name -> families[]
	uint32_t found[FOUND];	   // families[] by a hash of the address of the name
};

static const struct hs_prometheus_labels no_labels;
static const struct hs_prometheus_family capped_family = {"hopsight_series_capped_total",
		"Series that had no place on the page, of all pages", "series",
		HS_PROMETHEUS_COUNTER};

// ---- text ----

static char *reserve(struct text *text, size_t n)
{
	if (text->size - text->len < n) {
		size_t size = 2 * text->size + n;
		char *bytes = text->failed ? NULL : realloc(text->bytes, size);
		text->failed = !bytes;
		if (!bytes)
			return NULL;
		text->bytes = bytes;
		text->size = size;
	}
	return text->bytes + text->len;
}

static void put_bytes(struct text *text, const char *bytes, size_t n)
{
	char *to = reserve(text, n);

	if (!to)
		return;
	memcpy(to, bytes, n);
	text->len += n;
}

static void put(struct text *text, const char *words)
{
	put_bytes(text, words, strlen(words));
}

// Adds a character of a label's value or a help text. Both are UTF-8: a byte that belongs to no
// character becomes U+FFFD.
static size_t put_character(struct text *text, const char *at, size_t n, bool quotes)
{
	int32_t code;
	size_t taken = hs_clean_next(at, n, &code);

	if (taken == 0 || code < 0)
		put(text, "\xef\xbf\xbd");
	else if (code == '\\')
		put(text, "\\\\");
	else if (code == '\n')
		put(text, "\\n");
	else if (code == '"' && quotes)
		put(text, "\\\"");
	else
		put_bytes(text, at, taken);
	return taken ? taken : 1;
}

static bool is_plain(char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

static void put_escaped(struct text *text, const char *words, bool quotes)
{
	size_t n = strlen(words);

	for (size_t at = 0; at < n;) {
		size_t plain = 0;
		while (at + plain < n && is_plain(words[at + plain]))
			plain++;
		put_bytes(text, words + at, plain);
		at += plain;
		if (at < n)
			at += put_character(text, words + at, n - at, quotes);
	}
}

// ---- numbers ----

static const char *uint_text(uint64_t value, char text[NUMBER_BYTES])
{
	char *at = text + NUMBER_BYTES - 1;

	*at = '\0';
	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	return at;
}

// Writes the fewest digits that are read back as the same number.
static const char *real_text(double value, char text[NUMBER_BYTES])
{
	if (isnan(value))
		return "NaN";
	if (isinf(value))
		return value > 0 ? "+Inf" : "-Inf";
	snprintf(text, NUMBER_BYTES, "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, NUMBER_BYTES, "%.17g", value);
	return text;
}

static const char *ns_text(int64_t ns, char text[NUMBER_BYTES])
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	uint64_t rest = size % NS_PER_S;
	int n = snprintf(text, NUMBER_BYTES, "%s%" PRIu64, ns < 0 ? "-" : "", size / NS_PER_S);

	if (!rest)
		return text;
	n += snprintf(text + n, (size_t)(NUMBER_BYTES - n), ".%09" PRIu64, rest);
	while (text[n - 1] == '0')
		text[--n] = '\0';
	return text;
}

// Writes a bound of a bucket, in the form that OpenMetrics calls canonical: 1e-06, 0.5, 1.0.
static const char *bound_text(int64_t ns, char text[NUMBER_BYTES])
{
	snprintf(text, NUMBER_BYTES, "%.15g", (double)ns / NS_PER_S);
	if (!strpbrk(text, ".e"))
		strcat(text, ".0");
	return text;
}

// ---- families ----

static const char *ending_of(enum hs_prometheus_type type)
{
	return type == HS_PROMETHEUS_COUNTER ? "_total" : type == HS_PROMETHEUS_INFO ? "_info" : "";
}

// Returns the length of the name without the ending of its type. OpenMetrics uses this shorter name
// for the family.
static size_t stem_of(const struct hs_prometheus_family *family)
{
	const char *ending = ending_of(family->type);
	size_t n = strlen(family->name), tail = strlen(ending);

	assert(n > tail && strcmp(family->name + n - tail, ending) == 0);
	return n - tail;
}

static struct family *find(struct hs_prometheus *page, const char *name, uint32_t hash)
{
	uint32_t probe = 0, i;

	while ((i = hs_u32_map_next(&page->by_name, hash, &probe)) != HS_U32_MAP_NONE)
		if (strcmp(page->families[i].of.name, name) == 0)
			return &page->families[i];
	return NULL;
}

static struct family *add_family(struct hs_prometheus *page,
		const struct hs_prometheus_family *family, uint32_t hash)
{
	if (hs_u32_map_add(&page->by_name, hash, (uint32_t)page->n_families) < 0)
		return NULL;
	return HS_ARRAY_APPEND(page->families, page->n_families, (struct family){.of = *family});
}

static struct text *series_of(struct hs_prometheus *page, const struct hs_prometheus_family *family)
{
	uint32_t *at = &page->found[((uintptr_t)family->name >> 3) % FOUND];

	if (*at >= page->n_families || page->families[*at].of.name != family->name) {
		uint32_t hash = hs_u32_map_hash(family->name, strlen(family->name));
		struct family *found = find(page, family->name, hash);
		if (!found)
			found = add_family(page, family, hash);
		page->failed |= !found;
		if (!found)
			return NULL;
		*at = (uint32_t)(found - page->families);
	}
	return &page->families[*at].series;
}

// ---- series ----

static bool take_room(struct hs_prometheus *page, uint32_t lines)
{
	if (!page || page->failed)
		return false;
	if (page->room < lines) {
		page->left_out += lines;
		return false;
	}
	page->room -= lines;
	return true;
}

static void put_label(struct text *text, unsigned *n, const struct hs_prometheus_label *label)
{
	if (!label->value)
		return;
	put(text, (*n)++ ? "," : "{");
	put(text, label->name);
	put(text, "=\"");
	put_escaped(text, label->value, true);
	put(text, "\"");
}

static void put_line(struct text *text, const char *name, size_t name_len, const char *ending,
		const struct hs_prometheus_labels *labels, const char *le, const char *value)
{
	unsigned n = 0;

	put_bytes(text, name, name_len);
	put(text, ending);
	for (unsigned i = 0; i < labels->n; i++)
		put_label(text, &n, &labels->of[i]);
	put_label(text, &n, &(const struct hs_prometheus_label){"le", le});
	put(text, n ? "} " : " ");
	put(text, value);
	put(text, "\n");
}

static void add(struct hs_prometheus *page, const struct hs_prometheus_family *family,
		const struct hs_prometheus_labels *labels, const char *value)
{
	struct text *text = take_room(page, 1) ? series_of(page, family) : NULL;

	if (text)
		put_line(text, family->name, strlen(family->name), "", labels ? labels : &no_labels,
				NULL, value);
}

void hs_prometheus_uint(struct hs_prometheus *page, const struct hs_prometheus_family *family,
		const struct hs_prometheus_labels *labels, uint64_t value)
{
	char text[NUMBER_BYTES];

	add(page, family, labels, uint_text(value, text));
}

void hs_prometheus_int(struct hs_prometheus *page, const struct hs_prometheus_family *family,
		const struct hs_prometheus_labels *labels, int64_t value)
{
	char text[NUMBER_BYTES];

	snprintf(text, sizeof(text), "%" PRId64, value);
	add(page, family, labels, text);
}

void hs_prometheus_ns(struct hs_prometheus *page, const struct hs_prometheus_family *family,
		const struct hs_prometheus_labels *labels, int64_t value_ns)
{
	char text[NUMBER_BYTES];

	add(page, family, labels, ns_text(value_ns, text));
}

void hs_prometheus_real(struct hs_prometheus *page, const struct hs_prometheus_family *family,
		const struct hs_prometheus_labels *labels, double value)
{
	char text[NUMBER_BYTES];

	add(page, family, labels, real_text(value, text));
}

void hs_prometheus_histogram(struct hs_prometheus *page, const struct hs_prometheus_family *family,
		const struct hs_prometheus_labels *labels,
		const struct hs_prometheus_histogram *histogram)
{
	bool created = page && page->openmetrics && histogram->created_ns;
	uint32_t lines = histogram->n + 3 + created;
	struct text *text = take_room(page, lines) ? series_of(page, family) : NULL;
	size_t n = strlen(family->name);
	char number[NUMBER_BYTES], bound[NUMBER_BYTES];
	uint64_t count = 0;

	if (!text)
		return;
	labels = labels ? labels : &no_labels;
	for (unsigned i = 0; i <= histogram->n; i++) {
		bool last = i == histogram->n;
		count += histogram->counts[i];
		put_line(text, family->name, n, "_bucket", labels,
				last ? "+Inf" : bound_text(histogram->bounds_ns[i], bound),
				uint_text(count, number));
	}
	put_line(text, family->name, n, "_count", labels, NULL, uint_text(count, number));
	put_line(text, family->name, n, "_sum", labels, NULL, ns_text(histogram->sum_ns, number));
	if (created)
		put_line(text, family->name, n, "_created", labels, NULL,
				ns_text(histogram->created_ns, number));
}

uint32_t hs_prometheus_room(const struct hs_prometheus *page)
{
	return page && !page->failed ? page->room : 0;
}

void hs_prometheus_leave_out(struct hs_prometheus *page, uint64_t series)
{
	if (page)
		page->left_out += series;
}

// ---- pages ----

struct hs_prometheus *hs_prometheus_begin(const struct hs_prometheus_config *config)
{
	struct hs_prometheus *page = calloc(1, sizeof(*page));

	if (!page)
		return NULL;
	page->openmetrics = config->openmetrics;
	page->room = config->max_series ? config->max_series : HS_PROMETHEUS_SERIES;
	page->capped = config->capped;
	page->room -= page->capped != NULL; // for the count's own series
	return page;
}

static void put_heading(struct text *text, const struct hs_prometheus_family *family,
		const char *word, const char *rest, bool openmetrics)
{
	size_t n = openmetrics ? stem_of(family) : strlen(family->name);

	put(text, "# ");
	put(text, word);
	put(text, " ");
	put_bytes(text, family->name, n);
	put(text, " ");
	put_escaped(text, rest, openmetrics);
	put(text, "\n");
}

static bool name_says_unit(const struct hs_prometheus_family *family)
{
	size_t n = stem_of(family), unit = family->unit ? strlen(family->unit) : 0;

	return unit && n > unit && family->name[n - unit - 1] == '_' &&
	       memcmp(family->name + n - unit, family->unit, unit) == 0;
}

static void put_family(struct text *text, const struct family *family, bool openmetrics)
{
	static const char *const types[] = {"counter", "gauge", "info", "summary", "histogram"};
	const struct hs_prometheus_family *of = &family->of;
	bool plain_info = of->type == HS_PROMETHEUS_INFO && !openmetrics;

	put_heading(text, of, "HELP", of->help, openmetrics);
	put_heading(text, of, "TYPE", plain_info ? "gauge" : types[of->type], openmetrics);
	if (openmetrics && name_says_unit(of))
		put_heading(text, of, "UNIT", of->unit, true);
	put_bytes(text, family->series.bytes, family->series.len);
	text->failed |= family->series.failed;
}

static void add_capped(struct hs_prometheus *page)
{
	if (!page->capped)
		return;
	*page->capped += page->left_out;
	page->room++;
	hs_prometheus_uint(page, &capped_family, NULL, *page->capped);
}

char *hs_prometheus_end(struct hs_prometheus *page, size_t *len)
{
	struct text text = {0};

	if (!page)
		return NULL;
	add_capped(page);
	for (size_t i = 0; i < page->n_families; i++) {
		put_family(&text, &page->families[i], page->openmetrics);
		free(page->families[i].series.bytes);
	}
	if (page->openmetrics)
		put(&text, "# EOF\n");
	put_bytes(&text, "", 1);
	bool failed = page->failed || text.failed;
	free(page->families);
	hs_u32_map_fini(&page->by_name);
	free(page);
	if (failed) {
		free(text.bytes);
		return NULL;
	}
	*len = text.len - 1;
	return text.bytes;
}
