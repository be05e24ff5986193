// SPDX-License-Identifier: BSD-3-Clause
// The command line for a node or a controller.
#include "hopsight_cli.h"

#include "clean_stdio.h"
#include "help_line.h"
#include "option_words.h"
#include "rule_field.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMNS	 29
#define SHORTS		 (3 * HS_CLI_OPTIONS + 2)
#define SECONDS		 "%s is no number of seconds above 0, to 86400"
#define DEFAULT_ENDPOINT "ipc:///run/hopsight/hopsight.api"

struct cli_option {
	const char *name;
	char letter;
	const char *value; // NULL: it takes no value
	const char *help;  // NULL: the help of the rule's field
};

static const struct cli_option options[HS_CLI_RULE] = {
		[HS_CLI_ENDPOINT] = {"connect", 'c', "ENDPOINT",
				"the node's API, or the path of its socket (or HOPSIGHT_ENDPOINT; "
				"default " DEFAULT_ENDPOINT ")"},
		[HS_CLI_JSON] = {"json", 'j', NULL, "print JSON"},
		[HS_CLI_WATCH] = {"watch", 'w', "SECONDS", "repeat until interrupted"},
		[HS_CLI_TIMEOUT] = {"timeout", 't', "SECONDS", "wait for a reply (default 5)"},
		[HS_CLI_KEY] = {"key", 0, "FILE", "our NAME.secret (or HOPSIGHT_KEY)"},
		[HS_CLI_SERVER_KEY] = {"server-key", 0, "FILE",
				"the node's NAME.pub (or HOPSIGHT_SERVER_KEY)"},
		[HS_CLI_HELP] = {"help", 'h', NULL, "print this help"},
		[HS_CLI_VERSION] = {"version", 0, NULL, "print the version"},
		[HS_CLI_WIDE] = {"wide", 0, NULL,
				"tables have all columns, also on a narrow terminal"},
		[HS_CLI_DRY_RUN] = {"dry-run", 0, NULL,
				"only check whether the node would accept it"},
		[HS_CLI_WINDOW] = {"window", 0, "LENGTH|run",
				"only windows of this length: 100ms, 10s, 1m"},
		[HS_CLI_SINCE] = {"since", 0, "N", "only events after this number"},
		[HS_CLI_FROM] = {"from", 0, "ENDPOINT",
				"subscribe there instead of asking the node"},
		[HS_CLI_PORT] = {"port", 0, "NAME", "the port that packets leave by"},
		[HS_CLI_MAC] = {"mac", 0, "MAC", "the MAC address that they are sent to"},
		[HS_CLI_VIA] = {"via", 0, "ADDRESS", "in place of --port and --mac: a neighbour"},
		[HS_CLI_ON_PATH] = {"on-path", 0, "NAME",
				"at a controller: to the nodes of this path"},
		[HS_CLI_ON] = {"on", 0, "NODE,NODE...", "at a controller: to these nodes"},
		[HS_CLI_AT] = {"at", 0, "NODE",
				"at a controller: to this node; of a rule, the source"},
		[HS_CLI_DIR] = {"dir", 0, "DIR", "the directory of the files (default: .)"},
		[HS_CLI_EVERY] = {"every", 0, "N|TIME",
				"one packet of N, or one packet in a TIME like 20ms (default 100)"},
		[HS_CLI_PERCENT] = {"percent", 0, "N",
				"each packet with this chance: above 0, to 100"},
		[HS_CLI_READ_ONLY] = {"read-only", 0, NULL, "make a key that may only read"},
		[HS_CLI_INTERVAL] = {"interval", 0, "SECONDS",
				"time between two rounds (default 1)"},
		[HS_CLI_PROMETHEUS] = {"prometheus", 0, NULL,
				"print the text format of Prometheus"},
};

static const struct hs_cli_rule_option *rule_option(enum hs_cli_option option)
{
	return option < HS_CLI_RULE ? NULL : &hs_cli_rule_options[option - HS_CLI_RULE];
}

static struct cli_option option_of(enum hs_cli_option option)
{
	const struct hs_cli_rule_option *of_rule = rule_option(option);
	return of_rule ? (struct cli_option){of_rule->name, of_rule->letter, of_rule->value, NULL}
		       : options[option];
}

bool hs_cli_takes(const struct hs_cli_verb *verb, enum hs_cli_option option)
{
	bool of_rule = option >= HS_CLI_RULE;

	if (option == HS_CLI_WATCH)
		return verb->watch;
	if (option <= HS_CLI_WIDE)
		return true;
	for (size_t i = 0; verb->options && verb->options[i] != HS_CLI_OPTIONS; i++)
		if (verb->options[i] == (of_rule ? HS_CLI_RULE : option) ||
				verb->options[i] == option)
			return true;
	return false;
}

// ---- help ----

static void print_option(enum hs_cli_option option)
{
	char text[48], limits[256];
	const struct hs_cli_rule_option *of_rule = rule_option(option);
	const struct cli_option one = option_of(option);
	const struct hs_schema_field *field =
			of_rule ? &hs_rule_fields[hs_rule_row_find(
						  of_rule->field, strlen(of_rule->field))]
				: NULL;

	snprintf(text, sizeof(text), "%c%c%s--%s%s%s", one.letter ? '-' : ' ',
			one.letter ? one.letter : ' ', one.letter ? ", " : "  ", one.name,
			one.value ? " " : "", one.value ? one.value : "");
	hs_help_line(stdout, HELP_COLUMNS, text, field ? field->help : one.help);
	if (!field)
		return;
	const char *fallback = of_rule->fallback ? of_rule->fallback : field->fallback;
	snprintf(limits, sizeof(limits), "(%s%s%s)",
			of_rule->allowed ? of_rule->allowed : field->allowed,
			fallback	  ? "; default "
			: field->required ? "; required"
					  : "",
			fallback ? fallback : "");
	hs_help_line(stdout, HELP_COLUMNS, "", limits);
}

static void print_verb_line(const struct hs_cli_verb *verb)
{
	char name[64];
	// Verbs with many words explain them in their own help.
	bool long_words = strlen(verb->args) > 16;
	snprintf(name, sizeof(name), "%s %s", verb->name, long_words ? "OPTIONS" : verb->args);
	hs_help_line(stdout, HELP_COLUMNS, name, verb->help);
}

// Prints all verbs, or those that begin with a word ("rule").
static void print_help(const char *group)
{
	printf("Usage: hopsight [-c ENDPOINT] [--json] [--watch SECONDS] VERB ...\n\nVerbs:\n");
	for (size_t i = 0; i < hs_cli_n_verbs; i++)
		if (!group || strncmp(hs_cli_verbs[i].name, group, strlen(group)) == 0)
			print_verb_line(&hs_cli_verbs[i]);
	printf("\nOptions:\n");
	for (unsigned i = 0; i <= HS_CLI_WIDE; i++)
		print_option(i);
	printf("\n`hopsight help VERB` explains a verb. Exit codes: 0 done, 1 the node said no,\n"
	       "or no node of a controller answered, 2 bad usage, 3 the node cannot be reached.\n");
}

static void print_keys(void)
{
	char meaning[256];

	printf("\nKeys:\n");
	for (unsigned i = 0; i < HS_RULE_ROWS; i++) {
		if (!((HS_RULE_CHANGEABLE | HS_RULE_LABELS) >> i & 1))
			continue;
		snprintf(meaning, sizeof(meaning), "%s (%s)", hs_rule_fields[i].help,
				hs_rule_fields[i].allowed);
		hs_help_line(stdout, HELP_COLUMNS, hs_rule_fields[i].key, meaning);
	}
}

static void print_verb_help(const struct hs_cli_verb *verb)
{
	hs_help_wrap(stdout, printf("Usage: hopsight %s", verb->name), verb->args);
	printf("\n%s\n", verb->help);
	if (verb->options)
		printf("\nOptions:\n");
	for (size_t i = 0; verb->options && verb->options[i] != HS_CLI_OPTIONS; i++) {
		enum hs_cli_option option = verb->options[i];
		enum hs_cli_option end = option == HS_CLI_RULE ? HS_CLI_RULE_END : option + 1;
		for (; option < end; option++)
			print_option(option);
	}
	if (strcmp(verb->name, "rule set") == 0)
		print_keys();
}

// The verb whose help explains more than the program's help, or NULL.
static const struct hs_cli_verb *help_of;

int hs_cli_usage(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "hopsight: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (see hopsight %s%s)\n", help_of ? "help " : "--help",
			help_of ? help_of->name : "");
	return HS_CLI_USAGE;
}

// ---- words ----

// Returns what getopt_long returns for the long form of a letter; other numbers unchanged.
static int long_of(int c)
{
	for (unsigned i = 0; c && i < HS_CLI_OPTIONS; i++)
		if (option_of(i).letter == c)
			return HS_CLI_LONG + (int)i;
	return c;
}

static struct option longs[HS_CLI_OPTIONS + 1];

const struct option *hs_cli_longs(void)
{
	return longs;
}

static void describe_options(char shorts[SHORTS])
{
	strcpy(shorts, ":"); // getopt prints nothing
	for (unsigned i = 0; i < HS_CLI_OPTIONS; i++) {
		const struct cli_option one = option_of(i);
		longs[i] = (struct option){one.name, one.value ? required_argument : no_argument,
				NULL, HS_CLI_LONG + (int)i};
		if (one.letter)
			snprintf(shorts + strlen(shorts), 3, "%c%s", one.letter,
					one.value ? ":" : "");
	}
}

// Removes the verb's words from the arguments. Returns NULL if they name no verb.
static const struct hs_cli_verb *find_verb(struct hs_cli *cli)
{
	char two[64];

	for (int words = 2; words >= 1; words--) {
		if (cli->n_args < words)
			continue;
		snprintf(two, sizeof(two), words == 2 ? "%s %s" : "%s", cli->args[0],
				words == 2 ? cli->args[1] : "");
		for (size_t i = 0; i < hs_cli_n_verbs; i++) {
			if (strcmp(hs_cli_verbs[i].name, two) != 0)
				continue;
			cli->args += words;
			cli->n_args -= words;
			return &hs_cli_verbs[i];
		}
	}
	return NULL;
}

// Looks for a verb among the arguments. Returns NULL if there is none.
static const struct hs_cli_verb *look_for_verb(const struct hs_cli *cli)
{
	const struct hs_cli_verb *verb = NULL;

	for (int i = 0; i < cli->n_args && !verb; i++)
		verb = find_verb(
				&(struct hs_cli){.args = cli->args + i, .n_args = cli->n_args - i});
	return verb;
}

// Reads all options. Refuses the first wrong one at the end, when the verb is known.
static int read_options(int argc, char **argv, struct hs_cli *cli)
{
	char shorts[SHORTS];
	int wrong = 0, option = 0;
	const char *word = NULL;

	describe_options(shorts);
	for (int c; (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
		bool refused = c == '?' || c == ':', lacks = !refused && option_lacks_value(argv);
		if ((refused || lacks) && !wrong) {
			wrong = lacks ? ':' : c;
			option = long_of(lacks ? c : optopt);
			word = argv[optind - 1];
		}
		optind -= lacks; // the word behind is an option
		if (!refused && !lacks)
			cli->values[long_of(c) - HS_CLI_LONG] = optarg ? optarg : "";
	}
	cli->args = argv + optind;
	cli->n_args = argc - optind;
	const struct hs_cli_verb *verb = look_for_verb(cli);
	help_of = verb && verb->options ? verb : NULL;
	return wrong ? hs_cli_refuse_option(verb, wrong, option, word) : HS_CLI_DONE;
}

// Returns whether the text is UTF-8. JSON can hold no other text, so that the value would be left
// out of the request. Names of files may be other texts.
static bool is_utf8(const char *text)
{
	json_t *json = json_string(text);

	json_decref(json);
	return json != NULL;
}

static int check_utf8(const struct hs_cli_verb *verb, const struct hs_cli *cli)
{
	for (unsigned i = HS_CLI_WIDE + 1; i < HS_CLI_OPTIONS; i++)
		if (cli->values[i] && i != HS_CLI_FROM && i != HS_CLI_DIR &&
				!is_utf8(cli->values[i]))
			return hs_cli_usage(
					"--%s: the value is not valid UTF-8", option_of(i).name);
	for (int i = 0; i < cli->n_args && strcmp(verb->name, "call") != 0; i++)
		if (!is_utf8(cli->args[i]))
			return hs_cli_usage("the arguments are not valid UTF-8");
	return HS_CLI_DONE;
}

static int check_words(const struct hs_cli_verb *verb, const struct hs_cli *cli)
{
	if (cli->n_args < verb->min_args || cli->n_args > verb->max_args)
		return hs_cli_usage("usage: hopsight %s%s%s", verb->name, verb->args[0] ? " " : "",
				verb->args);
	for (unsigned i = 0; i < HS_CLI_OPTIONS; i++)
		if (cli->values[i] && !hs_cli_takes(verb, i))
			return hs_cli_refuse_other_option(verb, i);
	return check_utf8(verb, cli);
}

bool hs_cli_read_seconds(const char *text, double *seconds)
{
	char *end;
	*seconds = strtod(text, &end);
	return *text && !*end && *seconds > 0 && *seconds <= 86400;
}

// ---- asking ----

// Finds the endpoint that *word means. A path is the socket of this path.
static int find_endpoint(const char **word, char text[PATH_MAX])
{
	const char *tcp = strncmp(*word, "tcp://", 6) == 0 ? *word + 6 : NULL;

	if (tcp ? strchr(tcp, ':') != NULL : strncmp(*word, "ipc://", 6) == 0 && (*word)[6])
		return HS_CLI_DONE;
	if (tcp || strstr(*word, "://") || !strchr(*word, '/'))
		return hs_cli_usage("%s is no endpoint: write ipc:///path, tcp://address:port or "
				    "the path of a socket",
				(*word)[0] ? *word : "\"\"");
	snprintf(text, PATH_MAX, "ipc://%s", *word);
	*word = text;
	return HS_CLI_DONE;
}

static int say_unreachable(const struct hs_cli *cli, int rc)
{
	static const char wants_key[] = "no handshake: it wants a key (--key, --server-key)",
			  other_key[] = "no handshake: its key is not that of --server-key, or it "
					"uses none";

	fprintf(stderr, "hopsight: %s: %s\n", cli->endpoint,
			rc == -EHOSTUNREACH ? "nobody answers there"
			: rc == -ETIMEDOUT  ? "no reply in time"
			: rc == -EACCES	    ? "it does not allow this key"
			: rc != -EPROTO	    ? strerror(-rc)
			: cli->use_keys	    ? other_key
					    : wants_key);
	return rc == -EACCES ? HS_CLI_REFUSED : HS_CLI_UNREACHABLE;
}

int hs_cli_send(struct hs_cli *cli, const char *text, size_t len, char **reply)
{
	struct hs_error err = {0};
	size_t reply_len;

	if (!cli->client) {
		int rc = hs_bus_client_open(cli->endpoint, hs_cli_keys(cli), &cli->client, &err);
		// An error with a path concerns a key file.
		if (rc == -EINVAL || err.path[0])
			return hs_cli_usage("%s", err.message);
		if (rc) {
			fprintf(stderr, "hopsight: %s\n", err.message);
			if (strcmp(cli->endpoint, DEFAULT_ENDPOINT) == 0)
				fprintf(stderr, "  -c or HOPSIGHT_ENDPOINT names the API of a "
						"node, "
						"such as /run/hopsight/NAME.api\n");
			return HS_CLI_UNREACHABLE;
		}
	}
	int rc = hs_bus_client_call(cli->client, text, len, cli->timeout_ms, reply, &reply_len);
	return rc ? say_unreachable(cli, rc) : HS_CLI_DONE;
}

int hs_cli_ask(struct hs_cli *cli, json_t *request, json_t **ok)
{
	char *text = json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(15)), *reply;

	json_decref(request);
	if (!text)
		return hs_cli_usage("the arguments are not valid UTF-8");
	int rc = hs_cli_send(cli, text, strlen(text), &reply);
	free(text);
	if (rc)
		return rc;
	json_t *json = json_loads(reply, 0, NULL);
	free(reply);
	// With --json, the reply is printed unchanged, because the JSON writer escapes its strings.
	if (!cli->values[HS_CLI_JSON])
		json = hs_cli_clean(json);
	*ok = json_incref(json_object_get(json, "ok"));
	if (!*ok) {
		hs_cli_print_error(cli, json_object_get(json, "error"));
		rc = HS_CLI_REFUSED;
	}
	json_decref(json);
	return rc;
}

void hs_cli_print_error(const struct hs_cli *cli, const json_t *error)
{
	char message[HS_CLI_TEXT], path[HS_CLI_TEXT], expected[HS_CLI_TEXT];

	if (!json_is_object(error)) {
		fprintf(stderr, "hopsight: the reply cannot be parsed\n");
		return;
	}
	json_t *clean = hs_cli_clean(json_deep_copy(error));
	hs_cli_format("", json_object_get(clean, "message"), message);
	hs_cli_format("", json_object_get(clean, "path"), path);
	hs_cli_format("", json_object_get(clean, "expected"), expected);
	json_decref(clean);
	fprintf(stderr, "hopsight: %s\n", message);
	if (path[0])
		fprintf(stderr, "  at       %s\n", path);
	if (expected[0])
		fprintf(stderr, "  allowed  %s\n", expected);
	if (cli->values[HS_CLI_JSON]) {
		json_t *whole = json_pack("{s:O}", "error", (json_t *)error);
		hs_cli_print_json(whole);
		json_decref(whole);
	}
}

static int show_help(const struct hs_cli_verb *verb, const struct hs_cli *cli)
{
	size_t i = 0, group = cli->n_args ? strlen(cli->args[0]) : 0;

	while (i < hs_cli_n_verbs &&
			strncmp(hs_cli_verbs[i].name, cli->n_args ? cli->args[0] : "", group) != 0)
		i++;
	if (verb)
		print_verb_help(verb);
	else if (i == hs_cli_n_verbs || cli->n_args > 1)
		return hs_cli_refuse_words(cli);
	else
		print_help(cli->n_args ? cli->args[0] : NULL);
	return HS_CLI_DONE;
}

// Finds the endpoints that the options and the environment mean. They may use the texts.
static int find_endpoints(
		const struct hs_cli_verb *verb, struct hs_cli *cli, char texts[2][PATH_MAX])
{
	const char *environment = getenv("HOPSIGHT_ENDPOINT");
	int rc = HS_CLI_DONE;

	cli->endpoint = cli->values[HS_CLI_ENDPOINT]  ? cli->values[HS_CLI_ENDPOINT]
			: environment && *environment ? environment
						      : DEFAULT_ENDPOINT;
	if (verb->run != hs_cli_keygen) // keygen asks no node
		rc = find_endpoint(&cli->endpoint, texts[0]);
	if (rc == HS_CLI_DONE && cli->values[HS_CLI_FROM])
		rc = find_endpoint(&cli->values[HS_CLI_FROM], texts[1]);
	return rc;
}

static int read_timeout(struct hs_cli *cli)
{
	double seconds;

	if (!cli->values[HS_CLI_TIMEOUT])
		return HS_CLI_DONE;
	if (!hs_cli_read_seconds(cli->values[HS_CLI_TIMEOUT], &seconds))
		return hs_cli_usage("--timeout: " SECONDS, cli->values[HS_CLI_TIMEOUT]);
	cli->timeout_ms = (int)(seconds * 1000);
	return HS_CLI_DONE;
}

// Runs a verb once, or again and again with --watch.
static int run_verb(const struct hs_cli_verb *verb, struct hs_cli *cli)
{
	double seconds;

	if (!cli->values[HS_CLI_WATCH])
		return verb->run(cli);
	if (!hs_cli_read_seconds(cli->values[HS_CLI_WATCH], &seconds))
		return hs_cli_usage("--watch: " SECONDS, cli->values[HS_CLI_WATCH]);
	return hs_cli_watch(verb, cli, seconds);
}

static int run(int argc, char **argv)
{
	struct hs_cli cli = {.timeout_ms = 5000};
	char endpoints[2][PATH_MAX];

	int rc = read_options(argc, argv, &cli);
	if (rc)
		return rc;
	if (cli.values[HS_CLI_VERSION]) {
		printf("hopsight %s\n", HS_VERSION);
		return HS_CLI_DONE;
	}
	bool help = cli.n_args && strcmp(cli.args[0], "help") == 0;
	cli.args += help;
	cli.n_args -= help;
	const struct hs_cli_verb *verb = find_verb(&cli);
	if (help || cli.values[HS_CLI_HELP])
		return show_help(verb, &cli);
	if (!verb)
		return hs_cli_refuse_words(&cli);
	rc = check_words(verb, &cli);
	if (rc)
		return rc;
	rc = find_endpoints(verb, &cli, endpoints);
	if (rc)
		return rc;
	hs_cli_fit_tables(cli.values[HS_CLI_WIDE] != NULL);
	rc = hs_cli_find_keys(&cli);
	if (rc && verb->run != hs_cli_keygen)
		return rc;
	rc = read_timeout(&cli);
	if (rc)
		return rc;
	rc = run_verb(verb, &cli);
	hs_bus_client_close(cli.client);
	return rc;
}

int main(int argc, char **argv)
{
	if (hs_clean_stdio("\n\t"))
		return HS_CLI_REFUSED;
	int rc = run(argc, argv);

	return hs_clean_end("hopsight") < 0 && !rc ? HS_CLI_REFUSED : rc;
}
