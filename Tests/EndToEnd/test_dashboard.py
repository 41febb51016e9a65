# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The dashboard in headless Chromium against a real gateway with real listeners, and `make demo-live`.

    scripts/end-to-end.sh Dashboard DemoLive
"""
import datetime, json, os, re, signal, subprocess, sys, tempfile, unittest, wave, urllib.error, urllib.parse, urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Shared"))
from chromium import Browser
from harness import (BINARY, PATIENCE, ROOT, Broadcaster, Gateway, Listener, LoggedGateway, ad, advertisement_pb2, broadcast_pb2,
                     listener_pb2, slower_until, status_pb2, until)
from test_load_tool import LOAD_BINARY

OK = status_pb2.STATUS_CODE_OK
HOUR_MS = 3_600_000
#: What a text would do if any of it became markup.
MARKUP = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>&amp;"\''

#: The contrast of every text that is shown, by WCAG 2.1: 4.5 is what AA asks of small text.
CONTRAST = r"""(() => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const color = (text) => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = text;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (top, below) => [0, 1, 2].map((each) => top[each] * top[3] + below[each] * (1 - top[3])).concat(1);
    const light = ([r, g, b]) => [r, g, b].map((each) => each / 255)
        .map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
        .reduce((sum, each, place) => sum + each * [0.2126, 0.7152, 0.0722][place], 0);
    const ground = (node) => {
        const layers = [];
        for (let each = node; each; each = each.parentElement) {
            layers.push(color(getComputedStyle(each).backgroundColor));
            if (layers.at(-1)[3] === 1) break;
        }
        return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
    };
    const poor = [];
    let count = 0;
    const modal = document.querySelector("dialog[open]");
    const walker = document.createTreeWalker(modal ?? document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || !node.checkVisibility() || node.closest(".hidden-text, .skip, script, noscript")) continue;
        // What cannot be used is let off by WCAG too.
        if (node.closest(":disabled, [aria-disabled=true]")) continue;
        const style = getComputedStyle(node);
        const background = ground(node);
        const text = over(color(node instanceof SVGElement ? style.fill : style.color), background);
        const [one, other] = [light(text), light(background)].sort((a, b) => b - a);
        count += 1;
        const ratio = (one + 0.05) / (other + 0.05);
        if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${node.tagName}.${node.getAttribute("class")} ${walker.currentNode.textContent.trim()}`);
    }
    return { count, poor };
})()"""


class DashboardPage(unittest.TestCase):
    """A gateway and its page in a browser, for the classes that look at it."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def gateway(self, *arguments, make=Gateway):
        self.server = make(*arguments)
        self.addCleanup(self.server.close)
        self.origin = f"http://{self.server.addresses['http']}/"
        self.broadcaster = Broadcaster(self.server)
        self.addCleanup(self.broadcaster.close)
        return self.server

    def dashboard(self, stream="", state="live", **screen):
        """The page, once it hears the gateway."""
        page = self.browser.page(**screen)
        page.go(self.origin + (f"#{stream}" if stream else ""))
        page.until(f"the link is {state}", f"window.cuecast?.client.link.state === '{state}'")
        self.until_drawn(page)
        return page

    def until_drawn(self, page):
        """Waits until what the page knows is on the screen: it is drawn with the next frame."""
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def listener(self, stream):
        listener = Listener(self.server, stream)
        self.addCleanup(listener.close)
        listener.join()
        return listener

    def publish(self, stream, name, ads, **fields):
        """A break of an hour; without a start it is cued, so that no machine is too slow for it."""
        reply = self.broadcaster.publish(stream, name, ads, duration_ms=HOUR_MS, **fields)
        self.assertEqual(reply.status, OK, reply.message)

    def punch(self, stream, name):
        reply = self.broadcaster.ask(punch=broadcast_pb2.Punch(stream=stream, break_id=name, start=broadcast_pb2.Start(now=True)))
        self.assertEqual(reply.status, OK, reply.message)

    def token(self):
        with open(os.path.join(self.server.folder, "data/http-token")) as file:
            return file.read().strip()

    def give_token(self, page, token=None):
        page.click("#token")
        page.until("the dialog asks for a token", "document.activeElement?.id === 'field-token'")
        page.type(token or self.token())
        page.press("Enter")
        page.until("the token is used", "!document.querySelector('#dialog').open && document.querySelector('#token').textContent.startsWith('Token of')")
        page.until("it is live", "window.cuecast.client.link.state === 'live'")

    def funnel(self, page):
        """The numbers of the funnel as the page shows them."""
        return page.evaluate("""Object.fromEntries([...document.querySelectorAll("#funnel-rows tr")].map((row) =>
            [row.className.slice(4), Number(row.querySelector("td.number").textContent.replaceAll(",", ""))]))""")

    def until_there(self, page, what, selector):
        page.until(what, f"document.querySelector({json.dumps(selector)}) !== null")

    def until_funnel(self, page, **numbers):
        for name, number in numbers.items():
            page.until(f"{name} is {number}",
                       f"document.querySelector('.row-{name} td.number').textContent.replaceAll(',', '') === '{number}'")

    def stays_home(self, page):
        """No request left the origin, and nothing was complained about."""
        strangers = [each for each in page.requests if not each.startswith((self.origin, "data:"))]
        self.assertEqual(strangers, [])
        self.assertEqual(page.complaints, [])

    def end(self, name):
        self.assertEqual(self.broadcaster.ask(end=broadcast_pb2.End(stream="radio1", break_id=name)).status, OK)

    def look(self, name):
        return self.server.get(f"/v1/streams/radio1/breaks/{name}")

    def steering(self, *arguments, listeners=1):
        """The page of radio1, with a token."""
        self.gateway(*arguments)
        for _ in range(listeners):
            self.listener("radio1")
        page = self.dashboard("radio1")
        self.give_token(page)
        return page

    def open(self, page, word, name, reach="1 listener"):
        """Opens the dialog of a change, as soon as its button is there."""
        button = f"button[aria-label='{word}: {name}']"
        self.until_there(page, f"{word} is offered", button)
        page.click(button)
        page.until("it says whom it reaches", f"document.querySelector('#dialog .reach')?.textContent === 'It reaches {reach} now.'")

    def confirm(self, page):
        page.click("#dialog button[type=submit]")
        page.until("it is done", "!document.querySelector('#dialog').open")

    def facts(self, page):
        """What the dialog shows of the break, by the names that stand before."""
        return page.evaluate("""Object.fromEntries([...document.querySelectorAll("#dialog dt")].map((each) =>
            [each.textContent, each.nextSibling.textContent]))""")

    def fill(self, page, **values):
        for name, value in values.items():
            page.evaluate(f"document.querySelector('#field-{name}').value = {json.dumps(value)}")

    def only_refusals(self, page, *statuses):
        """Nothing was complained about but these refusals, of which browsers tell."""
        for each in page.complaints:
            self.assertRegex(each, f"status of ({'|'.join(str(each) for each in statuses)})")


class Dashboard(DashboardPage):
    def test_it_loads_and_says_that_there_is_nothing_yet(self):
        self.gateway()
        page = self.dashboard()
        page.until("it says that there is no stream", "document.querySelector('#streams-empty').checkVisibility()")
        page.until("there are figures", "document.querySelector('#tile-listeners .value').textContent === '0'")
        self.assertIn("No stream yet", page.text("#streams"))
        page.until("it says that there are no alarms", "document.querySelector('#health').innerText.includes('no alarms')")
        self.assertEqual(page.text("#link"), "Live")
        self.stays_home(page)

    def test_its_policy_lets_in_nothing_but_its_own(self):
        self.gateway()
        with urllib.request.urlopen(self.origin, timeout=PATIENCE) as answer:
            policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";") if part.strip())
            text = answer.read().decode()
        self.assertEqual((policy["script-src"], policy["style-src"], policy["connect-src"]), ("'self'",) * 3)
        self.assertEqual(policy["default-src"], "'none'")
        for each in re.findall(r"""(?:src|href)="([^"]*)""", text):
            if not each.startswith(("#", "data:")):
                self.assertNotRegex(each, "^(https?:)?//", "a foreign address")
                urllib.request.urlopen(urllib.parse.urljoin(self.origin, each), timeout=PATIENCE).close()
        self.assertNotRegex(text, r"<style|\sstyle=|\son\w+=|<script(?![^>]* src=)")

    def test_it_moves_while_a_break_runs_and_its_numbers_are_those_of_the_report(self):
        self.gateway()
        listeners = [self.listener("radio1") for _ in range(4)]
        page = self.dashboard("radio1")
        page.until("the stream has its listeners", "document.querySelector('#stream-rows .chosen td.number')?.textContent === '4'")
        self.publish("radio1", "noon", [ad("first"), ad("second")])
        page.until("the break is cued", "document.querySelector('#breaks .break')?.dataset.state === 'cued'")
        deliveries = [listener.batch("noon").batch.delivery for listener in listeners]
        self.until_funnel(page, notified=4, asked=4, delivered=8, played=0, unknown=8)
        self.punch("radio1", "noon")
        page.until("the break is on air", "document.querySelector('#breaks .break').dataset.state === 'live'")
        # The page estimates the gateway's clock, to half the time that a request takes: on a busy machine seconds.
        page.until("it counts down", r"/^(1:00:\d\d|\d\d:\d\d)$/.test(document.querySelector('#breaks .countdown').innerText)")
        page.until("the list says so", "document.querySelector('#stream-rows .chosen .badge').textContent === 'On air'")
        page.until("no bar is there", "document.querySelector('.bar-played').style.transform === 'scaleX(0)'")
        drawn = "document.querySelector('.area-played').getAttribute('d') ?? ''"
        before = page.evaluate(drawn)
        outcomes = [
            {"first": "played", "second": "played"}, {"first": "played", "second": listener_pb2.IGNORE_REASON_USER},
            {"first": "failed", "second": "played"}, {"first": "played"}]
        for listener, delivery, outcome in zip(listeners, deliveries, outcomes):
            self.assertEqual(listener.acknowledge("noon", delivery, outcome).status, OK)
        self.until_funnel(page, delivered=8, played=5, ignored=1, failed=1, unknown=1)
        page.until("the bar is as long", "document.querySelector('.bar-played').style.transform === 'scaleX(0.625)'")
        page.until("the plot has moved", f"({drawn}) !== {json.dumps(before)}")
        page.until("the plot says the same", "document.querySelector('#course svg').getAttribute('aria-label').includes('played 5')")
        # The books beside it, and what the command says.
        row = "[...document.querySelectorAll('#books tbody tr:first-child td.number')].map((cell) => cell.textContent).join()"
        page.until("the books say the same", f"({row}) === '8,5,1,1,1'")
        report = json.loads(self.server.run("report", "--stream", "radio1", "--break", "noon", "--format", "json"))
        kinds = ("delivered", "played", "ignored", "failed", "unknown")
        self.assertEqual([report["breaks"][0]["total"][kind] for kind in kinds], [8, 5, 1, 1, 1])
        funnel = self.funnel(page)
        self.assertEqual([funnel[kind] for kind in kinds], [8, 5, 1, 1, 1])
        page.click("#books button.name")
        cells = "[...document.querySelectorAll('#books tr.ad td.number')].map((cell) => cell.textContent).join()"
        expected = ",".join(str(each["counts"][kind]) for each in report["breaks"][0]["ads"] for kind in kinds)
        page.until("so do the books of each ad", f"({cells}) === '{expected}'")
        self.end("noon")
        page.until("the break is over", "document.querySelectorAll('#breaks .break').length === 0")
        page.click("#tab-audit")
        page.until("the audit tells", "document.querySelectorAll('#audit tbody tr').length === 3")
        self.assertEqual(page.evaluate("[...document.querySelectorAll('#audit tbody tr td:nth-child(4)')].map((cell) => cell.textContent).join()"),
                         "end,punch,publish")
        self.stays_home(page)

    def test_only_the_page_of_streams_in_view_is_asked_for(self):
        self.gateway()
        for number in range(30):
            self.publish(f"radio-{number:02}", "b", [ad("a")])
        page = self.dashboard()
        names = "[...document.querySelectorAll('#stream-rows tr:not([hidden]) button')].map((name) => name.textContent)"
        page.until("a page is there", f"({names}).length === 12 && ({names})[0] === 'radio-00'")
        page.until("it says how many there are", "document.querySelector('#streams-place').textContent === '1 – 12 of 30'")
        page.click("#streams-after")
        page.until("the next page is there", f"({names})[0] === 'radio-12'")
        page.click("#streams-after")
        page.until("the last page is there", f"({names}).length === 6 && ({names})[0] === 'radio-24'")
        page.until("there is no further one", "document.querySelector('#streams-after').getAttribute('aria-disabled') === 'true'")
        page.click("#streams-before")
        page.until("the page before is there", f"({names})[0] === 'radio-12'")
        page.focus("#search")
        page.type("dio-2")
        page.until("only those are there", f"({names}).length === 10 && ({names})[0] === 'radio-20'")
        page.type("7")
        page.until("only one is there", f"({names}).join() === 'radio-27'")
        page.click("#stream-rows button")
        page.until("it is shown", "document.querySelector('#stream-title').textContent === 'radio-27'")
        page.type("x")
        asked = [urllib.parse.parse_qs(urllib.parse.urlsplit(each).query) for each in page.requests]
        for query in asked:
            self.assertLessEqual(len(query.get("streams", [""])[0].split(",")), 13)
            self.assertLessEqual(int(query.get("limit", ["1"])[0]), 100)
        self.stays_home(page)

    def test_no_text_becomes_markup(self):
        self.gateway()
        spot = advertisement_pb2.Advertisement(id=MARKUP, title=MARKUP, duration_ms=1_000, media=[
            advertisement_pb2.MediaFile(url="https://cdn.example.com/a.mp3", type="audio/mpeg")])
        self.publish("a.b_c-D", "b", [spot])
        # A refusal, whose sentence repeats what was sent, and a subject of a token.
        keys = os.path.join(self.server.folder, "data/http-keys.json")
        token = self.server.run("token", "make", "--keys", keys, "--subject", MARKUP, "--scope", "read", "--scope", "publish:*",
                                "--expires-in", "1h").split()[-1]
        request = urllib.request.Request(self.origin + "v1/streams/a.b_c-D/breaks/b/end", b"{}", {
            "Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=PATIENCE)
        refused.exception.close()
        page = self.dashboard("a.b_c-D")
        self.give_token(page, token)
        page.until("the title is shown as it is", f"document.querySelector('#breaks .title')?.textContent === {json.dumps(MARKUP)}")
        self.until_there(page, "the books are there", "#books button.name")
        page.click("#books button.name")
        page.until("the ad is shown as it is", f"document.querySelector('#books tr.ad th')?.textContent === {json.dumps(MARKUP + ' ' + MARKUP)}")
        self.assertEqual(page.text("#token"), f"Token of {MARKUP}")
        page.click("#tab-audit")
        page.until("who asked is shown as it is", f"[...document.querySelectorAll('#audit td')].some((cell) => cell.textContent === {json.dumps(MARKUP)})")
        page.click("#breaks button.danger")
        page.until("the dialog shows it as it is", f"document.querySelector('#dialog').textContent.includes({json.dumps(MARKUP)})")
        page.press("Escape")
        page.focus("#search")
        page.type(MARKUP)
        page.until("nothing is found", "document.querySelector('#streams-empty').checkVisibility() || !document.querySelector('#stream-table').checkVisibility()")
        self.assertFalse(page.evaluate("window.hacked || document.querySelector('img, main script, dialog script')"))
        strangers = [each for each in page.requests if not each.startswith((self.origin, "data:"))]
        self.assertEqual(strangers, [])

    def test_who_uses_a_screen_reader_is_told_names_and_roles(self):
        self.gateway()
        listener = self.listener("radio1")
        self.publish("radio1", "noon", [ad("first")])
        listener.batch("noon")
        page = self.dashboard("radio1")
        self.give_token(page)
        self.until_there(page, "there is a break", "#breaks .buttons button")
        self.until_there(page, "there are books", "#books table")
        self.until_there(page, "the stream stands in the list", "#stream-rows .chosen")
        self.until_there(page, "there is a funnel", ".row-notified td.number")
        self.until_drawn(page)
        nodes = page.accessibility()
        roles = {each["role"] for each in nodes}
        for role in ("banner", "main", "search", "contentinfo", "region", "table", "tablist", "tab", "tabpanel", "status", "alert", "timer"):
            self.assertIn(role, roles)
        for each in nodes:
            if each["role"] in ("button", "link", "searchbox", "textbox", "combobox", "tab", "table", "region", "img", "article"):
                self.assertTrue(each["name"], each)
        names = {(each["role"], each["name"]) for each in nodes}
        for expected in [("heading", "Cuecast"), ("heading", "Streams"), ("heading", "radio1"), ("searchbox", "Search streams"),
                         ("button", "radio1"), ("button", "Punch: noon"), ("button", "Cancel: noon"), ("button", "Publish a test break"),
                         ("tab", "Audit"), ("article", "Break noon, Cued"), ("rowheader", "Notified listeners"),
                         ("region", "Health of the gateway")]:
            self.assertIn(expected, names)
        # What changes each second is not called out.
        self.assertEqual(page.evaluate("""[...document.querySelectorAll("#clock, .countdown, .value, td.number")]
            .filter((node) => node.closest("[aria-live], [role=status], [role=alert], output")).length"""), 0)
        levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map((each) => Number(each.tagName[1]))")
        self.assertEqual(levels[0], 1)
        self.assertTrue(all(after - before <= 1 for before, after in zip(levels, levels[1:])), levels)
        self.assertEqual(page.evaluate("document.documentElement.lang"), "en")
        self.stays_home(page)

    def test_every_text_has_contrast_by_day_and_by_night(self):
        self.gateway()
        listener = self.listener("radio1")
        self.publish("radio1", "noon", [ad("first"), ad("second")])
        self.publish("radio1", "later", [ad("first")])
        delivery = listener.batch("noon").batch.delivery
        self.punch("radio1", "noon")
        page = self.dashboard("radio1")
        page.until("the break is on air", "document.querySelector('#breaks .break')?.dataset.state === 'live'")
        self.assertEqual(listener.acknowledge("noon", delivery, {"first": "played"}).status, OK)
        self.give_token(page)
        page.until("there are buttons", "document.querySelectorAll('#breaks .buttons button').length >= 4")
        self.until_there(page, "there are books", "#books table")

        def look(what):
            # Colours may be on their way from one to the other.
            found = page.evaluate(CONTRAST)
            self.assertGreater(found["count"], 5)
            self.assertEqual(found["poor"], [], what)

        for dark in (False, True):
            page.show(1280, 900, dark=dark)
            look(f"dark: {dark}")
            page.click("#breaks button.danger")
            page.until("the dialog is there", "document.querySelector('#dialog').open")
            look(f"the dialog, dark: {dark}")
            page.press("Escape")
            page.until("the dialog is gone", "!document.querySelector('#dialog').open")
        # The switch says something else than the system, and is kept.
        page.show(1280, 900, dark=False)
        page.click("#theme")
        page.click("#theme")
        self.assertEqual(page.text("#theme"), "Colours: dark")
        look("the switch")
        night = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.go(self.origin)
        page.until("it is live", "window.cuecast?.client.link.state === 'live'")
        self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), night)
        self.until_there(page, "the stream is there", "#stream-rows button")
        self.server.stop(signal.SIGKILL)
        page.until("it says that the gateway is gone", "document.body.dataset.link === 'gone'")
        look("gone")

    def test_a_phone_shows_it_without_scrolling_sideways(self):
        self.gateway()
        self.listener("summer-festival-main-stage-with-a-name-as-long-as-a-name-may-be")
        self.publish("summer-festival-main-stage-with-a-name-as-long-as-a-name-may-be", "a" * 63, [ad("a" * 60)])
        page = self.dashboard(width=390, height=844, scale=2, mobile=True)
        self.until_there(page, "there is a break", "#breaks .break")
        self.until_there(page, "there are books", "#books table")
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 390)
        small = page.evaluate("""[...document.querySelectorAll(".tools button, .pager button, #search")]
            .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 44).map((each) => each.id || each.textContent)""")
        self.assertEqual(small, [])
        self.stays_home(page)

    def test_the_keyboard_goes_through_it_in_order_and_is_seen(self):
        self.gateway()
        self.listener("radio1")
        self.listener("radio2")
        self.publish("radio1", "noon", [ad("first")])
        page = self.dashboard("radio1")
        self.give_token(page)
        self.until_there(page, "there is a break", "#breaks .buttons button")
        page.until("there are both streams", "document.querySelectorAll('#stream-rows tr:not([hidden])').length === 2")
        self.until_there(page, "there are books", "#books button.name")
        # The first of all leads past the head.
        page.focus(".skip")
        page.press("Enter")
        page.until("the streams have the focus", "document.activeElement.id === 'streams'")
        page.focus(".skip")
        focused = """(() => {
            const node = document.activeElement, style = getComputedStyle(node);
            return [node.getAttribute("aria-label") ?? (node.textContent.trim() || node.id), style.outlineStyle, parseFloat(style.outlineWidth), node.tagName];
        })()"""
        seen = []
        while not seen or seen[-1] != "Metrics":
            page.press("Tab")
            name, style, width, tag = page.evaluate(focused)
            self.assertNotEqual(tag, "BODY", seen)
            # Panels that scroll are there for the keyboard too; what they are called is long.
            place = name if len(name) < 40 else f"#{page.evaluate('document.activeElement.id')}"
            # A date has a stop for each of its parts.
            if not seen or seen[-1] != place:
                seen.append(place)
            self.assertTrue(style != "none" and width >= 2, f"no one sees where the focus is: {name}")
            self.assertLess(len(seen), 60, seen)
        self.assertEqual(seen, [
            "Now", "Day", "Ad lists", page.text("#theme"), page.text("#token"), "The last 1 h", "The last 6 h", "The last 24 h", "search", "radio1", "radio2",
            "Pin", "Publish a test break", "noon", "Punch: noon", "Update: noon", "Cancel: noon", "Breaks and their books", "past-break",
            "past-ad", "past-from", "past-until", "By ad", "Download CSV", "#books", "noon", "HTTP API", "OpenAPI", "Metrics"])
        # A tab is changed by the arrows.
        page.focus("#tab-books")
        page.press("ArrowRight")
        page.until("the audit is shown", "document.querySelector('#audit').checkVisibility() && document.activeElement.id === 'tab-audit'")
        # A stream is chosen by Enter; a dialog keeps the focus, and gives it back.
        page.evaluate("[...document.querySelectorAll('#stream-rows button')].find((each) => each.textContent === 'radio2').focus()")
        page.press("Enter")
        page.until("it is shown", "document.querySelector('#stream-title').textContent === 'radio2'")
        page.focus("#publish")
        page.press("Enter")
        page.until("the dialog is there", "document.querySelector('#dialog').open")
        for _ in range(12):
            page.press("Tab")
            self.assertTrue(page.evaluate("document.activeElement === document.body || document.querySelector('#dialog').contains(document.activeElement)"))
        page.press("Escape")
        page.until("the focus is back", "!document.querySelector('#dialog').open && document.activeElement.id === 'publish'")
        self.stays_home(page)

    def test_it_says_that_the_gateway_is_gone_and_recovers_by_itself(self):
        self.gateway()
        self.publish("radio1", "noon", [ad("first")])
        page = self.dashboard("radio1")
        self.until_there(page, "there is a break", "#breaks .break")
        self.server.stop(signal.SIGKILL)
        page.until("it says so", "document.querySelector('#link-text').textContent === 'Gateway gone'")
        page.until("it says more", "document.querySelector('#notices').innerText.includes('The gateway does not answer')")
        page.until("the title says so", "document.title.includes('gone')")
        until("a screen reader says so", lambda: "The gateway does not answer" in [
            each["name"] for each in page.accessibility() if each["role"] == "StaticText"])
        self.server.start()
        page.until("it is back", "document.querySelector('#link-text').textContent === 'Live'")
        page.until("nothing is said any more", "document.querySelector('#notices').innerText === ''")
        # It hears what comes, without being loaded anew.
        self.punch("radio1", "noon")
        page.until("the break is on air", "document.querySelector('#breaks .break')?.dataset.state === 'live'")
        self.assertEqual(page.seen["Page.loadEventFired"], 1)
        # While it was away, requests failed, and browsers tell of each; nothing else was complained about.
        self.assertEqual([each for each in page.complaints if "Failed to load resource" not in each], [])

    def test_who_has_a_token_steers_breaks_and_confirms_each_change(self):
        self.gateway()
        self.listener("radio1")
        page = self.dashboard("radio1")
        self.until_there(page, "the stream is there", "#stream-rows .chosen")
        self.assertEqual(page.evaluate("document.querySelectorAll('.buttons button, #publish:not([hidden])').length"), 0)
        self.give_token(page)
        self.assertEqual(page.evaluate("localStorage.length + document.cookie.length"), 0)

        # Publish a cued test break.
        page.click("#publish")
        page.until("it says whom it reaches", "document.querySelector('#dialog .reach')?.textContent === 'It reaches 1 listener now.'")
        page.evaluate("""document.querySelector("#field-break").value = "try-1";
            document.querySelector("#field-start").value = "cued"; document.querySelector("#field-seconds").value = "600";
            document.querySelector("#field-media").value = "https://cdn.example.com/test.mp3";""")
        page.click("#dialog button[type=submit]")
        page.until("it is cued", "document.querySelector('#breaks .break')?.dataset.state === 'cued'")

        def look():
            return self.server.get("/v1/streams/radio1/breaks/try-1")

        def confirm(word, state, **values):
            page.click(f"button[aria-label='{word}: try-1']")
            page.until("it says whom it reaches", "document.querySelector('#dialog .reach')?.textContent === 'It reaches 1 listener now.'")
            self.assertEqual(look()["state"], state, "nothing is done before it is confirmed")
            for name, value in values.items():
                page.evaluate(f"document.querySelector('#field-{name}').value = '{value}'")
            page.click("#dialog button[type=submit]")
            page.until("it is done", "!document.querySelector('#dialog').open")

        # Going back changes nothing.
        page.click("button[aria-label='Cancel: try-1']")
        page.until("the dialog is there", "document.querySelector('#dialog').open")
        page.until("going back has the focus", "document.activeElement.textContent === 'Go back'")
        page.press("Enter")
        page.until("the dialog is gone", "!document.querySelector('#dialog').open")
        self.assertEqual(look()["state"], "cued")

        confirm("Update", "cued", duration="500s")
        self.assertEqual(look()["durationMilliseconds"], 500_000)
        page.until("the page says so", "document.querySelector('#breaks .facts').textContent.includes('8:20')")
        confirm("Punch", "cued", start="now")
        page.until("it is on air", "document.querySelector('#breaks .break')?.dataset.state === 'live'")
        confirm("End", "live", endMode="cut")
        page.until("it is over", "document.querySelectorAll('#breaks .break').length === 0")
        self.assertEqual(look()["state"], "complete")

        # A refusal is told in the dialog, by the gateway's own sentence.
        page.click("#publish")
        self.until_there(page, "the dialog is there", "#field-break")
        page.evaluate("""document.querySelector("#field-break").value = "try-1";
            document.querySelector("#field-media").value = "https://cdn.example.com/another.mp3";""")
        page.click("#dialog button[type=submit]")
        page.until("it says why not", "document.querySelector('#dialog .problem').textContent.includes('try-1')")
        page.complaints.clear()
        page.evaluate("""document.querySelector("#field-break").value = "try-2"; document.querySelector("#field-start").value = "cued";""")
        page.click("#dialog button[type=submit]")
        page.until("it is cued", "document.querySelector('#breaks .break')?.dataset.state === 'cued' && !document.querySelector('#dialog').open")
        page.click("button[aria-label='Cancel: try-2']")
        self.until_there(page, "the dialog is there", "#dialog[open] button[type=submit]")
        page.click("#dialog button[type=submit]")
        page.until("it is called off", "document.querySelectorAll('#breaks .break').length === 0")
        self.assertEqual(self.server.get("/v1/streams/radio1/breaks/try-2")["state"], "cancelled")
        # Who did it stands in the audit, and the token nowhere: it is gone when it is forgotten.
        page.click("#tab-audit")
        page.until("the audit tells", "document.querySelector('#audit tbody tr td:nth-child(4)')?.textContent === 'cancel'")
        page.click("#token")
        self.until_there(page, "it may be forgotten", "#dialog[open] button.danger")
        page.click("#dialog button.danger")
        page.until("it is forgotten", "document.querySelector('#token').textContent === 'Enter a token'")
        page.until("nothing is kept", "sessionStorage.length === 0")
        page.until("there are no buttons", "document.querySelectorAll('.buttons button, #publish:not([hidden])').length === 0")
        self.stays_home(page)
        self.assertFalse([each for each in page.requests if self.token() in each])

    def test_the_focus_stays_where_one_steers_and_the_sentence_is_seen(self):
        page = self.steering()
        self.publish("radio1", "noon", [ad("first")], start=broadcast_pb2.Start(now=True))
        for word in ("End", "Cancel"):
            name = word.lower()
            self.publish("radio1", name, [ad("first")]) if word == "Cancel" else None
            button = f"button[aria-label='{word}: {name if word == 'Cancel' else 'noon'}']"
            self.until_there(page, f"{word} is offered", button)
            page.focus(button)
            page.press("Enter")
            page.until("the dialog is there", "document.querySelector('#dialog').open")
            page.focus("#dialog button[type=submit]")
            page.press("Enter")
            page.until("the card is gone", f"document.querySelector({json.dumps(button)}) === null && !document.querySelector('#dialog').open")
            page.until("the stream has the focus", "document.activeElement.id === 'stream-title'")
            page.until("it was said for all to see", f"document.querySelector('#toast').textContent.endsWith('{ {'End': 'is ended.', 'Cancel': 'is cancelled.'}[word] }')")
        self.stays_home(page)

    #: What the page does after it may have missed events.
    RESYNC = "window.cuecast.client.dispatchEvent(new CustomEvent('resync'))"
    CARDS = "[...document.querySelectorAll('#breaks .break h3')].map((each) => each.textContent).join()"

    def steering_noon(self, **fields):
        """The page of radio1, with a token and the break noon."""
        page = self.steering()
        self.publish("radio1", "noon", [ad("first")], **fields)
        page.until("it is there", f"{self.CARDS} === 'noon'")
        return page

    def test_an_answer_from_before_an_event_does_not_undo_it(self):
        page = self.steering_noon(start=broadcast_pb2.Start(now=True))
        page.hold("/breaks?open=true")
        page.evaluate(self.RESYNC)
        page.until_held()
        # The answer says that noon is on air, and knows nothing of held.
        self.end("noon")
        self.publish("radio1", "held", [ad("first")])
        page.until("the events have told", f"{self.CARDS} === 'held'")
        page.evaluate("window.before = window.cuecast.state.breaks")
        page.let_go()
        page.until("the answer is taken", "window.cuecast.state.breaks !== window.before")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.assertEqual(page.evaluate(self.CARDS), "held")
        self.stays_home(page)

    def test_a_break_that_ended_while_no_event_could_come_goes_when_they_come_again(self):
        page = self.steering_noon(start=broadcast_pb2.Start(now=True))
        # The page gets a ticket before it asks for events.
        page.hold("/event-tickets")
        page.evaluate("window.cuecast.client.reopen()")
        page.until_held()
        # A list of streams that comes meanwhile leaves the way to the events as it is: no second ticket is asked for.
        page.evaluate("window.before = window.cuecast.state.lines")
        page.evaluate(self.RESYNC)
        page.until("the streams are loaded anew", "window.cuecast.state.lines !== window.before")
        self.assertEqual(page.evaluate("held.waiting.length"), 1)
        self.end("noon")
        self.publish("radio1", "held", [ad("first")])
        # The cards before that are not asserted: on a slow machine noon may be over by the clock, or an earlier answer may come late.
        page.let_go()
        page.until("it shows what is", f"{self.CARDS} === 'held'")
        self.stays_home(page)

    def test_of_two_answers_the_one_that_was_asked_for_later_stays(self):
        page = self.steering()
        self.publish("radio1", "one", [ad("first")])
        rows = "[...document.querySelectorAll('#books button.name')].map((each) => each.textContent).join()"
        page.until("the books have one", f"{rows} === 'one'")
        for pattern, shown, before, after in (
                ("/v1/reports?", rows, "one", "two,one"), ("/v1/streams?", "window.cuecast.state.lines.map((each) => each.stream).join()", "radio1", "radio1,radio2")):
            with self.subTest(pattern):
                page.hold(pattern)
                page.evaluate(self.RESYNC)
                page.until_held()
                self.publish("radio1", "two", [ad("first")]) if "reports" in pattern else self.publish("radio2", "one", [ad("first")])
                page.evaluate(self.RESYNC)
                page.until_held(2)
                self.assertEqual(page.evaluate(shown), before)
                # The last one comes first.
                page.let_go(-1)
                page.until("the later answer is shown", f"{shown} === '{after}'")
                page.evaluate("while (held.waiting.length) held.waiting.pop()()")
                page.evaluate("new Promise((done) => setTimeout(done)).then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))")
                self.assertEqual(page.evaluate(shown), after)
        self.stays_home(page)

    def test_what_the_gateway_had_no_time_for_is_asked_for_again(self):
        page = self.steering_noon()
        refusal = '{"code": "HTTP_BUSY", "retryable": true, "detail": "The gateway is busy."}'
        page.hold(None)
        page.evaluate(f"""held.refused = 0; held.change = () => {{ held.refused += 1; return new Response('{refusal}', {{ status: 503 }}); }};
            held.pattern = "/breaks?open=true"; {self.RESYNC}""")
        page.until("it is refused twice", "held.refused >= 2")
        self.assertEqual(page.evaluate("window.cuecast.client.link.state"), "live")
        page.evaluate("held.pattern = null; window.cuecast.state.breaks = window.before = new Map()")
        page.until("it is there again", f"window.cuecast.state.breaks !== window.before && {self.CARDS} === 'noon'")
        self.stays_home(page)

    def test_books_that_are_settled_meanwhile_are_shown_so(self):
        page = self.steering_noon(start=broadcast_pb2.Start(now=True))
        self.end("noon")
        words = "[...document.querySelectorAll('#books .when-wide .badge')].map((each) => each.textContent).join()"
        line = "document.querySelector('#books .settles')?.textContent"
        final = r"/^Outcomes of noon may still come; final at \d\d:\d\d\.$/"
        page.until("it is over, and it is said once when it is final", f"{final}.test({line}) && {words} === '' && {self.CARDS} === ''")
        # It looks again each minute; more often than the two times that the end itself gives cause for.
        page.hold(None)
        page.evaluate("""held.looks = 0; held.change = (text) => { held.looks += 1; return new Response(text); }; held.pattern = "/v1/reports?";
            const real = performance.now.bind(performance); held.ahead = 0; performance.now = () => real() + held.ahead;""")
        for looks in range(1, 6):
            page.evaluate("held.ahead += 61_000")
            page.until("it looks again", f"held.looks >= {looks}")
        self.assertTrue(page.evaluate(f"{final}.test({line})"))
        page.evaluate("""held.change = (text) => new Response(text.replaceAll('"settled":false', '"settled":true')); held.ahead += 61_000;""")
        page.until("they are settled", f"{words} === 'Balanced' && {line} === ''")
        self.stays_home(page)

    def test_a_break_that_is_held_does_not_hide_the_one_that_just_ended(self):
        page = self.steering()
        self.publish("radio1", "noon", [ad("first")], start=broadcast_pb2.Start(now=True))
        page.until("it is on air", "document.querySelector('#breaks .break')?.dataset.state === 'live'")
        self.end("noon")
        self.publish("radio1", "held", [ad("first")])
        page.until("the held one is there", "document.querySelector('#breaks .break')?.dataset.state === 'cued'")
        about = "document.querySelector('#funnel-about').textContent"
        page.until("the books have both", "document.querySelectorAll('#books button.name').length === 2")
        page.until("the one that ended is told", f"{about} === 'break noon'")
        # A row of the books that is opened is the one that is told.
        page.click("#books button.name")
        page.until("the opened one is told", f"{about} === 'break held, opened below'")
        page.until("it has no start", "document.querySelector('#course-caption').textContent.includes('no start yet')")
        page.until("it is counted from when it was seen", "document.querySelector('#course').innerText.includes('first seen')")
        page.until("none is settled", "[...document.querySelectorAll('#books .when-wide .badge')].map((each) => `${each.dataset.state} ${each.textContent}`)"
                   ".join() === 'open ,open '")

    def test_the_history_is_searched_added_up_and_saved(self):
        self.gateway()
        listener = self.listener("radio1")
        for name, ads in (("noon", ["first", "second"]), ("later", ["first"])):
            self.publish("radio1", name, [ad(each) for each in ads], start=broadcast_pb2.Start(now=True))
            delivery = listener.batch(name).batch.delivery
            self.assertEqual(listener.acknowledge(name, delivery, {each: "played" for each in ads}).status, OK)
            self.end(name)
        page = self.dashboard("radio1")
        rows = "[...document.querySelectorAll('#books tbody tr')].map((row) => [...row.querySelectorAll('.name, td.number')].map((each) => each.textContent).join(' ')).join()"
        page.until("both are there", f"{rows} === 'later 1 1 0 0 0,noon 2 2 0 0 0'")

        def fill(**fields):
            for name, value in fields.items():
                page.evaluate(f"""(() => {{ const field = document.querySelector("#past-{name}"); field.value = {json.dumps(value)};
                    field.dispatchEvent(new Event("input", {{ bubbles: true }})); }})()""")

        fill(**{"break": "noon"})
        page.until("one is found", f"{rows} === 'noon 2 2 0 0 0'")
        fill(**{"break": "", "ad": "second"})
        page.until("one has that ad, with its counts", f"{rows} === 'noon 1 1 0 0 0'")
        fill(ad="", **{"from": "2020-01-01", "until": "2020-01-02"})
        page.until("none was then", "document.querySelector('#books .empty')?.textContent === 'No break of this page fits the search.'")
        fill(until="2019-01-01")
        page.until("it says what is wrong", "document.querySelector('#past-problem').textContent === 'The last day is before the first.'")
        fill(until="")
        page.until("both are since then", f"{rows} === 'later 1 1 0 0 0,noon 2 2 0 0 0'")
        page.evaluate("""window.saved = null; URL.createObjectURL = (blob) => { window.saved = blob; return "#saved"; };""")
        page.click("#past-csv")
        page.until("there is a table", "window.saved !== null")
        table = page.evaluate("window.saved.text()").splitlines()
        self.assertEqual([line.split(",")[1] for line in table], ["break", "later", "noon", "noon"])
        self.assertEqual(page.evaluate("window.saved.slice(0, 3).arrayBuffer().then((bytes) => [...new Uint8Array(bytes)].join())"), "239,187,191")
        page.click("#past-by-ad")
        page.until("ads are added up", "[...document.querySelectorAll('#books tbody tr')].map((row) => row.textContent.replaceAll(/\\s+/g, ' ')).length === 2"
                   " && [...document.querySelectorAll('#books tbody tr:first-child td')].map((cell) => cell.textContent).join() === '2,2,2,0,0,0'")
        page.evaluate("window.saved = null")
        page.click("#past-csv")
        page.until("there is a table of ads", "window.saved !== null")
        self.assertEqual([line.split(",")[0] for line in page.evaluate("window.saved.text()").splitlines()][1:], ["first", "second"])
        page.click("#tab-audit")
        page.until("the audit is there", "document.querySelectorAll('#audit tbody tr').length === 4")
        fill(**{"break": "noon"})
        page.until("the audit is searched too", "document.querySelectorAll('#audit tbody tr').length === 2")
        # What the command says.
        said = self.server.run("report", "--stream", "radio1", "--by", "ad", "--since", "1h", "--format", "csv")
        self.assertEqual([line.split(",")[:5] for line in said.splitlines()[1:]],
                         [["first", "Ad first", "2", "2", "2"], ["second", "Ad second", "1", "1", "1"]])
        self.assertEqual(len(json.loads(self.server.run("audit", "--since", "1h", "--json"))["entries"]), 4)
        self.assertEqual(json.loads(self.server.run("report", "--until", "1h", "--json"))["breaks"], [])
        self.stays_home(page)

    def test_streams_are_pinned_side_by_side_and_stay_so(self):
        self.gateway()
        for stream in ("radio1", "radio2", "radio3"):
            self.listener(stream)
        self.publish("radio2", "noon", [ad("first")])
        page = self.dashboard("radio1", width=1400, height=1_000)
        self.until_there(page, "the streams are there", "#stream-rows .chosen")
        self.assertFalse(page.evaluate("document.querySelector('#pins').checkVisibility()"))
        for stream in ("radio1", "radio2"):
            page.evaluate(f"[...document.querySelectorAll('#stream-rows button')].find((each) => each.textContent === '{stream}').click()")
            page.until(f"{stream} is chosen", f"document.querySelector('#stream-title').textContent === '{stream}'")
            page.focus("#pin")
            page.press("Enter")
            page.until(f"{stream} is pinned", f"document.querySelector('.pin[aria-label=\"Stream {stream}\"]') && document.querySelector('#pin').textContent === 'Pinned'")
        tops = "[...document.querySelectorAll('.pin')].map((each) => each.getBoundingClientRect().top)"
        self.assertEqual(len(set(page.evaluate(tops))), 1, "they do not stand side by side")
        page.until("its break is told", "document.querySelector('.pin[aria-label=\"Stream radio2\"] .note').textContent === 'held · noon'")
        self.punch("radio2", "noon")
        page.until("it is on air", "document.querySelector('.pin[aria-label=\"Stream radio2\"]').dataset.state === 'live'")
        for width, height in ((1400, 1_000), (820, 1_000), (390, 844)):
            for dark in (False, True):
                page.show(width, height, dark=dark)
                self.until_drawn(page)
                self.assertEqual(page.evaluate(CONTRAST)["poor"], [], f"{width}, dark: {dark}")
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
        # They are there again after a reload, until they are taken away.
        page.go("about:blank")
        page.go(self.origin)
        page.until("they are there again", "document.querySelectorAll('.pin').length === 2")
        page.until("with their breaks", "document.querySelector('.pin[aria-label=\"Stream radio2\"]').dataset.state === 'live'")
        page.click("button[aria-label='Unpin radio1']")
        page.until("one is left", "document.querySelectorAll('.pin').length === 1")
        page.click("button[aria-label='Unpin radio2']")
        page.until("none is left", "!document.querySelector('#pins').checkVisibility()")
        self.assertEqual(page.evaluate("localStorage.length"), 0)
        self.stays_home(page)

    def test_what_was_before_the_page_was_opened_is_shown(self):
        self.gateway()
        self.listener("radio1")
        until("the gateway has a sample with the listener",
              lambda: any(each["listeners"] == 1 for each in self.server.get("/v1/history")["samples"]))
        page = self.dashboard("radio1")
        page.until("the listeners are drawn", "document.querySelector('#timeline-listeners .area-listeners')?.getAttribute('d')")
        page.until("they are told in words", "document.querySelector('#timeline-listeners svg').getAttribute('aria-label') === 'Listeners: listeners 1.0 now, 1.0 at most'")
        page.click("#timeline-spans button:nth-child(3)")
        page.until("the day is asked for", "document.querySelector('#timeline-spans button:nth-child(3)').getAttribute('aria-pressed') === 'true'"
                   " && document.querySelector('#timeline-about').textContent === 'kept from now on'")
        self.stays_home(page)

    def test_a_test_break_has_the_tone_of_the_gateway(self):
        self.gateway()
        listener = self.listener("radio1")
        page = self.dashboard("radio1")
        self.give_token(page)
        page.click("#publish")
        self.until_there(page, "the dialog is there", "#field-seconds")
        page.evaluate("document.querySelector('#field-seconds').value = '61'; document.querySelector('#field-start').value = 'cued'")
        page.click("#dialog button[type=submit]")
        page.until("it says how long the tone is", "document.querySelector('#dialog .problem').textContent.includes('60 s at most')")
        page.evaluate("document.querySelector('#field-break').value = 'try'; document.querySelector('#field-seconds').value = '2'")
        page.click("#dialog button[type=submit]")
        page.until("it is published", "document.querySelector('#breaks .break')?.dataset.state === 'cued'")
        media = listener.batch("try").batch.advertisements[0].media[0]
        self.assertEqual((media.url, media.type), (self.origin + "v1/test-tone?seconds=2", "audio/wav"))
        with urllib.request.urlopen(media.url, timeout=PATIENCE) as answer:
            with wave.open(answer) as sound:
                self.assertEqual(sound.getnframes() / sound.getframerate(), 2)

    def test_a_small_phone_reaches_every_column(self):
        self.gateway()
        self.listener("radio1")
        self.publish("radio1", "noon", [ad("first")])
        page = self.dashboard("radio1", width=320, height=640, scale=2, mobile=True)
        self.until_there(page, "there are books", "#books table")
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 320)
        box = page.evaluate("(() => { const box = document.querySelector('.streams .table-box'); return [getComputedStyle(box).overflowX, box.scrollWidth - box.clientWidth]; })()")
        self.assertTrue(box[0] == "auto" or box[1] <= 0, box)
        # Its rows are stacked: every count is there with its name, and nothing is cut off.
        cut = "(() => { const box = document.querySelector('#books .table-box'); return box.scrollWidth - box.clientWidth; })()"
        self.assertLessEqual(page.evaluate(cut), 0)
        self.assertEqual(page.evaluate("""[...document.querySelectorAll("#books tbody tr:first-child td[data-label]")]
            .map((cell) => getComputedStyle(cell, "::before").content + cell.checkVisibility()).join()"""),
            ",".join(f'"{each}"true' for each in ("start", "delivered", "played", "ignored", "failed", "unknown")))
        page.until("there is a clock", r"/^\d\d:\d\d:\d\d \S+$/.test(document.querySelector('#clock').textContent)")
        page.until("its title has the other time", "document.querySelector('#clock').title.endsWith('UTC')")

    # MARK: Steering what others steer too

    def test_a_break_is_postponed_by_what_is_typed(self):
        page = self.steering(listeners=2)
        self.publish("radio1", "noon", [ad("first")], start=broadcast_pb2.Start(in_ms=HOUR_MS))
        before = self.look("noon")
        self.open(page, "Postpone", "noon", reach="2 listeners")
        self.assertEqual(self.facts(page)["State"], "Scheduled")
        # What is no duration is refused by the gateway's own sentence, and typed again.
        self.fill(page, by="soon")
        page.click("#dialog button[type=submit]")
        page.until("it says why not", "document.querySelector('#dialog .problem').textContent.includes('by')")
        self.assertEqual(self.look("noon")["start"], before["start"], "nothing is done that was not understood")
        self.fill(page, by="")
        page.focus("#field-by")
        page.type("5m")
        page.press("Enter")
        page.until("it is done", "!document.querySelector('#dialog').open")
        after = self.look("noon")
        moved = datetime.datetime.fromisoformat(after["start"]) - datetime.datetime.fromisoformat(before["start"])
        self.assertEqual((moved, after["revision"], after["state"]), (datetime.timedelta(minutes=5), 2, "scheduled"))
        page.until("the page says so", "document.querySelector('#breaks .facts').textContent.includes('revision 2')")
        page.click("#tab-audit")
        page.until("the audit tells", "document.querySelector('#audit tbody tr td:nth-child(4)')?.textContent === 'postpone'")
        self.only_refusals(page, 400)

    def test_a_change_of_an_older_revision_shows_the_new_one_and_asks_again(self):
        page = self.steering()
        soon, started = broadcast_pb2.Start(in_ms=HOUR_MS), broadcast_pb2.Start(now=True)
        for word, start, values, expected in (
                ("Postpone", soon, {"by": "5m"}, "scheduled"), ("Cancel", soon, {}, "cancelled"), ("Punch", None, {"start": "now"}, "live"),
                ("Update", soon, {"duration": "40m"}, "scheduled"), ("End", started, {"endMode": "cut"}, "complete")):
            name = word.lower()
            with self.subTest(word):
                self.publish("radio1", name, [ad("first")], start=start)
                if start is started:
                    until("it is on air", lambda: self.look(name)["state"] == "live")
                before = self.look(name)
                self.open(page, word, name)
                shown = self.facts(page)
                self.assertEqual(shown["Lasts"], "1:00:00 at most")
                # Meanwhile another client makes it shorter.
                reply = self.broadcaster.ask(update=broadcast_pb2.Update(stream="radio1", break_id=name, duration_ms=HOUR_MS // 2))
                self.assertEqual(reply.status, OK, reply.message)
                theirs = self.look(name)
                self.fill(page, **values)
                page.click("#dialog button[type=submit]")
                page.until("it says why not", "document.querySelector('#dialog .problem').textContent.includes('confirm again')")
                page.until("it may be confirmed again", "document.activeElement.type === 'submit'")
                said = page.text("#dialog .problem")
                self.assertIn(f"The break {name} has revision {theirs['revision']}", said)
                self.assertEqual(self.look(name), theirs, "nothing is done that was not looked at")
                self.assertEqual(self.facts(page), {**shown, "Lasts": "30:00 at most (was: 1:00:00 at most)"})
                # What was typed stays, and what is confirmed now is what is shown.
                for field, value in values.items():
                    self.assertEqual(page.evaluate(f"document.querySelector('#field-{field}').value"), value)
                self.confirm(page)
                after = self.look(name)
                self.assertEqual((after["state"], after["revision"] > theirs["revision"]), (expected, True))
                if word == "Postpone":
                    moved = datetime.datetime.fromisoformat(after["start"]) - datetime.datetime.fromisoformat(before["start"])
                    self.assertEqual(moved, datetime.timedelta(minutes=5))
                if word == "Update":
                    self.assertEqual(after["durationMilliseconds"], 2_400_000)
                if expected in ("scheduled", "live"):
                    reply = self.broadcaster.ask(cancel=broadcast_pb2.Cancel(stream="radio1", break_id=name))
                    self.assertEqual(reply.status, OK, reply.message)
        self.only_refusals(page, 412)

    def test_a_start_that_was_moved_is_moved_on_from_its_new_place(self):
        page = self.steering()
        self.publish("radio1", "noon", [ad("first")], start=broadcast_pb2.Start(in_ms=HOUR_MS))
        self.open(page, "Postpone", "noon")
        shown = self.facts(page)
        theirs = self.broadcaster.ask(expected_revision=self.look("noon")["revision"],
                                      postpone=broadcast_pb2.Postpone(stream="radio1", break_id="noon", by_ms=600_000))
        self.assertEqual(theirs.status, OK, theirs.message)
        there = self.look("noon")
        self.fill(page, by="1m")
        page.click("#dialog button[type=submit]")
        page.until("it says why not", "document.querySelector('#dialog .problem').textContent.includes('confirm again')")
        self.assertRegex(self.facts(page)["Start"], rf" \(was: {re.escape(shown['Start'])}\)$")
        self.assertEqual(self.look("noon"), there)
        self.confirm(page)
        moved = datetime.datetime.fromisoformat(self.look("noon")["start"]) - datetime.datetime.fromisoformat(there["start"])
        self.assertEqual(moved, datetime.timedelta(minutes=1))
        self.only_refusals(page, 412)

    def test_a_break_that_was_cancelled_leaves_nothing_to_confirm(self):
        page = self.steering()
        self.publish("radio1", "noon", [ad("first")], start=broadcast_pb2.Start(in_ms=HOUR_MS))
        self.open(page, "Postpone", "noon")
        self.assertEqual(self.broadcaster.ask(cancel=broadcast_pb2.Cancel(stream="radio1", break_id="noon")).status, OK)
        page.click("#dialog button[type=submit]")
        page.until("it says so", "document.querySelector('#dialog .problem').textContent.includes('nothing left to confirm')")
        page.until("going back has the focus", "document.activeElement.textContent === 'Go back'")
        self.assertEqual(self.facts(page)["State"], "Cancelled (was: Scheduled)")
        self.assertTrue(page.evaluate("document.querySelector('#dialog button[type=submit]').disabled"))
        page.press("Enter")
        page.until("the dialog is gone", "!document.querySelector('#dialog').open")
        self.assertEqual(self.look("noon")["state"], "cancelled")
        self.only_refusals(page, 412)

    def test_an_announcement_while_a_dialog_is_open_covers_nothing(self):
        # Announced an hour before its start: nothing is in a hurry after it.
        page = self.steering("--set", "breaks.announceAhead=1h")

        def scheduled(factor):
            """A break whose dialog was opened before it was announced; else none."""
            name = f"noon-{factor}"
            self.publish("radio1", name, [ad("first")], start=broadcast_pb2.Start(in_ms=HOUR_MS + 2_000 * factor))
            self.open(page, "Postpone", name)
            if self.facts(page)["State"] == "Scheduled":
                return name
            page.press("Escape")
            page.until("the dialog is gone", "!document.querySelector('#dialog').open")
            self.assertEqual(self.broadcaster.ask(cancel=broadcast_pb2.Cancel(stream="radio1", break_id=name)).status, OK)

        name = slower_until(scheduled, bool)
        self.assertTrue(name, "no dialog was opened before the announcement")
        until("it is announced", lambda: self.look(name)["state"] == "announced")
        there = self.look(name)
        self.assertEqual(there["revision"], 2)
        self.fill(page, by="1m")
        # Confirmed once.
        self.confirm(page)
        after = self.look(name)
        moved = datetime.datetime.fromisoformat(after["start"]) - datetime.datetime.fromisoformat(there["start"])
        self.assertEqual((moved, after["revision"] > 2), (datetime.timedelta(minutes=1), True))
        until("the browser tells that the first request was refused", lambda: page.complaints)
        self.only_refusals(page, 412)

    def test_a_gateway_that_asks_for_a_token_is_read_with_one(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="cuecast-dashboard."))
        self.gateway("--set", "http.openReads=metrics", make=lambda *arguments: LoggedGateway(folder, *arguments, "--set", "logLevel=debug"))
        self.publish("radio1", "noon", [ad("first")])
        page = self.dashboard(state="locked")
        page.until("it says so", "document.querySelector('#notices').innerText.includes('This gateway asks for a token')")
        page.until("it says what is needed", "document.querySelector('#link').innerText === 'Token needed'")
        # What is no token, and one without a signature.
        page.click("#token")
        page.until("the dialog asks for a token", "document.activeElement?.id === 'field-token'")
        page.type("nonsense")
        page.press("Enter")
        page.until("it says so", "document.querySelector('#dialog .problem').textContent.includes('no token')")
        page.evaluate("document.querySelector('#field-token').value = ''")
        page.focus("#field-token")
        head, claims, signature = self.token().split(".")
        page.type(f"{head}.{claims}.{signature[:-4]}AAAA")
        page.press("Enter")
        page.until("the gateway says so", "document.querySelector('#dialog .problem').textContent.length > 0"
                   " && !document.querySelector('#dialog .problem').textContent.includes('three parts')")
        page.press("Escape")
        page.until("the dialog is gone", "!document.querySelector('#dialog').open")
        self.assertFalse(page.evaluate("window.cuecast.client.token"))
        self.give_token(page)
        self.until_there(page, "there is a break", "#breaks .break")
        page.until("there are figures", "window.cuecast.state.gateway !== null")
        tickets = [query["ticket"][0] for each in page.requests
                   if "ticket" in (query := urllib.parse.parse_qs(urllib.parse.urlsplit(each).query))]
        self.assertTrue(tickets)
        self.assertEqual(len(tickets), len(set(tickets)), "a ticket is for one use")
        # The browser tells of each refusal, when it comes to that.
        page.complaints[:] = [each for each in page.complaints if "401 (Unauthorized)" not in each]
        self.stays_home(page)
        token = self.token()
        self.assertEqual(self.server.stop(), 0)
        said = self.server.until_said("/v1/events")
        for secret in (*tickets, token):
            self.assertNotIn(secret, said)


class DemoLive(unittest.TestCase):
    """`make demo-live`: something to look at, until it is told to stop."""

    def start(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="cuecast-demo-live-test."))
        demo = subprocess.Popen(
            [os.path.join(ROOT, "scripts/demo-live.sh")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "CUECAST_BIN": BINARY, "CUECAST_LOAD_BIN": LOAD_BINARY, "TMPDIR": folder, "DEMO_EVERY": "3",
                 "DEMO_PATIENCE": f"{int(PATIENCE)}s"},
            # A shell that is started with a signal ignored, as beside another command, cannot take it.
            start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(demo.stdout.close)
        self.addCleanup(demo.wait)
        self.addCleanup(lambda: self.everything_of(demo) and os.killpg(demo.pid, signal.SIGKILL))
        line = demo.stdout.readline()
        self.assertRegex(line, r"^dashboard: http://127\.0\.0\.1:\d+/$")
        return folder, demo, line.split()[1]

    @staticmethod
    def everything_of(demo):
        """The processes of the demonstration that run; they are a group of their own."""
        return subprocess.run(["ps", "-o", "pid=,args=", "-g", str(demo.pid)], capture_output=True, text=True).stdout.strip()

    def ends(self, number):
        folder, demo, address = self.start()

        def get(path):
            with urllib.request.urlopen(address + path, timeout=PATIENCE) as answer:
                return json.load(answer)

        until("all listeners are there", lambda: sum(each["listeners"] for each in get("v1/streams")["streams"]) == 50)
        until("ads are played on every stream", lambda: {
            each["stream"] for each in get("v1/reports")["breaks"] if each["total"]["played"] > 0} == {"radio1", "radio2", "sports"})
        with urllib.request.urlopen(address, timeout=PATIENCE) as page:
            self.assertIn("<title>Cuecast</title>", page.read().decode())
        self.assertEqual(os.listdir(folder)[0].split(".")[0], "cuecast-demo-live")
        demo.send_signal(number)
        rest = demo.stdout.read()  # All that it started has ended: the pipe has no writer any more.
        self.assertEqual(demo.wait(PATIENCE), 0, rest)
        self.assertEqual(self.everything_of(demo), "")
        self.assertEqual(os.listdir(folder), [])
        self.assertIn("Stopping everything.", rest)

    def test_an_interrupt_ends_all_of_it(self):
        self.ends(signal.SIGINT)

    def test_it_ends_when_it_is_terminated(self):
        self.ends(signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
