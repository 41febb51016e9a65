# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Players that only fetch documents and call URLs: HLS asset lists and VAST, and tracking URLs, over a gateway that is killed.

    scripts/end-to-end.sh FetchingPlayers
"""
import concurrent.futures, json, random, signal, threading, time, unittest, urllib.error, urllib.request
import xml.etree.ElementTree as tree

from harness import PATIENCE, Broadcaster, Gateway, ad, broadcast_pb2, status_pb2

VAST = "{http://www.iab.com/VAST}"
#: So long that no ad is over because the machine is slow.
AD_MS = 1_500_000
KINDS = ("delivered", "played", "ignored", "failed", "unknown", "contradictions")


def call(url):
    """Calls a tracking URL until somebody takes it, as players that retry do."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                assert answer.status == 204, answer.status
                return
        except urllib.error.HTTPError as error:
            with error:
                assert error.code == 503, (error.code, error.read())
        except OSError:
            # The gateway is gone, or goes.
            pass
        assert time.monotonic() < deadline, f"nobody takes {url}"
        time.sleep(0.02)


class HLSPlayer:
    def __init__(self, root, name):
        self.root, self.name = root, name

    def fetch(self):
        """The gateway's URL of each event, for each ad."""
        with urllib.request.urlopen(f"{self.root}/asset-list?_HLS_primary_id={self.name}", timeout=PATIENCE) as answer:
            document = json.load(answer)
        self.uris = [asset["URI"] for asset in document["ASSETS"]]
        return [{event["type"]: event["urls"][0] for event in asset["X-AD-CREATIVE-SIGNALING"]["payload"][0]["tracking"]}
                for asset in document["ASSETS"]]


class VASTPlayer:
    def __init__(self, root, name):
        self.root, self.name = root, name

    def fetch(self):
        with urllib.request.urlopen(f"{self.root}/vast?_HLS_primary_id={self.name}", timeout=PATIENCE) as answer:
            document = tree.fromstring(answer.read())
        self.uris = [each.text for each in document.iter(VAST + "MediaFile")]
        ads = []
        for each in document.findall(VAST + "Ad"):
            events = {tracking.get("event"): tracking.text for tracking in each.iter(VAST + "Tracking")}
            events["error"] = next(each.iter(VAST + "Error")).text
            events["impression"] = next(each.iter(VAST + "Impression")).text
            ads.append(events)
        return ads


class FetchingPlayers(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.root = f"http://{self.gateway.addresses['http']}/v1/streams/s"

    def ask(self, **kind):
        broadcaster = Broadcaster(self.gateway)
        try:
            reply = broadcaster.ask(**kind)
        finally:
            broadcaster.close()
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply.message)

    def counts(self, name):
        return {each: {kind: counts[kind] for kind in KINDS if counts.get(kind)}
                for each, counts in self.gateway.report("s", name).items()}

    def play(self, name, players):
        """Plays a break: each player says something else, every URL is called twice and at the same time, and the gateway is killed meanwhile."""
        self.ask(publish=broadcast_pb2.Publish(
            stream="s", break_id=name, advertisements=[ad("a", AD_MS), ad("b", AD_MS)], duration_ms=2 * AD_MS,
            start=broadcast_pb2.Start(now=True)))
        said = [("complete", "complete"), ("complete", "skip"), ("error", "complete"), ("skip", "error"), (None, None)]
        calls, expected = [], {each: {"delivered": len(players)} for each in "ab"}
        for number, player in enumerate(players):
            ads = player.fetch()
            self.assertEqual(len(ads), 2)
            self.assertEqual(player.uris, ["https://cdn.example.com/a.mp3", "https://cdn.example.com/b.mp3"])
            for each, events, event in zip("ab", ads, said[number % len(said)]):
                kind = {"complete": "played", "skip": "ignored", "error": "failed", None: "unknown"}[event]
                expected[each][kind] = expected[each].get(kind, 0) + 1
                measured = [events[other] for other in ("impression", "start", "midpoint")]
                ending = [events[event].replace("[ERRORCODE]", "401")] if event else []
                calls += 2 * (measured + ending)
        # What is handed out is recorded a moment later; what is lost with a kill before that is another matter.
        while any(counts["delivered"] < len(players) for counts in self.gateway.report("s", name).values()):
            time.sleep(0.05)
        random.shuffle(calls)
        begun = threading.Event()

        def tell(url):
            begun.set()
            call(url)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            done = [pool.submit(tell, url) for url in calls]
            begun.wait(PATIENCE)
            while sum(each.done() for each in done) < len(done) // 3:
                time.sleep(0.001)
            self.gateway.stop(signal.SIGKILL)
            self.gateway.start()
            for each in done:
                each.result(PATIENCE)
        # What was taken before the kill, and what was said again, changes nothing now.
        for url in calls:
            call(url)
        self.assertEqual(self.counts(name), expected)
        self.ask(end=broadcast_pb2.End(stream="s", break_id=name))

    def test_two_breaks_are_played_and_the_books_balance_over_two_kills(self):
        self.play("first", [HLSPlayer(self.root, f"hls-{number}") for number in range(10)])
        self.play("second", [VASTPlayer(self.root, f"vast-{number}") for number in range(5)]
                  + [HLSPlayer(self.root, f"hls-{number}") for number in range(5)])
        # Ended: there is nothing to play, for whoever comes now.
        self.assertEqual(HLSPlayer(self.root, "late").fetch(), [])
        self.assertEqual(VASTPlayer(self.root, "late").fetch(), [])
        self.assertEqual(self.gateway.stop(signal.SIGTERM), 0)

    def test_a_forged_url_changes_nothing(self):
        self.ask(publish=broadcast_pb2.Publish(
            stream="s", break_id="b", advertisements=[ad("a", AD_MS)], duration_ms=AD_MS, start=broadcast_pb2.Start(now=True)))
        url = HLSPlayer(self.root, "one").fetch()[0]["complete"]
        before, token = url.rsplit("/", 1)
        for place in range(len(token)):
            other = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1:]
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"{before}/{other}", timeout=PATIENCE)
            with refused.exception as error:
                self.assertEqual((error.code, json.load(error)["code"]), (400, "DELIVERY_INVALID"))
        call(url)
        self.assertEqual(self.counts("b"), {"a": {"delivered": 1, "played": 1}})


if __name__ == "__main__":
    unittest.main()
