# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The JavaScript library in tabs of which one plays, in tabs that are closed, frozen and woken, without a network, and behind HAProxy.

    scripts/end-to-end.sh WebWake WebFront
"""
import os, signal, sys, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Shared"))
from chromium import Browser
from harness import Broadcaster, broadcast_pb2, until
from test_fronts import FrontTest
from test_proxy import program
from test_tls import port
from web_page import OK, PageTest, Site

SESSION = "window.listener.session"


class WebWake(PageTest):
    def sibling(self, page):
        """Another tab of the same person: it shares the database and the locks of the origin, and has no copy of a session."""
        page = page.open(f"{self.site.origin}/examples/plain/player.css")
        self.pages.append(page)
        page.until("it is there", "location.href.endsWith('player.css')")
        page.evaluate("sessionStorage.clear()")
        page.go(self.address)
        return page

    def until_counted(self, name, ad, **counts):
        until(f"{ad} has its outcomes", lambda: all(
            self.gateway.report(self.stream, name)[ad][kind] == count for kind, count in counts.items()))

    def test_one_of_two_tabs_plays_and_the_other_takes_over(self):
        first = self.listening()
        second = self.listen(self.sibling(first))
        self.assertNotEqual(first.evaluate(SESSION), second.evaluate(SESSION))
        first.until("it is the one that plays", "window.listener.plays")
        self.assertFalse(second.evaluate("window.listener.plays"))
        for each in (first, second):
            self.write_down(each)
        self.publish("b", [self.site.ad("one", 600.0, skip_offset_ms=0), self.site.ad("two")])
        first.until("it has the ads", "window.listener.book.breaks.get('b')?.batch")
        second.until("it knows of the break", "window.listener.book.breaks.get('b')")
        self.punch("b")
        self.skip(first, "one")
        self.until_recorded(first, 2)
        # The other one has not even asked for them.
        self.assertEqual(second.evaluate("[window.begun.length, window.listener.unacknowledged]"), [0, 0])
        self.assertEqual(self.counts("b", "one", "two"), [{"delivered": 1, "ignored": 1}, {"delivered": 1, "played": 1}])
        first.click("#toggle")
        second.until("it plays now", "window.listener.plays")
        # What has begun was the other one's.
        second.until("it leaves it alone", "window.listener.book.closed.get('b') === 'skippedOver'")
        self.end("b")
        self.publish_and_punch(second, "c", [self.site.ad("three")])
        self.until_recorded(second, 1)
        self.assertEqual(second.evaluate("window.begun.join()"), "three")
        self.assertEqual(self.counts("b", "one", "two"), [{"delivered": 1, "ignored": 1}, {"delivered": 1, "played": 1}])
        self.assertEqual(self.counts("c", "three"), [{"delivered": 1, "played": 1}])

    def test_a_tab_that_is_closed_while_the_gateway_is_down_is_heard_by_another(self):
        page = self.listening()
        other = self.sibling(page)
        self.publish_and_punch(page, "b", [self.site.ad("first", 600.0), self.site.ad("second", 600.0)])
        page.until("it plays", "window.listener.current !== null && window.listener.media.currentTime > 0.5")
        self.gateway.stop(signal.SIGKILL)
        page.evaluate("window.listener.media.dispatchEvent(new Event('ended'))")
        page.until("the second one plays", "window.listener.current?.ad.id === 'second' && window.listener.media.currentTime > 0.5")
        page.until("both are on the disk", """new Promise((done) => { indexedDB.open("cuecast").onsuccess = ({ target: { result } }) => {
            result.transaction("outcomes").objectStore("outcomes").count().onsuccess = (event) => { done(event.target.result === 2); result.close(); }; }; })""")
        page.close()
        # Pages of which nothing is known for a minute are gone.
        other.evaluate("const now = Date.now.bind(Date); Date.now = () => now() + 120_000;")
        self.gateway.start()
        self.end("b")
        self.listen(other)
        self.until_counted("b", "second", played=1, inferred=1)
        self.assertEqual(self.counts("b", "first", "second"), [{"delivered": 1, "played": 1}] * 2)
        other.until("nothing is left on the disk", """new Promise((done) => { indexedDB.open("cuecast").onsuccess = ({ target: { result } }) => {
            result.transaction("outcomes").objectStore("outcomes").count().onsuccess = (event) => { done(event.target.result === 0); result.close(); }; }; })""")

    def test_what_the_database_refuses_is_said_and_outlives_a_reload_all_the_same(self):
        page = self.page()
        page.call("Page.addScriptToEvaluateOnNewDocument", source="""IDBFactory.prototype.open = () => { throw new Error("no room"); };""")
        self.listening(page)
        self.publish_and_punch(page, "b", [self.site.ad("first", 600.0)])
        page.until("it plays", "window.listener.current !== null && window.listener.media.currentTime > 0")
        page.until("it says so", "[...document.querySelectorAll('#log li')].some((line) => /not kept.*no room/.test(line.textContent))")
        self.end_unheard(page)
        self.assertEqual(self.counts("b", "first"), [{"delivered": 1, "played": 1}])
        self.assertEqual([each for each in page.complaints if "exception" in each], [])

    def freeze(self, page, state):
        page.call("Page.setWebLifecycleState", state=state)

    def test_a_tab_that_is_frozen_is_the_same_listener_when_it_wakes(self):
        page = self.listening()
        session = page.evaluate(SESSION)
        self.publish_and_punch(page, "b", [self.site.ad("first", 600.0), self.site.ad("second")])
        page.until("it plays", "window.listener.media.currentTime > 0.5")
        self.freeze(page, "frozen")
        # What was heard is told before, and a frozen tab keeps no other from playing.
        self.until_counted("b", "first", played=1, inferred=1)
        other = self.listen(self.sibling(page))
        other.until("it plays", "window.listener.plays")
        # What happens meanwhile is told when it wakes.
        self.end("b")
        self.gateway.stop(signal.SIGKILL)
        self.gateway.start()
        self.freeze(page, "active")
        page.until("it listens", "window.listener.state === 'listening'")
        self.assertEqual(page.evaluate(SESSION), session)
        other.click("#toggle")
        page.until("it plays again", "window.listener.plays")
        self.publish_and_punch(page, "c", [self.site.ad("third")])
        page.until("it is recorded", "window.listener.book.closed.has('c') && window.listener.unacknowledged === 0")
        self.assertEqual(page.evaluate(SESSION), session)
        self.assertEqual(self.counts("c", "third"), [{"delivered": 1, "played": 1}])

    def test_a_network_that_is_gone_and_comes_back(self):
        page = self.listening()
        session = page.evaluate(SESSION)
        self.publish("b", [self.site.ad("first")])
        page.until("it has the ads", "window.listener.book.breaks.get('b')?.batch")
        page.evaluate("window.waited = []; window.listener.addEventListener('state', ({ detail }) => window.waited.push(detail.reason))")
        page.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        page.until("it says so", "window.waited.includes('The browser is offline.')")
        self.cancel("b")
        self.publish("c", [self.site.ad("second")])
        page.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        page.until("it listens again", "window.listener.state === 'listening' && window.listener.book.breaks.get('c')?.batch")
        # It knows what it missed, and goes on with its session.
        page.until("it has told it", "window.listener.unacknowledged === 0")
        self.assertEqual(self.counts("b", "first"), [{"delivered": 1, "ignored": 1}])
        self.assertEqual(page.evaluate(f"[{SESSION}, window.waited.at(-1)]"), [session, "recovered"])

    def test_a_reload_is_the_same_session_however_long_the_old_page_takes_to_let_go(self):
        page = self.listening()
        session = page.evaluate(SESSION)
        # A page that does not answer any more has the session for a while still.
        other = self.sibling(page)
        other.evaluate(f"""new Promise((has) => navigator.locks.request("cuecast:{session}", {{ steal: true }},
            () => new Promise((go) => {{ window.letGo = go; has(); }})))""")
        page.go(self.address)
        page.click("#toggle")
        page.until("it waits", "window.listener !== null")
        page.evaluate("new Promise((done) => setTimeout(done, 2_000))")
        self.assertEqual(page.evaluate(SESSION), None)
        other.evaluate("window.letGo()")
        page.until("it listens", "window.listener.state === 'listening'")
        self.assertEqual(page.evaluate(SESSION), session)


class WebFront(FrontTest):
    """Pages by https and wss through the shipped configurations of fronts, by the addresses that the library finds itself."""

    def check_behind_a_proxy(self, name):
        """A page whose browser reaches the internet by a proxy alone listens by WebSocket, and its break is counted."""
        office = self.held()
        log = os.path.join(self.folder, "office.log")
        # As it is installed, it lets browsers connect to the ports of TLS alone; here a test has chosen the port.
        path = self.write("office.conf", f"Listen 127.0.0.1\nPort {port(office)}\nTimeout 86400\nLogFile \"{log}\"\nLogLevel Connect\nMaxClients 100\n")
        self.run_server(program("tinyproxy"), "-d", "-c", path, address=office)
        site = Site()
        self.addCleanup(site.close)
        # All of this machine's addresses are asked by the proxy, but the page's own.
        browser = Browser("--ignore-certificate-errors", f"--proxy-server=http://{office}",
                          f"--proxy-bypass-list=<-loopback>;{site.origin.removeprefix('http://')}")
        self.addCleanup(browser.close)
        web_socket = self.held()
        self.gateway = self.start("http.hosts=127.0.0.1", f"listeners.webSocket={web_socket}", "listeners.webSocketPath=/listen",
                                  f"listeners.webSocketOrigins={site.origin}", f"http.listenerOrigins={site.origin}")
        address = self.run_front(name, self.gateway.addresses["http"], web_socket)
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(broadcaster.close)
        page = browser.page()
        page.go(f"{site.origin}/examples/plain/index.html?gateway=https://{address}&webSocket=wss://{address}/listen&stream=s")
        page.click("#toggle")
        page.until("it listens by WebSocket", "window.listener?.state === 'listening' && window.listener.transport === 'webSocket'")
        reply = broadcaster.publish("s", "b", [site.ad("first")], duration_ms=3_600_000)
        self.assertEqual(reply.status, OK, reply)
        page.until("it has the ads", "window.listener.book.breaks.get('b')?.batch")
        self.assertEqual(broadcaster.ask(punch=broadcast_pb2.Punch(stream="s", break_id="b")).status, OK)
        until("it is counted", lambda: self.gateway.report("s", "b")["first"]["played"] == 1)
        self.assertIn(f"CONNECT {address} HTTP/1.1", self.read(log))

    def test_a_page_behind_a_proxy_listens_through_haproxy(self):
        self.check_behind_a_proxy("haproxy")

    def test_a_page_behind_a_proxy_listens_through_nginx(self):
        self.check_behind_a_proxy("nginx")

    def test_pages_behind_haproxy_miss_nothing_when_the_gateway_restarts(self):
        browser, site = Browser("--ignore-certificate-errors"), Site()
        self.addCleanup(site.close)
        self.addCleanup(browser.close)
        web_socket = self.held()
        self.gateway = self.start("http.hosts=127.0.0.1", f"listeners.webSocket={web_socket}",
                                  "listeners.webSocketPath=/listen", f"listeners.webSocketOrigins={site.origin}",
                                  f"http.listenerOrigins={site.origin}")
        address = self.run_front("haproxy", self.gateway.addresses["http"], web_socket)
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(lambda: broadcaster.close())
        page, listeners = browser.page(), 200
        page.go(f"{site.origin}/examples/plain/player.css")
        page.evaluate(f"""import("{site.origin}/index.js").then(({{ CuecastListener }}) => {{
            window.heard = [];
            window.listeners = Array.from({{ length: {listeners} }}, (_, number) => {{
                const listener = new CuecastListener({{ gateway: "https://{address}", stream: "s", storage: null, tabs: "all" }});
                window.heard.push([]);
                listener.addEventListener("notice", ({{ detail: {{ notice }} }}) => window.heard[number].push(notice.position));
                listener.start();
                return listener;
            }});
        }})""")
        # On a busy machine some wait for WebSocket for longer than the library does, and use server-sent events: they try again at once.
        page.until("all listen", """window.listeners.every((each) => {
            if (each.state === 'listening' && each.transport === 'events') each.connection.comeBack();
            return each.state === 'listening' && each.transport === 'webSocket'; })""")

        def publish(name):
            reply = broadcaster.publish("s", name, [site.ad(name, skip_offset_ms=0)], duration_ms=3_600_000)
            self.assertEqual(reply.status, OK, reply)

        publish("one")
        page.until("all have the ads", "window.listeners.every((each) => each.book.breaks.get('one')?.batch)")
        self.gateway.stop(signal.SIGKILL)
        page.until("all have noticed", "window.listeners.every((each) => each.state !== 'listening')")
        self.gateway.start()
        broadcaster.close()
        broadcaster = Broadcaster(self.gateway)
        publish("two")
        page.until("all know of it", "window.listeners.every((each) => each.state === 'listening' && each.book.breaks.get('two')?.batch)")
        # A listener that had to join anew was told what it missed: each notice once, in order.
        heard = page.evaluate("window.heard")
        sequences = [[int(position.split(":")[1]) for position in each] for each in heard]
        self.assertEqual(sequences, [list(range(1, max(each) + 1)) for each in sequences])
        self.assertEqual({len(each) for each in sequences}, {2})
        # Those that came when HAProxy knew only one way to the gateway again use server-sent events, and leave them within two minutes.
        page.until("all listen by WebSocket",
                   "window.listeners.every((each) => each.state === 'listening' && each.transport === 'webSocket')")
        for name in ("one", "two"):
            reply = broadcaster.ask(cancel=broadcast_pb2.Cancel(stream="s", break_id=name))
            self.assertEqual(reply.status, OK, reply)
        page.until("all have told it", "window.listeners.every((each) => each.book.closed.size === 2 && each.unacknowledged === 0)")
        for name in ("one", "two"):
            counts = self.gateway.report("s", name)[name]
            self.assertEqual((counts["delivered"], counts["ignored"], counts["unknown"]), (listeners, listeners, 0))
        page.evaluate("Promise.all(window.listeners.map((each) => each.stop()))")
        self.assertEqual(page.evaluate("[...new Set(window.listeners.map((each) => each.state))].join()"), "stopped")


if __name__ == "__main__":
    unittest.main()
