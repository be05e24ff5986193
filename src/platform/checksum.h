// SPDX-License-Identifier: BSD-3-Clause
// The Internet checksum, and the completion of one that a sender left to hardware which does not
// exist: a host behind a veth fills in the part of the pseudo header only.
//
// Source: RFC 1071; Linux Documentation/networking/checksum-offloads (CHECKSUM_PARTIAL). Thread
// rule: any; pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Adds bytes to a sum of 16-bit words in network order. The bytes begin at an even offset of the
// summed data. The sum of 64 KiB never overflows.
uint64_t hs_checksum_add(uint64_t sum, const void *bytes, size_t n);
// Returns the sum as 16 bits in network order, to be stored as they are. The checksum is the
// inverse of the sum.
uint16_t hs_checksum_fold(uint64_t sum);
// Completes the checksum of the bytes from `start` to the end of the frame. The field is `offset`
// bytes behind `start` and holds the folded sum of the pseudo header. Returns false, with the frame
// unchanged, if the field is not within the frame. A field at the place of UDP's checksum never
// gets 0. One at the place of SCTP's gets a CRC32c of four bytes (RFC 9260), because a virtio
// header does not tell the two kinds of checksum apart.
bool hs_checksum_complete(uint8_t *frame, size_t len, size_t start, size_t offset);
