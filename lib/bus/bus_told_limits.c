// SPDX-License-Identifier: BSD-3-Clause
#include "bus_told_limits.h"

#include "bus.h"
#include "bus_frames.h"
#include "bus_gate_limits.h"
#include "bus_queue.h"
#include "bus_socket.h"

struct hs_api_connection_limits hs_bus_told_limits(unsigned publish_queue)
{
	return (struct hs_api_connection_limits){
			.requests = HS_BUS_UNDER_WAY,
			.waiting_bytes = HS_BUS_GATE_REQUEST_BYTES,
			.part_bytes = HS_BUS_FRAME_WEIGHT,
			.message_bytes = HS_BUS_MAX_MESSAGE,
			.reply_bytes = HS_BUS_GATE_BACKLOG,
			.subscriptions = HS_BUS_GATE_SUBSCRIPTION_BYTES / HS_BUS_FRAME_WEIGHT,
			.subscription_bytes = HS_BUS_GATE_SUBSCRIPTION_BYTES,
			.queued_messages = publish_queue ? publish_queue : HS_BUS_PUBLISH_QUEUE,
			.connections = HS_BUS_GATE_PLACES,
			.connections_of_one = HS_BUS_GATE_OF_ONE,
	};
}
