# SPDX-License-Identifier: BSD-3-Clause
"""Other programs that tools/peer_bench.py and tools/peer_ndr.py measure beside Hopsight.

vpp        VPP with its ioam plugin and its packet generator
l3fwd      DPDK's l3fwd
fastclick  FastClick, as a router and as a rewriter of addresses
memif      all of them, and Hopsight, between two memif sockets
traffic    the frames that all of them get
"""
