# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
import asyncio, os, random, sys, time, websockets
from cuecast.v1 import listener_pb2 as listener, notice_pb2 as notice

async def play(url, stream):
    session, ticket, notices, ahead = os.urandom(16), b"", [], 0
    async with websockets.connect(url, subprotocols=["ZWS2.0"]) as gateway:
        async def receive():
            message = await gateway.recv()
            if message == b"\1":                  # an empty frame with more behind it: a reply follows
                return listener.Reply.FromString((await gateway.recv())[1:])
            if len(message) > 1:                  # the stream id, a zero byte, a notice
                notices.append(notice.Notice.FromString(message[1:].split(b"\0", 1)[1]))

        async def ask(**kind):
            nonlocal ahead
            await gateway.send(b"\1")
            await gateway.send(b"\0" + listener.Request(request_id=1, session=session, ticket=ticket, **kind).SerializeToString())
            while not (reply := await receive()):
                pass
            ahead = reply.gateway_us - time.time_ns() // 1000   # outcomes have the gateway's time
            assert not reply.message, reply.message
            return reply

        async def sleep_until(gateway_us):
            await asyncio.sleep(max(0, gateway_us - ahead - time.time_ns() // 1000) / 1e6)

        await gateway.send(b"\0")                 # the routing id: none
        joined = (await ask(join=listener.Join(stream=stream, push=True, client="my player"))).joined
        ticket, notices = joined.ticket, [*joined.notices, *notices]
        while not (open_breaks := [each for each in notices if each.kind == notice.NOTICE_KIND_AVAILABLE]):
            await receive()
        name, window = open_breaks[0].break_id, open_breaks[0].window
        await sleep_until(random.randint(window.from_us, window.by_us))   # the request window spreads the load
        batch = (await ask(get_batch=listener.GetBatch(stream=stream, break_id=name))).batch
        await sleep_until(batch.start_us)         # a start in the past: play what is left
        for ad in batch.advertisements:
            print("playing", ad.title, ad.media[0].url, flush=True)
            await asyncio.sleep(ad.duration_ms / 1000)
            await ask(acknowledge=listener.Acknowledge(stream=stream, break_id=name, delivery=batch.delivery, outcomes=[
                listener.Outcome(advertisement_id=ad.id, kind=listener.OUTCOME_KIND_PLAYED, evidence=listener.EVIDENCE_REPORTED,
                                 heard_ms=ad.duration_ms, quartiles=4, occurred_us=time.time_ns() // 1000 + ahead)]))
            print("recorded", ad.id, flush=True)
        await ask(leave=listener.Leave(stream=stream))

asyncio.run(play(*sys.argv[1:]))
