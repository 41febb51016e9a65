# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Thousands of raw TCP connections on one epoll, which never wait for one another."""
import contextlib, errno, resource, select, socket, struct, time

#: Where all attacks come from: one address, and another one than that of the honest listeners.
SOURCE = "127.0.0.2"
#: Where the balancer is, where there is one.
BALANCER = "127.0.0.9"
READ_BYTES = 65_536
GREETING_BYTES = 64


def host_port(address):
    """Of tcp://HOST:PORT or HOST:PORT."""
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    return host, int(port)


def raise_descriptor_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


class Peer:
    """One connection. `after` is sent once the other side's whole greeting is there, for libzmq takes no message that comes
    in one piece with the greeting. `out` is sent as it can be; then `refill` is asked for more, until it first gives nothing."""

    __slots__ = ("socket", "out", "refill", "heard", "reading", "state", "opened", "mask", "ended", "fact", "sent",
                 "after", "reads_later", "received")

    def __init__(self, opened):
        self.socket = opened
        self.out = memoryview(b"")
        self.refill = self.heard = self.ended = self.fact = None
        self.reading = True
        self.state = "connecting"
        self.opened = time.monotonic()
        self.mask = 0
        self.sent = self.received = 0
        self.after, self.reads_later = None, True

    @property
    def open(self):
        return self.state != "closed"


class Swarm:
    def __init__(self, goes_on):
        self.epoll = select.epoll()
        self.peers = {}
        self.goes_on = goes_on
        #: What happened, for the report.
        self.counts = {"connections": 0, "connected": 0, "refused": 0, "closed_by_gateway": 0}

    def connect(self, address, data=b"", *, after=None, refill=None, heard=None, ended=None, reading=True,
                receive_bytes=None, fact=None, source=SOURCE):
        """Opens a connection that sends `data`, then `after`, then what `refill` gives; with `reading` false it reads no more
        than the other side's greeting. `None` where this process has no descriptor or port left.
        """
        try:
            opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        except OSError:
            self.counts["refused"] += 1
            return None
        try:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # The port is chosen with the other end's address, so that more connections fit than there are ports.
            opened.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if receive_bytes:
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            opened.bind((source, 0))
            code = opened.connect_ex(host_port(address))
        except OSError:
            code = errno.EADDRNOTAVAIL
        if code not in (0, errno.EINPROGRESS):
            opened.close()
            self.counts["refused"] += 1
            return None
        peer = Peer(opened)
        peer.out, peer.after, peer.refill, peer.heard = memoryview(data), after, refill, heard
        peer.ended, peer.fact = ended, fact
        peer.reading, peer.reads_later = reading or after is not None, reading
        self.peers[opened.fileno()] = peer
        peer.mask = select.EPOLLOUT
        self.epoll.register(opened.fileno(), peer.mask)
        self.counts["connections"] += 1
        return peer

    def send(self, peer, data):
        """Puts bytes behind what waits to be sent."""
        if peer.open and peer.after is not None:
            peer.after += data
        elif peer.open:
            peer.out = memoryview(bytes(peer.out) + data) if len(peer.out) else memoryview(data)
            self._flush(peer)

    def close(self, peer, reset=False):
        """Closes from this side; with `reset` without a word, as a peer that vanishes."""
        if not peer.open:
            return
        if reset:
            with contextlib.suppress(OSError):
                peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._forget(peer)

    def _forget(self, peer):
        descriptor = peer.socket.fileno()
        self.peers.pop(descriptor, None)
        with contextlib.suppress(OSError):
            self.epoll.unregister(descriptor)
        peer.socket.close()
        peer.state = "closed"
        peer.out = memoryview(b"")

    def _lost(self, peer):
        self.counts["refused" if peer.state == "connecting" else "closed_by_gateway"] += 1
        self._forget(peer)
        if peer.ended:
            peer.ended(peer)

    def _flush(self, peer):
        if peer.state == "connecting":
            return
        # Not for ever with one peer: the others wait.
        for _ in range(16):
            if not len(peer.out):
                if peer.after is not None:
                    break
                more = peer.refill(peer) if peer.refill else None
                if not more:
                    peer.refill = None
                    break
                peer.out = memoryview(more)
                if not peer.open:
                    return
            try:
                count = peer.socket.send(peer.out)
            except BlockingIOError:
                break
            except OSError:
                self._lost(peer)
                return
            peer.sent += count
            peer.out = peer.out[count:]
        self._watch(peer)

    def _watch(self, peer):
        if not peer.open:
            return
        mask = (select.EPOLLIN if peer.reading else 0) | (
            select.EPOLLOUT if len(peer.out) or (peer.refill and peer.after is None) else 0)
        if mask != peer.mask:
            peer.mask = mask
            self.epoll.modify(peer.socket.fileno(), mask)

    def turn(self, seconds=0.05):
        """Serves what is ready, at most so long waiting for it."""
        for descriptor, events in self.epoll.poll(seconds, 1_024):
            peer = self.peers.get(descriptor)
            if peer is None:
                continue
            if peer.state == "connecting" and events & (select.EPOLLOUT | select.EPOLLERR | select.EPOLLHUP):
                if peer.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    self._lost(peer)
                    continue
                peer.state = "open"
                self.counts["connected"] += 1
                self._flush(peer)
                continue
            if events & select.EPOLLIN:
                try:
                    data = peer.socket.recv(READ_BYTES)
                except BlockingIOError:
                    data = None
                except OSError:
                    data = b""
                if data == b"":
                    self._lost(peer)
                    continue
                peer.received += len(data or b"")
                if peer.after is not None and peer.received >= GREETING_BYTES:
                    after, peer.after, peer.reading = peer.after, None, peer.reads_later
                    self.send(peer, after)
                if data and peer.heard and peer.open:
                    peer.heard(peer, data)
            elif events & (select.EPOLLERR | select.EPOLLHUP):
                self._lost(peer)
                continue
            if peer.open and events & select.EPOLLOUT:
                self._flush(peer)

    def hold(self):
        """Keeps all connections as they are until the attack is over."""
        while self.goes_on():
            self.turn()

    def close_all(self):
        for peer in list(self.peers.values()):
            self.close(peer)
