// SPDX-License-Identifier: BSD-3-Clause
#include "scrape_settings.h"

#include <netinet/in.h>

#define SETTINGS(member) HS_SCHEMA_MEMBER(struct hs_scrape_settings, member)
const struct hs_schema_field hs_scrape_fields[] = {
		{"bind", HS_SCHEMA_PARSED, SETTINGS(bind), HS_SCRAPE_BIND},
		{"max_series", HS_SCHEMA_UINT, SETTINGS(max_series), .min = 100, .max = 1000000},
		{NULL},
};

bool hs_scrape_low_port(const struct hs_scrape_settings *settings)
{
	return settings->on && settings->bind.port < IPPORT_RESERVED;
}
