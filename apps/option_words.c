// SPDX-License-Identifier: BSD-3-Clause
#include "option_words.h"

#include "nearest.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

bool option_lacks_value(char *const *argv)
{
	return optarg && optarg == argv[optind - 1] && optarg[0] == '-' && optarg[1] &&
	       !strchr("0123456789.", optarg[1]);
}

static bool may_mean(const struct option_set *set, const struct option *option)
{
	return !set->may_mean || set->may_mean(set->of, option->val);
}

void option_nearest(const struct option_set *set, const char *name, char text[OPTION_TEXT])
{
	const char *meant[2] = {NULL, NULL};
	unsigned n = 0, changes = UINT_MAX;

	for (const struct option *option = set->all; option->name; option++) {
		struct hs_nearest nearest = {.typed = name};
		if (!may_mean(set, option))
			continue;
		hs_nearest_try(&nearest, option->name);
		if (!nearest.word || nearest.changes > changes)
			continue;
		if (nearest.changes < changes)
			n = 0;
		changes = nearest.changes;
		if (n < 2)
			meant[n++] = nearest.word;
	}
	text[0] = '\0';
	if (n)
		snprintf(text, OPTION_TEXT, "; did you mean --%s%s%s?", meant[0],
				n > 1 ? " or --" : "", n > 1 ? meant[1] : "");
}

// Says that no option has the name of this word, or that several begin with it.
static void refuse_name(const struct option_set *set, const char *word, char text[OPTION_TEXT])
{
	int len = (int)strcspn(word, "=");
	char name[HS_NEAREST_BYTES] = "", nearest[OPTION_TEXT];
	const char *meant[2];
	unsigned n = 0;

	if (len < (int)sizeof(name) + 2)
		snprintf(name, sizeof(name), "%.*s", len - 2, word + 2);
	for (const struct option *option = set->all; name[0] && option->name; option++)
		if (strncmp(option->name, name, strlen(name)) == 0 && n < 2 &&
				may_mean(set, option))
			meant[n++] = option->name;
	option_nearest(set, name, nearest);
	if (n == 2)
		snprintf(text, OPTION_TEXT, "%.*s can mean --%s and --%s", len, word, meant[0],
				meant[1]);
	else
		snprintf(text, OPTION_TEXT, "%.*s is not an option%.200s", len, word, nearest);
}

void option_refusal(const struct option_set *set, int code, int option, const char *word,
		char text[OPTION_TEXT])
{
	const struct option *known = set->all;

	while (known->name && known->val != option)
		known++;
	if (known->name)
		snprintf(text, OPTION_TEXT, "--%s %s", known->name,
				code == ':' ? "needs a value" : "takes no value");
	else if (option)
		snprintf(text, OPTION_TEXT, "-%c is not an option", option);
	else
		refuse_name(set, word, text);
}
