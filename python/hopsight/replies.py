# SPDX-License-Identifier: BSD-3-Clause
# tools/python_client.py writes this file from docs/schema.
"""The `ok` of each reply, and what is published."""

from typing import Any, Literal, NotRequired, TypedDict, Union


class WindowHopsDelayNs(TypedDict):
    """One-way delay; negative where clocks differ."""

    mean: NotRequired[int]
    min: NotRequired[int]
    p50: NotRequired[int]
    p99: NotRequired[int]
    p999: NotRequired[int]
    max: NotRequired[int]


class WindowHopsHopLatencyNs(TypedDict):
    """Time inside `from`, as it says."""

    mean: NotRequired[int]
    min: NotRequired[int]
    p50: NotRequired[int]
    p99: NotRequired[int]
    max: NotRequired[int]


class WindowHopsQueuePackets(TypedDict):
    """Packets in the queue of `from` to this link, as it says."""

    mean: NotRequired[float]
    max: NotRequired[int]


class WindowHopsLinkUtilisationRatio(TypedDict):
    """Share of the link's rate that `from` used, as it says."""

    mean: NotRequired[float]
    max: NotRequired[float]


WindowHops = TypedDict("WindowHops", {
    "from": NotRequired[int],
    "to": NotRequired[int],
    "throughput_bps": NotRequired[int],
    "window_throughput_bps": NotRequired[int],
    "delay_ns": NotRequired["WindowHopsDelayNs"],  # one-way delay; negative where clocks differ
    "loss_ratio": NotRequired[float],
    "pdv_ns": NotRequired[int],
    "jitter_ns": NotRequired[int],
    "jitter_rfc3550_ns": NotRequired[int],
    "lost_packets": NotRequired[int],
    "node_lost_packets": NotRequired[int],
    "tx_packets": NotRequired[int],
    "rx_packets": NotRequired[int],
    "rx_bytes": NotRequired[int],
    "span_start_ns": NotRequired[int],
    "span_end_ns": NotRequired[int],
    "loss_reports": NotRequired[int],
    "delay_reports": NotRequired[int],
    "throughput_reports": NotRequired[int],
    "hop_latency_ns": NotRequired["WindowHopsHopLatencyNs"],  # time inside `from`, as it says
    "queue_packets": NotRequired["WindowHopsQueuePackets"],  # packets in the queue of `from` to this link, as it says
    # share of the link's rate that `from` used, as it says
    "link_utilisation_ratio": NotRequired["WindowHopsLinkUtilisationRatio"],
})


class WindowE2eDelayNs(TypedDict):
    """One-way delay; negative where clocks differ."""

    mean: NotRequired[int]
    min: NotRequired[int]
    p50: NotRequired[int]
    p99: NotRequired[int]
    p999: NotRequired[int]
    max: NotRequired[int]


class WindowE2e(TypedDict):
    throughput_bps: NotRequired[int]
    window_throughput_bps: NotRequired[int]
    delay_ns: NotRequired["WindowE2eDelayNs"]  # one-way delay; negative where clocks differ
    loss_ratio: NotRequired[float]
    pdv_ns: NotRequired[int]
    jitter_ns: NotRequired[int]
    jitter_rfc3550_ns: NotRequired[int]
    lost_packets: NotRequired[int]
    tx_packets: NotRequired[int]
    rx_packets: NotRequired[int]
    rx_bytes: NotRequired[int]
    span_start_ns: NotRequired[int]
    span_end_ns: NotRequired[int]
    unattributed_lost_packets: NotRequired[int]


class WindowClock(TypedDict):
    synchronised: NotRequired[bool]
    error_ns: NotRequired[int]
    offset_ns: NotRequired[int]
    kernel_offset_ns: NotRequired[int]
    esterror_ns: NotRequired[int]
    maxerror_ns: NotRequired[int]
    status: NotRequired[int]


class Window(TypedDict):
    seq: NotRequired[int]  # counts this publisher's messages
    node_id: NotRequired[int]
    boot_id: NotRequired[str]
    ns_id: int
    app_id: int
    window_ns: int
    run: NotRequired[Literal[True]]  # the whole run of the flow
    start_ns: int
    end_ns: int
    reports: int
    stale: bool
    age_ns: NotRequired[int]
    path: NotRequired[list[int]]
    path_changed: bool
    hops: list["WindowHops"]
    e2e: "WindowE2e"
    flags: list[Literal["multipath", "rules_differ", "counter_ambiguous", "negative_delay", "epoch", "counts_missing", "clock_step", "bypassed", "entries_missing", "nodes_unknown"]]
    clock: "WindowClock"


WindowFlags = list[Literal["multipath", "rules_differ", "counter_ambiguous", "negative_delay", "epoch", "counts_missing", "clock_step", "bypassed", "entries_missing", "nodes_unknown"]]


class LoggedEvent(TypedDict):
    ts_ns: int  # when it happened
    kind: str  # a word for programs
    message: str  # what happened, in words
    ns_id: NotRequired[int]  # the rule
    shadowed_by: NotRequired[int]  # the rule that takes the packets
    packets: NotRequired[int]  # how many packets since the last such event
    mtu_needed_bytes: NotRequired[int]  # the MTU with which all telemetry would have fitted
    reports: NotRequired[int]  # how many reports
    signals: NotRequired[int]  # in-band requests and reports that were lost
    limit: NotRequired[int]  # the limit
    rules: NotRequired[int]  # how many rules
    limit_bytes: NotRequired[int]  # the limit
    bytes: NotRequired[int]  # what is used
    monitors_evicted: NotRequired[int]  # monitors that made room so far
    reports_refused: NotRequired[int]  # reports without a monitor so far
    errors: NotRequired[int]  # how many errors
    lines: NotRequired[int]  # lines of the file, or for databases
    refused: NotRequired[int]  # lines that were refused
    left_out: NotRequired[int]  # lines that were left out
    amount_ns: NotRequired[int]  # the size of the step
    old_offset_ns: NotRequired[int]  # the offset before the step
    new_offset_ns: NotRequired[int]  # the offset after the step
    steps: NotRequired[int]  # how many steps so far
    request_bytes: NotRequired[int]  # the length of the request
    requests: NotRequired[int]  # how many requests
    silent_ns: NotRequired[int]  # for how long nobody asked
    handshakes: NotRequired[int]  # how many handshakes failed
    connections: NotRequired[int]  # how many connections were refused
    keys: NotRequired[int]  # how many keys are allowed
    port: NotRequired[str]  # the port's name
    file: NotRequired[str]  # the file of the state
    set_aside: NotRequired[str]  # where the damaged file is now
    reason: NotRequired[str]  # why, in words
    action: NotRequired[str]  # what was done
    node: NotRequired[str]  # the node's name at a controller
    code: NotRequired[str]  # the code of the node's error
    peer: NotRequired[str]  # the address of the peer
    to: NotRequired[str]  # the receiver of telemetry reports
    public_key: NotRequired[str]  # the peer's key
    problem: NotRequired[str]  # what is wrong with a key
    node_id: NotRequired[int]  # the node's id
    port_id: NotRequired[int]  # the id of the port of a link
    peer_id: NotRequired[int]  # the id of the node at the other end of a link
    peer_port_id: NotRequired[int]  # the id of its port
    prefix: NotRequired[str]  # the destination of routes
    nodes: NotRequired[int]  # how many nodes
    nodes_without_way: NotRequired[int]  # from how many no way leads
    entries: NotRequired[int]  # entries of tables
    ports: NotRequired[int]  # how many ports
    intervals: NotRequired[int]  # how many intervals in a row
    flow: NotRequired[dict[str, Any]]  # at a collector: the flow, as in flow_get
    points: NotRequired[list[dict[str, Any]]]  # at a collector: values that changed together, as those of hop.<node_id>
    synchronised: NotRequired[bool]  # what the system says of its clock
    seq: int  # in the reply to events: counts events; published: messages


class RuleFieldsPackets(TypedDict):
    supported: NotRequired[bool]
    probability_percent: NotRequired[float]
    min_change: NotRequired[int]
    max_age_ms: NotRequired[int]


class RuleFieldsTimestamp(TypedDict):
    supported: NotRequired[bool]
    probability_percent: NotRequired[float]
    min_change: NotRequired[int]
    max_age_ms: NotRequired[int]


class RuleFieldsBytes(TypedDict):
    supported: NotRequired[bool]
    probability_percent: NotRequired[float]
    min_change: NotRequired[int]
    max_age_ms: NotRequired[int]


class RuleFields(TypedDict):
    """Which fields this node's entries have, in place of its telemetry.fields."""

    packets: NotRequired["RuleFieldsPackets"]
    timestamp: NotRequired["RuleFieldsTimestamp"]
    bytes: NotRequired["RuleFieldsBytes"]


class RuleOn1(TypedDict):
    path: str


class RuleOn2(TypedDict):
    nodes: list[str]


class RuleOn3(TypedDict):
    source: str


class Rule(TypedDict):
    """A rule in a reply."""

    ns_id: int  # names the rule: the namespace id that its telemetry carries
    app_id: NotRequired[int]  # groups the flows of one application
    src_ip: str  # source of the flow, not multicast; method flexint needs IPv6
    dst_ip: str  # destination of the flow, of the same version
    src_port: NotRequired[int]  # source port, 0 for any; 0 with icmp
    dst_port: NotRequired[int]  # destination port, 0 for any; 0 with icmp
    # protocol of the flow; icmp is ICMPv6, or ICMP between IPv4 addresses
    protocol: Literal["tcp", "udp", "icmp", "any"]
    # what to collect: the source's half in the upper 16 bits, the hops' in the lower; with method flexint
    trace_type: NotRequired[str]
    mode: Literal["count", "frequency", "probability"]  # which packets carry telemetry
    mode_setting: float  # count: every Nth packet; frequency: at most one in N milliseconds; probability: N percent
    in_band: NotRequired[bool]  # the source passes the rule on to the other nodes, in the flow's own packets
    transmit_report: NotRequired[bool]  # publish each raw report
    piggyback_report: NotRequired[bool]  # the sink sends reports back with packets of the reverse flow
    extract_report: NotRequired[bool]  # take such reports out of packets and publish them here
    hop_enabled: NotRequired[bool]  # this node adds its own data; it counts the flow in any case
    fields: NotRequired["RuleFields"]  # which fields this node's entries have, in place of its telemetry.fields
    owner: NotRequired[str]  # who writes the rule; a change without it removes the owner
    revision: NotRequired[int]  # the owner's number of this content
    method: NotRequired[Literal["flexint", "int", "label"]]  # the family of telemetry
    # what each node adds
    instructions: NotRequired[list[Literal["node_id", "ports", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp", "ports_l2", "link_utilisation", "buffer", "queue_congestion", "checksum_complement"]]]
    instruction_bitmap: NotRequired[str]  # the same, as the profile's version numbers it
    dscp: NotRequired[int]  # only packets of this class
    on: NotRequired[Union["RuleOn1", "RuleOn2", "RuleOn3"]]  # at a controller: where the rule belongs
    nodes: NotRequired[dict[str, str]]  # at a controller: the state of the rule at each node


class HelloReplyLimitsConnection(TypedDict):
    """Of each connection."""

    requests: int  # requests of a connection that are taken and not yet answered; the next one waits
    waiting_bytes: int  # bytes of requests of a connection that wait to be taken; beyond it nothing is read
    part_bytes: int  # what each part of a message counts beside its bytes, in waiting_bytes and subscription_bytes
    message_bytes: int  # bytes of a part of a message; a longer one closes the connection
    reply_bytes: int  # bytes of replies that a client has not taken; beyond it its requests wait
    subscriptions: int  # short subscriptions and cancellations on a connection; one more closes the connection
    # bytes of all subscriptions and cancellations on a connection; beyond it the connection is closed
    subscription_bytes: int
    queued_messages: int  # published messages that wait for a subscriber; further ones are lost to the subscriber
    connections: int  # connections that are open at once
    connections_of_one: int  # of these, those of one process, or of one host over tcp


class HelloReplyLimits(TypedDict):
    """Bounds of messages and tables."""

    message_bytes: int  # bytes of a message
    depth: int  # levels of a message
    commas: int  # commas of a message, outside strings
    string_bytes: int  # bytes of a string
    id_bytes: int  # bytes of an `id` that is a string
    transaction_verbs: int  # requests in a list; no list is longer
    questions: int  # requests in a list that changes nothing
    questions_beside_changes: int  # `int_get` in a list that changes something
    question_weight: int  # how many `int_get` any other question counts as there
    page: int  # entries of a page
    answer_bytes: int  # bytes of the entries of a page, and of the answers to a list that changes nothing
    answer_ns: int  # processor time of the answers to a list that changes nothing
    events: int  # newest events that `events` can tell
    rules: NotRequired[int]  # rules that fit at a node
    monitored_rules: int  # rules with metrics
    routes: NotRequired[int]  # routes that fit at a node that routes
    node_questions: NotRequired[int]  # at a controller: questions that are under way at a node
    gathered_bytes: NotRequired[int]  # at a controller: bytes of the nodes' answers to a question
    connection: "HelloReplyLimitsConnection"  # of each connection


class HelloReply(TypedDict):
    api_version: str  # of this API
    verbs: list[str]  # every verb that is answered here
    limits: "HelloReplyLimits"  # bounds of messages and tables
    version: str  # of the program
    node_id: NotRequired[int]  # of a node
    name: str  # of the node, controller or collector
    boot_id: str  # changes with every start
    controller: NotRequired[Literal[True]]  # this is a controller
    collector: NotRequired[Literal[True]]  # this is a collector
    features: list[str]  # what this program can do beside the verbs


class IntRequestReply(TypedDict):
    ns_id: int  # the rule
    shadowed_by: NotRequired[int]  # an older rule with the same 5-tuple, which takes packets
    nodes: NotRequired[int]  # at a controller: at how many nodes the rule is wanted
    no_port_of_method: NotRequired[Literal[True]]  # the node has network ports, and none of them has the rule's method
    not_told: NotRequired[list["NotToldReply"]]  # metrics that the trace type has no fields for
    # the MTU with which network ports have room for the telemetry of a whole path in a host's packet of full size
    mtu_needed_bytes: NotRequired[int]
    ports_below_mtu: NotRequired[list[str]]  # the network ports whose MTU is less


class IntUpdateReply(TypedDict):
    ns_id: int  # the rule
    rule: "Rule"  # the rule as it is in force


class IntDeleteReply(TypedDict):
    ns_id: int  # the rule


class IntListReplyShadowed(TypedDict):
    ns_id: int  # the rule
    shadowed_by: int  # the rule that takes the packets


class IntListReply(TypedDict):
    rules: list["Rule"]  # the rules of the page
    count: int  # how many rules there are
    in_band: NotRequired[list[int]]  # those of them that came in band
    config: NotRequired[list[int]]  # those of them that the configuration asks for
    state: NotRequired[list[int]]  # those of them that an earlier run kept in the file of the state
    shadowed: NotRequired[list["IntListReplyShadowed"]]  # those of them whose packets another rule takes
    next: NotRequired[int]  # the offset of the next page


class NodesIntGetReplyErrors(TypedDict):
    code: str  # as in errors of the node
    message: str  # in words


class NodesIntGetReply(TypedDict):
    errors: NotRequired[dict[str, "NodesIntGetReplyErrors"]]  # of nodes that answered with an error, by name
    unreachable: NotRequired[list[str]]  # names of nodes that did not answer
    ok: NotRequired[bool]  # of an audit: whether everything adds up at all nodes
    nodes: dict[str, "IntGetReply"]  # the nodes' answers, by name


class IntGetReplyCounters(TypedDict):
    """What was counted of the rule."""

    rx_packets: int  # Packets of the flow received
    rx_bytes: int  # Bytes of the flow received, telemetry not counted
    tx_packets: int  # Packets of the flow sent
    tx_bytes: int  # Bytes of the flow sent, telemetry not counted
    int_packets: int  # Packets that were given telemetry here
    hop_entries: int  # Packets that were given this node's entry
    sink_packets: int  # Packets whose telemetry was taken out here
    reports_made: int  # Reports made of the flow
    reports_lost: int  # Reports lost: a worker's ring had no place, or the INT was longer than a record
    no_room_mtu: int  # Telemetry left out: the port's MTU
    no_room_headroom: int  # Telemetry left out: no room in the buffer
    no_room_option: int  # Telemetry left out: the option is full
    shadowed_packets: int  # Packets with telemetry of the rule that another rule takes here
    mtu_needed_bytes: int  # The MTU with which all telemetry would have fitted; 0: it did
    last_int_tx_ns: int  # When a packet was last given telemetry here; 0: never


class IntGetReplyState(TypedDict):
    """Where the rule comes from and how it fares."""

    monitored: bool  # this node computes the rule's metrics
    origin: Literal["api", "config", "in_band", "state"]  # who asked for the rule
    monitor_refused: NotRequired[Literal[True]]  # there are more rules with reports than monitors
    shadowed_by: NotRequired[int]  # the rule that takes this rule's packets
    request_sent: NotRequired[int]  # how often the request left this node in band
    last_request_tx_ns: NotRequired[int]  # when it left last
    request_waits: NotRequired[bool]  # it waits for a packet that can carry it
    next_request_ns: NotRequired[int]  # when it is due again
    expires_ns: NotRequired[int]  # when a rule that came in band ends
    own: NotRequired[dict[str, Any]]  # of a rule that came in band: what this node's API gave instead
    in_band: NotRequired[dict[str, Any]]  # of the same fields: what came in band
    reports_waiting: NotRequired[int]  # reports that wait for packets of the reverse flow
    # the MTU with which network ports have room for the telemetry of a whole path in a host's packet of full size
    mtu_needed_bytes: NotRequired[int]
    ports_below_mtu: NotRequired[list[str]]  # the network ports whose MTU is less


class IntGetReply(TypedDict):
    rule: "Rule"  # the rule as it is in force
    counters: "IntGetReplyCounters"  # what was counted of the rule
    state: "IntGetReplyState"  # where the rule comes from and how it fares


class QosGetReply(TypedDict):
    qos: NotRequired[list["Window"]]  # the newest windows
    applications: NotRequired[list["ApplicationReply"]]  # of a question with app_id: the application
    next: NotRequired[int]  # the offset of the next page


class RouteAddReply(TypedDict):
    prefix: str  # destinations


class RouteDeleteReply(TypedDict):
    prefix: str  # destinations


class RouteListReplyRoutes(TypedDict):
    prefix: str  # destinations
    port: str  # the port's name
    next_hop_mac: str  # whom packets are sent to
    via: NotRequired[str]  # the neighbour that the route follows
    neighbour: NotRequired[Literal[True]]  # the route to a neighbour


class RouteListReply(TypedDict):
    routes: list["RouteListReplyRoutes"]  # the routes of the page
    count: int  # how many there are
    next: NotRequired[int]  # the offset of the next page


class NeighbourAddReply(TypedDict):
    addr: str  # the neighbour


class NeighbourDeleteReply(TypedDict):
    addr: str  # the neighbour


class NeighbourListReplyNeighbours(TypedDict):
    addr: str  # the neighbour
    port: str  # the port's name
    mac: str  # its MAC address
    routes: int  # routes via this neighbour


class NeighbourListReply(TypedDict):
    neighbours: list["NeighbourListReplyNeighbours"]  # the neighbours of the page
    count: int  # how many there are
    next: NotRequired[int]  # the offset of the next page


class NodeGetReply1Sandbox(TypedDict):
    """What the process has given up."""

    enabled: bool  # as it is configured
    filtered: bool  # system calls are filtered
    capabilities: list[str]  # what the process may still do


class NodeGetReply1Clock(TypedDict):
    """The node's clock."""

    synchronised: NotRequired[bool]  # 1 where the system says that its clock is synchronised
    error_ns: int  # Largest error of the clock, as the system estimates it
    offset_ns: int  # The node's clock minus the system's at the last correction
    steps: int  # Steps made because the system's clock had jumped
    kernel_offset_ns: int  # What the kernel has still to slew of its clock (adjtimex)
    esterror_ns: int  # Estimated error of the kernel's clock (adjtimex)
    maxerror_ns: int  # Largest error of the kernel's clock (adjtimex)
    status: int  # State of the kernel's clock (adjtimex): 64 is not synchronised


class NodeGetReply1Workers(TypedDict):
    worker: int  # the worker's number
    ports: list[str]  # the ports that it receives from
    rounds: int  # Rounds over the worker's queues
    idle_rounds: int  # Rounds that found nothing
    rx_packets: int  # Packets that the worker took
    reports_made: int  # Reports that the worker made
    reports_lost: int  # Reports lost: the worker's ring had no place, or the INT was longer than a record
    reports_helped: int  # Reports that the worker added up for the monitor: workers_help_monitor
    signals_made: int  # In-band requests and reports of packets that the worker handed up
    signals_lost: int  # Those lost because the worker's ring was full
    exports_sent: int  # Telemetry reports that the worker sent to collectors by a port
    exports_lost_no_mbuf: int  # Those lost because there was no buffer
    exports_lost_tx_full: int  # Those lost because the transmit queue of the port was full
    exports_lost_port_down: int  # Those lost because the port was gone, or its link was down
    exports_handed: int  # Telemetry reports that the worker handed to control, which sends them
    exports_lost_ring_full: int  # Those lost because the worker's ring to control was full
    exports_over_quota: int  # Those not made because quota_per_s was used up
    exports_unchanged: int  # Packets not reported because nothing changed since the report before


class NodeGetReply1(TypedDict):
    id: int  # the node's id; 0 without one
    name: str  # the node's name
    boot_id: str  # changes with every start
    version: str  # of the program
    forwarding: Literal["patch", "bridge", "route"]  # how the node forwards
    dpdk: NotRequired[str]  # the version of DPDK
    worker_cores: NotRequired[Any]  # the core of each worker
    polling: NotRequired[Any]  # as it is configured
    worker_scheduling: NotRequired[Any]  # as it is configured
    cpu_latency_us: NotRequired[Any]  # as it is configured
    workers_help_monitor: NotRequired[Any]  # as it is configured
    control_core: NotRequired[int]  # the core of the control thread
    memory: NotRequired[Any]  # as it is configured
    profiles: NotRequired[Any]  # as it is configured
    export: NotRequired[Any]  # as it is configured
    telemetry: NotRequired[Any]  # as it is configured
    state: NotRequired[Any]  # as it is configured
    bind: NotRequired[list[str]]  # where requests are answered
    publish_to: NotRequired[list[str]]  # the controllers to publish to
    publish_bind: NotRequired[list[str]]  # where listeners connect
    pairs: NotRequired[list[list[str]]]  # the ports of each pair
    sandbox: NotRequired["NodeGetReply1Sandbox"]  # what the process has given up
    uptime_ns: int  # Time since the node started
    generation: int  # Changes of the rules so far
    rules: int  # Rules installed
    rules_capacity: int  # Rules that fit
    rules_monitored: int  # Rules with a monitor, because reports came
    rules_unmonitored: int  # Rules with reports but without a monitor: over the limit
    monitor_bytes: int  # Memory of all monitors, each at its share at least
    monitors_evicted: int  # Monitors of unusual size that made room: memory.monitor_mib
    monitor_reports_refused: int  # Reports of rules that memory.monitor_mib leaves no monitor for
    routes: int  # Routes, those to neighbours among them
    routes_capacity: int  # Routes that fit, 0 where the node does not route
    neighbours: int  # Neighbours, each with a route to itself
    reports_made: int  # Reports that workers made
    reports_lost: int  # Reports lost: a worker's ring had no place, or the INT was longer than a record
    reports_helped: int  # Reports that workers added up for the monitor: workers_help_monitor
    reports_taken: int  # Reports that control took off the rings
    reports_published: int  # Reports published
    reports_publish_lost: int  # Reports that a subscriber missed
    reports_suppressed: int  # Reports of rules that do not transmit them
    reports_bad: int  # Reports that could not be decoded
    reports_stale: int  # Reports of rules removed since
    reports_old_time: int  # Reports that no window has: stamped before the clock stepped, taken after it
    windows_published: int  # Windows of metrics published
    windows_publish_lost: int  # Windows that a subscriber missed
    requests_in_band_sent: int  # Requests that packets carried from here
    requests_in_band_received: int  # Requests that packets brought
    requests_in_band_installed: int  # Those that made or changed a rule
    requests_in_band_refreshed: int  # Those that asked for a rule as it is
    requests_in_band_refused: int  # Those that the node is not to take, by its policy or its own rules
    requests_in_band_bad: int  # Those that could not be read, are no rule, or are not signed with the key
    requests_in_band_replayed: int  # Signed ones that are no newer than the last, or too old
    requests_in_band_limited: int  # Those for new rules that were more than one port may bring in a second
    # Rules that came in band and made room for others before a packet of their flow came
    requests_in_band_displaced: int
    requests_in_band_expired: int  # Rules removed because nobody asked for them again
    requests_in_band_unknown_keys: int  # Members of requests that the node does not know, dropped
    rules_in_band: int  # Rules that came in band
    reports_piggyback_queued: int  # Reports that are to go back with packets of the reverse flow
    reports_piggyback_sent: int  # Those that a packet took
    reports_piggyback_lost: int  # Those that made room for newer ones, or whose rule went
    reports_piggyback_waiting: int  # Those that wait for a packet
    reports_piggyback_received: int  # Reports that packets brought back
    reports_piggyback_bad: int  # Options with parts of reports that could not be read
    # Reports brought back and not measured: there is no such rule, the flow ends here, or the sink's clock is 10 s ahead
    reports_piggyback_unmonitored: int
    reports_piggyback_publish_lost: int  # Reports brought back that a subscriber missed
    signals_taken: int  # In-band requests and reports that control took off the rings
    signals_lost: int  # Those lost because a worker's ring was full
    exports_sent: int  # Telemetry reports sent to collectors
    exports_lost_no_mbuf: int  # Those lost because there was no buffer
    exports_lost_tx_full: int  # Those lost because the transmit queue of the port was full
    exports_lost_port_down: int  # Those lost because the port was gone, or its link was down
    exports_handed: int  # Telemetry reports that workers handed to control, which sends them
    exports_lost_ring_full: int  # Those lost because a worker's ring to control was full
    # Those lost because the receiver's host had refused one before: no program has the UDP port
    exports_lost_refused: int
    exports_lost_unreachable: int  # Those lost because there was no way to the receiver
    exports_lost_socket: int  # Those lost because the socket refused them for another reason
    exports_socket_full: int  # How often a socket had no room, so that reports waited
    exports_over_quota: int  # Those not made because quota_per_s was used up
    exports_unchanged: int  # Packets not reported because nothing changed since the report before
    probes_held: int  # Copies of source-routed probes that wait for feedback
    influx_lines_made: int  # Lines made for databases
    influx_lines_written: int  # Lines that databases took
    influx_lines_queue_full: int  # Lines lost because the queue was full
    influx_lines_refused: int  # Lines lost because the database refused them
    influx_lines_shutdown: int  # Lines lost because the process ended
    influx_lines_waiting: int  # Lines that wait for databases
    influx_requests: int  # Requests to databases
    influx_failures: int  # Those without an answer, or that the database could not take then; they are repeated
    influx_refusals: int  # Those that the database refused, in whole or in part
    events: int  # Events so far
    events_publish_lost: int  # Events that a subscriber missed
    requests: int  # Requests received
    requests_malformed: int  # Requests without a way back
    requests_refused: int  # Requests of a key that is allowed no longer
    replies_lost: int  # Replies whose client had gone
    connections: int  # Connections made
    disconnections: int  # Connections that ended
    handshakes_failed: int  # Connections whose handshake failed
    connections_refused: int  # Connections that found no place or no descriptor
    connections_closed: int  # Connections ended here because they cost more than one may
    state_lines: int  # Lines of the file of the state: changes and lists of them
    state_bytes: int  # Size of the file of the state
    state_errors: int  # Changes refused, and snapshots given up, because they could not be written
    # the MTU with which network ports have room for the telemetry of a whole path in a host's packet of full size
    mtu_needed_bytes: NotRequired[int]
    ports_below_mtu: NotRequired[list[str]]  # the network ports whose MTU is less
    monitored_rules: int  # rules that may have a monitor
    clock: "NodeGetReply1Clock"  # the node's clock
    workers: list["NodeGetReply1Workers"]  # each worker with its counters


class NodeGetReply2Monitor(TypedDict):
    """What the controller took from publishers."""

    messages: int  # messages of nodes
    messages_missed: int  # messages that did not come
    messages_bad: int  # messages that made no sense
    messages_too_large: int  # messages that were too long
    messages_of_unknown_nodes: int  # messages of nodes that the configuration does not have
    reports: int  # raw reports
    windows: int  # windows of metrics
    windows_not_kept: int  # windows without room
    reports_refused: int  # reports without a monitor
    reports_ahead: int  # reports of the future
    reports_of_unknown_format: int  # reports whose method or version is unknown, or not the rule's
    flows_replaced: int  # flows that gave way to others
    flows: int  # flows with metrics


class NodeGetReply2Influx(TypedDict):
    """Lines for databases."""

    made: int  # lines made for databases
    written: int  # lines that databases took
    queue_full: int  # lines lost because a queue was full
    refused: int  # lines lost because the database refused them
    shutdown: int  # lines lost because the process ended
    waiting: int  # lines that wait for databases
    waiting_bytes: int  # their bytes
    requests: int  # requests to databases
    failures: int  # requests that are repeated: no answer, or the database was busy
    refusals: int  # requests that were refused, in whole or in part


class NodeGetReply2Nodes(TypedDict):
    name: str  # the node's name here
    node_id: int  # the node's id
    api: str  # where the node answers
    reachable: bool  # whether the node answers
    boot_id: NotRequired[str]  # of the node's process
    last_seen_ns: NotRequired[int]  # when the node last answered
    key_refused: NotRequired[Literal[True]]  # the node does not allow our key
    down_ns: NotRequired[int]  # for how long the node has not answered
    rules_wanted: int  # rules that belong to the node
    rules_present: int  # rules that are there
    rules_conflicting: int  # rules whose place another rule has
    rules_refused: int  # rules that the node refused
    rules_removing: int  # rules to be removed
    rules_in_band: int  # wanted rules that came in band
    rules_foreign: int  # rules that nobody here asked for
    calls_under_way: int  # requests without an answer so far
    requests: int  # requests sent
    timeouts: int  # how often the node did not answer in time
    replies_bad: int  # answers that made no sense
    restarts: int  # restarts of the node that were seen
    audits: int  # how often its rules were read
    repairs: int  # changes that brought its rules up to date
    published: int  # messages of the node that came
    publish_missed: int  # messages of the node that did not come


class NodeGetReply2(TypedDict):
    controller: str  # the controller's name
    boot_id: str  # changes with every start
    version: str  # of the program
    uptime_ns: int  # since the process began
    reachable: int  # how many nodes answer
    rules: int  # how many rules are wanted
    publish_lost: int  # messages that no listener took in time
    monitor: "NodeGetReply2Monitor"  # what the controller took from publishers
    influx: NotRequired["NodeGetReply2Influx"]  # lines for databases
    nodes: list["NodeGetReply2Nodes"]  # each node


class NodeGetReply3(TypedDict):
    collector: str  # the collector's name
    boot_id: str  # changes with every start
    version: str  # of the program
    uptime_ns: int  # since the process began
    publish_bind: list[str]  # where listeners may subscribe
    settings: Any  # the configuration in force


NodeGetReply = Union["NodeGetReply1", "NodeGetReply2", "NodeGetReply3"]


class NodesPortsGetReplyErrors(TypedDict):
    code: str  # as in errors of the node
    message: str  # in words


class NodesPortsGetReply(TypedDict):
    errors: NotRequired[dict[str, "NodesPortsGetReplyErrors"]]  # of nodes that answered with an error, by name
    unreachable: NotRequired[list[str]]  # names of nodes that did not answer
    ok: NotRequired[bool]  # of an audit: whether everything adds up at all nodes
    nodes: dict[str, "PortsGetReply"]  # the nodes' answers, by name


class PortsGetReply1PortsDrops(TypedDict):
    """Packets that went no further, by reason."""

    no_route: int  # no port to forward to
    not_ipv6: int  # neither IPv6 nor IPv4, which is all that a router takes
    bad_header: int  # an IPv4 header with wrong lengths or a wrong checksum
    vlan_tagged: int  # a router takes no VLAN tags
    other_mac: int  # addressed to another station than the router's port
    not_routable: int  # group, link-local, loopback or no address, which no router passes on
    hop_limit: int  # the hop limit, or the TTL of IPv4, ends here
    same_port: int  # the destination is behind the port it came from
    port_down: int  # the port to send on is gone, or its link is down
    queue_full: int  # the port's egress queue had no place: it sends no faster than its rate_bps
    tx_full: int  # the port's transmit queue was full
    port_tx_error: int  # accepted by the device, then not sent
    no_mbuf: int  # no buffer for a copy
    host_telemetry: int  # a host sent telemetry options and the policy is to drop
    hidden_headers: int  # headers at a host port that telemetry could hide behind
    unreadable: int  # headers split over buffers that could not be joined
    unstrippable: int  # telemetry could not be taken out before a host port
    discarded: int  # the telemetry says that the packet ends at the sink: a probe or a replica
    probe_confirmed: int  # feedback for a probe that this node sent: it ends here, as it should
    probe_stray: int  # feedback for no probe that waits here
    probe_malformed: int  # a packet of probes whose numbers, lengths or checksums are wrong
    probe_rate: int  # a packet of probes above the rate that the profile allows a port
    probe_no_port: int  # the next port of a probe is no network port with probes
    probe_too_long: int  # a probe that would exceed the next port's MTU, or its buffer, with what it asks for
    # a labelled packet's fragment, of which the packet was put together: it ends here, as it should
    fragment_joined: int
    fragment_expired: int  # a labelled packet's fragment: the others did not come in time
    fragment_bad: int  # fragments of a labelled packet that do not fit together, come twice or are too many
    fragment_no_place: int  # a labelled packet's fragment, while as many wait as may
    not_linear: int  # a chain too long to be made linear for a port that takes none


class PortsGetReply1PortsEvents(TypedDict):
    """What happened to packets that went on."""

    malformed: int  # headers do not fit what encloses them; forwarded as it came
    host_telemetry_stripped: int  # a host sent telemetry options; taken out, never believed
    unknown_namespace: int  # telemetry of a namespace that no rule here has
    shadowed_namespace: int  # telemetry of a rule here, in packets that another rule takes
    other_flow: int  # telemetry of a rule here, in packets that this rule does not match
    stripped: int  # telemetry taken out before a host port
    bad_telemetry: int  # telemetry options that are not well formed
    bad_telemetry_passed: int  # telemetry that is not well formed; passed a host port as it came, by policy
    no_room_mtu: int  # telemetry left out: the port's MTU
    no_room_headroom: int  # telemetry left out: no room in the buffer
    no_room_option: int  # telemetry left out: the option is full
    hops_full: int  # telemetry left out: as many nodes as may have added theirs
    not_changeable: int  # telemetry left out: the buffer is shared or its headers are split
    flooded: int  # sent to all ports: destination unknown, broadcast or multicast
    routed_back: int  # the route leads out of the port it came in on; sent there
    mss_clamped: int  # MSS of a TCP connection lowered, so that telemetry fits
    # MSS of a TCP connection not lowered: the buffer is shared and there is no other, or its headers are split
    mss_not_clamped: int
    labelled_interval: int  # INT-label: labelled by this port, its last label was more than the interval ago
    labelled_chance: int  # INT-label: labelled by this port before that, by chance
    labelled_flow: int  # INT-label: labelled by this port before that, a packet of a specific flow
    unlabelled_mtu: int  # INT-label: not labelled, the packet would exceed this port's MTU
    # INT-label: not labelled, no IP packet that takes an item: a fragment, headers that are not understood
    unlabelled_carrier: int
    unlabelled_foreign: int  # INT-label: not labelled, the packet claims INT-label and is not well formed
    unlabelled_full: int  # INT-label: not labelled, the packet has as many items as it may have
    unlabelled_room: int  # INT-label: not labelled, no room in the buffer, or others hold it, or a length field ends
    unlabelled_claim: int  # INT-label: not labelled, another worker labelled a packet of this port meanwhile
    fragments: int  # INT-label: a fragment of a labelled packet, where its items end
    reassembled: int  # INT-label: a packet put together of its fragments, to take its items out
    probe_filled: int  # probes: this node added its values
    probe_answered: int  # probes: feedback made for the node before this one
    probe_unanswered: int  # probes: no feedback made, there was no buffer
    probe_bad_range: int  # probes: the range is not in the register, no values added
    probe_looped: int  # probes: the same request with other entries came before, its path visits this node again
    probe_repeated: int  # probes: the same probe came before; no feedback, no copy held
    probe_held: int  # probes: a copy held until feedback comes
    probe_not_held: int  # probes: no copy held, as many are held as may be, or there was no buffer
    probe_recovered: int  # probes: no feedback came by this port in time, a recovery packet made
    over_mtu: int  # larger than the port's MTU; sent all the same


class PortsGetReply1Ports(TypedDict):
    name: str  # the port's name
    index: int  # the port's number in counters and masks
    side: Literal["host", "network"]  # what the port leads to
    driver: str  # DPDK's driver
    device: NotRequired[str]  # what the port is made of, as the configuration names it
    profile: NotRequired[str]  # the name of the port's profile, if it has one
    method: NotRequired[str]  # the profile's method
    version: NotRequired[str]  # of method int: the version
    mode: NotRequired[str]  # of method int: what packets carry
    carrier: NotRequired[str]  # of method int: where INT is in a packet
    # of method int: what a rule may ask the version for
    instructions: NotRequired[list[Literal["node_id", "ports", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp", "ports_l2", "link_utilisation", "buffer", "queue_congestion", "checksum_complement"]]]
    id: int  # the port's number in INT
    mac: str  # the MAC address of its interface or device
    rate_bps: NotRequired[int]  # the rate of the port's egress queue, if it has one
    queue_packets: NotRequired[int]  # how many packets may wait in the egress queue
    # of a network port: the MTU with which every field of a whole path fits a host's packet of full size
    mtu_needed_bytes: NotRequired[int]
    link_up: bool  # 1 while the link is up
    usable: bool  # 0 while the device is gone
    mtu: int  # The node's limit for IPv6 packets
    rx_packets: int  # Packets received
    rx_bytes: int  # Bytes received
    tx_packets: int  # Packets sent
    tx_bytes: int  # Bytes sent
    rx_missed: int  # Packets lost before the node could take them
    rx_errors: int  # Packets the device lost on receiving: too long or broken
    tx_errors: int  # Packets the device took and then did not send
    copies: int  # Copies made of flooded packets that came in here, and packets made by the node
    forwarded: int  # Packets handed to some port's transmission
    offered: int  # Packets handed to this port's transmission
    queued: int  # Packets in this port's egress queue now, and fragments of labelled packets that wait
    depth_max: int  # The greatest depth that a packet found in the egress queue
    drops: "PortsGetReply1PortsDrops"  # packets that went no further, by reason
    events: "PortsGetReply1PortsEvents"  # what happened to packets that went on


class PortsGetReply1(TypedDict):
    ports: list["PortsGetReply1Ports"]  # each port with its counters; stats_get explains them


class PortsGetReply2Ports(TypedDict):
    name: str  # of a port, or a socket's address
    driver: NotRequired[str]  # that receives packets
    device: NotRequired[str]  # interface, devargs or PCI address
    udp_port: int  # where reports come
    link_up: NotRequired[bool]  # whether the link is up
    usable: NotRequired[bool]  # false while the device is gone
    rx_packets: NotRequired[int]  # that the device received
    rx_missed: NotRequired[int]  # that were lost because the device's ring was full
    rx_errors: NotRequired[int]  # too long or broken
    buffer_kib: NotRequired[int]  # what the kernel may hold
    lost: NotRequired[int]  # datagrams that the kernel dropped


class PortsGetReply2(TypedDict):
    ports: list["PortsGetReply2Ports"]  # each way in for reports


PortsGetReply = Union["PortsGetReply1", "PortsGetReply2"]


class NodesStatsGetReplyErrors(TypedDict):
    code: str  # as in errors of the node
    message: str  # in words


class NodesStatsGetReply(TypedDict):
    errors: NotRequired[dict[str, "NodesStatsGetReplyErrors"]]  # of nodes that answered with an error, by name
    unreachable: NotRequired[list[str]]  # names of nodes that did not answer
    ok: NotRequired[bool]  # of an audit: whether everything adds up at all nodes
    nodes: dict[str, "StatsGetReply"]  # the nodes' answers, by name


class StatsGetReply1Stats(TypedDict):
    name: str  # as other programs know it
    kind: Literal["counter", "gauge"]  # whether the number only grows
    unit: str  # packets, bytes, seconds, ...
    help: str  # what the number means
    value: float  # the number now; times in seconds
    port: NotRequired[str]  # of this port
    reason: NotRequired[str]  # of a drop
    event: NotRequired[str]  # of packets that went on
    worker: NotRequired[str]  # of this worker


class StatsGetReply1(TypedDict):
    stats: list["StatsGetReply1Stats"]  # each counter and gauge


class StatsGetReply2Stats(TypedDict):
    name: str  # as other programs know it
    kind: Literal["counter", "gauge"]  # whether the number only grows
    help: str  # what the number means
    value: int  # the number now
    reason: NotRequired[str]  # why something was refused
    point: NotRequired[str]  # of points of this kind
    cause: NotRequired[str]  # why points were told
    frame: NotRequired[str]  # what a frame was
    listener: NotRequired[str]  # an entry of listen


class StatsGetReply2(TypedDict):
    stats: list["StatsGetReply2Stats"]  # each counter and gauge


StatsGetReply = Union["StatsGetReply1", "StatsGetReply2"]


class NodesDropsGetReplyErrors(TypedDict):
    code: str  # as in errors of the node
    message: str  # in words


class NodesDropsGetReply(TypedDict):
    errors: NotRequired[dict[str, "NodesDropsGetReplyErrors"]]  # of nodes that answered with an error, by name
    unreachable: NotRequired[list[str]]  # names of nodes that did not answer
    ok: NotRequired[bool]  # of an audit: whether everything adds up at all nodes
    nodes: dict[str, "DropsGetReply"]  # the nodes' answers, by name


class DropsGetReply1Drops(TypedDict):
    port: str  # the port that counts the drop
    reason: str  # a word for scripts
    text: str  # the reason as a sentence
    packets: int  # how many so far


class DropsGetReply1Ports(TypedDict):
    name: str  # the port's name
    rx_missed: int  # packets lost before the node could take them
    rx_errors: int  # packets that could not be received


class DropsGetReply1(TypedDict):
    drops: list["DropsGetReply1Drops"]  # each port and reason with dropped packets
    ports: list["DropsGetReply1Ports"]  # what ended at each port before the node could count it as received


class DropsGetReply2Drops(TypedDict):
    node_id: NotRequired[int]  # the node that dropped packets; left out where it did not say its id
    reason_id: int  # as the node numbers it
    reports: int  # reports of such drops so far
    first_ns: int  # when the first of them came
    last_ns: int  # when the newest of them came
    reason: NotRequired[str]  # a word for scripts, where p4lang/switch has the number
    text: NotRequired[str]  # the reason as a sentence


class DropsGetReply2(TypedDict):
    drops: list["DropsGetReply2Drops"]  # nodes and reasons that reports of drops told of
    next: NotRequired[int]  # the offset of the next page


DropsGetReply = Union["DropsGetReply1", "DropsGetReply2"]


class EventsReply(TypedDict):
    events: list["LoggedEvent"]  # events, the oldest first
    lost: int  # events that are gone: their numbers are too old
    next: int  # the `since` of the next question
    more: NotRequired[Literal[True]]  # there are further events


class NodesAuditReplyErrors(TypedDict):
    code: str  # as in errors of the node
    message: str  # in words


class NodesAuditReply(TypedDict):
    errors: NotRequired[dict[str, "NodesAuditReplyErrors"]]  # of nodes that answered with an error, by name
    unreachable: NotRequired[list[str]]  # names of nodes that did not answer
    ok: NotRequired[bool]  # of an audit: whether everything adds up at all nodes
    nodes: dict[str, "AuditReply"]  # the nodes' answers, by name


class AuditReply1Equations(TypedDict):
    name: str  # a word for scripts
    text: str  # the equation
    ok: bool  # whether both sides are equal
    left: int  # the value of the left side
    right: int  # the value of the right side
    terms: dict[str, int]  # the value of each term
    port: NotRequired[str]  # of an equation of one port


class AuditReply1PortsDevice(TypedDict):
    """What DPDK's driver counted."""

    rx_packets: int  # packets received
    tx_packets: int  # packets sent
    rx_missed: int  # packets lost before the node could take them
    rx_errors: int  # packets that could not be received
    tx_errors: int  # packets that could not be sent
    rx_nombuf: int  # packets without a buffer


class AuditReply1PortsKernel(TypedDict):
    """What the kernel counted at the interface."""

    rx_packets: int  # packets received
    tx_packets: int  # packets sent
    rx_bytes: int  # bytes received
    tx_bytes: int  # bytes sent
    rx_dropped: int  # packets dropped when they were received
    tx_dropped: int  # packets dropped before they were sent
    rx_errors: int  # packets that could not be received
    tx_errors: int  # packets that could not be sent


class AuditReply1Ports(TypedDict):
    name: str  # the port's name
    rx_packets: int  # received by the node
    tx_packets: int  # sent by the node
    device: "AuditReply1PortsDevice"  # what DPDK's driver counted
    kernel: NotRequired["AuditReply1PortsKernel"]  # what the kernel counted at the interface


class AuditReply1(TypedDict):
    ok: bool  # whether all equations hold
    node_id: int  # the node's id
    name: str  # the node's name
    equations: list["AuditReply1Equations"]  # what must add up
    ports: list["AuditReply1Ports"]  # counters of others, to compare with


class AuditReply2Equations(TypedDict):
    name: str  # a word for scripts
    text: str  # the equation
    ok: bool  # whether both sides are equal
    left: int  # the value of the left side
    right: int  # the value of the right side
    terms: dict[str, int]  # the value of each term
    port: NotRequired[str]  # of an equation of one port


class AuditReply2(TypedDict):
    ok: bool  # whether all of it adds up
    equations: list["AuditReply2Equations"]  # each equation


AuditReply = Union["AuditReply1", "AuditReply2"]


class NodesExplainReplyErrors(TypedDict):
    code: str  # as in errors of the node
    message: str  # in words


class NodesExplainReply(TypedDict):
    errors: NotRequired[dict[str, "NodesExplainReplyErrors"]]  # of nodes that answered with an error, by name
    unreachable: NotRequired[list[str]]  # names of nodes that did not answer
    ok: NotRequired[bool]  # of an audit: whether everything adds up at all nodes
    nodes: dict[str, "ExplainReply"]  # the nodes' answers, by name


class ExplainReplyReasons(TypedDict):
    reason: str  # a word for scripts
    text: str  # the reason as a sentence
    port: NotRequired[str]  # the port that the reason is about
    packets: NotRequired[int]  # how many packets it concerned
    ns_id: NotRequired[int]  # the other rule
    mtu_needed_bytes: NotRequired[int]  # the MTU that would be enough


class ExplainReply(TypedDict):
    ns_id: int  # the rule
    node_id: int  # the node's id
    name: str  # the node's name
    source: bool  # packets were given telemetry here
    transit: bool  # packets were given this node's entry
    sink: bool  # telemetry was taken out here
    measured: bool  # this node computes the rule's metrics
    packets: int  # packets of the flow that came here
    reports: int  # reports made here
    reasons: list["ExplainReplyReasons"]  # what keeps the rule from measuring here, or from measuring all


class NodesLabelSetReplyErrors(TypedDict):
    code: str  # as in errors of the node
    message: str  # in words


class NodesLabelSetReply(TypedDict):
    errors: NotRequired[dict[str, "NodesLabelSetReplyErrors"]]  # of nodes that answered with an error, by name
    unreachable: NotRequired[list[str]]  # names of nodes that did not answer
    ok: NotRequired[bool]  # of an audit: whether everything adds up at all nodes
    nodes: dict[str, "LabelSetReply"]  # the nodes' answers, by name


class LabelSetReplyPorts(TypedDict):
    id: int  # the port's number in items
    shift: int  # S: the port's interval is divided by two as often


class LabelSetReply(TypedDict):
    ports: list["LabelSetReplyPorts"]  # the ports as they are now


class LabelGetReply1Ports(TypedDict):
    name: str  # the port's name
    id: int  # the port's number in items
    shift: int  # S: the interval in force is interval_ns / 2^S
    interval_ns: int  # T: how long after a label the port labels the next packet
    rest_ns: int  # T1: how long after a label no packet is labelled by chance
    ip_protocol: int  # the IPv4 protocol of labelled packets
    max_hops: int  # the most items of an ordinary packet
    labels_by_interval: int  # packets labelled because the interval was over
    labels_by_chance: int  # packets labelled before that, because they had items
    labels_by_flow: int  # packets labelled before that, of specific flows
    unlabelled_mtu: int  # packets to label that would exceed the port's MTU
    unlabelled_carrier: int  # packets to label that take no item: fragments, and what is not IP
    unlabelled_foreign: int  # packets to label that claim INT-label and are not well formed
    unlabelled_full: int  # packets to label that have all items they may have
    unlabelled_room: int  # packets to label whose buffer has no room
    unlabelled_claim: int  # packets to label that another worker was faster than


class LabelGetReply1(TypedDict):
    ports: list["LabelGetReply1Ports"]  # each port that labels


class LabelGetReply2PortsSeries(TypedDict):
    age_ns: int  # since the item came
    latency_ns: NotRequired[int]  # how long its packet was in the node; left out if its times run backwards
    enqueue_packets: int  # the depth of the queue that its packet found
    queue_ns: int  # how long its packet waited in the queue


class LabelGetReply2Ports(TypedDict):
    node: str  # the node's name; empty of a device that is none
    node_id: int  # the node's id
    id: int  # the port's id; until its node has told it, as in items: its low 8 bits
    name: NotRequired[str]  # the port's name, once its node has told it
    active: bool  # the port counts for coverage
    missed: int  # intervals in a row that ended without an item of it
    items: int  # items that were taken
    age_ns: NotRequired[int]  # since the latest item came
    ingress_port: NotRequired[int]  # where its packet came in
    latency_ns: NotRequired[int]  # how long its packet was in the node; left out if its times run backwards
    enqueue_packets: NotRequired[int]  # the depth of the queue that its packet found
    dequeue_packets: NotRequired[int]  # the depth of the queue that its packet left
    queue_ns: NotRequired[int]  # how long its packet waited in the queue
    shift: NotRequired[int]  # S: as the control loop wants it, else as the node has it
    confirmed: NotRequired[bool]  # with `pro`: the node has this S
    series: NotRequired[list["LabelGetReply2PortsSeries"]]  # of a question with `id`: the last values, the newest first


class LabelGetReply2Coverage(TypedDict):
    """Active ports of which items came."""

    intervals: int  # that ended with active ports
    whole: int  # of these, with an item of each active port
    mean: NotRequired[float]  # the share of active ports that were seen, of all intervals
    min: NotRequired[float]  # the share of the worst interval
    last: NotRequired[float]  # the share of the last interval, if it had active ports
    last_ports: int  # active ports of the last interval
    last_seen: int  # of these, seen


class LabelGetReply2Counters(TypedDict):
    """What came, and what nodes were told."""

    datagrams: int  # datagrams that came, the next four among them
    too_long: int  # datagrams that are longer than 255 items
    bad_length: int  # datagrams whose length is not what they say
    bad_flags: int  # datagrams with a bit that must be 0
    empty: int  # datagrams without items
    lost: int  # datagrams that the kernel dropped
    frames: int  # frames of `label.capture` that came, the next three among them
    frames_short: int  # frames that end before their items do
    frames_foreign: int  # frames of a source route without INT-label
    frames_empty: int  # frames without items
    frames_lost: int  # frames that the kernel dropped
    unknown_node: int  # items whose node id no node of the configuration has, or several
    unknown_port: int  # items of ports that do not label, as their node says
    not_seen: int  # each active port for each interval without an item of it
    no_room: int  # answers of nodes about ports that found no room
    sets: int  # requests that told nodes S
    sets_refused: int  # of these, those that a node refused
    sets_lost: int  # of these, those that no answer came to


class LabelGetReply2Taken(TypedDict):
    """What became of items."""

    new: int  # items of ports that were not known
    newer: int  # items that took the place of older ones
    older: int  # items that were refused: not newer than the latest
    no_room: int  # items that were refused: `label.ports` ports are known
    forgotten: int  # ports that were forgotten after `label.age_ms`


class LabelGetReply2NotSeenSeries(TypedDict):
    age_ns: int  # since the item came
    latency_ns: NotRequired[int]  # how long its packet was in the node; left out if its times run backwards
    enqueue_packets: int  # the depth of the queue that its packet found
    queue_ns: int  # how long its packet waited in the queue


class LabelGetReply2NotSeen(TypedDict):
    node: str  # the node's name; empty of a device that is none
    node_id: int  # the node's id
    id: int  # the port's id; until its node has told it, as in items: its low 8 bits
    name: NotRequired[str]  # the port's name, once its node has told it
    active: bool  # the port counts for coverage
    missed: int  # intervals in a row that ended without an item of it
    items: int  # items that were taken
    age_ns: NotRequired[int]  # since the latest item came
    ingress_port: NotRequired[int]  # where its packet came in
    latency_ns: NotRequired[int]  # how long its packet was in the node; left out if its times run backwards
    enqueue_packets: NotRequired[int]  # the depth of the queue that its packet found
    dequeue_packets: NotRequired[int]  # the depth of the queue that its packet left
    queue_ns: NotRequired[int]  # how long its packet waited in the queue
    shift: NotRequired[int]  # S: as the control loop wants it, else as the node has it
    confirmed: NotRequired[bool]  # with `pro`: the node has this S
    # of a question with `id`: the last values, the newest first
    series: NotRequired[list["LabelGetReply2NotSeenSeries"]]


class LabelGetReply2HottestSeries(TypedDict):
    age_ns: int  # since the item came
    latency_ns: NotRequired[int]  # how long its packet was in the node; left out if its times run backwards
    enqueue_packets: int  # the depth of the queue that its packet found
    queue_ns: int  # how long its packet waited in the queue


class LabelGetReply2Hottest(TypedDict):
    node: str  # the node's name; empty of a device that is none
    node_id: int  # the node's id
    id: int  # the port's id; until its node has told it, as in items: its low 8 bits
    name: NotRequired[str]  # the port's name, once its node has told it
    active: bool  # the port counts for coverage
    missed: int  # intervals in a row that ended without an item of it
    items: int  # items that were taken
    age_ns: NotRequired[int]  # since the latest item came
    ingress_port: NotRequired[int]  # where its packet came in
    latency_ns: NotRequired[int]  # how long its packet was in the node; left out if its times run backwards
    enqueue_packets: NotRequired[int]  # the depth of the queue that its packet found
    dequeue_packets: NotRequired[int]  # the depth of the queue that its packet left
    queue_ns: NotRequired[int]  # how long its packet waited in the queue
    shift: NotRequired[int]  # S: as the control loop wants it, else as the node has it
    confirmed: NotRequired[bool]  # with `pro`: the node has this S
    # of a question with `id`: the last values, the newest first
    series: NotRequired[list["LabelGetReply2HottestSeries"]]


class LabelGetReply2(TypedDict):
    ports: list["LabelGetReply2Ports"]  # ports in order of node id and port id, page by page
    next: NotRequired[int]  # the offset of the next page
    known: int  # how many ports are known
    interval_ns: int  # the interval of coverage
    coverage: "LabelGetReply2Coverage"  # active ports of which items came
    counters: "LabelGetReply2Counters"  # what came, and what nodes were told
    taken: "LabelGetReply2Taken"  # what became of items
    ports_not_seen: NotRequired[int]  # active ports that the last interval missed
    not_seen: NotRequired[list["LabelGetReply2NotSeen"]]  # on the first page: up to 64 of them, the longest first
    hottest: NotRequired[list["LabelGetReply2Hottest"]]  # on the first page: up to 16 ports with the deepest queues


LabelGetReply = Union["LabelGetReply1", "LabelGetReply2"]


class ProbeRunReply(TypedDict):
    session: int  # the number of the session that began


class ProbeStatusReplySession(TypedDict):
    """The session that ended last."""

    number: int  # of the session, from 1
    began_ns: int  # when it began
    elapsed_ns: int  # how long it took
    failed: bool  # a node was neither covered nor found to be unavailable
    paths: int  # probes that it began with
    probes_sent: int  # probes, all attempts together
    recovery_probes: int  # of these, those over the rest of a path
    checks: int  # of these, those over one suspect link
    probes_lost: int  # of these, those that did not come to the end
    knocks: int  # probes beside these that ask whether a path's first node is there
    nodes_covered: int  # nodes that answered
    nodes_unavailable: int  # nodes that did not
    links_unavailable: int  # links that no probe crossed, those of such nodes among them
    links_congested: int  # links that lost probes and were crossed by others


class ProbeStatusReplyCounters(TypedDict):
    """All sessions together."""

    sessions: int  # sessions that ended
    failed: int  # of these, those that failed
    sent: int  # probes of these sessions
    recovery: int  # of these, those over the rest of a path
    checks: int  # of these, those over one suspect link
    lost: int  # of these, those that did not come to the end
    knocks: int  # probes beside these that asked for a path's first node
    not_sent: int  # packets that the interface did not take
    received: int  # packets of probes that came, the next two among them
    malformed: int  # packets that are not well formed, or not what was asked
    strange: int  # packets of no probe of the session that ran


class ProbeStatusReplyPlan(TypedDict):
    """The paths of the probes."""

    paths: int  # probes of a session, if none is lost
    min_hops: int  # nodes of the shortest path
    max_hops: int  # nodes of the longest path
    max_bytes: int  # the longest IP packet at its end, without its way
    covered_links: int  # links that a path crosses
    overlap: int  # visits of nodes that were visited before


class ProbeStatusReplyNodes(TypedDict):
    id: int  # the node's id
    name: str  # its name, if the configuration has one
    state: str  # `available`, `unavailable` or `unknown`
    since_ns: NotRequired[int]  # for how long it has this state
    session: NotRequired[int]  # the session that brought the values
    age_ns: NotRequired[int]  # since they came
    depth: NotRequired[int]  # packets in the queue that the probe left by
    first: NotRequired[int]  # the index of the first value
    values: NotRequired[list[int]]  # the low 32 bits of each counter


class ProbeStatusReply(TypedDict):
    running: bool  # a session runs
    session: NotRequired["ProbeStatusReplySession"]  # the session that ended last
    counters: "ProbeStatusReplyCounters"  # all sessions together
    plan: "ProbeStatusReplyPlan"  # the paths of the probes
    nodes: list["ProbeStatusReplyNodes"]  # nodes in the order of the configuration, page by page
    next: NotRequired[int]  # the offset of the next page
    known: int  # how many nodes there are


class ProbeLinksReplyLinks(TypedDict):
    node_id: int  # the node that sends
    node: str  # its name, if the configuration has one
    port: int  # its port
    peer_id: int  # the node that receives
    peer_port: int  # its port
    peer: str  # its name, if the configuration has one
    state: str  # `available`, `congested`, `unavailable` or `unknown`
    planned: bool  # probes of each session cross it
    use: NotRequired[str]  # with `reroute`, by routes: `used`, `spare` (where no other way leads) or `avoided`
    since_ns: NotRequired[int]  # for how long it has this state


class ProbeLinksReply(TypedDict):
    links: list["ProbeLinksReplyLinks"]  # links in both directions, page by page
    next: NotRequired[int]  # the offset of the next page
    known: int  # how many there are


class ProbeRoutesReplyRoutes(TypedDict):
    prefix: str  # the destination
    node_id: int  # the node
    node: str  # its name
    # `set`: the node confirmed the route; `changing`: it is told, or waits for nodes on the way; `refused`; `unreachable`: the node does not answer, or has another id; `no_way`: what it has stays; `waiting`: for sessions
    state: str
    port: NotRequired[str]  # the port that it should send by
    peer_id: NotRequired[int]  # the next node
    peer: NotRequired[str]  # its name


class ProbeRoutesReply(TypedDict):
    changes: int  # sessions after which links were used otherwise
    held: int  # sessions that `changes_per_minute` did not allow to change it
    routes: list["ProbeRoutesReplyRoutes"]  # routes of each destination, page by page
    next: NotRequired[int]  # the offset of the next page
    known: int  # how many there are


class FlowGetReplyFlowsHops(TypedDict):
    node_id: NotRequired[int]  # the node; left out where it did not say its id
    latency: NotRequired[int]  # the newest, in the unit beside it
    unit: NotRequired[str]  # of the latency


class FlowGetReplyFlows(TypedDict):
    src_ip: str  # source of the reported packets
    dst_ip: str  # destination of the reported packets
    src_port: int  # of the packet; 0 where its protocol has none
    dst_port: int  # of the packet; 0 where its protocol has none
    protocol: int  # number of the protocol above IP: 6 is TCP, 17 is UDP
    vlan: NotRequired[int]  # id of the outermost VLAN tag
    reporter: NotRequired[int]  # the node that told of the flow, where its report does not have the whole path
    reports: int  # reports of the flow so far
    first_ns: int  # when the first of them came
    last_ns: int  # when the newest of them came
    event_ns: int  # when the flow's last event was
    latency: NotRequired[int]  # the sum of its hops' latencies
    entries_missing: NotRequired[Literal[True]]  # nodes on the path wrote nothing, so that hops are missing
    unit: NotRequired[str]  # of the latency
    hops: list["FlowGetReplyFlowsHops"]  # the path, the source first


class FlowGetReply(TypedDict):
    flows: list["FlowGetReplyFlows"]  # flows that reports told of
    next: NotRequired[int]  # the offset of the next page


class QueueGetReplyQueues(TypedDict):
    node_id: int  # the node
    queue_id: NotRequired[int]  # the queue there; left out where the node did not say it
    occupancy: NotRequired[int]  # the newest, in the unit beside it
    congestion: NotRequired[int]  # the newest; INT 2016-06 and 0.5 have it
    # the node's last report about it said so, less than ten seconds before the newest value
    congested: NotRequired[Literal[True]]
    last_ns: int  # when the newest value came
    device_ns: NotRequired[int]  # the node's time of it
    unit: NotRequired[str]  # of the occupancy


class QueueGetReply(TypedDict):
    queues: list["QueueGetReplyQueues"]  # queues that reports told of
    next: NotRequired[int]  # the offset of the next page


class LinkGetReplyLinks(TypedDict):
    node_id: int  # the node
    port: int  # the port that packets leave by
    utilisation: int  # the newest, in the unit beside it
    last_ns: int  # when the newest value came
    device_ns: NotRequired[int]  # the node's time of it
    unit: str  # of the utilisation


class LinkGetReply(TypedDict):
    links: list["LinkGetReplyLinks"]  # links that reports told of
    next: NotRequired[int]  # the offset of the next page


class ExporterGetReplyExporters(TypedDict):
    address: str  # who sends
    listener: str  # where it arrives: an entry of listen or ports
    version: str  # of the newest report: 0.5, 1.0 or 2.0
    node_id: NotRequired[int]  # of its first report; 0.5 may not say it
    hw_id: int  # which part of the node
    sequence: int  # the newest sequence number
    datagrams: int  # that came
    reports: int  # in them, without skipped ones
    missing: int  # datagrams that sequence numbers say were lost
    late: int  # datagrams that came behind a later one
    duplicates: int  # datagrams that came twice
    restarts: int  # times its sequence numbers began anew
    first_ns: int  # when its first datagram came
    last_ns: int  # when its newest datagram came


class ExporterGetReply(TypedDict):
    exporters: list["ExporterGetReplyExporters"]  # who sends reports
    next: NotRequired[int]  # the offset of the next page


class RefusedGetReplyRefused(TypedDict):
    reason: str  # a word for scripts
    text: str  # the reason as a sentence
    count: int  # datagrams or reports that were refused so far
    datagram: NotRequired[str]  # the beginning of the first of them, in hex
    datagram_bytes: NotRequired[int]  # how long it was


class RefusedGetReply(TypedDict):
    refused: list["RefusedGetReplyRefused"]  # each reason for which something was refused


class DryRunReply(TypedDict):
    dry_run: Literal[True]  # the request was only checked


class NotToldReply(TypedDict):
    metric: str  # the metric
    of: str  # of e2e, the first hop, or hops
    needs: str  # the bits of the trace type that are missing
    text: str  # what is missing, in words


ApplicationReplyFlows = TypedDict("ApplicationReplyFlows", {
    "ns_id": int,  # the rule of the flow
    "from": str,  # source of the flow
    "to": str,  # destination of the flow
    "protocol": Literal["tcp", "udp", "icmp", "any"],  # of the flow
    "src_port": int,  # 0: any
    "dst_port": int,  # 0: any
    "direction": NotRequired[Literal["up", "down"]],  # of a pair of flows
    "opposite": NotRequired[int],  # the other flow of the pair
    "window_ns": NotRequired[int],  # as in the flow's window
    "end_ns": NotRequired[int],  # as in the flow's window
    "reports": NotRequired[int],  # as in the flow's window
    "stale": NotRequired[bool],  # as in the flow's window
    "path": NotRequired[list[int]],  # as in the flow's window
    "e2e": NotRequired["WindowE2e"],  # as in the flow's window
    "flags": NotRequired["WindowFlags"],  # as in the flow's window
})


class ApplicationReplyRoundTripNs(TypedDict):
    """Of pairs of packets up and down."""

    mean: int  # of all pairs
    min: int  # the shortest
    p50: int  # the median
    p99: NotRequired[int]  # the 99th percentile, from 100 pairs on
    max: int  # the longest


ApplicationReplyWorstHopLoss = TypedDict("ApplicationReplyWorstHopLoss", {
    "ns_id": int,  # the rule of the flow
    "from": NotRequired[int],  # the node where the hop begins
    "to": NotRequired[int],  # the node where it ends
    "loss_ratio": float,  # lost packets of those sent
})


ApplicationReplyWorstHopDelay = TypedDict("ApplicationReplyWorstHopDelay", {
    "ns_id": int,  # the rule of the flow
    "from": NotRequired[int],  # the node where the hop begins
    "to": NotRequired[int],  # the node where it ends
    "delay_ns": int,  # mean
})


class ApplicationReplyWorstHop(TypedDict):
    """Of all flows."""

    loss: NotRequired["ApplicationReplyWorstHopLoss"]  # the hop that loses most
    delay: NotRequired["ApplicationReplyWorstHopDelay"]  # the hop that takes longest


class ApplicationReply(TypedDict):
    app_id: int  # the application
    flows: list["ApplicationReplyFlows"]  # its flows
    round_trip_ns: NotRequired["ApplicationReplyRoundTripNs"]  # of pairs of packets up and down
    round_trip_pairs: NotRequired[int]  # how many pairs
    clocks_differ: NotRequired[bool]  # one-way delays differ by more than the round trip
    one_way_sum_ns: NotRequired[int]  # the mean delays of both directions, added up
    worst_hop: "ApplicationReplyWorstHop"  # of all flows
    flows_left_out: NotRequired[int]  # flows for which there was no room


class ReportSink(TypedDict):
    node_id: int
    ts_ns: int
    rx_packets: int
    rx_bytes: int


class ReportE2e(TypedDict):
    """What the source wrote."""

    node_id: NotRequired[int]  # of the source, where the packet has it
    int_packets: NotRequired[int]
    ts_ns: NotRequired[int]
    tx_packets: NotRequired[int]
    tx_bytes: NotRequired[int]
    ingress_port: NotRequired[int]
    egress_port: NotRequired[int]
    hop_latency_ns: NotRequired[int]
    queue_id: NotRequired[int]
    queue_packets: NotRequired[int]
    queue_congestion: NotRequired[int]
    link_utilisation: NotRequired[int]
    buffer_used: NotRequired[int]


class ReportHops(TypedDict):
    node_id: NotRequired[int]
    trace_type: str
    tx_packets: NotRequired[int]
    rx_packets: NotRequired[int]
    ts_ns: NotRequired[int]
    tx_bytes: NotRequired[int]
    rx_bytes: NotRequired[int]
    ingress_port: NotRequired[int]
    egress_port: NotRequired[int]
    hop_latency_ns: NotRequired[int]
    queue_id: NotRequired[int]
    queue_packets: NotRequired[int]
    queue_congestion: NotRequired[int]
    link_utilisation: NotRequired[int]
    buffer_used: NotRequired[int]


class Report(TypedDict):
    ns_id: int
    app_id: int
    trace_type: str
    method: NotRequired[str]  # of the rule; missing: flexint
    version: NotRequired[str]  # of the method, where it has versions
    nodes_missing: NotRequired[bool]  # the packet says that a node added no values
    sink: "ReportSink"
    seq: NotRequired[int]  # counts this publisher's messages
    node_id: NotRequired[int]
    boot_id: NotRequired[str]
    e2e: "ReportE2e"  # what the source wrote
    hops: list["ReportHops"]  # from source to sink


class Event(TypedDict):
    """The event."""

    ts_ns: int  # when it happened
    kind: str  # a word for programs
    message: str  # what happened, in words
    ns_id: NotRequired[int]  # the rule
    shadowed_by: NotRequired[int]  # the rule that takes the packets
    packets: NotRequired[int]  # how many packets since the last such event
    mtu_needed_bytes: NotRequired[int]  # the MTU with which all telemetry would have fitted
    reports: NotRequired[int]  # how many reports
    signals: NotRequired[int]  # in-band requests and reports that were lost
    limit: NotRequired[int]  # the limit
    rules: NotRequired[int]  # how many rules
    limit_bytes: NotRequired[int]  # the limit
    bytes: NotRequired[int]  # what is used
    monitors_evicted: NotRequired[int]  # monitors that made room so far
    reports_refused: NotRequired[int]  # reports without a monitor so far
    errors: NotRequired[int]  # how many errors
    lines: NotRequired[int]  # lines of the file, or for databases
    refused: NotRequired[int]  # lines that were refused
    left_out: NotRequired[int]  # lines that were left out
    amount_ns: NotRequired[int]  # the size of the step
    old_offset_ns: NotRequired[int]  # the offset before the step
    new_offset_ns: NotRequired[int]  # the offset after the step
    steps: NotRequired[int]  # how many steps so far
    request_bytes: NotRequired[int]  # the length of the request
    requests: NotRequired[int]  # how many requests
    silent_ns: NotRequired[int]  # for how long nobody asked
    handshakes: NotRequired[int]  # how many handshakes failed
    connections: NotRequired[int]  # how many connections were refused
    keys: NotRequired[int]  # how many keys are allowed
    port: NotRequired[str]  # the port's name
    file: NotRequired[str]  # the file of the state
    set_aside: NotRequired[str]  # where the damaged file is now
    reason: NotRequired[str]  # why, in words
    action: NotRequired[str]  # what was done
    node: NotRequired[str]  # the node's name at a controller
    code: NotRequired[str]  # the code of the node's error
    peer: NotRequired[str]  # the address of the peer
    to: NotRequired[str]  # the receiver of telemetry reports
    public_key: NotRequired[str]  # the peer's key
    problem: NotRequired[str]  # what is wrong with a key
    node_id: NotRequired[int]  # of the publisher, if it is a node
    port_id: NotRequired[int]  # the id of the port of a link
    peer_id: NotRequired[int]  # the id of the node at the other end of a link
    peer_port_id: NotRequired[int]  # the id of its port
    prefix: NotRequired[str]  # the destination of routes
    nodes: NotRequired[int]  # how many nodes
    nodes_without_way: NotRequired[int]  # from how many no way leads
    entries: NotRequired[int]  # entries of tables
    ports: NotRequired[int]  # how many ports
    intervals: NotRequired[int]  # how many intervals in a row
    flow: NotRequired[dict[str, Any]]  # at a collector: the flow, as in flow_get
    points: NotRequired[list[dict[str, Any]]]  # at a collector: values that changed together, as those of hop.<node_id>
    synchronised: NotRequired[bool]  # what the system says of its clock
    seq: int  # in the reply to events: counts events; published: messages
    event_seq: int  # its seq in the reply to events
    boot_id: str  # of the publisher


class HopEventFlow(TypedDict):
    """The flow whose packet told it."""

    src_ip: str  # source of the reported packets
    dst_ip: str  # destination of the reported packets
    src_port: int  # of the packet; 0 where its protocol has none
    dst_port: int  # of the packet; 0 where its protocol has none
    protocol: int  # number of the protocol above IP: 6 is TCP, 17 is UDP
    vlan: NotRequired[int]  # id of the outermost VLAN tag
    reporter: NotRequired[int]  # the node that told of the flow, where its report does not have the whole path


class HopEventPoints(TypedDict):
    # what it is a value of
    kind: Literal["flow", "hop_latency", "queue_occupancy", "queue_congestion", "link_utilisation", "drop"]
    cause: Literal["new", "path", "change", "gap", "push"]  # why it was told
    value: NotRequired[int]  # the value, in the unit beside it
    before: NotRequired[int]  # the value of the event before
    by_q: NotRequired[Literal[True]]  # congestion that Q of the report tells: 1 or 0
    device_ns: NotRequired[int]  # the node's time of it
    unit: NotRequired[str]  # of the value
    node_id: NotRequired[int]  # the node
    hop: NotRequired[int]  # the hop's place in the path, the source is 0
    queue_id: NotRequired[int]  # the queue
    port: NotRequired[int]  # the port that packets leave by
    reason_id: NotRequired[int]  # of a drop, as the node numbers it


class HopEvent(TypedDict):
    """Values of a node."""

    node_id: int  # the node
    ts_ns: int  # when the collector got the report, of pushed values as well
    flow: NotRequired["HopEventFlow"]  # the flow whose packet told it
    points: list["HopEventPoints"]  # values of the node that came together
    seq: int  # counts messages
    boot_id: str  # of the collector
