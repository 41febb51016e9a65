#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A broadcaster with a key, without our library: stock pyzmq and code generated from the .proto files.

    cuecast keygen --out studio-a        (the gateway lists studio-a.pub in its file of broadcasters)
    protoc -Iproto --python_out=/tmp/generated proto/cuecast/v1/*.proto
    PYTHONPATH=/tmp/generated python3 Examples/pyzmq/curve_broadcaster.py --stream radio1 --break noon-1 \\
        --key-file studio-a.key --gateway-key-file gateway.pub

Publishes a break of one advertisement that starts in 10 s, and prints the break as JSON. Exits with 1 when the gateway
refuses, and with 2 when it does not answer: then most often it does not know the key, or has another one than we think.
"""
import argparse, json, random, sys
import zmq
from cuecast.v1 import advertisement_pb2, broadcast_pb2, status_pb2

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--stream", required=True)
arguments.add_argument("--break", required=True, dest="break_id")
arguments.add_argument("--key-file", required=True, help="our secret key")
arguments.add_argument("--gateway-key-file", required=True, help="the gateway's public key")
arguments.add_argument("--broadcast", default="tcp://127.0.0.1:7402")
arguments.add_argument("--timeout", type=float, default=10, help="seconds to wait for the reply")
options = arguments.parse_args()


def key(path):
    """The key in a file: 40 characters of Z85."""
    with open(path, "rb") as file:
        return file.read().strip()


secret = key(options.key_file)
requests = zmq.Context().socket(zmq.REQ)
requests.linger, requests.rcvtimeo = 0, int(options.timeout * 1000)
# All that CURVE needs: our key pair, and whom we speak to. Nothing is sent to anybody else.
requests.curve_secretkey, requests.curve_publickey = secret, zmq.curve_public(secret)
requests.curve_serverkey = key(options.gateway_key_file)
requests.connect(options.broadcast)

request = broadcast_pb2.BroadcastRequest(
    request_id=random.getrandbits(53),
    publish=broadcast_pb2.Publish(
        stream=options.stream, break_id=options.break_id, start=broadcast_pb2.Start(in_ms=10_000), duration_ms=15_000,
        advertisements=[advertisement_pb2.Advertisement(
            id="spot", title="A spot", duration_ms=15_000,
            media=[advertisement_pb2.MediaFile(url="https://media.example/spot.mp3", type="audio/mpeg")])]))
requests.send(request.SerializeToString())
try:
    reply = broadcast_pb2.BroadcastReply.FromString(requests.recv())
except zmq.Again:
    print("no answer: does the gateway know our key, and is its own the one that we have?", file=sys.stderr)
    sys.exit(2)
if reply.status != status_pb2.STATUS_CODE_OK:
    print(f"{status_pb2.StatusCode.Name(reply.status)}: {reply.message}", file=sys.stderr)
    sys.exit(1)
published = getattr(reply, "break")
print(json.dumps({"stream": published.stream, "break": published.break_id, "broadcaster": published.broadcaster}))
