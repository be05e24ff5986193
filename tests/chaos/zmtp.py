# SPDX-License-Identifier: BSD-3-Clause
"""ZMTP 3 without encryption over a plain socket, for messages that no well-behaved library
sends."""

import socket
import struct

_GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
MORE, LARGE, COMMAND = 1, 2, 4


def frame(content, flags=0):
    if len(content) > 255:
        return struct.pack(">BQ", flags | LARGE, len(content)) + content
    return struct.pack(">BB", flags, len(content)) + content


def request(text):
    return frame(b"", MORE) + frame(text)


def ping(ttl=0, context=b""):
    return frame(b"\x04PING" + struct.pack(">H", ttl) + context, COMMAND)


def _ready(kind):
    return frame(b"\x05READY\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind.encode(),
                 COMMAND)


HELLO = _GREETING + _ready("DEALER")


class Zmtp:
    """A connection after its handshake."""

    def __init__(self, endpoint, kind="DEALER", limit_s=10, accepted=None):
        if accepted:
            self.socket = accepted
        elif endpoint.startswith("ipc://"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(endpoint[len("ipc://"):])
        else:
            host, port = endpoint[len("tcp://"):].rsplit(":", 1)
            self.socket = socket.create_connection((host, int(port)))
        self.socket.settimeout(limit_s)
        self.socket.sendall(_GREETING + _ready(kind))
        self._exactly(64)
        flags, _ = self.receive()
        if not flags & COMMAND:
            raise AssertionError("the handshake ends with a command")

    def _exactly(self, n):
        parts = b""
        while len(parts) < n:
            more = self.socket.recv(n - len(parts))
            if not more:
                raise ConnectionError("the connection ended")
            parts += more
        return parts

    def receive(self):
        """Returns the next frame's flags and content."""
        flags = self._exactly(1)[0]
        size = struct.unpack(">Q", self._exactly(8))[0] if flags & LARGE else self._exactly(1)[0]
        return flags, self._exactly(size)

    def reply(self):
        """Returns the last part of the next message."""
        while True:
            flags, content = self.receive()
            if not flags & (MORE | COMMAND):
                return content

    def send(self, data):
        self.socket.sendall(data)

    def send_some(self, data):
        """Sends what can be sent without a long wait. Returns how many bytes that were."""
        self.socket.settimeout(0.3)
        sent = 0
        try:
            while sent < len(data):
                sent += self.socket.send(data[sent:sent + 65536])
        except (socket.timeout, ConnectionError):
            pass
        return sent

    def reset(self):
        """Resets the connection, as a machine does that no longer knows it."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self):
        self.socket.close()
