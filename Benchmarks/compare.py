#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Compares the gateway with bare libzmq and SQLite on the same work, and prints one table.

    Benchmarks/compare.py                            every row in full: about two hours
    Benchmarks/compare.py --quick                    two short pairs a row
    Benchmarks/compare.py --rows batch-100,memory    some rows; what the others gave before stays in the folder
    Benchmarks/compare.py --table                    prints the table of the results in the folder, measures nothing

The server has the first core to itself, the load the second. Both sides run in turn (A B B A …); the table gives the
medians of both, and the median of the pairs' ratios with its quartiles and range. Builds nothing but the bare programs:
`make bench` builds everything. Exits with 1 when a row could not be measured; a goal that is not met is no error.
"""
import argparse, functools, json, os, resource, sys, time, traceback

sys.dont_write_bytecode = True

import figures as arithmetic
import measuring
import rows
import encryption  # noqa: F401  registers its rows
import footprint  # noqa: F401  registers its row
import growth  # noqa: F401  registers its rows
import simulations  # noqa: F401  registers its rows
import event_listeners  # noqa: F401  registers its rows
import schedules  # noqa: F401  registers its rows
import shared_figures  # noqa: F401  registers its rows
import web_sockets  # noqa: F401  registers its rows
from load_tool import LoadTool
from peer_servers import build_peer_load
from servers import LOAD, Servers, build_baselines, pinned


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    release = os.path.join(measuring.ROOT, ".build/release")
    parser.add_argument("--binary", default=os.path.join(release, "cuecast"), help="the gateway")
    parser.add_argument("--load", default=os.path.join(release, "cuecast-load"), help="the load tool")
    parser.add_argument("--bench-tool", default=os.path.join(release, "cuecast-bench"),
                        help="the program that projects groups into the ledger")
    parser.add_argument("--rows", default="", help="names, with commas; all unless told")
    parser.add_argument("--pairs", type=int, help="pairs a row; 10 unless told")
    parser.add_argument("--silence", type=float, help="seconds before a single notice; 30 unless told")
    parser.add_argument("--seconds", type=float, help="how long rates are measured; 10 unless told")
    parser.add_argument("--soak", type=float, help="how many seconds the soak lasts; 1,800 unless told")
    parser.add_argument("--breaks", type=int, help="the breaks that are kept where growth is measured; 100,000 unless told")
    parser.add_argument("--listeners-max", type=int, help="never more connections than this")
    parser.add_argument("--quick", action="store_true", help="two pairs of short measurements")
    parser.add_argument("--smoke", action="store_true",
                        help="only shows that everything works: 50 connections, nothing lasts, nothing is kept")
    parser.add_argument("--results", default=os.path.join(measuring.ROOT, ".build/bench"), help="the folder of the results")
    parser.add_argument("--list", action="store_true", help="lists the rows")
    parser.add_argument("--table", action="store_true", help="prints the table of earlier results")
    options = parser.parse_args(words)
    options.rows = [name for name in options.rows.split(",") if name]
    unknown = [name for name in options.rows if name not in rows.ROWS]
    if unknown:
        parser.error(f"there is no row {', '.join(unknown)}; there are {', '.join(rows.ROWS)}")
    if options.pairs is not None and options.pairs < 1:
        parser.error("there must be at least one pair")
    return options


def scale_of(options):
    scale = rows.SMOKE if options.smoke else rows.QUICK if options.quick else rows.FULL
    changes = {"pairs": options.pairs, "silence": options.silence, "seconds": options.seconds, "soak": options.soak,
               "connections_max": options.listeners_max, "breaks": options.breaks}
    return rows.dataclasses.replace(scale, **{name: value for name, value in changes.items() if value is not None})


def measure(bench, name):
    """Measures one row; gives what is kept of it."""
    title, against, function = rows.ROWS[name]
    found, error, began = {}, None, time.time()
    try:
        function(bench, found)
    except measuring.MeasurementError as fault:
        error = str(fault)
    except (KeyError, TypeError, ValueError, IndexError, OSError) as fault:
        # What the load tool or the gateway said was not what it should be: the other rows can still be measured.
        error = f"{type(fault).__name__}: {fault}"
        traceback.print_exc()
    return {"row": name, "title": title, "against": against, "error": error, "measured": round(began),
            "seconds": round(time.time() - began, 1), "pairs": bench.scale.pairs, "scale": rows.dataclasses.asdict(bench.scale),
            "machine": measuring.machine_facts(), "figures": [figure.as_json() for figure in found.values()]}


def shown_to_work(bench, name):
    """Measures one row with little; where it cannot be measured, once more with more time: a busy machine may be too slow."""
    usual = bench.scale
    for factor in (1, 4, 16):
        bench.scale = rows.dataclasses.replace(usual, **{each: getattr(usual, each) * factor for each in rows.PACE})
        result = measure(bench, name)
        if not result["error"]:
            break
        bench.say(f"  not measured with {factor} times as much time: {result['error']}")
    bench.scale = usual
    return result


def results_in(folder):
    """Earlier results in the order of the rows."""
    found = []
    for name in rows.ROWS:
        path = os.path.join(folder, name + ".json")
        if os.path.exists(path):
            with open(path) as file:
                found.append(json.load(file))
    return found


def table_of(results, columns=arithmetic.COLUMNS):
    lines, remarks = [], []
    for result in results:
        for fields in result["figures"]:
            figure = arithmetic.Figure.from_json(fields)
            lines.append(arithmetic.cells(result["row"], figure))
            remarks += [f"{result['row']}: {note}" for note in figure.notes]
        if result["error"]:
            remarks.append(f"{result['row']}: NOT MEASURED: {result['error']}")
    return "\n".join([arithmetic.table(lines, columns), *(f"- {remark}" for remark in dict.fromkeys(remarks))])


def rows_wanted(options):
    return options.rows or (rows.SMOKE_ROWS if options.smoke else list(rows.ROWS))


def main(words):
    options = parse(words)
    if options.list:
        for name, (title, against, _) in rows.ROWS.items():
            print(f"{name:26} {title}{f' (against {against})' if against else ''}")
        return 0
    if options.table:
        print(table_of(results_in(options.results)))
        return 0
    for path in (options.binary, options.load):
        if not os.path.exists(path):
            print(f"compare.py: there is no {path}; build it, or say where it is", file=sys.stderr)
            return 69
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.makedirs(options.results, exist_ok=True)
    baselines = build_baselines(os.path.join(options.results, "baselines"))
    bench = rows.Bench(Servers(options.binary, baselines, options.bench_tool), LoadTool(options.load, pinned(LOAD)),
                       scale_of(options), say=lambda text: print(text, flush=True),
                       peer_load=functools.cache(lambda: build_peer_load(os.path.join(options.results, "baselines"))))
    print(measuring.machine(), flush=True)
    results = []
    for name in rows_wanted(options):
        print(f"\n{name}: {rows.ROWS[name][0]}", flush=True)
        result = shown_to_work(bench, name) if options.smoke else measure(bench, name)
        results.append(result)
        if result["error"]:
            print(f"  not measured: {result['error']}", flush=True)
        path = os.path.join(options.results, name + ".json")
        with open(path + ".new", "w") as file:
            json.dump(result, file, indent=1)
        os.replace(path + ".new", path)
    print("\n" + table_of(results))
    if options.smoke:
        print("\nThe measurements work. Their figures say nothing: so little was measured.")
    failed = [result["row"] for result in results if result["error"]]
    if failed:
        print(f"compare.py: could not be measured: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
