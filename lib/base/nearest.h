// SPDX-License-Identifier: BSD-3-Clause
// Finds the known word that a mistyped word most likely means.
//
// Thread rule: any; the struct belongs to the caller, the words must outlive it.
#pragma once

#define HS_NEAREST_BYTES 64 // longer words are near to nothing

// Begin with {.typed = word}.
struct hs_nearest {
	const char *typed;
	const char *word; // the nearest so far; NULL: none is near
	unsigned changes; // number of changes that turn `typed` into the word
};

// Compares a known word. A change is a letter too many, a missing letter, a wrong letter, or two
// letters in the wrong order. A word is near if a third of its letters, or one letter, must change.
// A word that begins with `typed` is near, too. Of equally near words, the first one stays.
void hs_nearest_try(struct hs_nearest *nearest, const char *word);
