// SPDX-License-Identifier: BSD-3-Clause
// The errors of the command line about unknown words.
#include "hopsight_cli.h"

#include "nearest.h"
#include "option_words.h"

#include <string.h>

// ---- options ----

static bool may_mean(const void *verb, int val)
{
	return !verb || hs_cli_takes(verb, (enum hs_cli_option)(val - HS_CLI_LONG));
}

int hs_cli_refuse_option(const struct hs_cli_verb *verb, int code, int option, const char *word)
{
	const struct option_set set = {hs_cli_longs(), may_mean, verb};
	char text[OPTION_TEXT];

	option_refusal(&set, code, option, word, text);
	return hs_cli_usage("%s", text);
}

int hs_cli_refuse_other_option(const struct hs_cli_verb *verb, enum hs_cli_option option)
{
	const struct option_set set = {hs_cli_longs(), may_mean, verb};
	const char *name = set.all[option].name;
	char text[OPTION_TEXT];

	option_nearest(&set, name, text);
	return hs_cli_usage("%s takes no --%s%s", verb->name, name, text);
}

// ---- verbs ----

// Returns the verb that the words are nearest to, or NULL. If the first word is that of a verb with
// two words, only the second word can be wrong. `group` is then the length of the first word,
// otherwise 0.
static const char *nearest_verb(const struct hs_cli *cli, size_t group)
{
	char two[HS_NEAREST_BYTES];
	struct hs_nearest first = {.typed = cli->args[0]}, both = {.typed = two},
			  second = {.typed = cli->n_args > 1 ? cli->args[1] : ""};

	snprintf(two, sizeof(two), "%s %s", cli->args[0], second.typed);
	for (size_t i = 0; i < hs_cli_n_verbs; i++) {
		const char *name = hs_cli_verbs[i].name;
		if (!group)
			hs_nearest_try(strchr(name, ' ') && cli->n_args > 1 ? &both : &first, name);
		else if (strncmp(name, cli->args[0], group) == 0 && name[group] == ' ')
			hs_nearest_try(&second, name + group + 1);
	}
	if (second.word)
		return second.word - group - 1; // the beginning of the verb
	return both.word ? both.word : first.word;
}

// Returns a verb of several words whose first word is nearest to this word, or NULL. Of several
// such verbs, it is the first.
static const char *nearest_group(const char *word)
{
	struct hs_nearest nearest = {.typed = word};
	const char *found = NULL;

	for (size_t i = 0; i < hs_cli_n_verbs; i++) {
		const char *name = hs_cli_verbs[i].name;
		char first[HS_NEAREST_BYTES];
		unsigned changes = nearest.changes;
		bool any = nearest.word != NULL;
		if (!strchr(name, ' '))
			continue;
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(name, " "), name);
		hs_nearest_try(&nearest, first);
		if (nearest.word && (!any || nearest.changes < changes))
			found = name;
	}
	return found;
}

// Writes the second words of the verbs whose first word is the first `len` bytes of `verb`, as
// "add, list or del". Returns whether there are any.
static bool list_group(const char *verb, size_t len, char words[HS_CLI_TEXT])
{
	size_t used = 0;

	words[0] = '\0';
	for (size_t i = 0; len && i < hs_cli_n_verbs; i++) {
		const char *name = hs_cli_verbs[i].name;
		if (strncmp(name, verb, len) != 0 || name[len] != ' ')
			continue;
		bool last = i + 1 == hs_cli_n_verbs ||
			    strncmp(hs_cli_verbs[i + 1].name, name, len + 1) != 0;
		used += (size_t)snprintf(words + used, HS_CLI_TEXT - used, "%s%s",
				!used  ? ""
				: last ? " or "
				       : ", ",
				name + len + 1);
	}
	return used > 0;
}

int hs_cli_refuse_words(const struct hs_cli *cli)
{
	const char *verb = cli->n_args ? cli->args[0] : "", *second = "", *group;
	size_t len = strlen(verb);
	char words[HS_CLI_TEXT];

	if (!len)
		return hs_cli_usage("a verb is missing");
	bool grouped = list_group(verb, len, words);
	const char *nearest = nearest_verb(cli, grouped ? len : 0);
	if (cli->n_args > 1 && (grouped || (nearest && strchr(nearest, ' '))))
		second = cli->args[1];
	if (nearest)
		return hs_cli_usage("%s%s%s is not a verb; did you mean %s?", verb,
				second[0] ? " " : "", second, nearest);
	if (grouped)
		return hs_cli_usage("%s needs %s", verb, words);
	group = nearest_group(verb);
	len = group ? strcspn(group, " ") : 0;
	bool option = false;
	for (const struct option *one = hs_cli_longs(); one->name; one++)
		option |= strcmp(one->name, verb) == 0;
	if (option && !group)
		return hs_cli_usage("%s is not a verb; did you mean --%s?", verb, verb);
	if (!list_group(group, len, words))
		return hs_cli_usage("%s is not a verb", verb);
	return hs_cli_usage(
			"%s is not a verb; did you mean %.*s %s?", verb, (int)len, group, words);
}
