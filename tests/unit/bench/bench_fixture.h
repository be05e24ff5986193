// SPDX-License-Identifier: BSD-3-Clause
// Results made by hand.
#pragma once

#include "bench_result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct made_result {
	struct hs_bench_result result;
	struct hs_bench_row rows[8];
};

static inline void made_init(struct made_result *made)
{
	memset(made, 0, sizeof(*made));
	made->result.rows = made->rows;
	made->result.machine = json_pack("{s:s, s:i}", "cpu", "a processor", "cores", 2);
}

static inline void made_fini(struct made_result *made)
{
	json_decref(made->result.machine);
}

// A case of the table with these figures; its yardstick is row 0 if that is a peer.
static inline struct hs_bench_row *made_row(
		struct made_result *made, const char *name, const double *values, unsigned n)
{
	struct hs_bench_row *row = &made->rows[made->result.n++];

	row->spec = hs_bench_case_find(name);
	assert_non_null(row->spec);
	strcpy(row->name, name);
	row->yardstick = made->rows[0].peer && row->spec->kind == HS_BENCH_PACKETS
					 ? 0
					 : HS_BENCH_NO_ROW;
	for (unsigned i = 0; i < n; i++)
		hs_bench_samples_add(&row->samples, values[i]);
	return row;
}

static inline struct hs_bench_row *made_one(
		struct made_result *made, const char *name, double value)
{
	return made_row(made, name, &value, 1);
}

static inline struct hs_bench_row *made_yardstick(struct made_result *made, double ns)
{
	struct hs_bench_row *row = made_one(made, "no_rules", ns);

	assert_int_equal(made->result.n, 1);
	strcpy(row->name, "testpmd mac");
	row->peer = true;
	row->yardstick = HS_BENCH_NO_ROW;
	return row;
}
