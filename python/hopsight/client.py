# SPDX-License-Identifier: BSD-3-Clause
"""Requests to a node, a controller or a collector."""

import collections
import json
import time
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Optional

import zmq

from .errors import Changed, Error, NoAnswer, Refused
from .line import Line
from .requests import PAGED, Verbs

_TRIES = 10  # for all pages of a list that changes meanwhile
_SAFE_BYTES = 1 << 20  # no program's limit of a part is lower
_PARTS = 3  # the number of the message, an empty part, and the message


@dataclass(frozen=True)
class Reply:
    """The reply to one message. ok: what it says, None if the request was refused. error: the refusal, or None.
    generation: changes of rules and routes so far."""

    ok: Any
    error: Optional[Refused] = None
    generation: Optional[int] = None

    def result(self):
        """Returns ok, or raises the refusal."""
        if self.error:
            raise self.error
        return self.ok


class Client(Verbs):
    """Sends requests over one connection. Each verb is a method: client.int_get(ns_id=7) returns the `ok` of the
    reply, raises Refused if the request is refused, and NoAnswer if no reply comes within timeout_s.

    One thread may use a client at a time. After a fork, only one process may use it. A with statement closes it."""

    def __init__(self, endpoint, *, keys=None, timeout_s=5.0, context=None):
        self.endpoint, self.timeout_s = endpoint, timeout_s
        # Replies are taken one by one, so that those that nobody asks for stay with the sender.
        self._line = Line(context, zmq.DEALER, endpoint, keys, sndhwm=0)
        self._hello, self._count = None, 0
        self._early = {}  # replies that came before somebody asked for them, by number
        self.generation: Optional[int] = None  # of the last reply that had one

    # ---- one message ----

    def call(self, verb: str, **fields: Any) -> Any:
        return self.send({verb: fields}).result()

    def send(self, message, *, dry_run=False, if_generation=None) -> Reply:
        """Sends a request {verb: fields}, or a list of them, which is done as a whole, and returns the reply.
        dry_run: everything is checked and nothing changed. if_generation: refused (stale_generation) unless the rules
        are at this generation."""
        if dry_run or if_generation is not None:
            message = {"transaction": list(message)} if isinstance(message, (list, tuple)) else dict(message)
            message["dry_run"] = dry_run
            if if_generation is not None:
                message["if_generation"] = if_generation
        text = _text_of(message)
        if len(text) > _SAFE_BYTES and len(text) > self.limits["connection"]["message_bytes"]:
            return self._too_long(text)
        return self._take(self._put(text))

    def transaction(self, *, dry_run=False, if_generation=None) -> "Transaction":
        """Returns a list of requests that is done as a whole at the end of its with statement, or by commit()."""
        return Transaction(self, dry_run, if_generation)

    # ---- many messages ----

    def pipeline(self, messages: Iterable[Any]) -> Iterator[Reply]:
        """Sends messages without waiting for each reply, and yields the replies in order. No more is under way than
        the limits of hello allow. A message is a request {verb: fields} or a list of requests. A refused message is
        a Reply with an error. Whoever ends before the last reply leaves messages that may have been done."""
        limits, waiting, held = self.limits["connection"], collections.deque(), 0
        try:
            for message in messages:
                text = _text_of(message)
                size = len(text) + _PARTS * limits["part_bytes"]
                if len(text) > limits["message_bytes"]:
                    waiting.append((0, 0, self._too_long(text)))
                    continue
                while waiting and (len(waiting) >= limits["requests"] or held + size > limits["waiting_bytes"]):
                    held -= waiting[0][1]
                    yield self._next(waiting)
                waiting.append((self._put(text), size, None))
                held += size
            while waiting:
                yield self._next(waiting)
        finally:
            if waiting:
                self.close()

    def _next(self, waiting):
        number, _, reply = waiting[0]
        reply = reply or self._take(number)
        waiting.popleft()
        return reply

    # ---- lists that come in pages ----

    def entries(self, verb: str, **fields: Any) -> list[Any]:
        """Returns all entries of a list that comes in pages: of int_list, qos_get, route_list, neighbour_list, and of
        a collector's lists. Begins again if rules or routes change between two pages."""
        for _ in range(_TRIES):
            found, offset, before = [], 0, None
            while True:
                reply = self.send({verb: {**fields, "offset": offset}})
                page = reply.result()
                if before not in (None, reply.generation):
                    break
                found += page[PAGED[verb]]
                offset, before = page.get("next"), reply.generation
                if offset is None:
                    return found
        raise Changed(f"{self.endpoint}: {verb}: the list changed between two pages in each of {_TRIES} tries")

    def events_since(self, seq: int = 0) -> tuple[list[Any], int]:
        """Returns all events whose `seq` is greater, and how many of them are gone."""
        found, lost, more = [], 0, True
        while more:
            page = self.call("events", since=seq)
            found += page["events"]
            lost += page["lost"]
            seq, more = page["next"], page.get("more", False)
        return found, lost

    # ---- the connection ----

    def close(self):
        """Closes the connection. The next request opens it again."""
        self._line.close()
        self._early.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    @property
    def verbs(self) -> list[str]:
        """The verbs that are answered at this endpoint."""
        return self._who()["verbs"]

    @property
    def limits(self) -> dict[str, Any]:
        """The limits of hello."""
        return self._who()["limits"]

    def _who(self):
        if self._hello is None:
            self._hello = self.hello()
        return self._hello

    def _too_long(self, text):
        most = self.limits["connection"]["message_bytes"]
        return Reply(None, Refused("too_large", "", f"the message has {len(text)} bytes", f"at most {most} bytes"))

    def _no_answer(self):
        reason = self._line.reason()
        self.close()
        return NoAnswer(self.endpoint, self.timeout_s, reason)

    def _put(self, text):
        """Sends a message and returns its number. The reply repeats the parts in front of the empty one, also where
        the message could not be read."""
        self._count += 1
        self._line.socket().send_multipart([b"%d" % self._count, b"", text])
        return self._count

    def _take(self, number):
        """Returns the reply with this number."""
        end = time.monotonic() + self.timeout_s
        socket = self._line.socket()
        while number not in self._early:
            if not socket.poll(max(0, 1000 * (end - time.monotonic()))):
                raise self._no_answer()
            self._receive()
        reply = self._early.pop(number)
        self.generation = reply.get("generation", self.generation)
        if "ok" in reply:
            return Reply(reply["ok"], None, reply.get("generation"))
        error = reply["error"]
        return Reply(None, Refused(error["code"], error["path"], error["message"], error.get("expected", ""),
                                   reply.get("id")))

    def _receive(self):
        """Keeps the reply that waits."""
        parts = self._line.socket().recv_multipart()
        try:
            number, reply = int(parts[0]), json.loads(parts[-1])
        except (ValueError, RecursionError) as error:
            raise self._no_reply(f"it is not JSON: {error}") from error
        if not isinstance(reply, dict) or "ok" not in reply and not _is_error(reply.get("error")):
            raise self._no_reply('it has neither "ok" nor a whole "error"')
        self._early[number] = reply

    def _no_reply(self, reason):
        self.close()
        return Error(f"{self.endpoint}: the answer is none of Hopsight's: {reason}")


def _is_error(said):
    return isinstance(said, dict) and {"code", "path", "message"} <= set(said)


def _text_of(message):
    if isinstance(message, (list, tuple)):
        message = {"transaction": list(message)}
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()


class Transaction(Verbs):
    """Requests that are done in order and as a whole. Each verb is a method and adds a request."""

    def __init__(self, client, dry_run=False, if_generation=None):
        self.client, self.dry_run, self.if_generation = client, dry_run, if_generation
        self.requests: list[dict] = []
        self.results: Optional[list[Any]] = None  # the `ok` of each request, once they are done

    def call(self, verb: str, **fields: Any) -> Any:
        self.requests.append({verb: fields})

    def commit(self) -> list[Any]:
        """Sends the requests. Returns the `ok` of each, or raises Refused, and then nothing has changed."""
        self.results = self.client.send(self.requests, dry_run=self.dry_run,
                                        if_generation=self.if_generation).result()
        return self.results

    def __enter__(self):
        return self

    def __exit__(self, kind, *_error):
        if kind is None and self.requests:
            self.commit()
