#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""How long a listener waits for an answer while broadcasters keep the gateway busy. Stock pyzmq.

    Benchmarks/listener_waits.py --requests tcp://127.0.0.1:7401 --broadcast tcp://127.0.0.1:7402 --generated DIR \\
        --load publish --broadcasters 16 --seconds 10

Loads: `none`; `publish` (each broadcaster publishes and cancels breaks of 0.87 MB, one after the other); `list` (one
broadcaster sends 200 list requests at once, again and again); `repeat` (one session acknowledges the same outcomes
as fast as it may). Prints one line of JSON: how many requests of the listener were answered, the median, the 99th
percentile and the longest wait in milliseconds.
"""
import argparse, json, os, sys, threading, time
import zmq

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--requests", required=True)
arguments.add_argument("--broadcast", required=True)
arguments.add_argument("--generated", required=True, help="folder of the code that protoc generated for Python")
arguments.add_argument("--load", choices=["none", "publish", "list", "repeat"], default="none")
arguments.add_argument("--broadcasters", type=int, default=16)
arguments.add_argument("--seconds", type=float, default=10)
options = arguments.parse_args()
sys.path.insert(0, options.generated)
from cuecast.v1 import advertisement_pb2, broadcast_pb2, listener_pb2  # noqa: E402

context = zmq.Context()
stop = threading.Event()
loads = {"publications": 0, "lists": 0, "repeats": 0}


def dealer(endpoint):
    socket = context.socket(zmq.DEALER)
    socket.linger = 0
    socket.connect(endpoint)
    return socket


def call(socket, request, reply):
    socket.send_multipart([b"", request.SerializeToString()])
    while not stop.is_set():
        if socket.poll(100):
            return reply.FromString(socket.recv_multipart()[1])
    return None


def large_break(stream, name):
    """64 advertisements with trackers: 0.87 MB."""
    url = "https://track.example/" + "x" * 200
    ads = [
        advertisement_pb2.Advertisement(
            id=f"ad{number}", duration_ms=1_000,
            media=[advertisement_pb2.MediaFile(url="https://media.example/a.mp3", type="audio/mpeg")],
            trackers=[advertisement_pb2.Tracker(event="start", url=url) for _ in range(58)])
        for number in range(64)
    ]
    start = broadcast_pb2.Start(in_ms=3_600_000)
    return broadcast_pb2.Publish(
        stream=stream, break_id=name, start=start, duration_ms=60_000, advertisements=ads)


def publish(number):
    socket, stream = dealer(options.broadcast), f"load-{number}"
    round_trip = 0
    while not stop.is_set():
        name = f"b{os.getpid()}-{round_trip}"
        call(socket, broadcast_pb2.BroadcastRequest(request_id=1, publish=large_break(stream, name)),
             broadcast_pb2.BroadcastReply)
        call(socket, broadcast_pb2.BroadcastRequest(
            request_id=2, cancel=broadcast_pb2.Cancel(stream=stream, break_id=name)), broadcast_pb2.BroadcastReply)
        loads["publications"] += 1
        round_trip += 1


def list_all():
    socket = dealer(options.broadcast)
    request = broadcast_pb2.BroadcastRequest(request_id=1, list=broadcast_pb2.List()).SerializeToString()
    while not stop.is_set():
        for _ in range(200):
            socket.send_multipart([b"", request])
        for _ in range(200):
            while not stop.is_set() and not socket.poll(100):
                pass
            if stop.is_set():
                return
            socket.recv_multipart()
            loads["lists"] += 1


def repeat():
    """Says the same of 64 advertisements of a break of its own, as often as answers come; 900 a second at most."""
    side = dealer(options.broadcast)
    ads = [
        advertisement_pb2.Advertisement(
            id="x" * 120 + f"{number:02}", duration_ms=1_000,
            media=[advertisement_pb2.MediaFile(url="https://media.example/a.mp3", type="audio/mpeg")])
        for number in range(64)
    ]
    name = f"r{os.getpid()}"
    call(side, broadcast_pb2.BroadcastRequest(request_id=1, publish=broadcast_pb2.Publish(
        stream="repeats", break_id=name, advertisements=ads)), broadcast_pb2.BroadcastReply)
    socket, session = dealer(options.requests), os.urandom(16)
    batch = call(socket, listener_pb2.Request(request_id=1, session=session, get_batch=listener_pb2.GetBatch(
        stream="repeats", break_id=name)), listener_pb2.Reply)
    outcomes = [
        listener_pb2.Outcome(advertisement_id=each.id, kind=1, evidence=1, heard_ms=1_000, quartiles=4,
                             occurred_us=batch.gateway_us)
        for each in batch.batch.advertisements
    ]
    request = listener_pb2.Request(request_id=2, session=session, acknowledge=listener_pb2.Acknowledge(
        stream="repeats", break_id=name, delivery=batch.batch.delivery, outcomes=outcomes))
    # A field of a later version, as large as a request may be.
    frame = request.SerializeToString()
    rest = 16_384 - len(frame) - 5
    frame += b"\xc2\x3e" + bytes([rest & 0x7F | 0x80, rest >> 7]) + b"z" * rest if rest > 0 else b""
    due = time.monotonic()
    while not stop.is_set():
        socket.send_multipart([b"", frame])
        while socket.poll(0):
            socket.recv_multipart()
            loads["repeats"] += 1
        due += 1 / 900
        time.sleep(max(0, due - time.monotonic()))


workers = {
    "none": [],
    "publish": [threading.Thread(target=publish, args=(number,)) for number in range(options.broadcasters)],
    "list": [threading.Thread(target=list_all)],
    "repeat": [threading.Thread(target=repeat)],
}[options.load]
for worker in workers:
    worker.start()
time.sleep(1 if workers else 0)
listener, waits, end = dealer(options.requests), [], time.monotonic() + options.seconds
request = listener_pb2.Request(request_id=1, session=os.urandom(16), get_time=listener_pb2.GetTime())
while time.monotonic() < end:
    begun = time.monotonic()
    call(listener, request, listener_pb2.Reply)
    waits.append((time.monotonic() - begun) * 1_000)
    time.sleep(0.002)
stop.set()
for worker in workers:
    worker.join()
waits.sort()
print(json.dumps({
    "load": options.load, "answered": len(waits), "p50_ms": round(waits[len(waits) // 2], 2),
    "p99_ms": round(waits[len(waits) * 99 // 100], 2), "longest_ms": round(waits[-1], 2), **loads,
}))
