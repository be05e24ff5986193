// SPDX-License-Identifier: BSD-3-Clause
#include "int_print.h"

#include "int_fields.h"

#include <errno.h>
#include <inttypes.h>

static void print_field(FILE *out, enum hs_int_version version, const struct hs_int_field *field)
{
	static const char *const kinds[] = {"id", "number", "time"};
	unsigned bits = version == HS_INT_2016_06 ? 31 : field->bits;

	fprintf(out,
			"{\"bit\": %u, \"mask\": \"0x%04x\", \"instruction\": \"%s\", "
			"\"key\": \"%s\", \"bits\": %u, \"kind\": \"%s\", \"unit\": \"%s\", "
			"\"not_available\": \"0x%" PRIx64 "\"}",
			field->bit, 0x8000u >> field->bit, field->instruction, field->key, bits,
			kinds[field->kind], field->unit, UINT64_MAX >> (64 - bits));
}

int hs_int_print_fields(FILE *out)
{
	fputs("[", out);
	for (unsigned version = 0; version < HS_INT_N_VERSIONS; version++) {
		const char *comma = "";
		fprintf(out, "%s\n{\"version\": \"%s\", \"fields\": [", version ? "," : "",
				hs_int_version_name(version));
		for (size_t i = 0; i < hs_int_n_fields; i++) {
			if (!(hs_int_fields[i].versions & 1 << version))
				continue;
			fprintf(out, "%s\n ", comma);
			print_field(out, version, &hs_int_fields[i]);
			comma = ",";
		}
		fputs("]}", out);
	}
	fputs("\n]\n", out);
	return fflush(out) || ferror(out) ? -EIO : 0;
}
