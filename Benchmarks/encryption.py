# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The rows about TLS and tokens: the gateway with a certificate against itself without one, and joins with a token against joins without.

Both sides are the gateway, on one core; its certificate has an elliptic key (P-256), and sessions are never resumed.
"""
import contextlib, os, subprocess

import measuring
from figures import Figure, Goal, median
from load_tool import cpu_watch, steady_cpu_per_million
from rows import Bench, grown, note_load, row
from servers import temporary_folder

PLAIN = "the same without TLS"


@contextlib.contextmanager
def by_tls(bench):
    """A bench whose load speaks TLS, and the settings of a gateway that does."""
    with temporary_folder() as folder:
        certificate, key = measuring.certificate(folder)
        yield (Bench(bench.servers, bench.load.by_tls(certificate), bench.scale, bench.say),
               ("--set", f"listeners.tls.certificateFile={certificate}", "--set", f"listeners.tls.keyFile={key}"))


def against_plain(bench, figures, measure):
    """Measures with and without TLS in pairs: `measure(bench, process, addresses)` at a gateway of its own."""
    def of(side, settings=()):
        with bench.servers.gateway(*settings) as (process, addresses):
            return measure(side, process, addresses)

    with by_tls(bench) as (encrypted, settings):
        bench.pairs(figures, lambda: of(encrypted, settings), lambda: of(bench))


def single(bench, figures, listeners):
    scale, count = bench.scale, bench.scale.connections(listeners)
    names = {"median": "median", "p99": "99th percentile", "last": "the last"}
    figures.update({key: Figure(name, "ms", against=PLAIN) for key, name in names.items()})

    def measure(side, _, addresses):
        report = side.load.notices("single", addresses["notices"], broadcast=addresses["broadcast"], connections=count,
                                   silence=scale.silence)
        return {key: median([each[f"{key}_us"] for each in report["rounds"]]) / 1_000 for key in names}

    against_plain(bench, figures, measure)


for listeners in (1_000, 3_000, 9_000):
    row(f"tls-notice-{listeners}", f"one break after silence, {listeners:,} listeners have the notice by TLS", PLAIN)(
        lambda bench, figures, listeners=listeners: single(bench, figures, listeners))


@row("tls-batch-100", "batch requests by TLS, 100 connections", PLAIN)
def batch(bench, figures):
    scale, count = bench.scale, bench.scale.connections(100)
    figure = figures["rate"] = Figure("", "requests/s", against=PLAIN)

    def measure(side, process, addresses):
        with cpu_watch(process) as watch:
            report = side.load.requests("batch", addresses["requests"], broadcast=addresses["broadcast"], connections=count,
                                        seconds=scale.seconds, warmup=scale.warmup)
        note_load(figure, report)
        return {"rate": (report["per_second"], steady_cpu_per_million(watch.samples, scale.seconds, report["per_second"]))}

    against_plain(bench, figures, measure)


@row("tls-memory", "memory of an idle listener with one connection by TLS, 9,000 of them", PLAIN)
def memory(bench, figures):
    figures["memory"] = Figure("", "KiB", Goal("<=", 40, "difference"), against=PLAIN)
    against_plain(bench, figures, lambda side, process, addresses: {
        "memory": grown(side, [process], addresses["notices"], addresses["requests"])})


@row("tls-handshakes", "9,000 listeners connect by TLS at once", PLAIN)
def handshakes(bench, figures):
    count = bench.scale.connections(9_000)
    figures["time"] = Figure("until all are up", "s", against=PLAIN)
    figures["rate"] = Figure("handshakes", "/s", against=PLAIN)
    figures["p99"] = Figure("99th percentile", "ms", against=PLAIN)

    def measure(side, process, addresses):
        began = measuring.cpu_seconds(process.pid)
        report = side.load.handshakes(addresses["notices"], connections=count)
        used = (measuring.cpu_seconds(process.pid) - began) / report["handshakes"] * 1e6
        return {"time": report["connect_seconds"], "rate": (report["handshakes"] / report["connect_seconds"], used),
                "p99": report["handshake_us"]["p99"] / 1_000}

    against_plain(bench, figures, measure)


# Tokens

ALGORITHMS = ("HS256", "ES256", "EdDSA")
JOINING = 64


def token_of(bench, folder, algorithm):
    """Keys for an algorithm, and a file with a token for every stream; gives the gateway's settings and the file."""
    keys, token = (os.path.join(folder, f"{algorithm}.{name}") for name in ("keys", "token"))

    def command(*words):
        return subprocess.run([bench.servers.gateway_binary, "token", *words], check=True, capture_output=True, text=True).stdout

    command("new-keys", "--out", keys, "--algorithm", algorithm, "--key-id", "bench")
    text = command("make", "--keys", keys, "--subject", "bench", "--stream", "*", "--expires-in", "24h")
    with open(os.open(token, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    return ("--set", "listeners.protectedStreams=load-*", "--set", f"listeners.tokenKeysFile={keys}",
            "--set", "listeners.sessionsPerSubjectMax=0"), token


@row("token-joins", "joins that have a token checked, 64 connections", "joins to streams that ask for none")
def token_joins(bench, figures):
    scale, count = bench.scale, bench.scale.connections(JOINING)
    figures.update({each: Figure(each, "joins/s", against="joins without a token") for each in ALGORITHMS})

    def joins(figure, settings=(), token=None):
        with bench.servers.gateway(*settings) as (process, addresses):
            with cpu_watch(process) as watch:
                report = bench.load.requests("join", addresses["requests"], connections=count, seconds=scale.seconds,
                                             warmup=scale.warmup, tokens=token)
        note_load(figure, report)
        return report["per_second"], steady_cpu_per_million(watch.samples, scale.seconds, report["per_second"])

    with temporary_folder() as folder:
        prepared = {each: token_of(bench, folder, each) for each in ALGORITHMS}

        def baseline():
            value = joins(figures[ALGORITHMS[0]])
            return {each: value for each in ALGORITHMS}

        bench.pairs(figures, lambda: {each: joins(figures[each], *prepared[each]) for each in ALGORITHMS}, baseline)
