# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The views of the dashboard for planners: the day of a stream, the page of a break, and the ad lists.

    scripts/end-to-end.sh DashboardViews
"""
import datetime, json, urllib.request

from harness import PATIENCE, ad, broadcast_pb2
from test_dashboard import CONTRAST, MARKUP, OK, DashboardPage

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
POLICY = "breaks.cues=radio* list=spots duration=60s"
RESYNC = "window.cuecast.client.dispatchEvent(new CustomEvent('resync'))"


def spot(name, seconds, title=""):
    return {"id": name, "title": title or f"Ad {name}", "duration": f"{seconds}s", "media": [{"url": f"https://cdn.example.com/{name}.mp3", "type": "audio/mpeg"}]}


class DashboardViews(DashboardPage):
    def view(self, address, token=False, state="live", **screen):
        """The page at an address, in a zone in which it is noon: nothing of a test is on another day."""
        page = self.browser.page(**screen)
        ahead = 12 - datetime.datetime.now(datetime.timezone.utc).hour
        page.call("Emulation.setTimezoneOverride", timezoneId=f"Etc/GMT{-ahead:+d}")
        page.go(self.origin + address)
        page.until(f"the link is {state}", f"window.cuecast?.client.link.state === '{state}'")
        self.until_drawn(page)
        if token:
            self.give_token(page)
        return page

    def place(self, page, address):
        """Goes to an address as a link on the page does."""
        page.evaluate(f"location.hash = {json.dumps(address)}")

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.origin + path, None if body is None else json.dumps(body).encode(), {
            "Authorization": f"Bearer {self.token()}", "Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def put(self, name, ads_ms, lasts_ms, **fields):
        reply = self.broadcaster.publish("radio1", name, [ad(f"{name}-spot", ads_ms)], duration_ms=lasts_ms, **fields)
        self.assertEqual(reply.status, OK, reply.message)

    def cancel(self, name):
        self.assertEqual(self.broadcaster.ask(cancel=broadcast_pb2.Cancel(stream="radio1", break_id=name)).status, OK)

    def from_module(self, page, name, expression):
        """What an expression gives that uses a module of the page as `it`."""
        return page.evaluate(f"import({json.dumps(self.origin + 'dashboard/' + name)}).then((it) => {expression})")

    # MARK: The plan

    def test_findings_begin_one_past_each_limit(self):
        self.gateway()
        page = self.view("#/day")

        def row(name, start, end, state="scheduled", fills=None, **fields):
            return {"name": name, "state": state, "start": start, "end": end, "lasts": end - start, "isPreStream": False,
                    "fills": [{"name": "default", "milliseconds": end - start}] if fills is None else fills, **fields}

        def look(*rows):
            return self.from_module(page, "planning.js", f"it.look({json.dumps(rows)}).map((row) => [row.name, row.gap, row.findings.map((each) => each.kind)])")

        self.assertEqual(
            look(row("far", 120_000, 180_000), row("first", 0, 60_000), row("close", 239_999, 300_000), row("late", 290_000, 360_000),
                 row("off", 300_000, 310_000, "cancelled"), row("old", 300_000, 310_000, "expired"), row("pre", 300_000, 310_000, isPreStream=True),
                 row("inside", 300_000, 320_000), row("after", 420_000, 430_000)),
            [["first", None, []], ["far", 60_000, []], ["close", 59_999, ["close"]], ["late", -10_000, ["overlap"]], ["inside", -60_000, ["overlap"]],
             ["off", None, []], ["old", None, ["expired"]], ["pre", None, []], ["after", 60_000, []]])
        sentence = "it.look(%s)[1].findings[0].sentence"

        def two(start):
            return json.dumps([row("a", 0, 60_000), row("b", start, 90_000)])

        self.assertEqual(self.from_module(page, "planning.js", sentence % two(55_000)), "It starts 0:05 before a ends.")
        self.assertEqual(self.from_module(page, "planning.js", sentence % two(60_000)), "It starts as a ends.")
        self.assertEqual(self.from_module(page, "planning.js", sentence % two(72_000)), "It starts 0:12 after a ends.")

        def full(milliseconds, lasts=60_000, state="scheduled", others=()):
            fills = [{"name": name, "milliseconds": each} for name, each in (("default", milliseconds), *others)]
            return self.from_module(page, "planning.js", f"it.fillFindings({json.dumps({'fills': fills, 'lasts': lasts, 'state': state})}).map((each) => each.kind)")

        for milliseconds, kinds in ((60_000, []), (59_000, []), (58_999, ["unfilled"]), (61_000, []), (61_001, ["long"])):
            self.assertEqual(full(milliseconds), kinds, milliseconds)
        self.assertEqual(full(61_001, state="complete"), [], "a break that is over may have been ended early")
        self.assertEqual(full(58_999, state="complete"), ["unfilled"])
        self.assertEqual(full(10, lasts=None), [], "a break without a duration lasts until it is ended")
        self.assertEqual(full(60_000, others=[("cars", 30_000), ("abroad", 60_000)]), ["unfilled"])
        self.assertEqual(self.from_module(page, "planning.js", "it.fillFindings({fills: [], lasts: 60_000, state: 'scheduled'}).map((each) => each.kind)"), ["empty"])

        # Two of the days of a year have another length, and hours without a break are one line.
        page.call("Emulation.setTimezoneOverride", timezoneId="Europe/Oslo")
        for day, hours in (("2026-03-29", 23), ("2026-10-25", 25), ("2026-11-21", 24)):
            lines = self.from_module(page, "planning.js", f"""(() => {{
                const [from, to] = it.boundsOf("{day}");
                const row = {{ name: "noon", start: to - 11.5 * 3_600_000, end: to - 10.5 * 3_600_000 }};
                return it.hoursOf([from, to], [row], from - 1).map((line) => [(line.to - line.from) / 3_600_000, line.isEmpty, line.pieces.map((piece) => [piece.from, piece.to, piece.goesOn])]);
            }})()""")
            self.assertEqual(lines, [[hours - 12, True, []], [1, False, [[0.5, 1, False]]], [1, False, [[0, 0.5, True]]], [10, True, []]], day)
        self.assertEqual(self.from_module(page, "planning.js", "[it.dayOf(Date.parse('2026-10-24T23:30:00Z')), it.dayOf(Date.parse('2026-10-24T23:30:00Z'), 1)]"), ["2026-10-25", "2026-10-26"])
        # Every view has one address, and other texts have none.
        for address in ("#radio1", "#radio1/day", "#radio1/day/2026-02-28", "#a.b_c-D/break/noon-1", "#/lists", "#/lists/spots", "#/day", "#"):
            self.assertEqual(self.from_module(page, "address.js", f"it.addressOf(it.readAddress('{address}'))"), address)
        for address in ("#radio1/day/2026-02-30", "#radio1/day/today", "#radio1/break", "#/break/noon", "#radio1/lists", "#radio1/what", "#a b", "#%", "#radio1/break/a/b", "#<b>",
                        "#.", "#..", "#../day", "#radio1/break/.", "#radio1/break/..", "#/lists/.."):
            self.assertIsNone(self.from_module(page, "address.js", f"it.readAddress('{address}')"), address)
        self.stays_home(page)

    # MARK: The day

    ROWS = "[...document.querySelectorAll('#day-table tbody tr')].map((row) => row.dataset.break).join()"

    def until_row(self, page, name, what):
        """Waits until the row of a break says something; gives all that it says."""
        text = f"document.querySelector('#day-table tr[data-break=\"{name}\"]')?.innerText"
        page.until(f"{name} is {what}", f"({text} ?? '').includes({json.dumps(what)})")
        return page.evaluate(text)

    def test_a_day_shows_its_breaks_in_words_and_follows_them(self):
        self.gateway()
        self.put("noon", 20 * MINUTE_MS, 20 * MINUTE_MS, start=broadcast_pb2.Start(now=True))
        self.put("later", MINUTE_MS, MINUTE_MS, start=broadcast_pb2.Start(in_ms=2 * HOUR_MS))
        start = datetime.datetime.fromisoformat(self.look("later")["start"])
        self.put("near", 30_000, MINUTE_MS, start=broadcast_pb2.Start(at_us=int((start.timestamp() + 90) * 1_000_000)))
        page = self.view("#radio1/day")
        page.until("the breaks are there", f"{self.ROWS} === 'noon,later,near'")
        self.until_row(page, "noon", "On air")
        self.until_row(page, "later", "Scheduled")
        said = self.until_row(page, "near", "Unfilled")
        for word in ("Scheduled", "Too close: It starts 0:30 after later ends.", "Unfilled: It has ads for 0:30 of 1:00."):
            self.assertIn(word, said)
        self.assertEqual(page.evaluate("[...document.querySelectorAll('#day-findings li')].map((each) => each.textContent.split(' near: ')[1])"),
                         ["It starts 0:30 after later ends.", "It has ads for 0:30 of 1:00."])
        self.assertEqual(page.text("#day-about"), "3 breaks · 2 to look at")
        self.assertEqual(page.evaluate("[...document.querySelectorAll('#day-key li')].map((each) => each.textContent)"), ["Scheduled 2", "On air 1"])
        blocks = "Object.fromEntries([...document.querySelectorAll('#day-plan .plan-block')].map((each) => [each.textContent.replace('… ', ''), each.dataset.state]))"
        self.assertEqual(page.evaluate(blocks), {"noon": "live", "later": "scheduled", "⚠ near": "scheduled"})
        part = page.evaluate("[...document.querySelectorAll('#day-plan .plan-block')].at(-1).querySelector('.plan-filled').style.width")
        self.assertEqual(part, "50%")
        page.until("the present is marked", "document.querySelector('#day-plan .plan-now')?.checkVisibility()")

        # What happens is shown without asking.
        self.put("held", MINUTE_MS, MINUTE_MS)
        self.until_row(page, "held", "when it is punched")
        self.cancel("later")
        self.until_row(page, "later", "Cancelled")
        page.until("near is not too close any more", "!document.querySelector('#day-table tr[data-break=near]').innerText.includes('Too close')")
        reply = self.broadcaster.ask(update=broadcast_pb2.Update(stream="radio1", break_id="near", duration_ms=30_000))
        self.assertEqual(reply.status, OK, reply.message)
        page.until("it is filled", "document.querySelector('#day-findings').textContent.includes('Nothing: no break')")
        self.end("noon")
        self.until_row(page, "noon", "Complete")
        self.assertEqual(page.seen["Page.loadEventFired"], 1)

        # Another day, and back.
        page.click("#day-before")
        page.until("nothing was there", "document.querySelector('#day-table').innerText.includes('No break started on this day')")
        self.assertRegex(page.evaluate("location.hash"), r"^#radio1/day/\d{4}-\d\d-\d\d$")
        self.assertEqual(page.evaluate("document.querySelector('#day-today').getAttribute('aria-pressed')"), "false")
        page.click("#day-today")
        page.until("today is there", f"{self.ROWS} === 'noon,later,near,held' && location.hash === '#radio1/day'")
        page.evaluate("document.querySelector('#day-date').value = '2020-02-29'; document.querySelector('#day-date').dispatchEvent(new Event('change'))")
        page.until("that day is there", "document.querySelector('#day-title').textContent.includes('29 February 2020')")
        page.click("#view-day")
        page.until("today is there", f"{self.ROWS} === 'noon,later,near,held'")

        # A break of it, and back; and the day of another stream.
        page.click("#day-table tr[data-break=near] a.name")
        page.until("its page has the focus", "location.hash === '#radio1/break/near' && document.activeElement.id === 'break-title'")
        page.evaluate("history.back()")
        page.until("the day is back", f"{self.ROWS} === 'noon,later,near,held' && document.activeElement.id === 'day-title'")
        self.publish("radio2", "other", [ad("a")])
        page.until("there are both streams", "document.querySelectorAll('#stream-rows tr:not([hidden])').length === 2")
        page.click("#stream-rows tr:nth-child(2) button")
        page.until("it is the day of the other", f"{self.ROWS} === 'other' && location.hash === '#radio2/day'")
        self.stays_home(page)

    def test_a_day_with_very_many_breaks_is_cut_and_says_so(self):
        self.gateway()
        self.publish("radio1", "noon", [ad("a")], start=broadcast_pb2.Start(now=True))
        page = self.view("#radio1/day")
        page.until("the break is there", f"{self.ROWS} === 'noon'")
        page.hold(None)
        # Of each answer 500 breaks are made, each 80 s behind the one before.
        page.evaluate(f"""held.looks = 0; held.most = 500; held.change = (text) => {{
            const answer = JSON.parse(text), midnight = new Date().setHours(0, 0, 0, 0), from = held.looks * held.most;
            held.looks += 1;
            held.first ??= answer.breaks[0];
            const instant = (place, seconds) => new Date(midnight + (place * 80 + seconds) * 1_000).toISOString();
            answer.breaks = Array.from({{ length: held.most }}, (_, place) => ({{ ...held.first, break: `b-${{from + place}}`, start: instant(from + place, 0), end: instant(from + place, 20) }}));
            answer.before = 1;
            return new Response(JSON.stringify(answer));
        }}; held.pattern = "limit=500"; {RESYNC}""")
        page.until("it says so", "document.querySelector('#day-cut').textContent.includes('more breaks than the 1,000 that a day shows')")
        self.assertEqual(page.evaluate("held.looks"), 2)
        self.assertEqual(page.evaluate("document.querySelectorAll('#day-table tbody tr').length"), 100)
        # The page with this moment is shown; there is one before it.
        place = page.evaluate("document.querySelector('#day-table .pager span').textContent")
        self.assertRegex(place, r"^page [2-9] of 1\d$")
        page.click("#day-table [data-key=earlier]")
        page.until("the page before is there", f"document.querySelector('#day-table .pager span').textContent === 'page {int(place.split()[1]) - 1} of {place.split()[3]}'")
        self.assertEqual(page.evaluate("document.activeElement.dataset.key"), "earlier")
        # Pages of the ledger without a break of this day are not asked for endlessly.
        page.evaluate(f"held.looks = 0; held.most = 0; {RESYNC}")
        page.until("it is cut again", "held.looks === 6 && document.querySelectorAll('#day-table tbody tr').length === 1")
        self.until_drawn(page)
        self.assertEqual(page.evaluate("held.looks"), 6)
        self.assertIn("more breaks than", page.text("#day-cut"))

    # MARK: A break

    def test_the_page_of_a_break_says_what_it_is_and_why(self):
        self.gateway("--set", POLICY, "--set", "listeners.attributes=* join=device")
        listeners = [self.listener("radio1") for _ in range(2)]
        self.ask("PUT", "v1/streams/radio1/breaks/noon", {
            "cued": True, "duration": "1h", "ads": [spot("house", 1_800, MARKUP), spot("spring", 1_800)],
            "variants": [{"name": "cars", "if": [{"attribute": "device", "is": ["car", "truck"]}], "ads": [spot("tyres", 60)]}]})
        deliveries = [each.batch("noon").batch.delivery for each in listeners]
        page = self.view("#radio1")
        # The card and the books lead to it.
        self.until_there(page, "there is a card", "#breaks .break a.name")
        page.click("#breaks .break a.name")
        page.until("its page is there", "location.hash === '#radio1/break/noon' && document.querySelector('#break-badge').textContent === 'Cued'")
        page.until("the title of the window says so", "document.title.startsWith('radio1/noon')")
        sections = "[...document.querySelectorAll('#break-variants section')].map((each) => [each.ariaLabel, each.querySelector('.note').textContent, each.querySelectorAll('tbody th').length])"
        page.until("there are variants", f"{sections}.length === 2")
        self.assertEqual(page.evaluate(sections), [["Variant cars", "Listeners with device=car|truck.", 1], ["Variant default", "Listeners that no variant above fits.", 3]])
        self.assertEqual(page.evaluate("document.querySelectorAll('#break-variants section')[1].querySelector('tbody bdi').textContent"), MARKUP)
        why = page.text("#break-why")
        self.assertIn("Its ads came with its publication, by local over HTTP", why)
        self.assertIn("The variant cars has ads for 1:00 of 1:00:00.", why)
        self.assertIn("cuecast dry-run", why)
        self.assertIn("No signal said anything about it.", page.text("#break-sources"))

        # Its books are those of the report, while they change.
        self.punch("radio1", "noon")
        page.until("it is on air", "document.querySelector('#break-badge').textContent === 'On air'")
        self.assertEqual(listeners[0].acknowledge("noon", deliveries[0], {"house": "played", "spring": "failed"}).status, OK)
        numbers = "[...document.querySelectorAll('#break-books tbody tr')].map((row) => `${row.className.slice(4)} ${row.querySelector('td.number').textContent}`).join()"
        page.until("the books move", f"{numbers} === 'delivered 4,played 1,ignored 0,failed 1,unknown 2'")
        report = self.ask("GET", "v1/streams/radio1/breaks/noon/report")["breaks"][0]
        kinds = ("delivered", "played", "ignored", "failed", "unknown")
        self.assertEqual([report["total"][kind] for kind in kinds], [4, 1, 0, 1, 2])
        cells = "[...document.querySelectorAll('#break-variants section:nth-of-type(2) tbody tr:not(.sum)')].map((row) => [...row.querySelectorAll('td.number')].slice(1).map((cell) => Number(cell.textContent)))"
        expected = [[each["counts"][kind] for kind in kinds] for each in report["ads"] if each["variantName"] == "default"]
        page.until("so do its ads", f"JSON.stringify({cells}) === '{json.dumps(expected, separators=(',', ':'))}'")
        self.assertIn("2 sessions got its ads", page.text("#break-books"))
        self.assertIn("Pending", page.text("#break-books"))

        # Its address can be sent; a token ends it, and the page says who did.
        other = self.view("#radio1/break/noon", token=True)
        self.until_there(other, "its end is offered", "#break-buttons button.primary")
        other.click("#break-buttons button[aria-label='End: noon']")
        other.until("it says whom it reaches", "document.querySelector('#dialog .reach')?.textContent === 'It reaches 2 listeners now.'")
        self.assertEqual(self.facts(other)["Break"], "noon")
        self.confirm(other)
        for each in (page, other):
            each.until("it is over", "document.querySelector('#break-badge').textContent === 'Complete'")
            each.until("the audit says so", "document.querySelector('#break-why').textContent.includes('It was ended by local over HTTP')")
            each.until("its counts are not final", "document.querySelector('#break-books').textContent.includes('the counts are final at')")
        page.until("the revisions are there", "[...document.querySelectorAll('#break-revisions tbody td:nth-child(3)')].map((each) => each.textContent).join() === 'end,punch,publish'")
        other.until("the focus is at its title", "document.activeElement.id === 'break-title'")
        # Of its lines only the newest are shown, and another gateway did not answer.
        page.hold(None)
        page.evaluate(f"""held.change = (text) => {{
            const answer = JSON.parse(text);
            answer.entries.pop();
            return new Response(JSON.stringify({{ ...answer, ...held.more }}));
        }}; held.more = {{ to: "2026-05-01T12:00:00Z", unanswered: [{{ gateway: "two", reason: "It did not answer in time." }}] }}; held.pattern = "allGateways=true"; {RESYNC}""")
        page.until("it says that its beginning is older", "document.querySelector('#break-why').textContent.includes('How it began is older than the newest 50 lines of the audit.')")
        self.assertNotIn("cuecast dry-run", page.text("#break-why"))
        for part in ("These are the newest 50 lines.", "The lines of the gateway two are missing: It did not answer in time."):
            self.assertIn(part, page.text("#break-revisions"))
        page.evaluate(f"delete held.more.to; {RESYNC}")
        page.until("it says who answered", "document.querySelector('#break-why').textContent.includes('not in the audit of the gateways that answered')")
        page.evaluate(f"""held.change = () => new Response('{{"code": "NOT_ALLOWED", "detail": "The audit is for others."}}', {{ status: 403 }}); {RESYNC}""")
        page.until("it says why it does not know", "document.querySelector('#break-why').textContent.includes('The audit is for others.')")
        page.evaluate(f"held.pattern = null; {RESYNC}")
        page.until("the beginning is there again", "document.querySelector('#break-why').textContent.includes('Its ads came with its publication')")
        page.click("#break-day")
        page.until("its day is there", f"{self.ROWS} === 'noon' && location.hash === '#radio1/day'")
        self.assertFalse(page.evaluate("window.hacked || document.querySelector('#break img, #break script')"))
        # What only the stream now shows is asked for when a person goes there.
        hidden = ("v1/history", "/signals", "limit=8")
        asked = len(page.requests)
        page.evaluate(f"window.before = window.cuecast.state.breaks; {RESYNC}")
        page.until("it is loaded anew", "window.cuecast.state.breaks !== window.before")
        self.assertFalse([each for each in page.requests[asked:] if any(part in each for part in hidden)])
        page.click("#view-now")
        page.until("the books are there", "document.querySelector('#books button.name')?.textContent === 'noon'")
        self.until_drawn(page)
        for part in hidden:
            self.assertTrue([each for each in page.requests[asked:] if part in each], part)

        # A break that signals opened.
        self.ask("PUT", "v1/lists/spots", {"ads": [spot("sale", 30)]})
        # The same moment, however long the machine takes for the second one.
        at = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
        for source in ("encoder", "playlist"):
            opened = self.ask("POST", "v1/streams/radio1/signals", {"source": source, "event": "4711", "kind": "out", "at": at, "duration": "60s"})
        self.place(page, f"#radio1/break/{opened['break']}")
        page.until("its sources are there", "document.querySelectorAll('#break-sources tbody tr').length === 2")
        self.assertEqual(page.evaluate("[...document.querySelectorAll('#break-sources tbody tr')].map((row) => [row.children[0].textContent, row.children[4].textContent])"),
                         [["encoder", "goes first"], ["playlist", "after those above"]])
        why = page.text("#break-why")
        self.assertIn("A signal opened it, brought by local over HTTP", why)
        self.assertIn("from the ad list that the stream’s cue policy named then", why)
        self.assertIn("It has ads for 0:30 of 1:00.", why)
        page.until("so are the newest signals", "document.querySelectorAll('#break-sources li').length === 2")
        self.stays_home(page)
        self.place(page, "#radio1/break/none")
        page.until("it says that there is none", "document.querySelector('#break-about').textContent === 'The gateway has no break none of the stream radio1.'")
        self.assertFalse(page.evaluate("document.querySelector('#break-books').checkVisibility()"))
        self.only_refusals(page, 404)

    # MARK: Lists

    NAMES = "[...document.querySelectorAll('#lists-table tbody th')].map((each) => each.textContent).join()"

    def test_lists_are_seen_put_and_removed_with_a_token(self):
        self.gateway("--set", POLICY)
        self.publish("radio1", "noon", [ad("sale")])
        page = self.view("#/lists")
        page.until("it asks for a token", "document.querySelector('#lists-table').innerText.includes('for holders of a token with the scope publish:*')")
        self.assertFalse([each for each in page.requests if "v1/lists" in each], "without a token nothing is asked for")
        keys = f"{self.server.folder}/data/http-keys.json"
        reader = self.server.run("token", "make", "--keys", keys, "--subject", "reader", "--scope", "read", "--scope", "publish:radio*", "--expires-in", "1h").split()[-1]
        self.give_token(page, reader)
        page.until("another token is too little", "document.querySelector('#lists-table').innerText.includes('they need the scope publish:*')")
        self.assertFalse(page.evaluate("document.querySelector('#lists-put').checkVisibility()"))
        page.click("#token")
        self.until_there(page, "it may be forgotten", "#dialog[open] button.danger")
        page.click("#dialog button.danger")
        page.until("it is forgotten", "document.querySelector('#token').textContent === 'Enter a token'")
        self.give_token(page)
        page.until("there is none", "document.querySelector('#lists-table').innerText.includes('No ad list yet')")

        def put(ads, **values):
            self.until_there(page, "the dialog is there", "#field-ads")
            self.fill(page, ads=ads, **values)
            page.click("#dialog button[type=submit]")

        def refused(part):
            page.until(f"it says {part}", f"document.querySelector('#dialog .problem').textContent.includes({json.dumps(part)})")

        # What is no list of ads goes nowhere, and what the gateway refuses is said in its sentence.
        page.click("#lists-put")
        put("{", list="spots")
        refused("neither JSON nor VAST")
        put('{"ads": {}}')
        refused("needs a member ads")
        self.assertFalse(self.ask("GET", "v1/lists")["lists"])
        put(json.dumps({"ads": [{"id": "sale"}]}))
        page.until("the gateway says why not", "document.querySelector('#dialog .problem').textContent.includes('sale') || document.querySelector('#dialog .problem').textContent.includes('ads')"
                   " && !document.querySelector('#dialog .problem').textContent.includes('member ads')")
        self.only_refusals(page, 400)
        page.complaints.clear()
        put(json.dumps({"ads": [spot("sale", 30, MARKUP), spot("bikes", 20)]}))
        page.until("it is there", f"!document.querySelector('#dialog').open && {self.NAMES} === 'spots' && location.hash === '#/lists/spots'")
        page.until("its use is there", "document.querySelector('#lists-table tbody tr').innerText.includes('radio*')")
        page.until("its ads are there", "document.querySelectorAll('#list-body tbody tr').length === 2")
        facts = "Object.fromEntries([...document.querySelectorAll('#list-body dt')].map((each) => [each.textContent, each.nextSibling.textContent]))"
        self.assertEqual({name: page.evaluate(facts)[name] for name in ("Ads", "Fills breaks of", "Revision")}, {"Ads": "2, together 0:50", "Fills breaks of": "radio*", "Revision": "1"})
        self.assertEqual(page.evaluate("document.querySelector('#list-body tbody bdi').textContent"), MARKUP)
        # Which breaks have an ad is found when it is asked for.
        page.click("button[aria-label='Find breaks with sale']")
        page.until("the break is found", "document.querySelector('#list-body tbody tr a')?.textContent === 'radio1/noon'")
        self.assertEqual(page.evaluate("document.querySelector('#list-body tbody tr a').getAttribute('href')"), "#radio1/break/noon")
        page.until("it has the focus", "document.activeElement.textContent === 'radio1/noon'")
        page.click("button[aria-label='Find breaks with bikes']")
        page.until("none is found", "document.querySelectorAll('#list-body tbody tr')[1].innerText.includes('none')")
        page.until("it is said, and the title has the focus", "document.querySelector('#said').textContent === 'No break with bikes' && document.activeElement.id === 'list-title'")

        # A list that another person changed meanwhile is not replaced.
        page.click("button[aria-label='Replace: spots']")
        page.until("its ads are in the dialog", "JSON.parse(document.querySelector('#field-ads')?.value ?? '{}').ads?.length === 2")
        self.ask("PUT", "v1/lists/spots", {"ads": [spot("theirs", 10)]})
        put(json.dumps({"ads": [spot("mine", 10)]}))
        refused("Nothing was changed: go back")
        self.assertEqual(self.ask("GET", "v1/lists/spots")["ads"][0]["id"], "theirs")
        self.only_refusals(page, 412)
        page.complaints.clear()
        page.press("Escape")
        page.until("theirs is shown", "document.querySelector('#list-body').innerText.includes('Ad theirs')")
        # A VAST document, a part of which cannot be in the list.
        vast = """<VAST version="4.2"><Ad id="spring"><InLine><AdSystem>Example</AdSystem><AdTitle>Spring</AdTitle><Creatives><Creative><Linear>
            <Duration>00:00:15</Duration><MediaFiles><MediaFile delivery="progressive" type="audio/mpeg" width="0" height="0">https://cdn.example.com/spring.mp3</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad>
            <Ad id="broken"><InLine><AdSystem>Example</AdSystem><AdTitle>Broken</AdTitle><Creatives></Creatives></InLine></Ad></VAST>"""
        page.click("button[aria-label='Replace: spots']")
        put(vast)
        page.until("it is replaced", "!document.querySelector('#dialog').open && document.querySelector('#list-body').innerText.includes('spring')")
        page.until("it says what was left out", "document.querySelector('#list-body .notice')?.innerText.includes('broken')")
        self.assertEqual(self.ask("GET", "v1/lists/spots")["revision"], 3)

        # A list in use stays; another one goes.
        page.click("button[aria-label='Remove: spots']")
        self.until_there(page, "the dialog is there", "#dialog[open] button.danger")
        self.assertEqual(self.facts(page)["Fills breaks of"], "radio*")
        page.click("#dialog button[type=submit]")
        refused("is in use")
        self.only_refusals(page, 409)
        page.complaints.clear()
        page.press("Escape")
        self.ask("PUT", "v1/lists/spare", {"ads": [spot("spare", 10)]})
        page.evaluate(RESYNC)
        page.until("both are there", f"{self.NAMES} === 'spare,spots'")
        page.click("#lists-table tbody a.name")
        page.until("nothing fills from it", "document.querySelector('#list-body').innerText.includes('none: no rule of the cue policy names it')")
        page.click("button[aria-label='Remove: spare']")
        self.until_there(page, "the dialog is there", "#dialog[open] button.danger")
        page.click("#dialog button[type=submit]")
        page.until("it is gone", f"!document.querySelector('#dialog').open && {self.NAMES} === 'spots' && location.hash === '#/lists'")
        page.until("the lists have the focus", "document.activeElement.id === 'lists-title'")
        self.assertLess(len([each for each in page.requests if each.endswith("v1/configuration")]), len([each for each in page.requests if each.endswith("v1/lists")]))
        self.assertFalse([each for each in page.requests if self.token() in each or reader in each])
        self.assertEqual(page.evaluate("localStorage.length + document.cookie.length"), 0)
        self.assertFalse(page.evaluate("window.hacked || document.querySelector('#list img')"))
        self.stays_home(page)

    # MARK: For everybody

    def test_the_views_are_for_every_eye_hand_and_screen(self):
        self.gateway("--set", POLICY)
        self.ask("PUT", "v1/lists/spots", {"ads": [spot("a" * 60, 30), spot("b", 20)]})
        long = "a" * 63
        for name, start in (("noon", broadcast_pb2.Start(now=True)), (long, broadcast_pb2.Start(in_ms=HOUR_MS))):
            self.put(name, 10_000, 20 * MINUTE_MS, start=start)
        self.put("held", MINUTE_MS, MINUTE_MS)
        self.put("off", MINUTE_MS, MINUTE_MS, start=broadcast_pb2.Start(in_ms=2 * HOUR_MS))
        self.cancel("off")
        page = self.view("#radio1/day", token=True)
        views = (("#radio1/day", "#day-table tbody tr:nth-child(4)", "day-title"), (f"#radio1/break/{long}", "#break-variants tbody tr", "break-title"),
                 ("#/lists/spots", "#list-body tbody tr", "list-title"))
        for address, there, title in views:
            with self.subTest(address):
                page.show(1_280, 900)
                self.place(page, address)
                self.until_there(page, "it is there", there)
                for dark in (False, True):
                    page.show(1_280, 900, dark=dark)
                    found = page.evaluate(CONTRAST)
                    self.assertGreater(found["count"], 20)
                    self.assertEqual(found["poor"], [], f"dark: {dark}")
                nodes = page.accessibility()
                for each in nodes:
                    if each["role"] in ("button", "link", "textbox", "table", "region", "Date", "rowheader"):
                        self.assertTrue(each["name"], each)
                # The table says what the timeline shows: screen readers hear it once.
                self.assertFalse([each for each in nodes if each["name"].startswith("⚠")])
                self.assertEqual(page.evaluate("[...document.querySelectorAll('.views [aria-current=page]')].map((each) => each.textContent)"),
                                 {"day-title": ["Day"], "break-title": [], "list-title": ["Ad lists"]}[title])
                # The keyboard reaches all of it, sees where it is, and nothing that is hidden from screen readers.
                page.focus(".skip")
                seen = []
                while not seen or seen[-1] != "Metrics":
                    page.press("Tab")
                    name, style, width, hidden = page.evaluate("""(() => {
                        const node = document.activeElement, style = getComputedStyle(node);
                        return [node.getAttribute("aria-label") ?? (node.textContent.trim() || node.id), style.outlineStyle, parseFloat(style.outlineWidth), node.closest("[aria-hidden=true]") !== null];
                    })()""")
                    seen.append(name)
                    self.assertTrue(style != "none" and width >= 2, f"no one sees where the focus is: {name}")
                    self.assertFalse(hidden, name)
                    self.assertLess(len(seen), 60, seen)
                for name in {"day-title": ["Previous day", "Today", "Next day", "day-date", long, "held"], "break-title": ["Its day", f"Cancel: {long}"],
                             "list-title": ["Put an ad list", "spots", "Replace: spots", "Find breaks with b"]}[title]:
                    self.assertIn(name, seen)
                for width in (390, 320):
                    page.show(width, 844, scale=2, mobile=True)
                    self.until_drawn(page)
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                    small = page.evaluate("""[...document.querySelectorAll(".views a, main button.quiet, main button.primary, main button.danger, main input")]
                        .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 44).map((each) => each.id || each.textContent)""")
                    self.assertEqual(small, [])
        page.show(1_280, 900)
        page.click("#lists-put")
        self.until_there(page, "the dialog is there", "#field-ads")
        for dark in (False, True):
            page.show(1_280, 900, dark=dark)
            self.assertEqual(page.evaluate(CONTRAST)["poor"], [], f"the dialog, dark: {dark}")
        for each in page.accessibility():
            if each["role"] in ("textbox", "button"):
                self.assertTrue(each["name"], each)
        self.stays_home(page)
