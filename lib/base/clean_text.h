// SPDX-License-Identifier: BSD-3-Clause
// Text of others as it may stand on a terminal, in a log or in JSON: what drives a terminal, turns
// the direction of the text around it, is not seen, or is no UTF-8 is written as \uXXXX.
//
// Thread rule: any.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The character at s, of which n > 0 bytes are there: returns its bytes, 1 to 4, and puts its
// number into *code; -1 where the bytes are no character of UTF-8 (RFC 3629), of which one is then
// to be skipped. Returns 0 where more bytes could make it one.
size_t hs_clean_next(const char *s, size_t n, int32_t *code);

// Is it a control character (those of ASCII, DEL, C1), a mark or change of direction, a separator
// of lines or paragraphs, or one of those that are not seen at all? -1 is.
bool hs_clean_is_unsafe(int32_t code);

#define HS_CLEAN_ONE 13 // two escapes and the end
// Writes an unsafe character as \uXXXX, that of no character as \ufffd: JSON reads it as what it
// was. Returns the bytes.
size_t hs_clean_escape(int32_t code, char out[HS_CLEAN_ONE]);

// Copies text with what is unsafe in it escaped, line ends as well; what does not fit is cut
// between characters. Returns the length.
size_t hs_clean_copy(const char *text, char *out, size_t size);
// The same into memory that the caller frees. NULL when memory is out.
char *hs_clean_dup(const char *text);
