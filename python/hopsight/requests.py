# SPDX-License-Identifier: BSD-3-Clause
# tools/python_client.py writes this file from docs/schema.
"""The fields of each request."""

from typing import Any, Literal, NotRequired, TypedDict, Union, Unpack

from .replies import (
    AuditReply, DropsGetReply, EventsReply, ExplainReply, ExporterGetReply, FlowGetReply, HelloReply, IntDeleteReply,
    IntGetReply, IntListReply, IntRequestReply, IntUpdateReply, LabelGetReply, LabelSetReply, LinkGetReply,
    NeighbourAddReply, NeighbourDeleteReply, NeighbourListReply, NodeGetReply, NodesAuditReply, NodesDropsGetReply,
    NodesExplainReply, NodesIntGetReply, NodesLabelSetReply, NodesPortsGetReply, NodesStatsGetReply, PortsGetReply,
    ProbeLinksReply, ProbeRoutesReply, ProbeRunReply, ProbeStatusReply, QosGetReply, QueueGetReply, RefusedGetReply,
    RouteAddReply, RouteDeleteReply, RouteListReply, StatsGetReply,
)


class HelloFields(TypedDict):
    """Who answers: API version, node, limits, verbs."""

    pass


class IntRequestFieldsFieldsPackets(TypedDict):
    supported: NotRequired[bool]
    probability_percent: NotRequired[float]
    min_change: NotRequired[int]
    max_age_ms: NotRequired[int]


class IntRequestFieldsFieldsTimestamp(TypedDict):
    supported: NotRequired[bool]
    probability_percent: NotRequired[float]
    min_change: NotRequired[int]
    max_age_ms: NotRequired[int]


class IntRequestFieldsFieldsBytes(TypedDict):
    supported: NotRequired[bool]
    probability_percent: NotRequired[float]
    min_change: NotRequired[int]
    max_age_ms: NotRequired[int]


class IntRequestFieldsFields(TypedDict):
    """Which fields this node's entries have, in place of its telemetry.fields."""

    packets: NotRequired["IntRequestFieldsFieldsPackets"]
    timestamp: NotRequired["IntRequestFieldsFieldsTimestamp"]
    bytes: NotRequired["IntRequestFieldsFieldsBytes"]


class IntRequestFieldsOn1(TypedDict):
    path: str


class IntRequestFieldsOn2(TypedDict):
    nodes: list[str]


class IntRequestFieldsOn3(TypedDict):
    source: str


class IntRequestFields(TypedDict):
    """Install a rule: monitor a flow."""

    ns_id: NotRequired[int]  # names the rule: the namespace id that its telemetry carries
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
    # which fields this node's entries have, in place of its telemetry.fields
    fields: NotRequired["IntRequestFieldsFields"]
    owner: NotRequired[str]  # who writes the rule; a change without it removes the owner
    revision: NotRequired[int]  # the owner's number of this content
    method: NotRequired[Literal["flexint", "int", "label"]]  # the family of telemetry
    # what each node adds
    instructions: NotRequired[list[Literal["node_id", "ports", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp", "ports_l2", "link_utilisation", "buffer", "queue_congestion", "checksum_complement"]]]
    instruction_bitmap: NotRequired[str]  # the same, as the profile's version numbers it
    dscp: NotRequired[int]  # only packets of this class
    # at a controller: where the rule belongs
    on: NotRequired[Union["IntRequestFieldsOn1", "IntRequestFieldsOn2", "IntRequestFieldsOn3"]]


class IntUpdateFieldsFields1Packets(TypedDict):
    supported: NotRequired[bool]
    probability_percent: NotRequired[float]
    min_change: NotRequired[int]
    max_age_ms: NotRequired[int]


class IntUpdateFieldsFields1Timestamp(TypedDict):
    supported: NotRequired[bool]
    probability_percent: NotRequired[float]
    min_change: NotRequired[int]
    max_age_ms: NotRequired[int]


class IntUpdateFieldsFields1Bytes(TypedDict):
    supported: NotRequired[bool]
    probability_percent: NotRequired[float]
    min_change: NotRequired[int]
    max_age_ms: NotRequired[int]


class IntUpdateFieldsFields1(TypedDict):
    packets: NotRequired["IntUpdateFieldsFields1Packets"]
    timestamp: NotRequired["IntUpdateFieldsFields1Timestamp"]
    bytes: NotRequired["IntUpdateFieldsFields1Bytes"]


class IntUpdateFields(TypedDict):
    """Change switches or sampling of a rule."""

    ns_id: int  # names the rule: the namespace id that its telemetry carries
    mode: NotRequired[Union[Literal["count", "frequency", "probability"], None]]  # which packets carry telemetry
    # count: every Nth packet; frequency: at most one in N milliseconds; probability: N percent
    mode_setting: NotRequired[Union[float, None]]
    transmit_report: NotRequired[Union[bool, None]]  # publish each raw report
    piggyback_report: NotRequired[Union[bool, None]]  # the sink sends reports back with packets of the reverse flow
    extract_report: NotRequired[Union[bool, None]]  # take such reports out of packets and publish them here
    hop_enabled: NotRequired[Union[bool, None]]  # this node adds its own data; it counts the flow in any case
    # which fields this node's entries have, in place of its telemetry.fields
    fields: NotRequired[Union["IntUpdateFieldsFields1", None]]
    owner: NotRequired[str]  # who writes the rule; a change without it removes the owner
    revision: NotRequired[int]  # the owner's number of this content


class IntDeleteFields(TypedDict):
    """Remove a rule."""

    ns_id: int  # the rule


class IntListFields(TypedDict):
    """Rules, page by page."""

    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class IntGetFields(TypedDict):
    """One rule with its counters and state."""

    ns_id: int  # the rule


class QosGetFields(TypedDict):
    """Newest metrics of each rule and window."""

    ns_id: NotRequired[int]  # only this rule; all rules without it
    # in place of it all: the flows of this application together, over one window (10s without it)
    app_id: NotRequired[int]
    # only windows of this length (`telemetry.windows_ms`), written as `100ms`, `1s` or `1m`; of all lengths without it
    window: NotRequired[str]
    # with end_ns and ns_id: a window of any place and length, from the newest 1000 reports; it begins with the oldest of these at the earliest
    start_ns: NotRequired[int]
    end_ns: NotRequired[int]  # the end of that window
    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class RouteAddFields(TypedDict):
    """Add a route, or replace the one of its prefix."""

    prefix: str  # destinations; without a length, one address
    port: NotRequired[str]  # where packets leave; with next_hop_mac
    next_hop_mac: NotRequired[str]  # whom they are sent to; with port
    via: NotRequired[str]  # in place of both: that neighbour's port and MAC address


class RouteDeleteFields(TypedDict):
    """Remove a route."""

    prefix: str  # destinations; without a length, one address


class RouteListFields(TypedDict):
    """Routes in order of prefix, page by page, neighbours among them."""

    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class NeighbourAddFields(TypedDict):
    """Add a neighbour and a route to it, or replace it: routes via it follow."""

    addr: str  # the neighbour
    port: str  # where it is
    mac: str  # its MAC address


class NeighbourDeleteFields(TypedDict):
    """Remove a neighbour that no route goes via."""

    addr: str  # the neighbour


class NeighbourListFields(TypedDict):
    """Neighbours in order of address, page by page."""

    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class NodeGetFields(TypedDict):
    """The node: name, configuration in force, clock, workers."""

    pass


class PortsGetFields(TypedDict):
    """Ports with their counters."""

    pass


class StatsGetFields(TypedDict):
    """Every counter with unit and meaning."""

    pass


class DropsGetFields(TypedDict):
    """Dropped packets by port and reason; at a collector by node and reason, page by page."""

    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class EventsFields(TypedDict):
    """What happened, oldest first."""

    since: NotRequired[int]  # only events with a greater `seq`; all, if no event has this number yet


class AuditFields(TypedDict):
    """Does every packet and every report add up."""

    pass


class ExplainFields(TypedDict):
    """Why a rule measures nothing here, or not all."""

    ns_id: int  # the rule


class LabelSetFieldsPorts(TypedDict):
    id: int
    shift: int


class LabelSetFields(TypedDict):
    """Divide the interval of ports with INT-label by 2^S, until the node ends."""

    node: NotRequired[str]  # at a controller, which needs it: whose ports they are
    ports: list["LabelSetFieldsPorts"]  # ports by their numbers in items, and S of each; all or none are set


class LabelGetFields(TypedDict):
    """Ports with INT-label: S and their labels; at a controller their latest items and coverage, page by page."""

    node: NotRequired[str]  # at a controller: only ports of this node
    id: NotRequired[int]  # only this port, with its last values
    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class ProbeRunFields(TypedDict):
    """At a controller: begin a session of probes now."""

    pass


class ProbeStatusFields(TypedDict):
    """At a controller: the last session of probes and what it says of nodes, page by page."""

    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class ProbeLinksFields(TypedDict):
    """At a controller: whether probes cross links, page by page."""

    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class ProbeRoutesFields(TypedDict):
    """At a controller: routes around links that probes find bad, page by page."""

    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class FlowGetFields(TypedDict):
    """At a collector: flows with their paths and latencies, page by page."""

    src_ip: NotRequired[str]  # only flows from this address
    dst_ip: NotRequired[str]  # only flows to this address
    src_port: NotRequired[int]  # only flows from this port
    dst_port: NotRequired[int]  # only flows to this port
    protocol: NotRequired[int]  # only flows of this protocol: 6 is TCP, 17 is UDP
    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class QueueGetFields(TypedDict):
    """At a collector: the newest values of queues, page by page."""

    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class LinkGetFields(TypedDict):
    """At a collector: the newest values of links, page by page."""

    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class ExporterGetFields(TypedDict):
    """At a collector: who sends reports, and which are missing, page by page."""

    offset: NotRequired[int]  # how many to leave out; the `next` of the reply before
    limit: NotRequired[int]  # how many at most


class RefusedGetFields(TypedDict):
    """At a collector: the first datagram that was refused for each reason."""

    pass


# The member of each reply that comes in pages.
PAGED = {
    "int_list": "rules",
    "qos_get": "qos",
    "route_list": "routes",
    "neighbour_list": "neighbours",
    "drops_get": "drops",
    "label_get": "ports",
    "probe_status": "nodes",
    "probe_links": "links",
    "probe_routes": "routes",
    "flow_get": "flows",
    "queue_get": "queues",
    "link_get": "links",
    "exporter_get": "exporters",
}


class Verbs:
    """A method for each verb, with the fields of its request."""

    def call(self, verb: str, **fields: Any) -> Any:
        """Sends one request and returns the `ok` of its reply."""
        raise NotImplementedError

    def hello(self, **fields: Unpack[HelloFields]) -> HelloReply:
        """Who answers: API version, node, limits, verbs."""
        return self.call("hello", **fields)

    def int_request(self, **fields: Unpack[IntRequestFields]) -> IntRequestReply:
        """Install a rule: monitor a flow."""
        return self.call("int_request", **fields)

    def int_update(self, **fields: Unpack[IntUpdateFields]) -> IntUpdateReply:
        """Change switches or sampling of a rule."""
        return self.call("int_update", **fields)

    def int_delete(self, **fields: Unpack[IntDeleteFields]) -> IntDeleteReply:
        """Remove a rule."""
        return self.call("int_delete", **fields)

    def int_list(self, **fields: Unpack[IntListFields]) -> IntListReply:
        """Rules, page by page."""
        return self.call("int_list", **fields)

    def int_get(self, **fields: Unpack[IntGetFields]) -> Union[IntGetReply, NodesIntGetReply]:
        """One rule with its counters and state."""
        return self.call("int_get", **fields)

    def qos_get(self, **fields: Unpack[QosGetFields]) -> QosGetReply:
        """Newest metrics of each rule and window."""
        return self.call("qos_get", **fields)

    def route_add(self, **fields: Unpack[RouteAddFields]) -> RouteAddReply:
        """Add a route, or replace the one of its prefix."""
        return self.call("route_add", **fields)

    def route_delete(self, **fields: Unpack[RouteDeleteFields]) -> RouteDeleteReply:
        """Remove a route."""
        return self.call("route_delete", **fields)

    def route_list(self, **fields: Unpack[RouteListFields]) -> RouteListReply:
        """Routes in order of prefix, page by page, neighbours among them."""
        return self.call("route_list", **fields)

    def neighbour_add(self, **fields: Unpack[NeighbourAddFields]) -> NeighbourAddReply:
        """Add a neighbour and a route to it, or replace it: routes via it follow."""
        return self.call("neighbour_add", **fields)

    def neighbour_delete(self, **fields: Unpack[NeighbourDeleteFields]) -> NeighbourDeleteReply:
        """Remove a neighbour that no route goes via."""
        return self.call("neighbour_delete", **fields)

    def neighbour_list(self, **fields: Unpack[NeighbourListFields]) -> NeighbourListReply:
        """Neighbours in order of address, page by page."""
        return self.call("neighbour_list", **fields)

    def node_get(self, **fields: Unpack[NodeGetFields]) -> NodeGetReply:
        """The node: name, configuration in force, clock, workers."""
        return self.call("node_get", **fields)

    def ports_get(self, **fields: Unpack[PortsGetFields]) -> Union[PortsGetReply, NodesPortsGetReply]:
        """Ports with their counters."""
        return self.call("ports_get", **fields)

    def stats_get(self, **fields: Unpack[StatsGetFields]) -> Union[StatsGetReply, NodesStatsGetReply]:
        """Every counter with unit and meaning."""
        return self.call("stats_get", **fields)

    def drops_get(self, **fields: Unpack[DropsGetFields]) -> Union[DropsGetReply, NodesDropsGetReply]:
        """Dropped packets by port and reason; at a collector by node and reason, page by page."""
        return self.call("drops_get", **fields)

    def events(self, **fields: Unpack[EventsFields]) -> EventsReply:
        """What happened, oldest first."""
        return self.call("events", **fields)

    def audit(self, **fields: Unpack[AuditFields]) -> Union[AuditReply, NodesAuditReply]:
        """Does every packet and every report add up."""
        return self.call("audit", **fields)

    def explain(self, **fields: Unpack[ExplainFields]) -> Union[ExplainReply, NodesExplainReply]:
        """Why a rule measures nothing here, or not all."""
        return self.call("explain", **fields)

    def label_set(self, **fields: Unpack[LabelSetFields]) -> Union[LabelSetReply, NodesLabelSetReply]:
        """Divide the interval of ports with INT-label by 2^S, until the node ends."""
        return self.call("label_set", **fields)

    def label_get(self, **fields: Unpack[LabelGetFields]) -> LabelGetReply:
        """Ports with INT-label: S and their labels; at a controller their latest items and coverage, page by page."""
        return self.call("label_get", **fields)

    def probe_run(self, **fields: Unpack[ProbeRunFields]) -> ProbeRunReply:
        """At a controller: begin a session of probes now."""
        return self.call("probe_run", **fields)

    def probe_status(self, **fields: Unpack[ProbeStatusFields]) -> ProbeStatusReply:
        """At a controller: the last session of probes and what it says of nodes, page by page."""
        return self.call("probe_status", **fields)

    def probe_links(self, **fields: Unpack[ProbeLinksFields]) -> ProbeLinksReply:
        """At a controller: whether probes cross links, page by page."""
        return self.call("probe_links", **fields)

    def probe_routes(self, **fields: Unpack[ProbeRoutesFields]) -> ProbeRoutesReply:
        """At a controller: routes around links that probes find bad, page by page."""
        return self.call("probe_routes", **fields)

    def flow_get(self, **fields: Unpack[FlowGetFields]) -> FlowGetReply:
        """At a collector: flows with their paths and latencies, page by page."""
        return self.call("flow_get", **fields)

    def queue_get(self, **fields: Unpack[QueueGetFields]) -> QueueGetReply:
        """At a collector: the newest values of queues, page by page."""
        return self.call("queue_get", **fields)

    def link_get(self, **fields: Unpack[LinkGetFields]) -> LinkGetReply:
        """At a collector: the newest values of links, page by page."""
        return self.call("link_get", **fields)

    def exporter_get(self, **fields: Unpack[ExporterGetFields]) -> ExporterGetReply:
        """At a collector: who sends reports, and which are missing, page by page."""
        return self.call("exporter_get", **fields)

    def refused_get(self, **fields: Unpack[RefusedGetFields]) -> RefusedGetReply:
        """At a collector: the first datagram that was refused for each reason."""
        return self.call("refused_get", **fields)
