# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""`cuecast watch hls` and `cuecast cue`: marks of live playlists and cues make breaks, each once, whatever the source does."""
import datetime, http.server, json, os, signal, ssl, subprocess, tempfile, threading, time, unittest

from harness import BINARY, PATIENCE, ROOT, Gateway, until
from test_https import Authority

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")
#: A splice_insert() of SCTE 35 section 14, with the time 21514.559089 s of its stream's clock and 60.293567 s of duration.
SPLICE_INSERT = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="
#: The certificates that this machine trusts, on Debian.
TRUSTED = "/etc/ssl/certs/ca-certificates.crt"
SEGMENT_SECONDS = 6
WINDOW = 10
#: A programme begins so many seconds after its test unless told: no break of it is over because the machine is slow.
LEAD_SECONDS = 1_800


def date(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat(timespec="milliseconds").replace(
        "+00:00", "Z")


class LivePlaylist:
    """A playlist whose window moves on by one segment with each load, however fast that is; with `moves=False` not before `go_on`."""

    def __init__(self, tags, base=None, moves=True):
        #: The tags before a segment, by its sequence number.
        self.tags = dict(tags)
        #: Whole seconds, so that every load writes the same date for a segment.
        self.base = int(time.time()) + LEAD_SECONDS if base is None else base
        #: The first segment of the next load's window.
        self.first = 0
        self.moves = moves
        self.lock = threading.Lock()

    def go_on(self, first=None):
        """The window moves from now on: from another segment, where that is told."""
        with self.lock:
            self.first = self.first if first is None else first
            self.moves = True

    def text(self, end=""):
        with self.lock:
            first = self.first
            self.first += self.moves
        lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:1", f"#EXT-X-MEDIA-SEQUENCE:{first}",
                 f"#EXT-X-PROGRAM-DATE-TIME:{date(self.base + first * SEGMENT_SECONDS)}"]
        for sequence in range(first, first + WINDOW):
            if sequence in self.tags:
                lines.append(self.tags[sequence])
            lines += [f"#EXTINF:{SEGMENT_SECONDS}.0,", f"segment{sequence}.ts"]
        return "\n".join(lines) + "\n" + end


class PlaylistServer:
    """Serves what a test says: for each path a function that gives status, headers and body."""

    def __init__(self, tls=None):
        self.pages = {}
        self.scheme = "http" if tls is None else "https"
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                page = server.pages.get(self.path)
                status, headers, body = page() if page else (404, {}, b"")
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # The watcher has had enough of it.

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128

            def handle_error(self, *_):
                pass  # The watcher closed its connection.

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if tls is not None:
            # The handshake is made by the thread of the connection.
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path, host="127.0.0.1"):
        return f"{self.scheme}://{host}:{self.port}{path}"

    def serve(self, path, body):
        """Serves a text, or what a function gives each time."""
        self.pages[path] = lambda: (200, {}, (body() if callable(body) else body).encode())

    def fail(self, path, status):
        self.pages[path] = lambda: (status, {}, b"")

    def redirect(self, path, target):
        self.pages[path] = lambda: (302, {"Location": target}, b"")

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Watcher:
    """A `cuecast watch hls` process, and the lines that it has printed. `before` is a command that runs it."""

    def __init__(self, gateway, *arguments, before=()):
        self.process = subprocess.Popen(
            [*before, BINARY, "watch", "hls", *arguments, "--source", "playlist", "--json"],
            env=gateway.environment if gateway else None, stdout=subprocess.PIPE, text=True)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def wait_for(self, what, **fields):
        """Waits for a line with these fields."""
        def found():
            return [line for line in list(self.lines) if all(line.get(name) == value for name, value in fields.items())]
        return until(f"the watcher tells of {what}", found)

    def end(self, number=signal.SIGTERM):
        """Ends it; gives its counts."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        assert code == 0, f"exit {code}: {self.lines}"
        return self.lines[-1]["counts"]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(PATIENCE)
        self.process.stdout.close()


class WatchHLS(unittest.TestCase):
    def setUp(self):
        self.server = PlaylistServer()
        self.addCleanup(self.server.close)

    def gateway(self):
        gateway = Gateway("--set", "breaks.cues=* list=spots duration=10m")
        self.addCleanup(gateway.close)
        gateway.run("lists", "put", "spots", "--vast", VAST)
        return gateway

    def watcher(self, gateway, *arguments, before=()):
        watcher = Watcher(gateway, *arguments, before=before)
        self.addCleanup(watcher.kill)
        return watcher

    def breaks(self, gateway):
        return json.loads(gateway.run("breaks", "--format", "json"))

    def test_a_mark_that_stays_in_the_window_is_one_break_of_two_watchers(self):
        gateway = self.gateway()
        # The mark stays until both have seen it, whichever begins first.
        playlist = LivePlaylist({5: "#EXT-X-CUE-OUT:DURATION=30"}, moves=False)
        self.server.serve("/live.m3u8", playlist.text)
        arguments = (self.server.url("/live.m3u8"), "--stream", "radio1", "--allow-private")
        one, other = self.watcher(gateway, *arguments), self.watcher(gateway, *arguments)
        first = one.wait_for("the break", result="sent")[0]
        second = other.wait_for("the break", result="sent")[0]
        self.assertEqual(first["reply"]["breakId"], second["reply"]["breakId"])
        self.assertEqual(first["signal"], second["signal"])
        self.assertEqual((first["signal"]["kind"], first["signal"]["durationMs"]), ("out", 30_000))
        self.assertEqual(first["signal"]["start"], date(playlist.base + 5 * SEGMENT_SECONDS))
        one.kill()
        playlist.go_on()
        until("the mark left the window", lambda: playlist.first > 5 + 3)
        counts = other.end()
        self.assertEqual((counts["sent"], counts["refused"], counts["refusedByGateway"]), (1, 0, 0))
        self.assertEqual(len(self.breaks(gateway)), 1)

    def test_the_programme_that_comes_back_early_ends_the_break(self):
        gateway = self.gateway()
        # The break began before the watcher did: it is at its place in the programme, and not moved to now.
        playlist = LivePlaylist({0: "#EXT-X-CUE-OUT-CONT:ElapsedTime=0.0,Duration=3600"}, base=int(time.time()) - 30, moves=False)
        self.server.serve("/live.m3u8", playlist.text)
        watcher = self.watcher(gateway, self.server.url("/live.m3u8"), "--stream", "radio1", "--allow-private")
        watcher.wait_for("the break", result="sent")
        [before] = self.breaks(gateway)
        # Further ahead than the window has reached, so that the mark is new.
        sequence = WINDOW + 50
        playlist.tags[sequence] = "#EXT-X-CUE-IN"
        playlist.go_on(sequence - WINDOW)
        told = watcher.wait_for("the end", result="sent", signal={
            "kind": "in", "eventId": watcher.lines[0]["signal"]["eventId"],
            "start": date(playlist.base + sequence * SEGMENT_SECONDS)})
        [after] = self.breaks(gateway)
        self.assertEqual((told[0]["reply"]["breakId"], after["break"]), (before["break"], before["break"]))
        self.assertEqual(after["start"], before["start"])
        self.assertLess(after["end"], before["end"])
        watcher.end(signal.SIGINT)

    def test_another_rendition_stands_in_for_one_that_fails(self):
        gateway = self.gateway()
        playlist = LivePlaylist({})
        self.server.serve("/master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=200\nhigh.m3u8\n"
                          "#EXT-X-STREAM-INF:BANDWIDTH=100\nlow.m3u8\n")
        self.server.serve("/low.m3u8", playlist.text)
        self.server.serve("/high.m3u8", playlist.text)
        watcher = self.watcher(gateway, self.server.url("/master.m3u8"), "--stream", "radio1", "--allow-private")
        until("the smallest rendition is loaded", lambda: playlist.first >= 2)
        self.server.fail("/low.m3u8", 503)
        [fault] = watcher.wait_for("the fault", result="refused")
        self.assertIn("low.m3u8 answers with status 503", fault["reason"])
        playlist.tags[playlist.first + WINDOW] = "#EXT-X-CUE-OUT:30"
        watcher.wait_for("the break", result="sent")
        self.assertEqual(watcher.end()["refused"], 1)

    def test_broken_playlists_do_not_end_the_watch(self):
        gateway = self.gateway()
        self.server.serve("/live.m3u8", "<html>not yet</html>")
        watcher = self.watcher(gateway, self.server.url("/live.m3u8"), "--stream", "radio1", "--allow-private")
        self.assertIn("line 1 is not #EXTM3U", watcher.wait_for("a text", result="refused")[0]["reason"])
        self.server.serve("/live.m3u8", "#EXTM3U\n#" + "x" * 8_388_608)
        until("the size", lambda: [line for line in list(watcher.lines) if "8388608" in line["reason"]])
        self.server.fail("/live.m3u8", 404)
        until("the status", lambda: [line for line in list(watcher.lines) if "status 404" in line["reason"]])
        # A tag that cannot be read is told, and counts for what can be read of it.
        playlist = LivePlaylist({2: "#EXT-X-CUE-OUT:half a minute", 3: "#EXT-OATCLS-SCTE35:/DAvAA=="})
        self.server.serve("/live.m3u8", playlist.text)
        sent = watcher.wait_for("the break", result="sent")
        self.assertNotIn("durationMs", sent[0]["signal"])
        until("it is loaded again", lambda: playlist.first >= 4)
        reasons = [line["reason"] for line in watcher.lines if line["result"] == "refused"]
        self.assertEqual(len(reasons), len(set(reasons)), reasons)
        self.assertTrue(any("is no number of seconds" in reason for reason in reasons), reasons)
        self.assertTrue(any(reason.startswith("UNREADABLE") for reason in reasons), reasons)
        self.assertGreater(watcher.end()["repeatedFaults"], 0)
        self.assertEqual(len(self.breaks(gateway)), 1)

    def test_addresses_inside_are_refused_also_behind_a_redirect(self):
        gateway = self.gateway()
        playlist = LivePlaylist({2: "#EXT-X-CUE-OUT:30"})
        self.server.serve("/live.m3u8", playlist.text)
        refused = self.watcher(gateway, self.server.url("/live.m3u8"), "--stream", "radio1")
        self.assertIn("--allow-host 127.0.0.1", refused.wait_for("the host", result="refused")[0]["reason"])
        self.assertEqual(playlist.first, 0, "it was loaded")
        self.server.redirect("/away.m3u8", self.server.url("/live.m3u8", host="localhost"))
        redirected = self.watcher(gateway, self.server.url("/away.m3u8"), "--stream", "radio1", "--allow-host", "127.0.0.1")
        self.assertIn("The host localhost has a private",
                      redirected.wait_for("the redirect", result="refused")[0]["reason"])
        self.assertEqual(playlist.first, 0, "it was loaded")
        for number in range(7):
            self.server.redirect(f"/{number}.m3u8", self.server.url(f"/{number + 1}.m3u8"))
        self.server.serve("/7.m3u8", playlist.text)
        long = self.watcher(gateway, self.server.url("/1.m3u8"), "--stream", "radio1", "--allow-private")
        self.assertIn("over more than 5 redirects", long.wait_for("the redirects", result="refused")[0]["reason"])
        short = self.watcher(gateway, self.server.url("/2.m3u8"), "--stream", "radio1", "--allow-private")
        short.wait_for("the break", result="sent")

    def test_many_streams_are_watched_by_one_process(self):
        gateway = self.gateway()
        pairs = []
        for number in range(20):
            playlist = LivePlaylist({2: "#EXT-X-CUE-OUT:30"})
            self.server.serve(f"/{number}.m3u8", playlist.text)
            pairs += ["--stream", f"radio{number}={self.server.url(f'/{number}.m3u8')}"]
        watcher = self.watcher(gateway, *pairs, "--allow-private")
        until("each stream has its break", lambda: len(self.breaks(gateway)) == 20)
        self.assertEqual({line["stream"] for line in watcher.lines}, {f"radio{number}" for number in range(20)})

    def test_a_server_that_does_not_answer_in_time_is_given_up_and_asked_again(self):
        """One that accepts and says nothing, and one that sends a byte now and then: the bound is that of the whole load."""
        over, asked = threading.Event(), {"/silent.m3u8": 0, "/slow.m3u8": 0}
        self.addCleanup(over.set)
        playlist = LivePlaylist({2: "#EXT-X-CUE-OUT:30"})

        def silent():
            asked["/silent.m3u8"] += 1
            if asked["/silent.m3u8"] == 1:
                over.wait()
            return 200, {}, playlist.text().encode()

        class Slow(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked["/slow.m3u8"] += 1
                self.send_response(200)
                self.end_headers()
                try:
                    while not over.wait(0.2):
                        self.wfile.write(b"#")
                        self.wfile.flush()
                except OSError:
                    pass  # The watcher has had enough of it.

            def log_message(self, *_):
                pass

        self.server.pages["/silent.m3u8"] = silent
        slow = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
        slow.daemon_threads = True
        threading.Thread(target=slow.serve_forever, daemon=True).start()
        self.addCleanup(slow.server_close)
        self.addCleanup(slow.shutdown)
        began = time.monotonic()
        watcher = self.watcher(
            None, "--stream", f"silent={self.server.url('/silent.m3u8')}", "--allow-private", "--dry-run",
            "--stream", f"slow=http://127.0.0.1:{slow.server_address[1]}/slow.m3u8")
        for stream in ("silent", "slow"):
            [told] = watcher.wait_for("the time", stream=stream, result="refused")
            self.assertIn("did not answer within 10.0 seconds", told["reason"])
        self.assertGreaterEqual(time.monotonic() - began, 10)
        # The next load of the one that answers then has the break.
        watcher.wait_for("the break", stream="silent", result="notSent")
        until("the other one is asked again", lambda: asked["/slow.m3u8"] >= 2)

    def encrypted_server(self, authority, folder):
        """A server with a certificate of the authority for 127.0.0.1; its key is `server.key` in the folder."""
        certificate, key = folder + "/server.pem", folder + "/server.key"
        authority.sign("IP:127.0.0.1", certificate, key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server = PlaylistServer(tls=context)
        self.addCleanup(server.close)
        return server

    def test_a_server_is_asked_by_https_and_must_have_a_trusted_certificate(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        authority = Authority(folder.name)
        server = self.encrypted_server(authority, folder.name)
        playlist = LivePlaylist({2: "#EXT-X-CUE-OUT:30"})
        server.serve("/live.m3u8", playlist.text)
        arguments = (server.url("/live.m3u8"), "--stream", "radio1", "--allow-private", "--dry-run")
        refused = self.watcher(None, *arguments)
        self.assertIn("certificate", refused.wait_for("the certificate", result="refused")[0]["reason"].lower())
        self.assertEqual(playlist.first, 0, "it was loaded")
        # Where the machine trusts the authority; the others see their own file of certificates.
        trusting = ["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"',
                    authority.certificate, TRUSTED]
        if not os.path.exists(TRUSTED) or subprocess.run([*trusting, "true"], capture_output=True).returncode != 0:
            self.skipTest(f"no other file can stand in the place of {TRUSTED} here")
        self.watcher(None, *arguments, before=trusting).wait_for("the break", result="notSent")

    def test_a_file_of_certificates_stands_in_for_those_of_the_machine(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        authority, stranger = Authority(folder.name), Authority(folder.name, "stranger")
        server = self.encrypted_server(authority, folder.name)
        playlist = LivePlaylist({2: "#EXT-X-CUE-OUT:30"})
        server.serve("/live/low.m3u8?a=1", playlist.text)
        server.serve("/live/main.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100\nlow.m3u8?a=1\n")
        server.redirect("/live.m3u8", "/live/main.m3u8")
        trusting = ("--stream", "radio1", "--dry-run", "--ca-file", authority.certificate)
        refused = self.watcher(None, server.url("/live.m3u8"), "--stream", "radio1", "--dry-run", "--allow-private",
                               "--ca-file", stranger.certificate)
        self.assertIn("cannot be loaded", refused.wait_for("the certificate", result="refused")[0]["reason"])
        other = self.watcher(None, server.url("/live.m3u8", host="localhost"), *trusting, "--allow-private")
        self.assertIn("its certificate is for another host", other.wait_for("the name", result="refused")[0]["reason"])
        inside = self.watcher(None, server.url("/live.m3u8"), *trusting)
        self.assertIn("--allow-host 127.0.0.1", inside.wait_for("the host", result="refused")[0]["reason"])
        self.assertEqual(playlist.first, 0, "it was loaded")
        watcher = self.watcher(None, server.url("/live.m3u8"), *trusting, "--allow-private")
        watcher.wait_for("the break", result="notSent")
        # The bounds are the same: of bytes, of redirects, and never from https to http.
        server.serve("/large.m3u8", "#EXTM3U\n#" + "x" * 8_388_608)
        self.server.serve("/plain.m3u8", playlist.text)
        server.redirect("/plain.m3u8", self.server.url("/plain.m3u8"))
        server.redirect("/round.m3u8", "/round.m3u8")
        server.fail("/gone.m3u8", 410)
        for path, words in (("/large.m3u8", "8388608"), ("/plain.m3u8", "may not be followed"), ("/round.m3u8", "more than 5 redirects"),
                            ("/gone.m3u8", "status 410")):
            told = self.watcher(None, server.url(path), *trusting, "--allow-private").wait_for(path, result="refused")
            self.assertIn(words, told[0]["reason"])
        done = subprocess.run([BINARY, "watch", "hls", server.url("/live.m3u8"), "--stream", "s", "--source", "x", "--ca-file",
                               folder.name + "/server.key"],
                              capture_output=True, timeout=PATIENCE, text=True)
        self.assertEqual(done.returncode, 64)
        self.assertIn("--ca-file", done.stderr)

    def test_of_a_delta_update_that_does_not_fit_the_whole_playlist_is_loaded(self):
        text = LivePlaylist({2: "#EXT-X-CUE-OUT:30"}, moves=False).text().splitlines()
        # The first segments, with the mark between them, are left out.
        update = [*text[:3], "#EXT-X-SKIP:SKIPPED-SEGMENTS=5", *text[text.index("segment4.ts") + 1:]]
        self.server.serve("/live.m3u8?_HLS_skip=YES&a=1", "\n".join(update) + "\n")
        self.server.serve("/live.m3u8?a=1", "\n".join(text) + "\n")
        watcher = self.watcher(None, self.server.url("/live.m3u8?_HLS_skip=YES&a=1"), "--stream", "radio1", "--allow-private",
                               "--dry-run")
        [sent] = watcher.wait_for("the break", result="notSent")
        self.assertEqual(sent["signal"]["durationMs"], 30_000)
        # One that was not asked for counts for what is in it, and that is told.
        self.server.serve("/other.m3u8", "\n".join(update) + "\n")
        other = self.watcher(None, self.server.url("/other.m3u8"), "--stream", "radio1", "--allow-private", "--dry-run")
        self.assertIn("EXT-X-SKIP", other.wait_for("the update", result="refused")[0]["reason"])

    def test_a_file_shows_what_would_be_sent(self):
        with tempfile.NamedTemporaryFile("w", suffix=".m3u8") as file:
            file.write(LivePlaylist({2: "#EXT-X-CUE-OUT:30", 7: "#EXT-X-CUE-IN"}).text(end="#EXT-X-ENDLIST\n"))
            file.flush()
            for address in (file.name, "file:" + file.name, "file://" + file.name):
                watcher = self.watcher(None, address, "--stream", "radio1", "--dry-run")
                self.assertEqual(watcher.process.wait(PATIENCE), 0)
                watcher.reader.join(PATIENCE)
                self.assertEqual([line.get("result") for line in watcher.lines], ["notSent", "notSent", "ignored", None])
                self.assertEqual(watcher.lines[-1]["counts"]["notSent"], 2)
        for wrong in (["ftp://a.example/b", "--stream", "s"], ["--stream", "s"], ["a.m3u8", "--stream", "s=b.m3u8"],
                      ["--stream", "s=a.m3u8", "--stream", "s=b.m3u8"], ["a.m3u8", "--stream", "a b"]):
            done = subprocess.run([BINARY, "watch", "hls", *wrong, "--source", "x"], capture_output=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 64, done.stderr)


class SentCues(unittest.TestCase):
    def test_a_cue_makes_a_break_where_its_time_is_known(self):
        gateway = Gateway("--set", "breaks.cues=* list=spots duration=10m")
        self.addCleanup(gateway.close)
        gateway.run("lists", "put", "spots", "--vast", VAST)
        command = ["cue", "--stream", "radio1", "--source", "encoder"]
        self.assertIn("NO_TIME_REFERENCE", gateway.run(*command, SPLICE_INSERT, code=65))
        self.assertIn("TOO_FAR", gateway.run(*command, SPLICE_INSERT, "--pts-now", "0", code=65))
        self.assertEqual(json.loads(gateway.run("breaks", "--format", "json")), [])
        # Half an hour before the cue's time, however slow the machine is.
        made = json.loads(gateway.run(*command, SPLICE_INSERT, "--pts-now", str(1936310318 - 1_800 * 90_000), "--format", "json"))
        again = json.loads(gateway.run(*command, SPLICE_INSERT, "--at", made["start"], "--format", "json"))
        self.assertEqual((again["break"], again["start"]), (made["break"], made["start"]))
        # Half of all whole milliseconds are a little less as a floating-point number: each is printed as it was said.
        for millisecond in range(8):
            # A second further each time: what is closer than 100 ms to what was said before is the same.
            start = date(datetime.datetime.fromisoformat(made["start"]).timestamp() // 1 + 1 + millisecond * 1.001)
            moved = json.loads(gateway.run(*command, SPLICE_INSERT, "--at", start, "--format", "json"))
            self.assertEqual((moved["break"], moved["start"]), (made["break"], start))
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(SPLICE_INSERT)
            file.flush()
            other = ["cue", "send", "--stream", "radio2", "--source", "encoder", file.name, "--immediate"]
            self.assertEqual(json.loads(gateway.run(*other, "--format", "json"))["stream"], "radio2")
        self.assertIn("there is no file with this name", gateway.run(*command, "cue.bin", code=65))
        gateway.run(*command, SPLICE_INSERT, "--immediate", "--pts-now", "0", code=64)


if __name__ == "__main__":
    unittest.main()
