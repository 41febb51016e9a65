#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""All end-to-end tests: a process for each class, some at a time, because they wait more than they compute.

    scripts/end-to-end.sh
"""
import concurrent.futures, importlib, os, re, subprocess, sys, time, unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness, test_end_to_end

#: So many classes at a time.
PROCESSES = 4


def left_out():
    """The classes of the files here that have tests, and that would not run."""
    folder = os.path.dirname(os.path.abspath(__file__))
    modules = [importlib.import_module(name[:-3]) for name in sorted(os.listdir(folder)) if re.fullmatch(r"test_\w+\.py", name)]
    return [f"{module.__name__}.{name}" for module in modules for name, each in vars(module).items()
            if isinstance(each, type) and each.__module__ == module.__name__ and issubclass(each, unittest.TestCase)
            and unittest.defaultTestLoader.getTestCaseNames(each) and vars(test_end_to_end).get(name) is not each]


def classes():
    """The names of the test classes, those that take longest first."""
    found = [name for name, each in vars(test_end_to_end).items()
             if isinstance(each, type) and issubclass(each, unittest.TestCase)]
    return sorted(found, key=lambda name: name not in ("EndToEnd", "PlayerLife", "RadioPlayer", "LoadRun"))


def run(name):
    began = time.monotonic()
    done = subprocess.run([sys.executable, test_end_to_end.__file__, name], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "CUECAST_TEST_GENERATED": harness.GENERATED})
    return name, done.returncode, done.stdout, time.monotonic() - began


def main():
    if missing := left_out():
        print(f"end-to-end: test_end_to_end.py does not import {', '.join(missing)}")
        return 1
    failed, count = [], 0
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        for task in concurrent.futures.as_completed([pool.submit(run, name) for name in classes()]):
            name, code, output, seconds = task.result()
            count += 1
            print(f"\n-- {name}, {seconds:.0f} s\n{output}", end="", flush=True)
            if code != 0:
                failed.append(name)
    if failed or not count:
        print(f"\nend-to-end: failed: {', '.join(failed) or 'there are no tests'}")
        return 1
    print(f"\nend-to-end: all {count} classes passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
