// SPDX-License-Identifier: BSD-3-Clause
// Pages of lists: entries as far as a reply has room.
//
// Thread rule: any.
#pragma once

#include "api_args.h"

// Appends an entry to a page and takes ownership. Returns false if there is no room: the page
// already has entries, and with this entry it would exceed args->room (*used counts the bytes). The
// page then ends before the entry, and its `next` says so.
bool hs_api_page_add(const struct hs_api_args *args, json_t *page, json_t *entry, size_t *used);
// Does the same for several entries that stay together; there may be none.
bool hs_api_page_extend(
		const struct hs_api_args *args, json_t *page, json_t *entries, size_t *used);
