// SPDX-License-Identifier: BSD-3-Clause
// An identifier that differs between the runs of a program.
//
// Thread rule: any.
#pragma once

#define HS_BOOT_ID_BYTES 24 // 16 hexadecimal digits and NUL, rounded up

void hs_boot_id_make(char id[HS_BOOT_ID_BYTES]);
