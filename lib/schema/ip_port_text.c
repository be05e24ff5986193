// SPDX-License-Identifier: BSD-3-Clause
#include "ip_port_text.h"

const char *hs_ip_port_text_parse(const char *text, void *at, const char **code)
{
	(void)code;
	return hs_ip_port_read(text, at);
}

void hs_ip_port_text_write(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	hs_ip_port_write(at, text);
}

const struct hs_schema_text hs_ip_port_text = {
		hs_ip_port_text_parse, hs_ip_port_text_write, HS_IP_PORT_TEXT_SHAPE};
