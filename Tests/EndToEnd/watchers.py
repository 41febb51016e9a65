#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Two watchers of one transport stream, one of them killed at a random moment: each break is there exactly once.

    scripts/watchers.sh                 200 rounds
    scripts/watchers.sh --rounds 6
    CUECAST_SEED=42 scripts/watchers.sh

Each round has a stream of its own, with a cue, its repeat, and an update of its length. Before, between or behind them one of the
watchers is killed with kill -9, after a random number of milliseconds.
"""
import argparse, json, os, random, socket, sys, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import ROOT, Gateway
from transport_stream import PACKET, TransportStream, rtp, splice_insert
from watcher import Watcher

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")
#: The most that a kill waits, in seconds: longer than a round takes on a quiet machine.
KILL_WITHIN = 0.15


class Sender:
    """Sends the same datagrams to all watchers."""

    def __init__(self, addresses):
        self.addresses, self.number, self.stream = addresses, 0, TransportStream()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def send(self, packets):
        for begin in range(0, len(packets), 7 * PACKET):
            for address in self.addresses:
                self.socket.sendto(rtp(self.number, packets[begin:begin + 7 * PACKET]), address)
            self.number += 1


def run_round(gateway, number, randomness):
    """One round; gives whether the victim had sent something, and whether the break has the length that was said last."""
    stream = f"round-{number}"
    watchers = [Watcher(gateway, "ts", "udp://127.0.0.1:0", "--stream", stream) for _ in range(2)]
    sender = Sender([watcher.address() for watcher in watchers])
    victim = watchers[randomness.randrange(2)]
    [survivor] = [watcher for watcher in watchers if watcher is not victim]
    killer = threading.Timer(randomness.uniform(0, KILL_WITHIN), victim.process.kill)
    try:
        killer.start()
        now = int(time.monotonic() * 90_000)
        begin, parts = now + 600 * 90_000, sender.stream
        for seconds in (30, 30, 45):
            sender.send(parts.tables() + parts.clock(now) + parts.section(splice_insert(number, pts=begin, seconds=seconds)))
        survivor.wait_for("sent", "out", count=2)
        killer.join()
        victim.process.wait()
        # What the survivor sent last was answered, and the victim is dead: nothing changes any more.
        found = breaks(gateway, stream)
        assert len(found) == 1 and len(found[0]["signals"]) == 1, (number, found)
        # The victim may have been behind, and killed before it said the length once more.
        assert found[0]["durationSeconds"] in (30, 45), (number, found)
        return bool(victim.seen("sent", "out")), found[0]["durationSeconds"] == 45
    finally:
        killer.cancel()
        sender.socket.close()
        for watcher in watchers:
            watcher.close()


def breaks(gateway, stream):
    return json.loads(gateway.run("breaks", "--stream", stream, "--format", "json"))


def run_rounds(gateway, rounds, seed):
    """So many rounds; gives in how many of them both watchers had sent the cue, and in how many an older length stands."""
    randomness, both, older = random.Random(seed), 0, 0
    gateway.run("lists", "put", "spots", "--vast", VAST)
    for number in range(rounds):
        has_sent, is_newest = run_round(gateway, number, randomness)
        both += has_sent
        older += not is_newest
    return both, older


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=200)
    options = arguments.parse_args()
    seed = int(os.environ.get("CUECAST_SEED", random.randrange(1 << 32)))
    print(f"CUECAST_SEED={seed}, {options.rounds} rounds", flush=True)
    gateway = Gateway("--set", "breaks.cues=* list=spots")
    try:
        both, older = run_rounds(gateway, options.rounds, seed)
        assert gateway.stop() == 0
    finally:
        gateway.close()
    print(f"{options.rounds} rounds, each with one break; in {both} of them the watcher that was killed had sent the cue too, "
          f"and in {older} it had been behind, so that the length before the last stands")


if __name__ == "__main__":
    main()
