// SPDX-License-Identifier: BSD-3-Clause
// A monitor for each test, and a path of two transit nodes.
#pragma once

#include "qos_test.h"

#define GAP MS // 1000 packets a second

static const uint16_t PATH[] = {1, 2};

struct fixture {
	struct hs_qos *qos;
	struct catcher catcher;
};

static inline int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->qos = monitor_new(&f->catcher);
	*state = f;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	monitor_free(f->qos, &f->catcher);
	free(f);
	return 0;
}

static inline struct hs_report plain(uint64_t number)
{
	return plain_report(number, GAP, 2, PATH);
}

static inline void give_range(struct fixture *f, uint64_t from, uint64_t to, uint64_t step)
{
	for (uint64_t i = from; i <= to; i += step) {
		struct hs_report report = plain(i);
		give(f->qos, &report);
	}
}

static inline const struct caught *second_ending(const struct fixture *f, int64_t second)
{
	const struct caught *caught = caught_ending(&f->catcher, SECOND, T0 + second * SECOND);
	assert_non_null(caught);
	return caught;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
