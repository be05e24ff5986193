// SPDX-License-Identifier: BSD-3-Clause
// The parts of reading a scenario: one function for each section, in the order of their
// dependencies. For scenario*.c only.
#pragma once

#include "scenario.h"

#include "duration.h"
#include "schema.h"

#define HS_SCENARIO_MAX_S 1000000.0

// Maps names to indices, for later sections.
struct hs_scenario_names {
	json_t *index;	  // {name: index}
	const char *what; // "node"
};

// The origin of a request: its place in the file, and its `traffic`.
struct hs_scenario_origin {
	size_t entry;
	uint32_t traffic; // HS_NO_INDEX: none
	bool reverse;
};

// The scenario that is being read. The sections are borrowed from the file's JSON.
struct hs_scenario_draft {
	struct hs_scenario scenario;
	char window[HS_DURATION_BYTES]; // "": not in the file
	json_t *topology, *nodes, *links, *hosts, *traffic, *requests, *events, *expect;
	struct hs_scenario_names node_names, link_names, host_names, traffic_names;
	bool *has_both;				// [link]: an entry gave its other direction
	uint32_t n_named_hosts;			// without the hosts that traffic creates
	size_t *link_entries, *traffic_entries; // index in the file, of each link and traffic
	struct hs_scenario_origin *request_origins, *event_origins;
	int64_t limit_ns; // limit of times in the file: its own duration, or a longer one of the
			  // command line
};

// Each function reads one section. Returns 0, or -EINVAL or -ENOMEM with *err.
int hs_scenario_read_topology(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_nodes(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_links(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_hosts(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_traffic(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_requests(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_events(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_read_expects(struct hs_scenario_draft *draft, struct hs_error *err);

// Called last: checks that concern several sections.
int hs_scenario_check_network(struct hs_scenario_draft *draft, struct hs_error *err);
int hs_scenario_check_requests(struct hs_scenario_draft *draft, struct hs_error *err);
// Removes what lies beyond a shorter duration of the command line.
int hs_scenario_clip_events(struct hs_scenario_draft *draft, struct hs_error *err);
// Returns the indices of the events in the order of their first time, or NULL with *err.
size_t *hs_scenario_event_order(const struct hs_scenario *scenario, struct hs_error *err);
// Finds the flows that requests monitor.
int hs_scenario_find_flows(struct hs_scenario_draft *draft, struct hs_error *err);

// Makes "path.key", valid until the end of the block.
#define HS_SCENARIO_AT 160
const char *hs_scenario_at(char at[HS_SCENARIO_AT], const char *path, const char *key);
#define AT(path, key) hs_scenario_at((char[HS_SCENARIO_AT]){""}, path, key)

// ---- names ----

int hs_scenario_names_init(struct hs_scenario_names *names, const char *what);
void hs_scenario_names_fini(struct hs_scenario_names *names);
// Adds a name. The error is "duplicate" if it exists.
int hs_scenario_names_add(struct hs_scenario_names *names, const char *name, size_t index,
		const char *path, struct hs_error *err);
// Returns HS_NO_INDEX if there is none.
uint32_t hs_scenario_names_find(const struct hs_scenario_names *names, const char *name);
// The names for rows of tables. The struct that is read begins with a pointer to its draft.
extern const struct hs_schema_names hs_scenario_node_names, hs_scenario_link_names,
		hs_scenario_traffic_names;
// The word "*", for all of them.
#define HS_SCENARIO_ALL (UINT32_MAX - 1)
extern const struct hs_schema_word hs_scenario_all_words[];
#define HS_SCENARIO_NODES "the name of a node, or \"*\""

// Keys that only some kinds of an object have. NULL ends the list.
struct hs_scenario_key {
	const char *key;
	unsigned kinds; // bits
	const char *expected;
};
int hs_scenario_check_keys(const struct hs_scenario_key *keys, json_t *object, unsigned kind,
		const char *path, const char *what, struct hs_error *err);

// ---- lists ----

// Entries of the file's lists, for its JSON Schema.
extern const struct hs_schema_list hs_scenario_node_list, hs_scenario_link_list,
		hs_scenario_host_list, hs_scenario_traffic_list, hs_scenario_event_list,
		hs_scenario_expect_list;
extern const struct hs_schema_field hs_scenario_topology_fields[], hs_scenario_ways_fields[];

// Reads each item of a list, with its path.
typedef int(hs_scenario_item)(struct hs_scenario_draft *draft, json_t *item, size_t i,
		const char *at, struct hs_error *err);
int hs_scenario_each(struct hs_scenario_draft *draft, json_t *list, const char *path,
		hs_scenario_item *read, struct hs_error *err);
// Reads a list of at most max items. If it is missing, *n is 0.
int hs_scenario_list(json_t *list, const char *path, size_t max, size_t *n, struct hs_error *err);
// Returns zeroed room for n items (at least one), or NULL with *err.
void *hs_scenario_room(size_t n, size_t size, struct hs_error *err);
int hs_scenario_no_memory(struct hs_error *err);

// ---- parts that the lists share with topologies ----

extern const struct hs_link_config hs_scenario_link_defaults;
// Reads an entry of `links` or of a topology: both directions of the link from the keys of a link.
int hs_scenario_read_ways(json_t *object, const char *path, struct hs_link_config ways[2],
		struct hs_error *err);
int hs_scenario_add_node(struct hs_scenario_draft *draft, const struct hs_scenario_node *node,
		const char *path, struct hs_error *err);
int hs_scenario_add_link(struct hs_scenario_draft *draft, const struct hs_scenario_link *link,
		size_t entry, const char *path, struct hs_error *err);
int hs_scenario_add_host(struct hs_scenario_draft *draft, const struct hs_scenario_host *host,
		const char *path, struct hs_error *err);

// A request as in the file: the scenario's own keys, and the verb with its content.
struct hs_scenario_wish {
	const struct hs_scenario_draft *draft; // first, for the tables of names
	uint32_t node;			       // HS_NO_INDEX: all
	uint32_t traffic;		       // HS_NO_INDEX: none; or HS_SCENARIO_ALL
	bool reverse;
	json_t *verb; // owned
};
int hs_scenario_read_wish(const struct hs_scenario_draft *draft, json_t *object, const char *path,
		bool in_event, struct hs_scenario_wish *wish, struct hs_error *err);
// Returns the request completed by this entry of traffic (HS_NO_INDEX: none) as a new reference, or
// NULL if memory is out.
json_t *hs_scenario_fill_wish(const struct hs_scenario *scenario,
		const struct hs_scenario_wish *wish, uint32_t traffic);

// Sets the error for a key that other keys require. Returns -EINVAL.
int hs_scenario_refuse_missing(
		const char *path, const char *key, const char *expected, struct hs_error *err);
