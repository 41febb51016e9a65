#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""How far apart players begin the same break, each with a network of its own and a wall clock that is stepped meanwhile.

    Benchmarks/clock_spread.py                     100 players, 5 breaks: about a minute
    Benchmarks/clock_spread.py --quick             20 players, 1 break: what `make test` runs
    Benchmarks/clock_spread.py --json              the same as one JSON object

A real gateway; players on the client library, all in one process; between each player and the gateway's requests a path
that takes a fixed time from 0 to 80 ms each way, up to 10 ms longer one way than the other, and up to 3 ms more by chance.
The players' wall clock is stepped by an hour and by seconds, forwards and backwards, before and between the breaks
(stepped_clock.c: the monotonic clocks stay as they are); the gateway's is not. True is the start that the broadcaster asked
for. Two errors are told: of `estimated`, the player's idea of when the break begins, and of `available`, when the app was
told, to which the machine adds what it needs to wake so many players at once. The truth must lie within the bound that
each player names for its estimate; where it does not, the measurement fails.

Exits with 1 where players are further apart than --spread-max, with 69 where it could not be measured.
"""
import argparse, json, os, random, shutil, statistics, subprocess, sys, tempfile, threading, time

import measuring
from delayed_paths import DelayedPaths, random_path
from measuring import MeasurementError

#: Seconds by which the players' wall clock is wrong, one after the other, each for `STEP_SECONDS`.
STEPS = (3_600, -3_600, 7, -2.5, 0.4)
STEP_SECONDS = 1.9
STREAM = "spread"
#: How wrong the truth itself can be: this program reads two clocks one after the other.
READING_ERROR_NS = 200_000


def offset():
    """What the wall clock shows less what CLOCK_BOOTTIME shows, in nanoseconds, from the closest of some readings."""
    best = None
    for _ in range(20):
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        wall = time.clock_gettime_ns(time.CLOCK_REALTIME)
        after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        if best is None or after - before < best[0]:
            best = (after - before, wall - (before + after) // 2)
    return best[1]


class Stepper:
    """Steps the wall clock of the processes that have its environment."""

    def __init__(self, folder):
        library = os.path.join(folder, "stepped_clock.so")
        source = os.path.join(measuring.ROOT, "Benchmarks/stepped_clock.c")
        try:
            subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, source], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise MeasurementError(f"the clock that can be stepped was not built: {error}") from None
        path = os.path.join(folder, "step")
        self._file = open(path, "w+b", buffering=0)
        self._write(0)
        self.environment = {"LD_PRELOAD": library, "CUECAST_CLOCK_STEP": path}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _write(self, seconds):
        os.pwrite(self._file.fileno(), int(seconds * 1e9).to_bytes(8, sys.byteorder, signed=True), 0)

    def _run(self):
        while True:
            for seconds in STEPS:
                self._write(seconds)
                if self._stop.wait(STEP_SECONDS):
                    return

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        self._file.close()


def publish(addresses, starts, duration):
    """Publishes a break for each start, in microseconds since 1970 by the true clock."""
    import zmq
    advertisement_pb2, broadcast_pb2, _, _, status_pb2 = measuring.wire()
    context = zmq.Context()
    socket = context.socket(zmq.REQ)
    socket.linger, socket.rcvtimeo = 0, 1_800_000
    socket.connect(addresses["broadcast"])
    ad = advertisement_pb2.Advertisement(
        id="a", title="A", duration_ms=int(duration * 1_000),
        media=[advertisement_pb2.MediaFile(url="https://cdn.example.com/a.mp3", type="audio/mpeg")])
    for number, start in enumerate(starts):
        socket.send(broadcast_pb2.BroadcastRequest(request_id=number + 1, publish=broadcast_pb2.Publish(
            stream=STREAM, break_id=f"b-{number}", start=broadcast_pb2.Start(at_us=start), advertisements=[ad],
            duration_ms=int(duration * 1_000))).SerializeToString())
        reply = broadcast_pb2.BroadcastReply.FromString(socket.recv())
        if reply.status != status_pb2.STATUS_CODE_OK:
            raise MeasurementError(f"break {number} was refused: {reply}")
    context.destroy(linger=0)


def play(options, addresses, ports, folder):
    """Runs the players; gives what they saw, and for each break its true start on CLOCK_BOOTTIME."""
    with Stepper(folder) as stepper:
        command = [options.players_binary, addresses["notices"], STREAM, str(options.breaks)]
        process = subprocess.Popen([*command, *(f"tcp://127.0.0.1:{port}" for port in ports)],
                                   env={**os.environ, **stepper.environment}, stdout=subprocess.PIPE, text=True)
        # Whatever hangs must fail.
        end = threading.Timer(1_800 + options.ahead + options.breaks * options.every, process.kill)
        end.start()
        try:
            if process.stdout.readline() != "ready\n":
                raise MeasurementError("the players did not all begin to listen")
            first = time.time_ns() // 1_000 + int(options.ahead * 1e6)
            starts = [first + int(number * options.every * 1e6) for number in range(options.breaks)]
            publish(addresses, starts, options.every / 2)
            offsets = []
            for start in starts:
                time.sleep(max(0, start / 1e6 - time.time()))
                offsets.append(offset())
            sightings = [json.loads(line) for line in process.stdout]
            if process.wait() != 0:
                raise MeasurementError(f"the players ended with {process.returncode}")
        finally:
            end.cancel()
            process.kill()
            process.wait()
            process.stdout.close()
    truths = {f"b-{number}": (start * 1_000 - gap, gap) for number, (start, gap) in enumerate(zip(starts, offsets))}
    return sightings, truths


def summary(errors):
    """Milliseconds: what players differ from each other, and from the truth."""
    return {"spread_ms": round(max(errors) - min(errors), 3), "worst_ms": round(max(map(abs, errors)), 3),
            "median_ms": round(statistics.median(errors), 3), "earliest_ms": round(min(errors), 3),
            "latest_ms": round(max(errors), 3)}


def evaluated(options, sightings, truths):
    breaks = []
    for name, (truth, gap) in truths.items():
        seen = [each for each in sightings if each["break"] == name]
        if len(seen) != options.players:
            raise MeasurementError(f"{len(seen)} of {options.players} players saw {name} begin")
        # By how much the players' wall clock was wrong then: proof that it was stepped.
        wrong = statistics.median((each["wall"] - each["available"] - gap) / 1e9 for each in seen)
        outside = [each["player"] for each in seen
                   if abs(each["clock"] - each["available"] - gap) > each["bound"] + READING_ERROR_NS]
        if outside:
            raise MeasurementError(f"{name}: the truth is outside the bound that players {outside} name")
        bounds = sorted(each["bound"] / 1e6 for each in seen)
        breaks.append({"break": name,
                       "bound_ms": {"median": round(statistics.median(bounds), 3), "largest": round(bounds[-1], 3)},
                       "wall_clock_wrong_by_seconds": round(wrong, 3),
                       "estimated": summary([(each["estimated"] - truth) / 1e6 for each in seen]),
                       "available": summary([(each["available"] - truth) / 1e6 for each in seen])})
    if all(abs(each["wall_clock_wrong_by_seconds"]) < 0.2 for each in breaks):
        raise MeasurementError("the players' wall clock was never wrong: stepping it had no effect")
    return breaks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    build = os.path.join(measuring.ROOT, ".build/debug")
    parser.add_argument("--binary", default=os.environ.get("CUECAST_BIN", os.path.join(build, "cuecast")))
    parser.add_argument("--players-binary", help="ClockSpread; beside --binary unless told")
    parser.add_argument("--players", type=int, default=100)
    parser.add_argument("--breaks", type=int, default=5)
    parser.add_argument("--ahead", type=float, default=12, help="seconds from publishing to the first start")
    parser.add_argument("--every", type=float, default=8, help="seconds from one start to the next")
    parser.add_argument("--spread-max", type=float, default=100, help="milliseconds; 100 unless told")
    parser.add_argument("--seed", type=int, default=None, help="of the paths' delays; random unless told")
    parser.add_argument("--quick", action="store_true", help="20 players, 1 break, 4 s ahead")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.players, options.breaks, options.ahead = 20, 1, 4
    if options.players < 1 or options.breaks < 1:
        parser.error("--players and --breaks take numbers above 0")
    options.players_binary = options.players_binary or os.path.join(os.path.dirname(options.binary), "ClockSpread")
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    chance = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="cuecast-clock.")
    try:
        with measuring.gateway(options.binary) as (_, addresses):
            port = int(addresses["requests"].rsplit(":", 1)[1])
            with DelayedPaths("127.0.0.1", port, [random_path(chance) for _ in range(options.players)], seed) as paths:
                began = os.times()
                breaks = evaluated(options, *play(options, addresses, paths.ports, folder))
                load = (sum(os.times()[:4]) - sum(began[:4])) / (os.times().elapsed - began.elapsed)
    finally:
        shutil.rmtree(folder)
    worst = max(each["available"]["spread_ms"] for each in breaks)
    report = {"players": options.players, "seed": seed, "breaks": breaks, "spread_ms": worst,
              "spread_max_ms": options.spread_max, "cores_busy_by_players_and_paths": round(load, 2),
              "machine": measuring.machine_facts()}
    if options.json:
        print(json.dumps(report))
    else:
        print(measuring.machine())
        print(f"{options.players} players; milliseconds; seed {seed}; players and paths kept {load:.2f} cores busy\n")
        print(f"{'break':6} {'wall clock':>12}   {'the estimate: spread':>21} {'worst':>7} {'median':>7}   "
              f"{'the app is told: spread':>23} {'worst':>7} {'median':>7}   {'bound: median':>13} {'largest':>7}")
        for each in breaks:
            estimated, available = each["estimated"], each["available"]
            print(f"{each['break']:6} {each['wall_clock_wrong_by_seconds']:+10.1f} s   {estimated['spread_ms']:21.1f} "
                  f"{estimated['worst_ms']:7.1f} {estimated['median_ms']:+7.1f}   {available['spread_ms']:23.1f} "
                  f"{available['worst_ms']:7.1f} {available['median_ms']:+7.1f}   "
                  f"{each['bound_ms']['median']:13.1f} {each['bound_ms']['largest']:7.1f}")
    if worst > options.spread_max:
        print(f"clock_spread: players are {worst:.1f} ms apart; {options.spread_max:g} is allowed", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MeasurementError as error:
        print(f"clock_spread: {error}", file=sys.stderr)
        sys.exit(69)
