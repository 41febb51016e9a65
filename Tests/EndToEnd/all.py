#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""All end-to-end tests: a process for each class, some at a time, because they wait more than they compute.

    scripts/end-to-end.sh
"""
import concurrent.futures, importlib, os, re, subprocess, sys, tempfile, time, unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness, test_end_to_end

#: So many classes at a time.
PROCESSES = 5
#: The classes that take longest. They go first, so that no processor is idle at the end.
LONGEST = ("SharedLogForget", "Schedules", "Dashboard", "AdServers", "WebTabs", "WebCrowd", "HTTP2", "CommandLine", "DashboardViews", "Choosing", "EventListeners", "WebPlayer",
           "HTTPFuzz", "Forgetting", "EncryptedHTTP", "Curve", "PlayerLife", "LoadRun", "SharedLogRolling", "SharedLogMoving", "DryRunOfADay", "Groups", "WatchHLS", "EndToEnd", "BroadcasterPages", "RealEncoder",
           "ProgrammeTime", "WebGuide", "WebWake", "WatchedRadio", "SharedLogSnapshots")


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
    return sorted(found, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST))


def run(name):
    """How one class went: its name, exit code, output, and the seconds that it took and that its programs computed."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([sys.executable, test_end_to_end.__file__, name], stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT,
                                   env={**os.environ, "CUECAST_TEST_GENERATED": harness.GENERATED})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return (name, process.returncode, output.read().decode(errors="replace"), time.monotonic() - began,
                usage.ru_utime + usage.ru_stime)


def main():
    if missing := left_out():
        print(f"end-to-end: test_end_to_end.py does not import {', '.join(missing)}")
        return 1
    failed, count = [], 0
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        for task in concurrent.futures.as_completed([pool.submit(run, name) for name in classes()]):
            name, code, output, seconds, computed = task.result()
            count += 1
            print(f"\n-- {name}, {seconds:.0f} s, computing {computed:.0f} s\n{output}", end="", flush=True)
            if code != 0:
                failed.append(name)
    if failed or not count:
        print(f"\nend-to-end: failed: {', '.join(failed) or 'there are no tests'}")
        return 1
    print(f"\nend-to-end: all {count} classes passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
