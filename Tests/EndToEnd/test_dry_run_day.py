# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""`cuecast dry-run day`: what the breaks of a schedule would have, and a follower that does the same afterwards.

    scripts/end-to-end.sh DryRunOfADay
"""
import datetime, json, os, signal, subprocess, tempfile, time, unittest

from ad_server import AdServer, inline, vast
from harness import BINARY, PATIENCE, ROOT, Gateway, until
from test_ad_servers import UNHURRIED, gateway_text, run_with

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")


class DryRunOfADay(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.gateway.run("lists", "put", "house", "--vast", VAST)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.base = int(time.time()) + 7_200

    def schedule(self, count, minutes=1, url=None):
        """A traffic log of so many breaks."""
        path = os.path.join(self.folder, "day.csv")
        rows = []
        for number in range(count):
            start = datetime.datetime.fromtimestamp(self.base + number * minutes * 60, datetime.timezone.utc)
            rows.append(f"{start:%Y-%m-%dT%H:%M:%SZ},30,b{number},{url or ''},Break {number}")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(["start,duration,id,vast-url,title", *rows]) + "\n")
        return path

    def file(self, name, document):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        return path

    def candidates(self, names, apart, **more):
        return self.file("candidates.json", {"rules": {"apart": {"ad": apart}}, **more, "candidates": [
            {"ad": {"id": name, "title": name, "duration": "15s", "media": [{"url": f"https://a.example/{name}.mp3"}]}} for name in names]})

    def options(self, path, *more):
        return (path, "--stream", "radio1", "--time-zone", "UTC", "--list", "house", *more)

    def dry(self, path, *more, code=0):
        done = run_with(self.gateway, "dry-run", "day", *self.options(path, *more), "--json", code=code)
        return json.loads(done.stdout)["breaks"]

    def breaks(self):
        return {each["break"]: each for each in json.loads(self.gateway.run("breaks", "--stream", "radio1", "--format", "json"))}

    def lists(self, name):
        """The titles of a break's ads in the books, by variant."""
        found = json.loads(gateway_text(self.gateway, f"/v1/reports?stream=radio1&break={name}"))["breaks"]
        lists = {}
        for each in found[0]["ads"] if found else ():
            lists.setdefault(each.get("variantName", "default"), []).append(each["title"])
        return lists

    def test_a_follower_does_what_the_dry_run_said(self):
        path = self.schedule(6)
        variants = [{"name": "cars", "if": [{"attribute": "device", "is": "car"}]}]
        choose = self.candidates([f"ad{number}" for number in range(5)], "2m", variants=variants)
        said = self.dry(path, "--choose", choose)
        self.assertEqual([(each["change"], len(each["variants"])) for each in said], [("new", 2)] * 6)
        # Two ads of five in each break, and none twice within two minutes.
        chosen = [[ad["title"] for ad in each["variants"][0]["ads"]] for each in said]
        self.assertEqual([len(each) for each in chosen], [2] * 6)
        for former, later in zip(chosen, chosen[1:]):
            self.assertFalse(set(former) & set(later), chosen)
        left = {each["id"]: (each["reason"], each["sentence"]) for each in said[1]["variants"][0]["left"]}
        for name in chosen[0]:
            self.assertEqual(left[name], ("adTooSoon", "it plays 60 s before in another break"))
        self.assertEqual(self.breaks(), {}, "nothing is published")
        follower = subprocess.Popen([BINARY, "schedule", "follow", *self.options(path, "--choose", choose, "--fill-ahead", "6h"), "--json"],
                                    env=self.gateway.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            names = [each["break"] for each in said]
            until("the follower has filled all", lambda: [self.lists(name).get("default") for name in names] == chosen, lasting=60)
            self.assertEqual([self.lists(name)["cars"] for name in names],
                             [[ad["title"] for ad in each["variants"][1]["ads"]] for each in said])
        finally:
            follower.send_signal(signal.SIGTERM)
            follower.wait(PATIENCE)
        # Now they stay as they are, and count for others: a break more gets what is far enough.
        again = self.dry(self.schedule(7), "--choose", choose)
        self.assertEqual([each.get("stays") for each in again], ["filled"] * 6 + [None])
        self.assertFalse(set(chosen[5]) & {ad["title"] for ad in again[6]["variants"][0]["ads"]})

    def test_ad_servers_are_asked_for_each_variant_only_where_it_is_said(self):
        server = AdServer()
        self.addCleanup(server.close)
        server.serve("/main", vast(inline("Main", seconds=40)))
        server.serve("/none", vast())
        path = self.schedule(2, url=server.url("/main"))
        variants = self.file("variants.json", {"variants": [
            {"name": "cars", "if": [{"attribute": "device", "is": "car"}], "vastUrl": server.url("/none"), "list": "house"}]})
        more = ("--variants", variants, "--allow-private", *UNHURRIED)
        said = self.dry(path, *more)
        self.assertEqual((len(server.asked), [ad["title"] for ad in said[0]["variants"][0]["ads"]][:1]), (0, ["Harbour Coffee: the early cup"]))
        said = self.dry(path, *more, "--ask-ad-servers")
        self.assertEqual(sorted(target for target, _ in server.asked), ["/main", "/main", "/none", "/none"])
        default, cars = said[1]["variants"]
        self.assertEqual((default["ads"][0]["title"], default["ads"][0]["cutAfterSeconds"]), ("Main", 30))
        self.assertIn("it keeps the ads of the list house", cars["notes"])
        # A follower that asks no ad server leaves such breaks to one that does, and chooses nothing for them.
        choose = self.candidates(["only"], "30s")
        private = ("--allow-private", *UNHURRIED)
        house = [[ad["title"] for ad in each["variants"][0]["ads"]] for each in self.dry(path, "--choose", choose, *private)]
        self.assertEqual([titles[0] for titles in house], ["Harbour Coffee: the early cup"] * 2)
        empty = os.path.join(self.folder, "empty")
        run_with(self.gateway, "vast", "resolve", server.url("/none"), *private, "--record", empty, code=65)
        said = self.dry(path, "--choose", choose, "--answers", empty)
        self.assertEqual([[ad["title"] for ad in each["variants"][0]["ads"]] for each in said], [["only"]] * 2)
        # From recorded answers it is the same, and no server is asked.
        folder = os.path.join(self.folder, "answers")
        run_with(self.gateway, "vast", "resolve", server.url("/main"), "--allow-private", *UNHURRIED, "--record", folder, code=0)
        asked = len(server.asked)
        self.assertEqual(self.dry(path, *more, "--answers", folder)[1]["variants"][0]["ads"], default["ads"])
        self.assertEqual((len(server.asked), self.breaks()), (asked, {}))
        for options in (("--ask-ad-servers", "--answers", folder), ("--report-errors",)):
            self.assertEqual(run_with(self.gateway, "dry-run", "day", *self.options(path, *options)).returncode, 64)

    def test_what_the_gateway_would_refuse_is_told(self):
        at = datetime.datetime.fromtimestamp(self.base + 60, datetime.timezone.utc)
        self.gateway.run("publish", "--stream", "radio1", "--break", "other", "--vast", VAST, "--at", f"{at:%Y-%m-%dT%H:%M:%SZ}", "--duration", "30s")
        choose = self.candidates(["a", "b"], "30s")
        path = self.schedule(3)
        said = self.dry(path, "--choose", choose, code=1)
        self.assertEqual([each["change"] for each in said], ["new", "refused", "new"])
        self.assertIn("other holds part of that time", said[1]["reason"])
        text = run_with(self.gateway, "dry-run", "day", *self.options(path, "--choose", choose), code=1).stdout
        self.assertIn("day on radio1: 3 breaks; nothing is published", text)
        self.assertIn("2 breaks are filled here, with 4 ads of 60.0 s for default", text)
        # Without the gateway's reports the rules about time cannot be kept.
        done = run_with(self.gateway, "dry-run", "day", *self.options(path, "--choose", choose, "--http", "127.0.0.1:1"), code=69)
        self.assertIn("no ads can be chosen", done.stderr)
        run_with(self.gateway, "dry-run", "day", *self.options(path, "--choose", choose, "--http", "127.0.0.1:1", "--history", "none"), code=1)
        done = run_with(self.gateway, "dry-run", "day", *self.options(os.path.join(self.folder, "none.csv")), code=65)
        self.assertIn("no such file", done.stderr)
