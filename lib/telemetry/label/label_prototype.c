// SPDX-License-Identifier: BSD-3-Clause
// Reads frames of the paper's prototype (github.com/graytower/INT_LABEL). There, the sending host
// writes the option, and the receiving host reads it.
#include "label.h"

#include "bytes.h"
#include "ip.h"

#include <errno.h>

enum {
	ROUTE_HEADER = 2,
	LAST = 0x80,	 // of an entry of the source route
	SPECIFIC = 0x80, // of the option's first byte
};

// Returns false if none of the entries that may be there is the last.
static bool pass_route(struct hs_reader *in)
{
	hs_reader_take(in, ROUTE_HEADER);
	for (unsigned i = 0; i < HS_LABEL_PROTOTYPE_ROUTES; i++) {
		const uint8_t *entry = hs_reader_take(in, 2);
		if (!entry || entry[0] & LAST)
			return true;
	}
	return false;
}

int hs_label_prototype_open(const uint8_t *frame, size_t len, struct hs_label_stack *out)
{
	struct hs_reader in = hs_reader_over(frame, len);

	hs_reader_take(&in, HS_ETHER_TYPE);
	uint16_t type = hs_reader_be16(&in);
	if (type == HS_LABEL_PROTOTYPE_ROUTE) {
		if (!pass_route(&in))
			return -EBADMSG;
		type = hs_reader_be16(&in);
	}
	if (!in.failed && type != HS_LABEL_PROTOTYPE_INT)
		return -EBADMSG;
	const uint8_t *option = hs_reader_take(&in, HS_LABEL_OPTION_BYTES);
	if (!option)
		return -EMSGSIZE;
	*out = (struct hs_label_stack){
			.int_num = option[1],
			.specific = option[0] & SPECIFIC,
			.n_items = option[1],
	};
	out->items = hs_reader_take(&in, (size_t)HS_LABEL_ITEM_BYTES * out->n_items);
	return out->items ? 0 : -EMSGSIZE;
}
