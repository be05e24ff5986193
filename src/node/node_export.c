// SPDX-License-Identifier: BSD-3-Clause
// Telemetry reports that control sends.
#include "node.h"
#include "node_parts.h"

#include "export_outlet.h"

unsigned hs_node_send_exports(struct hs_node *node, unsigned receiver, unsigned n,
		hs_export_send_fn send, void *context)
{
	unsigned n_workers = node->config.n_workers;
	unsigned first = node->next_export_ring++ % n_workers;
	unsigned gone = 0;

	for (unsigned i = 0; i < n_workers && gone < n; i++) {
		struct hs_worker *worker = &node->seats[(first + i) % n_workers]->worker;
		gone += hs_exporter_send(worker->exporter, receiver, n - gone, send, context);
	}
	return gone;
}

unsigned hs_node_exports_waiting(const struct hs_node *node)
{
	unsigned waiting = 0;

	for (unsigned w = 0; w < node->config.n_workers; w++) {
		const struct hs_exporter *exporter = node->seats[w]->worker.exporter;
		waiting += exporter ? hs_exporter_waiting(exporter) : 0;
	}
	return waiting;
}
