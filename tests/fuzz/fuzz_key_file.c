// SPDX-License-Identifier: BSD-3-Clause
// A file of any bytes is either a complete key or refused with a code and a message. A refused file
// leaves no secret in the caller's memory.
#include "fuzz_file.h"

#include "bus_key_file.h"

#include <string.h>

static void read_as(const char *name, bool secret)
{
	struct hs_bus_key key;
	struct hs_error err = {0};
	int rc = hs_bus_key_read(name, secret, "secret", &key, &err);

	HOLDS(memchr(key.secret_key, '\0', sizeof(key.secret_key)));
	HOLDS(secret && rc == 0 ? strlen(key.secret_key) == HS_BUS_KEY_TEXT - 1
				: key.secret_key[0] == '\0');
	if (rc == 0)
		HOLDS(strlen(key.public_key) == HS_BUS_KEY_TEXT - 1);
	else
		HOLDS(err.code[0] && err.message[0] && strcmp(err.path, "secret") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[64];
	int fd = fuzz_file(data, size, name);

	read_as(name, false);
	read_as(name, true);
	close(fd);
	return 0;
}
