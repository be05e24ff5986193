// SPDX-License-Identifier: BSD-3-Clause
// The limits of a state file.
#pragma once

#define HS_STATE_FILE_BYTES 400		// of the file's name with its terminator
#define HS_STATE_LINE_BYTES (16u << 20) // of the longest line
