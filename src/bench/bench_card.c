// SPDX-License-Identifier: BSD-3-Clause
#include "bench_result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_MARK "<!-- card: begin -->\n"
#define END_MARK   "<!-- card: end -->\n"

static void print_fact(const json_t *machine, const char *key, const char *label, FILE *to)
{
	const json_t *value = json_object_get(machine, key);

	if (json_is_integer(value))
		fprintf(to, "| %s | %" JSON_INTEGER_FORMAT " |\n", label,
				json_integer_value(value));
	else if (json_is_string(value))
		fprintf(to, "| %s | %s |\n", label, json_string_value(value));
}

static void print_machine(const json_t *machine, FILE *to)
{
	static const char *const facts[][2] = {
			{"cpu", "processor"},
			{"cores", "cores"},
			{"kernel", "kernel"},
			{"dpdk", "DPDK"},
			{"compiler", "compiler"},
			{"options", "built with"},
			{"version", "Hopsight"},
			{"date", "date"},
			{"command", "command"},
	};

	fputs("| machine | |\n|---|---|\n", to);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		print_fact(machine, facts[i][0], facts[i][1], to);
}

static void print_limit(
		const struct hs_bench_result *result, const struct hs_bench_row *row, FILE *to)
{
	double limited = hs_bench_limited(result, row);

	if (limited <= 0) {
		fputs(" | |", to);
		return;
	}
	fprintf(to, " %.2f", row->spec->limit);
	if (row->spec->limit_of)
		fprintf(to, " of %s (%.3f)", row->spec->limit_of, limited);
	fputs(limited <= row->spec->limit ? " | met |" : " | **missed** |", to);
}

static void print_about(const struct hs_bench_row *row, FILE *to)
{
	if (row->peer) {
		fputs(" dpdk-testpmd", to);
		return;
	}
	fprintf(to, " %s", row->spec->about);
	if (row->reports_lost)
		fprintf(to, "; %.1f %% of the reports found the ring full",
				100 * (double)row->reports_lost / (double)row->reports_made);
	if (row->spec->shared_cores)
		fputs("; more busy threads than cores", to);
}

static void print_packets(
		const struct hs_bench_result *result, const struct hs_bench_row *row, FILE *to)
{
	struct hs_bench_summary s = hs_bench_samples_summary(&row->samples);
	double ratio = hs_bench_ratio(result, row);

	fprintf(to, "| `%s` |", row->name);
	print_about(row, to);
	if (!row->samples.n) {
		fprintf(to, " | %u | failed: %s | | | | |\n", row->spec->traffic.frame_bytes,
				row->error);
		return;
	}
	fprintf(to, " | %u | %.1f (%.1f–%.1f) | %.1f |", row->spec->traffic.frame_bytes, s.median,
			s.min, s.max, 1000 / s.median);
	if (ratio > 0)
		fprintf(to, " %.2f |", ratio);
	else
		fputs(" |", to);
	print_limit(result, row, to);
	fputc('\n', to);
}

static void print_control(const struct hs_bench_row *row, FILE *to)
{
	struct hs_bench_summary s = hs_bench_samples_summary(&row->samples);

	if (!row->samples.n) {
		fprintf(to, "| `%s` | %s | failed: %s | | | |\n", row->name, row->spec->about,
				row->error);
		return;
	}
	fprintf(to, "| `%s` | %s | %.0f (%.0f–%.0f) | %.3f |", row->name, row->spec->about,
			s.median, s.min, s.max, 1e6 / s.median);
	if (row->spec->least_per_second > 0)
		fprintf(to, " %.0f | %s |\n", row->spec->least_per_second,
				s.median >= row->spec->least_per_second ? "met" : "**missed**");
	else
		fputs(" | |\n", to);
}

void hs_bench_card_print(const struct hs_bench_result *result, FILE *to)
{
	bool any = false;

	print_machine(result->machine, to);
	fputs("\n| case | what | frame bytes | ns median (min–max) | Mpps | ratio | limit | |\n"
	      "|---|---|---|---|---|---|---|---|\n",
			to);
	for (int i = 0; i < result->n; i++)
		if (result->rows[i].spec->kind == HS_BENCH_PACKETS)
			print_packets(result, &result->rows[i], to);
	for (int i = 0; i < result->n; i++) {
		if (result->rows[i].spec->kind == HS_BENCH_PACKETS)
			continue;
		if (!any)
			fputs("\n| control | what | per second, median (min–max) | µs each | at "
			      "least | |\n"
			      "|---|---|---|---|---|---|\n",
					to);
		any = true;
		print_control(&result->rows[i], to);
	}
}

static char *joined(const char *head, size_t head_len, const char *card, const char *tail)
{
	size_t size = head_len + strlen(BEGIN_MARK) + strlen(card) + strlen(END_MARK) +
		      strlen(tail) + 1;
	char *text = malloc(size);

	if (text)
		snprintf(text, size, "%.*s" BEGIN_MARK "%s" END_MARK "%s", (int)head_len, head,
				card, tail);
	return text;
}

char *hs_bench_card_place(const char *document, const char *card)
{
	const char *begin = strstr(document, BEGIN_MARK);
	const char *end = begin ? strstr(begin, END_MARK) : NULL;

	if (!end)
		return joined(document, strlen(document), card, "");
	return joined(document, (size_t)(begin - document), card, end + strlen(END_MARK));
}
