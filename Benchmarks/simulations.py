# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The rows that simulate listeners from join to acknowledgement: nothing bare does that, so that most have no baseline."""
import contextlib, socket, threading

import measuring
from figures import BASELINE, OURS, Figure, Goal, median
from load_tool import Watch
from measuring import MeasurementError
from rows import idle_share, row


def simulated(bench, *settings, listeners, timeout=300, watch=None, may_lose=False, **options):
    """Runs the simulation at a gateway of its own."""
    with bench.servers.gateway(*settings) as (process, addresses):
        if watch:
            watch.begin(process)
        try:
            return bench.load.run(addresses, timeout, may_lose=may_lose, listeners=listeners, **options)
        finally:
            if watch:
                watch.end()


@row("stalled", "10 % of 9,000 listeners stalled: the others' 99th percentile of notices", "the same run without")
def stalled(bench, figures):
    scale, count = bench.scale, bench.scale.connections(9_000)
    figures["p99"] = Figure("", "ms", Goal("<=", 1.05), against="none stalled")

    every = max(1, scale.seconds / 5)

    def p99(share):
        report = simulated(bench, listeners=count, breaks=10, every=every, ahead=every, lasts=every / 2, stall=share,
                           advertisements=1)
        return {"p99": report.latency("notice", "p99") / 1_000}

    bench.pairs(figures, lambda: p99(0.1), lambda: p99(0))


@contextlib.contextmanager
def viewers(addresses, count, streams=lambda number: ["bench"]):
    """So many pages of the dashboard, as far as a gateway sees them: readers of its events. `streams(number)` is what each looks at.

    Gives a list of what each has read, in bytes.
    """
    host, port = addresses["http"].rsplit(":", 1)
    counts = [0] * count

    def read(number, reader):
        with contextlib.suppress(OSError):
            while data := reader.recv(65_536):
                counts[number] += len(data)

    with contextlib.ExitStack() as stack:
        for number in range(count):
            reader = stack.enter_context(socket.create_connection((host, int(port))))
            reader.sendall(f"GET /v1/events?streams={','.join(streams(number))} HTTP/1.1\r\nHost: {addresses['http']}\r\n\r\n".encode())
            thread = threading.Thread(target=read, args=(number, reader))
            thread.start()
            stack.callback(thread.join)
            stack.callback(reader.shutdown, socket.SHUT_RDWR)
        yield counts


@row("viewers", "2,000 listeners beside 20 pages of the dashboard: the 99th percentile of notices", "the same run without")
def beside_viewers(bench, figures):
    scale, count = bench.scale, bench.scale.connections(2_000)
    figures["p99"] = Figure("", "ms", Goal("<=", 1.1), against="no viewers")
    # One slow break of ten would be the 99th percentile by itself.
    breaks, every = max(5, round(4 * scale.seconds)), 1

    def p99(viewing):
        with bench.servers.gateway() as (_, addresses), viewers(addresses, viewing) as counts:
            report = bench.load.run(addresses, 300, listeners=count, breaks=breaks, every=every, ahead=every, lasts=0.8 * every,
                                    advertisements=1)
        if not all(counts):
            raise MeasurementError("a viewer read nothing")
        return {"p99": report.latency("notice", "p99") / 1_000}

    bench.pairs(figures, lambda: p99(20), lambda: p99(0))


def joins_at_once(bench, figure, listeners, **options):
    """Adds how long it takes until all have joined; gives the report.

    The break after it shows that they have; it leaves them all the time that they need.
    """
    ahead = bench.scale.ahead
    report = simulated(bench, listeners=listeners, breaks=1, every=ahead, ahead=ahead, lasts=ahead, connect_rate=0, **options)
    figure.add(OURS, report.all_joined_seconds())
    bench.say(f"  {figure.ours[-1]:.2f} s")
    return report


@row("joins", "9,000 listeners with two connections join at once: until all have joined", "")
def joins(bench, figures):
    count = bench.scale.connections(9_000)
    figures["time"] = Figure("", "s", Goal("<=", 5, "ours"))
    for _ in range(bench.scale.pairs):
        joins_at_once(bench, figures["time"], count, push=False)


@row("joins-18000", "18,000 listeners, one connection each: until all have joined at once, and their CPU when idle", "")
def joins_with_one_connection(bench, figures):
    count = bench.scale.connections(18_000)
    figures["time"] = Figure("until all have joined", "s", Goal("<=", 4, "ours"))
    figures["cpu"] = Figure("idle", "% of a core", Goal("<", 4, "ours"))
    for _ in range(min(bench.scale.pairs, 3)):
        report = joins_at_once(bench, figures["time"], count)
        if report.pushed() < count:
            figures["time"].note("not all had one connection: the gateway does not push")
        figures["cpu"].add(OURS, idle_share(bench, count, push=True))
        bench.say(f"  {figures['cpu'].ours[-1]:.2f} %")


def slots(bench, figures, *settings):
    scale, count = bench.scale, bench.scale.connections(9_000)
    figures["share"] = Figure("batches before the start", "%", Goal(">=", 100, "ours"), against="slots off")
    figures["peak"] = Figure("peak over mean rate", "", Goal("<=", 1.5, "ours"), against="slots off")
    kept = {}

    def measure(side, storm):
        report = simulated(bench, *settings, listeners=count, breaks=1, every=3, ahead=scale.ahead, lasts=3, storm=storm)
        tally = report.fetch()
        kept.setdefault(side, tally["curve"])
        figures["peak"].note(f"the window is {tally['window_ms']} ms long")
        return {"share": 100 * tally["share_before_start"], "peak": tally["peak_over_mean"]}

    bench.pairs(figures, lambda: measure(OURS, False), lambda: measure(BASELINE, True))
    for side, curve in kept.items():
        figures["peak"].curves[side] = curve


@row("slots", "a break 8 s ahead, 9,000 listeners, request slots on", "slots off")
def slots_as_usual(bench, figures):
    slots(bench, figures)


# As where one gateway serves so many listeners that the window fills the time before the break.
SLOW = ("--set", "breaks.batchRequestsPerSecond=1500")


@row("slots-wide", "the same at a gateway that is set to serve 1,500 batches a second, so that the window is 6 s", "slots off")
def slots_wide(bench, figures):
    slots(bench, figures, *SLOW)


class Steadiness(Watch):
    """Memory and descriptors of a server once a second."""

    def __init__(self, every):
        super().__init__(self._facts, every)
        self._process = None

    def begin(self, process):
        self._process = process
        self.__enter__()

    def end(self):
        self.__exit__()

    def _facts(self):
        return measuring.resident_kib(self._process.pid), measuring.descriptors(self._process.pid)

    def growth(self, index):
        """By how many percent the last quarter's median is above the second quarter's: the first is the start."""
        values = [value[index] for _, value in self.samples]
        quarter = len(values) // 4
        if not quarter:
            raise MeasurementError("too short to tell whether it grows")
        before, after = median(values[quarter:2 * quarter]), median(values[-quarter:])
        return 100 * (after - before) / before


@row("soak", "churn of 100 listeners a second and a break every 10 s, for 30 minutes: growth of the gateway after warm-up", "")
def soak(bench, figures):
    scale, count = bench.scale, bench.scale.connections(9_000)
    figures["memory"] = Figure("memory", "%", Goal("<=", 5, "ours"))
    figures["descriptors"] = Figure("descriptors", "%", Goal("<=", 1, "ours"))
    watch = Steadiness(min(1, scale.soak / 20))
    every = min(10, scale.soak / 3)
    simulated(bench, listeners=count, breaks=round(scale.soak / every), every=every, ahead=every * 0.8, lasts=every * 0.8,
              churn=scale.churn, timeout=scale.soak * 2 + 120, watch=watch)
    figures["memory"].add(OURS, watch.growth(0))
    figures["descriptors"].add(OURS, watch.growth(1))
    figures["memory"].note(f"{scale.soak:.0f} s")
    figures["memory"].note(f"{watch.samples[-1][1][0] / 1024:.1f} MiB and {watch.samples[-1][1][1]} descriptors at the end")
