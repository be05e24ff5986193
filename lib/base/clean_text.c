// SPDX-License-Identifier: BSD-3-Clause
#include "clean_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT 0xfffd

// The first byte, the number of bytes that follow, and the least code point that needs so many
// bytes (RFC 3629, section 4).
static const struct {
	unsigned char mask, lead;
	size_t bytes;
	int32_t least;
} forms[] = {
		{0x80, 0x00, 1, 0},
		{0xe0, 0xc0, 2, 0x80},
		{0xf0, 0xe0, 3, 0x800},
		{0xf8, 0xf0, 4, 0x10000},
};

static bool is_character(int32_t code, int32_t least)
{
	return code >= least && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

size_t hs_clean_next(const char *s, size_t n, int32_t *code)
{
	const unsigned char *byte = (const unsigned char *)s;
	size_t form = 0, i;

	*code = -1;
	while (form < 4 && (byte[0] & forms[form].mask) != forms[form].lead)
		form++;
	if (form == 4)
		return 1;
	int32_t value = byte[0] & ~forms[form].mask & 0xff;
	for (i = 1; i < forms[form].bytes; i++) {
		if (i == n)
			return 0;
		if ((byte[i] & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (byte[i] & 0x3f);
	}
	if (!is_character(value, forms[form].least))
		return 1;
	*code = value;
	return i;
}

bool hs_clean_is_unsafe(int32_t code)
{
	static const struct {
		int32_t first, last;
	} unsafe[] = {
			{-1, 0x1f},	    // -1 is no character; C0
			{0x7f, 0x9f},	    // DEL, C1
			{0xad, 0xad},	    // soft hyphen
			{0x61c, 0x61c},	    // Arabic letter mark
			{0x180e, 0x180e},   // Mongolian vowel separator
			{0x200b, 0x200b},   // zero width space
			{0x200e, 0x200f},   // direction marks
			{0x2028, 0x202e},   // line and paragraph separators; embedding, override
			{0x2060, 0x206f},   // invisible operators, isolation, deprecated formats
			{0xfeff, 0xfeff},   // byte order mark
			{0xfff9, 0xfffb},   // interlinear annotation
			{0xe0000, 0xe007f}, // tags
	};

	for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
		if (code >= unsafe[i].first && code <= unsafe[i].last)
			return true;
	return false;
}

size_t hs_clean_escape(int32_t code, char out[HS_CLEAN_ONE])
{
	unsigned value = code < 0 ? REPLACEMENT : (unsigned)code;

	if (value < 0x10000)
		return (size_t)snprintf(out, HS_CLEAN_ONE, "\\u%04x", value);
	value -= 0x10000; // JSON writes a surrogate pair
	return (size_t)snprintf(out, HS_CLEAN_ONE, "\\u%04x\\u%04x", 0xd800 + (value >> 10 & 0x3ff),
			0xdc00 + (value & 0x3ff));
}

void hs_clean_mend(char *text)
{
	int32_t code;

	for (size_t left = strlen(text), n; left > 0; left -= n, text += n) {
		n = hs_clean_next(text, left, &code);
		if (n == 0) {
			*text = '\0';
			return;
		}
		if (code < 0)
			*text = '?';
	}
}

size_t hs_clean_copy(const char *text, char *out, size_t size)
{
	size_t used = 0, left = strlen(text);

	while (left > 0) {
		char escaped[HS_CLEAN_ONE];
		const char *one = text;
		int32_t code;
		size_t taken = hs_clean_next(text, left, &code), n;
		if (taken == 0)
			taken = left;
		n = taken;
		if (hs_clean_is_unsafe(code)) {
			n = hs_clean_escape(code, escaped);
			one = escaped;
		}
		if (used + n >= size)
			break;
		memcpy(out + used, one, n);
		used += n;
		text += taken;
		left -= taken;
	}
	if (size)
		out[used] = '\0';
	return used;
}

char *hs_clean_dup(const char *text)
{
	// In the worst case, each byte becomes six.
	size_t size = 6 * strlen(text) + 1;
	char *out = malloc(size);

	if (out)
		hs_clean_copy(text, out, size);
	return out;
}
