// SPDX-License-Identifier: BSD-3-Clause
#include "errors.h"

#include <errno.h>

int hs_errors_keep(struct hs_errors *errors, const struct hs_error *err)
{
	if (errors->n < HS_ERRORS_MOST)
		errors->list[errors->n] = *err;
	errors->n++;
	return -EINVAL;
}

void hs_errors_prefix(struct hs_errors *errors, unsigned from, const char *prefix)
{
	for (unsigned i = from; i < errors->n && i < HS_ERRORS_MOST; i++)
		hs_error_prefix(&errors->list[i], prefix);
}
