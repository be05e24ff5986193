// SPDX-License-Identifier: BSD-3-Clause
// DPDK's environment, built from a node's own settings, so that nobody has to write EAL options.
//
// Thread rule: control, once per process.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_mempool;

struct hs_eal_config {
	char file_prefix[64];
	bool huge_pages;
	bool pci;	       // any port is a PCI device
	uint64_t memory_bytes; // what tables, pools and rings need; EAL gets more for itself
	int control_core;
	int worker_cores[16]; // lcore id 0 is control and 1 + i is worker i, pinned to these
	unsigned n_workers;
	int argc; // words after "--" on the command line, appended unchanged
	char **argv;
};

// Returns 0, or a negative errno with *err. The threads that EAL starts block every signal, so that
// signals reach only the caller's own threads.
int hs_eal_init(const struct hs_eal_config *config, struct hs_error *err);
void hs_eal_fini(void);

// Creates a pool of n mbufs with this data room (headroom included). Returns 0 or -ENOMEM.
int hs_pool_create(
		const char *name, uint32_t n, uint16_t data_room_bytes, struct rte_mempool **pool);
// Returns the share of memory_bytes that such a pool takes.
uint64_t hs_pool_bytes(uint32_t n, uint16_t data_room_bytes);

// Does the same with a private area behind each mbuf (rte_mbuf_to_priv), a multiple of 8 bytes.
int hs_pool_create_private(const char *name, uint32_t n, uint16_t private_bytes,
		uint16_t data_room_bytes, struct rte_mempool **pool);
uint64_t hs_pool_bytes_private(uint32_t n, uint16_t private_bytes, uint16_t data_room_bytes);
