#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A player of one break on one connection, as docs/players/zeromq.md shows it.

It needs stock pyzmq and code generated from the .proto files:

    protoc -Iproto --python_out=/tmp/generated proto/cuecast/v1/*.proto
    PYTHONPATH=/tmp/generated python3 Examples/pyzmq/player.py tcp://127.0.0.1:7401 radio1
"""
import os, random, sys, time, zmq
from cuecast.v1 import listener_pb2 as listener, notice_pb2 as notice

endpoint, stream = sys.argv[1:]
session, ticket, notices, ahead = os.urandom(16), b"", [], 0
gateway = zmq.Context().socket(zmq.DEALER)
gateway.connect(endpoint)

def receive():
    frames = gateway.recv_multipart()
    if len(frames) == 2:                      # an empty frame, then a reply
        return listener.Reply.FromString(frames[1])
    notices.append(notice.Notice.FromString(frames[0].split(b"\0", 1)[1]))  # the stream id, a zero byte, a notice

def sleep_until(gateway_us):
    time.sleep(max(0, gateway_us - ahead - time.time_ns() // 1000) / 1e6)

def ask(**kind):
    global ahead
    request = listener.Request(request_id=1, session=session, ticket=ticket, **kind)
    gateway.send_multipart([b"", request.SerializeToString()])
    while not (reply := receive()):
        pass
    ahead = reply.gateway_us - time.time_ns() // 1000   # outcomes have the gateway's time
    assert not reply.message, reply.message
    return reply

joined = ask(join=listener.Join(stream=stream, push=True, client="my player")).joined
ticket, notices = joined.ticket, [*joined.notices, *notices]
while not any(each.kind == notice.NOTICE_KIND_AVAILABLE for each in notices):
    receive()
announced = next(each for each in notices if each.kind == notice.NOTICE_KIND_AVAILABLE)
name = announced.break_id
sleep_until(random.randint(announced.window.from_us, announced.window.by_us))   # the request window spreads the load
batch = ask(get_batch=listener.GetBatch(stream=stream, break_id=name)).batch
sleep_until(batch.start_us)   # a start in the past: play what is left
for ad in batch.advertisements:
    print("playing", ad.title, ad.media[0].url, flush=True)
    time.sleep(ad.duration_ms / 1000)
    ask(acknowledge=listener.Acknowledge(stream=stream, break_id=name, delivery=batch.delivery, outcomes=[
        listener.Outcome(advertisement_id=ad.id, kind=listener.OUTCOME_KIND_PLAYED, evidence=listener.EVIDENCE_REPORTED,
                         heard_ms=ad.duration_ms, quartiles=4, occurred_us=time.time_ns() // 1000 + ahead)]))
    print("recorded", ad.id, flush=True)
ask(leave=listener.Leave(stream=stream))
