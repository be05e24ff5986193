// SPDX-License-Identifier: BSD-3-Clause
#include "int_report.h"

#include <stddef.h>

// Returns the bits of a sequence number: 32, or 22 in 2.0.
static unsigned sequence_bits(enum hs_int_report_version version)
{
	return version == HS_INT_REPORT_2_0 ? 22 : 32;
}

int32_t hs_int_report_sequence_step(
		enum hs_int_report_version version, uint32_t before, uint32_t now)
{
	unsigned spare = 32 - sequence_bits(version);
	return (int32_t)((now - before) << spare) >> spare;
}

const char *hs_int_drop_reason_word(uint8_t reason)
{
	static const char *const words[UINT8_MAX + 1] = {
#define HS_INT_DROP_REASON(number, NAME, word, sentence) [number] = #word,
#include "int_report_reasons.def"
	};
	return words[reason];
}

const char *hs_int_drop_reason_sentence(uint8_t reason)
{
	static const char *const sentences[UINT8_MAX + 1] = {
#define HS_INT_DROP_REASON(number, NAME, word, sentence) [number] = (sentence),
#include "int_report_reasons.def"
	};
	return sentences[reason];
}
