# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""HTTP/2: the real binary with a certificate, asked by curl, and by frames made by hand (RFC 9113)."""
import collections, json, os, socket, ssl, struct, unittest

from harness import PATIENCE, until
import test_https

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 6, 7, 9
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
        plain = socket.create_connection(("127.0.0.1", gateway.http_port), timeout=PATIENCE)
        self.socket = context.wrap_socket(plain, server_hostname="127.0.0.1")
        assert self.socket.selected_alpn_protocol() == "h2"
        self.pending = b""
        #: What came of each request: the frames' types, the bodies, and why it was ended.
        self.kinds, self.bodies, self.ends = collections.defaultdict(list), collections.defaultdict(bytes), {}

    def begin(self):
        self.send(PREFACE + frame(SETTINGS, 0, 0))

    def send(self, data):
        self.socket.sendall(data)

    def head(self, path, method="GET", **fields):
        named = {":method": method, ":scheme": "https", ":authority": self.authority, ":path": path, **fields}
        return b"".join(field(*each) for each in named.items())

    def ask(self, stream, path, method="GET", ends=True, **fields):
        self.send(frame(HEADERS, END_HEADERS | (END_STREAM if ends else 0), stream, self.head(path, method, **fields)))

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
        elif kind == RST_STREAM:
            self.ends[stream] = int.from_bytes(payload, "big")
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            self.ends.setdefault(stream, None)
        return True

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
            self.assertEqual((spoken, status), (version, "200"), body)
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
        for stream in range(3, 203, 2):
            frames.ask(stream, "/v1/time")
        for stream in range(3, 203, 2):
            self.assertIn("gatewayUs", json.loads(frames.answer(stream)))
        self.assertNotIn(1, frames.ends)
        self.assertEqual(gateway.metric("cuecast_http_listeners"), 1)
        # The stop does not wait for who listens.
        self.assertEqual(gateway.stop(), 0)

    def test_a_connection_has_so_many_requests_and_no_more(self):
        gateway = self.start()
        frames = self.connect(gateway)
        frames.begin()
        common = {"method": "PUT", "ends": False, "content-type": "application/json", "authorization": "Bearer " + gateway.token()}
        try:
            for number in range(STREAMS_MAX + 1):
                frames.ask(2 * number + 1, f"/v1/streams/radio1/breaks/b-{number}", **common)
        except OSError:
            pass
        frames.ended()
        self.assertEqual(frames.kinds[0][-1], GOAWAY)
        # One less, and it goes on; where one of them ends there is room for another.
        frames = self.connect(gateway)
        frames.begin()
        for number in range(STREAMS_MAX):
            frames.ask(2 * number + 1, f"/v1/streams/radio1/breaks/b-{number}", **common)
        frames.send(frame(RST_STREAM, 0, 1, struct.pack(">I", 8)))
        last = 2 * STREAMS_MAX + 1
        frames.ask(last, "/healthz")
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
        common = {"method": "PUT", "ends": False, "content-type": "application/json", "authorization": "Bearer " + gateway.token()}
        many = []
        for number in range(3):
            frames = self.connect(gateway)
            frames.begin()
            many.append(frames)
            for stream in range(1, 2 * STREAMS_MAX, 2):
                frames.ask(stream, f"/v1/streams/radio1/breaks/b-{number}-{stream}", **common)
        until("one too many", lambda: gateway.metric('cuecast_limits_hit_total{limit="httpConnectionsMax"}'))
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
