# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The example page (Examples/web) in headless Chromium against a real gateway: what its tests have in common."""
import http.server, io, math, os, re, sys, threading, unittest, wave

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Shared"))
from chromium import Browser
from harness import PATIENCE, ROOT, Broadcaster, Gateway, advertisement_pb2, broadcast_pb2, status_pb2

OK = status_pb2.STATUS_CODE_OK
HOUR_MS = 3_600_000
PAGE = os.path.join(ROOT, "Examples/web")


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
    """What a radio station's web server has: the page, and the sounds of the ads."""

    def __init__(self):
        site = self
        self.sounds, self.lost = {}, set()
        # The listener as it is, but it gives no sound up because the browser is slow to begin it.
        with open(os.path.join(PAGE, "cuecast.js"), encoding="utf-8") as file:
            listener, count = re.subn(r"(?m)^const LOADING_MAX_MS = [\d_]+;$", f"const LOADING_MAX_MS = {int(1_000 * PATIENCE)};", file.read())
        assert count == 1, "the listener names another time that it waits for sounds"

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=PAGE)

            def do_GET(self):
                if self.path in site.sounds:
                    return self.answer("audio/wav", site.sounds[self.path])
                return self.answer("text/javascript", listener.encode()) if self.path == "/cuecast.js" else super().do_GET()

            def answer(self, kind, content):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
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


class PageTest(unittest.TestCase):
    """Has a browser and a site for the class, and a gateway for each test."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.site = Site()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.site.close()

    def setUp(self):
        self.gateway = Gateway("--set", f"http.listenerOrigins={self.site.origin}", "--set", "breaks.startAheadMax=4d")
        self.addCleanup(self.gateway.close)
        self.broadcaster = Broadcaster(self.gateway)
        self.addCleanup(self.broadcaster.close)

    @property
    def address(self):
        """The page of this test's gateway."""
        return f"{self.site.origin}/index.html?gateway=http://{self.gateway.addresses['http']}&stream=s"

    def listening(self, page=None):
        """A page that listens, in a tab of its own where none is given."""
        page = page or self.browser.page()
        page.go(self.address)
        return self.listen(page)

    def listen(self, page):
        page.click("#toggle")
        page.until("it listens", "window.listener && window.listener.state === 'listening'")
        return page

    def publish(self, name, ads, **fields):
        """A break of an hour; without a start it is cued. So no machine is too slow for it."""
        fields.setdefault("duration_ms", HOUR_MS)
        reply = self.broadcaster.publish("s", name, ads, **fields)
        self.assertEqual(reply.status, OK, reply.message)

    def punch(self, name, **start):
        punch = broadcast_pb2.Punch(stream="s", break_id=name)
        if start:
            punch.start.CopyFrom(broadcast_pb2.Start(**start))
        reply = self.broadcaster.ask(punch=punch)
        self.assertEqual(reply.status, OK, reply.message)

    def publish_and_punch(self, page, name, ads, **fields):
        """A break that the page has fetched before it starts."""
        self.publish(name, ads, **fields)
        page.until("it has the ads", f"window.listener.breaks.get('{name}')?.batch")
        self.punch(name)

    def end(self, name):
        """Ends a break, so that its time is free for others."""
        self.assertEqual(self.broadcaster.ask(end=broadcast_pb2.End(stream="s", break_id=name)).status, OK)

    def until_recorded(self, page, lines):
        page.until(f"{lines} outcomes are recorded",
                   f"[...document.querySelectorAll('#log li')].filter((line) => /recorded/.test(line.textContent)).length >= {lines}"
                   " && window.listener.unacknowledged === 0")

    def counts(self, name, *ads):
        kinds, report = ("delivered", "played", "ignored", "failed", "unknown"), self.gateway.report("s", name)
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
