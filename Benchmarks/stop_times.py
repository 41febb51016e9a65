#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""How long a player takes to stop, with a gateway that answers and with one that hangs, and how long an idle gateway takes.

    Benchmarks/stop_times.py --binary .build/release/cuecast

A player is promised to stop within a second, whatever its gateway does: exits with 1 where one did not. The tests give it
ten, because their machine does other things meanwhile; this wants a quiet one.
"""
import argparse, json, os, signal, statistics, subprocess, sys, time

sys.dont_write_bytecode = True

import measuring

#: Seconds.
PLAYER_STOPS_WITHIN = 1.0


def stopped(process):
    """The seconds from SIGTERM to the end of a process, which must have been successful."""
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    code = process.wait(measuring.HANGS_AFTER_SECONDS)
    took = time.monotonic() - began
    if code != 0:
        raise measuring.MeasurementError(f"it ended with {code}")
    return took


def player(binary, addresses, hangs, gateway):
    """Starts a player, waits until it listens, and stops it, at a gateway that hangs by then where it is to."""
    environment = {**os.environ, **{f"CUECAST_{name.upper()}": address for name, address in addresses.items()}}
    process = subprocess.Popen([binary, "listen", "--stream", "stop", "--json"], env=environment,
                               stdout=subprocess.PIPE, text=True)
    try:
        while json.loads(process.stdout.readline())["event"] != "joined":
            pass
        if hangs:
            gateway.send_signal(signal.SIGSTOP)
        return stopped(process)
    finally:
        gateway.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()
        process.stdout.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(measuring.ROOT, ".build/release/cuecast"))
    parser.add_argument("--times", type=int, default=20)
    options = parser.parse_args()
    print(measuring.machine())
    took = {"a player, the gateway answers": [], "a player, the gateway hangs": [], "an idle gateway": []}
    with measuring.gateway(options.binary) as (process, addresses):
        for _ in range(options.times):
            took["a player, the gateway answers"].append(player(options.binary, addresses, False, process))
            took["a player, the gateway hangs"].append(player(options.binary, addresses, True, process))
    for _ in range(options.times):
        with measuring.gateway(options.binary) as (process, _):
            took["an idle gateway"].append(stopped(process))
    for what, seconds in took.items():
        print(f"{what:32} stops in {statistics.median(seconds):.3f} s, at most {max(seconds):.3f} s ({len(seconds)} times)")
    late = max(max(seconds) for what, seconds in took.items() if what.startswith("a player"))
    if late > PLAYER_STOPS_WITHIN:
        print(f"stop_times: a player took {late:.3f} s; {PLAYER_STOPS_WITHIN:g} s is promised", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
