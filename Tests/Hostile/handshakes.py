# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""TLS of a client as bytes, for peers that need not keep its rules."""
import ssl

HANDSHAKE, DATA, ALERT, CHANGE_CIPHER, HEARTBEAT = 22, 23, 21, 20, 24


def record(kind, body, size=None):
    """A record; `size` is what it says that it has."""
    return bytes((kind, 3, 3)) + (len(body) if size is None else size).to_bytes(2, "big") + body


class Handshake:
    """A client's side: it takes any certificate, for it has nothing to protect."""

    def __init__(self, version=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if version:
            context.minimum_version = context.maximum_version = version
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.session = context.wrap_bio(self.incoming, self.outgoing)
        self.done = False

    def feed(self, data=b""):
        """What is to be said once this has come."""
        self.incoming.write(data)
        if not self.done:
            try:
                self.session.do_handshake()
                self.done = True
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError:
                return b""
        return self.outgoing.read()

    def write(self, data):
        self.session.write(data)
        return self.outgoing.read()
