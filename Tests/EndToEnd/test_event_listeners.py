# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Many listeners by server-sent events: the HTTP server answers them, and the loops of the edge write their events.

    scripts/end-to-end.sh EventListeners
"""
import json, os, random, re, selectors, socket, ssl, tempfile, threading, time, unittest, urllib.request

from harness import PATIENCE, Broadcaster, Gateway, Listener, ad, broadcast_pb2, status_pb2, until
from test_https import Authority, EncryptedGateway


class Reader:
    """One listener on a socket of its own that reads HTTP and events as the standards say, and nothing of the gateway's code."""

    def __init__(self, stream="radio1", session=None, last=None, version="1.1", behind=b"", receive_bytes=None):
        self.session = session or os.urandom(16).hex()
        self.request = (f"GET /v1/streams/{stream}/listen?session={self.session} HTTP/{version}\r\nHost: localhost\r\n"
                        + (f"Last-Event-ID: {last}\r\n" if last else "") + "\r\n").encode() + behind
        self.receive_bytes = receive_bytes
        self.socket, self.raw, self.head, self.body = None, b"", None, b""
        #: Every event as (id, name, data), in order, and whether the answer ended as HTTP says.
        self.events, self.is_whole, self.is_closed = [], False, False
        self.last_id = last

    def connect(self, address, context=None):
        host, port = address.removeprefix("https://").rsplit(":", 1)
        self.socket = socket.socket()
        if self.receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_bytes)
        self.socket.settimeout(PATIENCE)
        self.socket.connect((host, int(port)))
        if context:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.socket.sendall(self.request)
        self.socket.setblocking(False)
        return self

    def read(self):
        """Reads what is there."""
        while not self.is_closed:
            try:
                part = self.socket.recv(65_536)
            except (BlockingIOError, ssl.SSLWantReadError):
                break
            except ConnectionResetError:
                part = b""
            if not part:
                self.is_closed = True
                break
            self.raw += part
        if self.head is None and b"\r\n\r\n" in self.raw:
            head, self.raw = self.raw.split(b"\r\n\r\n", 1)
            self.head = head.decode()
        if self.head is not None:
            self.unwrap()

    def unwrap(self):
        if "chunked" in self.head:
            while (found := re.match(rb"([0-9a-f]+)\r\n", self.raw)) and not self.is_whole:
                size, start = int(found[1], 16), found.end()
                if len(self.raw) < start + size + 2:
                    break
                assert self.raw[start + size:start + size + 2] == b"\r\n", "a chunk does not end where it says"
                self.body += self.raw[start:start + size]
                self.raw = self.raw[start + size + 2:]
                self.is_whole = size == 0
        else:
            self.body, self.raw = self.body + self.raw, b""
            self.is_whole = self.is_closed
        while b"\n\n" in self.body:
            event, self.body = self.body.split(b"\n\n", 1)
            fields = dict(line.split(": ", 1) for line in event.decode().split("\n"))
            self.last_id = fields.get("id", self.last_id)
            self.events.append((fields.get("id"), fields["event"], fields["data"]))

    @property
    def status(self):
        return int(self.head.split(" ", 2)[1])

    def named(self, name):
        return [json.loads(data) for _, kind, data in self.events if kind == name]

    @property
    def positions(self):
        """The sequences of the notices behind the answer to the join."""
        return [int(each["position"].split(":")[1]) for each in self.named("notice")]

    def close(self):
        if self.socket:
            self.socket.close()


class Crowd:
    """Many readers, which one thread reads for."""

    def __init__(self):
        self.selector, self.lock, self.goes_on = selectors.DefaultSelector(), threading.Lock(), True
        self.failures = []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def add(self, reader):
        with self.lock:
            self.selector.register(reader.socket, selectors.EVENT_READ, reader)
        return reader

    def remove(self, reader):
        with self.lock:
            self.selector.unregister(reader.socket)

    def run(self):
        while self.goes_on:
            with self.lock:
                ready = self.selector.select(0)
                for key, _ in ready:
                    try:
                        key.data.read()
                    except Exception as error:  # A test looks at them at its end.
                        self.failures.append(repr(error))
                        key.data.is_closed = True
                    if key.data.is_closed:
                        self.selector.unregister(key.fileobj)
            time.sleep(0.002 if ready else 0.01)

    def end(self):
        self.goes_on = False
        self.thread.join()


class EventListeners(unittest.TestCase):
    def start(self, *arguments):
        gateway = Gateway(*arguments)
        self.addCleanup(gateway.close)
        return gateway

    def crowd(self):
        crowd = Crowd()
        self.addCleanup(lambda: self.assertEqual(crowd.failures, []))
        self.addCleanup(crowd.end)
        return crowd

    def reader(self, gateway, crowd=None, **how):
        reader = Reader(**how).connect(gateway.addresses["http"])
        self.addCleanup(reader.close)
        return crowd.add(reader) if crowd else reader

    def broadcaster(self, gateway):
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        return broadcaster

    def publish(self, broadcaster, name="b"):
        reply = broadcaster.publish("radio1", name, [ad("a", 1_800_000)])
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)

    def change(self, broadcaster, number):
        """Makes one more notice of the break."""
        reply = broadcaster.ask(update=broadcast_pb2.Update(stream="radio1", break_id="b", duration_ms=1_800_000 + 1_000 * number))
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)

    @staticmethod
    def open_files(gateway):
        return len(os.listdir(f"/proc/{gateway.process.pid}/fd"))

    def test_1500_at_once_beside_others_hear_each_notice_and_leave_nothing_behind(self):
        gateway, count = self.start(), 1_500
        broadcaster, crowd = self.broadcaster(gateway), self.crowd()
        self.publish(broadcaster)
        others = [Listener(gateway, "radio1") for _ in range(8)]
        for other in others:
            self.addCleanup(other.close)
            other.join()
        before = self.open_files(gateway)
        # All connect before the first is answered.
        readers = [self.reader(gateway, crowd) for _ in range(count)]
        until("all have joined", lambda: all(reader.events for reader in readers))
        self.assertEqual({reader.status for reader in readers}, {200})
        until("the loops have them", lambda: gateway.metric('cuecast_connections{socket="events"}') == count
              and gateway.metric('cuecast_connections{socket="http"}') < 10)
        self.assertEqual(gateway.metric("cuecast_http_listeners"), count)
        self.assertEqual(gateway.metric("cuecast_listeners"), count + len(others))
        for number in range(1, 21):
            self.change(broadcaster, number)
        until("all have all", lambda: all(len(reader.positions) >= 20 for reader in readers))
        heads = [int(reader.named("joined")[0]["head"].split(":")[1]) for reader in readers]
        for reader, head in zip(readers, heads):
            self.assertEqual(reader.positions, list(range(head + 1, head + 21)))
        for other in others:
            for _ in range(20):
                other.next()
        # The text of a notice is the same for all.
        self.assertEqual(len({tuple(event for event in reader.events if event[1] == "notice") for reader in readers}), 1)
        for reader in readers:
            crowd.remove(reader)
            reader.close()
        until("they are gone", lambda: gateway.metric("cuecast_http_listeners") == 0
              and gateway.metric('cuecast_connections{socket="events"}') == 0)
        self.assertEqual(gateway.metric('cuecast_http_listeners_ended_total{reason="gone"}'), count)
        until("their descriptors are", lambda: self.open_files(gateway) <= before + 5)

    def test_listeners_that_come_and_go_while_notices_flow_miss_none_and_have_none_twice(self):
        gateway = self.start()
        broadcaster, crowd = self.broadcaster(gateway), self.crowd()
        self.publish(broadcaster)
        made, goes_on = 0, True

        def flow():
            nonlocal made
            while goes_on:
                self.change(broadcaster, made + 1)
                made += 1

        thread = threading.Thread(target=flow)
        thread.start()
        generator, lives = random.Random(7), []
        try:
            for _ in range(40):
                lives.append([self.reader(gateway, crowd, version=generator.choice(["1.1", "1.1", "1.0"]))])
            for _ in range(300):
                life = generator.choice(lives)
                reader = life[-1]
                until("it has joined", lambda: reader.events)
                if generator.random() < 0.5:
                    heard = len(reader.events)
                    until("it hears more", lambda: len(reader.events) > heard)
                crowd.remove(reader)
                reader.read()
                reader.close()
                life.append(self.reader(gateway, crowd, session=reader.session, last=reader.last_id,
                                        version=generator.choice(["1.1", "1.0"])))
        finally:
            goes_on = False
            thread.join()
        self.change(broadcaster, made + 1)
        # The break itself was the first.
        until("all have the newest", lambda: all(life[-1].events and int(life[-1].last_id.split(":")[1]) == made + 2 for life in lives))
        for life in lives:
            position = None
            for reader in life:
                for name, kind, data in reader.events:
                    data, sequence = json.loads(data), int(name.split(":")[1])
                    if kind == "joined":
                        if position is not None:
                            self.assertIn(data["kind"], ("current", "recovered"), data)
                            missed = [int(each["position"].split(":")[1]) for each in data["notices"]]
                            self.assertEqual(missed, list(range(position + 1, sequence + 1)))
                        position = sequence
                    elif kind == "notice":
                        self.assertEqual(sequence, position + 1)
                        position = sequence
                    else:
                        self.assertEqual((kind, sequence), ("head", position))
        until("each is counted once", lambda: gateway.metric("cuecast_http_listeners") == len(lives))
        self.assertEqual(gateway.metric("cuecast_listeners"), len(lives))

    def test_the_loops_write_what_the_server_writes(self):
        gateway = self.start()
        broadcaster, crowd = self.broadcaster(gateway), self.crowd()
        self.publish(broadcaster)
        by_loop = self.reader(gateway, crowd)
        # The beginning of another request behind it keeps the answer at the server.
        by_server = self.reader(gateway, crowd, behind=b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        first_version = self.reader(gateway, crowd, version="1.0")
        readers = [by_loop, by_server, first_version]
        until("all have joined", lambda: all(reader.events for reader in readers))
        until("two are in loops", lambda: gateway.metric('cuecast_connections{socket="events"}') == 3
              and gateway.metric("cuecast_http_listeners") == 3)
        for number in range(1, 6):
            self.change(broadcaster, number)
        until("all have all, and the position repeated",
              lambda: all(len(reader.positions) == 5 and reader.named("head") for reader in readers))

        def text(reader):
            """What it heard without what says when, or to whom."""
            events = [(name, kind, re.sub(r'"(sentUs|gatewayUs)":\d+', r'"\1":0', data)) for name, kind, data in reader.events]
            return [(name, kind, re.sub(r'"(session|ticket)":"[^"]*"', r'"\1":""', data)) for name, kind, data in events]

        kinds = [kind for _, kind, _ in by_loop.events]
        self.assertEqual(kinds[:6], ["joined"] + ["notice"] * 5)
        for reader in (by_server, first_version):
            self.assertEqual(text(reader)[:7], text(by_loop)[:7])
        fields = [re.sub(r"(?im)^(x-request-id|date|transfer-encoding|connection):.*\n?", "", reader.head.split("\r\n", 1)[1].replace("\r", ""))
                  for reader in readers]
        self.assertEqual(fields[0].split("\n"), fields[1].split("\n"))
        self.assertIn("transfer-encoding: chunked", by_loop.head.lower())
        self.assertNotIn("chunked", first_version.head.lower())
        for reader in readers:
            self.assertEqual(urllib.request.urlopen(urllib.request.Request(
                f"http://{gateway.addresses['http']}/v1/streams/radio1/leave", json.dumps({"session": reader.session}).encode(),
                {"Content-Type": "application/json"}), timeout=PATIENCE).status, 200)
        until("all have ended", lambda: all(reader.named("end") for reader in readers))
        for reader in readers:
            self.assertEqual(reader.events[-1], ("end:left", "end", '{"reason":"left","retryable":false}'))
        # The last chunk, then the end of the connection; the server goes on with the request behind.
        until("two connections have ended", lambda: by_loop.is_closed and first_version.is_closed)
        self.assertTrue(by_loop.is_whole and first_version.is_whole)
        until("the other one is whole, and the next request answered", lambda: by_server.is_whole and b"alive" in by_server.raw)

    def test_by_tls_the_events_are_the_same(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        authority = Authority(folder)
        certificate, key = os.path.join(folder, "gateway.pem"), os.path.join(folder, "gateway.key")
        authority.sign("IP:127.0.0.1,DNS:localhost", certificate, key)
        encrypted = EncryptedGateway(folder, authority, "--set", f"http.tls.certificateFile={certificate}",
                                     "--set", f"http.tls.keyFile={key}")
        self.addCleanup(encrypted.close)
        plain = self.start()
        heard = []
        for gateway in (plain, encrypted):
            broadcaster, crowd = self.broadcaster(gateway), self.crowd()
            self.publish(broadcaster)
            context = ssl.create_default_context(cafile=authority.certificate) if gateway is encrypted else None
            reader = Reader().connect(gateway.addresses["http"], context)
            self.addCleanup(reader.close)
            crowd.add(reader)
            until("it has joined", lambda: reader.events)
            for number in range(1, 4):
                self.change(broadcaster, number)
            until("it has all", lambda: len(reader.positions) == 3)
            heard.append([(kind, re.sub(r"[0-9a-f]+", "0", data) if kind == "joined" else re.sub(r"\d+", "0", re.sub(
                r'"position":"[^:]*', '"position":"', data))) for _, kind, data in reader.events[:4]])
        self.assertEqual([kind for kind, _ in heard[0]], ["joined", "notice", "notice", "notice"])
        self.assertEqual(heard[0][1:], heard[1][1:])

    def test_a_restart_tells_all_and_they_go_on_where_they_were(self):
        gateway = self.start()
        broadcaster, crowd = self.broadcaster(gateway), self.crowd()
        self.publish(broadcaster)
        readers = [self.reader(gateway, crowd, version=version) for version in ["1.1"] * 50 + ["1.0"] * 10]
        until("all have joined", lambda: all(reader.events for reader in readers))
        for number in range(1, 4):
            self.change(broadcaster, number)
        until("all have them", lambda: all(len(reader.positions) == 3 for reader in readers))
        self.assertEqual(gateway.stop(), 0)
        until("all have ended", lambda: all(reader.is_closed for reader in readers))
        for reader in readers:
            self.assertEqual(reader.named("end"), [{"reason": "stopping", "retryable": True}])
            self.assertEqual(reader.events[-1][0], None, "its last position stays")
            self.assertTrue(reader.is_whole)
        gateway.start()
        self.change(broadcaster, 4)
        back = [self.reader(gateway, crowd, session=reader.session, last=reader.last_id) for reader in readers]
        until("all are back", lambda: all(reader.events for reader in back))
        for reader in back:
            joined = reader.named("joined")[0]
            self.assertEqual((joined["kind"], [each["durationMs"] for each in joined["notices"]]), ("recovered", [1_804_000]))
        self.change(broadcaster, 5)
        until("all have the next", lambda: all(reader.positions for reader in back))
        for reader in back:
            self.assertEqual([each["durationMs"] for each in reader.named("notice")], [1_805_000])

    def test_one_that_does_not_read_is_closed_as_others_are_and_holds_up_none(self):
        gateway = self.start("--set", "listeners.stalledTimeout=2s")
        broadcaster, crowd = self.broadcaster(gateway), self.crowd()
        self.publish(broadcaster)
        quick = self.reader(gateway, crowd)
        until("it has joined", lambda: quick.events)
        stuck = [self.reader(gateway, receive_bytes=2_304) for _ in range(20)]
        until("all have joined", lambda: gateway.metric('cuecast_connections{socket="events"}') == 21)
        made, closed = 0, 'cuecast_connections_closed_total{reason="stalled"}'
        while gateway.metric(closed) < len(stuck):
            for _ in range(100):
                made += 1
                self.change(broadcaster, made)
            until("the other one has them", lambda: len(quick.positions) == made)
            self.assertLess(made, 50_000, "none of them was closed")
        until("they are counted", lambda: gateway.metric('cuecast_http_listeners_ended_total{reason="stalled"}') == len(stuck))
        until("one is left", lambda: gateway.metric("cuecast_http_listeners") == 1
              and gateway.metric('cuecast_connections{socket="events"}') == 1)

    def test_a_peer_that_goes_on_asking_is_closed_and_a_newer_connection_replaces_an_older_one(self):
        gateway = self.start()
        crowd = self.crowd()
        asking, older = self.reader(gateway, crowd), self.reader(gateway, crowd)
        until("both have joined", lambda: asking.events and older.events)
        until("loops have both", lambda: gateway.metric('cuecast_connections{socket="events"}') == 2
              and gateway.metric('cuecast_connections{socket="http"}') == 1)
        asking.socket.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        until("it is closed", lambda: asking.is_closed)
        until("it is counted", lambda: gateway.metric('cuecast_http_listeners_ended_total{reason="gone"}') == 1)
        newer = self.reader(gateway, crowd, session=older.session)
        until("it has joined", lambda: newer.events)
        until("the older one has ended", lambda: older.is_closed)
        self.assertEqual(older.events[-1], ("end:replaced", "end", '{"reason":"replaced","retryable":false}'))
        self.assertFalse(newer.named("end"))
        until("one is left", lambda: gateway.metric("cuecast_http_listeners") == 1)
        self.assertEqual(gateway.metric("cuecast_listeners"), 2, "a session that is cut off keeps its lease")

    def test_as_many_listen_as_may_wherever_their_connections_are(self):
        gateway = self.start("--set", "http.listenersMax=2")
        crowd = self.crowd()
        readers = [self.reader(gateway, crowd) for _ in range(2)]
        until("both have joined", lambda: all(reader.events for reader in readers))
        third = self.reader(gateway, crowd)
        until("it is answered", lambda: third.head)
        self.assertEqual(third.status, 503)
        self.assertIn("retry-after: 10", third.head.lower())
        until("it is counted", lambda: gateway.metric('cuecast_limits_hit_total{limit="httpListenersMax"}') == 1)
        limits = {each["limit"]: each for each in gateway.get("/v1/limits")["limits"]}
        self.assertEqual((limits["httpListenersMax"]["max"], limits["httpListenersMax"]["use"]), (2, 2))
        crowd.remove(readers[0])
        readers[0].close()
        until("there is room", lambda: gateway.metric("cuecast_http_listeners") == 1)
        fourth = self.reader(gateway, crowd)
        until("it has joined", lambda: fourth.events)
