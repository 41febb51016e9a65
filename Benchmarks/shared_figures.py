#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Three gateways on one log that three servers of NATS keep, all on this machine: notices, acknowledgements, and the bare log.

    CUECAST_BIN=.build/release/cuecast python3 Benchmarks/shared_figures.py            every row, five pairs each
    python3 Benchmarks/shared_figures.py --rows shared-notice --pairs 3 --quick        what Benchmarks/compare.py takes

The load tool is beside the gateway's program. Nothing but the load is bound to a core here: eight programs share what there is, so
that rates are those of this machine and not of a cluster. Needs what the tests need (scripts/setup.sh test), and libnats.
"""
import contextlib, json, os, shutil, subprocess, sys, threading, time

sys.dont_write_bytecode = True

import measuring
from figures import Figure, Goal, median
from load_tool import Watch, at
from measuring import MeasurementError
from rows import LOAD_BUSY, row
from servers import BASELINES, GATEWAY_SETTINGS, temporary_folder

#: The gateways of a cluster; the servers of NATS are three.
GATEWAYS = 3
#: The lane of acknowledgements, and where its records come in, below a prefix.
LANE, SUBJECT = "acknowledgements-0", "log.acknowledgements.0"
#: What the store of a server adds to a message without headers, beside its subject (nats-server, filestore.go: msgHdrSize and the hash).
STORED_BYTES_MORE = 22 + 8
#: How many records of the bare program wait for their answers at most.
WINDOW = 64
BARE = "js_PublishMsgAsync"
OWN_STORE = "one gateway on its own store"
#: How many breaks are published for each second of a measurement.
NOTICES_A_SECOND = 20
#: So many acknowledgements a second on each of 1,000 connections are more than any gateway has answered.
EXPECTED_OF_CONNECTION = 100


def nats():
    """The servers and the client of the tests."""
    sys.path.insert(0, os.path.join(measuring.ROOT, "Tests/EndToEnd"))
    import nats as module
    return module


def bare_program():
    """Compiles the bare publisher; gives its path."""
    folder = os.path.join(measuring.ROOT, ".build/bench/baselines")
    path = os.path.join(folder, "jetstream_append")
    try:
        subprocess.run(["make", "-s", "-C", BASELINES, f"BUILD={folder}", path], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise MeasurementError(f"the bare publisher was not built: {error}") from None
    return path


class Log:
    """Three servers of NATS with the streams of a log."""

    def __init__(self, binary, servers, client):
        self.binary, self.servers, self.client = binary, servers, client

    def make(self, prefix):
        """Makes the streams of a log, as soon as the servers have found each other."""
        deadline = time.monotonic() + measuring.HANGS_AFTER_SECONDS
        while True:
            done = subprocess.run([self.binary, "cluster", "init", "--servers", self.servers.addresses, "--prefix", prefix],
                                  capture_output=True, text=True)
            if done.returncode != 69 or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        if done.returncode:
            raise MeasurementError(f"the log was not made: {done.stderr}")

    def cpu(self):
        return sum(measuring.cpu_seconds(each.pid) for each in self.servers.processes)

    def stored(self, prefix):
        """How many records of acknowledgements there are, and their bytes."""
        state = self.client.api(f"STREAM.INFO.{prefix}-{LANE}")["state"]
        return state["messages"], state["bytes"]

    def bare(self, program, prefix, size, window, seconds, warmup):
        done = subprocess.run([program, "--servers", self.servers.addresses, "--subject", f"{prefix}.{SUBJECT}", "--bytes", str(size),
                               "--window", str(window), "--seconds", f"{seconds:g}", "--warmup", f"{warmup:g}"], capture_output=True, text=True)
        if done.returncode:
            raise MeasurementError(done.stderr.strip())
        return json.loads(done.stdout)


@contextlib.contextmanager
def log(bench, prefix="cuecast"):
    """Servers on a disk, with `sync_interval: always`."""
    module = nats()
    with temporary_folder() as folder:
        servers = module.NATSServers(3, folder=folder + "/servers")
        try:
            kept = Log(bench.servers.gateway_binary, servers, None)
            kept.make(prefix)
            kept.client = module.NATSClient(servers.ports[0][0].address)
            yield kept
            kept.client.close()
        finally:
            # With its folder, which is in the one that is removed.
            servers.close()


@contextlib.contextmanager
def cluster(bench, kept, count, *settings):
    """So many gateways on the log, which know of each other; gives their processes and addresses."""
    with temporary_folder() as folder, contextlib.ExitStack() as stack:
        running = []
        for number in range(count):
            data = f"{folder}/{number}"
            if number:
                os.makedirs(data, mode=0o700)
                shutil.copy(f"{folder}/0/signing.keys", data)
            running.append(stack.enter_context(measuring.gateway(
                bench.servers.gateway_binary, *GATEWAY_SETTINGS, *settings, "--set", f"jetstream.servers={kept.servers.addresses}",
                "--set", "jetstream.syncAlways=true", data=data)))
        wait = time.monotonic() + measuring.HANGS_AFTER_SECONDS
        while any(measuring.metrics(addresses)["cuecast_gateways"] < count for _, addresses in running):
            if time.monotonic() > wait:
                raise MeasurementError("the gateways did not find each other")
            time.sleep(0.1)
        yield running


# The log alone

@row("shared-append", "records that three servers make durable, by a bare publisher", "")
def shared_append(bench, figures):
    """One at a time, as a gateway that is idle appends, and as many as the servers take."""
    scale, program = bench.scale, bare_program()
    kinds = {"small": ("300 B, one at a time", 300, 1), "large": ("30 kB, one at a time", 30_000, 1),
             "many": (f"30 kB, {WINDOW} under way", 30_000, WINDOW)}
    for key, (name, _, window) in kinds.items():
        if window > 1:
            figures[f"{key}-rate"] = Figure(name, "records/s")
        for share in ("p50", "p99"):
            figures[f"{key}-{share}"] = Figure(f"{name}, {share}", "ms")
    with log(bench) as kept:
        for number in range(scale.pairs):
            for key, (name, size, window) in kinds.items():
                report = kept.bare(program, "cuecast", size, window, scale.seconds, scale.warmup)
                bench.say(f"  round {number + 1} of {scale.pairs}, {name}: {report['per_second']:.0f}/s, {report['p50_us']} µs, p99 {report['p99_us']} µs")
                if window > 1:
                    figures[f"{key}-rate"].add("ours", report["per_second"])
                for share in ("p50", "p99"):
                    figures[f"{key}-{share}"].add("ours", report[f"{share}_us"] / 1_000)


# Notices

class Listening:
    """A SUB socket at a gateway that has proved its subscription."""

    def __init__(self, context, addresses, topic, sync=b"~sync\0"):
        import zmq
        self.socket = context.socket(zmq.SUB)
        self.socket.linger, self.socket.rcvtimeo = 0, measuring.HANGS_AFTER_SECONDS * 1_000
        self.socket.connect(addresses["notices"])
        self.topic = topic
        self.socket.subscribe(topic)
        self.socket.subscribe(sync)
        while not self.socket.recv().startswith(sync):
            pass
        self.socket.unsubscribe(sync)


def notices_of(bench, wire, addresses, count):
    """Publishes breaks at the first gateway; gives the seconds until the notice of each is at a listener of each gateway."""
    import zmq
    advertisement_pb2, broadcast_pb2, _, notice_pb2, status_pb2 = wire
    context, stream = zmq.Context(), f"bench-{time.monotonic_ns()}"
    topic = stream.encode() + b"\0"
    try:
        listening = [Listening(context, each, topic) for each in addresses]
        broadcaster = context.socket(zmq.REQ)
        broadcaster.linger, broadcaster.rcvtimeo = 0, measuring.HANGS_AFTER_SECONDS * 1_000
        broadcaster.connect(addresses[0]["broadcast"])
        poller = zmq.Poller()
        for each in listening:
            poller.register(each.socket, zmq.POLLIN)
        took = [[] for _ in addresses]
        ads = [advertisement_pb2.Advertisement(
            id=f"ad-{index}", title=f"Advertisement {index}", duration_ms=10_000,
            media=[advertisement_pb2.MediaFile(url=f"https://cdn.example.com/{index}.mp3", type="audio/mpeg")]) for index in range(2)]
        for number in range(count):
            name = f"b-{number}"
            # Pre-stream breaks stand beside each other, so that each of them is announced at once.
            request = broadcast_pb2.BroadcastRequest(request_id=number + 1, publish=broadcast_pb2.Publish(
                stream=stream, break_id=name, advertisements=ads, pre_stream=True, hold_ms=1)).SerializeToString()
            waited = dict(enumerate(listening))
            began = time.perf_counter()
            broadcaster.send(request)
            while waited:
                if not (ready := dict(poller.poll(measuring.HANGS_AFTER_SECONDS * 1_000))):
                    raise MeasurementError(f"no notice of {name} came")
                now = time.perf_counter()
                for place, each in list(waited.items()):
                    if each.socket in ready:
                        frame = each.socket.recv()
                        notice = notice_pb2.Notice.FromString(frame[len(topic):]) if frame.startswith(topic) else None
                        if notice is not None and notice.kind == notice_pb2.NOTICE_KIND_AVAILABLE and notice.break_id == name:
                            took[place].append(now - began)
                            del waited[place]
            reply = broadcast_pb2.BroadcastReply.FromString(broadcaster.recv())
            if reply.status != status_pb2.STATUS_CODE_OK:
                raise MeasurementError(f"a break was refused: {reply.message}")
            time.sleep(0.002)
        return took
    finally:
        context.destroy(linger=0)


@row("shared-notice", "from a publication at gateway A of three to its notice at a listener of A, B and C", OWN_STORE)
def shared_notice(bench, figures):
    scale, wire = bench.scale, measuring.wire()
    count = max(10, int(scale.seconds * NOTICES_A_SECOND))
    for place in "ABC":
        for share, name in (("p50", "median"), ("p99", "99th percentile")):
            figures[f"{place}-{share}"] = Figure(f"at {place}, {name}", "ms")

    def values(took, places):
        return {f"{place}-{share}": value * 1_000 for place, seconds in zip(places, took)
                for share, value in (("p50", median(seconds)), ("p99", measuring.percentile(seconds, 0.99)))}

    with log(bench) as kept, cluster(bench, kept, GATEWAYS) as running:
        def alone():
            with measuring.gateway(bench.servers.gateway_binary, *GATEWAY_SETTINGS) as (_, addresses):
                [took] = notices_of(bench, wire, [addresses], count)
                # The same against each of the three: one gateway has its listeners at one place.
                return values([took] * GATEWAYS, "ABC")

        bench.pairs(figures, lambda: values(notices_of(bench, wire, [addresses for _, addresses in running], count), "ABC"), alone)


# Acknowledgements

def acknowledged(addresses):
    """How many acknowledgements a gateway has answered."""
    return measuring.metrics(addresses).get('cuecast_listener_requests_total{kind="acknowledge"}', 0)


def common_window(samples, count):
    """When all gateways were answering: from when the last one had begun to when the first one had ended.

    Samples are (instant, values), of whose values the first `count` are the answers of the gateways so far.
    """
    began, ended = samples[0][0], samples[-1][0]
    for place in range(count):
        moved = [(before[0], after[0]) for before, after in zip(samples, samples[1:]) if after[1][place] > before[1][place]]
        if not moved:
            raise MeasurementError(f"gateway {place} answered no acknowledgement")
        began, ended = max(began, moved[0][1]), min(ended, moved[-1][0])
    return began, ended


def acknowledgements_at(bench, figure, running, seconds, look=None):
    """Acknowledgements a second at all gateways together while each of them answers, the CPU of the gateways for a million, and the
    change of what `look` gives in that time, with how many acknowledgements it were.

    The load tools do not begin at the same instant: where there are several, each goes on for twice as long.
    """
    count = len(running)
    connections = max(1, bench.scale.connections(1_000) // count)
    faults, reports = [], []
    # Fetching deliveries for more than can be acknowledged would take longer than the measurement.
    expect = EXPECTED_OF_CONNECTION * bench.scale.connections(1_000) // count

    def load(addresses):
        try:
            reports.append(bench.load.requests("acknowledge", addresses["requests"], broadcast=addresses["broadcast"], connections=connections,
                                               seconds=seconds if count == 1 else 2 * seconds, warmup=bench.scale.warmup, expect=expect))
        except MeasurementError as error:
            faults.append(error)

    def values():
        return (*(acknowledged(addresses) for _, addresses in running), sum(measuring.cpu_seconds(process.pid) for process, _ in running),
                *(look() if look else ()))

    with Watch(values, 0.25) as watch:
        threads = [threading.Thread(target=load, args=(addresses,)) for _, addresses in running]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if faults:
        raise faults[0]
    began, ended = common_window(watch.samples, count)
    if ended - began < seconds / 2:
        raise MeasurementError(f"all gateways answered at the same time for {max(0, ended - began):.1f} s only, of {seconds:g} s")
    for report in reports:
        if report.get("own_cpu_seconds", 0) > LOAD_BUSY * report["seconds"] / count:
            figure.note("in some runs the load tools were busy for more than 90 % of the time of their core")
    changes = [at([(instant, each[place]) for instant, each in watch.samples], ended)
               - at([(instant, each[place]) for instant, each in watch.samples], began) for place in range(len(watch.samples[0][1]))]
    total = sum(changes[:count])
    return total / (ended - began), changes[count] / total * 1e6, changes[count + 1:], total


@row("shared-acknowledgements", "acknowledgements at three gateways on one log, durable before the reply", f"{BARE} of records of the same bytes")
def shared_acknowledgements(bench, figures):
    scale, program = bench.scale, bare_program()
    rate = figures["rate"] = Figure("", "requests/s", Goal(">=", 0.80))
    figures["gateways"] = Figure("CPU of the gateways", "s per million")
    figures["servers"] = Figure("CPU of the servers of NATS", "s per million")
    figures["record"] = Figure("requests in a record", "")
    figures["bytes"] = Figure("bytes of a record", "B")
    newest = {}

    def on_the_log(count):
        with log(bench) as kept, cluster(bench, kept, count) as running:
            per_second, cpu, (records, size, servers), total = acknowledgements_at(
                bench, rate, running, scale.seconds, look=lambda: (*kept.stored("cuecast"), kept.cpu()))
            if not records:
                raise MeasurementError("no record was stored")
            found = {"rate": (per_second, cpu), "gateways": cpu, "servers": servers / total * 1e6, "record": total / records, "bytes": size / records}
        if count == GATEWAYS:
            newest.update(found)
        return found

    def own_store():
        with measuring.gateway(bench.servers.gateway_binary, *GATEWAY_SETTINGS) as running:
            per_second, cpu, _, _ = acknowledgements_at(bench, rate, [running], scale.seconds)
            return {"rate": (per_second, cpu), "gateways": cpu}

    def bare():
        """As many bytes in the store of the servers as a record of the gateways had."""
        size = max(8, round(newest["bytes"]) - STORED_BYTES_MORE - len(f"cuecast.{SUBJECT}"))
        with log(bench) as kept:
            before = kept.cpu()
            report = kept.bare(program, "cuecast", size, WINDOW, scale.seconds, scale.warmup)
            # The warm-up is in it, and the records of it are not.
            cpu = (kept.cpu() - before) * scale.seconds / (scale.seconds + scale.warmup)
        acknowledgements = report["per_second"] * newest["record"]
        return {"rate": (acknowledgements, report["own_cpu_seconds"] / (acknowledgements * scale.seconds) * 1e6),
                "servers": cpu / (acknowledgements * scale.seconds) * 1e6}

    # The bare program has to know what records the gateways write.
    on_the_log(GATEWAYS)
    rate.note(f"the bare publisher writes records of as many bytes, {WINDOW} under way; each stands for as many requests as a record of the gateways had")
    bench.pairs(figures, lambda: on_the_log(GATEWAYS), bare,
                {OWN_STORE: own_store, "one gateway on the log": lambda: on_the_log(1), "two gateways on the log": lambda: on_the_log(2)})


def main(words):
    import compare
    binary = os.environ.get("CUECAST_BIN", os.path.join(measuring.ROOT, ".build/release/cuecast"))
    defaults = ["--binary", binary, "--load", os.path.join(os.path.dirname(binary), "cuecast-load"),
                "--rows", "shared-append,shared-notice,shared-acknowledgements"]
    if not {"--smoke", "--quick"} & set(words):
        defaults += ["--pairs", "5"]
    return compare.main([*defaults, *words])


if __name__ == "__main__":
    # Its rows are registered by the module's own name, once.
    import shared_figures
    sys.exit(shared_figures.main(sys.argv[1:]))
