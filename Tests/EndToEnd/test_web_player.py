# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The JavaScript library in headless Chromium, by WebSocket and by server-sent events, and curl, against a real gateway.

    scripts/end-to-end.sh WebPlayer WebFallback Curl
"""
import json, os, re, signal, subprocess, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import ROOT, Broadcaster, Gateway, advertisement_pb2, broadcast_pb2, until
from web_page import HOUR_MS, LIBRARY, NOWHERE, OK, PageGateway, PageTest, Site


class WebPlayer(PageTest):
    def test_a_page_plays_a_break_and_the_books_balance(self):
        page = self.listening()
        ads = [self.site.ad("first"), self.site.ad("second")]
        ads[0].banner.image_url = f"{self.site.origin}/banner.png"
        ads[0].banner.alternative_text = "A tree in spring"
        # What is shown is written down by the page itself: a busy machine may look too late.
        page.evaluate("""window.seen = []; window.listener.addEventListener("progress", () => window.seen.push(
            ["#break", "#number", "#countdown", "#banner-image"].map((each) => document.querySelector(each))
            .map((each) => each.hidden ? null : each.alt || each.textContent.trim())))""")
        self.publish_and_punch(page, "b", ads)
        self.until_recorded(page, 2)
        seen = page.evaluate("window.seen")
        self.assertTrue(seen)
        for shown, number, countdown, _ in seen:
            self.assertIsNotNone(shown)
            self.assertRegex(number, r"^Ad [12] of 2$")
            self.assertRegex(countdown, r"^\d+ s$")
        self.assertIn("A tree in spring", [each[3] for each in seen])
        # One connection is all that it needs.
        self.assertEqual([each for each in page.requests if "/v1/" in each], [])
        # On a busy machine the first answers take long, and tell little of the gateway's clock: it asks again.
        page.until("it knows the gateway's clock",
                   "window.listener.gatewayErrorMs < 1_000 && Math.abs(window.listener.gatewayNow - Date.now()) < 2_000")
        self.assertEqual(self.counts("b", "first", "second"), [{"delivered": 1, "played": 1}] * 2)
        page.until("nothing is shown any more", "document.querySelector('#break').hidden")
        # The banner's picture is not there, and nothing else was complained about.
        self.assertEqual([each for each in page.complaints if "banner.png" not in each], [])
        page.click("#toggle")
        page.until("it has left", "window.listener.state === 'stopped'")

    def test_a_skipped_ad_and_one_whose_sound_is_lost(self):
        page = self.listening()
        ads = [self.site.ad("long", 60.0, skip_offset_ms=0), self.site.ad("lost"), self.site.ad("last")]
        del self.site.sounds["/lost.wav"]
        self.publish_and_punch(page, "b", ads)
        self.skip(page, "long")
        self.until_recorded(page, 3)
        self.assertEqual(self.counts("b", "long", "lost", "last"),
                         [{"delivered": 1, "ignored": 1}, {"delivered": 1, "failed": 1}, {"delivered": 1, "played": 1}])

    def test_it_goes_on_after_the_gateway_was_killed(self):
        page = self.listening()
        self.gateway.stop(signal.SIGKILL)
        page.until("it has noticed", "window.listener.state !== 'listening'")
        self.gateway.start()
        page.until("it listens again", "window.listener.state === 'listening'")
        session = page.evaluate("window.listener.session")
        self.publish_and_punch(page, "b", [self.site.ad("first")])
        self.until_recorded(page, 1)
        self.assertEqual(self.counts("b", "first"), [{"delivered": 1, "played": 1}])
        self.assertEqual(page.evaluate("window.listener.session"), session)
        # Where it came when only one of the gateway's ports was open, or the machine was too busy, it uses server-sent events: it tries again.
        page.until("it listens by WebSocket", """(() => {
            const { state, transport, connection } = window.listener;
            if (state === "listening" && transport === "events") connection.comeBack();
            return state === "listening" && transport === "webSocket"; })()""")

    def test_what_a_gateway_never_heard_it_hears_later_and_counts_once(self):
        page = self.listening()
        self.publish_and_punch(page, "b", [self.site.ad("first", 60.0)])
        self.end_unheard(page)
        self.assertEqual(self.counts("b", "first"), [{"delivered": 1, "played": 1}])

    def test_a_cancelled_break_is_not_played(self):
        page = self.listening()
        self.publish("b", [self.site.ad("first")])
        page.until("it has the ads", "window.listener.book.breaks.get('b')?.batch")
        self.cancel("b")
        self.until_recorded(page, 1)
        self.assertEqual(self.counts("b", "first"), [{"delivered": 1, "ignored": 1}])

    def test_a_player_that_stops_gets_no_further_ad(self):
        page = self.listening()
        self.write_down(page)
        self.publish_and_punch(page, "b", [self.site.ad(name, 60.0) for name in ("first", "second", "third")])
        page.until("it plays", "window.listener.current !== null && window.listener.media.currentTime > 0")
        page.click("#toggle")
        page.until("it has left", "window.listener.state === 'stopped' && window.listener.unacknowledged === 0")
        self.assertEqual(page.evaluate("[window.begun.join(), window.listener.current, window.listener.media.paused]"), ["first", None, True])
        self.assertEqual(self.counts("b", "first", "second", "third"), [{"delivered": 1, "ignored": 1}] * 3)

    def test_after_a_reload_it_plays_what_is_left(self):
        page = self.listening()
        ads = [self.site.ad("first"), self.site.ad("second", 600.0), self.site.ad("third", 60.0, skip_offset_ms=0)]
        self.publish_and_punch(page, "b", ads, duration_ms=HOUR_MS)
        self.until_recorded(page, 1)
        page.until("the second one plays", "window.listener.current?.ad.id === 'second' && window.listener.media.currentTime > 0")
        self.listening(page)
        self.skip(page, "third")
        page.until("all is recorded", "window.listener.book.closed.has('b') && window.listener.unacknowledged === 0")
        # What was begun is not begun again: it was played as far as it was heard.
        self.assertEqual(self.counts("b", "first", "second", "third"),
                         [{"delivered": 1, "played": 1}] * 2 + [{"delivered": 1, "ignored": 1}])

    def test_an_ad_that_stops_by_itself_was_not_played(self):
        page = self.listening()
        # It stands still as soon as it has begun, as one whose server says no more.
        page.evaluate("window.listener.media.addEventListener('playing', (event) => { event.target.playbackRate = 0; })")
        # Long enough that it is not over before a busy page has its turn.
        self.publish_and_punch(page, "b", [self.site.ad("first", 10.0)])
        self.until_recorded(page, 1)
        self.assertEqual(self.counts("b", "first"), [{"delivered": 1, "failed": 1}])


    def test_the_page_of_the_documents(self):
        with open(os.path.join(ROOT, "docs/players/web.md"), encoding="utf-8") as file:
            html = re.search(r"(?s)```html\n(.*?)```", file.read())[1]
        for before, after in (("./cuecast/index.js", "/index.js"), ("https://gateway.example.com", f"http://{self.gateway.addresses['http']}"),
                              ("radio1", self.stream)):
            self.assertEqual(html.count(before), 1)
            html = html.replace(before, after)
        self.site.files["/pasted.html"] = ("text/html", ("<!doctype html>" + html).encode())
        page = self.page()
        page.go(f"{self.site.origin}/pasted.html")
        page.click("#listen")
        self.until_listening()
        self.publish("b", [self.site.ad("first", 3.0)])
        until("it has the ads", lambda: self.counts("b", "first")[0].get("delivered"))
        page.evaluate("""window.shown = []; new MutationObserver(() => window.shown.push(document.querySelector("#ad").textContent))
            .observe(document.querySelector("#ad"), { childList: true });""")
        self.punch("b")
        until("it is recorded", lambda: self.counts("b", "first") == [{"delivered": 1, "played": 1}])
        page.until("it showed it while it played", "window.shown.join() === 'Ad first,'")

    def until_listening(self):
        """Waits until a listener of this test's stream is joined."""
        until("it listens", lambda: any(each["stream"] == self.stream and each["listeners"] for each in self.gateway.get("/v1/streams")["streams"]))

    def test_the_example_in_react(self):
        with open(os.path.join(LIBRARY, "examples/react/index.html"), encoding="utf-8") as file:
            html = file.read()
        # Debian's React instead of the one from the network.
        names = {"https://esm.sh/react@18": ("react", "React", "createElement, useCallback, useEffect, useRef, useState"),
                 "https://esm.sh/react-dom@18/client": ("react-dom", "ReactDOM", "createRoot")}
        scripts = ""
        for url, (name, variable, exported) in names.items():
            self.assertIn(f'"{url}"', html)
            html = html.replace(f'"{url}"', f'"/{name}-module.js"')
            with open(f"/usr/share/nodejs/{name}/umd/{name}.production.min.js", "rb") as file:
                self.site.files[f"/{name}.js"] = ("text/javascript", file.read())
            self.site.files[f"/{name}-module.js"] = ("text/javascript", f"export const {{ {exported} }} = window.{variable};".encode())
            scripts += f'<script src="/{name}.js"></script>'
        self.site.files["/examples/react/test.html"] = ("text/html", html.replace("<script", scripts + "<script", 1).encode())
        page = self.page()
        page.go(self.address.replace("plain/index.html", "react/test.html"))
        page.until("it is there", "document.querySelector('#toggle') !== null")
        page.click("#toggle")
        page.until("it listens", "document.querySelector('#state').textContent === 'listening'")
        self.publish("b", [self.site.ad("long", 600.0, skip_offset_ms=0), self.site.ad("last")])
        until("it has the ads", lambda: self.counts("b", "long")[0].get("delivered"))
        self.punch("b")
        page.until("it shows the ad", "document.querySelector('#break h2')?.textContent === 'Ad long'")
        page.until("it may be skipped", "document.querySelector('#skip').disabled === false")
        page.click("#skip")
        until("both have their outcome", lambda: self.counts("b", "long", "last") == [{"delivered": 1, "ignored": 1}, {"delivered": 1, "played": 1}])
        page.until("nothing is shown any more", "document.querySelector('#break') === null")
        page.click("#toggle")
        page.until("it has left", "document.querySelector('#state').textContent === 'stopped'")
        self.assertEqual(page.complaints, [])


class WebFallback(PageTest):
    web_socket = NOWHERE
    query = "&tabs=all"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # As docs/players/web.md has it, and nothing else.
        cls.site.policy = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
                           "connect-src http://127.0.0.1:* ws://127.0.0.1:*")

    def test_it_falls_back_by_itself_and_plays_what_web_socket_gives(self):
        page = self.listening()
        other = self.page()
        other.go(self.address_at(self.gateway, self.gateway.addresses["websocket"]) + "&tabs=all")
        self.listen(other)
        pages = {"events": page, "webSocket": other}
        for way, each in pages.items():
            self.assertEqual(each.evaluate("window.listener.transport"), way)
        ad = self.site.ad("first", skip_offset_ms=500, click_through_url="https://shop.example/", description="ä")
        ad.banner.image_url, ad.banner.width = f"{self.site.origin}/banner.png", 320
        ad.trackers.add(event="progress", url="https://tracker.example/", offset_ms=0)
        self.publish("b", [ad, self.site.ad("second")])
        for each in pages.values():
            each.until("it has the ads", "window.listener.book.breaks.get('b')?.batch")
        said = {way: each.evaluate("(({ batch: { advertisements, endMode, exact, skipped }, notice: { sentUs, ...notice } }) => "
                                   "[advertisements, endMode, exact, skipped, notice])(window.listener.book.breaks.get('b'))")
                for way, each in pages.items()}
        self.assertEqual(said["webSocket"], said["events"])
        self.punch("b")
        for each in pages.values():
            self.until_recorded(each, 2)
        self.assertEqual(self.counts("b", "first", "second"), [{"delivered": 2, "played": 2}] * 2)

    def test_one_that_has_fallen_back_comes_back_to_web_socket(self):
        page = self.page()
        page.go(self.address_at(self.gateway, self.gateway.addresses["websocket"]))
        self.listen(page)
        session = page.evaluate("window.listener.session")
        # From now on WebSocket leads nowhere; the gateway answers over HTTP.
        page.evaluate(f"""window.RealSocket = WebSocket; Math.random = () => 0;
            window.listener.connection.links.webSocket.WebSocket = class extends RealSocket {{ constructor(url, name) {{ super("{NOWHERE}", name); }} }};
            window.listener.connection.lose("The test takes it.");""")
        page.until("it uses server-sent events", "window.listener.transport === 'events' && window.listener.state === 'listening'")
        self.publish("b", [self.site.ad("first")])
        page.until("it has the ads", "window.listener.book.breaks.get('b')?.batch")
        # It would try in a minute.
        page.evaluate("""window.listener.connection.links.webSocket.WebSocket = RealSocket; window.listener.connection.comeBack();""")
        page.until("it is back", "window.listener.transport === 'webSocket' && window.listener.state === 'listening'")
        self.punch("b")
        self.until_recorded(page, 1)
        self.assertEqual(page.evaluate("window.listener.session"), session)
        self.assertEqual(self.counts("b", "first"), [{"delivered": 1, "played": 1}])

    def come_back_anew(self, page, meanwhile):
        """Lets something happen while the page hears nothing, and has it join as one that does not know where it was."""
        page.hold("/listen", before=True)
        page.evaluate("window.listener.follower.last = null")
        self.gateway.stop(signal.SIGKILL)
        self.gateway.start()
        page.until_held()
        meanwhile()
        page.let_go()
        page.until("it listens again", "window.listener.state === 'listening'")

    def test_a_break_that_it_has_played_is_not_played_again(self):
        page = self.listening()
        self.write_down(page)
        self.publish_and_punch(page, "b", [self.site.ad("first"), self.site.ad("second", 600.0, skip_offset_ms=0)], duration_ms=HOUR_MS)
        self.skip(page, "second")
        self.until_recorded(page, 2)
        # It is on air still: a change is told to everybody.
        update = broadcast_pb2.Update(stream=self.stream, break_id="b", duration_ms=HOUR_MS // 2)
        self.assertEqual(self.broadcaster.ask(update=update).status, OK)
        page.until("it is told of the change", f"window.told.b?.durationMs === {HOUR_MS // 2}")
        # A join that begins anew tells of it once more.
        page.evaluate("delete window.told.b")
        self.come_back_anew(page, lambda: None)
        page.until("all who want the ads have asked", "window.told.b && window.listener.gatewayNow > (window.told.b.window?.byUs ?? 0) / 1_000")
        self.end("b")
        self.publish_and_punch(page, "c", [self.site.ad("other")])
        self.until_recorded(page, 3)
        self.assertEqual(page.evaluate("window.begun.join()"), "first,second,other")
        self.assertEqual(self.counts("b", "first", "second"), [{"delivered": 1, "played": 1}, {"delivered": 1, "ignored": 1}])

    def test_a_break_that_was_cancelled_while_it_heard_nothing_is_not_played(self):
        page = self.listening()
        self.publish("b", [self.site.ad("first")])
        page.until("it has the ads", "window.listener.book.breaks.get('b')?.batch")
        self.come_back_anew(page, lambda: self.cancel("b"))
        self.until_recorded(page, 1)
        self.assertEqual(page.evaluate("window.listener.book.breaks.size"), 0)
        self.assertEqual(self.counts("b", "first"), [{"delivered": 1, "ignored": 1}])

    def test_ads_that_come_after_the_cancellation_get_their_outcome(self):
        page = self.listening()
        self.write_down(page)
        page.hold("/batch")
        self.publish("b", [self.site.ad("first")])
        page.until_held()
        self.punch("b", in_ms=HOUR_MS)
        self.cancel("b")
        page.until("it knows that it is cancelled", "window.listener.book.breaks.size === 0")
        page.let_go()
        self.until_recorded(page, 1)
        self.assertEqual(page.evaluate("window.begun.length"), 0)
        self.assertEqual(self.counts("b", "first"), [{"delivered": 1, "ignored": 1}])

    def test_a_page_says_why_it_does_not_listen_yet(self):
        def until_it_says(part):
            page.until(f"it says {part!r}", f"window.states.some((each) => each?.includes({json.dumps(part)}))")
            page.evaluate("window.states.length = 0")

        def restart(*arguments):
            gateway.stop()
            until_it_says(f"Nothing answers at {address}.")
            gateway.arguments = list(arguments)
            gateway.start()

        gateway = PageGateway(self.site)
        self.addCleanup(gateway.close)
        address = f"http://{gateway.addresses['http']}"
        page = self.page()
        page.go(self.address_at(gateway))
        self.listen(page)
        page.evaluate("""window.states = []; window.listener.addEventListener("state", ({ detail }) => {
            if (detail.state === "waiting") window.states.push(detail.reason); });
            // It tries again soon, however often it has tried.
            Math.random = () => 0.01;""")
        restart("--set", "http.listenerOrigins=https://another.example")
        until_it_says(f"refuses pages of {self.site.origin}: its key http.listenerOrigins does not list")
        restart("--set", f"http.listenerOrigins={self.site.origin}", "--set", "http.listenersMax=1")
        page.until("it listens again", "window.listener.state === 'listening'")
        # The one place is taken: the second page says what the gateway says.
        second = self.page()
        second.go(page.evaluate("location.href"))
        second.click("#toggle")
        second.until("it says which limit is reached", "/listenersMax is 1/.test(document.querySelector('#state').textContent)")

    def test_a_page_of_an_origin_that_is_not_listed_shows_the_key(self):
        other = Site()
        self.addCleanup(other.close)
        page = self.page()
        page.go(self.address.replace(self.site.origin, other.origin))
        page.click("#toggle")
        page.until("it names the key", "document.querySelector('#state').textContent.includes('http.listenerOrigins')")

    def test_a_page_whose_only_way_is_websocket_is_told_the_key_for_its_origin(self):
        other = Site()
        self.addCleanup(other.close)
        page = self.page()
        page.go(self.address.replace(self.site.origin, other.origin))
        reason = page.evaluate(f"""import("../../index.js").then(({{ CuecastListener }}) => new Promise((done) => {{
            const listener = new CuecastListener({{ webSocket: "ws://{self.gateway.web_socket.address}/", fallback: false, stream: "x", storage: null }});
            listener.addEventListener("state", ({{ detail }}) => {{
                if (detail.state !== "waiting") return;
                listener.stop();
                done(detail.reason);
            }});
            listener.start();
        }}))""")
        self.assertEqual(reason, f"Nothing answers at ws://{self.gateway.web_socket.address}/, or its key listeners.webSocketOrigins"
                                 f" does not list {other.origin}.")

    def test_a_page_says_what_is_wrong_with_its_token(self):
        page = self.listening()
        for token, said in (("() => { throw new Error('signed out') }", "signed out"), ("'two\\nlines'", "Invalid")):
            reason = page.evaluate(f"""import("../../index.js").then(({{ CuecastListener }}) => new Promise((done) => {{
                const listener = new CuecastListener({{ gateway: window.listener.gateway, stream: "x", storage: null, webSocket: null, token: {token} }});
                listener.addEventListener("state", ({{ detail }}) => {{
                    if (detail.state === "connecting") return;
                    listener.stop();
                    done(detail.reason);
                }});
                listener.start();
            }}))""")
            self.assertIn(said, reason)


class Curl(unittest.TestCase):
    """A listener of four commands, as docs/players/http.md has them."""

    def test_it_hears_fetches_and_acknowledges(self):
        gateway = Gateway()
        self.addCleanup(gateway.close)
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        base, session = f"http://{gateway.addresses['http']}/v1/streams/s", "00112233445566778899aabbccddeeff"
        hearing = subprocess.Popen(["curl", "-sN", f"{base}/listen?session={session}"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(hearing.wait)
        self.addCleanup(hearing.stdout.close)
        self.addCleanup(hearing.kill)

        def event():
            fields = {}
            while line := hearing.stdout.readline().strip():
                name, value = line.split(": ", 1)
                fields[name] = value
            return fields

        def post(path, document):
            done = subprocess.run(["curl", "-s", "-H", "Content-Type: application/json", "-d", json.dumps(document), base + path],
                                  capture_output=True, text=True, check=True)
            return json.loads(done.stdout)

        joined = event()
        self.assertEqual(joined["event"], "joined")
        self.assertEqual(json.loads(joined["data"])["session"], session)
        ad = advertisement_pb2.Advertisement(id="a", title="A", duration_ms=1_000, media=[
            advertisement_pb2.MediaFile(url="https://cdn.example.com/a.mp3", type="audio/mpeg")])
        self.assertEqual(broadcaster.publish("s", "b", [ad]).status, OK)
        while (heard := event())["event"] != "notice":
            pass
        notice = json.loads(heard["data"])
        self.assertEqual((notice["kind"], notice["breakId"], notice["position"]), ("available", "b", heard["id"]))
        batch = post("/breaks/b/batch", {"session": session})
        self.assertEqual([each["id"] for each in batch["advertisements"]], ["a"])
        outcome = {"advertisementId": "a", "kind": "played", "occurredUs": batch["gatewayUs"]}
        request = {"session": session, "delivery": batch["delivery"], "outcomes": [outcome]}
        for _ in range(2):
            self.assertEqual(post("/breaks/b/acknowledge", request)["recorded"], 1)
        counts = gateway.report("s", "b")["a"]
        self.assertEqual((counts["delivered"], counts["played"]), (1, 1))
        self.assertIn("gatewayUs", post("/leave", {"session": session}))
        while (heard := event())["event"] != "end":
            pass
        self.assertEqual(json.loads(heard["data"])["reason"], "left")


if __name__ == "__main__":
    unittest.main()
