// SPDX-License-Identifier: BSD-3-Clause
// Completes a checksum that a sender left to hardware which does not exist: a host behind a veth
// fills in the part of the pseudo header only.
//
// Source: RFC 1071; Linux Documentation/networking/checksum-offloads (CHECKSUM_PARTIAL). Thread
// rule: any; a pure function.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Completes the checksum of a TCP or UDP frame (IPv4, or IPv6 with any Hop-by-Hop and destination
// options; up to two tags) whose field holds the folded sum of its pseudo header. Other frames do
// not change.
void hs_checksum_complete(uint8_t *frame, size_t len);
