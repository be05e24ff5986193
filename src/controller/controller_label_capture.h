// SPDX-License-Identifier: BSD-3-Clause
// The packet sockets where frames of the prototype of INT-label pass. No function waits.
//
// The prototype has no last hop: its packets reach the receiving host as they are, where a program
// reads them by a packet socket. In Mininet, both ends of a host's link can be read. At the
// switch's end, the frames are outgoing ones, so that frames in both directions are taken.
//
// Thread rule: owner.
#pragma once

#include "controller.h"

#include <poll.h>

struct controller_label_capture;

// Opens the interfaces of `label.capture`; without them *capture is NULL, which all functions
// accept. Needs CAP_NET_RAW, later functions do not. Returns 0, or a negative errno with *err,
// whose path is that of the configuration.
int controller_label_capture_open(const struct hs_controller_config *config,
		struct controller_label_capture **capture, struct hs_error *err);
void controller_label_capture_close(struct controller_label_capture *capture);

// Fills what poll(2) needs, at most HS_CONTROLLER_MAX_CAPTURES. Returns how many.
unsigned controller_label_capture_fds(
		const struct controller_label_capture *capture, struct pollfd *fds);
// Passes what has come to the controller, for a few milliseconds, and what the kernel dropped.
// Returns true if more may wait.
bool controller_label_capture_take(
		struct controller_label_capture *capture, struct hs_controller *controller);
