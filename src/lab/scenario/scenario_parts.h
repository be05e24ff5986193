// SPDX-License-Identifier: BSD-3-Clause
// The parts that reading a scenario is made of: one function for each section, in the order in
// which they need each other. For scenario*.c only.
#pragma once

#include "scenario.h"

#include "duration.h"
#include "schema.h"

#define HS_SCENARIO_MAX_S 1000000.0

// Name to index: what later sections refer to.
struct hs_scenario_names {
	json_t *index;	      // {name: index}
	const char *what;     // "node"
	const char *expected; // "the name of a node"
};

// Of a request of the file: where it stands there, and what its `traffic` said.
struct hs_scenario_origin {
	size_t entry;
	uint32_t traffic; // HS_NO_INDEX: none
	bool reverse;
};

// What is being read. The sections are borrowed from the file's JSON.
struct hs_scenario_draft {
	struct hs_scenario scenario;
	char window[HS_DURATION_BYTES]; // "": not named
	json_t *topology, *nodes, *links, *hosts, *traffic, *requests, *events, *expect;
	struct hs_scenario_names node_names, link_names, host_names, traffic_names;
	uint32_t n_named_hosts;			// before traffic made implicit ones
	size_t *link_entries, *traffic_entries; // of each, its place in the file
	struct hs_scenario_origin *request_origins, *event_origins;
	int64_t limit_ns; // what times in the file are checked against: its own duration, or a
			  // longer one of the command line
};

// One section each. 0, -EINVAL or -ENOMEM with *err.
int hs_scenario_read_topology(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_nodes(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_links(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_hosts(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_traffic(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_requests(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_events(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_expects(struct hs_scenario_draft *draft, struct hs_error *err);

// After all of them: what no single section can say.
int hs_scenario_check_network(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_check_requests(struct hs_scenario_draft *draft, struct hs_error *err);
// Drops what is beyond a duration that the command line cut short.
int hs_scenario_clip_events(struct hs_scenario_draft *draft, struct hs_error *err);
// The indices of the events in the order of their first time. NULL with *err.
size_t *hs_scenario_event_order(const struct hs_scenario *scenario, struct hs_error *err);
// The flows that requests monitor.
int hs_scenario_find_flows(struct hs_scenario_draft *draft, struct hs_error *err);

// "path.key", for as long as the block.
#define HS_SCENARIO_AT 160
const char *hs_scenario_at(char at[HS_SCENARIO_AT], const char *path, const char *key);
#define AT(path, key) hs_scenario_at((char[HS_SCENARIO_AT]){""}, path, key)

// ---- names ----

int hs_scenario_names_init(struct hs_scenario_names *names, const char *what, const char *expected);
void hs_scenario_names_fini(struct hs_scenario_names *names);
// "duplicate" where it has one of that name.
int hs_scenario_names_add(struct hs_scenario_names *names, const char *name, size_t index,
		const char *path, struct hs_error *err);
// HS_NO_INDEX: there is none.
uint32_t hs_scenario_names_find(const struct hs_scenario_names *names, const char *name);
// Reads a name from JSON: "unknown_name" where there is none such.
int hs_scenario_names_read(const struct hs_scenario_names *names, json_t *value, const char *path,
		uint32_t *index, struct hs_error *err);
// Letters, digits, '_', '-', '.': names stand in topics, files and tables.
int hs_scenario_check_name(const char *name, const char *path, struct hs_error *err);

// Keys that only some kinds of an object have. NULL ends the list.
struct hs_scenario_key {
	const char *key;
	unsigned kinds; // bits
	const char *expected;
};
int hs_scenario_check_keys(const struct hs_scenario_key *keys, json_t *object, unsigned kind,
		const char *path, const char *what, struct hs_error *err);

// ---- lists ----

// A list, or nothing: *n is 0 then. At most max items.
int hs_scenario_list(json_t *list, const char *path, size_t max, size_t *n, struct hs_error *err);
// Zeroed room for n items (at least one). NULL with *err.
void *hs_scenario_room(size_t n, size_t size, struct hs_error *err);
int hs_scenario_no_memory(struct hs_error *err);

// ---- pieces that a topology and the lists share ----

extern const struct hs_link_config hs_scenario_link_defaults;
// Entries of `links` and of a topology: the link's way 0 and way 1 from the keys of a link.
int hs_scenario_read_ways(json_t *object, const char *path, struct hs_link_config ways[2],
		struct hs_error *err);
int hs_scenario_add_node(struct hs_scenario_draft *draft, const struct hs_scenario_node *node,
		const char *path, struct hs_error *err);
int hs_scenario_add_link(struct hs_scenario_draft *draft, const struct hs_scenario_link *link,
		size_t entry, const char *path, struct hs_error *err);
int hs_scenario_add_host(struct hs_scenario_draft *draft, const struct hs_scenario_host *host,
		const char *path, struct hs_error *err);

// A request as the file has it: the scenario's own keys, and the verb with its content.
struct hs_scenario_wish {
	uint32_t node; // HS_NO_INDEX: all
	bool has_traffic, all_traffic, reverse;
	uint32_t traffic; // HS_NO_INDEX: none, or all
	json_t *verb;	  // owned
};
int hs_scenario_read_wish(const struct hs_scenario_draft *draft, json_t *object, const char *path,
		bool in_event, struct hs_scenario_wish *wish, struct hs_error *err);
// The request that it stands for, with what this entry of traffic (HS_NO_INDEX: none) gives. A new
// reference; NULL: out of memory.
json_t *hs_scenario_fill_wish(const struct hs_scenario *scenario,
		const struct hs_scenario_wish *wish, uint32_t traffic);
// The name of a node, or "*": HS_NO_INDEX.
int hs_scenario_read_node_or_all(const struct hs_scenario_draft *draft, json_t *value,
		const char *path, uint32_t *node, struct hs_error *err);

// The error of a key that its neighbours ask for. -EINVAL.
int hs_scenario_refuse_missing(
		const char *path, const char *key, const char *expected, struct hs_error *err);
