// SPDX-License-Identifier: BSD-3-Clause
// A bell beside a memif link wakes workers at the other end. The driver of memif wakes no worker
// (DPDK 22.11 sets its rings to polling and has no receive interrupt).
//
// Each end has a datagram socket, named after memif's own socket, the link's id and its role. An
// end that sends packets after a pause also sends an empty datagram to the other end's socket. A
// worker at the other end that polls its ports all the time gets no datagram. A port whose other
// end has no bell, such as another program, is polled from time to time.
//
// Thread rule: open, connect and close by control; ring by workers; the descriptor for any.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct memif_bell;

// Opens the bell of a memif port with these devargs. Returns NULL if its name is too long or taken,
// or if the file cannot be made.
struct memif_bell *memif_bell_open(const char *devargs);
// Accepts NULL.
void memif_bell_close(struct memif_bell *bell);

// Finds the other end's bell, unless it is known, and rings it once. Call this about once a second
// while the link is up: the other end may be a new process.
void memif_bell_connect(struct memif_bell *bell);
// Call this after packets were sent. `queue`: less than HS_MAX_WORKERS, one for each worker.
void memif_bell_ring(struct memif_bell *bell, uint16_t queue);
// Returns the descriptor that is readable while the bell rings. The bell owns it.
int memif_bell_fd(const struct memif_bell *bell);
// Ends the ringing of a bell by its descriptor. Returns whether the bell rang.
bool memif_bell_quiet(int fd);
