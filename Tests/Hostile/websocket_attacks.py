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
        """A connection whose upgrade is right; `data` follows the gateway's answer."""
        return self.swarm.connect(self.address("websocket"), upgrade(protocols), after=data, **options)


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
    does = ("4,000 requests that open nothing: other methods, versions and subprotocols, keys that are none, pages of other origins, "
            "heads of 20 KB and of 2,000 lines, a body, random bytes, TLS, ZMTP, and a request with bytes changed.")
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
            upgrade(extra=b"Origin: https://" + choose.choice((b"evil.example", b"gateway.evil.example", b"\xff\xfe")) + b"\r\n"),
            upgrade(extra=b"X: " + b"x" * 20_000 + b"\r\n"), upgrade(extra=b"X: x\r\n" * 2_000),
            upgrade(extra=b"Content-Length: 9223372036854775808\r\n") + choose.randbytes(1_000),
            choose.randbytes(choose.randrange(1, 4_096)), b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + choose.randbytes(506),
            zmtp.greeting(), bytes(whole)))

    def run(self):
        def answered(peer, data):
            self.facts["opened" if data.startswith(b"HTTP/1.1 101") else "answered"] += 1

        self.come_and_go(
            lambda number: self.swarm.connect(self.address("websocket"), self.piece(), heard=answered), after=0.3)


class WrongFrames(WebSocketAttack):
    name, entrance = "websocket-wrong-frames", "WebSocket"
    does = ("4,000 connections that break the protocol after a good start: no mask, text, reserved bits and opcodes, lengths of 2^63 and "
            "in a longer form than is needed, control frames in fragments or too long, a continuation of nothing, a message within a "
            "message, 1,000 empty fragments, closes with wrong codes, flags that ZeroMQ has not, and random frames.")
    full, short = 4_000, 400

    def piece(self):
        choose = self.random
        join = attacks.encoded(1, self.session(), join=attacks.listener_pb2.Join(stream=self.context["streams"][0]))
        return choose.choice((
            frame(LAST + b"x", masked=False), frame(b"hello", FINAL | TEXT), frame(LAST, 0xC2), frame(LAST, 0x92),
            frame(b"", FINAL | choose.randrange(3, 8)),
            header(FINAL | BINARY, 1 << 63, long=8) + bytes(2_000), header(FINAL | BINARY, (1 << 62) + 5, long=8),
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


class EndlessFrames(WebSocketAttack):
    name, entrance = "websocket-endless-frames", "WebSocket"
    does = ("Frames without end, as fast as they are taken, on eight connections: a message in empty fragments, one in fragments of 8 KiB, "
            "PINGs, and PONGs that nothing asked for; half never read. New ones take the place of those that are closed.")
    full, short = 32 << 30, 16 << 20

    def run(self):
        blocks = [frame(b"", CONTINUATION) * 10_000, frame(bytes(8_192), CONTINUATION) * 16,
                  frame(b"p" * 100, FINAL | PING) * 600, frame(b"", FINAL | PONG) * 10_000]

        def connect(number):
            begins = frame(LAST, BINARY) if number % 4 < 2 else b""
            return self.connect(begins, refill=self.refill_with_fact, fact=blocks[number % 4], reading=number % 8 < 4)

        # Enough of each kind that a counter of those that are closed tells of it.
        self.keep_open(48 if self.context["short"] else 8, connect, 100)


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
    does = ("40,000 connections that open, subscribe the listeners' stream or join it, and vanish without a closing frame, 50 at a time; "
            "and 5,000 that come at once and stay.")

    def dealer(self, data=b"", **options):
        join = attacks.encoded(1, self.session(), join=attacks.listener_pb2.Join(stream=self.context["streams"][0]))
        return WebSocketAttack.connect(self, request(join))

    def subscriber(self, data=b"", **options):
        return WebSocketAttack.connect(self, subscription(self.context["streams"][0].encode() + b"\0"))

    def hold(self):
        """The crowd comes when the others have gone."""
        for number in range(300 if self.context["short"] else 5_000):
            if not self.goes_on():
                break
            if self.subscriber() if number % 2 else self.dealer():
                self.facts["crowd"] += 1
        super().hold()


ATTACKS = [HalfUpgrades, WrongUpgrades, WrongFrames, EndlessFrames, SlowSockets, SocketChurn]
