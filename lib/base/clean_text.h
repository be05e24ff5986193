// SPDX-License-Identifier: BSD-3-Clause
// Foreign text made safe for a terminal, a log or JSON. Characters that control a terminal, change
// the direction of the text around them, are invisible, or are not UTF-8 are written as \uXXXX.
//
// Thread rule: any.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Decodes the character at s, of which n > 0 bytes are available. Returns its number of bytes, 1 to
// 4, and puts its code point into *code. *code is -1 if the bytes are no UTF-8 character (RFC
// 3629); the caller then skips one byte. Returns 0 if more bytes could complete a character.
size_t hs_clean_next(const char *s, size_t n, int32_t *code);

// Returns whether the code is a control character (ASCII's, DEL, C1), a mark or change of
// direction, a separator of lines or paragraphs, an invisible character, or -1.
bool hs_clean_is_unsafe(int32_t code);

#define HS_CLEAN_ONE 13 // two escapes and the terminator
// Writes an unsafe character as \uXXXX, and -1 as \ufffd, so that a JSON reader gets the original.
// Returns the number of bytes.
size_t hs_clean_escape(int32_t code, char out[HS_CLEAN_ONE]);

// Makes text UTF-8 in place: removes a last character that was cut, and writes '?' for each other
// byte that belongs to no character. Call this after formatting foreign text into a buffer, because
// JSON takes no other text.
void hs_clean_mend(char *text);

// Copies text and escapes unsafe characters, including line ends. Text that does not fit is cut
// between characters. Returns the length.
size_t hs_clean_copy(const char *text, char *out, size_t size);
// Does the same with memory that the caller frees. Returns NULL if memory is out.
char *hs_clean_dup(const char *text);
