# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""What strangers may do at the port for ZeroMQ over WebSocket (RFC 6455, and RFC 45 of rfc.zeromq.org)."""
import base64

import attacks, zmtp
from attacks import Attack, Churn, SlowReaders

#: The first byte of a message of ZeroMQ.
LAST, MORE, COMMAND = b"\0", b"\1", b"\2"
BINARY, TEXT, CONTINUATION, CLOSE, PING, PONG, FINAL = 2, 1, 0, 8, 9, 10, 0x80
#: A key of zeros is a key, and masks nothing: frames can be made by the thousand.
KEY = bytes(4)


def header(first, size, masked=True, long=None):
    """What precedes a payload of `size` bytes; `long` forces the form with 2 or with 8 bytes."""
    mask = FINAL if masked else 0
    if long == 8 or (long is None and size > 65_535):
        length = bytes((mask | 127,)) + size.to_bytes(8, "big")
    elif long == 2 or size > 125:
        length = bytes((mask | 126,)) + size.to_bytes(2, "big")
    else:
        length = bytes((mask | size,))
    return bytes((first,)) + length + (KEY if masked else b"")


def frame(payload, first=FINAL | BINARY, masked=True):
    return header(first, len(payload), masked) + payload


def request(body):
    """As REQ sends it: an empty delimiter, then the body."""
    return frame(MORE) + frame(LAST + body)


def subscription(topic):
    return frame(LAST + b"\1" + topic)


def ready(kind):
    data = zmtp.metadata(b"Socket-Type", kind)
    return frame(COMMAND + b"\5READY" + (data + zmtp.metadata(b"Identity", b"") if kind != b"SUB" else data))


def upgrade(protocols=b"ZWS2.0", line=b"GET / HTTP/1.1", key=b"MDEyMzQ1Njc4OWFiY2RlZg==", version=b"13", extra=b""):
    """The request that opens a connection. (RFC 6455, section 4.1)"""
    return (line + b"\r\nHost: gateway\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: " + version
            + b"\r\nSec-WebSocket-Key: " + key + b"\r\nSec-WebSocket-Protocol: " + protocols + b"\r\n" + extra + b"\r\n")


class WebSocketAttack(Attack):
    access = "websocket"

    def address(self, name):
        found = self.context["addresses"]
        return found["websocket"].removeprefix("ws://").partition("/")[0] if name == "websocket" else super().address(name)

    def connect(self, data=b"", protocols=b"ZWS2.0", **options):
        """A connection whose upgrade is right; `data` follows the gateway's answer, behind the routing id where there is no mechanism."""
        return self.swarm.connect(self.address("websocket"), upgrade(protocols),
                                  after=(frame(LAST) if protocols == b"ZWS2.0" else b"") + data, **options)


class HalfUpgrades(WebSocketAttack):
    name, entrance = "websocket-half-upgrades", "WebSocket"
    does = ("5,000 connections whose request never comes in full: nothing, half of it, all but the last byte, one byte a second, and "
            "a whole one without the READY that it promises. New ones take the place of those that are closed, 1,000 a second at most.")
    full, short = 5_000, 300

    def run(self):
        whole = upgrade()
        parts = (b"", whole[:len(whole) // 2], whole[:-1], whole[:1], upgrade(b"ZWS2.0/NULL"))
        self.trickle()
        self.keep_open(self.amount, lambda number: self.swarm.connect(
            self.address("websocket"), parts[number % 5], fact=iter(whole[1:]) if number % 5 == 3 else None), 1_000)


class WrongUpgrades(WebSocketAttack):
    name, entrance = "websocket-wrong-upgrades", "WebSocket"
    does = ("4,000 requests that open nothing: other methods, versions and subprotocols, keys that are none, heads of 20 KB and of 2,000 "
            "lines, a body, random bytes, TLS, ZMTP, and a request with bytes changed.")
    full, short = 4_000, 300

    def piece(self):
        choose = self.random
        whole = bytearray(upgrade())
        for _ in range(choose.randrange(1, 6)):
            whole[choose.randrange(len(whole))] = choose.randrange(256)
        return choose.choice((
            upgrade(line=choose.choice((b"POST / HTTP/1.1", b"GET / HTTP/1.0", b"GET /", b"PRI * HTTP/2.0", b"get / http/1.1"))),
            upgrade(version=choose.choice((b"8", b"", b"13, 8", b"9" * 3_000))),
            upgrade(protocols=choose.choice((b"", b"mqtt", b"ZWS1.0", b"ZWS2.0/CURVE", b", " * 2_000))),
            upgrade(key=choose.choice((b"", b"short", base64.b64encode(choose.randbytes(17)), b"=" * 24))),
            upgrade(extra=b"X: " + b"x" * 20_000 + b"\r\n"), upgrade(extra=b"X: x\r\n" * 2_000),
            upgrade(extra=b"Content-Length: 9223372036854775808\r\n") + choose.randbytes(1_000),
            choose.randbytes(choose.randrange(1, 4_096)), b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + choose.randbytes(506),
            zmtp.greeting(), bytes(whole)))

    def run(self):
        def answered(peer, data):
            self.facts["opened" if data.startswith(b"HTTP/1.1 101") else "answered"] += 1

        self.come_and_go(
            lambda number: self.swarm.connect(self.address("websocket"), self.piece(), heard=answered), after=0.3)


class WrongOrigins(WebSocketAttack):
    name, entrance = "websocket-wrong-origins", "WebSocket"
    does = ("4,000 requests that are right but come from pages of other origins: another host, a host that begins or ends as the gateway's "
            "does, another port, `null`, nothing, two origins, the gateway's with a path, a user or letters that are none. Each that is let "
            "in is counted as forged.")
    full, short = 4_000, 300

    def piece(self):
        origin = self.random.choice((
            b"https://evil.example", b"https://gateway.evil.example", b"https://evilgateway", b"https://gateway:81", b"null", b"",
            b"https://evil.example, https://gateway", b"https://gateway, https://evil.example", b"https://gateway/listen",
            b"https://user@gateway", b"https://gateway\xff", b"file://gateway", b"*", b"https://" + b"g" * 3_000))
        # Two lines, the gateway's own first: the other one must not be overlooked.
        twice = b"Origin: https://gateway\r\n" if self.random.random() < 0.1 else b""
        return upgrade(extra=twice + b"Origin: " + origin + b"\r\n")

    def run(self):
        def answered(peer, data):
            self.facts["opened" if data.startswith(b"HTTP/1.1 101") else "answered"] += 1

        self.come_and_go(
            lambda number: self.swarm.connect(self.address("websocket"), self.piece(), heard=answered), after=0.3)

    def report(self):
        return {**super().report(), "forged_opened": self.facts["opened"]}


class WrongFrames(WebSocketAttack):
    name, entrance = "websocket-wrong-frames", "WebSocket"
    does = ("4,000 connections that break the protocol after a good start: text, reserved bits and opcodes, lengths in a longer form than is "
            "needed, control frames in fragments or too long, a continuation of nothing, a message within a message, 1,000 empty fragments, "
            "closes with wrong codes, flags that ZeroMQ has not, and random frames.")
    full, short = 4_000, 400

    def piece(self):
        choose = self.random
        join = attacks.encoded(1, self.session(), join=attacks.listener_pb2.Join(stream=self.context["streams"][0]))
        return choose.choice((
            frame(b"hello", FINAL | TEXT), frame(LAST, 0xC2), frame(LAST, 0x92), frame(b"", FINAL | choose.randrange(3, 8)),
            header(FINAL | BINARY, 5, long=8) + LAST + b"\1abc", header(FINAL | BINARY, 5, long=2) + LAST + b"\1abc",
            frame(b"x", PING), frame(bytes(126), FINAL | PING), frame(b"x", CLOSE), frame(b"x", FINAL | CONTINUATION),
            frame(LAST + b"\1a", BINARY) + frame(LAST, FINAL | BINARY), frame(LAST, BINARY) + frame(b"", CONTINUATION) * 1_000,
            frame(b"\x03", FINAL | CLOSE), frame(b"\x03\xec\xff\xfe", FINAL | CLOSE), frame(b"\0\0", FINAL | CLOSE),
            frame(bytes((choose.randrange(3, 256),)) + join), frame(MORE) + frame(MORE) + frame(LAST + join), frame(MORE) * 200,
            frame(b""), request(join)[:-choose.randrange(1, 20)], frame(choose.randbytes(choose.randrange(1, 300))),
            choose.randbytes(choose.randrange(2, 2_048))))

    def run(self):
        self.come_and_go(
            lambda number: self.connect(self.piece()) if number % 2
            else self.connect(ready(b"DEALER") + self.piece(), b"ZWS2.0/NULL"), after=0.3)


class UnmaskedFrames(WebSocketAttack):
    name, entrance = "websocket-unmasked-frames", "WebSocket"
    does = ("4,000 connections whose frames are right but have no mask: a subscription, a join, an empty frame, a PING, a PONG, a close, a "
            "fragment, and a frame with a mask before one without; and frames without end as fast as they are taken.")
    full, short = 4_000, 300

    def run(self):
        stream = self.context["streams"][0]
        join = attacks.encoded(1, self.session(), join=attacks.listener_pb2.Join(stream=stream))
        bare = lambda payload, first=FINAL | BINARY: frame(payload, first, masked=False)
        pieces = (bare(LAST + b"\1" + stream.encode() + b"\0"), bare(MORE) + bare(LAST + join), bare(b""), bare(b"p", FINAL | PING),
                  bare(b"p", FINAL | PONG), bare(b"\x03\xe8", FINAL | CLOSE), bare(LAST, BINARY), frame(MORE) + bare(LAST + join))
        endless = bare(bytes(8_192)) * 16

        def connect(number):
            piece = self.random.choice(pieces)
            return self.connect(piece, refill=(lambda _: endless) if number % 4 == 0 else None)

        self.come_and_go(connect, after=0.3)


class GiantFrames(WebSocketAttack):
    name, entrance = "websocket-giant-frames", "WebSocket"
    does = ("200 connections, each with a frame of 17,000 up to 2^64 bytes: its header, and then its payload without end, as fast as it is taken; a "
            "fifth sends its payload a byte a second, a fifth has a frame of the largest size that is allowed and never its last byte. "
            "New ones take the place of those that are closed, 500 a second at most.")
    full, short = 200, 60
    sizes = (17_000, 1 << 20, (1 << 31) - 1, 1 << 32, (1 << 62) + 5, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
    #: A request that is larger is refused (requestFrameBytesMax).
    allowed_bytes = 16_384

    def run(self):
        block = bytes(65_536)
        self.trickle()

        def connect(number):
            if number % 5 == 0:
                return self.connect(header(FINAL | BINARY, self.allowed_bytes) + LAST + bytes(self.allowed_bytes - 2))
            begins = header(FINAL | BINARY, self.random.choice(self.sizes))
            if number % 5 == 1:
                return self.connect(begins, fact=iter(bytes(60)))
            return self.connect(begins + LAST, refill=lambda _: block, reading=number % 5 < 4)

        self.keep_open(self.amount, connect, 500)


class Endless(WebSocketAttack):
    """Eight connections that send the same again and again, as fast as it is taken, half of them without ever reading."""

    def keep_sending(self, kinds):
        """`kinds`: what a connection sends first, and what it repeats."""
        def connect(number):
            begins, block = kinds[number % len(kinds)]
            return self.connect(begins, refill=self.refill_with_fact, fact=block, reading=number // len(kinds) % 2 == 0)

        # Enough of each kind that a counter of those that are closed tells of it.
        self.keep_open(48 if self.context["short"] else 8, connect, 100)


class EndlessFragments(Endless):
    name, entrance = "websocket-endless-fragments", "WebSocket"
    does = ("Messages in fragments without end, as fast as they are taken, on eight connections: empty ones, of one byte, of 8 KiB, and of one byte "
            "with PINGs in between; half never read. New ones take the place of those that are closed, 100 a second at most.")
    full, short = 32 << 30, 8 << 20

    def run(self):
        begins = frame(LAST, BINARY)
        self.keep_sending([(begins, frame(b"", CONTINUATION) * 10_000), (begins, frame(b"x", CONTINUATION) * 8_000),
                           (begins, frame(bytes(8_192), CONTINUATION) * 16),
                           (begins, (frame(b"x", CONTINUATION) + frame(b"p", FINAL | PING)) * 5_000)])


class EndlessPings(Endless):
    name, entrance = "websocket-endless-pings", "WebSocket"
    does = ("Control frames without end, as fast as they are taken, on eight connections: PINGs of 100 bytes, empty ones, PONGs that nothing asked "
            "for, and PINGs within a message; half never read. New ones take the place of those that are closed, 100 a second at most.")
    full, short = 32 << 30, 8 << 20

    def run(self):
        ping = frame(b"p" * 100, FINAL | PING) * 600
        self.keep_sending([(b"", ping), (b"", frame(b"", FINAL | PING) * 10_000), (b"", frame(b"", FINAL | PONG) * 10_000),
                           (frame(LAST, BINARY), ping)])


class SlowSockets(WebSocketAttack, SlowReaders):
    name, entrance = "websocket-slow-readers", "WebSocket"
    does = ("200 connections with the smallest receive buffer, half of which subscribe to everything and half join with push; half never "
            "read, half read 64 bytes a second; meanwhile a stream of their own gets 20,000 notices.")

    def connect(self, number):
        # Every other peer reads (`SlowReaders.run`), so that some of each kind do.
        if number // 2 % 2:
            data = b"".join(subscription(each.encode() + b"\0") for each in (self.stream, *self.context["streams"])) + subscription(b"")
        else:
            join = attacks.listener_pb2.Join(stream=self.stream, push=True)
            data = request(attacks.encoded(1, self.session(), join=join))
        return WebSocketAttack.connect(self, data, reading=False, receive_bytes=2_304)


class SocketChurn(WebSocketAttack, Churn):
    name, entrance = "websocket-churn", "WebSocket"
    does = ("40,000 connections that open, subscribe the listeners' stream or join it, and vanish without a closing frame, 50 at a time.")

    def dealer(self, data=b"", **options):
        join = attacks.encoded(1, self.session(), join=attacks.listener_pb2.Join(stream=self.context["streams"][0]))
        return WebSocketAttack.connect(self, request(join), **options)

    def subscriber(self, data=b"", **options):
        return WebSocketAttack.connect(self, subscription(self.context["streams"][0].encode() + b"\0"), **options)


class Crowd(SocketChurn):
    name, entrance = "websocket-crowd", "WebSocket"
    does = ("5,000 connections at once, as fast as the system opens them: half subscribe the listeners' stream, half join it. All stay, and read all "
            "that comes. New ones take the place of those that are closed.")
    full, short = 5_000, 400
    seconds = 20
    #: The answer to the upgrade has some bytes less, and with the gateway's routing id some more. A reply has more than are left to 200.
    opened_bytes, joined_bytes = 162, 200

    def run(self):
        answered = set()

        def heard(peer, data):
            # A subscription has no answer: what is published may be long in coming.
            if peer.received > peer.fact:
                answered.add(peer)
                self.facts["served_at_once"] = max(self.facts["served_at_once"], len(answered))

        def connect(number):
            make, fact = (self.subscriber, self.opened_bytes) if number % 2 else (self.dealer, self.joined_bytes)
            return make(heard=heard, ended=answered.discard, fact=fact)

        # They are all there before the others' time is over.
        while self.goes_on() and len(answered) < self.amount:
            while len(self.swarm.peers) < self.amount and connect(self.swarm.counts["connections"]):
                pass
            self.swarm.turn()
        if len(answered) < self.amount:
            raise RuntimeError(f"only {len(answered)} of {self.amount} connections were served at once")
        if self.context["short"]:
            self.hold()
        else:
            self.keep_open(self.amount, connect, 1_000)


ATTACKS = [HalfUpgrades, WrongUpgrades, WrongOrigins, WrongFrames, UnmaskedFrames, GiantFrames, EndlessFragments, EndlessPings,
           SlowSockets, SocketChurn, Crowd]
