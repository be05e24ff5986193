// SPDX-License-Identifier: BSD-3-Clause
// The table of fields as text, for what is made from it: documents, the dissector.
//
// Thread rule: any.
#pragma once

#include <stdio.h>

// Writes a JSON array: an object for each version, with its fields in wire order. 0 or -EIO.
int hs_int_print_fields(FILE *out);
