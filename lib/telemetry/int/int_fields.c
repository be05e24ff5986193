// SPDX-License-Identifier: BSD-3-Clause
#include "int_fields.h"

#include <stdbool.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const version_names[] = {"2016-06", "0.5", "1.0", "2.1"};
_Static_assert(N_OF(version_names) == HS_INT_N_VERSIONS, "each has a name");

const char *hs_int_version_name(enum hs_int_version version)
{
	return version_names[version];
}

#define WIDTH(member) sizeof(((struct hs_int_values *)0)->member)

const struct hs_int_field hs_int_fields[] = {
#define HS_INT_VALUE(versions, bit, instruction, bits, kind, member, has, unit)                    \
	{versions, bit, bits, HS_INT_KIND_##kind, WIDTH(member),                                   \
			offsetof(struct hs_int_values, member), HS_INT_HAS_##has, instruction,     \
			#member, unit},
#include "int_fields.def"
};
const size_t hs_int_n_fields = N_OF(hs_int_fields);

#define HS_INT_VALUE(versions, bit, instruction, bits, kind, member, has, unit)                    \
	_Static_assert(WIDTH(member) * 8 >= (bits), #member);
#include "int_fields.def"

unsigned hs_int_time_bits(enum hs_int_version version)
{
	return version == HS_INT_2_1 ? 64 : version == HS_INT_2016_06 ? 31 : 32;
}
