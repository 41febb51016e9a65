#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Other servers at the same work: as many bytes to as many subscribers, and a batch's bytes over HTTP.

    Benchmarks/peers.py                     everything
    Benchmarks/peers.py --quick             short, two rounds
    Benchmarks/peers.py --only nats,redis   some of them

Each server runs alone on the first core, with one thread where it lets one choose, without persistence; the load on the
second. They take turns, and the gateway takes its turn too: ratios are the gateway's value over the peer's. What none of
the others does for a notice, the gateway does in these figures too: it writes the break to its log before anybody hears.

By WebSocket, one program reads the gateway and nchan and publishes to both over HTTP. Beside them `cuecast-load` measures the gateway by
WebSocket and by ZMTP, as the other rows do.

`scripts/setup.sh bench-peers` installs the servers. They run without privileges, from temporary folders, on free ports.
"""
import argparse, json, os, resource, sys, time

sys.dont_write_bytecode = True

import compare
import measuring
import rows
from figures import BASELINE, COLUMNS, OURS, Figure, Goal, median
from load_tool import LoadTool, cpu_per_million, cpu_watch, round_window
from measuring import MeasurementError
from peer_servers import BROKERS, HTTP_SERVER, build_peer_load, peer, versions
from web_sockets import SETTINGS, at_web_socket, by_web_socket
from servers import LOAD, Servers, pinned, temporary_folder

class Round:
    """Measures the gateway and the peers in turn; who is first changes from round to round."""

    def __init__(self, bench, names, found):
        self.bench, self.names, self.found = bench, names, found

    def run(self, ours, theirs):
        """`ours()` and `theirs(name)` give values by key, alone or with their CPU."""
        sides = [OURS, *self.names]
        for number in range(self.bench.scale.pairs):
            turn = number % len(sides)
            values = {}
            for side in sides[turn:] + sides[:turn]:
                try:
                    values[side] = ours() if side == OURS else theirs(side)
                except MeasurementError as error:
                    if side == OURS:
                        raise
                    values[side] = None
                    for (name, _), figure in self.found.items():
                        if name == side:
                            figure.note(f"{side} could not be measured: {error}")
            for (name, key), figure in self.found.items():
                if values[name] is None:
                    continue
                for side, value in ((OURS, values[OURS][key]), (BASELINE, values[name][key])):
                    figure.add(side, *value) if isinstance(value, tuple) else figure.add(side, value)
            self.bench.say(f"  round {number + 1} of {self.bench.scale.pairs}: " + "; ".join(
                side + " " + (", ".join(f"{value[0] if isinstance(value, tuple) else value:.6g}"
                                        for value in values[side].values()) if values[side] else "failed")
                for side in sides))


def figures_of(names, keys, found):
    for key, (text, unit) in keys.items():
        for name in names:
            found[name, key] = Figure(f"{text}{', ' if text else ''}{name}", unit, against=name)


def single(bench, names, load, found):
    scale, count = bench.scale, bench.scale.connections(9_000)
    keys = {"median": ("median", "ms"), "p99": ("99th percentile", "ms"), "last": ("the last", "ms")}
    figures_of(names, keys, found)
    size = []

    def values(report):
        return {key: report["rounds"][0][f"{key}_us"] / 1_000 for key in keys}

    def ours():
        with bench.servers.gateway() as (_, addresses):
            report = bench.load.notices("single", addresses["notices"], broadcast=addresses["broadcast"],
                                        connections=count, silence=scale.silence)
        size.append(report.get("notice_bytes", 100))
        return values(report)

    def theirs(name):
        with peer(BROKERS[name][0]) as (_, port):
            return values(load.run("notices", "--protocol", BROKERS[name][1], "--port", port, "--connections", count,
                                   "--pattern", "single", "--silence", scale.silence, "--message-bytes",
                                   size[0] if size else 100))

    Round(bench, names, found).run(ours, theirs)


def burst(bench, names, load, found):
    scale, count = bench.scale, bench.scale.connections(1_000)
    figures_of(names, {"rate": ("", "notices/s")}, found)
    size = []

    def values(process, measure):
        with cpu_watch(process) as watch:
            report = measure()
        each = report["rounds"][-1]
        size.append(report.get("notice_bytes", 100))
        return {"rate": (median([each["per_second"] for each in report["rounds"]]),
                         cpu_per_million(watch.samples, each["received"], round_window(each, watch.samples)))}

    def ours():
        with bench.servers.gateway() as (process, addresses):
            return values(process, lambda: bench.load.notices(
                "burst", addresses["notices"], broadcast=addresses["broadcast"], connections=count, burst=scale.burst,
                count=scale.bursts))

    def theirs(name):
        with peer(BROKERS[name][0]) as (process, port):
            return values(process, lambda: load.run(
                "notices", "--protocol", BROKERS[name][1], "--port", port, "--connections", count, "--pattern", "burst",
                "--burst", scale.burst, "--count", scale.bursts, "--message-bytes", size[0] if size else 100))

    Round(bench, names, found).run(ours, theirs)


def batch(bench, _, load, found):
    scale, count = bench.scale, bench.scale.connections(1_000)
    figures_of([HTTP_SERVER], {"rate": ("", "requests/s")}, found)
    reply = rows.batch_reply(bench)

    def theirs(_):
        return {"rate": load.batches(reply, count, scale.seconds, scale.warmup)}

    figure = Figure("", "")
    Round(bench, [HTTP_SERVER], found).run(
        lambda: {"rate": rows.requests_of(bench, figure, "batch", count)}, theirs)


#: The sides beside the gateway by WebSocket: nchan, and the gateway as `cuecast-load` measures it, which publishes over ZeroMQ.
NCHAN, LOAD_WEB_SOCKET, LOAD_ZMTP = "nginx with nchan", "the gateway, cuecast-load by WebSocket", "the gateway, cuecast-load by ZMTP"

#: So many messages one after the other, each after a silence; the first one does not count.
MESSAGES = 4


def web_socket(bench, _, load, found):
    """One program reads both servers and publishes to both over HTTP, so that only the server differs."""
    scale, count = bench.scale, bench.scale.connections(9_000)
    keys = {"median": ("median", "ms"), "p99": ("99th percentile", "ms"), "last": ("the last", "ms")}
    names = [NCHAN, LOAD_WEB_SOCKET, LOAD_ZMTP]
    figures_of(names, keys, found)
    # What comes before it is the publication: over HTTP, and at the gateway onto the disk.
    figures_of([NCHAN], {"first": ("the first", "ms")}, found)
    for key in ("median", "p99"):
        found[NCHAN, key].goal = Goal("<=", 0.60)
    size = []

    def values(report):
        # The first message to be published over HTTP has servers load what they need for it.
        return {key: median([each[f"{key}_us"] for each in report["rounds"][1:]]) / 1_000
                for key in ("first", *keys) if f"{key}_us" in report["rounds"][0]}

    def read(protocol, port, *words):
        return load.run("notices", "--protocol", protocol, "--port", port, "--connections", count, "--pattern", "single",
                        "--silence", scale.silence, "--count", MESSAGES, *words)

    def ours():
        with temporary_folder() as folder, bench.servers.gateway(*SETTINGS, data=folder) as (_, addresses):
            report = read("cuecast-websocket", port_of(addresses["websocket"]), "--publish-port", port_of(addresses["http"]),
                          "--publish-token-file", os.path.join(folder, "http-token"))
        size.append(report["notice_bytes"])
        return values(report)

    def theirs(name):
        if name == NCHAN:
            with peer(BROKERS[NCHAN][0]) as (_, port):
                return values(read("nchan-websocket", port, "--message-bytes", size[0] if size else 100))
        with bench.servers.gateway(*SETTINGS) as (_, addresses):
            tool, place = (by_web_socket(bench).load, at_web_socket(addresses)) if name == LOAD_WEB_SOCKET else (bench.load, addresses)
            return values(tool.notices("single", place["notices"], broadcast=addresses["broadcast"], connections=count,
                                       silence=scale.silence, count=MESSAGES))

    Round(bench, names, found).run(ours, theirs)


def port_of(address):
    return int(address.rstrip("/").rpartition(":")[2])


PEER_COLUMNS = tuple(name.replace("baseline", "theirs") for name in COLUMNS)

ROWS = {"peers-single-notice": ("one message after silence to 9,000 subscribers", single),
        "peers-websocket-notice": ("one message after silence to 9,000 listeners by WebSocket", web_socket),
        "peers-burst-1000": ("500 messages at once to 1,000 subscribers", burst),
        "peers-batch-1000": ("a batch's bytes, 1,000 connections", batch)}


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    release = os.path.join(measuring.ROOT, ".build/release")
    parser.add_argument("--binary", default=os.path.join(release, "cuecast"), help="the gateway")
    parser.add_argument("--load", default=os.path.join(release, "cuecast-load"), help="the load tool")
    parser.add_argument("--only", default="", help=f"of {', '.join(BROKERS)}; with commas, the first word is enough")
    parser.add_argument("--rows", default="", help=f"of {', '.join(ROWS)}; with commas")
    parser.add_argument("--pairs", type=int, help="rounds; 10 unless told")
    parser.add_argument("--silence", type=float, help="seconds before a single message; 30 unless told")
    parser.add_argument("--seconds", type=float, help="how long rates are measured; 10 unless told")
    parser.add_argument("--listeners-max", type=int, help="never more connections than this")
    parser.add_argument("--quick", action="store_true", help="two short rounds")
    parser.add_argument("--smoke", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--results", default=os.path.join(measuring.ROOT, ".build/bench"))
    parser.set_defaults(soak=None, breaks=None)  # What only rows of the comparison with bare programs take.
    options = parser.parse_args(words)
    wanted = [name for name in options.only.split(",") if name]
    options.names = [name for name in BROKERS if not wanted or name in wanted or name.split()[0] in wanted
                     or name.removesuffix("-server") in wanted]
    options.rows = [name for name in options.rows.split(",") if name] or list(ROWS)
    unknown = [name for name in options.rows if name not in ROWS]
    if unknown or not options.names:
        parser.error(f"there is no {', '.join(unknown) or options.only}")
    return options


def main(words):
    options = parse(words)
    for path in (options.binary, options.load):
        if not os.path.exists(path):
            print(f"peers.py: there is no {path}; build it, or say where it is", file=sys.stderr)
            return 69
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    load = build_peer_load(os.path.join(options.results, "baselines"))
    bench = rows.Bench(Servers(options.binary, {}), LoadTool(options.load, pinned(LOAD)), compare.scale_of(options),
                       say=lambda text: print(text, flush=True))
    print(measuring.machine())
    found_versions = versions()
    for name, text in found_versions.items():
        print(f"{name}: {text}", flush=True)
    results = []
    for name in options.rows:
        title, function = ROWS[name]
        print(f"\n{name}: {title}", flush=True)
        found, error = {}, None
        try:
            function(bench, options.names, load, found)
        except (MeasurementError, KeyError, TypeError, ValueError, OSError) as fault:
            error = f"{type(fault).__name__}: {fault}"
            print(f"  not measured: {error}", flush=True)
        results.append({"row": name, "title": title, "error": error, "measured": round(time.time()),
                        "pairs": bench.scale.pairs, "machine": measuring.machine_facts(), "versions": found_versions,
                        "figures": [figure.as_json() for figure in found.values()]})
        with open(os.path.join(options.results, name + ".json"), "w") as file:
            json.dump(results[-1], file, indent=1)
    print("\n" + compare.table_of(results, PEER_COLUMNS))
    return 1 if any(result["error"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
