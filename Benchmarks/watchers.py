#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""What watchers cost, and how long a mark takes from its source to the listeners' notice.

    CUECAST_BIN=… Benchmarks/watchers.py [--marks 50] [--seconds 60] [latency] [playlists] [transport]

`latency`    the time from the moment at which a mark is in the playlist, a packet is sent or metadata is set, to the notice, of HLS
             (target duration 1 s), a transport stream (RTP) and Icecast
`playlists`  the share of one core that a watcher of 1,000 live playlists takes, each of which changes with each load (target duration 6 s)
`transport`  the share that a transport stream of 20 Mbit/s by RTP takes
"""
import argparse, datetime, http.server, os, socket, socketserver, statistics, sys, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "Tests/EndToEnd"))
import radio_server
from harness import Gateway, Listener, notice_pb2
from transport_stream import PACKET, TransportStream, rtp, splice_insert
from watcher import Watcher

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")


def date(seconds):
    text = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


class LivePlaylists:
    """Any number of live playlists that go on with the clock; a test may put a mark on the newest segment of all."""

    def __init__(self, target, window=6):
        self.target, self.window, self.marks, self.lock = target, window, [], threading.Lock()
        self.begin, self.loads = time.time() - 100 * target, 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = outer.text().encode()
                head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                self.wfile.write(head + body)

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            request_queue_size, daemon_threads = 1_024, True

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server.server_address[1]}/{name}.m3u8"

    def newest(self):
        return int((time.time() - self.begin) / self.target)

    def mark(self, tag):
        """Puts a tag before the newest segment."""
        with self.lock:
            self.marks = self.marks[-8:] + [(self.newest(), tag)]

    def text(self):
        with self.lock:
            self.loads += 1
            marks = list(self.marks)
        last = self.newest()
        first = last - self.window + 1
        lines = ["#EXTM3U", f"#EXT-X-TARGETDURATION:{self.target}", f"#EXT-X-MEDIA-SEQUENCE:{first}",
                 f"#EXT-X-PROGRAM-DATE-TIME:{date(self.begin + first * self.target)}"]
        for sequence in range(first, last + 1):
            lines += [tag for place, tag in marks if place == sequence]
            lines += [f"#EXTINF:{self.target}.0,", f"segment{sequence}.ts"]
        return "\n".join(lines) + "\n"


def processor_seconds(process):
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def gateway_with_list():
    gateway = Gateway("--set", "breaks.cues=* list=spots duration=1h tolerance=0s")
    gateway.run("lists", "put", "spots", "--vast", VAST)
    return gateway


def measure(name, gateway, listener, marks, out, back):
    """Tells the times from marks to their notices."""
    times = []
    for number in range(marks):
        began = time.monotonic()
        out(number)
        while listener.next().kind != notice_pb2.NOTICE_KIND_AVAILABLE:
            pass
        times.append(1_000 * (time.monotonic() - began))
        back(number)
        while listener.next().kind != notice_pb2.NOTICE_KIND_ENDED:
            pass
    times.sort()
    print(f"{name}: {marks} marks to notices: p50 {statistics.median(times):.0f} ms, "
          f"p99 {times[min(len(times) - 1, int(0.99 * len(times)))]:.0f} ms, at most {times[-1]:.0f} ms", flush=True)


def latency(options):
    gateway = gateway_with_list()
    closing = [gateway.close]
    try:
        def listener(stream):
            peer = Listener(gateway, stream)
            closing.append(peer.close)
            peer.join()
            return peer

        def watcher(*arguments):
            process = Watcher(gateway, *arguments)
            closing.append(process.close)
            return process

        playlists = LivePlaylists(1)
        watched = watcher("hls", playlists.url("live"), "--stream", "hls1", "--allow-private")
        while playlists.loads < 2:
            time.sleep(0.05)
        measure("HLS", gateway, listener("hls1"), options.marks, lambda number: playlists.mark("#EXT-X-CUE-OUT"),
                lambda number: (time.sleep(1.2), playlists.mark("#EXT-X-CUE-IN")))
        watched.close()

        watched = watcher("ts", "udp://127.0.0.1:0", "--stream", "ts1")
        stream, sent, address = TransportStream(), 0, watched.address()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            def send(section):
                nonlocal sent
                packets = stream.tables() + stream.clock(int(time.monotonic() * 90_000)) + stream.section(section)
                for begin in range(0, len(packets), 7 * PACKET):
                    sender.sendto(rtp(sent, packets[begin:begin + 7 * PACKET]), address)
                    sent += 1
            measure("transport stream", gateway, listener("ts1"), options.marks, lambda number: send(splice_insert(number)),
                    lambda number: send(splice_insert(number, out=False)))
        watched.close()

        if radio_server.ICECAST is None:
            print("Icecast: there is none on this machine")
            return
        icecast = radio_server.Icecast()
        closing.append(icecast.close)
        icecast.play("A song")
        watched = watcher("icecast", icecast.url, "--stream", "radio1", "--allow-private")
        watched.wait_for("ignored")
        measure("Icecast", gateway, listener("radio1"), options.marks, lambda number: icecast.play("START_AD_BREAK"),
                lambda number: icecast.play(f"Song {number}"))
    finally:
        for close in reversed(closing):
            close()


def share(name, process, seconds, facts=lambda: ""):
    before, began = processor_seconds(process), time.monotonic()
    time.sleep(seconds)
    used, passed = processor_seconds(process) - before, time.monotonic() - began
    print(f"{name}: {100 * used / passed:.1f} % of a core in {passed:.0f} s{facts()}", flush=True)


def playlists(options):
    gateway, live = gateway_with_list(), LivePlaylists(6)
    streams = [each for number in range(1_000) for each in ("--stream", f"s{number}={live.url(number)}")]
    watcher = Watcher(gateway, "hls", *streams, "--allow-private")
    try:
        while live.loads < 2_000:
            time.sleep(0.5)
        before = live.loads
        share("1,000 playlists", watcher.process, options.seconds, lambda: f", {live.loads - before} loads")
    finally:
        watcher.close()
        gateway.close()


def transport(options):
    gateway = gateway_with_list()
    watcher = Watcher(gateway, "ts", "udp://127.0.0.1:0", "--stream", "ts1")
    address, stream, stopping = watcher.address(), TransportStream(), threading.Event()
    rate = 20_000_000 / 8 / (7 * PACKET)
    sent = 0

    def send():
        nonlocal sent
        fill = b"\x47\x01\x03\x10" + b"\xFF" * (PACKET - 4)
        began = time.monotonic()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            while not stopping.wait(0.005):
                while sent < rate * (time.monotonic() - began):
                    now = int(time.monotonic() * 90_000)
                    head = stream.tables() + stream.clock(now) if sent % 100 == 0 else stream.clock(now) if sent % 50 == 25 else b""
                    packets = head + fill * (7 - len(head) // PACKET)
                    sender.sendto(rtp(sent, packets), address)
                    sent += 1

    thread = threading.Thread(target=send)
    thread.start()
    try:
        time.sleep(2)
        before = sent
        share("20 Mbit/s", watcher.process, options.seconds,
              lambda: f", {(sent - before) * 7 * PACKET * 8 / options.seconds / 1e6:.1f} Mbit/s")
    finally:
        stopping.set()
        thread.join()
        watcher.close()
        gateway.close()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", nargs="*", help="latency, playlists or transport; all of them")
    arguments.add_argument("--marks", type=int, default=50)
    arguments.add_argument("--seconds", type=float, default=60)
    options = arguments.parse_args()
    for name, each in (("latency", latency), ("playlists", playlists), ("transport", transport)):
        if not options.what or name in options.what:
            each(options)


if __name__ == "__main__":
    main()
