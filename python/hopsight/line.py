# SPDX-License-Identifier: BSD-3-Clause
"""A socket and what is known of its connection."""

import errno

import zmq
import zmq.utils.monitor

from .errors import Error

_EVENTS = {
    zmq.EVENT_HANDSHAKE_SUCCEEDED: "connected",
    zmq.EVENT_CONNECTED: "connected, and the handshake is not over",
    zmq.EVENT_CONNECT_RETRIED: "nobody listens there",
    zmq.EVENT_CLOSED: "nobody listens there",
    zmq.EVENT_DISCONNECTED: "the connection was closed",
    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL: "the handshake failed: one side uses keys, or the server's key is another",
    zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL: "the handshake failed: one side uses keys, or the server's key is another",
    zmq.EVENT_HANDSHAKE_FAILED_AUTH: "the handshake failed: our key is not allowed",
}
_LOST = {zmq.EVENT_DISCONNECTED, zmq.EVENT_CLOSED, zmq.EVENT_CONNECT_RETRIED}


class Line:
    """A socket of one endpoint, opened at the first use and again after close(). A socket that is bound and has keys
    gets a context of its own: several of them would share the judge of keys, and one may allow whom another does not."""

    def __init__(self, context, kind, endpoint, keys, **options):
        self.context, self.kind, self.keys = context or zmq.Context.instance(), kind, keys
        self.endpoint = f"ipc://{endpoint}" if endpoint.startswith("/") else endpoint
        self.options = options
        self._socket = self._monitor = self._guard = self._judged = None
        self._reason = ""

    def socket(self, bind=False):
        """Returns the socket."""
        if self._socket is None:
            if bind and self.keys:
                self._judged = zmq.Context()
            made = (self._judged or self.context).socket(self.kind)
            monitor = None
            try:
                made.linger = 0
                for name, value in self.options.items():
                    setattr(made, name, value)
                if self.keys:
                    self._guard = self.keys.binds(made) if bind else self.keys.connects(made)
                monitor = made.get_monitor_socket(sum(_EVENTS))
                (made.bind if bind else made.connect)(self.endpoint)
            except BaseException as error:
                _close(made, monitor)
                self._stop_guard()
                if isinstance(error, zmq.ZMQError):
                    allowed = " (allowed: /path, ipc:///path or tcp://address:port)" if error.errno == errno.EINVAL else ""
                    raise Error(f"{self.endpoint}: {error.strerror}{allowed}") from error
                raise
            self._socket, self._monitor, self._reason = made, monitor, "nobody listens there"
        return self._socket

    def reason(self):
        """Returns what is known of the connection."""
        while self._monitor is not None and self._monitor.poll(0):
            event = zmq.utils.monitor.recv_monitor_message(self._monitor)["event"]
            # A connection ends after its handshake failed, which says more.
            if not (event in _LOST and "handshake failed" in self._reason):
                self._reason = _EVENTS[event]
        return self._reason

    def close(self):
        """Closes the socket. What it has not sent is dropped."""
        if self._socket is not None:
            _close(self._socket, self._monitor)
            self._socket = self._monitor = None
        self._stop_guard()

    def _stop_guard(self):
        if self._guard is not None:
            self._guard.stop()
            self._guard = None
        if self._judged is not None:
            self._judged.term()
            self._judged = None


def _close(socket, monitor):
    if monitor is not None:
        socket.disable_monitor()
        monitor.close(linger=0)
    socket.close()
