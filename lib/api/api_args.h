// SPDX-License-Identifier: BSD-3-Clause
// One request: its verb and what the verb was given, and the limits of messages.
//
// Thread rule: values.
#pragma once

#include "route_book.h"
#include "rule.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_API_VERSION	     "1.0"
#define HS_API_MAX_BYTES     (1u << 20)
#define HS_API_MAX_DEPTH     16
#define HS_API_MAX_VERBS     10000 // in one transaction
#define HS_API_PAGE	     1000  // default `limit` of lists
#define HS_API_MAX_PAGE	     10000
#define HS_API_MAX_PORT_NAME 31
#define HS_API_MAX_NODE_NAME 31
#define HS_API_WINDOWS	     4		// the highest number of lengths of windows
#define HS_API_MAX_VALUES    (1u << 16) // commas of one message, outside strings
#define HS_API_MAX_QUESTIONS 1000	// in one list that changes nothing
#define HS_API_MAX_STRING    4096
#define HS_API_MAX_ID	     256 // bytes of an id that is a string
// The price that the questions of a list that changes something may have together. A question with
// a small answer costs 1, any other question HS_API_LARGE_PRICE.
#define HS_API_MAX_PRICE   256
#define HS_API_LARGE_PRICE 16
// Limits of one reply to requests that change nothing: bytes and processor time. Lists are cut into
// smaller pages to stay within them; a transaction that would exceed them is refused.
#define HS_API_MAX_REPLY    (288u << 10)
#define HS_API_MAX_REPLY_NS INT64_C(5000000)
// 15 digits print a decimal of that many digits unchanged: 0.1 as 0.1.
#define HS_API_DUMP	  (JSON_COMPACT | JSON_REAL_PRECISION(15))
#define HS_API_WINDOW_RUN (-1) // window_ns of qos_get: the time since the rule was installed

enum hs_api_verb {
	HS_VERB_HELLO,
	HS_VERB_INT_REQUEST,
	HS_VERB_INT_UPDATE,
	HS_VERB_INT_DELETE,
	HS_VERB_INT_LIST,
	HS_VERB_INT_GET,
	HS_VERB_QOS_GET,
	HS_VERB_ROUTE_ADD,
	HS_VERB_ROUTE_DELETE,
	HS_VERB_ROUTE_LIST,
	HS_VERB_NEIGHBOUR_ADD,
	HS_VERB_NEIGHBOUR_DELETE,
	HS_VERB_NEIGHBOUR_LIST,
	HS_VERB_NODE_GET,
	HS_VERB_PORTS_GET,
	HS_VERB_STATS_GET,
	HS_VERB_DROPS_GET,
	HS_VERB_EVENTS,
	HS_VERB_AUDIT,
	HS_VERB_EXPLAIN,
	HS_VERB_LABEL_SET,
	HS_VERB_LABEL_GET,
	HS_VERB_OF_CONTROLLERS, // from here on, no node answers
	HS_VERB_PROBE_RUN = HS_VERB_OF_CONTROLLERS,
	HS_VERB_PROBE_STATUS,
	HS_VERB_PROBE_LINKS,
	HS_VERB_PROBE_ROUTES,
	HS_VERB_OF_COLLECTORS, // from here on, only collectors answer
	HS_VERB_FLOW_GET = HS_VERB_OF_COLLECTORS,
	HS_VERB_QUEUE_GET,
	HS_VERB_LINK_GET,
	HS_VERB_EXPORTER_GET,
	HS_VERB_REFUSED_GET,
	HS_VERB_COUNT
};

// A filter of flow_get. Addresses are as in ip_address.h; each member that is 0 takes all flows.
struct hs_api_flow {
	uint8_t src_ip[16], dst_ip[16];
	uint16_t src_port, dst_port;
	uint8_t protocol;
};

// One checked request.
struct hs_api_args {
	enum hs_api_verb verb;
	struct hs_rule rule;	      // int_request
	struct hs_rule_update update; // int_update
	bool has_ns_id;
	uint32_t ns_id;		     // int_update, int_delete, int_get; a filter in qos_get
	uint32_t app_id;	     // qos_get: this application's flows together; 0: none
	uint64_t offset, limit;	     // for lists and qos_get
	int64_t window_ns;	     // qos_get: a length; 0: all lengths; HS_API_WINDOW_RUN
	int64_t start_ns, end_ns;    // qos_get: a window of any place and length; end_ns 0: none
	uint64_t since;		     // events: those with a greater sequence number
	struct hs_route_entry route; // route_* and neighbour_*; planning fills in the port
	char port[HS_API_MAX_PORT_NAME + 1];
	struct hs_api_flow flow; // flow_get: a filter
	json_t *labels; // label_set: a list as api_label.h reads it; borrowed from the message
	char node[HS_API_MAX_NODE_NAME + 1]; // label_* at a controller: a node; "": not given
	uint32_t label_id;		     // label_get: only this port of the node; 0: all
	json_t *on; // int_request at a controller: the nodes of the rule; borrowed from the message
	bool undo;  // reverts a change of the same list
	// Bytes that the entries of a list or page may have together, see hs_api_page_add.
	size_t room;
};
