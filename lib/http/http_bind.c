// SPDX-License-Identifier: BSD-3-Clause
#include "http_bind.h"

#include "ip_address.h"

#include <string.h>

static const char *parse(const char *text, void *at, const char **code)
{
	struct hs_http_bind *bind = at;

	(void)code;
	return hs_ip_port_read(text, bind->address, &bind->port);
}

static void write(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	const struct hs_http_bind *bind = at;

	hs_ip_port_write(bind->address, bind->port, text);
}

const struct hs_schema_text hs_http_bind_text = {parse, write,
		"{'type': 'string', 'pattern': '^(\\\\[[0-9A-Fa-f:.]+\\\\]|[0-9.]+):[0-9]{1,5}$'}"};

bool hs_http_bind_is_local(const struct hs_http_bind *bind)
{
	static const uint8_t loopback[16] = {[15] = 1};

	if (hs_ip_address_is_ipv4(bind->address))
		return bind->address[12] == 127;
	return memcmp(bind->address, loopback, sizeof(loopback)) == 0;
}
