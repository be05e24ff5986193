// SPDX-License-Identifier: BSD-3-Clause
// The checksum that a sender left to hardware which is not there: a host behind a veth fills in the
// pseudo header's part only.
//
// Source: RFC 1071; Linux Documentation/networking/checksum-offloads (CHECKSUM_PARTIAL).
// Thread rule: any; a pure function.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Completes the checksum of a TCP or UDP frame (IPv4, or IPv6 with any Hop-by-Hop and destination
// options; up to two tags) whose field holds the folded sum of its pseudo header. Anything else is
// left as it is.
void hs_checksum_complete(uint8_t *frame, size_t len);
