// SPDX-License-Identifier: BSD-3-Clause
// A node's configuration of any bytes is either refused with a code and a message, with nothing
// left behind, or complete: every index in it is valid, and its printed form is the same
// configuration.
#include "fuzz_config.h"
#include "fuzz_file.h"

#include "config_read.h"

static bool parse(const char *text, size_t len, void *config)
{
	struct hs_errors errors = {0};
	cpu_set_t cores;
	char name[64];
	int fd = fuzz_file((const uint8_t *)text, len, name);

	CPU_ZERO(&cores);
	for (int core = 0; core < 4; core++)
		CPU_SET(core, &cores);
	int rc = hs_config_load(name, &cores, config, &errors);
	close(fd);
	HOLDS(rc == 0 || (errors.list[0].code[0] && errors.list[0].message[0]));
	return rc == 0;
}

static void check(const void *config)
{
	const struct hs_config *c = config;
	struct hs_eal_config eal;

	HOLDS(c->n_ports > 0 && c->n_ports <= HS_MAX_PORTS);
	HOLDS(c->node.n_workers > 0 && c->node.n_workers <= HS_MAX_WORKERS);
	HOLDS(c->n_pairs <= HS_MAX_PORTS);
	HOLDS(c->n_in_band_ports <= HS_MAX_PORTS);
	HOLDS(c->bind.n <= HS_MAX_ENDPOINTS && c->publish_to.n <= HS_MAX_ENDPOINTS);
	HOLDS(c->n_profiles <= HS_MAX_PORTS);
	for (unsigned i = 0; i < c->n_ports; i++) {
		HOLDS(memchr(c->ports[i].name, '\0', sizeof(c->ports[i].name)));
		HOLDS(!c->node.profiles[i].family == !c->ports[i].profile[0]);
		HOLDS(c->ports[i].side == HS_SIDE_NETWORK || !c->node.profiles[i].family);
	}
	HOLDS(hs_config_mbuf_bytes(c) > 0);
	hs_config_eal(c, &eal);
}

static json_t *print(const void *config)
{
	return hs_config_print(config);
}

static void fini(void *config)
{
	hs_config_fini(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_config kind = {parse, check, print, fini};
	static struct hs_config config, again;

	fuzz_config(&kind, data, size, &config, &again);
	return 0;
}
