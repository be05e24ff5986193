# SPDX-License-Identifier: BSD-3-Clause
"""A panel of interfaces with faulty wires. Frames that come in at one leave at another, or are
lost, copied or delayed, by a seed. Each interface is captured, each direction in a file."""

import os
import random
import select
import socket
import struct
import threading
import time

ETH_P_ALL, OUTGOING = 3, 4
SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35
HOLD_S = 0.012
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)  # in nanoseconds


class Port:
    """An interface: it captures frames and sends frames."""

    def __init__(self, folder, name):
        self.name = name
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.bind((name, ETH_P_ALL))
        self.socket.setblocking(False)
        # A socket does not receive what it sends itself.
        self.sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sender.bind((name, 0))
        self.files = {}
        for way in ("in", "out"):
            self.files[way] = open(os.path.join(folder, f"{name}.{way}.pcap"), "wb")
            self.files[way].write(PCAP_HEADER)

    def read(self):
        """Returns frames from outside."""
        frames = []
        for _ in range(256):
            try:
                frame, controls, _, sender = self.socket.recvmsg(65536, 256)
            except BlockingIOError:
                break
            stamps = [struct.unpack("qq", data) for level, kind, data in controls
                      if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS]
            way = "out" if sender[2] == OUTGOING else "in"
            self.files[way].write(struct.pack("<IIII", *stamps[0], len(frame), len(frame)) + frame)
            if way == "in":
                frames.append(frame)
        return frames

    def close(self):
        self.read()
        for file in self.files.values():
            file.close()


class Panel:
    """Works in its own thread until it is closed."""

    def __init__(self, folder, seed, names):
        self.rng = random.Random(seed)
        self.ports = {name: Port(folder, name) for name in names}
        self.wires, self.held, self.ending = {}, [], False
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def patch(self, *wires):
        """Sets new wiring: (from, to, ratios of each fate: loss, copy, hold)."""
        self.wires = {a: (self.ports[b], fates) for a, b, fates in wires}

    def forward(self, name, frame):
        if name not in self.wires:
            return
        port, fates = self.wires[name]
        # Each frame uses the same number of draws.
        lost, copied, held = (self.rng.random() < fates.get(key, 0)
                              for key in ("loss", "copy", "hold"))
        if lost:
            return
        if held:
            self.held.append((time.monotonic() + HOLD_S, port, frame))
            return
        for _ in range(1 + copied):
            port.sender.send(frame)

    def work(self):
        by_socket = {port.socket: port for port in self.ports.values()}
        while not self.ending:
            wait = max(0, self.held[0][0] - time.monotonic()) if self.held else 0.1
            for one in select.select([*by_socket], [], [], wait)[0]:
                for frame in by_socket[one].read():
                    self.forward(by_socket[one].name, frame)
            while self.held and self.held[0][0] <= time.monotonic():
                _, port, frame = self.held.pop(0)
                port.sender.send(frame)

    def close(self):
        self.ending = True
        self.thread.join()
        for port in self.ports.values():
            port.close()
