// SPDX-License-Identifier: BSD-3-Clause
// The types of the options (flexint.h).
//
// Thread rule: values.
#pragma once

#define HS_OPT_TRACE   0x31
#define HS_OPT_E2E     0x11
#define HS_OPT_REQUEST 0x32
#define HS_OPT_REPORT  0x33
