# SPDX-License-Identifier: BSD-3-Clause
"""The members of published windows. A member that is in none of these lists is a finding.

Not judged besides those of NOT_JUDGED: raw reports (int_report), of which only the sink's times are
matched with packets; windows of other nodes than the sink; what INT says of ports, buffers and
congestion, which no window has; numbers of a hop that its path passes twice.

Where a number is judged roughly: percentiles of hop latency to a 64th ([24]), percentiles of delay in
windows of more than 1000 reports ([17]), utilisation to a thousandth and 1/10000. At a source with an
egress queue, no link sees when a packet came from its host: the packet's own ingress timestamp says it,
and the replay of the queue must give the departures that the link saw.
"""

OF_WINDOW = {"start_ns", "end_ns", "window_ns", "run", "reports", "stale", "path", "path_changed",
             "hops", "e2e", "flags", "ns_id", "node_id", "at_ns"}
OF_LINK = {"from", "to", "delay_ns", "pdv_ns", "jitter_ns", "tx_packets", "rx_packets", "lost_packets",
           "node_lost_packets", "rx_bytes", "span_start_ns", "span_end_ns", "throughput_bps",
           "window_throughput_bps", "loss_ratio", "unattributed_lost_packets"}
OF_NODE = {"hop_latency_ns", "queue_packets", "link_utilisation_ratio"}  # of INT

# Each with the reason.
NOT_JUDGED = {
    "seq": "counts messages, not packets",
    "boot_id": "names a start of a node",
    "app_id": "is the rule's",
    "age_ns": "is of stale windows, which repeat old numbers",
    "clock": "packets tell no kernel's state",
    "jitter_rfc3550_ns": "depends on the order in which workers drain their reports",
    "loss_reports": "counts entries that lack fields",
    "delay_reports": "counts entries that lack fields",
    "throughput_reports": "counts entries that lack fields",
}
