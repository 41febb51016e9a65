#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""What idle listeners cost: CPU and memory of a gateway with many subscribed connections and nothing to publish.

    Benchmarks/idle_subscribers.py --binary .build/release/cuecast --listeners 2000

Each listener is a SUB connection (subscribed to one stream) and a REQ connection that joined. One XSUB socket makes many
connections, each a subscriber of its own.
"""
import argparse, os, time

import measuring

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--binary", default=os.path.join(measuring.ROOT, ".build/release/cuecast"))
arguments.add_argument("--listeners", type=int, default=2_000)
arguments.add_argument("--seconds", type=float, default=30)
options = arguments.parse_args()
import zmq

_, _, listener_pb2, _, status_pb2 = measuring.wire()
print(measuring.machine())

with measuring.gateway(options.binary) as (process, addresses):
    time.sleep(2)
    cpu_before, resident_before = measuring.process_facts(process.pid)
    time.sleep(5)
    cpu_alone = (measuring.process_facts(process.pid)[0] - cpu_before) / 5
    context = zmq.Context()
    context.max_sockets = options.listeners + 100
    subscribers = context.socket(zmq.XSUB)
    subscribers.rcvhwm = 10
    for _ in range(options.listeners):
        subscribers.connect(addresses["notices"])
    subscribers.send(b"\x01idle\0")
    requesters = []
    for number in range(options.listeners):
        requester = context.socket(zmq.REQ)
        requester.linger, requester.rcvtimeo = 0, 10_000
        requester.connect(addresses["requests"])
        requesters.append(requester)
        join = listener_pb2.Join(stream="idle", client="idle")
        requester.send(listener_pb2.Request(
            request_id=1, session=number.to_bytes(16, "big"), join=join).SerializeToString())
        assert listener_pb2.Reply.FromString(requester.recv()).status == status_pb2.STATUS_CODE_OK
    deadline = time.monotonic() + 60
    while measuring.metrics(addresses).get('cuecast_connections{socket="notices"}', 0) < options.listeners:
        assert time.monotonic() < deadline, "not all connections were made"
        time.sleep(0.2)
    # Whatever arrives is thrown away, so that nothing queues up here.
    time.sleep(3)
    cpu_began, _ = measuring.process_facts(process.pid)
    began = time.monotonic()
    while time.monotonic() - began < options.seconds:
        if subscribers.poll(200):
            try:
                while True:
                    subscribers.recv(zmq.NOBLOCK)
            except zmq.Again:
                pass
    elapsed = time.monotonic() - began
    cpu, resident = measuring.process_facts(process.pid)
    facts = measuring.metrics(addresses)
    connections = [facts[f'cuecast_connections{{socket="{name}"}}'] for name in ("notices", "requests")]
    print(f"listeners: {facts['cuecast_listeners']:.0f} sessions, "
          f"{connections[0]:.0f} + {connections[1]:.0f} connections")
    print(f"CPU: {(cpu - cpu_began) / elapsed:.2%} of one core over {elapsed:.0f} s "
          f"(without any listener: {cpu_alone:.2%})")
    print(f"memory: {resident / 1024:.1f} MiB resident, {resident_before / 1024:.1f} MiB before; "
          f"{(resident - resident_before) / options.listeners:.1f} KiB a listener")
    context.destroy(linger=0)
