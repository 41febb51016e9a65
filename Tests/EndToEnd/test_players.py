# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Players that only fetch documents and call URLs: HLS asset lists and VAST, and tracking URLs, over a gateway that is killed.

    scripts/end-to-end.sh FetchingPlayers VASTDocuments
"""
import concurrent.futures, json, os, random, signal, subprocess, tempfile, threading, time, unittest, urllib.error, urllib.request
import xml.etree.ElementTree as tree

from harness import PATIENCE, ROOT, Broadcaster, Gateway, ad, advertisement_pb2, broadcast_pb2, status_pb2

VAST = "{http://www.iab.com/VAST}"
#: So long that no ad is over because the machine is slow.
AD_MS = 1_500_000
#: How long the ad lasts that has everything, in milliseconds; it can be skipped after 5 s.
RICH_MS = 6_000
KINDS = ("delivered", "played", "ignored", "failed", "unknown", "contradictions")


def call(url):
    """Calls a tracking URL until it is accepted, as players that retry do."""
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
        assert time.monotonic() < deadline, f"{url} is not accepted"
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
        # Ended: there is nothing to play, for a player that comes now.
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


class VASTDocuments(unittest.TestCase):
    """The VAST that a gateway writes, by what the standard says, and by a program that others wrote."""

    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def fetch(self, query=""):
        # As a front asks that speaks TLS: what leads to the gateway begins with https then.
        request = urllib.request.Request(f"http://{self.gateway.addresses['http']}/v1/streams/s/vast?_HLS_primary_id=p{query}",
                                         headers={"X-Forwarded-Proto": "https"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.read()

    def check(self, document):
        """The faults of a document, one a line; empty: it is right."""
        with tempfile.NamedTemporaryFile(suffix=".xml") as file:
            file.write(document)
            file.flush()
            done = subprocess.run([os.path.join(ROOT, ".venv/bin/python"), os.path.join(ROOT, "Tests/EndToEnd/vast.py"), file.name],
                                  capture_output=True, text=True)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout if done.returncode else ""

    @staticmethod
    def rich(name):
        """An ad that has everything that an ad may have."""
        rich = ad(name, RICH_MS)
        rich.description, rich.advertiser, rich.skip_offset_ms = "More & <more>", "A ]]> B", 5_000
        rich.click_through_url = "https://shop.example.com/?a=1&b=2"
        del rich.media[:]
        rich.media.extend([
            advertisement_pb2.MediaFile(url="https://cdn.example.com/a.mp4?x=1&y=2", type="video/mp4", bitrate_kbps=2_200, width=1_280,
                                        height=720, codec="avc1"),
            advertisement_pb2.MediaFile(url="https://cdn.example.com/a.m3u8", type="application/x-mpegURL", streaming=True)])
        rich.banner.image_url, rich.banner.target_url = "https://cdn.example.com/b.png", "https://shop.example.com/banner"
        rich.banner.width, rich.banner.height = 300, 250
        rich.banner.alternative_text, rich.banner.type = "A <banner>", "image/png"
        for event in ("impression", "start", "midpoint", "complete", "skip", "pause", "clickTracking", "customClick", "error", "bannerView",
                      "bannerClick"):
            rich.trackers.add(event=event, url=f"https://track.example.com/{event}?[CACHEBUSTING]&x=1")
        rich.trackers.add(event="progress", url="https://track.example.com/p", offset_ms=1_500)
        # What is for others than the player.
        rich.universal_ids.add(registry="ad-id.org", value="CNPA0484000H")
        rich.ad_serving_id = "serving-17"
        for event in ("viewable", "notViewable", "viewUndetermined"):
            rich.trackers.add(event=event, url=f"https://track.example.com/{event}")
        verification = rich.verifications.add(vendor="company.com-omid", parameters="{\"a\": \"]]> & <b>\"}")
        verification.resources.add(url="https://verify.example.com/omid.js", api_framework="omid", browser_optional=True)
        verification.resources.add(url="https://verify.example.com/code.zip", executable=True, type="application/zip", api_framework="omid")
        # No player can run what names no framework.
        verification.resources.add(url="https://verify.example.com/none.js")
        rich.verifications.add(vendor="none.example").resources.add(url="https://verify.example.com/none.js")
        verification.trackers.add(event="verificationNotExecuted", url="https://verify.example.com/no?[REASON]")
        icon = rich.icons.add(program="AdChoices", image_url="https://cdn.example.com/i.png", width=60, height=20, x_position="right",
                              y_position="7", offset_ms=0, duration_ms=5_000, target_url="https://example.com/choices")
        icon.trackers.add(event="iconView", url="https://track.example.com/icon")
        icon.trackers.add(event="iconClick", url="https://track.example.com/icon-click")
        # Without a size it has no place in a document.
        rich.icons.add(image_url="https://cdn.example.com/j.png")
        rich.captions.add(url="https://cdn.example.com/a.vtt", type="text/vtt", language="zh-TW")
        rich.mezzanines.add(url="https://cdn.example.com/master.mov", type="video/quicktime", width=3_840, height=2_160)
        return rich

    def test_every_document_is_what_version_4_2_says(self):
        # Without a break there is no ad.
        self.assertEqual(self.check(self.fetch()), "")
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(broadcaster.close)
        reply = broadcaster.publish("s", "b", [self.rich("rich"), ad("plain", AD_MS)], duration_ms=RICH_MS + AD_MS, start=broadcast_pb2.Start(now=True))
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply.message)
        whole = self.fetch("&_HLS_start_offset=0")
        self.assertEqual(len(tree.fromstring(whole).findall(VAST + "Ad")), 2)
        self.assertEqual(self.check(whole), "")
        inline = tree.fromstring(whole).find(VAST + "Ad").find(VAST + "InLine")
        self.assertNotIn(b"none.js", whole)
        for path, text in (
                ("AdServingId", "serving-17"), ("ViewableImpression/Viewable", "https://track.example.com/viewable"),
                ("ViewableImpression/NotViewable", "https://track.example.com/notViewable"),
                ("AdVerifications/Verification/VerificationParameters", '{"a": "]]> & <b>"}'),
                ("AdVerifications/Verification/JavaScriptResource", "https://verify.example.com/omid.js"),
                ("AdVerifications/Verification/ExecutableResource", "https://verify.example.com/code.zip"),
                ("AdVerifications/Verification/TrackingEvents/Tracking", "https://verify.example.com/no?[REASON]"),
                ("Creatives/Creative/Linear/Icons/Icon/StaticResource", "https://cdn.example.com/i.png"),
                ("Creatives/Creative/Linear/Icons/Icon/IconClicks/IconClickThrough", "https://example.com/choices"),
                ("Creatives/Creative/Linear/Icons/Icon/IconClicks/IconClickTracking", "https://track.example.com/icon-click"),
                ("Creatives/Creative/Linear/Icons/Icon/IconViewTracking", "https://track.example.com/icon"),
                ("Creatives/Creative/Linear/MediaFiles/ClosedCaptionFiles/ClosedCaptionFile", "https://cdn.example.com/a.vtt"),
                ("Creatives/Creative/Linear/MediaFiles/Mezzanine", "https://cdn.example.com/master.mov"),
                ("Creatives/Creative/UniversalAdId", "CNPA0484000H")):
            self.assertEqual([each.text.strip() for each in inline.findall("/".join(VAST + part for part in path.split("/")))][:1], [text], path)
        # Where the second ad runs, that is all there is.
        deadline = time.monotonic() + PATIENCE
        while len(tree.fromstring(rest := self.fetch()).findall(VAST + "Ad")) > 1:
            self.assertLess(time.monotonic(), deadline, "the first ad does not end")
            time.sleep(0.2)
        self.assertEqual(self.check(rest), "")
        # The check can fail, in each of the ways that it is for.
        text = whole.decode()
        self.assertEqual(text.count('<UniversalAdId idRegistry="unknown">unknown</UniversalAdId>'), 1)
        identified = '<UniversalAdId idRegistry="unknown">unknown</UniversalAdId>'
        for what, wrong, fault in (
                ("an id in another place", (identified + "<Linear").join(text.replace(identified, "", 1).rsplit("<Linear", 1)),
                 "/VAST/Ad/InLine/Creatives/Creative: the order is UniversalAdId, Linear (3.7)"),
                ("no id", text.replace(identified, "", 1), "UniversalAdId is there 0 times (3.7)"),
                ("no registry", text.replace(' idRegistry="unknown"', "", 1), "the attribute idRegistry is missing (3.7.1)"),
                ("no size", text.replace(' width="1280"', "", 1), "the attribute width is missing (3.9.1)"),
                ("another attribute", text.replace("<AdTitle>", '<AdTitle lang="en">', 1), "there is no attribute lang (3.4.2)"),
                ("another version", text.replace('version="4.2"', 'version="4.1"', 1), "the attribute version is '4.1' (3.2)"),
                ("another event", text.replace('event="midpoint"', 'event="middle"', 1), "the attribute event is 'middle' (3.14.1)"),
                ("another time", text.replace("<Duration>00:", "<Duration>0:", 1), "/Linear/Duration: its text is"),
                ("no address", text.replace("https://track.example.com/impression?", "", 1), "/InLine/Impression: its text is"),
                ("an unknown element", text.replace("<Creatives>", "<Extra/><Creatives>", 1), "Extra does not belong there (3.4)"),
                ("no namespace", text.replace(' xmlns="http://www.iab.com/VAST"', "", 1), "VAST is no element that is written"),
                ("seen by the other one only", text.replace("https://cdn.example.com/a.mp4", "http://cdn.example.com/a.mp4"),
                 "vastlint: ")):
            with self.subTest(what):
                self.assertNotEqual(wrong, text)
                self.assertIn(fault, self.check(wrong.encode()))


if __name__ == "__main__":
    unittest.main()
