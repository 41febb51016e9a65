# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The rows of the table that compares the gateway with the bare programs: what runs, and what must come out."""
import contextlib, dataclasses, os, time

import measuring
import peer_servers
from figures import BASELINE, OURS, Figure, Goal, interleaved, median
from load_tool import Watch, cpu_per_million, cpu_watch, round_window, steady_cpu_per_million
from measuring import MeasurementError
from servers import LEDGER_PAUSED, temporary_folder, wait_until


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much of everything."""
    pairs: int = 10
    # Of the connections that a row names at most so many.
    connections_max: int = 9_000
    seconds: float = 10
    warmup: float = 2
    silence: float = 30
    burst: int = 500
    # Bursts one after the other at one server; their median counts.
    bursts: int = 5
    # How long idle connections are looked at.
    hold: float = 20
    # What a listener had before its memory is looked at: past what a pipe of libzmq keeps for ever.
    used_notices: int = 1_000
    used_requests: int = 300
    # How long acknowledgements come while the ledger follows.
    sustained: float = 60
    # The outcomes in the ledger when a start is measured.
    acknowledged: int = 10_000_000
    # The rows in the ledger when projection is measured, and the groups that are projected.
    existing: int = 10_000_000
    groups: int = 300
    group_requests: int = 1_000
    # How long before its start a break is announced.
    ahead: float = 8
    soak: float = 1_800
    churn: float = 100
    # The breaks that are kept where growth is measured, and the requests whose time is taken.
    breaks: int = 100_000
    samples: int = 60
    # The advertisements on a large board, and the publications while its snapshots are kept.
    board_mib: int = 175
    publications: int = 1_500
    # How long memory is given to go, in seconds.
    housekeeping: float = 400

    def connections(self, count):
        return min(count, self.connections_max)


FULL = Scale()
QUICK = Scale(pairs=2, seconds=3, warmup=1, silence=3, bursts=3, hold=5, sustained=10, acknowledged=300_000, existing=300_000,
              groups=50, soak=60, breaks=10_000, samples=30, board_mib=64, publications=600, housekeeping=60)
# So little that the machinery is shown to work and nothing else.
SMOKE = Scale(pairs=1, connections_max=50, seconds=0.5, warmup=0.2, silence=0.2, burst=20, bursts=1, hold=0.3, sustained=2,
              acknowledged=300, existing=3_000, groups=2, group_requests=100, soak=3, churn=5, breaks=40, samples=3, board_mib=1,
              publications=5, housekeeping=0.5, used_notices=20, used_requests=5)

# What gives a machine more time for the same.
PACE = ("seconds", "soak", "ahead")
# Of the rows those that show the machinery: pairs, a bare program on either side, memory, a line in the table each.
SMOKE_ROWS = ("burst-1000", "batch-100", "memory", "single-notice-send", "burst-1000-send", "memory-used", "joins-18000", "stalled", "viewers", "soak", "growth-waiting", "growth-readers", "growth-connections",
              "tls-notice-1000", "tls-batch-100", "tls-memory", "tls-handshakes", "token-joins",
              "websocket-notice-1000", "websocket-batch-100", "websocket-memory", "schedule-put", "schedule-filling", "variants-batch",
              "shared-append", "shared-notice")

ROWS = {}


def row(name, title, against):
    """Registers a row: a function that gets the bench and yields its figures as soon as they exist, empty."""
    def register(function):
        ROWS[name] = (title, against, function)
        return function
    return register


class Bench:
    """The needs of rows: the servers, the load tool, the scale, and a function for messages.

    `peer_load()` gives the load for other servers, which is built when the first row wants it.
    """

    def __init__(self, servers, load, scale, say=print, peer_load=None):
        self.servers, self.load, self.scale, self.say, self.peer_load = servers, load, scale, say, peer_load

    def pairs(self, figures, ours, baseline, beside=()):
        """Measures both sides in interleaved pairs; each gives values by the figure's key, alone or with its CPU.

        What is beside them, name → the same, is measured in each pair too: figures against it, without a goal, come behind
        the others. One that cannot be measured has a note instead.
        """
        beside = dict(beside)
        others = {name: {key: Figure(", ".join(filter(None, [figure.name, f"beside {name}"])), figure.unit, against=name)
                         for key, figure in figures.items()} for name in beside}
        for number, order in enumerate(interleaved(self.scale.pairs)):
            told = {}
            # The whole order is turned round in every other pair.
            for side in (*order, *beside) if number % 2 == 0 else (*reversed(beside), *order):
                try:
                    values = {OURS: ours, BASELINE: baseline, **beside}[side]()
                except MeasurementError as error:
                    if side not in beside:
                        raise
                    del beside[side]
                    next(iter(figures.values())).note(f"{side} could not be measured: {error}")
                    continue
                for key, value in values.items():
                    value, cpu = value if isinstance(value, tuple) else (value, None)
                    told.setdefault(key, {})[side] = value
                    if side in beside:
                        others[side][key].add(BASELINE, value, cpu)
                    else:
                        figures[key].add(side, value, cpu)
            for name in beside:
                for key, figure in others[name].items():
                    figure.add(OURS, figures[key].ours[-1])
            self.say(f"  pair {number + 1} of {self.scale.pairs}: " + "; ".join(
                f"{key} " + " and ".join(f"{sides[side]:.6g}" for side in (OURS, BASELINE, *beside) if side in sides)
                for key, sides in told.items()))
        figures.update({f"{key}-{name}": figure for name, each in others.items() for key, figure in each.items()
                        if figure.baseline})


# Notices

FORWARDER, SEND_LOOP = "bare libzmq", "bare send loop"


def notices_from(bench, source, measure):
    """Measures a source of notices: the gateway, or a bare program by its name. `measure(process, **where)` does it."""
    if source == OURS:
        with bench.servers.gateway() as (process, addresses):
            return measure(process, notices=addresses["notices"], broadcast=addresses["broadcast"])
    with {FORWARDER: bench.servers.forwarder, SEND_LOOP: bench.servers.send_loop}[source]() as (process, addresses):
        return measure(process, notices=addresses["out"], bare_publish=addresses["in"])


def notices_in_pairs(bench, figures, measure, baseline, beside=()):
    def of(source):
        return lambda: notices_from(bench, source, measure)

    bench.pairs(figures, of(OURS), of(baseline), {source: of(source) for source in beside})


def single(bench, figures, goals, baseline, beside=()):
    """A single notice to all; `goals` says for which of its values there is one."""
    scale, count = bench.scale, bench.scale.connections(9_000)
    names = {"median": "median", "p99": "99th percentile", "last": "the last"}
    for key, name in names.items():
        figures[key] = Figure(name, "ms", goals.get(key))

    def measure(_, **where):
        report = bench.load.notices("single", connections=count, silence=scale.silence, **where)
        return {key: median([each[f"{key}_us"] for each in report["rounds"]]) / 1_000 for key in names}

    notices_in_pairs(bench, figures, measure, baseline, beside)


@row("single-notice", "one break after silence, 9,000 listeners have the notice", "bare XPUB forwarder, serviced")
def single_notice(bench, figures):
    single(bench, figures, {key: Goal("<=", 1.10) for key in ("median", "p99", "last")}, FORWARDER)


@row("single-notice-send", "one break after silence, 9,000 listeners have the notice", "a bare send loop; bare libzmq beside it")
def single_notice_send(bench, figures):
    single(bench, figures, {key: Goal("<=", 1.40) for key in ("median", "p99")}, SEND_LOOP, [FORWARDER])


def burst(bench, figures, listeners, goal, baseline):
    scale, count = bench.scale, bench.scale.connections(listeners)
    figures["rate"] = Figure("", "notices/s", goal)

    def measure(process, **where):
        with cpu_watch(process) as watch:
            report = bench.load.notices("burst", connections=count, burst=scale.burst, count=scale.bursts, **where)
        each = report["rounds"][-1]
        note_load(figures["rate"], {"own_cpu_seconds": report.get("own_cpu_seconds", 0),
                                    "seconds": sum(each["seconds"] for each in report["rounds"])})
        return {"rate": (median([each["per_second"] for each in report["rounds"]]),
                         cpu_per_million(watch.samples, each["received"], round_window(each, watch.samples)))}

    notices_in_pairs(bench, figures, measure, baseline)


@row("burst-1000", "500 pipelined updates of one break to 1,000 listeners", "bare XPUB forwarder, SNDHWM 1000")
def burst_1000(bench, figures):
    burst(bench, figures, 1_000, Goal(">=", 0.95), FORWARDER)


@row("burst-9000", "500 pipelined updates of one break to 9,000 listeners", "bare XPUB forwarder, SNDHWM 1000")
def burst_9000(bench, figures):
    burst(bench, figures, 9_000, Goal(">=", 0.95), FORWARDER)


SEND_LOOP_AGAINST = "a bare send loop that writes what is pending as one; nothing durable"


@row("burst-1000-send", "500 pipelined updates of one break to 1,000 listeners, each durable first", SEND_LOOP_AGAINST)
def burst_1000_send(bench, figures):
    burst(bench, figures, 1_000, Goal(">=", 0.90), SEND_LOOP)


@row("burst-9000-send", "500 pipelined updates of one break to 9,000 listeners, each durable first", SEND_LOOP_AGAINST)
def burst_9000_send(bench, figures):
    burst(bench, figures, 9_000, Goal(">=", 0.90), SEND_LOOP)


# Requests

def requests_of(bench, figure, kind, connections, seconds=None, settings=(), watch_ledger=None, record=None):
    """The rate of one kind of requests at a gateway of its own, and its CPU for a million."""
    scale = bench.scale
    seconds = seconds or scale.seconds
    with bench.servers.gateway(*settings) as (process, addresses):
        with cpu_watch(process) as watch:
            look = Watch(lambda: ledger_offsets(addresses), 0.25) if watch_ledger is not None else None
            if look:
                look.__enter__()
            try:
                report = bench.load.requests(kind, addresses["requests"], broadcast=addresses["broadcast"], record=record,
                                             connections=connections, seconds=seconds, warmup=scale.warmup)
            finally:
                if look:
                    look.__exit__()
        if look:
            watch_ledger.append(seconds_behind(look.samples))
            rarest = max((after[0] - before[0] for before, after in zip(look.samples, look.samples[1:])), default=0)
            if rarest > 1:
                figure.note(f"the ledger was looked at only every {rarest:.1f} s at worst")
    note_load(figure, report)
    return report["per_second"], steady_cpu_per_million(watch.samples, seconds, report["per_second"])


# From this share of its core on the load tool may be what is measured.
LOAD_BUSY = 0.9


def note_load(figure, report):
    """Says so where the load tool may have been what was measured."""
    used = report.get("own_cpu_seconds", 0) / report["seconds"] if report.get("seconds") else 0
    if used > LOAD_BUSY:
        figure.note("in some runs the load tool was busy for more than 90 % of the time")


def batch_reply(bench):
    """What the gateway answers a batch request with, so that others answer with as many bytes."""
    scale = bench.scale
    with temporary_folder() as folder:
        with bench.servers.gateway() as (_, addresses):
            bench.load.requests("batch", addresses["requests"], broadcast=addresses["broadcast"], connections=1,
                                seconds=min(scale.seconds, 1), warmup=min(scale.warmup, 0.2), record=folder)
        try:
            with open(os.path.join(folder, "reply.bin"), "rb") as file:
                return file.read()
        except FileNotFoundError:
            raise MeasurementError("the load tool recorded no reply") from None


@contextlib.contextmanager
def router_echo(bench, figure, count):
    """What measures the bare ROUTER that answers with as many bytes as a batch has; gives it with these bytes."""
    scale = bench.scale
    reply = batch_reply(bench)
    figure.note(f"the bare server's replies have {len(reply)} bytes")
    with temporary_folder() as folder:
        path = os.path.join(folder, "reply.bin")
        with open(path, "wb") as file:
            file.write(reply)

        def baseline():
            with bench.servers.echo(path) as (process, addresses):
                with cpu_watch(process) as watch:
                    report = bench.load.requests("batch", addresses["requests"], connections=count, bare=True,
                                                 seconds=scale.seconds, warmup=scale.warmup)
            note_load(figure, report)
            return {"rate": (report["per_second"],
                             steady_cpu_per_million(watch.samples, scale.seconds, report["per_second"]))}

        yield baseline, reply


def batch(bench, figures, connections):
    scale, count = bench.scale, bench.scale.connections(connections)
    figure = figures["rate"] = Figure("", "requests/s", Goal(">=", 1.25))

    def static_file(reply):
        return {"rate": bench.peer_load().batches(reply, count, scale.seconds, scale.warmup)}

    with router_echo(bench, figure, count) as (baseline, reply):
        bench.pairs(figures, lambda: {"rate": requests_of(bench, figure, "batch", count)}, baseline,
                    {f"{peer_servers.HTTP_SERVER}, a static file": lambda: static_file(reply)})


@row("batch-100", "batch requests, 100 connections", "bare ROUTER echo, as many bytes; nginx beside it")
def batch_100(bench, figures):
    batch(bench, figures, 100)


@row("batch-1000", "batch requests, 1,000 connections", "bare ROUTER echo, as many bytes; nginx beside it")
def batch_1000(bench, figures):
    batch(bench, figures, 1_000)


@row("batch-9000", "batch requests, 9,000 connections", "bare ROUTER echo, as many bytes; nginx beside it")
def batch_9000(bench, figures):
    batch(bench, figures, 9_000)


OUTCOMES_PER_REQUEST = 3


@row("acknowledgements-paused", "acknowledgements, durable before the reply, 1,000 connections, projection paused",
     "bare ROUTER echo, nothing durable")
def acknowledgements_paused(bench, figures):
    count = bench.scale.connections(1_000)
    figure = figures["rate"] = Figure("", "requests/s", Goal(">=", 1.10))
    with router_echo(bench, figure, count) as (baseline, _):
        bench.pairs(figures,
                    lambda: {"rate": requests_of(bench, figure, "acknowledge", count, settings=LEDGER_PAUSED)},
                    baseline)


@row("acknowledgements", "acknowledgements for a minute, the ledger follows, 1,000 connections",
     "bare ROUTER echo, nothing durable")
def acknowledgements(bench, figures):
    scale, count = bench.scale, bench.scale.connections(1_000)
    figure = figures["rate"] = Figure("", "requests/s", Goal(">=", 0.80))
    figures["outcomes"] = Figure("outcomes", "/s", Goal(">=", 100_000, "ours"))
    figures["behind"] = Figure("the ledger's lag", "s", Goal("<", 2, "ours"))

    def ours():
        behind = []
        rate, cpu = requests_of(bench, figure, "acknowledge", count, seconds=scale.sustained, watch_ledger=behind)
        return {"rate": (rate, cpu), "outcomes": rate * OUTCOMES_PER_REQUEST, "behind": behind[0]}

    with router_echo(bench, figure, count) as (baseline, _):
        bench.pairs(figures, ours, baseline)


LANE = '{lane="acknowledgements/0"}'


def ledger_offsets(addresses):
    """Where the log of acknowledgements and the ledger stand."""
    facts = measuring.metrics(addresses)
    return facts.get(f"cuecast_log_offset{LANE}", 0), facts.get(f"cuecast_ledger_offset{LANE}", 0)


def seconds_behind(samples):
    """How far the ledger was behind the log at worst, in seconds: at each instant the age of what it had not applied.

    Samples are (instant, (offset of the log, offset of the ledger)), in order.
    """
    worst, oldest = 0.0, 0
    for instant, (log, ledger) in samples:
        if ledger >= log:
            continue
        # The first look at which the log was beyond what the ledger has now.
        while samples[oldest][1][0] <= ledger:
            oldest += 1
        worst = max(worst, instant - samples[oldest][0])
    return worst


# The ledger

@row("projection", "rows a second that the ledger takes in, 10 million rows already there",
     "ideal group commit in C, row by row")
def projection(bench, figures):
    scale = bench.scale
    figure = figures["rate"] = Figure("", "rows/s", Goal(">=", 1.0))
    with temporary_folder() as folder:
        def values(measure):
            report = measure(folder, scale.existing, scale.groups, scale.group_requests)
            rows = report["rows_per_second"] * report["seconds"]
            return {"rate": (report["rows_per_second"], report["cpu_seconds"] / rows * 1e6)}

        figure.note("rows are outcomes and sessions, as many on both sides")
        bench.pairs(figures, lambda: values(bench.servers.our_ledger), lambda: values(bench.servers.ideal_ledger))


def acknowledged_outcomes(addresses):
    return measuring.metrics(addresses).get("cuecast_acknowledged_outcomes_total", 0)


@row("ready", "from start to ready with 10 million acknowledgements in the ledger", "")
def ready(bench, figures):
    scale = bench.scale
    figures["time"] = Figure("", "s", Goal("<=", 1, "ours"))
    with temporary_folder() as folder:
        data = os.path.join(folder, "data")
        outcomes = 0
        while outcomes < scale.acknowledged:
            with bench.servers.gateway(data=data) as (_, addresses):
                before = acknowledged_outcomes(addresses)
                bench.load.requests("acknowledge", addresses["requests"], broadcast=addresses["broadcast"],
                                    connections=scale.connections(1_000), seconds=scale.sustained, warmup=scale.warmup)
                outcomes += acknowledged_outcomes(addresses) - before

                def follows():
                    log, ledger = ledger_offsets(addresses)
                    return ledger >= log

                wait_until(follows, 600, "the ledger has caught up")
            bench.say(f"  {outcomes:,.0f} outcomes in the ledger")
        for _ in range(scale.pairs):
            began = time.monotonic()
            with bench.servers.gateway(data=data):
                figures["time"].add(OURS, time.monotonic() - began)
            bench.say(f"  ready after {figures['time'].ours[-1]:.3f} s")
    figures["time"].note(f"{outcomes:,.0f} outcomes")


# Idle listeners

SETTLE_SECONDS = 1


def grown(bench, processes, notices, requests, **how):
    """KiB by which the processes grow for each listener that is held."""
    scale, count = bench.scale, bench.scale.connections(9_000)
    before = sum(measuring.resident_kib(process.pid) for process in processes)
    with bench.load.idle(notices, requests=requests, connections=count, hold=scale.hold + 600, **how):
        time.sleep(min(SETTLE_SECONDS, scale.hold))
        after = sum(measuring.resident_kib(process.pid) for process in processes)
    return (after - before) / count


def listener_memory(bench, **how):
    with bench.servers.gateway() as (process, addresses):
        return grown(bench, [process], addresses["notices"], addresses["requests"], broadcast=addresses["broadcast"], **how)


@row("memory", "memory of an idle listener with two connections, 9,000 of them", "bare XPUB and bare ROUTER, the same connections")
def memory(bench, figures):
    figures["memory"] = Figure("", "KiB", Goal("<=", 1, "difference"))

    def baseline():
        with temporary_folder() as folder:
            reply = os.path.join(folder, "reply.bin")
            with open(reply, "wb") as file:
                file.write(bytes(64))
            with bench.servers.forwarder() as (publisher, out), bench.servers.echo(reply) as (router, answers):
                return {"memory": grown(bench, [publisher, router], out["out"], answers["requests"], bare=True)}

    bench.pairs(figures, lambda: {"memory": listener_memory(bench, push=False)}, baseline)


@row("memory-used", "memory of a listener, 9,000 of them: idle, and after 1,000 notices and 300 batches", "")
def memory_used(bench, figures):
    use = (bench.scale.used_notices, bench.scale.used_requests)
    kinds = {"one": ("one connection", 9, {"push": True}), "two": ("two connections", 16, {"push": False})}
    for key, (name, limit, _) in kinds.items():
        figures[f"{key}-idle"] = Figure(f"{name}, idle", "KiB", Goal("<=", limit, "ours"))
        figures[f"{key}-used"] = Figure(f"{name}, used", "KiB", Goal("<=", limit, "ours"))
    for _ in range(min(bench.scale.pairs, 3)):
        for key, (_, _, how) in kinds.items():
            figures[f"{key}-idle"].add(OURS, listener_memory(bench, **how))
            figures[f"{key}-used"].add(OURS, listener_memory(bench, use=use, **how))
        bench.say("  " + "; ".join(f"{figure.name} {figure.ours[-1]:.3g} KiB" for figure in figures.values()))


def idle_share(bench, count, push):
    """The percentage of a core that a gateway uses for listeners that do nothing."""
    scale = bench.scale
    with bench.servers.gateway() as (process, addresses):
        with bench.load.idle(addresses["notices"], requests=addresses["requests"], connections=count, push=push,
                             hold=scale.hold + 600):
            time.sleep(min(SETTLE_SECONDS, scale.hold))
            used, began = measuring.cpu_seconds(process.pid), time.monotonic()
            time.sleep(scale.hold)
            used = measuring.cpu_seconds(process.pid) - used
            return 100 * used / (time.monotonic() - began)


@row("idle-cpu", "CPU with 9,000 idle listeners with two connections", "")
def idle_cpu(bench, figures):
    scale, count = bench.scale, bench.scale.connections(9_000)
    figures["cpu"] = Figure("", "% of a core", Goal("<", 5, "ours"))
    for _ in range(min(scale.pairs, 3)):
        figures["cpu"].add(OURS, idle_share(bench, count, push=False))
        bench.say(f"  {figures['cpu'].ours[-1]:.2f} %")
