# SPDX-License-Identifier: BSD-3-Clause
"""Other programs that tools/peer_bench.py measures beside Hopsight.

vpp        VPP with its ioam plugin and its packet generator
l3fwd      DPDK's l3fwd
traffic    the frames that all of them get
"""
