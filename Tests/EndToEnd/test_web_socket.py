# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Listeners over WebSocket: the real binary, a client written from the RFCs, and peers that keep to nothing.

    scripts/end-to-end.sh WebSocketListeners WebSocketPeers WebSocketPlayer WebSocketExample
"""
import asyncio, base64, http, os, re, signal, socket, struct, subprocess, sys, threading, time, unittest

import websockets

from harness import GENERATED, PATIENCE, ROOT, RUN_PATIENCE, Broadcaster, Gateway, HeldPort, ad, broadcast_pb2, listener_pb2, notice_pb2, status_pb2, until
from zws import Listener, Socket

#: An ad that lasts longer than any test.
AD_MS = 1_500_000


class WebSocketGateway(Gateway):
    """A gateway with a port for WebSocket."""

    def __init__(self, *settings):
        self.held = HeldPort()
        self.web_socket = self.held.address
        super().__init__("--set", f"listeners.webSocket={self.web_socket}", *(word for each in settings for word in ("--set", each)))

    def close(self):
        super().close()
        self.held.close()

    @property
    def url(self):
        return self.addresses["websocket"]

    def upgrades(self, result):
        return self.metric(f'cuecast_websocket_upgrades_total{{result="{result}"}}')

    def closed(self, reason):
        return self.metric(f'cuecast_connections_closed_total{{reason="{reason}"}}')


class Case(unittest.TestCase):
    settings = ()

    def setUp(self):
        self.gateway = WebSocketGateway(*self.settings)
        self.addCleanup(self.gateway.close)
        self.broadcaster = Broadcaster(self.gateway)
        self.addCleanup(self.broadcaster.close)

    def publish(self, name, stream="radio1", ads=("a", "b")):
        reply = self.broadcaster.publish(stream, name, [ad(each, AD_MS) for each in ads])
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)


class WebSocketListeners(Case):
    def test_a_break_from_notice_to_books(self):
        async def listen():
            async with Socket(self.gateway.url) as connection:
                listener = Listener(connection, "radio1")
                await listener.join()
                await asyncio.to_thread(self.publish, "b1")
                notice = await listener.next()
                self.assertEqual((notice.break_id, notice.kind), ("b1", notice_pb2.NOTICE_KIND_AVAILABLE))
                batch = await listener.play("b1")
                self.assertEqual([each.id for each in batch.advertisements], ["a", "b"])
                self.assertEqual(self.gateway.metric('cuecast_connections{socket="websocket"}'), 1)
                await listener.ask(leave=listener_pb2.Leave(stream="radio1"))
                # A ping is answered.
                await asyncio.wait_for(await connection.socket.ping(b"there?"), PATIENCE)

        asyncio.run(listen())
        counts = self.gateway.report("radio1", "b1")
        self.assertEqual({each: counts[each]["played"] for each in counts}, {"a": 1, "b": 1})

    def test_a_handshake_of_null_and_a_notice(self):
        with Wire(self.gateway) as wire:
            join = listener_pb2.Request(request_id=1, session=os.urandom(16), join=listener_pb2.Join(stream="radio4", push=True))
            wire.send(Wire.frame(0x82, b"\1"), Wire.frame(0x82, b"\0" + join.SerializeToString()))
            self.assertEqual(wire.message(), (2, b"\1"))
            reply = listener_pb2.Reply.FromString(wire.message()[1][1:])
            self.assertEqual((reply.status, reply.joined.pushed), (status_pb2.STATUS_CODE_OK, True))
            self.publish("b1", "radio4")
            opcode, message = wire.message()
            self.assertEqual((opcode, message[:8]), (2, b"\0radio4\0"))
            self.assertEqual(notice_pb2.Notice.FromString(message[8:]).break_id, "b1")

    def test_a_subscription_and_a_request_socket(self):
        async def listen():
            async with Socket(self.gateway.url) as notices, Socket(self.gateway.url) as requests:
                await notices.send(b"\1radio2\0")
                await notices.send(b"\1~sync\0")
                tick = (await notices.receive())[0]
                self.assertTrue(tick.startswith(b"~sync\0"))
                await notices.send(b"\0~sync\0")
                request = listener_pb2.Request(request_id=7, session=os.urandom(16), join=listener_pb2.Join(stream="radio2"))
                await requests.send(b"", request.SerializeToString())
                empty, reply = await requests.receive()
                self.assertEqual((empty, listener_pb2.Reply.FromString(reply).status), (b"", status_pb2.STATUS_CODE_OK))
                await asyncio.to_thread(self.publish, "b1", "radio2")
                while (frame := (await notices.receive())[0]).startswith(b"~sync\0"):
                    pass
                self.assertEqual(notice_pb2.Notice.FromString(frame.split(b"\0", 1)[1]).break_id, "b1")

        asyncio.run(listen())

    def test_after_a_restart_nothing_is_missing(self):
        async def listen():
            async with Socket(self.gateway.url) as connection:
                listener = Listener(connection, "radio3")
                await listener.join()
                await asyncio.to_thread(self.publish, "b1", "radio3")
                await listener.next()
                code = await asyncio.to_thread(self.gateway.stop)
                self.assertEqual(code, 0)
                # The gateway says that it goes.
                with self.assertRaises(Exception):
                    while True:
                        await connection.receive()
                self.assertEqual(connection.socket.close_code, 1001)
            await asyncio.to_thread(self.gateway.start)
            broadcaster = Broadcaster(self.gateway)
            self.addCleanup(broadcaster.close)
            reply = await asyncio.to_thread(lambda: broadcaster.ask(cancel=broadcast_pb2.Cancel(
                stream="radio3", break_id="b1")))
            self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)
            async with Socket(self.gateway.url) as connection:
                again = Listener(connection, "radio3", listener.session)
                again.last, again.ticket = listener.last, listener.ticket
                joined = await again.join()
                self.assertEqual(joined.kind, listener_pb2.JOIN_KIND_RECOVERED)
                self.assertEqual([each.kind for each in again.applied], [notice_pb2.NOTICE_KIND_CANCELLED])

        asyncio.run(listen())


#: The READY command of a DEALER (RFC 23, "The NULL Security Mechanism").
READY = b"\x05READY\x0bSocket-Type\0\0\0\6DEALER\x08Identity\0\0\0\0"


class Wire:
    """A connection of bytes that keeps to nothing."""

    def __init__(self, gateway, upgrades=True, **fields):
        host, port = gateway.web_socket.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=PATIENCE)
        if upgrades:
            self.socket.sendall(self.request(gateway, **fields))
            answer = b""
            while not answer.endswith(b"\r\n\r\n"):
                answer += (byte := self.socket.recv(1))
                assert byte, answer
            assert answer.startswith(b"HTTP/1.1 101 "), answer
            self.send(self.frame(0x82, b"\2" + READY))
            assert self.message()[1].startswith(b"\2\5READY")

    @staticmethod
    def request(gateway, path="/", protocols="ZWS2.0/NULL", **fields):
        lines = [f"GET {path} HTTP/1.1", f"Host: {gateway.web_socket}", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode(),
                 f"Sec-WebSocket-Protocol: {protocols}", *(f"{name}: {value}" for name, value in fields.items())]
        return "".join(line + "\r\n" for line in [*lines, ""]).encode()

    @staticmethod
    def frame(first, payload, mask=b"\1\2\3\4"):
        count = len(payload)
        length = bytes([0x80 | count]) if count < 126 else b"\xfe" + struct.pack(">H", count)
        return bytes([first]) + length + mask + bytes(byte ^ mask[place & 3] for place, byte in enumerate(payload))

    def send(self, *parts):
        self.socket.sendall(b"".join(parts))

    def read(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise ConnectionError("the gateway closed the connection")
            data += part
        return data

    def message(self):
        """The opcode and the payload of the next frame of the gateway."""
        first, length = self.read(2)
        assert first & 0xF0 == 0x80 and length < 128, (first, length)
        if length == 126:
            length = struct.unpack(">H", self.read(2))[0]
        elif length == 127:
            length = struct.unpack(">Q", self.read(8))[0]
        return first & 0x0F, self.read(length)

    def close_code(self):
        while True:
            opcode, payload = self.message()
            if opcode == 8:
                return struct.unpack(">H", payload[:2])[0], payload[2:].decode()

    def rest(self):
        data = b""
        while part := self.socket.recv(65_536):
            data += part
        return data

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class WebSocketPeers(Case):
    settings = ("listeners.webSocketOrigins=https://radio.example, https://*.radio.example", "listeners.webSocketPath=/listen",
                "listeners.stalledTimeout=1s")

    def wire(self, **fields):
        return Wire(self.gateway, path="/listen", **fields)

    def answer(self, request):
        with Wire(self.gateway, upgrades=False) as wire:
            wire.send(request)
            return wire.rest().decode()

    def test_pages_of_other_origins_and_other_requests_are_refused(self):
        self.assertEqual(self.gateway.url, f"ws://{self.gateway.web_socket}/listen")
        for origin in ("https://radio.example", "https://www.radio.example", f"http://{self.gateway.web_socket}"):
            self.wire(Origin=origin).socket.close()
        for origin in ("https://evil.example", "https://radio.example.evil.example", "null", "nothing"):
            said = self.answer(Wire.request(self.gateway, "/listen", Origin=origin))
            self.assertTrue(said.startswith("HTTP/1.1 403 Forbidden\r\n"), said)
            self.assertIn("pages of its origin may not listen here", said)
        self.assertEqual(self.gateway.upgrades("origin"), 4)
        for request, status in (
                (Wire.request(self.gateway, "/other"), 404), (Wire.request(self.gateway, "/listen", "chat"), 400),
                (b"GET /listen HTTP/1.1\r\nHost: x\r\n\r\n", 426), (b"POST /listen HTTP/1.1\r\nHost: x\r\n\r\n", 405),
                (b"GET /listen HTTP/1.1\r\nX: " + b"x" * 9_000, 431), (b"GET /\r\n\r\n", 400), (b"\xff" + b"\0" * 8 + b"\x7f", 400)):
            said = self.answer(request)
            self.assertRegex(said, rf"^HTTP/1\.1 {status} [A-Z][\s\S]+This port serves listeners by ZeroMQ over WebSocket")
        self.assertGreaterEqual(self.gateway.upgrades("done"), 3)

    def test_half_requests_end_in_time(self):
        with Wire(self.gateway, upgrades=False) as silent, Wire(self.gateway, upgrades=False) as half:
            half.send(Wire.request(self.gateway, "/listen")[:-2])
            self.assertEqual((silent.rest(), half.rest()), (b"", b""))
        until("they are counted", lambda: self.gateway.upgrades("late") == 2)

    def test_a_peer_that_violates_the_protocol_is_told_why(self):
        cases = {
            "giant": (b"\x82\xff\0\0\0\1\0\0\0\0\1\2\3\4" + b"x" * 10_000, 1009),
            "endless": (Wire.frame(0x02, b"\0x") + Wire.frame(0x00, b"y" * 1_000) * 10_000, 1009),
            "fragments without end": (Wire.frame(0x02, b"\0") + Wire.frame(0x00, b"") * 100, 1008),
            "unmasked": (b"\x82\x01\0", 1002), "text": (Wire.frame(0x81, b"hello"), 1003), "compressed": (Wire.frame(0xC2, b"\0"), 1002),
            "flags": (Wire.frame(0x82, b"\7"), 1002), "opcode": (b"\x83\x80", 1002)}
        for name, (sent, code) in cases.items():
            with self.subTest(name), self.wire() as wire:
                try:
                    wire.send(sent)
                except ConnectionError:
                    pass
                if name == "endless":
                    # More is on its way than the gateway reads before it closes: the code may be lost, the end is not.
                    with self.assertRaises(ConnectionError):
                        self.assertEqual(wire.close_code()[0], code)
                        wire.read(1)
                else:
                    found, reason = wire.close_code()
                    self.assertEqual(found, code)
                    self.assertRegex(reason, "^(websocket|fragmentsPerMessageMax)")
        until("they are counted", lambda: self.gateway.closed("websocket") + self.gateway.closed("fragmentsPerMessageMax") == len(cases))
        self.assertEqual(self.gateway.metric('cuecast_limits_hit_total{limit="fragmentsPerMessageMax"}'), 1)

    def test_pings_without_end_disturb_no_other_listener(self):
        stop = threading.Event()

        def ping():
            with self.wire() as wire:
                wire.socket.settimeout(0.2)
                while not stop.is_set():
                    try:
                        wire.send(Wire.frame(0x89, b"x") * 1_000)
                        wire.socket.recv(65_536)
                    except (TimeoutError, ConnectionError):
                        time.sleep(0.05)

        thread = threading.Thread(target=ping)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)

        async def listen():
            async with Socket(self.gateway.url) as connection:
                listener = Listener(connection, "radio1")
                await listener.join()
                for number in range(5):
                    await asyncio.to_thread(self.publish, f"b{number}", "radio1", ("a",))
                    await listener.next()
                    await asyncio.to_thread(lambda: self.broadcaster.ask(cancel=broadcast_pb2.Cancel(
                        stream="radio1", break_id=f"b{number}")))
                    await listener.next()

        asyncio.run(listen())
        until("the limit is reached", lambda: self.gateway.metric('cuecast_limits_hit_total{limit="messagesPerConnectionPerSecondMax"}') > 0)

    def test_a_reader_that_does_not_read_is_closed(self):
        with self.wire() as wire:
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            wire.socket.settimeout(1)
            request = listener_pb2.Request(request_id=1, session=os.urandom(16), join=listener_pb2.Join(stream="radio1")).SerializeToString()
            message = Wire.frame(0x82, b"\1") + Wire.frame(0x82, b"\0" + request)
            deadline = time.monotonic() + PATIENCE

            def is_closed():
                try:
                    wire.send(message * 100)
                except TimeoutError:
                    pass
                except ConnectionError:
                    return True
                return self.gateway.closed("stalled") + self.gateway.closed("slow") > 0 or time.monotonic() > deadline
            until("it is closed", is_closed)
        until("it is counted", lambda: self.gateway.closed("stalled") + self.gateway.closed("slow") > 0)


class Relay:
    """A server of another project (`websockets`) that passes messages on to a gateway, and says no at other paths."""

    def __init__(self, target):
        self.target, self.ready, self.paths = target, threading.Event(), []
        self.thread = threading.Thread(target=lambda: asyncio.run(self.run()), daemon=True)
        self.thread.start()
        assert self.ready.wait(PATIENCE)

    async def run(self):
        self.loop, self.over = asyncio.get_running_loop(), asyncio.Event()
        async with websockets.serve(self.serve, "127.0.0.1", 0, subprotocols=["ZWS2.0"], ping_interval=None,
                                    process_request=self.look_at) as server:
            self.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            self.ready.set()
            await self.over.wait()

    async def look_at(self, path, headers):
        self.paths.append(path)
        return None if path.startswith("/listen") else (http.HTTPStatus.NOT_FOUND, [], b"There is nothing here.\n")

    async def serve(self, client):
        async with websockets.connect(self.target, subprotocols=["ZWS2.0"], ping_interval=None, open_timeout=PATIENCE) as gateway:
            async def pump(source, sink):
                async for message in source:
                    await sink.send(message)
                await sink.close()

            # Whichever side ends first ends the other one.
            await asyncio.gather(pump(client, gateway), pump(gateway, client), return_exceptions=True)

    def close(self):
        self.loop.call_soon_threadsafe(self.over.set)
        self.thread.join(PATIENCE)


class WebSocketPlayer(Case):
    """The Swift library over WebSocket."""

    def player(self, url, *words):
        player = self.gateway.listen("radio1", "--url", url, "--speed", "100000", *words)
        self.addCleanup(lambda: player.process.poll() is None and player.kill())
        player.wait_for("joined")
        return player

    def start_break(self, name):
        reply = self.broadcaster.publish("radio1", name, [ad("a", AD_MS), ad("b", AD_MS)], start=broadcast_pb2.Start(now=True))
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)

    def check_plays(self, player, name):
        self.start_break(name)
        self.assertEqual(player.finish(), 0)
        counts = self.gateway.report("radio1", name)
        self.assertEqual({each: (counts[each]["delivered"], counts[each]["played"]) for each in counts}, {"a": (1, 1), "b": (1, 1)})
        # It would last longer than its ads were played.
        self.gateway.end("radio1", name)

    def test_a_break_by_one_connection_and_by_two(self):
        for name, words in (("b1", ()), ("b2", ("--two-connections",))):
            player = self.player(self.gateway.url, "--breaks", "1", *words)
            self.assertEqual(self.gateway.metric('cuecast_connections{socket="websocket"}'), 2 if words else 1)
            self.check_plays(player, name)
            until("the client said goodbye", lambda: self.gateway.metric('cuecast_connections{socket="websocket"}') == 0)

    def test_a_server_of_another_project_stands_between(self):
        relay = Relay(self.gateway.url)
        self.addCleanup(relay.close)
        self.check_plays(self.player(relay.url + "/listen?from=test", "--breaks", "1"), "b1")
        self.assertEqual(set(relay.paths), {"/listen?from=test"})
        said = self.gateway.run("listen", "--stream", "radio1", "--url", relay.url + "/other", code=69)
        self.assertIn('it answered "HTTP/1.1 404 Not Found" to the request for a WebSocket', said)

    def test_a_gateway_that_dies_is_found_again(self):
        player = self.player(self.gateway.url, "--breaks", "2")
        self.start_break("b1")
        until("both are counted", lambda: [each["played"] for each in self.gateway.report("radio1", "b1").values()] == [1, 1])
        self.gateway.end("radio1", "b1")
        self.gateway.stop(signal.SIGKILL)
        self.gateway.start()
        self.broadcaster.close()
        self.broadcaster = Broadcaster(self.gateway)
        self.addCleanup(self.broadcaster.close)
        self.start_break("b2")
        self.assertEqual(player.finish(), 0)
        for name in ("b1", "b2"):
            counts = self.gateway.report("radio1", name)
            self.assertEqual({each: counts[each]["played"] for each in counts}, {"a": 1, "b": 1}, name)

    def test_an_address_that_is_none_is_refused(self):
        for words, sentence in ((("--url", "tcp://127.0.0.1:1"), "--url takes ws://HOST/PATH or wss://HOST/PATH."),
                                (("--url", "ws://host:0/"), "is no address"),
                                (("--listener-ca-file", "/x"), "--listener-ca-file goes with --url wss://"),
                                (("--url", "wss://host/", "--listener-ca-file", "/there/is/none"), "--listener-ca-file: ")):
            code = 69 if "host:0" in words[1] else 64
            self.assertIn(sentence, self.gateway.run("listen", "--stream", "radio1", *words, code=code))


class WebSocketExample(Case):
    def test_the_player_of_the_documents_runs_as_it_is_written(self):
        with open(os.path.join(ROOT, "Examples/websocket/player.py")) as file:
            code = re.sub(r"\A(#.*\n)+", "", file.read())
        with open(os.path.join(ROOT, "docs/players/any-language.md")) as file:
            self.assertIn("```python\n" + code + "```", file.read())
        player = subprocess.Popen([sys.executable, os.path.join(ROOT, "Examples/websocket/player.py"), self.gateway.url, "radio1"],
                                  stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": GENERATED})
        self.addCleanup(player.kill)
        until("it listens", lambda: self.gateway.metric("cuecast_listeners") == 1)
        reply = self.broadcaster.publish("radio1", "b1", [ad("a", 1_000), ad("b", 1_000)])
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)
        said, _ = player.communicate(timeout=RUN_PATIENCE)
        self.assertEqual(player.returncode, 0)
        self.assertEqual([line for line in said.splitlines() if line.startswith("recorded")], ["recorded a", "recorded b"])
        counts = self.gateway.report("radio1", "b1")
        self.assertEqual({each: counts[each]["played"] for each in counts}, {"a": 1, "b": 1})
