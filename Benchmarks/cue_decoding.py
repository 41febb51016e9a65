#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""How long decoding an SCTE-35 cue takes, against threefive in the same run.

    swift build -c release --product CueDecoding
    .venv/bin/python Benchmarks/cue_decoding.py .build/release/CueDecoding [--cues 200] [--seconds 0.02] [--seed N]

Both read the base64 of the same random cues (Tests/EndToEnd/cues.py), the one and the other in turn, a few cues at a time, so that
what else the machine does meets both. Each reads a cue so often that it takes `--seconds` in five turns, of which the quickest counts;
process starts are not in the times.
"""
import argparse, os, random, statistics, subprocess, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Tests/EndToEnd"))
import threefive
from cues import quietly, random_cue, write_by_threefive

#: So many cues one program reads before the other has its turn.
AT_A_TIME = 20
TURNS = 5


def of_threefive(cues, seconds):
    """The microseconds of one decoding, for each cue."""
    found = []
    for cue in cues:
        turns = []
        for _ in range(TURNS):
            rounds, began = 0, time.perf_counter()
            while (lasted := time.perf_counter() - began) < seconds / TURNS or not rounds:
                threefive.Cue(cue)
                rounds += 1
            turns.append(lasted / rounds * 1e6)
        found.append(min(turns))
    return found


def of_cuecast(binary, cues, rounds):
    done = subprocess.run([binary, str(rounds)], input="".join(cue + "\n" for cue in cues), capture_output=True, text=True, check=True)
    return [int(line) / 1_000 for line in done.stdout.split()]


def quantiles(values):
    cut = statistics.quantiles(values, n=100)
    return cut[4], statistics.median(values), cut[94]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--cues", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    wanted = parser.parse_args()
    rng = random.Random(wanted.seed)
    cues = [quietly(write_by_threefive, random_cue(rng)) for _ in range(wanted.cues)]
    ours, theirs = [], []
    for first in range(0, len(cues), AT_A_TIME):
        some = cues[first:first + AT_A_TIME]
        # As often as fits into the same time, about; the first look says how long one takes.
        once = statistics.mean(of_cuecast(wanted.binary, some, 100))
        ours += of_cuecast(wanted.binary, some, max(int(wanted.seconds / TURNS * 1e6 / max(once, 0.1)), 100))
        theirs += quietly(of_threefive, some, wanted.seconds)
    print(f"{len(cues)} random cues, seed {wanted.seed}, threefive {threefive.__version__ if hasattr(threefive, '__version__') else ''}")
    for name, values, unit in (("cuecast", ours, "µs"), ("threefive", theirs, "µs"),
                               ("times faster", [b / a for a, b in zip(ours, theirs, strict=True)], "")):
        low, middle, high = quantiles(values)
        print(f"{name:12} p5 {low:8.1f} {unit}  median {middle:8.1f} {unit}  p95 {high:8.1f} {unit}")


if __name__ == "__main__":
    main()
