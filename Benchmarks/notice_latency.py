#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""From sending a publication to its notice at a listener on the same machine, and what part of it is the durable append.

    Benchmarks/notice_latency.py --binary .build/release/cuecast --breaks 500

Three runs of the same loop, each time after a pause, so that nothing is warm that would not be: the median and the 99th
percentile of each, and of a durable append of a record of the same size to a bare SQLite file (WAL, synchronous=FULL) in
the same folder's file system.
"""
import argparse, os, sqlite3, statistics, tempfile, time

import measuring

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--binary", default=os.path.join(measuring.ROOT, ".build/release/cuecast"))
arguments.add_argument("--breaks", type=int, default=500)
arguments.add_argument("--runs", type=int, default=3)
options = arguments.parse_args()
import zmq

advertisement_pb2, broadcast_pb2, _, notice_pb2, status_pb2 = measuring.wire()
print(measuring.machine())


def publication(number):
    ads = [advertisement_pb2.Advertisement(
        id=f"ad-{index}", title=f"Advertisement {index}", duration_ms=10_000,
        media=[advertisement_pb2.MediaFile(url=f"https://cdn.example.com/{index}.mp3", type="audio/mpeg")])
        for index in range(2)]
    # Pre-stream breaks stand beside each other, so that each of them is announced at once.
    return broadcast_pb2.BroadcastRequest(request_id=number, publish=broadcast_pb2.Publish(
        stream="bench", break_id=f"b-{number}", advertisements=ads, pre_stream=True, hold_ms=1))


def bare_append(count, size):
    """The seconds that a bare SQLite takes for one durable append each."""
    with tempfile.TemporaryDirectory(prefix="cuecast-bench.") as folder:
        database = sqlite3.connect(folder + "/bare.sqlite", isolation_level=None)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("CREATE TABLE records (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")
        took = []
        for key in range(count):
            began = time.perf_counter()
            database.execute("INSERT INTO records VALUES (?, ?)", (key, os.urandom(size)))
            took.append(time.perf_counter() - began)
            time.sleep(0.002)
        return took


def run(addresses, run_number):
    context = zmq.Context()
    broadcaster, listener = context.socket(zmq.REQ), context.socket(zmq.SUB)
    broadcaster.linger = listener.linger = 0
    listener.rcvtimeo = broadcaster.rcvtimeo = 10_000
    broadcaster.connect(addresses["broadcast"])
    listener.connect(addresses["notices"])
    topic, sync = b"bench\0", b"~sync\0"
    listener.subscribe(topic)
    listener.subscribe(sync)
    while not listener.recv().startswith(sync):
        pass
    listener.unsubscribe(sync)
    noticed, answered = [], []
    for number in range(options.breaks):
        request = publication(run_number * 1_000_000 + number).SerializeToString()
        began = time.perf_counter()
        broadcaster.send(request)
        while True:
            frame = listener.recv()
            notice = notice_pb2.Notice.FromString(frame[len(topic):]) if frame.startswith(topic) else None
            if notice is not None and notice.kind == notice_pb2.NOTICE_KIND_AVAILABLE:
                break
        noticed.append(time.perf_counter() - began)
        reply = broadcast_pb2.BroadcastReply.FromString(broadcaster.recv())
        answered.append(time.perf_counter() - began)
        assert reply.status == status_pb2.STATUS_CODE_OK, reply
        time.sleep(0.002)
    context.destroy(linger=0)
    return noticed, answered


def line(name, seconds):
    print(f"{name:34} median {statistics.median(seconds) * 1e3:7.3f} ms   99th percentile "
          f"{measuring.percentile(seconds, 0.99) * 1e3:7.3f} ms")


with measuring.gateway(options.binary) as (process, addresses):
    for number in range(options.runs):
        print(f"\nrun {number + 1}: {options.breaks} publications, one after the other")
        bare = bare_append(options.breaks, len(publication(1).SerializeToString()) + 60)
        before = measuring.metrics(addresses)
        noticed, answered = run(addresses, number)
        after = measuring.metrics(addresses)
        line("publication → notice at a listener", noticed)
        line("publication → answer", answered)
        count = after["cuecast_log_append_seconds_count"] - before["cuecast_log_append_seconds_count"]
        total = after["cuecast_log_append_seconds_sum"] - before["cuecast_log_append_seconds_sum"]
        print(f"{'of it, the durable append':34} mean   {total / count * 1e3:7.3f} ms   "
              f"({total / count / statistics.mean(noticed):.0%} of the mean)")
        line("a bare durable SQLite append", bare)
