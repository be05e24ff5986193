// SPDX-License-Identifier: BSD-3-Clause
// Notices through rtnetlink that a port's interface was deleted, came back, or changed its state.
//
// Thread rule: control.
#pragma once

#include "port.h"

struct hs_port_watch;

enum hs_port_event {
	HS_PORT_GONE, // the interface was deleted
	HS_PORT_BACK, // an interface of that name exists again: call hs_port_reopen
	HS_PORT_UP,
	HS_PORT_DOWN,
};

typedef void (*hs_port_event_fn)(void *context, struct hs_port *port, enum hs_port_event event);

int hs_port_watch_create(hs_port_event_fn on_event, void *context, struct hs_port_watch **watch);
void hs_port_watch_destroy(struct hs_port_watch *watch);
int hs_port_watch_add(struct hs_port_watch *watch, struct hs_port *port);
int hs_port_watch_fd(const struct hs_port_watch *watch); // readable when events wait
// Calls on_event for waiting events.
void hs_port_watch_poll(struct hs_port_watch *watch);
// Reads the state of every interface again, which finds what no event reported. The call is cheap
// enough for once a second.
void hs_port_watch_resync(struct hs_port_watch *watch);
