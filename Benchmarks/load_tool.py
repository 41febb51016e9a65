# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Runs `cuecast-load`, and reads what it says. Every flag that the measurements use stands here."""
import contextlib, json, subprocess, threading, time

from measuring import HANGS_AFTER_SECONDS, MeasurementError, cpu_seconds

SAMPLE_SECONDS = 0.05
# Between the end of a round and the end of the load tool; before a round nothing happens for longer than this.
ROUND_MARGIN_SECONDS = 0.2


class Watch:
    """Looks at a server several times a second while something else happens: instant → values."""

    def __init__(self, look, every=SAMPLE_SECONDS):
        self.samples = []
        self._look, self._every = look, every
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while True:
            with contextlib.suppress(OSError):
                self.samples.append((time.time(), self._look()))
            if self._stop.wait(self._every):
                return

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def at(samples, instant):
    """The value at an instant, on the line between the samples next to it."""
    before = None
    for sample in samples:
        if sample[0] >= instant:
            if before is None or sample[0] == before[0]:
                return sample[1]
            return before[1] + (sample[1] - before[1]) * (instant - before[0]) / (sample[0] - before[0])
        before = sample
    return before[1]


def parsed(text, command):
    """The one JSON object on the standard output (after the lines of progress in JSON that some commands print)."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise MeasurementError(f"it printed nothing: {' '.join(command)}")
    try:
        report = json.loads(lines[-1] if lines[-1].startswith("{") and lines[-1].endswith("}") else text)
    except ValueError as error:
        raise MeasurementError(f"it printed no JSON ({error}): {' '.join(command)}") from None
    if not isinstance(report, dict):
        raise MeasurementError(f"it printed no JSON object: {' '.join(command)}")
    return report


def duration(seconds):
    """As commands take it: whole seconds, or milliseconds."""
    return f"{seconds:.0f}s" if seconds == int(seconds) else f"{seconds * 1000:.0f}ms"


class LoadTool:
    def __init__(self, binary, prefix=(), words=()):
        self.binary, self.prefix, self.words = binary, list(prefix), list(words)

    def by_tls(self, certificate):
        """The same whose listeners speak TLS with a gateway that has this certificate."""
        return LoadTool(self.binary, self.prefix, [*self.words, "--tls", "--listener-ca-file", certificate])

    def by_web_socket(self):
        """The same whose listeners come by WebSocket."""
        return LoadTool(self.binary, self.prefix, [*self.words, "--websocket"])

    def _run(self, arguments, timeout, may_lose=False):
        command = [*self.prefix, self.binary, *map(str, arguments), *self.words, "--json"]
        try:
            timeout = max(timeout, HANGS_AFTER_SECONDS)
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise MeasurementError(f"it took longer than {timeout:.0f} s: {' '.join(command)}") from None
        if done.returncode and not (may_lose and done.returncode == 1):
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            if done.returncode == 1:
                found = parsed(done.stdout, command).get("findings", [])
                said = "; ".join(f"{each['count']} × {each['sentence']}" for each in found) or said
            raise MeasurementError(f"exit code {done.returncode} ({said}): {' '.join(command)}")
        return parsed(done.stdout, command)

    def requests(self, kind, requests, *, broadcast=None, connections, seconds, warmup, bare=False, record=None,
                 tokens=None, expect=None, variants=None):
        """Closed loop, one request in flight on each connection.

        `expect`: acknowledgements in a second for which deliveries are fetched first. `variants`: of the break, with `default`.
        """
        arguments = ["requests", "--requests", requests, "--connections", connections, "--kind", kind,
                     "--duration", duration(seconds), "--warmup", duration(warmup)]
        arguments += ["--broadcast", broadcast] if broadcast else []
        arguments += ["--bare"] if bare else []
        arguments += ["--record", record] if record else []
        arguments += ["--listener-token-file", tokens] if tokens else []
        arguments += ["--expect", expect] if expect else []
        arguments += ["--variants", variants] if variants else []
        # Deliveries for all that will be acknowledged are fetched first, which may take longer than the measurement.
        report = self._run(arguments, 60 + 6 * (seconds + warmup))
        if report.get("lost") or any(report.get("refused", {}).values()):
            raise MeasurementError(f"requests were lost or refused: {report.get('lost')}, {report.get('refused')}")
        if not report.get("count"):
            raise MeasurementError("no request was answered")
        return report

    def notices(self, pattern, notices, *, broadcast=None, bare_publish=None, connections, silence=0, count=1, burst=500):
        arguments = ["notices", "--notices", notices, "--connections", connections, "--pattern", pattern,
                     "--count", count]
        arguments += ["--silence", duration(silence)] if pattern == "single" else ["--burst", burst]
        arguments += ["--bare-publish", bare_publish] if bare_publish else ["--broadcast", broadcast]
        report = self._run(arguments, 120 + count * (silence + 30))
        if report.get("lost") or report.get("repeated"):
            raise MeasurementError(f"notices were lost or repeated: {report.get('lost')}, {report.get('repeated')}")
        if len(report.get("rounds", [])) != count:
            raise MeasurementError(f"there should be {count} rounds: {report.get('rounds')}")
        return report

    @contextlib.contextmanager
    def idle(self, notices, *, requests=None, connections, hold, bare=False, push=True, broadcast=None, use=None):
        """Holds listeners with one connection or with two; gives control when all are up.

        `use`: the notices that each gets, and the batches that it asks for, before it is held.
        """
        command = [*self.prefix, self.binary, "idle", "--notices", notices, "--connections", str(connections),
                   "--hold", duration(hold), "--json"]
        command += ["--requests", requests] if requests else []
        command += ["--bare"] if bare else []
        command += [] if push else ["--no-push"]
        command += self.words
        if use:
            command += ["--broadcast", broadcast, "--use-notices", str(use[0]), "--use-requests", str(use[1])]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            line = process.stdout.readline()
            if parsed(line, command).get("ready") != connections:
                raise MeasurementError(f"not all connections were opened: {line.strip()}")
            yield
        finally:
            process.terminate()
            process.communicate(timeout=HANGS_AFTER_SECONDS)

    def handshakes(self, notices, *, connections):
        """Connects listeners as fast as they are taken, 256 at a time; each is up with its first tick."""
        report = self._run(["idle", "--notices", notices, "--connections", connections, "--hold", "10ms", "--connect-rate", 0], 120)
        if report.get("handshakes", 0) < connections or report.get("ended"):
            raise MeasurementError(f"connections were lost: {report.get('handshakes')} handshakes, {report.get('ended')} ended")
        return report

    def run(self, addresses, timeout, *, listeners, breaks, every, ahead, lasts, stall=0, churn=0, storm=False,
            connect_rate=None, advertisements=None, push=True, may_lose=False):
        """The simulation of listeners: `breaks` one after the other, each announced at once and so long `ahead`."""
        arguments = ["run", "--stream", "bench", "--listeners", listeners, "--breaks", breaks]
        arguments += [word for name in ("notices", "requests", "broadcast", "http") for word in (f"--{name}", addresses[name])]
        for flag, value in (("--every", every), ("--lead", ahead), ("--duration", lasts)):
            arguments += [flag, duration(value)]
        for flag, value in (("--stall", stall), ("--churn", churn), ("--ads", advertisements),
                            ("--connect-rate", connect_rate)):
            arguments += [flag, f"{value:g}"] if value is not None else []
        arguments += ["--storm"] if storm else []
        arguments += [] if push else ["--no-push"]
        return Simulation(self._run(arguments, timeout, may_lose))


class Simulation:
    """What a run of simulated listeners reported; every name of its report that the measurements read stands here."""

    def __init__(self, report):
        self.report = report

    def _get(self, *path):
        value = self.report
        for name in path:
            try:
                value = value[name]
            except (KeyError, IndexError, TypeError):
                raise MeasurementError(f"the load tool's report has no {'.'.join(map(str, path))}") from None
        return value

    def _number(self, *path):
        """What is there only where it could be measured."""
        value = self._get(*path)
        if value is None:
            raise MeasurementError(f"the load tool could not measure {'.'.join(map(str, path))}")
        return value

    def latency(self, kind, share):
        """Microseconds."""
        return self._get("latency", kind, "intended_us", share)

    def pushed(self):
        """How many joined with one connection."""
        return self._number("counts", "pushed")

    def all_joined_seconds(self):
        return self._number("all_joined_seconds")

    def fetch(self):
        """How the batches of the first break were fetched."""
        return {"curve": self._number("breaks", 0, "requests_per_100ms"),
                "window_ms": self._number("breaks", 0, "window_ms"),
                "share_before_start": self._number("breaks", 0, "share_before_start"),
                "peak_over_mean": self._number("breaks", 0, "peak_over_mean")}


def cpu_watch(process):
    return Watch(lambda: cpu_seconds(process.pid))


def cpu_per_million(samples, operations, window=None):
    """CPU seconds for a million operations, from samples of a server's CPU time; of the whole run without a window."""
    if len(samples) < 2 or not operations:
        return None
    began, ended = window or (samples[0][0], samples[-1][0])
    return (at(samples, ended) - at(samples, began)) / operations * 1e6


def steady_cpu_per_million(samples, seconds, per_second):
    """The same for a load that was steady for the last `seconds`: what came before was connecting and warming up."""
    if len(samples) < 2 or not per_second:
        return None
    ended = samples[-1][0] - 0.1 * seconds
    began = ended - 0.8 * seconds
    return cpu_per_million(samples, per_second * (ended - began), (began, ended))


def round_window(told, samples):
    """When a round began and ended: as the load tool tells, or so long before its end as the last round took."""
    began, ended = told.get("began_unix_us"), told.get("ended_unix_us")
    if began and ended:
        return began / 1e6, ended / 1e6
    return (samples[-1][0] - told["seconds"] - ROUND_MARGIN_SECONDS, samples[-1][0]) if samples else None
