# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""HTTP/2: the real binary with a certificate, asked by curl, and by frames made by hand (RFC 9113)."""
import collections, contextlib, json, os, signal, socket, ssl, struct, subprocess, threading, unittest

from harness import PATIENCE, Broadcaster, ad, broadcast_pb2, shaken_hands, status_pb2, until
import test_https

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
#: The setting that says how much each request's answer may send before it is allowed more (RFC 9113 section 6.5.2).
INITIAL_WINDOW_SIZE = 4
END_STREAM, ACK, END_HEADERS = 1, 1, 4
STREAMS_MAX = 100
CONNECTIONS_MAX = 256
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def integer(value, bits):
    """RFC 7541 section 5.1, below the first bits."""
    most = (1 << bits) - 1
    if value < most:
        return bytes((value,))
    made, value = [most], value - most
    while value >= 128:
        made.append(value % 128 + 128)
        value //= 128
    return bytes((*made, value))


def field(name, value):
    """A header field without compression (RFC 7541 section 6.2.2)."""
    return b"\0" + b"".join(integer(len(part), 7) + part for part in (name.encode(), value.encode()))


class Frames:
    """A connection that speaks HTTP/2 by hand."""

    def __init__(self, gateway):
        self.authority = f"127.0.0.1:{gateway.http_port}"
        context = ssl.create_default_context(cafile=gateway.authority.certificate)
        context.set_alpn_protocols(["h2", "http/1.1"])
        self.socket = shaken_hands(lambda: context.wrap_socket(
            socket.create_connection(("127.0.0.1", gateway.http_port), timeout=PATIENCE), server_hostname="127.0.0.1"))
        assert self.socket.selected_alpn_protocol() == "h2"
        self.pending = b""
        #: What came of each request: the frames' types, the bodies, and why it was ended.
        self.kinds, self.bodies, self.ends = collections.defaultdict(list), collections.defaultdict(bytes), {}
        #: Answers whose bytes are not taken: they get no more than the window that they had at first.
        self.stuck = set()
        #: The server-sent events of each answer, and how many of its bytes they are.
        self.found = collections.defaultdict(lambda: [0, []])

    def begin(self, window=None):
        """- window: how many bytes of each answer may come before more are allowed."""
        settings = b"" if window is None else struct.pack(">HI", INITIAL_WINDOW_SIZE, window)
        self.send(PREFACE + frame(SETTINGS, 0, 0, settings))

    def send(self, data):
        self.socket.sendall(data)

    def head(self, path, method="GET", **fields):
        """- fields: one that is `None` is left out, and one that is a list is repeated."""
        named = {":method": method, ":scheme": "https", ":authority": self.authority, ":path": path, **fields}
        return b"".join(field(name, value) for name, given in named.items() if given is not None
                        for value in (given if isinstance(given, list) else [given]))

    def request(self, stream, path, method="GET", ends=True, **fields):
        return frame(HEADERS, END_HEADERS | (END_STREAM if ends else 0), stream, self.head(path, method, **fields))

    def ask(self, stream, path, method="GET", ends=True, **fields):
        self.send(self.request(stream, path, method, ends, **fields))

    def publications(self, name, count, token):
        """So many requests whose bodies never come: the gateway ends each after 30 s. In one piece, so that they come together."""
        return b"".join(self.request(2 * number + 1, f"/v1/streams/radio1/breaks/{name}-{number}", "PUT", ends=False,
                                     **{"content-type": "application/json", "authorization": "Bearer " + token}) for number in range(count))

    def turn(self):
        """Takes one frame; `False`: the connection has ended."""
        while len(self.pending) < 9 or len(self.pending) < 9 + int.from_bytes(self.pending[:3], "big"):
            try:
                data = self.socket.recv(65_536)
            except OSError:
                data = b""
            if not data:
                return False
            self.pending += data
        length, kind, flags = int.from_bytes(self.pending[:3], "big"), self.pending[3], self.pending[4]
        stream, payload = int.from_bytes(self.pending[5:9], "big"), self.pending[9:9 + length]
        self.pending = self.pending[9 + length:]
        self.kinds[stream].append(kind)
        try:
            if kind == SETTINGS and not flags & ACK:
                self.send(frame(SETTINGS, ACK, 0))
            elif kind == PING and not flags & ACK:
                self.send(frame(PING, ACK, 0, payload))
        except OSError:
            # What it said last may still be there.
            pass
        if kind == DATA:
            self.bodies[stream] += payload
            self.take(stream, length)
        elif kind == RST_STREAM:
            self.ends[stream] = int.from_bytes(payload, "big")
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            self.ends.setdefault(stream, None)
        return True

    def take(self, stream, length):
        """Allows as many bytes more as came: of the connection always, of an answer unless it is stuck."""
        if not length:
            return
        try:
            for each in (0,) if stream in self.stuck or stream in self.ends else (0, stream):
                self.send(frame(WINDOW_UPDATE, 0, each, struct.pack(">I", length)))
        except OSError:
            # It may have said all that it has to say, and be gone.
            pass

    def events(self, stream):
        """The server-sent events of an answer so far, each as its fields; one that is half there comes later."""
        begin, events = self.found[stream]
        end = self.bodies[stream].rfind(b"\n\n", begin)
        if end > begin:
            self.found[stream][0] = end + 2
            for text in self.bodies[stream][begin:end].decode().split("\n\n"):
                fields = dict(line.split(": ", 1) for line in text.splitlines())
                if "event" in fields:
                    events.append(fields)
        return events

    def until(self, what, condition):
        while not condition():
            assert self.turn(), f"the connection ended, waiting for: {what}"

    def answer(self, stream):
        self.until(f"the answer on {stream}", lambda: stream in self.ends)
        return self.bodies[stream]

    def ended(self):
        """Waits until the gateway has closed the connection."""
        while self.turn():
            pass


class HTTP2(unittest.TestCase):
    start, curl = test_https.EncryptedHTTP.start, test_https.EncryptedHTTP.curl
    setUp = test_https.EncryptedHTTP.setUp

    def connect(self, gateway):
        frames = Frames(gateway)
        self.addCleanup(frames.socket.close)
        return frames

    def test_curl_speaks_either_version_and_is_answered_alike(self):
        gateway = self.start("--set", "http.openReads=health")
        address, told = gateway.addresses["http"], {}
        for option, version in (("--http2", "2"), ("--http1.1", "1.1")):
            common = ["--cacert", self.authority.certificate, option, "-w", "\n%{http_version} %{http_code}"]

            def ask(path, *arguments):
                body, _, last = self.curl(*common, *arguments, address + path).rpartition("\n")
                return body, last.split()

            body, (spoken, status) = ask("/healthz")
            self.assertEqual((json.loads(body), spoken, status), ({"status": "alive"}, version, "200"))
            self.assertEqual(ask("/v1/reports")[1][1], "401")
            rights = ["-H", "Authorization: Bearer " + gateway.token()]
            body, (spoken, status) = ask("/v1/streams/radio1/breaks/b-1", *rights, "-X", "PUT", "-H", "Content-Type: application/json",
                                         "-d", json.dumps({"cued": True, "duration": "30s", "ads": [
                                             {"id": "a", "duration": "30s", "media": [{"url": "https://cdn.example.com/a.mp3"}]}]}))
            self.assertEqual((spoken, status), (version, "200" if told else "201"), body)
            told[version] = {**json.loads(body), "position": "", "revision": ""}
            self.assertEqual(ask("/v1/streams/radio1/breaks/b-1", *rights)[1][1], "200")
            self.assertEqual(ask("/nothing")[1][1], "404")
        self.assertEqual(told["2"], told["1.1"])

    def test_many_requests_share_a_connection_while_notices_go_on(self):
        gateway = self.start()
        frames = self.connect(gateway)
        frames.begin()
        frames.ask(1, "/v1/streams/radio1/listen")
        frames.until("the join", lambda: b"event: joined" in frames.bodies[1])
        # With the one that listens as many as there may be, where none is answered before all are there.
        streams = range(3, 2 * STREAMS_MAX + 1, 2)
        for stream in streams:
            frames.ask(stream, "/v1/time")
        for stream in streams:
            self.assertIn("gatewayUs", json.loads(frames.answer(stream)))
        self.assertNotIn(1, frames.ends)
        until("it is counted", lambda: gateway.metric("cuecast_http_listeners") == 1)
        # The stop does not wait for who listens.
        self.assertEqual(gateway.stop(), 0)

    def test_a_cookie_that_a_browser_splits_is_one_field(self):
        gateway = self.start()
        frames = Frames(gateway)
        self.addCleanup(frames.socket.close)
        frames.begin()
        # Browsers send a field for each pair (RFC 9113 section 8.2.3).
        frames.ask(1, "/healthz", cookie=[f"name{number}=value{number}" for number in range(100)])
        # Other fields are counted as they are: the limit is 64, and four are those of the request line.
        frames.ask(3, "/healthz", cookie=["a=1", "b=2"], **{f"x-other-{number}": "1" for number in range(70)})
        until_ended = lambda: {1, 3} <= set(frames.ends) or not frames.turn()
        while not until_ended():
            pass
        self.assertIn('"status"', frames.bodies[1].decode())
        self.assertIn("headerFieldsMax", frames.bodies[3].decode())

    # MARK: Events

    def broadcaster(self, gateway):
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        return broadcaster

    def publish(self, broadcaster, stream, name):
        reply = broadcaster.publish(stream, name, [ad("a", 1_800_000)])
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply.message)

    def change(self, broadcaster, stream, name, number):
        """One more notice of a break, and one more change."""
        reply = broadcaster.ask(update=broadcast_pb2.Update(stream=stream, break_id=name, duration_ms=1_800_000 + 1_000 * number))
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply.message)

    def hear(self, gateway, path, *arguments):
        """Events by curl, as they come; what it says at its end is in `said`."""
        curl = subprocess.Popen(
            ["curl", "-sSN", "--http2", "--noproxy", "*", "--cacert", self.authority.certificate, "-w", "%{stderr}%{http_version} %{http_code}",
             *arguments, gateway.addresses["http"] + path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (curl.kill(), curl.wait(), curl.stdout.close(), curl.stderr.close()))

        def events():
            fields = {}
            for line in curl.stdout:
                if line.strip():
                    name, value = line.rstrip("\n").split(": ", 1)
                    fields[name] = value
                elif "event" in fields:
                    yield fields
                    fields = {}

        return curl, events()

    @staticmethod
    def next_of(events, *names):
        """The next event of one of these names."""
        return next(each for each in events if each["event"] in names)

    def test_curl_hears_notices_while_they_happen_and_goes_on_where_it_was(self):
        gateway = self.start()
        broadcaster = self.broadcaster(gateway)
        path = "/v1/streams/radio1/listen?session=00112233445566778899aabbccddeeff"
        curl, events = self.hear(gateway, path)
        self.assertEqual(json.loads(self.next_of(events, "joined")["data"])["kind"], "snapshot")
        # Each is heard before the next is made: nothing waits for an end of the answer.
        self.publish(broadcaster, "radio1", "b")
        heard = self.next_of(events, "notice")
        self.assertEqual((json.loads(heard["data"])["kind"], json.loads(heard["data"])["breakId"]), ("available", "b"))
        for number in range(1, 4):
            self.change(broadcaster, "radio1", "b", number)
            heard = self.next_of(events, "notice")
            self.assertEqual((json.loads(heard["data"])["kind"], json.loads(heard["data"])["durationMs"]), ("updated", 1_800_000 + 1_000 * number))
        curl.terminate()
        curl.wait(PATIENCE)
        until("it is gone", lambda: gateway.metric("cuecast_http_listeners") == 0)
        for number in range(4, 6):
            self.change(broadcaster, "radio1", "b", number)
        curl, events = self.hear(gateway, path, "-H", f"Last-Event-ID: {heard['id']}")
        joined = json.loads(self.next_of(events, "joined")["data"])
        self.assertEqual((joined["kind"], [each["durationMs"] for each in joined["notices"]]), ("recovered", [1_804_000, 1_805_000]))
        self.change(broadcaster, "radio1", "b", 6)
        self.assertEqual(json.loads(self.next_of(events, "notice")["data"])["durationMs"], 1_806_000)
        # A stop tells it, and ends it.
        self.assertEqual(gateway.stop(), 0)
        self.assertEqual(json.loads(self.next_of(events, "end")["data"])["reason"], "stopping")
        self.assertEqual(list(events), [])
        self.assertEqual(curl.wait(PATIENCE), 0)
        self.assertTrue(curl.stderr.read().endswith("2 200"))

    def test_curl_watches_breaks_while_they_happen_and_goes_on_where_it_was(self):
        gateway = self.start("--set", "http.openReads=health")
        broadcaster = self.broadcaster(gateway)
        rights = ["-H", "Authorization: Bearer " + gateway.token()]
        curl, events = self.hear(gateway, "/v1/events?streams=radio1", *rights)
        # It begins with what is now.
        self.assertEqual(json.loads(self.next_of(events, "counts")["data"])["stream"], "radio1")
        self.publish(broadcaster, "radio1", "b")
        heard = self.next_of(events, "break", "resync")
        self.assertEqual((heard["event"], json.loads(heard["data"])["state"]), ("break", "cued"))
        curl.terminate()
        curl.wait(PATIENCE)
        for number in range(1, 3):
            self.change(broadcaster, "radio1", "b", number)
        curl, events = self.hear(gateway, "/v1/events?streams=radio1", *rights, "-H", f"Last-Event-ID: {heard['id']}")
        missed = [self.next_of(events, "break", "resync") for _ in range(2)]
        self.assertEqual([(each["event"], json.loads(each["data"])["durationMilliseconds"]) for each in missed],
                         [("break", 1_801_000), ("break", 1_802_000)])
        self.change(broadcaster, "radio1", "b", 3)
        self.assertEqual(json.loads(self.next_of(events, "break", "resync")["data"])["durationMilliseconds"], 1_803_000)
        self.assertEqual(gateway.stop(), 0)
        for _ in events:
            pass
        curl.wait(PATIENCE)
        self.assertTrue(curl.stderr.read().endswith("2 200"))

    def test_a_listener_that_allows_no_more_bytes_is_ended_and_its_connection_goes_on(self):
        gateway = self.start()
        broadcaster = self.broadcaster(gateway)
        self.publish(broadcaster, "radio1", "b")
        frames = self.connect(gateway)
        # So little that a join fits and few notices do.
        frames.begin(window=2_000)
        stuck, quick = 1, 3
        frames.stuck.add(stuck)
        for stream in (stuck, quick):
            frames.ask(stream, "/v1/streams/radio1/listen")
            frames.until("the join", lambda: frames.events(stream))
        other, others = self.hear(gateway, "/v1/streams/radio1/listen")
        self.next_of(others, "joined")
        # What it hears is taken as it comes: it would wait, too.
        heard = []
        threading.Thread(target=lambda: heard.extend(each for each in others if each["event"] == "notice"), daemon=True).start()
        ended = 'cuecast_http_listeners_ended_total{reason="slow"}'
        made = 0
        # On a slow machine it is cut off because it has taken nothing for 30 s, before so many notices wait for it.
        while not gateway.metric(ended) and stuck not in frames.ends:
            for _ in range(10):
                # Each of these is heard by the others, so that their own notices never wait.
                for _ in range(10):
                    made += 1
                    self.change(broadcaster, "radio1", "b", made)
                frames.until("the quick one has them", lambda: sum(each["event"] == "notice" for each in frames.events(quick)) >= made)
                until("so has the other one", lambda: len(heard) >= made or other.poll() is not None)
            # 512 wait for a listener (httpNoticesWaitingMax), and what fits into the buffers on the way.
            self.assertLess(made, 5_000, "what waits for one listener is not bounded")
        frames.until("its answer is cut off", lambda: stuck in frames.ends)
        self.assertIsNotNone(frames.ends[stuck], "it did not end as if all of it had come")
        self.assertLessEqual(len(frames.bodies[stuck]), 2_000)
        if gateway.metric(ended):
            self.assertGreater(gateway.metric('cuecast_limits_hit_total{limit="httpNoticesWaitingMax"}'), 0)
        # Everybody else has heard every notice, in order, by the same connection and by another one.
        self.change(broadcaster, "radio1", "b", made + 1)

        def durations(events):
            return [json.loads(each["data"])["durationMs"] for each in events if each["event"] == "notice"]

        wanted = [1_800_000 + 1_000 * number for number in range(1, made + 2)]
        frames.until("the last notice", lambda: durations(frames.events(quick)[-2:])[-1:] == wanted[-1:])
        self.assertEqual(durations(frames.events(quick)), wanted)
        until("so has the other one", lambda: len(heard) >= len(wanted) or other.poll() is not None)
        self.assertEqual(durations(heard), wanted)
        until("the two others listen on", lambda: gateway.metric("cuecast_http_listeners") == 2)
        # It may come back, and is told what it missed.
        back = 5
        frames.ask(back, "/v1/streams/radio1/listen", **{"last-event-id": frames.events(stuck)[-1]["id"]})
        frames.until("it is back", lambda: frames.events(back))
        self.assertEqual(frames.events(back)[0]["event"], "joined")
        # All other requests were answered all the time.
        frames.ask(7, "/healthz")
        self.assertIn(b"alive", frames.answer(7))

    def test_who_watches_and_allows_no_more_bytes_is_cut_off_and_comes_back(self):
        gateway = self.start()
        broadcaster = self.broadcaster(gateway)
        frames = self.connect(gateway)
        frames.begin(window=1_000)
        stuck, quick = 1, 3
        frames.stuck.add(stuck)
        for stream in (stuck, quick):
            frames.ask(stream, "/v1/events?streams=radio1")
            frames.until("the first events", lambda: b"id: " in frames.bodies[stream])
        begun = frames.bodies[stuck].decode().split("id: ", 1)[1].split("\n", 1)[0]
        self.publish(broadcaster, "radio1", "b")
        changes = 0
        # A stream of pieces does not wait for ever: within 30 s of taking nothing it is cut off.
        while stuck not in frames.ends:
            changes += 1
            self.change(broadcaster, "radio1", "b", changes)
            frames.until("the quick one has it", lambda: stuck in frames.ends or any(
                json.loads(each["data"]).get("revision") == changes + 1 for each in frames.events(quick)[-8:] if each["event"] == "break"))
        self.assertIsNotNone(frames.ends[stuck], "it did not end as if all of it had come")
        self.assertLessEqual(len(frames.bodies[stuck]), 1_000)
        # A quick reader missed none, and the connection goes on.
        self.change(broadcaster, "radio1", "b", changes + 1)

        def revisions(stream):
            return [json.loads(each["data"])["revision"] for each in frames.events(stream) if each["event"] == "break"]

        frames.until("the last change", lambda: revisions(quick)[-1:] == [changes + 2])
        self.assertEqual(revisions(quick), list(range(1, changes + 3)))
        # Back, it hears all that it missed, or is told that it has to load anew.
        back = 5
        frames.ask(back, f"/v1/events?streams=radio1&lastEventId={begun}")
        frames.until("what it missed", lambda: any(each["event"] in ("break", "resync") for each in frames.events(back)))
        first = next(each for each in frames.events(back) if each["event"] in ("break", "resync"))
        if first["event"] == "break":
            frames.until("all of it", lambda: len(revisions(back)) == changes + 2)
            self.assertEqual(revisions(back), revisions(quick))
        else:
            self.assertGreater(changes + 2, 4_096)

    def test_a_connection_has_so_many_requests_and_no_more(self):
        gateway = self.start()
        frames = self.connect(gateway)
        frames.begin()
        frames.send(frames.publications("b", STREAMS_MAX + 1, gateway.token()))
        frames.ended()
        self.assertEqual(frames.kinds[0][-1], GOAWAY)
        # One less, and it goes on; where one of them ends there is room for another.
        frames = self.connect(gateway)
        frames.begin()
        last = 2 * STREAMS_MAX + 1
        frames.send(frames.publications("b", STREAMS_MAX, gateway.token()) + frame(RST_STREAM, 0, 1, struct.pack(">I", 8))
                    + frames.request(last, "/healthz"))
        self.assertIn(b"alive", frames.answer(last))
        other = self.connect(gateway)
        other.begin()
        other.ask(1, "/healthz")
        self.assertIn(b"alive", other.answer(1))
        for connection in (frames, other):
            connection.socket.close()
        until("the places are free", lambda: gateway.metric('cuecast_connections{socket="http"}') == 1)

    def test_requests_take_places_like_connections(self):
        gateway = self.start("--set", "http.listenersMax=0")
        many = []

        def one_too_many():
            some = [self.connect(gateway) for _ in range(3)]
            many.extend(some)
            # It finds all of them at once: on a busy machine the time of the first ones would be over before the last ones are there.
            gateway.process.send_signal(signal.SIGSTOP)
            for number, frames in enumerate(some):
                with contextlib.suppress(OSError):  # The gateway may have closed it, where that took long.
                    frames.begin()
                    frames.send(frames.publications(f"b-{number}", STREAMS_MAX, gateway.token()) + frame(PING, 0, 0, b"12345678"))
            gateway.process.send_signal(signal.SIGCONT)
            for frames in some:
                # The answer says that what was sent before has been read.
                while PING not in frames.kinds[0] and frames.turn():
                    pass
            hit = gateway.metric('cuecast_limits_hit_total{limit="httpConnectionsMax"}')
            if not hit:
                for frames in some:
                    frames.socket.close()
            return hit

        until("one too many", one_too_many)
        self.assertLessEqual(gateway.metric('cuecast_connections{socket="http"}'), CONNECTIONS_MAX)
        for frames in many:
            frames.socket.close()
        until("the places are free", lambda: gateway.metric('cuecast_connections{socket="http"}') == 1)

    def test_heads_are_bounded_in_fields_and_bytes(self):
        gateway = self.start()
        frames = self.connect(gateway)
        frames.begin()
        # The four of HTTP/2 itself are not counted.
        frames.ask(1, "/healthz", **{f"x-field-{number}": "1" for number in range(64)})
        self.assertIn(b"alive", frames.answer(1))
        frames.ask(3, "/healthz", **{f"x-field-{number}": "1" for number in range(65)})
        problem = json.loads(frames.answer(3))
        self.assertEqual((problem["status"], problem["code"]), (431, "TOO_LARGE"))
        frames.ask(5, "/healthz", **{f"x-field-{number}": "x" * 4_000 for number in range(5)})
        frames.ended()
        self.assertNotIn(b"alive", frames.bodies[5])
        self.assertEqual(json.loads(self.curl("--cacert", self.authority.certificate, gateway.addresses["http"] + "/healthz")),
                         {"status": "alive"})

    def test_the_host_may_stand_in_either_place_and_must_be_one(self):
        gateway = self.start()
        frames = self.connect(gateway)
        frames.begin()
        own, evil = frames.authority, "evil.example"
        for number, (authority, host, status) in enumerate((
                (own, None, None), (own, own, None), (None, own, None), (None, None, None),
                (own, evil, 400), (evil, own, 400), (own, "", 400), (evil, evil, 421), (None, evil, 421))):
            with self.subTest(authority=authority, host=host):
                frames.ask(2 * number + 1, "/healthz", **{":authority": authority, "host": host})
                answer = json.loads(frames.answer(2 * number + 1))
                self.assertEqual(answer.get("status"), status or "alive", answer)

    def test_who_does_not_keep_to_it_is_closed(self):
        gateway = self.start()

        def resets(frames):
            frames.begin()
            for stream in range(1, 20_001, 2):
                frames.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, frames.head("/v1/reports"))
                            + frame(RST_STREAM, 0, stream, struct.pack(">I", 8)))

        def continuations(frames):
            frames.begin()
            frames.send(frame(HEADERS, END_STREAM, 1, frames.head("/healthz")))
            for number in range(100_000):
                frames.send(frame(CONTINUATION, 0, 1, field(f"x-{number}", "x")))

        def pings(frames):
            # Its answers are never read.
            frames.begin()
            for _ in range(1_000_000):
                frames.send(frame(PING, 0, 0, b"12345678") * 100)

        for attack in (
            lambda frames: frames.send(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), lambda frames: frames.send(os.urandom(1_000)),
            lambda frames: frames.send(PREFACE + frame(SETTINGS, 0, 0, b"12345")),
            lambda frames: frames.send(PREFACE + frame(SETTINGS, 0, 0) + frame(DATA, 0, 1, b"x")),
            lambda frames: frames.send(PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS | END_STREAM, 2, b"\x82")),
            lambda frames: frames.send(PREFACE + frame(SETTINGS, 0, 0) + b"\xff\xff\xff\0\0\0\0\0\1" + b"x" * 100_000),
            lambda frames: frames.send(PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\xff" * 100)),
            resets, continuations, pings,
        ):
            frames = self.connect(gateway)
            try:
                attack(frames)
            except OSError:
                pass
            frames.ended()
        frames = self.connect(gateway)
        frames.begin()
        frames.ask(1, "/healthz")
        self.assertIn(b"alive", frames.answer(1))
        frames.socket.close()
        until("the places are free", lambda: gateway.metric('cuecast_connections{socket="http"}') == 1)
        self.assertEqual(gateway.stop(), 0)


if __name__ == "__main__":
    unittest.main()
