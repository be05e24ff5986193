// SPDX-License-Identifier: BSD-3-Clause
// A node for tests of the API: a few rules in an array, and queries that say how they were asked.
// It starts with rule 5 (tcp, 0.5 percent), room for two more, at generation 41.
#pragma once

#include "api.h"

#define FAKE_RULES 64

struct fake {
	struct hs_rule rules[FAKE_RULES];
	unsigned n_rules;
	uint32_t rules_free;
	uint64_t generation;
	unsigned runs; // calls of `run`
	unsigned runs_of_changes;
	unsigned fail_at; // this call fails (counted from 1; 0: none)
	bool no_in_band;  // rules that spread are not admitted
	uint32_t learned; // the namespace of the rule that gives way
	bool no_save;	  // nothing can be saved
	unsigned saves, unsaves;
	unsigned runs_when_saved;
	char saved[1024]; // the last changes
	uint32_t shift;	  // S of the port with the id 2, the only one
};

void fake_init(struct fake *fake);
struct hs_api_backend fake_backend(struct fake *fake);
// The rules as a list, ordered by namespace; a new reference.
json_t *fake_rules(const struct fake *fake);

// A format of a request for a rule; the namespace is missing.
#define FAKE_RULE                                                                                  \
	"{\"int_request\": {\"ns_id\": %u, \"src_ip\": \"2001:db8::1\","                           \
	"\"dst_ip\": \"2001:db8::2\", \"protocol\": \"udp\","                                      \
	"\"trace_type\": \"0x7000E000\", \"mode\": \"count\","                                     \
	"\"mode_setting\": 100}}"
// The reply to a request; a new reference.
json_t *fake_ask_bytes(struct fake *fake, const char *text, size_t len);
json_t *fake_ask(struct fake *fake, const char *text);
// A member of a reply's error, or NULL.
const char *fake_error(const json_t *reply, const char *name);
