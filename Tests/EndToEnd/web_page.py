# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The JavaScript library (clients/javascript) in headless Chromium against a real gateway: what its tests have in common."""
import contextlib, http.server, io, math, os, re, signal, sys, threading, unittest, wave

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Shared"))
from chromium import Browser
from harness import PATIENCE, ROOT, Broadcaster, Gateway, HeldPort, advertisement_pb2, broadcast_pb2, status_pb2

OK = status_pb2.STATUS_CODE_OK
HOUR_MS = 3_600_000
LIBRARY = os.path.join(ROOT, "clients/javascript")
#: Where no WebSocket is: a page falls back to server-sent events.
NOWHERE = "ws://127.0.0.1:9"


def tone(seconds):
    """A sound of so many seconds as a WAV file."""
    rate, file = 8_000, io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(b"".join(
            int(3_000 * math.sin(2 * math.pi * 440 * place / rate)).to_bytes(2, "little", signed=True)
            for place in range(int(rate * seconds))))
    return file.getvalue()


class Site(http.server.ThreadingHTTPServer):
    """What a radio station's web server has: the library with its examples, and the sounds of the ads."""

    def __init__(self, overtime_seconds=None):
        """`overtime_seconds`: how long the library waits for the end of a sound that goes on for longer than it should, where not as it is."""
        site = self
        #: By path: the sounds, and other files, each with its type.
        self.sounds, self.files = {}, {}
        #: The Content Security Policy of its pages.
        self.policy = None
        # The library as it is, but it gives no sound up because the browser is slow to begin it.
        with open(os.path.join(LIBRARY, "src/player.js"), encoding="utf-8") as file:
            player, count = re.subn(r"(?m)^const LOADING_MAX_MS = [\d_]+;$", f"const LOADING_MAX_MS = {int(1_000 * PATIENCE)};", file.read())
        assert count == 1, "the library names another time that it waits for sounds"
        if overtime_seconds is not None:
            player, count = re.subn(r"(?m)^const OVERTIME_MS = [\d_]+;$", f"const OVERTIME_MS = {int(1_000 * overtime_seconds)};", player)
            assert count == 1, "the library names another time after which a sound has failed"

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=LIBRARY)

            def do_GET(self):
                path = self.path.partition("?")[0]
                if path in site.sounds:
                    return self.answer("audio/wav", site.sounds[path])
                if path in site.files:
                    return self.answer(*site.files[path])
                return self.answer("text/javascript", player.encode()) if self.path == "/src/player.js" else super().do_GET()

            def end_headers(self):
                if site.policy:
                    self.send_header("Content-Security-Policy", site.policy)
                super().end_headers()

            def answer(self, kind, content):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                # A tab that is closed takes no more of it.
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(content)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def ad(self, name, seconds=1.0, **fields):
        """An ad whose sound is here."""
        self.sounds[f"/{name}.wav"] = tone(seconds)
        return advertisement_pb2.Advertisement(
            id=name, title=f"Ad {name}", duration_ms=int(seconds * 1_000),
            media=[advertisement_pb2.MediaFile(url=f"{self.origin}/{name}.wav", type="audio/wav")], **fields)

    def close(self):
        self.shutdown()
        self.server_close()


class PageGateway(Gateway):
    """A gateway that pages of a site may use, also over WebSocket."""

    def __init__(self, site, *settings):
        self.web_socket = HeldPort()
        super().__init__(*(word for each in (
            f"http.listenerOrigins={site.origin}", f"listeners.webSocket={self.web_socket.address}",
            f"listeners.webSocketOrigins={site.origin}", "breaks.startAheadMax=4d", *settings) for word in ("--set", each)))

    def close(self):
        super().close()
        self.web_socket.close()


class PageTest(unittest.TestCase):
    """Has a browser, a site and a gateway for the class, and a stream for each test."""
    #: Where the pages of these tests look for WebSocket; None: where it is.
    web_socket = None
    #: What else the address of the page says.
    query = ""
    number = 0

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.site = Site()
        cls.gateway = PageGateway(cls.site)
        cls.addClassCleanup(cls.site.close)
        cls.addClassCleanup(cls.browser.close)
        cls.addClassCleanup(cls.gateway.close)

    def setUp(self):
        PageTest.number += 1
        self.stream = f"s{PageTest.number}"
        self.broadcaster = Broadcaster(self.gateway)
        self.addCleanup(self.broadcaster.close)
        self.pages = []
        self.addCleanup(self.close_pages)

    def close_pages(self):
        """Closes the tabs; none may have had an exception, or a promise that failed unnoticed."""
        for page in self.pages:
            page.leave()
        self.assertEqual([each for page in self.pages for each in page.complaints if each.startswith("exception")], [])

    def page(self):
        """A tab, which is closed with the test."""
        page = self.browser.page()
        self.pages.append(page)
        return page

    def address_at(self, gateway, web_socket=None):
        """The page of a gateway."""
        return (f"{self.site.origin}/examples/plain/index.html?gateway=http://{gateway.addresses['http']}&stream={self.stream}"
                f"&webSocket={web_socket or self.web_socket or gateway.addresses['websocket']}{self.query}")

    @property
    def address(self):
        return self.address_at(self.gateway)

    def listening(self, page=None):
        """A page that listens, in a tab of its own where none is given."""
        page = page or self.page()
        page.go(self.address)
        return self.listen(page)

    def listen(self, page):
        page.click("#toggle")
        page.until("it listens", "window.listener && window.listener.state === 'listening'")
        return page

    def publish(self, name, ads, **fields):
        """A break of an hour; without a start it is cued. So no machine is too slow for it."""
        fields.setdefault("duration_ms", HOUR_MS)
        reply = self.broadcaster.publish(self.stream, name, ads, **fields)
        self.assertEqual(reply.status, OK, reply.message)

    def punch(self, name, **start):
        punch = broadcast_pb2.Punch(stream=self.stream, break_id=name)
        if start:
            punch.start.CopyFrom(broadcast_pb2.Start(**start))
        reply = self.broadcaster.ask(punch=punch)
        self.assertEqual(reply.status, OK, reply.message)

    def publish_and_punch(self, page, name, ads, **fields):
        """A break that the page has fetched before it starts."""
        self.publish(name, ads, **fields)
        page.until("it has the ads", f"window.listener.book.breaks.get('{name}')?.batch")
        self.punch(name)

    def end_unheard(self, page):
        """Kills the gateway while an ad plays, lets the ad end, loads the page anew, and waits until the outcome is recorded."""
        page.until("it plays", "window.listener.current !== null && window.listener.media.currentTime > 0")
        self.gateway.stop(signal.SIGKILL)
        # The test does not wait for a minute.
        page.evaluate("window.listener.media.dispatchEvent(new Event('ended'))")
        page.until("it has ended", "window.listener.current === null && window.listener.unacknowledged === 1")
        page.go(self.address)
        self.gateway.start()
        page.click("#toggle")
        # Not `unacknowledged` alone: it is 0 until the page has read what the origin's database keeps.
        self.until_recorded(page, 1)

    def end(self, name):
        """Ends a break that a page plays, once it has begun at the gateway, too, so that its time is free for others."""
        self.gateway.until_begun(self.stream, name)
        self.assertEqual(self.broadcaster.ask(end=broadcast_pb2.End(stream=self.stream, break_id=name)).status, OK)

    def cancel(self, name):
        self.assertEqual(self.broadcaster.ask(cancel=broadcast_pb2.Cancel(stream=self.stream, break_id=name)).status, OK)

    def until_recorded(self, page, lines):
        page.until(f"{lines} outcomes are recorded",
                   f"[...document.querySelectorAll('#log li')].filter((line) => /recorded/.test(line.textContent)).length >= {lines}"
                   " && window.listener.unacknowledged === 0")

    def counts(self, name, *ads):
        kinds, report = ("delivered", "played", "ignored", "failed", "unknown"), self.gateway.report(self.stream, name)
        return [{kind: report[ad][kind] for kind in kinds if report[ad].get(kind)} for ad in ads]

    def skip(self, page, name):
        page.until(f"{name} plays", f"window.listener?.current?.ad.id === '{name}'")
        page.until("it may be skipped", "document.querySelector('#skip').disabled === false && !document.querySelector('#break').hidden")
        page.click("#skip")

    def write_down(self, page):
        """Has the page write down which ads it begins, and when it has been told of a break last."""
        page.evaluate("""window.begun = []; window.told = {};
            window.listener.addEventListener("ad", (event) => window.begun.push(event.detail.ad.id));
            window.listener.addEventListener("notice", ({ detail: { notice } }) => { window.told[notice.breakId] = notice; });""")
