// SPDX-License-Identifier: BSD-3-Clause
// DPDK's environment: built from a node's own settings, so that nobody writes EAL words by hand.
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
	uint64_t memory_bytes; // what tables, pools and rings need; EAL gets this plus slack
	int control_core;
	int worker_cores[16]; // lcore ids are 0 for control and 1 + i for worker i, pinned to these
	unsigned n_workers;
	int argc; // words after "--" on the command line, appended as they are
	char **argv;
};

// 0 or negative errno with *err. The threads that EAL starts have every signal blocked, so that
// signals reach the caller's own threads alone.
int hs_eal_init(const struct hs_eal_config *config, struct hs_error *err);
void hs_eal_fini(void);

// A pool of n mbufs with this data room (headroom included). 0 or -ENOMEM.
int hs_pool_create(
		const char *name, uint32_t n, uint16_t data_room_bytes, struct rte_mempool **pool);
// What such a pool takes of memory_bytes.
uint64_t hs_pool_bytes(uint32_t n, uint16_t data_room_bytes);

// The same where each mbuf has a private area behind it (rte_mbuf_to_priv): a multiple of 8 bytes.
int hs_pool_create_private(const char *name, uint32_t n, uint16_t private_bytes,
		uint16_t data_room_bytes, struct rte_mempool **pool);
uint64_t hs_pool_bytes_private(uint32_t n, uint16_t private_bytes, uint16_t data_room_bytes);
