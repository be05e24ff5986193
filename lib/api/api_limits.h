// SPDX-License-Identifier: BSD-3-Clause
// What one connection to a program's sockets may cost. The sockets enforce it (lib/bus), `hello`
// tells it, and docs/replies.md says what each member limits.
//
// Thread rule: any.
#pragma once

#include <stdint.h>

struct hs_api_connection_limits {
	uint32_t requests, waiting_bytes, part_bytes, message_bytes, reply_bytes;
	uint32_t subscriptions, subscription_bytes, queued_messages;
	uint32_t connections, connections_of_one;
};
