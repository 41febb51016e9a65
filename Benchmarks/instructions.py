#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Counts the instructions and allocations of the hot paths, and holds them against what they may be.

    Benchmarks/instructions.py --binary .build/release/Microbenchmarks            gates
    Benchmarks/instructions.py --binary .build/release/Microbenchmarks --update   writes down what it finds

Each operation is run twice under valgrind's callgrind, once with twice as many rounds; what the second run has more is
what the rounds cost. The counts are the same however busy the machine is. A count may be more than what is written down
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
# Making a board with a hundred thousand breaks is most of what these take.
CROWD_ROUNDS = 250
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


def count(binary, operation, rounds):
    with tempfile.NamedTemporaryFile(prefix="callgrind.") as out:
        # Hashes with the same seed each time: where a table collides is then the same too.
        environment = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", binary, operation, str(rounds)],
            env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"instructions: {operation} failed:\n{done.stdout}{done.stderr}")
        with open(out.name) as file:
            return parse(file)


def measure(binary, operation, rounds=ROUNDS):
    """Instructions and allocations of one round."""
    (some, some_calls), (more, more_calls) = (count(binary, operation, n) for n in (rounds, 2 * rounds))
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
    return subprocess.run([binary], capture_output=True, text=True, check=True).stdout.split()


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
        found[operation] = measure(options.binary, operation, CROWD_ROUNDS if operation.endswith("100000") else ROUNDS)
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
