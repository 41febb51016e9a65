# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The rows about what plays: schedules that are put in, breaks that are filled at once, and batches of variants.

`schedule-put` has no other side. Both sides of the others are the gateway: with a filling and without, and with 20 variants and with one.
"""
import contextlib, datetime, json, os, subprocess, sys, threading, time

import measuring
from figures import BASELINE, OURS, Figure, Goal
from load_tool import cpu_watch, steady_cpu_per_million
from measuring import MeasurementError
from rows import note_load, row
from servers import LOAD, pinned, temporary_folder, wait_until

VAST = os.path.join(measuring.ROOT, "Examples/two-ads.vast.xml")


def gives_way(bench):
    """What goes before a command that gives way to the program that measures, on the core that they share.

    Where a row is only shown to work it does not: a busy machine would hardly let it run.
    """
    return [*(["nice", "-n", "19"] if bench.scale.pairs > 1 else []), *pinned(LOAD)]


def command(bench, addresses, *words):
    """A command of `cuecast` for a gateway, on the core of the load; gives what it printed."""
    done = subprocess.run([*pinned(LOAD), bench.servers.gateway_binary, *words], env=environment(addresses), capture_output=True, text=True,
                          timeout=measuring.HANGS_AFTER_SECONDS)
    if done.returncode:
        raise MeasurementError(f"exit code {done.returncode} ({done.stderr.strip()}): {' '.join(words)}")
    return done.stdout


def environment(addresses):
    return {**os.environ, **{f"CUECAST_{name.upper()}": addresses[name] for name in ("notices", "requests", "broadcast", "http")}}


def write_day(path, count, *, first, apart, url=""):
    """A traffic log of so many breaks of 10 s; `first` and `apart` are seconds."""
    base = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(seconds=first)
    rows = [f"{(base + datetime.timedelta(seconds=number * apart)).isoformat().replace('+00:00', 'Z')},10,b{number},{url}"
            for number in range(count)]
    replace(path, "\n".join(["start,duration,id,vast-url", *rows]) + "\n")


def replace(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


# Schedules

STREAMS, OPEN_BREAKS_MAX = 20, 64


@row("schedule-put", "a schedule of 1,000 breaks is put in, and put again", "nothing")
def schedule_put(bench, figures):
    """One stream takes 64 breaks that are not over. 20 streams of 50 each take all 1,000."""
    count, of_stream = 1_000, 1_000 // STREAMS
    # Fewer where it is only shown to work.
    streams = max(1, min(STREAMS, bench.scale.connections_max // of_stream))
    figures["one"] = Figure("1,000 breaks of one stream, which takes 64 of them", "s", Goal("<=", 2, "ours"))
    figures["one-again"] = Figure("the same again", "s", Goal("<=", 0.5, "ours"))
    figures["many"] = Figure(f"{streams} × {of_stream} breaks, a schedule for each stream", "s", Goal("<=", 2, "ours"))
    figures["many-again"] = Figure("the same again, stream by stream", "s")
    figures["start"] = Figure("of it, each start of the command", "s")

    def put(addresses, path, stream, expected):
        began = time.perf_counter()
        said = json.loads(command(bench, addresses, "schedule", "put", path, "--stream", stream, "--time-zone", "UTC", "--list", "house",
                                  "--apply", "--json"))
        took = time.perf_counter() - began
        counts = {kind: number for kind, number in said["counts"].items() if number}
        if counts != expected:
            raise MeasurementError(f"the schedule of {stream} should change {expected}, and changed {counts}")
        return took

    for number in range(bench.scale.pairs):
        with temporary_folder() as folder, bench.servers.gateway() as (_, addresses):
            command(bench, addresses, "lists", "put", "house", "--vast", VAST)
            # Within the 5 h 55 min in which breaks are put in, and none is announced meanwhile.
            whole, part = os.path.join(folder, "whole.csv"), os.path.join(folder, "part.csv")
            write_day(whole, count, first=3_600, apart=16)
            write_day(part, of_stream, first=3_600, apart=300)
            later = {"later": count - OPEN_BREAKS_MAX}
            told = {"one": put(addresses, whole, "one", {"new": OPEN_BREAKS_MAX, **later}),
                    "one-again": put(addresses, whole, "one", {"unchanged": OPEN_BREAKS_MAX, **later})}
            for key, kind in (("many", "new"), ("many-again", "unchanged")):
                told[key] = sum(put(addresses, part, f"s{each}", {kind: of_stream}) for each in range(streams))
            began = time.perf_counter()
            command(bench, addresses, "version")
            told["start"] = time.perf_counter() - began
        for key, value in told.items():
            figures[key].add(OURS, value)
        bench.say(f"  {number + 1} of {bench.scale.pairs}: " + "; ".join(f"{key} {value:.3f}" for key, value in told.items()))


# Fillings

FOLLOWERS, DELAY_SECONDS = 2, 2.0


@contextlib.contextmanager
def slow_ad_server(bench):
    """An ad server that takes 2 s for each answer, as a process of its own; gives its address."""
    process = subprocess.Popen([*gives_way(bench), sys.executable, os.path.abspath(__file__), "ad-server", str(DELAY_SECONDS)],
                               stdout=subprocess.PIPE, text=True)
    try:
        address = measuring.fields(process.stdout.readline()).get("http")
        if not address:
            raise MeasurementError("the ad server did not start")
        yield address
    finally:
        process.terminate()
        process.wait(measuring.HANGS_AFTER_SECONDS)
        process.stdout.close()


class Follower:
    """A `cuecast schedule follow` process, and what it changed."""

    def __init__(self, bench, addresses, path, stream):
        self.changes = {}
        self.process = subprocess.Popen(
            [*gives_way(bench), bench.servers.gateway_binary, "schedule", "follow", path, "--stream", stream, "--time-zone", "UTC",
             "--list", "house", "--ask-ad-servers", "--allow-private", "--ad-server-time", "60s", "--ad-server-connect-time", "60s",
             "--fill-ahead", "6h", "--json"],
            env=environment(addresses), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            change = json.loads(line)["change"]
            self.changes[change] = self.changes.get(change, 0) + 1

    def count(self, change):
        return self.changes.get(change, 0)

    def close(self):
        self.process.terminate()
        self.process.wait(measuring.HANGS_AFTER_SECONDS)
        self.reader.join()
        self.process.stdout.close()


class Notices:
    """Publishes breaks one after the other, and measures until the notice of each."""

    def __init__(self, addresses):
        import zmq
        self.advertisement, self.broadcast, _, self.notice, self.status = measuring.wire()
        self.context = zmq.Context()
        self.broadcaster, self.listener = self.context.socket(zmq.REQ), self.context.socket(zmq.SUB)
        self.broadcaster.linger = self.listener.linger = 0
        self.broadcaster.rcvtimeo = self.listener.rcvtimeo = 1_000 * measuring.HANGS_AFTER_SECONDS
        self.broadcaster.connect(addresses["broadcast"])
        self.listener.connect(addresses["notices"])
        self.topic, sync = b"bench\0", b"~sync\0"
        self.listener.subscribe(self.topic)
        self.listener.subscribe(sync)
        while not self.listener.recv().startswith(sync):
            pass
        self.listener.unsubscribe(sync)
        self.number = 0

    def one(self):
        """Seconds from a publication to its notice."""
        self.number += 1
        spot = self.advertisement.Advertisement(id="spot", title="Spot", duration_ms=10_000, media=[
            self.advertisement.MediaFile(url="https://cdn.example.com/spot.mp3", type="audio/mpeg")])
        # Pre-stream breaks stand beside each other, so that each of them is announced at once.
        request = self.broadcast.BroadcastRequest(request_id=self.number, publish=self.broadcast.Publish(
            stream="bench", break_id=f"b-{self.number}", advertisements=[spot], pre_stream=True, hold_ms=1)).SerializeToString()
        began = time.perf_counter()
        self.broadcaster.send(request)
        while True:
            frame = self.listener.recv()
            if frame.startswith(self.topic):
                found = self.notice.Notice.FromString(frame[len(self.topic):])
                if found.kind == self.notice.NOTICE_KIND_AVAILABLE and found.break_id == f"b-{self.number}":
                    break
        took = time.perf_counter() - began
        reply = self.broadcast.BroadcastReply.FromString(self.broadcaster.recv())
        if reply.status != self.status.STATUS_CODE_OK:
            raise MeasurementError(f"a publication was refused: {reply.message}")
        return took

    def until(self, condition):
        """The seconds of each, one about every 3 ms, until a condition holds."""
        took, deadline = [], time.monotonic() + measuring.HANGS_AFTER_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise MeasurementError("the breaks were not filled")
            took.append(self.one())
            time.sleep(0.002)
        return took

    def close(self):
        self.context.destroy(linger=0)


@row("schedule-filling", "notices while 100 breaks are filled at once from an ad server that takes 2 s", "the same without filling")
def schedule_filling(bench, figures):
    scale, count = bench.scale, bench.scale.connections(100)
    figures["p99"] = Figure("99th percentile", "ms", Goal("<=", 1.2), against="the same without filling")
    figures["median"] = Figure("median", "ms", against="the same without filling")
    figures["filled"] = Figure(f"until {count} breaks are filled", "s")

    def measure(fills):
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(temporary_folder())
            _, addresses = stack.enter_context(bench.servers.gateway())
            server = stack.enter_context(slow_ad_server(bench))
            command(bench, addresses, "lists", "put", "house", "--vast", VAST)
            paths = [os.path.join(folder, f"day-{number}.csv") for number in range(FOLLOWERS)]
            followers = []
            for number, path in enumerate(paths):
                write_day(path, count // FOLLOWERS, first=7_200, apart=60)
                followers.append(Follower(bench, addresses, path, f"s{number}"))
                stack.callback(followers[-1].close)
            wait_until(lambda: all(each.count("new") == count // FOLLOWERS for each in followers), 60, "the breaks are put in")
            notices = Notices(addresses)
            stack.callback(notices.close)
            # The first ones pay for what is done once.
            began = time.monotonic()
            notices.until(lambda: time.monotonic() > began + scale.warmup)
            began = time.monotonic()
            if not fills:
                return notices.until(lambda: time.monotonic() > began + scale.seconds), None
            # Every break of the log has an ad server now, and its time to be filled has come: all are asked about at once.
            for path in paths:
                with open(path, encoding="utf-8") as file:
                    rows = file.read().splitlines()
                replace(path, "\n".join([rows[0], *(f"{line}http://{server}/vast" for line in rows[1:])]) + "\n")
            took = notices.until(lambda: all(each.count("filled") >= count // FOLLOWERS for each in followers))
            seconds = time.monotonic() - began
            others = {kind: sum(each.count(kind) for each in followers) for kind in ("refused", "gone", "changed")}
            if any(others.values()):
                raise MeasurementError(f"the followers changed something else, too: {others}")
            return took, seconds

    def side(fills):
        took, seconds = measure(fills)
        if seconds is not None:
            figures["filled"].add(OURS, seconds)
        figures["p99"].note(f"about {len(took):,} notices a measurement")
        return {"p99": measuring.percentile(took, 0.99) * 1_000, "median": measuring.percentile(took, 0.5) * 1_000}

    compared = {key: figures[key] for key in ("p99", "median")}
    bench.pairs(compared, lambda: side(True), lambda: side(False))


# Variants

VARIANTS = 20


@row("variants-batch", f"batch requests of sessions of {VARIANTS} audiences, 100 connections", "the same with one audience")
def variants_batch(bench, figures):
    scale, count = bench.scale, bench.scale.connections(100)
    figure = figures["rate"] = Figure("", "requests/s", Goal(">=", 0.95), against="one audience")

    def measure(variants):
        with bench.servers.gateway("--set", "listeners.attributes=load-* join=variant") as (process, addresses):
            with cpu_watch(process) as watch:
                report = bench.load.requests("batch", addresses["requests"], broadcast=addresses["broadcast"], connections=count,
                                             seconds=scale.seconds, warmup=scale.warmup, variants=variants)
        note_load(figure, report)
        return {"rate": (report["per_second"], steady_cpu_per_million(watch.samples, scale.seconds, report["per_second"]))}

    bench.pairs(figures, lambda: measure(VARIANTS), lambda: measure(1))


# The ad server

def serve(delay):
    """Answers each request after so many seconds, for ever."""
    import http.server
    sys.path.insert(0, os.path.join(measuring.ROOT, "Tests/EndToEnd"))
    from ad_server import inline, vast
    body = vast(inline("Spot", seconds=10)).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            time.sleep(delay)
            self.send_response(200)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size, daemon_threads = 256, True

    server = Server(("127.0.0.1", 0), Handler)
    print(f"ready http=127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__" and sys.argv[1:2] == ["ad-server"]:
    serve(float(sys.argv[2]))
