// SPDX-License-Identifier: BSD-3-Clause
// Prints the table of fields, for the documents and the dissector that are generated from it.
//
// Thread rule: any.
#pragma once

#include <stdio.h>

// Writes a JSON array: an object for each version, with its fields in wire order. Returns 0 or
// -EIO.
int hs_int_print_fields(FILE *out);
