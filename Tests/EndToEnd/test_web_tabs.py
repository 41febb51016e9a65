# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Listeners of the JavaScript library in several tabs, frames and players, and in pages that go away: each is a listener of its own,
and what was heard is told.

    scripts/end-to-end.sh WebTabs
"""
import os, signal, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import until
from web_page import HOUR_MS, NOWHERE, PageTest

SESSION = "window.listener.session"
#: Written by the listener in the storage of its tab.
STORED = "JSON.parse(sessionStorage.getItem(Object.keys(sessionStorage).find((key) => /:s[0-9]+$/.test(key))))"
#: A page that has no Web Locks, as those of insecure origins have none.
WITHOUT_LOCKS = 'Object.defineProperty(Navigator.prototype, "locks", { get() { return undefined; } });'


class WebTabs(PageTest):
    query = "&tabs=all"

    def play_in_both(self, first, second, name="b"):
        """Each plays a break once, and the books count two listeners."""
        for page in (first, second):
            self.write_down(page)
        ads = [self.site.ad(f"{name}-1"), self.site.ad(f"{name}-2")]
        self.publish(name, ads)
        for page in (first, second):
            page.until("it has the ads", f"window.listener.book.breaks.get('{name}')?.batch")
        self.punch(name)
        for page in (first, second):
            self.until_recorded(page, 2)
            self.assertEqual(page.evaluate("window.begun"), [ad.id for ad in ads])
            page.until("it listens on", "window.listener.state === 'listening'")
        self.assertEqual(self.counts(name, *[ad.id for ad in ads]), [{"delivered": 2, "played": 2}] * 2)
        self.end(name)

    def duplicate(self, page, before=None):
        """A tab with a copy of what this one has stored."""
        copy = page.open("about:blank")
        self.pages.append(copy)
        if before:
            copy.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        copy.go(self.address)
        return copy

    def test_a_tab_that_is_duplicated_is_a_listener_of_its_own_and_stays_the_same_when_it_is_loaded_anew(self):
        page = self.listening()
        copy = self.duplicate(page)
        # It does have the copy.
        self.assertEqual(copy.evaluate(STORED + ".session"), page.evaluate(SESSION))
        self.listen(copy)
        self.assertNotEqual(copy.evaluate(SESSION), page.evaluate(SESSION))
        self.play_in_both(page, copy)
        sessions = [each.evaluate(SESSION) for each in (page, copy)]
        for each in (copy, page):
            self.listening(each)
        self.assertEqual([each.evaluate(SESSION) for each in (page, copy)], sessions)
        self.play_in_both(page, copy, "c")

    def test_a_duplicated_tab_leaves_what_is_not_acknowledged_to_the_first(self):
        page = self.listening()
        self.publish_and_punch(page, "b", [self.site.ad("first", 600.0)])
        page.until("it plays", "window.listener.current !== null && window.listener.media.currentTime > 0")
        self.gateway.stop(signal.SIGKILL)
        page.evaluate("window.listener.media.dispatchEvent(new Event('ended'))")
        page.until("it has ended", "window.listener.unacknowledged === 1")
        copy = self.duplicate(page)
        self.assertEqual(copy.evaluate(STORED + ".session"), page.evaluate(SESSION))
        copy.click("#toggle")
        copy.until("it has begun", "window.listener?.session")
        self.assertEqual(copy.evaluate("window.listener.unacknowledged"), 0)
        self.gateway.start()
        for each in (page, copy):
            each.until("it listens", "window.listener.state === 'listening' && window.listener.unacknowledged === 0")
        self.assertEqual([each.evaluate("/recorded/.test(document.querySelector('#log').textContent)") for each in (page, copy)], [True, False])
        # The other tab plays the break for itself.
        self.assertEqual(self.counts("b", "first")[0]["played"], 1)

    def test_where_the_first_tab_has_stopped_it_keeps_its_session(self):
        page = self.listening()
        session = page.evaluate(SESSION)
        page.click("#toggle")
        page.until("it has left", "window.listener.state === 'stopped'")
        copy = self.duplicate(page)
        self.listen(copy)
        self.listen(page)
        self.assertEqual(page.evaluate(SESSION), session)
        self.assertNotEqual(copy.evaluate(SESSION), session)

    def test_a_page_without_web_locks_asks_the_others(self):
        page = self.page()
        page.call("Page.addScriptToEvaluateOnNewDocument", source=WITHOUT_LOCKS)
        self.listening(page)
        session = page.evaluate(SESSION)
        copy = self.listen(self.duplicate(page, WITHOUT_LOCKS))
        # One that was too busy to answer in time hears that its session listens elsewhere, and goes on with another.
        page.until("both listen", "window.listener.state === 'listening'")
        copy.until("they are two", f"{SESSION} !== null && window.listener.state === 'listening'")
        page.until("they are two", f"{SESSION} !== {copy.evaluate(SESSION)!r}")
        self.play_in_both(page, copy)
        session = page.evaluate(SESSION)
        self.listening(page)
        self.assertEqual(page.evaluate(SESSION), session)

    def test_a_session_that_listens_elsewhere_is_given_up_for_another(self):
        page = self.page()
        page.go(self.address_at(self.gateway, NOWHERE))
        self.listen(page)
        session = page.evaluate(SESSION)
        # A page that does not ask, as one with another library.
        other = self.page()
        other.go(self.address)
        other.evaluate(f"""fetch("http://{self.gateway.addresses['http']}/v1/streams/{self.stream}/listen?session={session}")
            .then((answer) => {{ window.answer = answer; }})""")
        page.until("it is another listener", f"{SESSION} !== {session!r} && window.listener.state === 'listening'")
        self.publish_and_punch(page, "b", [self.site.ad("first")])
        self.until_recorded(page, 1)
        self.assertEqual(self.counts("b", "first"), [{"delivered": 1, "played": 1}])

    def another_player(self, page, where="window"):
        """A second player in a page, or the first one in a frame."""
        page.evaluate(f"""{where}.eval(`import("{self.site.origin}/index.js").then((module) => {{
            window.other = new module.CuecastListener({{ gateway: "http://{self.gateway.addresses['http']}", stream: "{self.stream}", tabs: "all",
                webSocket: "{self.gateway.addresses['websocket']}" }});
            window.other.begun = [];
            window.other.addEventListener("ad", (event) => window.other.begun.push(event.detail.ad.id));
            window.other.start();
        }})`)""")
        page.until("the other one listens", f"{where}.other?.state === 'listening'")

    def play_in(self, page, others, name):
        """The page and those in it play a break once each."""
        self.write_down(page)
        for each in others:
            page.evaluate(f"{each}.begun.length = 0")
        self.publish(name, [self.site.ad(name)])
        everyone = ["window.listener", *others]
        for each in everyone:
            page.until("it has the ads", f"{each}.book.breaks.get('{name}')?.batch")
        self.punch(name)
        for each in everyone:
            page.until("its outcome is recorded", f"{each}.book.closed.has('{name}') && {each}.unacknowledged === 0")
        self.assertEqual(page.evaluate("window.begun"), [name])
        for each in others:
            self.assertEqual(page.evaluate(f"{each}.begun"), [name])
        self.assertEqual(self.counts(name, name), [{"delivered": len(everyone), "played": len(everyone)}])
        self.end(name)

    def test_two_players_in_a_page_and_one_in_a_frame_are_three_listeners(self):
        page = self.listening()
        others = ["window.other", "window.frames[0].other"]

        def add():
            self.another_player(page)
            page.evaluate("""new Promise((loaded) => { const frame = document.createElement("iframe");
                frame.src = "/examples/plain/player.css"; frame.onload = () => loaded(); document.body.append(frame); })""")
            self.another_player(page, "window.frames[0]")

        def sessions():
            return [page.evaluate(f"{each}.session") for each in ("window.listener", *others)]

        add()
        before = sessions()
        self.assertEqual(len(set(before)), 3)
        self.play_in(page, others, "b")
        self.listening(page)
        add()
        self.assertEqual(sessions(), before)
        self.play_in(page, others, "c")

    def test_a_frame_that_is_removed_tells_what_was_heard(self):
        page = self.page()
        page.go(self.site.origin + "/examples/plain/player.css")
        page.evaluate("""new Promise((loaded) => { const frame = document.createElement("iframe");
            frame.src = "/examples/plain/player.css"; frame.onload = () => loaded(); document.body.append(frame); })""")
        self.another_player(page, "window.frames[0]")
        self.publish("b", [self.site.ad("first", 600.0)])
        page.until("it has the ads", "window.frames[0].other.book.breaks.get('b')?.batch")
        self.punch("b")
        page.until("it plays", "window.frames[0].other.media.currentTime > 0.5")
        page.evaluate("document.querySelector('iframe').remove()")
        self.heard("b", "first", 500, 600_000)

    def until_played(self, name, ad):
        """Waits until an ad has been recorded as played, and gives its counts."""
        return until(f"{ad} is recorded", lambda: (counts := self.gateway.report(self.stream, name)[ad])["played"] and counts)

    def heard(self, name, ad, least, most):
        counts = self.until_played(name, ad)
        self.assertEqual((counts["delivered"], counts["played"], counts["inferred"]), (1, 1, 1))
        self.assertGreaterEqual(counts["heardMilliseconds"], least)
        self.assertLessEqual(counts["heardMilliseconds"], most)

    def playing(self, page, *names, seconds=600.0):
        """A break whose first ad is heard by now."""
        self.publish_and_punch(page, "b", [self.site.ad(names[0], seconds), *[self.site.ad(name) for name in names[1:]]],
                               duration_ms=HOUR_MS)
        page.until("it plays", "window.listener.media.currentTime > 0.5")

    def test_back_and_forward_it_is_the_same_listener_and_plays_nothing_twice(self):
        page = self.listening()
        session = page.evaluate(SESSION)
        self.playing(page, "first", "second")
        page.go(self.site.origin + "/examples/plain/player.css")
        self.heard("b", "first", 500, 600_000)
        page.back()
        # Kept as it was, or loaded anew.
        page.until("the page is there", "document.querySelector('#toggle') !== null")
        if not page.evaluate("Boolean(window.listener)"):
            self.listen(page)
        page.until("it plays what is left", "window.listener.book.closed.has('b') && window.listener.unacknowledged === 0")
        self.assertEqual(page.evaluate(SESSION), session)
        self.assertEqual(self.counts("b", "first", "second"), [{"delivered": 1, "played": 1}] * 2)
        # Another page of the tab listens for the same session; then the first one does again.
        page.go(self.address + "&again")
        self.listen(page)
        self.assertEqual(page.evaluate(SESSION), session)
        page.back()
        page.until("the page is there", "document.querySelector('#toggle') !== null && !/again/.test(location.search)")
        if not page.evaluate("Boolean(window.listener)"):
            self.listen(page)
        page.until("it listens", "window.listener.state === 'listening'")
        self.assertEqual(page.evaluate(SESSION), session)
        self.write_down(page)
        self.end("b")
        self.publish_and_punch(page, "c", [self.site.ad("third")])
        page.until("it is recorded", "window.listener.book.closed.has('c') && window.listener.unacknowledged === 0")
        self.assertEqual(page.evaluate("window.begun"), ["third"])
        self.assertEqual(self.counts("c", "third"), [{"delivered": 1, "played": 1}])

    def test_a_tab_that_is_closed_tells_what_was_heard(self):
        page = self.listening()
        self.playing(page, "first")
        page.close()
        self.heard("b", "first", 500, 600_000)

    def test_a_tab_that_is_killed_tells_what_was_heard_when_it_is_loaded_anew(self):
        page = self.listening()
        session = page.evaluate(SESSION)
        self.playing(page, "first", "second")
        page.until("so much is kept", "JSON.parse(sessionStorage.getItem("
                   "Object.keys(sessionStorage).find((key) => key.endsWith(':unsaved')))).playing?.outcome.heardMs >= 5_000")
        page.kill()
        self.listening(page)
        self.assertEqual(page.evaluate(SESSION), session)
        page.until("it plays what is left", "window.listener.book.closed.has('b') && window.listener.unacknowledged === 0")
        self.heard("b", "first", 5_000, 600_000)
        self.assertEqual(self.counts("b", "second"), [{"delivered": 1, "played": 1}])


if __name__ == "__main__":
    unittest.main()
