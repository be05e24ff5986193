// SPDX-License-Identifier: BSD-3-Clause
// The screen of `hopsight top`: one view at a time, sorted and scrolled by keys.
//
// Thread rule: the one thread of the program. There is one screen at a time.
#pragma once

#include "top_rows.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// The content of the screen. The screen only changes the order of rows.
struct top_shown {
	json_t *rows[TOP_VIEWS]; // NULL: the program that answers does not have this view
	const char *head;	 // who answers, and when
	const char *note;	 // what is missing from the round, or ""
	const char *trouble;	 // why there is no answer, or NULL
};

// Takes over the terminal. Returns 0, or -ENOTTY if it cannot move its cursor (TERM).
int top_screen_open(void);
// Restores the terminal as it was. May be called without an open screen.
void top_screen_close(void);
// Restores the terminal's settings, without waiting for output. A signal handler may call it.
void top_screen_abandon(void);

void top_screen_draw(const struct top_shown *shown);

// Handles the keys that were pressed, and a new size of the terminal. Draws what they change.
// Returns false if a key ends the program.
bool top_screen_keys(const struct top_shown *shown);
