// SPDX-License-Identifier: BSD-3-Clause
// --watch: rounds of a verb, each with its time.
#include "hopsight_cli.h"

#include "clean_stdio.h"
#include "terminal.h"
#include "text_table.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t round_ns; // the time of this round of --watch; 0: there are no rounds

void hs_cli_print_json(const json_t *value)
{
	size_t layout = isatty(STDOUT_FILENO) ? JSON_INDENT(2) : 0;
	json_t *stamped = NULL;

	if (round_ns && json_is_object(value)) {
		stamped = json_pack("{s:I}", "ts_ns", (json_int_t)round_ns);
		json_object_update(stamped, (json_t *)value);
	}
	json_dumpf(stamped ? stamped : value, stdout, layout | JSON_REAL_PRECISION(15));
	printf("\n");
	json_decref(stamped);
}

void hs_cli_print_line(const json_t *value)
{
	json_dumpf(value, stdout, JSON_REAL_PRECISION(15));
	printf("\n");
}

// Returns whether an exit code ends the rounds. Failed equations of an audit do not.
static bool ends_watching(int rc)
{
	return rc == HS_CLI_USAGE || rc == HS_CLI_UNREACHABLE;
}

// Returns how many lines of a terminal the first line of a text takes, and the next line.
static unsigned lines_of(const char *text, unsigned columns, const char **next)
{
	size_t bytes = strcspn(text, "\n");
	char *line = strndup(text, bytes);
	size_t width = line ? hs_text_width(line) : 0;

	free(line);
	*next = text + bytes + (text[bytes] == '\n');
	return width ? (unsigned)((width - 1) / columns + 1) : 1;
}

// Prints as much of a text as fits into the terminal below the first line, and the number of lines
// that do not fit. The cursor needs the last line.
static void print_screen(const char *text)
{
	struct winsize size = hs_terminal_size();
	unsigned room = size.ws_row > 4 ? size.ws_row - 3u : 1, more = 0;
	const char *end = text, *next;

	for (; *end; end = next) {
		unsigned lines = lines_of(end, size.ws_col, &next);
		if (lines > room)
			break;
		room -= lines;
	}
	printf("%.*s", (int)(end - text), text);
	for (; *end; end = next, more++)
		lines_of(end, size.ws_col, &next);
	if (more)
		printf("… %u more lines\n", more);
}

// Runs a verb. Its complete output, with errors, replaces what is on the terminal.
static int run_on_screen(const struct hs_cli_verb *verb, struct hs_cli *cli, const char *head)
{
	char *text = NULL;
	size_t size;
	FILE *out = stdout, *errors = stderr, *both = open_memstream(&text, &size);

	if (!both)
		return verb->run(cli);
	stdout = stderr = both;
	int rc = verb->run(cli);
	stdout = out;
	stderr = errors;
	if (fclose(both) == 0 && !ends_watching(rc)) {
		hs_clean_screen();
		printf("%s\n", head);
		print_screen(text);
	} else if (text) {
		fputs(text, stderr);
	}
	free(text);
	return rc;
}

// Returns whether a round can replace the one before it on the terminal.
static bool is_screen(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
}

int hs_cli_watch(const struct hs_cli_verb *verb, struct hs_cli *cli, double seconds)
{
	struct timespec pause = {.tv_sec = (time_t)seconds,
			.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
	bool on_screen = is_screen();
	// In the text format of Prometheus, a line that is not a sample is a comment.
	const char *mark = cli->values[HS_CLI_PROMETHEUS] ? "# " : "";
	char head[HS_CLI_TEXT];

	for (;;) {
		int rc;
		round_ns = hs_cli_now_text(head);
		hs_cli_fit_tables(cli->values[HS_CLI_WIDE] != NULL);
		if (!cli->values[HS_CLI_JSON] && !on_screen)
			printf("%s%s\n", mark, head);
		rc = on_screen ? run_on_screen(verb, cli, head) : verb->run(cli);
		if (ends_watching(rc))
			return rc;
		if (fflush(stdout) || ferror(stdout))
			return HS_CLI_DONE; // main prints the reason
		nanosleep(&pause, NULL);
	}
}
