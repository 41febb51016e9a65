# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Many listeners of the JavaScript library in tabs of headless Chromium, by https and wss through HAProxy, with all that happens to them:
a break, a gateway that is killed in the middle of one, a network that is gone, tabs that are frozen and woken.

    scripts/end-to-end.sh WebCrowd                                 20 listeners in 4 tabs, as `make test` has it
    CUECAST_WEB_LISTENERS=200 scripts/end-to-end.sh WebCrowd       200 listeners in 10 tabs (`make web-crowd`)

What the tabs say of themselves is compared with the gateway's reports, outcome by outcome.
"""
import collections, json, os, re, signal, subprocess, sys, time, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Shared"))
from chromium import Browser
from harness import BINARY, PATIENCE, Broadcaster, broadcast_pb2, until
from test_fronts import FrontTest
from test_tls import port
from web_page import HOUR_MS, OK, Site

LISTENERS = int(os.environ.get("CUECAST_WEB_LISTENERS", "20"))
TABS = 4 if LISTENERS < 100 else 10
#: How long the network is gone, in seconds. That is too short for a listener to notice (2.5 times the interval of repeated positions): TCP
#: sends again what was lost. The whole form cuts it once more, until each has noticed.
CUT_SECONDS = 20
STREAM = "s"
KINDS = ("played", "ignored", "failed")

#: Listeners that write down everything: each has a session of its own, as if it had a tab of its own.
CROWD = """import("%(site)s/index.js").then(({ CuecastListener }) => {
    window.crowd = Array.from({ length: %(count)d }, () => {
        const listener = new CuecastListener({ gateway: "%(gateway)s", stream: "%(stream)s", storage: null, tabs: "all" });
        const one = { listener, told: [], fetched: [], outcomes: [], problems: [] };
        listener.addEventListener("notice", ({ detail: { notice } }) => one.told.push([notice.position, notice.breakId]));
        listener.addEventListener("break", ({ detail: { id } }) => one.fetched.push(id));
        listener.addEventListener("outcome", ({ detail: { breakId, outcome } }) => one.outcomes.push([breakId, outcome.advertisementId, outcome.kind]));
        listener.addEventListener("problem", ({ detail: { sentence } }) => one.problems.push(sentence));
        listener.start();
        return one;
    });
})"""


class Network:
    """The way from the browser to HAProxy, which can be cut: every packet is dropped, or, where the system permits no such rule, HAProxy
    is stopped, which answers nothing either."""

    def __init__(self, number, process):
        self.number, self.process = number, process
        self.table = f"cuecast_test_{os.getpid()}"
        self.drops = self._nft(f"add table inet {self.table}")

    def _nft(self, commands):
        try:
            return subprocess.run(["nft", commands], capture_output=True).returncode == 0
        except FileNotFoundError:
            return False

    @property
    def way(self):
        return "packets are dropped" if self.drops else "HAProxy is stopped"

    def cut(self):
        if not self.drops:
            return self.process.send_signal(signal.SIGSTOP)
        done = self._nft(f"add chain inet {self.table} packets {{ type filter hook input priority 0; }}; "
                         f"add rule inet {self.table} packets tcp dport {self.number} drop; add rule inet {self.table} packets tcp sport {self.number} drop")
        assert done, "the network was not cut"

    def heal(self):
        if not self.drops:
            return self.process.send_signal(signal.SIGCONT)
        assert self._nft(f"flush table inet {self.table}"), "the network is still cut"

    def close(self):
        if self.drops:
            self._nft(f"delete table inet {self.table}")
        else:
            self.process.send_signal(signal.SIGCONT)


class WebCrowd(FrontTest):
    def setUp(self):
        super().setUp()
        # No ad is given up because two cores play two hundred of them.
        self.browser, self.site = Browser("--ignore-certificate-errors"), Site(overtime_seconds=PATIENCE)
        self.addCleanup(self.site.close)
        self.addCleanup(self.browser.close)
        web_socket = self.held()
        self.gateway = self.start("http.hosts=127.0.0.1", f"listeners.webSocket={web_socket}", "listeners.webSocketPath=/listen",
                                  f"listeners.webSocketOrigins={self.site.origin}", f"http.listenerOrigins={self.site.origin}")
        self.address = self.run_front("haproxy", self.gateway.addresses["http"], web_socket, **{"%HM %ST": "%HV %HP %HM %ST"})
        self.network = Network(port(self.address), self.front)
        self.addCleanup(self.network.close)
        #: The breaks, in the order in which they came.
        self.names = ["plain", "killed", "restarted", "frozen", "asleep", "woken"]
        self.broadcaster = None
        self.find_gateway()
        self.addCleanup(lambda: self.broadcaster.close())
        self.steps = time.monotonic()

    def find_gateway(self):
        """A gateway that was killed has to be connected to anew."""
        if self.broadcaster:
            self.broadcaster.close()
        self.broadcaster = Broadcaster(self.gateway)

    def step(self, text):
        print(f"  {time.monotonic() - self.steps:5.1f} s  {text}", flush=True)

    def ask(self, **kind):
        reply = self.broadcaster.ask(**kind)
        self.assertEqual(reply.status, OK, reply)

    # What the broadcaster does. Each break may last an hour, so that no machine is too slow for it.

    def cue(self, name, seconds=1.0):
        reply = self.broadcaster.publish(STREAM, name, [self.site.ad(f"{name}-1", seconds), self.site.ad(f"{name}-2", seconds)],
                                         duration_ms=HOUR_MS)
        self.assertEqual(reply.status, OK, reply)

    def punch(self, name):
        self.ask(punch=broadcast_pb2.Punch(stream=STREAM, break_id=name))

    def end(self, name):
        self.gateway.until_begun(STREAM, name)
        self.ask(end=broadcast_pb2.End(stream=STREAM, break_id=name))

    # What the listeners do.

    def all(self, what, condition, pages=None):
        """Waits until something is true of every listener of the pages."""
        for page in pages or self.pages:
            page.until(what, f"window.crowd.every(({{ listener, told, outcomes }}) => {condition})")

    def until_fetched(self, name, pages=None):
        self.all(f"it has the ads of {name}", f"listener.state === 'listening' && listener.book.breaks.get('{name}')?.batch", pages)

    def until_told(self, name, pages=None):
        self.all(f"it has told what became of {name}",
                 f"outcomes.filter(([each]) => each === '{name}').length >= 2 && listener.unacknowledged === 0", pages)

    def play(self, name, pages=None):
        """The break starts, and all its ads play."""
        self.punch(name)
        self.until_told(name, pages)
        self.end(name)

    def open_tabs(self):
        share, self.pages = LISTENERS // TABS, []
        for number in range(TABS):
            page = self.browser.page()
            self.pages.append(page)
            page.go(f"{self.site.origin}/examples/plain/player.css")
            if number % 2:
                # Where there is a connection by HTTP/2 already, the browser uses it for WebSocket (RFC 8441).
                page.evaluate(f"fetch('https://{self.address}/v1/time', {{ mode: 'no-cors', credentials: 'include' }}).then(() => true)")
            page.evaluate(CROWD % {"site": self.site.origin, "count": share, "gateway": f"https://{self.address}", "stream": STREAM})

    def use_web_socket(self):
        # On a busy machine some wait for WebSocket for longer than the library does, and use server-sent events: they try again at once.
        self.all("it listens by WebSocket", """(() => {
            if (listener.state === 'listening' && listener.transport === 'events') listener.connection.comeBack();
            return listener.state === 'listening' && listener.transport === 'webSocket'; })()""")

    def cut_network(self, kind, until_noticed=False):
        """Meanwhile a break comes, and one is withdrawn that all have the ads of."""
        names = [f"{kind}-{each}" for each in ("before", "withdrawn", "within")]
        before, withdrawn, within = names
        for name in (before, withdrawn):
            self.cue(name)
            self.until_fetched(name)
        self.network.cut()
        began = time.monotonic()
        self.cue(within)
        self.ask(cancel=broadcast_pb2.Cancel(stream=STREAM, break_id=withdrawn))
        time.sleep(CUT_SECONDS)
        if until_noticed:
            self.all("it has noticed", "listener.state !== 'listening'")
        seconds = time.monotonic() - began
        self.all("it knows nothing of it", f"!listener.book.breaks.has('{within}')")
        self.network.heal()
        self.until_fetched(within)
        self.until_told(withdrawn)
        self.play(before)
        self.play(within)
        self.names += names
        self.step(f"the network was gone for {seconds:.0f} s ({self.network.way}); all have played what came meanwhile, and not what was withdrawn")

    def test_nothing_is_missed_and_nothing_counted_twice_whatever_happens(self):
        self.open_tabs()
        self.use_web_socket()
        self.step(f"{LISTENERS} listeners in {TABS} tabs listen by WebSocket through HAProxy")
        until("the gateway knows all", lambda: self.gateway.metric("cuecast_listeners") == LISTENERS)

        self.cue("plain")
        self.until_fetched("plain")
        self.play("plain")
        self.step("all have played a break")

        self.cue("killed")
        self.until_fetched("killed")
        self.gateway.stop(signal.SIGKILL)
        self.all("it has noticed", "listener.state !== 'listening'")
        self.gateway.start()
        self.find_gateway()
        self.cue("restarted")
        self.until_fetched("restarted")
        self.play("killed")
        self.play("restarted")
        self.step("the gateway was killed and started while all had the ads of a break; all have played it, and one that came when none was there")

        self.cut_network("short")
        if LISTENERS >= 100:
            self.cut_network("long", until_noticed=True)

        # Ads of half a minute: tabs are frozen while they play them.
        self.cue("frozen", 30.0)
        self.until_fetched("frozen")
        self.punch("frozen")
        self.all("it plays", "listener.current?.breakId === 'frozen' && listener.book.player.heardMs > 200")
        asleep, awake = self.pages[::2], self.pages[1::2]
        for page in asleep:
            page.call("Page.setWebLifecycleState", state="frozen")
        self.end("frozen")
        self.until_told("frozen", awake)
        self.cue("asleep")
        self.until_fetched("asleep", awake)
        self.play("asleep", awake)
        self.cue("woken")
        self.until_fetched("woken", awake)
        for page in asleep:
            page.call("Page.setWebLifecycleState", state="active")
        self.until_fetched("woken")
        self.play("woken")
        self.step("half of the tabs were frozen while an ad played, and woken")

        self.use_web_socket()
        self.check_listeners(asleep)
        self.check_books()
        self.check_front()
        for page in self.pages:
            page.evaluate("Promise.all(window.crowd.map(({ listener }) => listener.stop()))")
        until("all have left", lambda: self.gateway.metric("cuecast_listeners") == 0)
        self.assertEqual([each for page in self.pages for each in page.complaints if each.startswith("exception")], [])
        self.gateway.stop()
        done = subprocess.run([BINARY, "verify", "--json", "--data-dir", self.gateway.folder + "/data"], capture_output=True, text=True)
        self.assertEqual((done.returncode, json.loads(done.stdout)["right"]), (0, True), done.stdout + done.stderr)
        self.step("the books are right")

    def check_listeners(self, asleep):
        """Each heard each break, each notice once and in order, and told of each ad once."""
        sessions, self.delivered, self.said = set(), collections.Counter(), collections.Counter()
        for page in self.pages:
            for session, told, fetched, outcomes, problems in page.evaluate(
                    "window.crowd.map((each) => [each.listener.session, each.told, each.fetched, each.outcomes, each.problems])"):
                sessions.add(session)
                self.assertEqual([each for each in problems if "listens elsewhere" in each or "dropped" in each or "not confirm" in each], [])
                known = self.names if page not in asleep else [each for each in self.names if each != "asleep"]
                self.assertEqual(sorted({name for _, name in told}), sorted(known))
                self.assertEqual(sorted(set(fetched)), sorted(known))
                self.delivered.update(set(fetched))
                if page not in asleep:
                    # One that slept is told anew of what is open.
                    sequences = [int(position.split(":")[1]) for position, _ in told]
                    self.assertEqual(sequences, list(range(1, max(sequences) + 1)))
                kinds = collections.Counter((name, ad) for name, ad, _ in outcomes)
                self.assertEqual(set(kinds.values()), {1}, "an ad has two outcomes")
                self.said.update((name, ad, kind) for name, ad, kind in outcomes)
        self.assertEqual(len(sessions), LISTENERS)
        for name in self.names:
            share = LISTENERS // 2 if name == "asleep" else LISTENERS
            kind = "ignored" if name.endswith("withdrawn") else "played"
            if name != "frozen":
                self.assertEqual([self.said[name, f"{name}-{number}", kind] for number in (1, 2)], [share] * 2, name)
        self.assertEqual([sum(self.said["frozen", f"frozen-{number}", kind] for kind in KINDS) for number in (1, 2)], [LISTENERS] * 2)

    def check_books(self):
        """The reports have what the listeners say, and nothing else."""
        for name in self.names:
            report = self.gateway.report(STREAM, name)
            self.assertEqual(sorted(report), [f"{name}-1", f"{name}-2"])
            for ad, counts in report.items():
                said = {kind: self.said[name, ad, kind] for kind in KINDS}
                self.assertEqual({kind: counts[kind] for kind in said}, said, (name, ad))
                self.assertEqual((counts["delivered"], counts["unknown"]), (self.delivered[name], 0), (name, ad))

    def check_front(self):
        """Some came by HTTP/2, and some by HTTP/1.1: HAProxy logs a request when its connection has ended, as each has by now."""
        versions = collections.Counter(re.findall(r"(HTTP/\S+) \S*/listen GET 101 ", self.read(self.log)))
        self.step(f"HAProxy had these requests for WebSocket: {dict(versions)}")
        self.assertEqual(set(versions), {"HTTP/1.1", "HTTP/2.0"})


if __name__ == "__main__":
    unittest.main()
