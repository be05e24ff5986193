// SPDX-License-Identifier: BSD-3-Clause
// A controller's configuration of any bytes is either refused with a code and a message, with
// nothing left behind, or complete: every path has existing nodes, and its printed form is the same
// configuration.
#include "fuzz_config.h"
#include "fuzz_file.h"

#include "controller_config.h"

static bool parse(const char *text, size_t len, void *config)
{
	struct hs_errors errors = {0};
	char name[64];
	int fd = fuzz_file((const uint8_t *)text, len, name);
	int rc = hs_controller_config_load(name, config, &errors);

	close(fd);
	HOLDS(rc == 0 || (errors.list[0].code[0] && errors.list[0].message[0]));
	return rc == 0;
}

static void check(const void *config)
{
	const struct hs_controller_config *c = config;
	HOLDS(c->n_nodes <= HS_CONTROLLER_MAX_NODES && c->n_paths <= HS_CONTROLLER_MAX_PATHS);
	for (unsigned i = 0; i < c->n_nodes; i++)
		HOLDS(hs_controller_config_node(c, c->nodes[i].name) == (int)i);
	for (unsigned i = 0; i < c->n_paths; i++) {
		HOLDS(hs_controller_config_path(c, c->paths[i].name) == &c->paths[i]);
		for (unsigned n = 0; n < c->paths[i].n; n++)
			HOLDS(c->paths[i].nodes[n] < c->n_nodes);
	}
	HOLDS(c->hello_ms && c->timeout_ms && c->audit_s && c->max_rules);
}

static json_t *print(const void *config)
{
	return hs_controller_config_print(config);
}

static void fini(void *config)
{
	hs_controller_config_fini(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_config kind = {parse, check, print, fini};
	static struct hs_controller_config config, again;

	fuzz_config(&kind, data, size, &config, &again);
	return 0;
}
