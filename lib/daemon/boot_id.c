// SPDX-License-Identifier: BSD-3-Clause
#include "boot_id.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

void hs_boot_id_make(char id[HS_BOOT_ID_BYTES])
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint64_t)getpid() << 32 ^ (uint64_t)time(NULL);
	snprintf(id, HS_BOOT_ID_BYTES, "%016" PRIx64, random);
}
