# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Starts what is measured: our gateway and the bare programs, each alone on the first core."""
import contextlib, json, os, shutil, subprocess, tempfile, time

import measuring
from measuring import MeasurementError

BASELINES = os.path.join(measuring.ROOT, "Benchmarks/baselines")

# As many threads on both sides: both have one core.
IO_THREADS = 1
# Closed loops ask faster than any listener: the limits of one session and of one connection stay on, out of their way.
GATEWAY_SETTINGS = ("--set", f"ioThreads={IO_THREADS}", "--set", "listeners.requestsPerSecondMax=1000000",
                    "--set", "listeners.messagesPerConnectionPerSecondMax=0",
                    "--set", "listeners.sessionsPerConnectionMax=0")
# Keeps the ledger from following the log.
LEDGER_PAUSED = ("--set", "ledger.paused=true")
# Our side of the row about the projection: it makes a ledger with rows in it, projects groups, and prints one JSON object
# with `rows_per_second`, `outcomes_per_second` and `cpu_seconds`, as `sqlite_group_commit ledger` does. A transaction takes as
# many groups as gather in the quarter of a second that the gateway lets them gather under load; the ideal commits each.
LEDGER_COMMAND = ("ledger", "--data-dir", "{folder}", "--existing-rows", "{existing}", "--groups", "{groups}",
                  "--requests-per-group", "{requests}", "--groups-per-transaction", "8", "--json")


def pinned(core):
    """What goes before a command so that it runs on one core; nothing where there is only one."""
    if (os.cpu_count() or 1) < 2 or not shutil.which("taskset"):
        return []
    return ["taskset", "-c", str(core)]


SERVER, LOAD = 0, 1


def build_baselines(folder):
    """Compiles the bare programs; gives name → path."""
    try:
        subprocess.run(["make", "-s", "-C", BASELINES, f"BUILD={os.path.abspath(folder)}"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise MeasurementError(f"the baselines were not built: {error}") from None
    return {name: os.path.join(os.path.abspath(folder), name)
            for name in ("xpub_forwarder", "send_loop", "router_echo", "sqlite_group_commit")}


class Servers:
    def __init__(self, gateway, baselines, bench_tool=None):
        self.gateway_binary, self.baselines, self.bench_tool = gateway, baselines, bench_tool

    def gateway(self, *settings, data=None):
        return measuring.gateway(self.gateway_binary, *GATEWAY_SETTINGS, *settings, prefix=pinned(SERVER), data=data)

    def _bare(self, name, *arguments):
        return measuring.server([self.baselines[name], *arguments], name, pinned(SERVER), stderr=subprocess.DEVNULL)

    def _libzmq(self, name, *arguments):
        return self._bare(name, *arguments, "--io-threads", str(IO_THREADS))

    def forwarder(self):
        return self._libzmq("xpub_forwarder")

    def send_loop(self):
        return self._bare("send_loop")

    def echo(self, reply):
        return self._libzmq("router_echo", "--reply", reply)

    def _json(self, command):
        done = subprocess.run([*pinned(SERVER), *map(str, command)], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise MeasurementError(f"exit code {done.returncode}: {' '.join(map(str, command))}")
        return json.loads(done.stdout.splitlines()[-1])

    def ideal_ledger(self, folder, existing, groups, requests):
        return self._json([self.baselines["sqlite_group_commit"], "ledger", "--file", os.path.join(folder, "ideal.sqlite"),
                           "--existing-rows", existing, "--groups", groups, "--requests-per-group", requests])

    def ideal_log(self, folder, groups, requests, request_bytes):
        file = os.path.join(folder, "ideal-log.sqlite")
        return self._json([self.baselines["sqlite_group_commit"], "log", "--file", file, "--groups", groups,
                           "--requests-per-group", requests, "--request-bytes", request_bytes])

    def our_ledger(self, folder, existing, groups, requests):
        if not self.bench_tool or not os.path.exists(self.bench_tool):
            raise MeasurementError(f"there is no program for our side: {self.bench_tool}")
        values = {"folder": os.path.join(folder, "ours"), "existing": existing, "groups": groups, "requests": requests}
        return self._json([self.bench_tool, *(word.format(**values) for word in LEDGER_COMMAND)])


@contextlib.contextmanager
def temporary_folder():
    """On the disk where builds are, not in memory: what is durable there is durable."""
    parent = os.path.join(measuring.ROOT, ".build")
    os.makedirs(parent, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="bench-data.", dir=parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def wait_until(condition, seconds, what):
    seconds = max(seconds, measuring.HANGS_AFTER_SECONDS)
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise MeasurementError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.05)
