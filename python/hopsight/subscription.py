# SPDX-License-Identifier: BSD-3-Clause
"""What nodes, controllers and collectors publish, and what was missed of it."""

import json
import re
import time
from dataclasses import dataclass
from typing import Iterator, Optional, Union

import zmq

from .errors import Error
from .line import Line

# The beginning of a raw report, of which there are many: the rest is not read unless somebody wants the message.
_REPORT = re.compile(rb'\{"int_report":\{"seq":(\d+),"node_id":(\d+),"boot_id":"([^"]*)"')

_MEMBERS = {"boot_id": str, "seq": int, "node_id": (int, type(None)), "event_seq": (int, type(None))}
_LATE = 1000


@dataclass(frozen=True)
class Message:
    """A published message. topic: "qos.7". kind: the part of the topic before the dot. content: the value of the
    message's one member. seq counts the messages of the publisher, which boot_id names."""

    topic: str
    kind: str
    content: dict
    boot_id: str
    seq: int
    node_id: Optional[int] = None


@dataclass(frozen=True)
class Gap:
    """Messages were missed. missed: how many of this publisher, of all topics; None if the publisher started anew
    (restarted), because nobody counted. The rest is what the publisher said when it was asked after the gap: the
    windows (of qos_get), the rules (of int_list), and the events that were missed, of which events_lost are gone. They
    are None if there is no client to ask, or if the client could not ask: error says why."""

    boot_id: str
    node_id: Optional[int]
    missed: Optional[int]
    restarted: bool = False
    windows: Optional[list] = None
    rules: Optional[list] = None
    events: Optional[list] = None
    events_lost: int = 0
    error: Optional[Exception] = None


@dataclass(frozen=True)
class Unreadable:
    """A message on one of the topics that is none of a publisher's. topic and text: its parts, as they came. reason:
    what is wrong."""

    topic: bytes
    text: bytes
    reason: str


@dataclass
class _Publisher:
    seq: int
    event_seq: int  # of the newest event that came
    fetched: int = 0  # and of the newest one that a gap has told


class Subscription:
    """Receives messages whose topics begin with one of `topics`, a Gap where messages were missed, and an Unreadable
    for each message of these topics that is none.

    endpoint: one of publish_bind of a node, a controller or a collector; with bind=True, one that nodes name in
    publish_to. clients: a Client of the publisher, or a dict of clients by node_id; after a gap it is asked for what is
    in force.

    `seq` counts the messages of all topics, so a gap is only seen by those who receive all: the subscription is for
    everything, and messages of other topics end here. gaps=False leaves them at the publisher, and gaps are then not
    told, only restarts. queue: how many messages may wait here; beyond it they wait at the publisher, which drops
    what does not fit its publish_queue."""

    def __init__(self, endpoint, topics=("",), *, bind=False, gaps=True, clients=None, keys=None, queue=1000,
                 context=None):
        self.endpoint = endpoint
        self.topics = (topics,) if isinstance(topics, str) else tuple(topics)
        self._gaps, self._clients, self._bound = gaps, clients, bind
        self._line, self._queue = Line(context, zmq.SUB, endpoint, keys, rcvhwm=queue), queue
        self._publishers: dict[str, _Publisher] = {}
        self._boot_of: dict[int, str] = {}
        self._next: Optional[Message] = None  # told after its gap
        self._socket = self._line.socket(bind)
        for topic in ("",) if gaps else self.topics:
            self._socket.subscribe(topic)

    def receive(self, timeout_s: Optional[float] = None) -> Union[Message, Gap, Unreadable, None]:
        """Returns what is next, or None if there is nothing within timeout_s (None: waits; 0: what waits here)."""
        if self._next:
            message, self._next = self._next, None
            return message
        end = None if timeout_s is None else time.monotonic() + timeout_s
        told, late = None, 0  # late: messages that nobody wanted, taken when the time was over
        while told is None and late <= (self._queue or _LATE):
            left_ms = None if end is None else max(0, 1000 * (end - time.monotonic()))
            if not self._socket.poll(left_ms):
                break
            told = self._told(self._socket.recv_multipart())
            late += left_ms == 0
        return told

    def __iter__(self) -> Iterator[Union[Message, Gap, Unreadable]]:
        while True:
            yield self.receive()

    def reason(self):
        """Returns what is known of the connection, in words."""
        return self._line.reason()

    def close(self):
        self._line.close()

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    # ---- gaps ----

    def _told(self, parts):
        """Returns what to tell of a message: a gap, the message, that it is none, or None."""
        name, text = parts[0], b"".join(parts[1:2])
        topic = name.decode(errors="replace")
        wanted = topic.startswith(self.topics)
        try:
            message = _read(topic, text, wanted)
        except ValueError as error:
            return Unreadable(name, text, str(error)) if wanted else None
        publisher = self._publishers.get(message.boot_id)
        restarted = publisher is None and self._is_restart(message)
        missed = message.seq - publisher.seq - 1 if publisher and self._gaps else 0
        if not publisher:
            seen = 0 if restarted else self._last_event(message)
            publisher = self._publishers[message.boot_id] = _Publisher(message.seq, seen)
        publisher.seq = message.seq
        number, known = message.content.get("event_seq"), publisher.event_seq
        publisher.event_seq = max(known, number or 0)
        gap = self._gap(message, publisher, None if restarted else missed, known) if missed or restarted else None
        # An event may also be one that was asked for after a gap.
        if wanted and not (number and number <= publisher.fetched):
            self._next = message
        if gap:
            return gap
        message, self._next = self._next, None
        return message

    def _is_restart(self, message):
        """Whether a publisher of whom nothing was heard before is one that was known, after its restart. Those that
        connect to a bound subscription are told apart by their node_id."""
        identity = message.node_id if self._bound else 0
        if message.kind == "hop" and self._bound or identity is None:
            return False
        known, self._boot_of[identity] = identity in self._boot_of, message.boot_id
        return known

    def _client_of(self, message):
        return self._clients.get(message.node_id) if isinstance(self._clients, dict) else self._clients

    def _wants(self, kind, name=""):
        """Whether messages of this kind are wanted; with a name, whether this topic is."""
        topic = f"{kind}.{name}"
        return topic.startswith(self.topics) or (not name and any(t.startswith(topic) for t in self.topics))

    def _last_event(self, message):
        """Returns the number of the newest event that this subscription need not tell."""
        client = self._client_of(message)
        if "event_seq" in message.content:
            return message.content["event_seq"]
        if not client or not self._wants("event"):
            return 0
        try:
            found, _ = client.events_since(0)
        except Error:
            return 0
        return found[-1]["seq"] if found else 0

    def _gap(self, message, publisher, missed, event_seq):
        """Returns the gap before a message, with what the publisher says now."""
        gap = {"boot_id": message.boot_id, "node_id": message.node_id, "missed": missed, "restarted": missed is None}
        client = self._client_of(message)
        if not client:
            return Gap(**gap)
        try:
            if self._wants("qos") and "qos_get" in client.verbs:
                gap["windows"] = [window for window in client.entries("qos_get")
                                  if self._wants("qos", window["ns_id"])]
            if missed is None and "int_list" in client.verbs:
                gap["rules"] = client.entries("int_list")
            if self._wants("event"):
                found, gap["events_lost"] = client.events_since(event_seq)
                gap["events"] = [event for event in found if self._wants("event", event["kind"])]
                publisher.fetched = found[-1]["seq"] if found else 0
        except Error as error:
            gap["error"] = error
        return Gap(**gap)


def _read(topic, text, wanted):
    """Returns a message, without its content if it is a raw report that nobody wants. Raises ValueError with what is
    wrong."""
    kind = topic.split(".", 1)[0]
    found = None if wanted else _REPORT.match(text)
    if found:
        return Message(topic, kind, {}, found[3].decode(), int(found[1]), int(found[2]))
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the text is not JSON: {error}") from error
    content = next(iter(document.values()), None) if isinstance(document, dict) else None
    if not isinstance(content, dict) or len(document) != 1:
        raise ValueError("the text is not an object with one member, which is an object")
    for name, type_of in _MEMBERS.items():
        if not isinstance(content.get(name), type_of):
            raise ValueError(f"\"{name}\" is missing or of another type")
    return Message(topic, kind, content, content["boot_id"], content["seq"], content.get("node_id"))
