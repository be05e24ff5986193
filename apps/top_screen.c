// SPDX-License-Identifier: BSD-3-Clause
#include "top_screen.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#undef columns // of term.h

#define ABOVE 3 // lines above the rows: who, views, headers
#define BELOW 2 // lines below: what is missing, keys

enum pair {
	PLAIN,
	ALARM,
	WARN,
};

// The user's choices for a view.
struct chosen {
	size_t column; // that rows are sorted by
	bool descending;
	int first; // row on the screen
};

static struct {
	SCREEN *terminal;
	struct termios before;
	FILE *in, *out;
	bool colours;
	enum top_view view;
	struct chosen chosen[TOP_VIEWS];
	char *left_out; // columns that did not fit
} screen;

// ---- the terminal ----

static void use_colours(void)
{
	const char *no = getenv("NO_COLOR");

	screen.colours = has_colors() && !(no && *no);
	if (!screen.colours)
		return;
	start_color();
	use_default_colors();
	init_pair(ALARM, COLOR_RED, -1);
	init_pair(WARN, COLOR_YELLOW, -1);
}

// Sets a locale with UTF-8, because all texts are UTF-8.
static void use_utf8(void)
{
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
}

int top_screen_open(void)
{
	use_utf8();
	tcgetattr(STDOUT_FILENO, &screen.before);
	// stdout leads to a filter, so that ncurses writes to a copy of the terminal's descriptor.
	screen.in = fdopen(dup(STDIN_FILENO), "r");
	screen.out = fdopen(dup(STDOUT_FILENO), "w");
	if (screen.in && screen.out)
		screen.terminal = newterm(NULL, screen.out, screen.in);
	if (!screen.terminal || !cursor_address) {
		top_screen_close();
		return -ENOTTY;
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	use_colours();
	return 0;
}

void top_screen_abandon(void)
{
	if (screen.terminal && tcgetpgrp(STDOUT_FILENO) == getpgrp())
		tcsetattr(STDOUT_FILENO, TCSANOW, &screen.before);
}

void top_screen_close(void)
{
	if (screen.terminal) {
		endwin();
		delscreen(screen.terminal);
	}
	if (screen.in)
		fclose(screen.in);
	if (screen.out)
		fclose(screen.out);
	free(screen.left_out);
	memset(&screen, 0, sizeof(screen));
}

// ---- drawing ----

// Draws a text from the first column, with an attribute for the whole line.
static void draw_line(int y, const char *text, size_t bytes, attr_t attributes, enum pair pair)
{
	wchar_t wide[HS_CLI_TEXT];
	char *copy = y >= 0 && y < LINES ? strndup(text, bytes) : NULL;
	size_t n = copy ? mbstowcs(wide, copy, HS_CLI_TEXT - 1) : 0;

	free(copy);
	if (n == (size_t)-1 || (!n && !attributes))
		return;
	wide[n] = L'\0';
	attr_set(attributes, screen.colours ? pair : PLAIN, NULL);
	mvhline(y, 0, ' ', COLS);
	mvaddnwstr(y, 0, wide, COLS);
	attr_set(A_NORMAL, PLAIN, NULL);
}

static void draw_text(int y, const char *text, attr_t attributes, enum pair pair)
{
	draw_line(y, text, strlen(text), attributes, pair);
}

static void draw_views(const struct top_shown *shown)
{
	const struct chosen *chosen = &screen.chosen[screen.view];
	char text[HS_CLI_TEXT] = "";
	size_t used = 0;
	unsigned number = 1;

	for (enum top_view view = 0; view < TOP_VIEWS; view++) {
		bool is_chosen = view == screen.view;
		if (!shown->rows[view])
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u %s%s ",
				is_chosen ? "[" : " ", number++, top_columns[view].name,
				is_chosen ? "]" : " ");
	}
	snprintf(text + used, sizeof(text) - used, "  by %s%s",
			top_columns[screen.view].columns[chosen->column].header,
			chosen->descending ? " ▾" : " ▴");
	draw_text(1, text, A_NORMAL, PLAIN);
}

static bool has_values(const json_t *rows, const char *path)
{
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row)
		if (hs_cli_at_path(row, path))
			return true;
	return false;
}

// Chooses the next column that has values, in the direction of `step`. If `step` is 0, keeps the
// chosen column if it has values.
static void choose_column(const json_t *rows, int step)
{
	const struct top_columns *of = &top_columns[screen.view];
	struct chosen *chosen = &screen.chosen[screen.view];

	for (size_t i = 0; i < of->n; i++) {
		if (step || i)
			chosen->column = (chosen->column + of->n + (size_t)(step ? step : 1)) %
					 of->n;
		if (has_values(rows, of->columns[chosen->column].path))
			return;
	}
}

// Returns the number of rows that fit on the screen.
static int room(void)
{
	return LINES > ABOVE + BELOW ? LINES - ABOVE - BELOW : 0;
}

// Limits the first row on the screen to the rows that there are.
static void keep_in_range(int n_rows)
{
	int *first = &screen.chosen[screen.view].first;
	int last = n_rows > room() ? n_rows - room() : 0;

	*first = *first > last ? last : *first < 0 ? 0 : *first;
}

static void draw_row(int y, const char *text, size_t bytes, const json_t *row, bool gone)
{
	bool alarm = !gone && top_is_alarm(row);

	draw_line(y, text, bytes, gone ? A_DIM : alarm ? A_BOLD : A_NORMAL, alarm ? ALARM : PLAIN);
}

static void draw_rows(const struct top_shown *shown)
{
	const struct top_columns *of = &top_columns[screen.view];
	struct chosen *chosen = &screen.chosen[screen.view];
	json_t *rows = shown->rows[screen.view];
	int n = (int)json_array_size(rows);

	top_sort(rows, of->columns[chosen->column].path, chosen->descending);
	keep_in_range(n);
	free(screen.left_out);
	char *text = hs_cli_table_text(
			rows, of->columns, of->n, false, (size_t)COLS, &screen.left_out);
	const char *line = text ? text : "";
	for (int i = -1; *line; i++) {
		size_t bytes = strcspn(line, "\n");
		if (i < 0)
			draw_line(ABOVE - 1, line, bytes, A_REVERSE, PLAIN);
		else if (i >= chosen->first && i < chosen->first + room())
			draw_row(ABOVE + i - chosen->first, line, bytes,
					json_array_get(rows, (size_t)i), shown->trouble != NULL);
		line += bytes + (line[bytes] == '\n');
	}
	if (!n)
		draw_text(ABOVE - 1, of->none, A_NORMAL, PLAIN);
	free(text);
}

static void draw_below(const struct top_shown *shown)
{
	int n = (int)json_array_size(shown->rows[screen.view]);
	int first = screen.chosen[screen.view].first;
	int last = first + room() < n ? first + room() : n;
	char text[HS_CLI_TEXT];

	if (shown->trouble)
		draw_text(LINES - 2, shown->trouble, A_BOLD, ALARM);
	else if (shown->note[0])
		draw_text(LINES - 2, shown->note, A_NORMAL, WARN);
	else if (screen.left_out && screen.left_out[0]) {
		snprintf(text, sizeof(text), "left out: %s", screen.left_out);
		draw_text(LINES - 2, text, A_DIM, PLAIN);
	}
	snprintf(text, sizeof(text),
			"%d–%d of %d  q quit  Tab view  ← → sort by  r reverse  ↑ ↓ scroll",
			n ? first + 1 : 0, last, n);
	draw_text(LINES - 1, text, A_DIM, PLAIN);
}

void top_screen_draw(const struct top_shown *shown)
{
	if (!shown->rows[screen.view])
		screen.view = TOP_PORTS;
	erase();
	draw_text(0, shown->head, A_BOLD, PLAIN);
	if (shown->rows[screen.view]) {
		choose_column(shown->rows[screen.view], 0);
		draw_views(shown);
		draw_rows(shown);
	}
	if (LINES > ABOVE)
		draw_below(shown);
	refresh();
}

// ---- keys ----

static void next_view(const struct top_shown *shown, int step)
{
	for (int i = 0; i < TOP_VIEWS; i++) {
		screen.view = (enum top_view)((screen.view + TOP_VIEWS + step) % TOP_VIEWS);
		if (shown->rows[screen.view])
			return;
	}
}

static void number_view(const struct top_shown *shown, int number)
{
	for (enum top_view view = 0; view < TOP_VIEWS; view++)
		if (shown->rows[view] && --number == 0)
			screen.view = view;
}

// Sorts by the next column: values in descending order, because large values matter, and names in
// ascending order.
static void sort_by_next(const json_t *rows, int step)
{
	struct chosen *chosen = &screen.chosen[screen.view];

	choose_column(rows, step);
	chosen->descending = chosen->column >= top_columns[screen.view].n_names;
	chosen->first = 0;
}

static void scroll_by(int rows)
{
	screen.chosen[screen.view].first += rows;
}

static bool handle(const struct top_shown *shown, int key)
{
	struct chosen *chosen = &screen.chosen[screen.view];

	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case '\t':
		next_view(shown, 1);
		break;
	case KEY_BTAB:
		next_view(shown, -1);
		break;
	case KEY_RIGHT:
	case '>':
	case 's':
		sort_by_next(shown->rows[screen.view], 1);
		break;
	case KEY_LEFT:
	case '<':
	case 'S':
		sort_by_next(shown->rows[screen.view], -1);
		break;
	case 'r':
		chosen->descending = !chosen->descending;
		break;
	case KEY_HOME:
		chosen->first = 0;
		break;
	case KEY_RESIZE:
		clearok(curscr, TRUE); // the terminal may have moved its lines
		break;
	default:
		if (key >= '1' && key <= '9')
			number_view(shown, key - '0');
		break;
	}
	scroll_by(key == KEY_DOWN || key == 'j'	      ? 1
			: key == KEY_UP || key == 'k' ? -1
			: key == KEY_NPAGE	      ? room()
			: key == KEY_PPAGE	      ? -room()
			: key == KEY_END ? (int)json_array_size(shown->rows[screen.view])
					 : 0);
	keep_in_range((int)json_array_size(shown->rows[screen.view]));
	return true;
}

bool top_screen_keys(const struct top_shown *shown)
{
	bool any = false;

	for (int key; (key = getch()) != ERR; any = true)
		if (!handle(shown, key))
			return false;
	if (any)
		top_screen_draw(shown);
	return true;
}
