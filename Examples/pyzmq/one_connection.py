#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A listener with one connection, without our library: stock pyzmq and code generated from the .proto files.

    protoc -Iproto --python_out=/tmp/generated proto/cuecast/v1/*.proto
    PYTHONPATH=/tmp/generated python3 Examples/pyzmq/one_connection.py --stream radio1

Joins the stream and asks for its notices on the same connection, waits for one break, fetches its batch, says that it played
everything, and prints what came as JSON. listener.py does the same with two connections. A stream that asks for a token is
listened to like this, and only like this: --token-file names a file with one, as `cuecast token make` prints it.
"""
import argparse, json, os, time
import zmq
from cuecast.v1 import listener_pb2, notice_pb2, status_pb2

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--stream", required=True)
arguments.add_argument("--requests", default="tcp://127.0.0.1:7401")
arguments.add_argument("--token-file", help="a file with a token, for streams that ask for one")
arguments.add_argument("--timeout", type=float, default=60, help="seconds to wait for a break, and for each reply")
options = arguments.parse_args()

socket = zmq.Context().socket(zmq.DEALER)
socket.linger, socket.rcvtimeo = 0, int(options.timeout * 1000)
socket.connect(options.requests)
session, topic = os.urandom(16), options.stream.encode() + b"\0"
clock_ahead_us = 0  # how far the gateway's clock is ahead of ours: outcomes are told by the gateway's
waiting = []  # notices that came
ticket = b""  # what the answer to the join gives, and every request after it shows


def receive():
    """Takes one message: a reply, which has an empty frame before it, is returned; a notice is kept."""
    frames = socket.recv_multipart()
    if len(frames) == 2:
        return listener_pb2.Reply.FromString(frames[1])
    waiting.append(notice_pb2.Notice.FromString(frames[0][len(topic):]))


def ask(**kind):
    """Sends one request, waits for its reply, and insists that it was done."""
    global clock_ahead_us
    request = listener_pb2.Request(request_id=1, session=session, ticket=ticket, **kind)
    socket.send_multipart([b"", request.SerializeToString()])
    while (reply := receive()) is None:
        pass
    clock_ahead_us = reply.gateway_us - time.time_ns() // 1000
    assert reply.status == status_pb2.STATUS_CODE_OK, f"{status_pb2.StatusCode.Name(reply.status)}: {reply.message}"
    return reply


# What was published before is in the answer, what comes after follows it on this connection: no tick is needed.
token = ""
if options.token_file:
    with open(options.token_file) as file:
        token = file.read().strip()
joined = ask(join=listener_pb2.Join(stream=options.stream, push=True, client="pyzmq example", token=token)).joined
ticket = joined.ticket
assert joined.pushed, "this gateway needs a subscription: see listener.py"
waiting[:0] = joined.notices
while not any(notice.kind == notice_pb2.NOTICE_KIND_AVAILABLE for notice in waiting):
    receive()
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
