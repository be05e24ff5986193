// SPDX-License-Identifier: BSD-3-Clause
// What the programs say about options that are not understood.
//
// Thread rule: the one thread of the program; optarg and optind of getopt are as it left them.
#pragma once

#include <getopt.h>
#include <stdbool.h>

#define OPTION_TEXT 512

struct option_set {
	const struct option *all;		   // as getopt_long gets them
	bool (*may_mean)(const void *of, int val); // NULL: a mistyped word may mean any of them
	const void *of;
};

// Returns whether the value that getopt found is the next word and looks like an option: the value
// was forgotten. "-" and numbers below 0 are values.
bool option_lacks_value(char *const *argv);

// Says why getopt refused an option: it returned `code` and left `option` in optopt, and `word` is
// the argument that it read last.
void option_refusal(const struct option_set *set, int code, int option, const char *word,
		char text[OPTION_TEXT]);

// Writes "; did you mean --sport or --dport?": the options that are nearest to this name, or "" if
// none is near. Of more than two equally near options, it names two.
void option_nearest(const struct option_set *set, const char *name, char text[OPTION_TEXT]);
