# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Requests of pages of another origin in headless Chromium, as advertising SDKs and native browser functions make them.

    scripts/end-to-end.sh WebRequests
"""
import http.server, json, os, shutil, sys, tempfile, threading, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Shared"))
from chromium import Browser
from harness import Broadcaster, Gateway, ad, until
from test_https import Authority, EncryptedGateway

SESSION = "00112233445566778899aabbccddeeff"


class EmptySite(http.server.ThreadingHTTPServer):
    """A page with nothing on it, of an origin of its own."""

    def __init__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                page = b"<!doctype html><title>Empty</title>"
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class WebRequests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser, cls.site = Browser(), EmptySite()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.site.close()

    def open_page(self, origins):
        """A page of another origin, and a gateway that has one break on the air."""
        self.gateway = Gateway("--set", f"http.listenerOrigins={origins}")
        self.addCleanup(self.gateway.close)
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(broadcaster.close)
        broadcaster.publish("s", "b", [ad("a", 1_800_000)])
        page = self.browser.page()
        page.go(self.site.origin)
        page.evaluate(f"window.base = 'http://{self.gateway.addresses['http']}/v1/streams/s'; window.session = '{SESSION}'; 1")
        return page

    def test_an_advertising_sdk_fetches_with_credentials(self):
        for origins in (self.site.origin, "*"):
            page = self.open_page(origins)
            for document in ("vast?_HLS_primary_id=p", "asset-list?_HLS_primary_id=p"):
                status = page.evaluate(f"""new Promise((done) => {{
                    const request = new XMLHttpRequest();
                    request.open("GET", `${{base}}/{document}`);
                    request.withCredentials = true;
                    request.onload = () => done(request.status);
                    request.onerror = () => done("blocked");
                    request.send();
                }})""")
                self.assertEqual(status, 200, (origins, document))

    def test_a_page_may_add_the_headers_that_libraries_add(self):
        page = self.open_page(self.site.origin)
        answer = page.evaluate("""fetch(`${base.replace("/streams/s", "")}/time`, { credentials: "include", headers: {
            "X-Request-Id": "page-1", "Cache-Control": "no-cache", Pragma: "no-cache", baggage: "a=b", tracestate: "c=d",
            traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "X-Requested-With": "XMLHttpRequest" } })
            .then((answer) => answer.headers.get("X-Request-Id"), () => "blocked")""")
        self.assertEqual(answer, "page-1")

    def test_an_event_source_with_credentials_and_beacons(self):
        page = self.open_page(self.site.origin)
        page.evaluate("""window.joined = new Promise((done) => {
            const source = new EventSource(`${base}/listen?session=${session}`, { withCredentials: true });
            source.addEventListener("joined", (event) => done(JSON.parse(event.data).kind));
            source.onerror = () => done("refused");
        }); 1""")
        self.assertEqual(page.evaluate("joined"), "snapshot")
        batch = page.evaluate("""fetch(`${base}/breaks/b/batch`, { method: "POST", credentials: "include",
            headers: { "Content-Type": "application/json" }, body: JSON.stringify({ session }) }).then((answer) => answer.json())""")
        outcome = json.dumps({"session": SESSION, "delivery": batch["delivery"], "outcomes": [
            {"advertisementId": "a", "kind": "failed", "occurredUs": batch["gatewayUs"]}]})
        # A string is sent as text/plain, without a preflight; a blob with the type that it has, after one.
        self.assertTrue(page.evaluate(f"navigator.sendBeacon(`${{base}}/breaks/b/acknowledge`, {json.dumps(outcome)})"))
        until("the beacon's outcome is counted", lambda: self.gateway.report("s", "b")["a"].get("failed") == 1)
        self.assertTrue(page.evaluate("""navigator.sendBeacon(`${base}/leave`,
            new Blob([JSON.stringify({ session })], { type: "application/json" }))"""))
        until("the beacon has left", lambda: self.gateway.metric("cuecast_listeners") == 0)

    def test_a_page_that_is_not_listed_reads_nothing(self):
        page = self.open_page("https://other.example")
        for options in ("{}", '{ credentials: "include" }'):
            self.assertEqual(page.evaluate(f"fetch(`${{base}}/vast?_HLS_primary_id=p`, {options}).then(() => 'read', () => 'blocked')"),
                             "blocked")

    #: An EventSource of the browser itself, with what it heard and how often it connected.
    SOURCE = """(() => {
        const heard = { opened: 0, ends: [] };
        heard.source = new EventSource(`${base}/listen?session=${session}`);
        heard.source.onopen = () => { heard.opened += 1; };
        heard.source.addEventListener("end", (event) => heard.ends.push(JSON.parse(event.data).reason));
        return heard;
    })()"""

    def test_of_two_event_sources_with_one_session_the_newer_goes_on_and_the_older_stops(self):
        page = self.open_page(self.site.origin)
        page.evaluate(f"window.older = {self.SOURCE}; 1")
        page.until("the older one listens", "older.opened === 1")
        page.evaluate(f"window.newer = {self.SOURCE}; 1")
        page.until("the older one has stopped for good", "older.source.readyState === EventSource.CLOSED")
        page.until("the newer one listens", "newer.opened === 1")
        self.assertEqual(page.evaluate("[older.ends, newer.source.readyState, newer.opened, newer.ends]"), [["replaced"], 1, 1, []])
        until("one listens", lambda: self.gateway.metric("cuecast_listeners") == 1)

    def test_an_event_source_stops_after_its_session_has_left(self):
        page = self.open_page(self.site.origin)
        page.evaluate(f"window.only = {self.SOURCE}; 1")
        page.until("it listens", "only.opened === 1")
        status = page.evaluate("""fetch(`${base}/leave`, { method: "POST", headers: { "Content-Type": "application/json" },
            body: JSON.stringify({ session }) }).then((answer) => answer.status)""")
        self.assertEqual(status, 200)
        page.until("it has stopped for good", "only.source.readyState === EventSource.CLOSED")
        self.assertEqual(page.evaluate("[only.opened, only.ends]"), [1, ["left"]])
        until("none listens", lambda: self.gateway.metric("cuecast_listeners") == 0)


class ManyCookies(unittest.TestCase):
    def test_a_browser_with_sixty_cookies_is_answered_over_http2(self):
        folder = tempfile.mkdtemp(prefix="cuecast-cookies.")
        self.addCleanup(shutil.rmtree, folder)
        authority = Authority(folder)
        certificate, key = os.path.join(folder, "gateway.pem"), os.path.join(folder, "gateway.key")
        authority.sign("IP:127.0.0.1", certificate, key)
        gateway = EncryptedGateway(folder, authority, "--set", f"http.tls.certificateFile={certificate}", "--set", f"http.tls.keyFile={key}")
        self.addCleanup(gateway.close)
        browser = Browser("--ignore-certificate-errors")
        self.addCleanup(browser.close)
        page = browser.page()
        address = gateway.addresses["http"]
        page.go(address + "/healthz")
        page.call("Network.setCookies", cookies=[
            {"name": f"name{number}", "value": f"value{number}", "url": address} for number in range(60)])
        page.go(address + "/healthz")
        self.assertIn('"alive"', page.text())
        self.assertEqual(page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol"), "h2")
