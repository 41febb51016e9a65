#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Counts the instructions and allocations of the hot paths, and holds them against what they may be.

    Benchmarks/instructions.py --binary .build/release/Microbenchmarks            gates
    Benchmarks/instructions.py --binary .build/release/Microbenchmarks --update   writes down what it finds

Under valgrind's callgrind each operation goes some rounds to warm up, as many again, and then twice as many; what the last ones have more is
what a round costs. The counts are the same however busy the machine is. A count may be more than what is written down
by the tolerance; what costs much less is reported, so that the limit follows. Another compiler than the one that the
limits were taken with is measured but not gated: its code differs.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")
ROUNDS = 1_000
# These take 200,000 instructions and more each.
LONG, LONG_ROUNDS = ("publish-", "list-"), 250
# These take milliseconds each, and other ones for each draw: the program says how long.
TIMED = "choose-"
TOLERANCE = 0.10
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"}


def parse(lines):
    """The totals of a callgrind file: instructions, and calls of the allocator.

    Valgrind manual, "Callgrind Format Specification": names are written out once, and then only by number.
    """
    names, callee, calls, total = {}, None, 0, None
    for line in lines:
        if line.startswith("cfn="):
            number, _, name = line[4:].strip().partition(" ")
            if name:
                names[number] = name
            callee = names.get(number, number)
        elif line.startswith("fn="):
            number, _, name = line[3:].strip().partition(" ")
            if name:
                names[number] = name
        elif line.startswith("calls=") and callee in ALLOCATORS:
            calls += int(line[6:].split()[0])
        elif line.startswith(("summary:", "totals:")):
            total = int(line.split()[1])
    if total is None:
        raise ValueError("the file of callgrind has no total")
    return total, calls


#: Does some rounds of an operation; callgrind writes what it has counted each time before it is called.
MEASURED = "*measuredRounds*"


def count(binary, operation, rounds):
    """The totals of each of the rounds given, of one process: what they all need is made once, and is not counted."""
    with tempfile.TemporaryDirectory(prefix="callgrind.") as folder:
        out = os.path.join(folder, "out")
        # Hashes with the same seed each time: where a table collides is then the same too.
        environment = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}
        # After the last ones nothing is done once more, so that what is counted ends before the process does.
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--dump-before={MEASURED}", binary, operation,
             *(str(each) for each in (*rounds, 0))],
            env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"instructions: {operation} failed:\n{done.stdout}{done.stderr}")
        # What was made before the first ones, each of them, and the end.
        parts, expected = len(os.listdir(folder)), len(rounds) + 2
        if parts != expected:
            sys.exit(f"instructions: callgrind counted {operation} in {parts} parts, and not in {expected}")
        totals = []
        for part in range(2, expected):
            with open(f"{out}.{part}") as file:
                totals.append(parse(file))
        return totals


def measure(binary, operation, rounds=ROUNDS):
    """Instructions and allocations of one round."""
    # The first ones do what is done once, and are not looked at.
    _, (some, some_calls), (more, more_calls) = count(binary, operation, (rounds, rounds, 2 * rounds))
    return {"instructions": round((more - some) / rounds), "allocations": round((more_calls - some_calls) / rounds, 2)}


def verdict(found, limit, tolerance=TOLERANCE):
    """What is wrong with what was found; nothing where all is well."""
    faults = []
    for name in ("instructions", "allocations"):
        if found[name] > limit[name] * (1 + tolerance) + (0.01 if name == "allocations" else 0):
            faults.append(f"{found[name]} {name}, at most {limit[name]} (+{tolerance:.0%}) are allowed")
    return faults


def ratio_faults(found, ratios):
    """Which operations cost more than so many times what another costs: what is kept must not cost."""
    faults = []
    for name, ratio in ratios.items():
        most = ratio["most"] * found[ratio["of"]]["instructions"]
        if found[name]["instructions"] > most:
            faults.append(f"{name}: {found[name]['instructions']} instructions, at most {ratio['most']} times those "
                          f"of {ratio['of']} are allowed: {most:.0f}")
    return faults


def operations(binary):
    names = subprocess.run([binary], capture_output=True, text=True, check=True).stdout.split()
    return [name for name in names if not name.startswith(TIMED)]


def compiler():
    text = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"Swift version (\S+)", text)
    return found.group(1) if found else "unknown"


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--binary", required=True)
    options.add_argument("--update", action="store_true", help="write down what is found as the new limits")
    options = options.parse_args()
    with open(LIMITS) as file:
        limits = json.load(file)
    gates = limits["compiler"] == compiler() and not options.update
    found, failed = {}, False
    print(f"{'operation':<18} {'instructions':>12} {'limit':>8} {'allocations':>12} {'limit':>8}")
    for operation in operations(options.binary):
        found[operation] = measure(options.binary, operation, LONG_ROUNDS if operation.startswith(LONG) else ROUNDS)
        limit = limits["operations"].get(operation)
        if limit is None and operation in limits["ratios"]:
            # What is held by a ratio needs no limit of its own.
            print(f"{operation:<18} {found[operation]['instructions']:>12,} {'':>8} {found[operation]['allocations']:>12}")
            continue
        limit = limit or {"instructions": 0, "allocations": 0}
        print(f"{operation:<18} {found[operation]['instructions']:>12,} {limit['instructions']:>8,} "
              f"{found[operation]['allocations']:>12} {limit['allocations']:>8}")
        if gates:
            for fault in verdict(found[operation], limit):
                failed = True
                print(f"instructions: {operation}: {fault}", file=sys.stderr)
            if found[operation]["instructions"] < limit["instructions"] * (1 - 2 * TOLERANCE):
                print(f"{operation} costs much less than its limit: run with --update")
    # These hold for every compiler.
    for fault in ratio_faults(found, limits["ratios"]):
        failed = True
        print(f"instructions: {fault}", file=sys.stderr)
    if options.update:
        with open(LIMITS, "w") as file:
            json.dump({"compiler": compiler(), "ratios": limits["ratios"], "operations": found}, file, indent=2)
            file.write("\n")
    elif not gates:
        print(f"not gated: the limits are those of Swift {limits['compiler']}, this is {compiler()}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
