// SPDX-License-Identifier: BSD-3-Clause
// The parts of reading a scenario. For scenario*.c only.
#pragma once

#include "scenario.h"

#include "array.h"
#include "duration.h"
#include "flexint.h"
#include "schema.h"

#define HS_DRAFT_MAX_S 1000000.0
#define HS_DRAFT_NEVER INT64_MIN // a time that the file leaves out

// A network that a few numbers generate.
struct hs_draft_topology {
	bool given;	   // otherwise lists describe the network
	uint32_t kind, k;  // k 0: not in the file
	uint32_t n, hosts; // of a small world; n 0: not in the file
	double beta;
	uint64_t seed;
	bool ipv4;
	struct hs_scenario_link link; // with no ends yet
	struct hs_scenario_node node; // without id and name
};

// A request as in the file: the scenario's own keys, and those of the API.
struct hs_draft_request {
	uint32_t node;	  // HS_NO_INDEX: all
	uint32_t traffic; // HS_NO_INDEX: none; or HS_DRAFT_ALL
	bool reverse;
	const struct hs_schema_field *own; // the scenario's keys
	json_t *object;			   // with all keys
};

// The scenario that is being read. Functions that get it return 0, or -EINVAL or -ENOMEM with
// *draft->err.
struct hs_draft {
	struct hs_scenario scenario;
	struct hs_error *err;
	// There was an error before the list that is being read, or an item refers to one that may
	// have an error. Items are then read for more errors and not taken, because what they mean
	// together is not known.
	bool broken;
	struct hs_errors *errors;	// of the whole file so far
	struct hs_schema_item item;	// of the list that is being read
	char place[48];			// of what is no item of this list, for errors
	json_t *root;			// the file's JSON; borrowed
	char window[HS_DURATION_BYTES]; // "": not in the file
	struct hs_draft_topology topology;
	struct hs_draft_request request; // that is being read
	json_t *ignored;		 // the lists, before they are read
	json_t *names;			 // {"node": {name: index}, ...}
	void *room;			 // see hs_draft_room
	int64_t limit_ns; // limit of times in the file: its own duration, or a longer one of the
			  // command line
};

// The lists of the file. Each takes its items into the draft.
extern const struct hs_schema_list hs_draft_node_list, hs_draft_link_list, hs_draft_host_list,
		hs_draft_route_list, hs_draft_traffic_list, hs_draft_request_list,
		hs_draft_event_list, hs_draft_expect_list;
extern const struct hs_schema_field hs_draft_topology_fields[], hs_draft_node_fields[],
		hs_draft_link_fields[];
// A topology has the rows from these on, too.
#define HS_DRAFT_NODE_SERVICE	 5
#define HS_DRAFT_LINK_PARAMETERS 3
extern const struct hs_draft_topology hs_draft_new_topology;

// Defines the list hs_draft_NAME_list. Its items have this type and these keys. The last argument
// is the value of an item before it is read. take_item gets the draft, and each item that was read.
#define HS_DRAFT_LIST(name, type, rows, take_item, ...)                                            \
	static int take_##name##_item(                                                             \
			void *into, const struct hs_schema_item *item, struct hs_error *err)       \
	{                                                                                          \
		struct hs_draft *draft = into;                                                     \
		if (draft->broken)                                                                 \
			return 0;                                                                  \
		draft->item = *item;                                                               \
		int rc = take_item(draft, item->read);                                             \
		if (rc < 0)                                                                        \
			*err = *draft->err;                                                        \
		return rc;                                                                         \
	}                                                                                          \
	const struct hs_schema_list hs_draft_##name##_list = {                                     \
			.item = {.kind = HS_SCHEMA_OBJECT, .fields = rows},                        \
			.item_bytes = sizeof(type),                                                \
			.fresh = &(const type)__VA_ARGS__,                                         \
			.take = take_##name##_item}

// Makes the network of a topology, or refuses a scenario without nodes.
int hs_draft_make_topology(struct hs_draft *draft);
int hs_draft_check_network(struct hs_draft *draft);
// Checks the requests too, and removes what lies beyond a shorter duration of the command line.
int hs_draft_check_events(struct hs_draft *draft);
int hs_draft_check_requests(const struct hs_draft *draft);

// ---- errors ----

// Sets the error of a key of the item, or of the whole item (NULL). Returns -EINVAL.
int hs_draft_refuse(const struct hs_draft *draft, const char *key, const char *code,
		const char *expected, const char *format, ...)
		__attribute__((format(printf, 5, 6)));
int hs_draft_refuse_missing(const struct hs_draft *draft, const char *key, const char *expected);

// Prepends the path of the item to that of the error. Returns -EINVAL.
int hs_draft_prefix(const struct hs_draft *draft);

// ---- memory ----

int hs_draft_no_memory(const struct hs_draft *draft);
// Returns zeroed room for n items, until it is called again or the reading ends; or NULL.
void *hs_draft_room(struct hs_draft *draft, size_t n, size_t size);
// Appends a copy of an item to a list of the scenario.
#define HS_DRAFT_APPEND(draft, list, item)                                                         \
	(HS_ARRAY_APPEND((draft)->scenario.list, (draft)->scenario.n_##list, *(item))              \
					? 0                                                        \
					: hs_draft_no_memory(draft))

// ---- names ----

// The kinds of names, for messages too.
#define HS_NAME_NODE	"node"
#define HS_NAME_LINK	"link"
#define HS_NAME_HOST	"host"
#define HS_NAME_TRAFFIC "entry of traffic"
#define HS_NAME_FLOW	"flow"
#define HS_NAME_ADDRESS "address"

// Adds the name of the item. The error is "duplicate" if it exists.
int hs_draft_add_name(struct hs_draft *draft, const char *kind, const char *name, size_t index);
// Returns the index of the item with this name, or HS_NO_INDEX if there is none.
uint32_t hs_draft_find_name(const struct hs_draft *draft, const char *kind, const char *name);
// Returns whether an item whose error is already known may have this name. The draft is broken
// then.
bool hs_draft_may_be(struct hs_draft *draft, const char *list, const char *name);
// The names for rows of tables.
extern const struct hs_schema_names hs_draft_node_names, hs_draft_link_names, hs_draft_host_names,
		hs_draft_traffic_names;
// The word "*" as the name of a node, for all nodes: HS_NO_INDEX.
extern const struct hs_schema_word hs_draft_all_nodes[];
#define HS_DRAFT_NODES "the name of a node, or \"*\""
// The value of the word "*" in other keys.
#define HS_DRAFT_ALL (UINT32_MAX - 1)

// ---- checks that several lists share ----

extern const struct hs_schema_style hs_draft_open; // allows keys that the table does not have
bool hs_draft_has(const struct hs_draft *draft, const char *key); // in the item
// Refuses keys that an item of this kind may not have, and the lack of those that it needs. `what`
// names the item.
int hs_draft_check_kinds(const struct hs_draft *draft, const struct hs_schema_field *fields,
		unsigned kind, const char *what);
// Checks that a period lies within the duration. end_ns may be HS_DRAFT_NEVER. `message` is for
// an end before the begin.
int hs_draft_check_period(const struct hs_draft *draft, const char *begin, int64_t begin_ns,
		const char *end, int64_t end_ns, const char *message);

// Returns the number of parts of the network that no link connects. *closing becomes the index of
// the first link that closes a cycle, or n_links. `parts` is room for all nodes.
size_t hs_draft_count_parts(const struct hs_scenario *scenario, uint32_t *parts, size_t *closing);

// ---- parts that the lists share with topologies and traffic ----

#define HS_DRAFT_QUEUE_PACKETS 1000 // of a link that does not say
// A node before it is read. 64 packets are the queue of a port in the paper's switch.
#define HS_DRAFT_NEW_NODE                                                                          \
	{                                                                                          \
		.layout = HS_LAYOUT_ALIGNED, .queue_packets = 64                                   \
	}
// Checks both directions of a link that was read. Without "reverse", they are the same.
int hs_draft_settle_link(struct hs_scenario_link *link, const char *path, struct hs_error *err);
int hs_draft_add_node(struct hs_draft *draft, const struct hs_scenario_node *node);
// Add a link, and name a link that was added. A link without a name gets the default name. A given
// name is checked.
int hs_draft_add_link(struct hs_draft *draft, const struct hs_scenario_link *link);
int hs_draft_name_link(struct hs_draft *draft, size_t index);
int hs_draft_add_host(struct hs_draft *draft, const struct hs_scenario_host *host);

// Reads a request of the file, at the path of the item, into draft->request.
int hs_draft_read_request(struct hs_draft *draft, json_t *object, bool in_event);
// Makes a request of the API from draft->request, completed by this entry of traffic (HS_NO_INDEX:
// none). If it monitors a flow, the flow is added. The caller owns the request.
int hs_draft_make_request(
		struct hs_draft *draft, uint32_t traffic, bool monitors, json_t **request);
