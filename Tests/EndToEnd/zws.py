# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A ZeroMQ client over WebSocket, written from RFC 45 only, on the library `websockets`."""
import asyncio, os, time

import websockets

from harness import PATIENCE, listener_pb2, notice_pb2, status_pb2


class Socket:
    """One connection without a mechanism: messages are lists of frames. (The name `ZWS2.0/NULL` is no token of RFC 6455: this library refuses
    it, as browsers do.)"""

    def __init__(self, url, **options):
        self.url, self.options = url, options

    async def __aenter__(self):
        self.socket = await asyncio.wait_for(websockets.connect(
            self.url, subprotocols=["ZWS2.0"], max_size=None, ping_interval=None, open_timeout=PATIENCE, **self.options), PATIENCE)
        assert self.socket.subprotocol == "ZWS2.0"
        await self.socket.send(b"\0my routing id")
        assert await self.frame() == (0, b"")
        return self

    async def __aexit__(self, *_):
        await self.socket.close()

    async def frame(self):
        """The flags and the body of the next frame."""
        message = await asyncio.wait_for(self.socket.recv(), PATIENCE)
        assert isinstance(message, bytes) and message, "a message that is no frame of ZeroMQ"
        return message[0], message[1:]

    async def receive(self):
        frames, flags = [], 1
        while flags & 1:
            flags, body = await self.frame()
            frames.append(body)
        return frames

    async def send(self, *frames):
        for number, body in enumerate(frames, 1):
            await self.socket.send((b"\1" if number < len(frames) else b"\0") + body)


class Listener:
    """A listener with notices pushed, that follows positions as the contract says."""

    def __init__(self, socket, stream, session=None):
        self.socket, self.stream, self.session = socket, stream, session or os.urandom(16)
        self.last, self.counter, self.ticket = None, 0, b""
        #: Every notice applied, in order, and those that came while an answer was waited for.
        self.applied, self.early = [], []

    def notice(self, frame):
        topic, encoded = frame.split(b"\0", 1)
        assert topic == self.stream.encode()
        return notice_pb2.Notice.FromString(encoded)

    async def ask(self, **kind):
        self.counter += 1
        await self.socket.send(b"", listener_pb2.Request(
            request_id=self.counter, session=self.session, ticket=self.ticket, **kind).SerializeToString())
        while len(frames := await self.socket.receive()) == 1:
            self.early.append(self.notice(frames[0]))
        assert frames[0] == b""
        reply = listener_pb2.Reply.FromString(frames[1])
        assert reply.request_id == self.counter and reply.status == status_pb2.STATUS_CODE_OK, reply
        return reply

    async def join(self, **fields):
        joined = (await self.ask(join=listener_pb2.Join(stream=self.stream, last=self.last, push=True, **fields))).joined
        assert joined.pushed
        self.ticket = joined.ticket
        if joined.kind == listener_pb2.JOIN_KIND_RECOVERED:
            for notice in joined.notices:
                assert notice.position.sequence == self.last.sequence + 1, "a recovery has a gap"
                self.take(notice)
        elif joined.kind == listener_pb2.JOIN_KIND_SNAPSHOT:
            self.applied += joined.notices
        self.last = joined.head
        return joined

    def take(self, notice):
        self.applied.append(notice)
        self.last = notice.position

    async def next(self):
        """The next notice of a break; a gap is an error."""
        while True:
            if self.early:
                notice = self.early.pop(0)
            else:
                frames = await self.socket.receive()
                assert len(frames) == 1, frames
                notice = self.notice(frames[0])
            if notice.kind == notice_pb2.NOTICE_KIND_HEAD:
                assert notice.position.sequence <= self.last.sequence, "the head tells of a notice that never came"
            elif notice.position.sequence > self.last.sequence:
                assert notice.position.sequence == self.last.sequence + 1, "a notice is missing"
                self.take(notice)
                return notice

    async def play(self, name):
        """Fetches the batch of a break and acknowledges each ad as played."""
        batch = (await self.ask(get_batch=listener_pb2.GetBatch(stream=self.stream, break_id=name))).batch
        for ad in batch.advertisements:
            await self.ask(acknowledge=listener_pb2.Acknowledge(
                stream=self.stream, break_id=name, delivery=batch.delivery, outcomes=[listener_pb2.Outcome(
                    advertisement_id=ad.id, kind=listener_pb2.OUTCOME_KIND_PLAYED,
                    evidence=listener_pb2.EVIDENCE_REPORTED, occurred_us=time.time_ns() // 1_000)]))
        return batch
