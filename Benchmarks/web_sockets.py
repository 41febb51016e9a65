# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The rows about WebSocket: the gateway's listeners by WebSocket against its listeners by ZMTP.

Both sides are the gateway with both ports open, on one core; only the port at which the load comes differs.
"""
from encryption import by_tls
from figures import OURS, Figure, Goal, median
from load_tool import cpu_per_million, cpu_watch, round_window, steady_cpu_per_million
from rows import Bench, grown, note_load, row

ZMTP = "the same by ZMTP"
SETTINGS = ("--set", "listeners.webSocket=127.0.0.1:0")


def by_web_socket(bench):
    return Bench(bench.servers, bench.load.by_web_socket(), bench.scale, bench.say)


def at_web_socket(addresses):
    """The addresses of a listener that comes by WebSocket: one port for everything."""
    return {**addresses, "notices": addresses["websocket"], "requests": addresses["websocket"]}


def against_zmtp(bench, figures, measure):
    """Measures by WebSocket and by ZMTP in pairs: `measure(bench, process, addresses)` at a gateway of its own."""
    def of(side, place):
        with bench.servers.gateway(*SETTINGS) as (process, addresses):
            return measure(side, process, place(addresses))

    bench.pairs(figures, lambda: of(by_web_socket(bench), at_web_socket), lambda: of(bench, dict))


def single(bench, figures, listeners):
    scale, count = bench.scale, bench.scale.connections(listeners)
    names = {"median": "median", "p99": "99th percentile", "last": "the last"}
    for key, name in names.items():
        figures[key] = Figure(name, "ms", Goal("<=", 1.15) if key != "last" else None, against=ZMTP)

    def measure(side, _, addresses):
        report = side.load.notices("single", addresses["notices"], broadcast=addresses["broadcast"], connections=count,
                                   silence=scale.silence)
        return {key: median([each[f"{key}_us"] for each in report["rounds"]]) / 1_000 for key in names}

    against_zmtp(bench, figures, measure)


for listeners in (1_000, 9_000):
    row(f"websocket-notice-{listeners}",
        f"one break after silence, {listeners:,} listeners have the notice by WebSocket", ZMTP)(
        lambda bench, figures, listeners=listeners: single(bench, figures, listeners))


@row("websocket-burst-1000", "500 pipelined updates of one break to 1,000 listeners by WebSocket", ZMTP)
def burst(bench, figures):
    scale, count = bench.scale, bench.scale.connections(1_000)
    figure = figures["rate"] = Figure("", "notices/s", Goal(">=", 0.90), against=ZMTP)

    def measure(side, process, addresses):
        with cpu_watch(process) as watch:
            report = side.load.notices("burst", addresses["notices"], broadcast=addresses["broadcast"], connections=count,
                                       burst=scale.burst, count=scale.bursts)
        note_load(figure, {"own_cpu_seconds": report.get("own_cpu_seconds", 0),
                           "seconds": sum(each["seconds"] for each in report["rounds"])})
        last = report["rounds"][-1]
        return {"rate": (median([each["per_second"] for each in report["rounds"]]),
                         cpu_per_million(watch.samples, last["received"], round_window(last, watch.samples)))}

    against_zmtp(bench, figures, measure)


def requests(bench, figures, kind, connections, seconds):
    count = bench.scale.connections(connections)
    figure = figures["rate"] = Figure("", "requests/s", Goal(">=", 0.90), against=ZMTP)

    def measure(side, process, addresses):
        with cpu_watch(process) as watch:
            report = side.load.requests(kind, addresses["requests"], broadcast=addresses["broadcast"], connections=count,
                                        seconds=seconds, warmup=bench.scale.warmup)
        note_load(figure, report)
        return {"rate": (report["per_second"], steady_cpu_per_million(watch.samples, seconds, report["per_second"]))}

    against_zmtp(bench, figures, measure)


for connections in (100, 1_000, 9_000):
    row(f"websocket-batch-{connections}", f"batch requests by WebSocket, {connections:,} connections", ZMTP)(
        lambda bench, figures, connections=connections: requests(bench, figures, "batch", connections, bench.scale.seconds))


@row("websocket-acknowledgements", "acknowledgements by WebSocket, durable before the reply, 1,000 connections", ZMTP)
def acknowledgements(bench, figures):
    requests(bench, figures, "acknowledge", 1_000, bench.scale.seconds)


@row("websocket-memory", "memory of a listener by WebSocket, 9,000 of them: idle, used, and used by TLS", "")
def memory(bench, figures):
    use = (bench.scale.used_notices, bench.scale.used_requests)
    figures["idle"] = Figure("idle", "KiB")
    figures["used"] = Figure("used", "KiB", Goal("<=", 5, "ours"))
    figures["tls"] = Figure("used, by TLS", "KiB", Goal("<=", 20, "ours"))

    def of(side, settings=(), **how):
        with side.servers.gateway(*SETTINGS, *settings) as (process, addresses):
            there = at_web_socket(addresses)
            return grown(side, [process], there["notices"], there["requests"], broadcast=there["broadcast"], **how)

    for _ in range(min(bench.scale.pairs, 3)):
        figures["idle"].add(OURS, of(by_web_socket(bench)))
        figures["used"].add(OURS, of(by_web_socket(bench), use=use))
        with by_tls(bench) as (encrypted, settings):
            figures["tls"].add(OURS, of(by_web_socket(encrypted), settings, use=use))
        bench.say("  " + "; ".join(f"{figure.name} {figure.ours[-1]:.3g} KiB" for figure in figures.values()))
