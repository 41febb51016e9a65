#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A listener without our library: stock pyzmq and code generated from the .proto files.

    protoc -Iproto --python_out=/tmp/generated proto/cuecast/v1/*.proto
    PYTHONPATH=/tmp/generated python3 Examples/pyzmq/listener.py --stream radio1

Joins the stream, waits for one break, fetches its batch, says that it played everything, and prints what came as JSON.
"""
import argparse, json, os, time
import zmq
from cuecast.v1 import listener_pb2, notice_pb2, status_pb2

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--stream", required=True)
arguments.add_argument("--notices", default="tcp://127.0.0.1:7400")
arguments.add_argument("--requests", default="tcp://127.0.0.1:7401")
arguments.add_argument("--timeout", type=float, default=60, help="seconds to wait for a break, and for each reply")
options = arguments.parse_args()

context = zmq.Context()
notices, requests = context.socket(zmq.SUB), context.socket(zmq.REQ)
notices.linger = requests.linger = 0
notices.rcvtimeo = requests.rcvtimeo = int(options.timeout * 1000)
session = os.urandom(16)
clock_ahead_us = 0  # how far the gateway's clock is ahead of ours: outcomes are told by the gateway's


def ask(**kind):
    """Sends one request, waits for its reply, and insists that it was done."""
    global clock_ahead_us
    requests.send(listener_pb2.Request(request_id=1, session=session, **kind).SerializeToString())
    reply = listener_pb2.Reply.FromString(requests.recv())
    clock_ahead_us = reply.gateway_us - time.time_ns() // 1000
    assert reply.status == status_pb2.STATUS_CODE_OK, f"{status_pb2.StatusCode.Name(reply.status)}: {reply.message}"
    return reply


# Subscribe to the stream, then to the ticks: a tick proves that both subscriptions have taken effect.
topic, sync = options.stream.encode() + b"\0", b"~sync\0"
notices.connect(options.notices)
requests.connect(options.requests)
notices.subscribe(topic)
notices.subscribe(sync)
frame = notices.recv()
while not frame.startswith(sync):
    frame = notices.recv()
tick = notice_pb2.SyncTick.FromString(frame[len(sync):])
notices.unsubscribe(sync)

# Only now join: whatever was published before is in the answer, whatever comes after is on the socket.
joined = ask(join=listener_pb2.Join(stream=options.stream, instance=tick.instance, client="pyzmq example")).joined
waiting = list(joined.notices)
while not any(notice.kind == notice_pb2.NOTICE_KIND_AVAILABLE for notice in waiting):
    frame = notices.recv()
    if frame.startswith(topic):
        waiting.append(notice_pb2.Notice.FromString(frame[len(topic):]))
notice = next(each for each in waiting if each.kind == notice_pb2.NOTICE_KIND_AVAILABLE)

batch = ask(get_batch=listener_pb2.GetBatch(stream=options.stream, break_id=notice.break_id)).batch
outcomes = [
    listener_pb2.Outcome(
        advertisement_id=each.id, kind=listener_pb2.OUTCOME_KIND_PLAYED, evidence=listener_pb2.EVIDENCE_REPORTED,
        heard_ms=each.duration_ms, quartiles=4, occurred_us=time.time_ns() // 1000 + clock_ahead_us)
    for each in batch.advertisements
]
acknowledged = ask(acknowledge=listener_pb2.Acknowledge(
    stream=options.stream, break_id=notice.break_id, delivery=batch.delivery, outcomes=outcomes)).acknowledged
ask(leave=listener_pb2.Leave(stream=options.stream))
print(json.dumps({
    "break": notice.break_id, "sequence": notice.position.sequence, "recorded": acknowledged.recorded,
    "advertisements": [{"id": each.id, "title": each.title, "seconds": each.duration_ms / 1000}
                       for each in batch.advertisements],
}))
