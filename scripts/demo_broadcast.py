# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Parts of scripts/demo-broadcast.sh.

    encode TRANSPORT FILE     plays an encoder and a radio server in real time; TRANSPORT is HOST:PORT of the transport stream
    await FILE KIND COUNT     waits until a watcher has sent so many signals of a kind, and prints the newest one
    break FILE                prints the break that a watcher's newest signal is about
    listening                 reads what `cuecast streams --json` says, and prints how many players listen
    findings FILE             prints what the load tool found wrong, of its report
    delivered                 reads what `cuecast report --format json` says, and prints how many players got every ad
    check FOLDER TV RADIO     compares what the gateway has with what was broadcast; TV and RADIO are the numbers of players

The encoder reads commands from its input, and writes what it broadcasts to FILE, one JSON object on a line:

    out EVENT AHEAD DURATION  a break begins in AHEAD seconds, and lasts DURATION seconds
    in EVENT AHEAD            the programme is back in AHEAD seconds
    cancel EVENT              the break does not take place
    title TEXT                the radio plays something else
"""
import signal

# Ctrl-C ends the demo without a trace of this program's calls, also while it is still being loaded.
signal.signal(signal.SIGINT, signal.SIG_DFL)

import base64, datetime, http.server, json, os, re, socket, sys, threading, time

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
PATIENCE = float(os.environ.get("DEMO_PATIENCE", "120").rstrip("s"))


def text(seconds):
    """RFC 3339 with milliseconds."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds(instant):
    """The seconds since 1970 of an instant in RFC 3339."""
    return datetime.datetime.fromisoformat(instant.replace("Z", "+00:00")).timestamp()


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


def lines(path):
    """The whole lines of a file of JSON lines."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def sentence(line):
    """What a watcher saw and sent, on one line, with the times of the clock only."""
    signal, reply = line["signal"], line["reply"]
    said = f"{line['time']} {line['seen']} -> {signal['kind']} {signal['eventId']} -> break {reply['breakId']} {reply['state']}"
    return re.sub(r"\d{4}-\d\d-\d\dT(\d\d:\d\d:\d\d)(?:\.\d+)?Z", r"\1", said)


def wait(path, kind, count):
    deadline = time.monotonic() + PATIENCE
    while True:
        found = lines(path)
        for line in found:
            if line.get("result") not in ("sent", "ignored"):
                sys.exit(f"   a watcher failed: {json.dumps(line)}")
        sent = [line for line in found if line.get("result") == "sent" and line["signal"]["kind"] == kind]
        if len(sent) >= count:
            print(f"   [{sent[-1]['source']}] {sentence(sent[-1])}", flush=True)
            return
        if time.monotonic() > deadline:
            sys.exit(f"   {path}: for {PATIENCE:.0f} s the watcher sent no signal '{kind}'")
        time.sleep(0.1)


class Check:
    """The faults that were found."""

    def __init__(self, folder):
        self.folder, self.faults = folder, []
        with open(folder + "/breaks.json", encoding="utf-8") as file:
            self.breaks = json.load(file)
        with open(folder + "/report.json", encoding="utf-8") as file:
            self.report = json.load(file)
        with open(folder + "/audit.json", encoding="utf-8") as file:
            self.audit = json.load(file)["entries"][::-1]

    def must(self, condition, text):
        if not condition:
            self.faults.append(text)

    def confirm(self, text):
        """Says what is as it must be, unless something was not."""
        if not self.faults:
            print(text, flush=True)

    def sources(self, name):
        """The broadcasters that asked for something about a break, with what each asked for.

        A signal may come several times, where the answer to the first one was lost for instance.
        """
        asked = {}
        for entry in self.audit:
            if entry.get("break") == name and entry["outcome"] in ("changed", "unchanged"):
                asked.setdefault(entry.get("by"), set()).add(entry["action"])
        return asked

    def told(self, kind, event):
        """The bytes of an encoder's cue as the audit has them, by the source that sent it."""
        pattern = re.compile(rf"{kind} of the event splice-{event} of the source (\S+) on tv\. Raw: (\S+)")
        found = (pattern.match(entry.get("sentence", "")) for entry in self.audit)
        return {match[1]: match[2] for match in found if match}

    def signalled(self, stream, watcher):
        """The breaks that the signals of a watcher made, in their order, each once."""
        sent = [line for line in lines(f"{self.folder}/{watcher}.jsonl") if line.get("result") == "sent"]
        self.must(all(line["stream"] == stream for line in sent), f"the watcher {watcher} signalled another stream")
        return list(dict.fromkeys(line["reply"]["breakId"] for line in sent))

    def booked(self, name):
        return next((each for each in self.report["breaks"] if each["break"] == name), None)

    def played(self, name, players):
        """The break is in the report, and every player got it."""
        booked = self.booked(name)
        self.must(booked is not None, f"the report has no break {name}")
        if booked is None:
            return
        for ad in booked["ads"]:
            delivered = ad["counts"]["delivered"]
            self.must(delivered == players, f"{players} players listen, and {delivered} of them got the ad {ad['id']} of {name}")

    def near(self, instant, expected, what):
        distance = abs(seconds(instant) - seconds(expected))
        self.must(distance <= 0.5, f"{what} is {instant}, and the encoder said {expected}")


def check(folder, tv, radio):
    tv, radio, it = int(tv), int(radio), Check(folder)
    broadcast = {(line["event"], line["kind"]): line for line in lines(folder + "/broadcast.jsonl")}
    by_encoder, by_playlist = it.signalled("tv", "encoder"), it.signalled("tv", "playlist")
    by_radio = it.signalled("radio", "radio")
    it.must(len(by_encoder) == 2, f"the cues of the transport stream made {len(by_encoder)} breaks, and it must be 2")
    it.must(by_playlist == by_encoder[:1], f"the playlist made {by_playlist}, and the transport stream {by_encoder}")
    it.must(len(by_radio) == 1, f"the titles of the radio made {len(by_radio)} breaks, and it must be 1")
    if it.faults:
        return it.faults
    (first, cancelled), (of_radio,) = by_encoder, by_radio

    expected = {("tv", first): "complete", ("tv", "late-news"): "complete", ("tv", cancelled): "cancelled", ("radio", of_radio): "complete"}
    found = sorted((each["stream"], each["break"], each["state"]) for each in it.breaks)
    it.must(found == sorted((*key, state) for key, state in expected.items()), f"the gateway has these breaks: {found}")
    it.confirm(f"   {len(found)} breaks are there, each once; {cancelled} was cancelled before its start")

    for name, asked in ((first, {"encoder": {"signal"}, "playlist": {"signal"}}), (of_radio, {"radio": {"signal"}}),
                        ("late-news", {"studio": {"publish", "punch"}}), (cancelled, {"encoder": {"signal"}})):
        sources = it.sources(name)
        it.must(sources == asked, f"by the audit {name} is of {sources}, and it must be {asked}")
        it.confirm(f"   {name} was made by {' and '.join(sorted(asked))}")
    for kind, event, count in (("OUT", 1001, 2), ("IN", 1001, 2), ("OUT", 1002, 1), ("CANCEL", 1002, 1)):
        told = it.told(kind, event)
        it.must(len(told) == count, f"by the audit {len(told)} sources sent the {kind} of event {event}, and it must be {count}")
        it.must(len(set(told.values())) <= 1, f"the {kind} of event {event} has other bytes in the playlist: {told}")
    it.confirm("   the audit has every cue, with the same bytes from the playlist and from the transport stream")
    refused = [entry for entry in it.audit if entry["outcome"] not in ("changed", "unchanged")]
    it.must(not refused, f"the audit has refusals: {refused}")

    booked = it.booked(first)
    if booked:
        it.near(booked["start"], broadcast[1001, "out"]["at"], f"the start of {first}")
        it.near(booked["end"], broadcast[1001, "in"]["at"], f"the end of {first}")
    booked = it.booked(cancelled)
    it.must(booked is not None and booked["cancelled"], f"by the report {cancelled} was not cancelled")
    it.played(first, tv)
    it.played("late-news", tv)
    it.played(of_radio, radio)
    total = it.report["total"]
    it.must(it.report["balanced"] and it.report["complete"], "the report does not balance")
    it.must(total["unknown"] == 0, f"the outcomes of {total['unknown']} ads are unknown")
    it.confirm("   the report balances: {delivered} delivered = {played} played + {ignored} ignored + {failed} failed".format(**total))
    return it.faults


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "encode":
        encode(*arguments)
    elif command == "await":
        wait(arguments[0], arguments[1], int(arguments[2]))
    elif command == "break":
        print([line["reply"]["breakId"] for line in lines(arguments[0]) if line.get("result") == "sent"][-1])
    elif command == "findings":
        with open(arguments[0], encoding="utf-8") as file:
            print(json.dumps(json.load(file)["findings"]))
    elif command == "delivered":
        print(min((ad["counts"]["delivered"] for each in json.load(sys.stdin)["breaks"] for ad in each["ads"]), default=0))
    elif command == "listening":
        print(sum(stream["listeners"] for stream in json.load(sys.stdin)["streams"]))
    elif command == "check":
        faults = check(*arguments)
        for fault in faults:
            print(f"   {fault}", file=sys.stderr)
        sys.exit(1 if faults else 0)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
