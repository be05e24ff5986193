# SPDX-License-Identifier: BSD-3-Clause
"""CURVE keys as `hopsight keygen` writes them."""

import os
from dataclasses import dataclass
from typing import Optional

import zmq.auth
from zmq.auth.thread import ThreadAuthenticator


@dataclass(frozen=True)
class Keys:
    """secret: NAME.secret of our own. server: NAME.pub of the program that is connected to. allowed: a folder with
    NAME.pub of each program that may connect to a subscription that is bound."""

    secret: str
    server: Optional[str] = None
    allowed: Optional[str] = None

    def connects(self, socket):
        """Makes a socket prove this key, and accept only the server's."""
        if not self.server:
            raise ValueError("server: the public key of the program that is connected to is missing")
        socket.curve_publickey, socket.curve_secretkey = self._own()
        socket.curve_serverkey, _ = zmq.auth.load_certificate(self.server)

    def binds(self, socket):
        """Makes a socket accept only the keys of `allowed`. Returns what to stop() when the socket is closed. A context
        has room for one such socket, because ZeroMQ asks one judge for all of them."""
        if not self.allowed:
            raise ValueError("allowed: the folder with the public keys of those that may connect is missing")
        socket.curve_publickey, socket.curve_secretkey = self._own()
        socket.curve_server = True
        authenticator = ThreadAuthenticator(socket.context)
        authenticator.start()
        authenticator.configure_curve_callback("*", credentials_provider=self)
        return authenticator

    def callback(self, _domain, key):
        """Returns whether a key is allowed; pyzmq calls this at each handshake."""
        try:
            names = os.listdir(self.allowed)
        except OSError:
            return False  # a folder that cannot be read allows nobody, and the judge lives on
        for name in names:
            if name.endswith(".pub"):
                try:
                    known, _ = zmq.auth.load_certificate(os.path.join(self.allowed, name))
                except (OSError, ValueError):
                    continue  # a file that is no key allows nobody
                if known == key:
                    return True
        return False

    def _own(self):
        public, secret = zmq.auth.load_certificate(self.secret)
        if secret is None:
            raise ValueError(f"{self.secret}: has no secret key")
        return public, secret
