# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""An encoder and a radio server of scripts/demo-broadcast.sh, in real time.

    demo_encoder.py TRANSPORT FILE      TRANSPORT is HOST:PORT of the transport stream

It serves the playlist and the radio stream over HTTP, says `ready http=HOST:PORT`, reads commands from its input, and writes what it
broadcasts to FILE, one JSON object on a line:

    out EVENT AHEAD DURATION  a break begins in AHEAD seconds, and lasts DURATION seconds
    in EVENT AHEAD            the programme is back in AHEAD seconds
    cancel EVENT              the break does not take place
    title TEXT                the radio plays something else
"""
import signal

# Ctrl-C ends the demo without a trace of this program's calls, also while it is still being loaded.
signal.signal(signal.SIGINT, signal.SIG_DFL)

import base64, datetime, http.server, json, os, socket, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Tests/EndToEnd"))
from transport_stream import TransportStream, splice_cancel, splice_insert

SEGMENT_SECONDS = 2
#: How many segments a playlist has.
WINDOW = 10
TICKS = 90_000
#: The encoder sends the clock of its transport stream this often, in seconds.
CLOCK_SECONDS = 0.1
#: And repeats a cue this often until its time has come.
REPEAT_SECONDS = 2
#: The radio has 128 kbit/s, and metadata four times a second.
METADATA_INTERVAL, METADATA_SECONDS = 4_000, 0.25


def text(seconds):
    """RFC 3339 with milliseconds."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Encoder:
    """One programme, as a live playlist and as a transport stream with the same cues."""

    def __init__(self, file):
        # The window is full from the beginning on. Whole seconds, so that every load has the same date for a segment.
        self.base = int(time.time()) - WINDOW * SEGMENT_SECONDS
        self.lock = threading.Lock()
        self.file = file
        #: The tags before a segment, by its sequence number.
        self.tags = {}
        #: The start and the planned duration of each break, by its event.
        self.breaks = {}
        #: What the transport stream repeats, by event: a section, and when its time has come.
        self.cues = {}

    def ticks(self, moment):
        return round((moment - self.base) * TICKS)

    def boundary(self, ahead):
        """The first boundary of segments so many seconds from now: encoders cut there."""
        count = -int(-(time.time() + ahead - self.base) // SEGMENT_SECONDS)
        return count, self.base + count * SEGMENT_SECONDS

    def tell(self, **fields):
        self.file.write(json.dumps(fields) + "\n")
        self.file.flush()

    def out(self, event, ahead, duration):
        sequence, start = self.boundary(ahead)
        section = splice_insert(event, pts=self.ticks(start), seconds=duration)
        with self.lock:
            self.breaks[event] = sequence
            self.cues[event] = (section, start)
            self.tags[sequence] = self.marks(section, f"#EXT-X-CUE-OUT:{duration}")
            for later in range(sequence + 1, sequence + duration // SEGMENT_SECONDS):
                elapsed = (later - sequence) * SEGMENT_SECONDS
                self.tags[later] = [f"#EXT-X-CUE-OUT-CONT:{elapsed}/{duration}"]
        self.tell(event=event, kind="out", at=text(start), duration=duration)

    def back(self, event, ahead):
        sequence, end = self.boundary(ahead)
        section = splice_insert(event, pts=self.ticks(end), out=False)
        with self.lock:
            self.cues[event] = (section, end)
            self.forget(sequence)
            self.tags[sequence] = self.marks(section, "#EXT-X-CUE-IN")
        self.tell(event=event, kind="in", at=text(end))

    def cancel(self, event):
        section = splice_cancel(event)
        with self.lock:
            self.cues[event] = (section, time.time() + REPEAT_SECONDS)
            self.forget(self.breaks[event])
        self.tell(event=event, kind="cancel", at=text(time.time()))

    def forget(self, first):
        """From this segment on no break is planned."""
        self.tags = {sequence: tags for sequence, tags in self.tags.items() if sequence < first}

    @staticmethod
    def marks(section, tag):
        return ["#EXT-OATCLS-SCTE35:" + base64.b64encode(section).decode(), tag]

    def playlist(self):
        """The segments that are complete by now."""
        with self.lock:
            end = int(time.time() - self.base) // SEGMENT_SECONDS
            first = max(end - WINDOW, 0)
            lines = ["#EXTM3U", f"#EXT-X-TARGETDURATION:{SEGMENT_SECONDS}", f"#EXT-X-MEDIA-SEQUENCE:{first}",
                     f"#EXT-X-PROGRAM-DATE-TIME:{text(self.base + first * SEGMENT_SECONDS)}"]
            for sequence in range(first, end):
                lines += [*self.tags.get(sequence, []), f"#EXTINF:{SEGMENT_SECONDS}.0,", f"segment{sequence}.ts"]
        return "\n".join(lines) + "\n"

    def transport(self, address):
        """Sends the transport stream, for ever."""
        sender, stream, sent, number = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), TransportStream(), {}, 0
        while True:
            if number % 5 == 0:
                sender.sendto(stream.tables(), address)
            number += 1
            sender.sendto(stream.clock(self.ticks(time.time())), address)
            with self.lock:
                cues = list(self.cues.items())
            for event, (section, moment) in cues:
                known, when = sent.get(event, (None, 0))
                now = time.time()
                if known != section or (now < moment and now - when >= REPEAT_SECONDS):
                    sender.sendto(stream.section(section), address)
                    sent[event] = (section, now)
            time.sleep(CLOCK_SECONDS)


class Radio:
    """What the radio plays; its audio is silent."""

    def __init__(self):
        self.title = "The Larks - Morning Song"

    def play(self, connection):
        """Sends the stream until the listener has gone."""
        told = None
        while True:
            title, block = self.title, b"\0"
            if title != told:
                metadata = f"StreamTitle='{title}';".encode()
                units = (len(metadata) + 15) // 16
                block, told = bytes([units]) + metadata.ljust(16 * units, b"\0"), title
            connection.write(bytes(METADATA_INTERVAL) + block)
            connection.flush()
            time.sleep(METADATA_SECONDS)


def serve(encoder, radio):
    """Serves the playlist and the radio stream; gives the port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            try:
                if self.path == "/live.m3u8":
                    body = encoder.playlist().encode()
                    self.head("application/vnd.apple.mpegurl", **{"Content-Length": len(body)})
                    self.wfile.write(body)
                elif self.path == "/radio.mp3":
                    self.head("audio/mpeg", **{"icy-name": "Demo", "icy-metaint": METADATA_INTERVAL})
                    radio.play(self.wfile)
                else:
                    self.send_error(404)
            except OSError:
                pass  # The watcher closed its connection.

        def head(self, kind, **fields):
            self.send_response(200)
            for name, value in {"Content-Type": kind, **fields}.items():
                self.send_header(name, str(value))
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def encode(transport, path):
    host, port = transport.rsplit(":", 1)
    with open(path, "w", encoding="utf-8") as file:
        encoder, radio = Encoder(file), Radio()
        threading.Thread(target=encoder.transport, args=((host, int(port)),), daemon=True).start()
        print(f"ready http=127.0.0.1:{serve(encoder, radio)}", flush=True)
        for line in sys.stdin:
            command, _, rest = line.strip().partition(" ")
            if command == "title":
                radio.title = rest
                continue
            does = {"out": encoder.out, "in": encoder.back, "cancel": encoder.cancel}[command]
            does(*map(int, rest.split()))


if __name__ == "__main__":
    encode(*sys.argv[1:])
