// SPDX-License-Identifier: BSD-3-Clause
#include "hopsight_cli.h"

#include <errno.h>
#include <stdlib.h>

int hs_cli_keygen(struct hs_cli *cli)
{
	const char *dir = cli->values[HS_CLI_DIR] ? cli->values[HS_CLI_DIR] : ".";
	bool read_only = cli->values[HS_CLI_READ_ONLY] != NULL;
	struct hs_error err = {0};
	int rc = hs_bus_keys_make(dir, cli->args[0], read_only, &err);

	if (rc) {
		hs_cli_print_error(cli, json_pack("{s:s, s:s}", "message", err.message, "expected",
							err.expected));
		return rc == -EINVAL ? HS_CLI_USAGE : HS_CLI_REFUSED;
	}
	if (cli->values[HS_CLI_JSON]) {
		json_t *made = json_pack("{s:s+++, s:s+++, s:s}", "secret", dir, "/", cli->args[0],
				".secret", "public", dir, "/", cli->args[0], ".pub", "role",
				read_only ? "read-only" : "read-write");
		hs_cli_print_json(made);
		json_decref(made);
		return HS_CLI_DONE;
	}
	printf("%s/%s.secret  keep it secret: whoever has it can act as you\n"
	       "%s/%s.pub     %s: give it to the programs that should allow you\n",
			dir, cli->args[0], dir, cli->args[0],
			read_only ? "read-only" : "read-write");
	return HS_CLI_DONE;
}

static const char *option(const struct hs_cli *cli, enum hs_cli_option which, const char *variable)
{
	const char *text = cli->values[which] ? cli->values[which] : getenv(variable);

	return text && *text ? text : NULL;
}

int hs_cli_find_keys(struct hs_cli *cli)
{
	cli->keys = (struct hs_bus_keys){
			.secret_file = option(cli, HS_CLI_KEY, "HOPSIGHT_KEY"),
			.server_file = option(cli, HS_CLI_SERVER_KEY, "HOPSIGHT_SERVER_KEY"),
	};
	cli->use_keys = cli->keys.secret_file || cli->keys.server_file;
	if (cli->use_keys && (!cli->keys.secret_file || !cli->keys.server_file))
		return hs_cli_usage("--key and --server-key belong together");
	return HS_CLI_DONE;
}

const struct hs_bus_keys *hs_cli_keys(const struct hs_cli *cli)
{
	return cli->use_keys ? &cli->keys : NULL;
}
