// SPDX-License-Identifier: BSD-3-Clause
// Takes a message apart, from bytes to the members around its requests. For lib/api only.
#pragma once

#include "api_args.h"
#include "error.h"
#include "schema.h"

// References are borrowed from the message.
struct hs_api_envelope {
	json_t *id;
	json_t *items;	    // the list of a transaction; NULL: one request
	json_t *single;	    // the only request
	const char *prefix; // path of `items`
	bool dry_run, has_generation;
	uint64_t if_generation;
};

// The members of a message beside a verb: "id", "dry_run", "if_generation", "transaction".
extern const struct hs_schema_field hs_api_members[];

// Returns 0, or a negative errno with *err. *root is a new reference.
int hs_api_message_parse(const char *message, size_t len, json_t **root, struct hs_error *err);
int hs_api_envelope_read(json_t *root, struct hs_api_envelope *envelope, struct hs_error *err);

// Finds the one verb of an object, which is an element of a list or the message itself. Other
// members go to the envelope. Returns 0, or -EINVAL with *err. *verb is -1 for a transaction.
int hs_api_object_read(json_t *object, bool in_list, struct hs_api_envelope *envelope, int *verb,
		struct hs_error *err);
