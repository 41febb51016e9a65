# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The rows about growth: what a request costs where much is kept, or where others ask for much, against the same request at a
gateway that keeps nothing and is left alone.

Both sides are the gateway itself: nothing bare keeps breaks. Stock libraries do the asking.
"""
import contextlib, http.client, os, socket, threading, time

import measuring
from figures import OURS, Figure, Goal, median, quantile
from measuring import MeasurementError
from rows import row
from servers import temporary_folder, wait_until
from simulations import viewers

# How many requests one connection has under way while a board is filled.
WINDOW = 64
# A little less than what may be open on one stream.
OPEN_BREAKS = 50
# A publication of about this size is the largest that the sockets take with room to spare, in bytes.
LARGE_BYTES = 870_000
# A tracking URL that makes an advertisement large, in bytes.
TRACKER_BYTES = 3_500
# Requests whose time is the time of a side.
SAMPLES = 60
HOUR_MS = 3_600_000


class Messages:
    """The wire's messages; generated once, when the first row needs them."""
    _modules = None

    def __new__(cls):
        if cls._modules is None:
            cls._modules = measuring.wire()
        return cls._modules


def zmq():
    import zmq as library
    return library


class Playout:
    """A broadcaster on one DEALER socket, which may have many requests under way."""

    def __init__(self, addresses, timeout=120):
        library = zmq()
        self.advertisement, self.broadcast, _, _, self.status = Messages()
        self.socket = library.Context.instance().socket(library.DEALER)
        self.socket.linger, self.socket.rcvtimeo, self.socket.sndhwm = 0, timeout * 1_000, 10_000
        self.socket.connect(addresses["broadcast"])
        self.counter = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def publication(self, stream, name, start_ms=0, duration_ms=1_000, size=0, advertisements=1):
        """A publication; the URLs that its advertisements' players call add up to about `size` bytes."""
        trackers = [self.advertisement.Tracker(event="impression", url="https://t.example.com/".ljust(TRACKER_BYTES, "x"))
                    for _ in range(size // advertisements // TRACKER_BYTES)]
        ads = [self.advertisement.Advertisement(
            id=f"ad-{index}", title=f"Advertisement {index}", duration_ms=duration_ms // advertisements, trackers=trackers,
            media=[self.advertisement.MediaFile(url=f"https://cdn.example.com/{index}.mp3", type="audio/mpeg")])
            for index in range(advertisements)]
        publish = self.broadcast.Publish(stream=stream, break_id=name, duration_ms=duration_ms, advertisements=ads)
        publish.start.in_ms = start_ms
        return {"publish": publish}

    def cancellation(self, stream, name):
        return {"cancel": self.broadcast.Cancel(stream=stream, break_id=name)}

    def send(self, kind):
        self.counter += 1
        request = self.broadcast.BroadcastRequest(request_id=self.counter, **kind)
        self.socket.send_multipart([b"", request.SerializeToString()])

    def receive(self):
        try:
            reply = self.broadcast.BroadcastReply.FromString(self.socket.recv_multipart()[-1])
        except zmq().Again:
            raise MeasurementError("the gateway did not answer a broadcaster") from None
        if reply.status != self.status.STATUS_CODE_OK:
            raise MeasurementError(f"a request was refused: {reply.message}")
        return reply

    def ask(self, kind):
        """One request alone; gives the seconds until its answer."""
        began = time.perf_counter()
        self.send(kind)
        self.receive()
        return time.perf_counter() - began

    def pipeline(self, kinds):
        """Many requests, some under way at a time; gives how many."""
        waiting = done = 0
        for kind in kinds:
            self.send(kind)
            waiting += 1
            if waiting == WINDOW:
                self.receive()
                waiting, done = waiting - 1, done + 1
        for _ in range(waiting):
            self.receive()
            done += 1
        return done


class Asker:
    """A listener that asks for the time over and over, on a thread of its own; keeps how long each answer took."""

    def __init__(self, addresses, pause=0.001):
        _, _, self.listener, _, self.status = Messages()
        self.addresses, self.pause, self.times = addresses, pause, []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._ask)

    def _ask(self):
        library = zmq()
        with library.Context.instance().socket(library.REQ) as requester:
            requester.linger, requester.rcvtimeo = 0, 60_000
            requester.connect(self.addresses["requests"])
            request = self.listener.Request(request_id=1, session=os.urandom(16), get_time=self.listener.GetTime())
            frame = request.SerializeToString()
            while not self.ended.is_set():
                began = time.perf_counter()
                requester.send(frame)
                requester.recv()
                self.times.append(time.perf_counter() - began)
                time.sleep(self.pause)

    def __enter__(self):
        self.thread.start()
        wait_until(lambda: self.times, 60, "a listener has an answer")
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


@contextlib.contextmanager
def catching(faults):
    """Keeps an error of a thread for the one that joins it."""
    try:
        yield
    except MeasurementError as fault:
        faults.append(fault)


def get(addresses, path, timeout=120):
    """One GET on a connection of its own; gives the seconds until the whole answer."""
    host, port = addresses["http"].rsplit(":", 1)
    began = time.perf_counter()
    connection = http.client.HTTPConnection(host, int(port), timeout=timeout)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise MeasurementError(f"GET {path} gave {answer.status}")
    finally:
        connection.close()
    return time.perf_counter() - began


class Pollers:
    """Readers over HTTP, each on a thread and a connection of its own, that ask again as soon as they have an answer."""

    def __init__(self, addresses, paths, count):
        self.addresses, self.ended, self.answers = addresses, threading.Event(), 0
        self.threads = [threading.Thread(target=self._poll, args=(paths[number % len(paths)],)) for number in range(count)]

    def _poll(self, path):
        while not self.ended.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException, MeasurementError):
                get(self.addresses, path)
                self.answers += 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()


def publish_ms(playout, stream, samples):
    """The median time of a publication alone, in milliseconds. Each is cancelled, so that the board stays as it is."""
    times = []
    for number in range(samples):
        name = f"probe-{time.monotonic_ns()}-{number}"
        times.append(playout.ask(playout.publication(stream, name, start_ms=5 * HOUR_MS)))
        playout.ask(playout.cancellation(stream, name))
    return 1_000 * median(times)


def breaks_offset(addresses, name):
    """How far the log is, or the ledger, in the lane of breaks."""
    return measuring.metrics(addresses).get(f'cuecast_{name}_offset{{lane="breaks"}}', 0)


def fill(bench, playout, streams, breaks):
    """Publishes breaks that wait for their announcement, evenly over the streams, minutes apart."""
    each = max(1, breaks // streams)

    def kinds():
        for index in range(each):
            for stream in range(streams):
                yield playout.publication(f"stream-{stream}", f"waiting-{index}", start_ms=2 * HOUR_MS + index * 60_000)

    began = time.monotonic()
    count = playout.pipeline(kinds())
    bench.say(f"  {count:,} breaks wait, published in {time.monotonic() - began:.0f} s")


@row("growth-waiting", "100,000 breaks wait on 10,000 streams", "the same with none")
def growth_waiting(bench, figures):
    scale = bench.scale
    streams, breaks = min(10_000, scale.breaks), scale.breaks
    figures["publish"] = Figure("a publication, durable and answered", "ms", Goal("<=", 1.5), against="an empty board")
    figures["list"] = Figure("GET /v1/breaks?limit=1", "ms", Goal("<=", 2, "ours"), against="an empty board")
    figures["cpu"] = Figure("CPU of the idle gateway", "% of a core", Goal("<", 1, "ours"), against="an empty board")
    figures["ready"] = Figure("from start to ready", "s", Goal("<=", 1, "ours"), against="an empty board")
    figures["publish"].note(f"{breaks:,} breaks on {streams:,} streams")

    def values(data, playout, process, addresses):
        found = {"publish": publish_ms(playout, "stream-0", scale.samples),
                 "list": 1_000 * median([get(addresses, "/v1/breaks?limit=1") for _ in range(scale.samples)])}
        # After a start the ledger is told of all breaks: only then the gateway is idle.
        head = breaks_offset(addresses, "log")
        wait_until(lambda: breaks_offset(addresses, "ledger") >= head, 300, "the ledger knows all breaks")
        time.sleep(min(scale.hold, 10))
        used, began = measuring.cpu_seconds(process.pid), time.monotonic()
        time.sleep(scale.hold)
        found["cpu"] = 100 * (measuring.cpu_seconds(process.pid) - used) / (time.monotonic() - began)
        return found

    with temporary_folder() as empty, temporary_folder() as full:
        def side(folder):
            data = os.path.join(folder, "data")
            began = time.monotonic()
            with bench.servers.gateway(data=data) as (process, addresses):
                ready = time.monotonic() - began
                with Playout(addresses) as playout:
                    return values(data, playout, process, addresses) | {"ready": ready}

        with bench.servers.gateway(data=os.path.join(full, "data")) as (_, addresses), Playout(addresses) as playout:
            fill(bench, playout, streams, breaks)
        bench.pairs(figures, lambda: side(full), lambda: side(empty))


def has_counted_breaks(metrics):
    log, ledger = (metrics.get(f'cuecast_{name}_offset{{lane="breaks"}}', 0) for name in ("log", "ledger"))
    return 0 < log <= ledger


@row("growth-kept", "20,000 breaks of one stream are kept", "the same with none")
def growth_kept(bench, figures):
    scale = bench.scale
    # A little less than the limit: the probes are kept too.
    count = min(19_500, scale.breaks)
    figures["publish"] = Figure("a publication to that stream", "ms", Goal("<=", 1.5), against="an empty board")
    figures["ready"] = Figure("from start to ready", "s", Goal("<=", 1, "ours"), against="an empty board")
    figures["publish"].note(f"{count:,} breaks, cancelled before")
    figures["board"] = Figure("memory of a kept break, as the board counts it", "B")
    figures["ledger"] = Figure("ledger of a break without listeners", "B")

    with temporary_folder() as empty, temporary_folder() as full:
        def side(folder):
            began = time.monotonic()
            with bench.servers.gateway(data=os.path.join(folder, "data")) as (_, addresses):
                ready = time.monotonic() - began
                with Playout(addresses) as playout:
                    return {"publish": publish_ms(playout, "stream", min(40, scale.samples)), "ready": ready}

        with bench.servers.gateway(data=os.path.join(full, "data")) as (_, addresses), Playout(addresses) as playout:
            began = time.monotonic()
            # As many as may be open at a time; what is cancelled was answered before.
            for first in range(0, count, OPEN_BREAKS):
                names = [f"kept-{number}" for number in range(first, min(first + OPEN_BREAKS, count))]
                playout.pipeline(playout.publication("stream", name, start_ms=2 * HOUR_MS + place * 2_000)
                                 for place, name in enumerate(names))
                playout.pipeline(playout.cancellation("stream", name) for name in names)
            bench.say(f"  {count:,} breaks are kept, published and cancelled in {time.monotonic() - began:.0f} s")
            wait_until(lambda: has_counted_breaks(measuring.metrics(addresses)), 60, "the ledger has counted them")
            figures["board"].add(OURS, measuring.metrics(addresses)["cuecast_board_bytes"] / count)
        figures["ledger"].add(OURS, measuring.stored_bytes(os.path.join(full, "data", "ledger.sqlite")) / count)
        bench.pairs(figures, lambda: side(full), lambda: side(empty))


@row("growth-snapshot", "publications while snapshots of a large board are kept", "the same with a small board")
def growth_snapshot(bench, figures):
    scale = bench.scale
    board = scale.board_mib * 1_048_576
    figures["p99"] = Figure("a publication, 99th percentile", "ms", Goal("<=", 2), against="a small board")
    figures["longest"] = Figure("a publication, the longest", "ms", against="a small board")
    figures["acknowledge"] = Figure("an answer to a listener meanwhile, the longest", "ms", against="a small board")
    figures["p99"].note(f"{scale.board_mib} MiB of advertisements; {scale.publications:,} publications and cancellations")

    def side(large):
        with bench.servers.gateway() as (_, addresses), Playout(addresses) as playout:
            size = 175_000
            count = board // size if large else 1
            playout.pipeline(playout.publication(f"large-{number}", "break", start_ms=2 * HOUR_MS, size=size,
                                                 advertisements=4) for number in range(count))
            times = []
            with Asker(addresses) as asker:
                for number in range(scale.publications):
                    name = f"small-{number}"
                    times.append(playout.ask(playout.publication("small", name, start_ms=2 * HOUR_MS)))
                    times.append(playout.ask(playout.cancellation("small", name)))
        return {"p99": 1_000 * quantile(times, 0.99), "longest": 1_000 * max(times),
                "acknowledge": 1_000 * max(asker.times)}

    bench.pairs(figures, lambda: side(True), lambda: side(False))


@row("growth-cancelled", "memory that 100 breaks of 0.87 MB keep, published and cancelled", "")
def growth_cancelled(bench, figures):
    scale = bench.scale
    count = min(100, scale.breaks)
    figures["memory"] = Figure("", "MiB", Goal("<=", 50, "ours"))
    for _ in range(min(scale.pairs, 3)):
        with bench.servers.gateway() as (process, addresses), Playout(addresses) as playout:
            playout.ask(playout.publication("warm", "warm", start_ms=2 * HOUR_MS))
            before = measuring.resident_kib(process.pid)
            for number in range(count):
                playout.ask(playout.publication("large", f"break-{number}", start_ms=2 * HOUR_MS, size=LARGE_BYTES,
                                                advertisements=8))
                playout.ask(playout.cancellation("large", f"break-{number}"))
            deadline, after = time.monotonic() + scale.housekeeping, None
            # Memory goes when housekeeping has come by; what counts is what stays.
            while time.monotonic() < deadline and (after is None or after - before > 50 * 1_024):
                time.sleep(min(1, scale.housekeeping))
                after = measuring.resident_kib(process.pid)
            figures["memory"].add("ours", (after - before) / 1_024)
            bench.say(f"  {figures['memory'].ours[-1]:.0f} MiB stay")
    figures["memory"].note(f"looked at for {scale.housekeeping:.0f} s after the last")


def notice_times(addresses, playout, count):
    """From sending a publication to its notice, in seconds, one after the other."""
    library = zmq()
    times = []
    with library.Context.instance().socket(library.SUB) as subscriber:
        subscriber.linger, subscriber.rcvtimeo = 0, 60_000
        subscriber.connect(addresses["notices"])
        subscriber.subscribe(b"probe\0")
        subscriber.subscribe(b"~sync\0")
        while not subscriber.recv().startswith(b"~sync"):
            pass
        subscriber.unsubscribe(b"~sync\0")
        for number in range(count):
            name = f"notice-{time.monotonic_ns()}-{number}"
            began = time.perf_counter()
            playout.send(playout.publication("probe", name, start_ms=1_000))
            while True:
                frame = subscriber.recv()
                if frame.startswith(b"probe\0") and name.encode() in frame:
                    break
            times.append(time.perf_counter() - began)
            playout.receive()
            playout.ask(playout.cancellation("probe", name))
    return times


@row("growth-readers", "16 readers of reports and breaks: from a publication to its notice, 99th percentile", "no reader")
def growth_readers(bench, figures):
    scale = bench.scale
    figures["p99"] = Figure("", "ms", Goal("<=", 1.2), against="no reader")
    figures["median"] = Figure("median", "ms", against="no reader")
    streams = min(1_000, scale.breaks)
    with bench.servers.gateway() as (_, addresses), Playout(addresses) as playout:
        fill(bench, playout, streams, min(8_000, scale.breaks))

        def side(readers):
            paths = ("/v1/reports?limit=500", "/v1/breaks?limit=500")
            with Pollers(addresses, paths, readers) as pollers:
                times = notice_times(addresses, playout, 5 * scale.samples)
            if readers:
                figures["p99"].note(f"at worst {pollers.answers / sum(times):.0f} answers a second to readers")
            return {"p99": 1_000 * quantile(times, 0.99), "median": 1_000 * median(times)}

        bench.pairs(figures, lambda: side(16), lambda: side(0))


#: How many look at the dashboard, and at how many streams each: as many as one page shows.
VIEWERS, STREAMS_EACH = 20, 50


@row("growth-viewers", "20 pages of the dashboard at 10,000 streams, each at 50 of its own: the gateway's CPU", "20 pages at one stream each")
def growth_viewers(bench, figures):
    scale = bench.scale
    figures["cpu"] = Figure("", "% of a core", Goal("<", 5, "ours"), against="one stream each")
    figures["read"] = Figure("what a page reads", "KiB/s", against="one stream each")
    with bench.servers.gateway() as (process, addresses), Playout(addresses) as playout:
        streams = min(10_000, scale.breaks)
        fill(bench, playout, streams, streams)

        def side(each):
            def looked_at(number):
                return [f"stream-{(number * each + place) % streams}" for place in range(min(each, streams))]

            with viewers(addresses, VIEWERS, looked_at) as counts:
                # All have what they begin with, and what was told of a break that was new to the gateway.
                time.sleep(min(10, scale.hold))
                if not all(counts):
                    raise MeasurementError("a viewer read nothing")
                before, used, began = sum(counts), measuring.cpu_seconds(process.pid), time.monotonic()
                time.sleep(scale.hold)
                used, seconds = measuring.cpu_seconds(process.pid) - used, time.monotonic() - began
                return {"cpu": 100 * used / seconds, "read": (sum(counts) - before) / VIEWERS / seconds / 1_024}

        bench.pairs(figures, lambda: side(STREAMS_EACH), lambda: side(1))


@row("growth-lists", "200 pipelined lists at 10,000 streams: a listener's answer, the longest", "no list")
def growth_lists(bench, figures):
    scale = bench.scale
    figures["longest"] = Figure("", "ms", Goal("<=", 50, "ours"), against="no list")
    with bench.servers.gateway() as (_, addresses), Playout(addresses) as playout:
        fill(bench, playout, min(10_000, scale.breaks), min(10_000, scale.breaks))

        def side(lists):
            with Asker(addresses) as asker:
                for _ in range(lists):
                    playout.send({"list": playout.broadcast.List()})
                for _ in range(lists):
                    playout.receive()
                if not lists:
                    time.sleep(1)
            return {"longest": 1_000 * max(asker.times)}

        bench.pairs(figures, lambda: side(200), lambda: side(0))


@row("growth-large", "16 broadcasters with requests of 0.87 MB: a listener's answer, the longest", "no broadcaster")
def growth_large(bench, figures):
    scale = bench.scale
    broadcasters, each = 16, max(1, min(8, scale.breaks // 16))
    figures["longest"] = Figure("", "ms", Goal("<=", 50, "ours"), against="no broadcaster")
    figures["longest"].note(f"{broadcasters} × {each} publications")

    faults = []

    def publish(addresses, number):
        with Playout(addresses) as playout, catching(faults):
            playout.pipeline(playout.publication(f"large-{number}", f"break-{index}", size=LARGE_BYTES, advertisements=8,
                                                 start_ms=2 * HOUR_MS + index * 60_000) for index in range(each))

    def side(count):
        with bench.servers.gateway() as (_, addresses), Asker(addresses) as asker:
            threads = [threading.Thread(target=publish, args=(addresses, number)) for number in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            if faults:
                raise faults[0]
            if not count:
                time.sleep(1)
        return {"longest": 1_000 * max(asker.times)}

    bench.pairs(figures, lambda: side(broadcasters), lambda: side(0))


@row("growth-connections", "health beside 64 idle connections, and beside 500", "no other connection")
def growth_connections(bench, figures):
    scale = bench.scale

    def answers(addresses):
        """The longest of some answers in milliseconds; one that does not come counts as the 2 s that were waited."""
        worst = 0
        for path in ("/healthz", "/readyz", "/metrics"):
            try:
                worst = max(worst, get(addresses, path, timeout=2))
            except OSError:
                worst = max(worst, 2)
        return 1_000 * worst

    def side(count):
        with bench.servers.gateway() as (_, addresses), contextlib.ExitStack() as kept:
            host, port = addresses["http"].rsplit(":", 1)
            for _ in range(count):
                connection = kept.enter_context(socket.create_connection((host, int(port)), timeout=2))
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                with contextlib.suppress(OSError):
                    connection.recv(4_096)
            return {f"answer-{count}": answers(addresses)}

    for count in (64, 500):
        if count == 500 and scale.connections_max < 500:
            continue
        name = f"answer-{count}"
        figures[name] = Figure(f"the slowest of three paths, {count} connections", "ms", Goal("<=", 50, "ours"))
        bench.pairs({name: figures[name]}, lambda: side(count), lambda: {name: side(0)["answer-0"]})
