# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Ads that are chosen from candidates: `cuecast publish --choose`, and `cuecast dry-run`, which publishes nothing.

    scripts/end-to-end.sh Choosing
"""
import datetime, itertools, json, os, re, unittest, urllib.parse

from ad_server import AdServer, inline, vast, wrapper
from harness import ROOT, Gateway, until
from test_ad_servers import UNHURRIED, gateway_text, run_with
from test_http_api import API

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")


def ad(name, seconds, advertiser=None, **members):
    """A candidate."""
    described = {"id": name, "title": name.title(), "duration": f"{seconds}s",
                 "media": [{"url": f"https://cdn.example.com/{name}.mp3", "type": "audio/mpeg"}]}
    if advertiser:
        described["advertiser"] = advertiser
    return {"ad": described, **members}


#: A break of every rule.
CANDIDATES = [
    ad("intro", 3, role="opener"), ad("outro", 2, role="closer"), ad("station", 1, role="jingle"),
    ad("sale", 20, "Shop", priority=1), ad("sale-2", 20, "SHOP"), ad("cars", 30, categories=["IAB2-3"], priority=2),
    ad("more-cars", 30, categories=["IAB2"]), ad("teaser", 5, lock="story"), ad("story", 10, lock="story"),
    ad("old", 10, until="2020-01-01T00:00:00Z"), ad("next", 10, **{"from": "2100-01-01T00:00:00Z"}), ad("long", 200),
]


class Choosing(unittest.TestCase):
    def gateway(self):
        gateway = Gateway()
        self.addCleanup(gateway.close)
        return gateway

    def file(self, gateway, document, name="candidates.json"):
        path = os.path.join(gateway.folder, name)
        with open(path, "w") as file:
            json.dump(document, file)
        return path

    def breaks(self, gateway):
        return {each["break"]: each for each in json.loads(gateway.run("breaks", "--json"))}

    def published(self, gateway, stream, name):
        """The ids of the ads of a break, by variant."""
        def reported():
            found = json.loads(gateway_text(gateway, f"/v1/reports?stream={stream}&break={name}"))["breaks"]
            return found and found[0]["ads"]
        ads = until("the break is in the books", reported)
        found = {}
        for each in ads:
            found.setdefault(each.get("variantName"), []).append(each["id"])
        return found

    def test_what_is_chosen_is_published_as_the_dry_run_said(self):
        gateway = self.gateway()
        path = self.file(gateway, {"candidates": CANDIDATES})
        options = ("--stream", "radio1", "--break", "noon", "--cued", "--choose", path, "--fill", "90s")
        before = gateway_text(gateway, "/metrics")
        done = run_with(gateway, "dry-run", *options, "--json", code=0)
        dry = json.loads(done.stdout)
        self.assertEqual(self.breaks(gateway), {})
        counted = [line for line in before.splitlines() if line.startswith(("cuecast_audit_records", "cuecast_break_entries", "cuecast_notices_sent"))]
        after = gateway_text(gateway, "/metrics").splitlines()
        self.assertGreater(len(counted), 0)
        self.assertEqual([line for line in counted if line not in after], [])
        variant = dry["variants"][0]
        order = [each["id"] for each in variant["ads"]]
        self.assertEqual((order[0], order[-1], variant["durationSeconds"], variant["best"]), ("intro", "outro", 71, True))
        self.assertEqual(set(order), {"intro", "sale", "cars", "teaser", "story", "station", "outro"})
        self.assertEqual(order.index("story"), order.index("teaser") + 1)
        left = {each["id"]: (each["reason"], each["sentence"]) for each in variant["left"]}
        self.assertEqual({name: reason for name, (reason, _) in left.items()},
                         {"sale-2": "sameAdvertiser", "more-cars": "sameCategory", "old": "expired", "next": "notYet",
                          "long": "longerThanBreak"})
        self.assertIn("sale, of its advertiser, is in the break", left["sale-2"][1])
        done = run_with(gateway, "publish", *options, "--json", code=0)
        self.assertIn("1. intro, 3 s: the opener that goes first", done.stderr)
        status = json.loads(done.stdout)
        self.assertEqual((status["advertisements"], status["durationSeconds"]), (7, 71))
        self.assertEqual(self.published(gateway, "radio1", "noon"), {None: order})
        # The same choice is the same break.
        run_with(gateway, "publish", *options, code=0)
        self.assertEqual(list(self.breaks(gateway)), ["noon"])

    def test_an_exact_filling_is_exact_or_nothing_is_published(self):
        gateway = self.gateway()
        path = self.file(gateway, {"candidates": [ad(f"ad{n}", n) for n in (7, 11, 13, 20)]})
        options = ("--stream", "radio1", "--break", "noon", "--cued", "--choose", path)
        done = run_with(gateway, "publish", *options, "--fill-exactly", "29s", code=65)
        self.assertIn("no filling lasts 29 s exactly", done.stderr)
        self.assertEqual(self.breaks(gateway), {})
        done = run_with(gateway, "dry-run", *options, "--fill-exactly", "29s", "--json", code=65)
        left = json.loads(done.stdout)["variants"][0]["left"]
        self.assertEqual([each["reason"] for each in left], ["noFilling"] * 4)
        done = run_with(gateway, "publish", *options, "--fill-exactly", "31s", "--json", code=0)
        self.assertEqual(json.loads(done.stdout)["durationSeconds"], 31)
        self.assertEqual(set(self.published(gateway, "radio1", "noon")[None]), {"ad7", "ad11", "ad13"})

    def test_ads_of_other_breaks_keep_ads_away_and_the_gateway_knows_them(self):
        gateway = self.gateway()
        document = {"rules": {"apart": {"ad": "30m", "advertiser": "10m"}},
                    "candidates": [ad("a", 10, "Shop"), ad("b", 10, "Shop"), ad("c", 10, times=2, priority=6)]}
        path = self.file(gateway, document)
        start = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(hours=2)

        def options(name, minutes, *more):
            at = (start + datetime.timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")
            return ("--stream", "radio1", "--break", name, "--at", at, "--choose", path, "--fill", "30s", *more)

        run_with(gateway, "publish", *options("first", 0), code=0)
        first = self.published(gateway, "radio1", "first")[None]
        self.assertEqual(first[1:], ["c", "c~2"])
        done = json.loads(run_with(gateway, "dry-run", *options("second", 9), "--json", code=65).stdout)
        reasons = {each["id"]: each["reason"] for each in done["variants"][0]["left"]}
        other = ({"a", "b"} - {first[0]}).pop()
        self.assertEqual(reasons, {first[0]: "adTooSoon", other: "advertiserTooSoon", "c": "adTooSoon"})
        # A break before it is as near as one behind it.
        done = json.loads(run_with(gateway, "dry-run", *options("before", -9), "--json", code=65).stdout)
        self.assertIn("540 s after", done["variants"][0]["left"][0]["sentence"])
        for minutes, taken in ((10, [other]), (29, [other]), (30, [first[0], "c", "c~2"])):
            done = json.loads(run_with(gateway, "dry-run", *options("later", minutes), "--json", code=0).stdout)
            found = [each["id"] for each in done["variants"][0]["ads"]]
            self.assertEqual(len(found), len(taken), found)
            if minutes < 30:
                self.assertEqual(found, taken)
        # The break itself does not keep its own ads away.
        run_with(gateway, "publish", *options("first", 0), code=0)
        # A cancelled break has no ads.
        gateway.run("cancel", "--stream", "radio1", "--break", "first")
        until("the break is cancelled in the books", lambda: json.loads(
            gateway_text(gateway, "/v1/reports?stream=radio1&break=first"))["breaks"][0]["cancelled"])
        self.assertEqual(len(json.loads(run_with(gateway, "dry-run", *options("second", 9), "--json", code=0).stdout)
                             ["variants"][0]["ads"]), 3)
        history = self.file(gateway, {"played": [{"at": start.isoformat(), "ad": "x", "advertiser": "shop"}]}, "history.json")
        done = json.loads(run_with(gateway, "dry-run", *options("second", 9, "--history", history), "--json", code=0).stdout)
        self.assertEqual({each["id"]: each["reason"] for each in done["variants"][0]["left"]},
                         {"a": "advertiserTooSoon", "b": "advertiserTooSoon"})
        run_with(gateway, "dry-run", *options("second", 9, "--history", "none"), code=0)

    def test_the_gateway_answers_over_http_what_the_command_shows(self):
        gateway = self.gateway()
        api = API(gateway)
        document = {"timeZone": "Europe/Oslo", "rules": {"apart": {"ad": "30m", "advertiser": "10m"}}, "candidates": CANDIDATES,
                    "variants": [{"name": "cars", "if": [{"attribute": "device", "is": "car"}]}]}
        path = self.file(gateway, document)
        start = (datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(hours=2))

        def text(minutes):
            return (start + datetime.timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")

        def both(name, minutes, code=0, **wishes):
            """The answer, which is the same as the command's."""
            flags = [part for wish, value in wishes.items()
                     for part in ("--" + re.sub("[A-Z]", lambda each: "-" + each.group().lower(), wish), value)]
            shown = json.loads(run_with(gateway, "dry-run", "--stream", "radio1", "--break", name, "--at", text(minutes), "--choose", path,
                                        *flags, "--json", code=code).stdout)
            query = urllib.parse.urlencode({"break": name, "at": text(minutes), **wishes})
            status, answer = api.ask("POST", f"/v1/streams/radio1/dry-run?{query}", document)
            self.assertEqual((status, answer), (200, shown))
            return answer

        self.assertEqual(both("first", 0, fill="90s")["variants"][0]["durationSeconds"], 71)
        both("first", 0, code=65, fillExactly="4s")
        self.assertEqual(both("first", 0, duration="30s")["durationSeconds"], 30)
        run_with(gateway, "publish", "--stream", "radio1", "--break", "first", "--at", text(0), "--choose", path, "--fill", "90s", code=0)
        later = both("later", 5, fill="90s")
        self.assertIn("adTooSoon", {each["reason"] for each in later["variants"][0]["left"]})
        # The break itself does not keep its own ads away.
        self.assertEqual(both("first", 0, fill="90s")["variants"][0]["durationSeconds"], 71)
        self.assertEqual(list(self.breaks(gateway)), ["first"])
        self.assertEqual(api.ask("POST", "/v1/streams/radio1/dry-run?break=b&fill=1s", document, token=False)[0], 401)
        status, problem = api.ask("POST", "/v1/streams/radio1/dry-run?break=b&fill=1s", {"candidates": [ad("a", 10, weight=0)]})
        self.assertEqual((status, problem["detail"]), (400, "Line 1, candidates[0].weight: it must be from 1 to 100."))

    def test_each_variant_gets_its_own_choice(self):
        gateway = self.gateway()
        path = self.file(gateway, {
            "variants": [{"name": "cars", "if": [{"attribute": "device", "is": "car"}]}],
            "candidates": [ad("all", 10), ad("car", 10, variants=["cars"]), ad("home", 10, variants=["default"])]})
        options = ("--stream", "radio1", "--break", "noon", "--cued", "--choose", path, "--fill", "60s")
        dry = json.loads(run_with(gateway, "dry-run", *options, "--json", code=0).stdout)
        self.assertEqual([(each["variant"], each["conditions"], {ad["id"] for ad in each["ads"]}) for each in dry["variants"]],
                         [("default", [], {"all", "home"}), ("cars", ["device=car"], {"all", "car"})])
        run_with(gateway, "publish", *options, code=0)
        found = self.published(gateway, "radio1", "noon")
        self.assertEqual({name: set(ads) for name, ads in found.items()},
                         {"default": {"all", "home"}, "cars": {"all", "car"}})
        text = run_with(gateway, "dry-run", *options, code=0).stdout
        self.assertIn("nothing is published", text)
        self.assertIn("variant cars (device=car): 2 of 2 candidates, 20 s of 60 s; no better filling exists", text)

    def test_ad_servers_are_asked_for_real_or_answer_from_a_folder(self):
        gateway = self.gateway()
        server = AdServer()
        self.addCleanup(server.close)
        server.serve("/tag", vast(wrapper(server.url("/ad"), error=server.url("/error")), inline("spare")))
        server.serve("/ad", vast(inline("spot", 30)))
        tag = server.url("/tag?cb=[CACHEBUSTING]")
        options = ("--stream", "radio1", "--break", "noon", "--duration", "20s", "--vast-url", tag, "--allow-private", *UNHURRIED)
        dry = json.loads(run_with(gateway, "dry-run", *options, "--json", code=0).stdout)
        spot = dry["variants"][0]["ads"][0]
        self.assertEqual((spot["title"], spot["cutAfterSeconds"], len(dry["adServer"]["documents"])), ("spot", 20, 2))
        self.assertIn("is a stand-alone ad that was not needed", " ".join(dry["variants"][0]["notes"]))
        self.assertEqual(self.breaks(gateway), {})
        folder = os.path.join(gateway.folder, "answers")
        run_with(gateway, "vast", "resolve", tag, "--allow-private", *UNHURRIED, "--record", folder, code=0)
        asked = len(server.asked)
        again = json.loads(run_with(gateway, "dry-run", *options, "--answers", folder, "--json", code=0).stdout)
        self.assertEqual((again["variants"][0]["ads"], len(server.asked)), (dry["variants"][0]["ads"], asked))
        # At the limit, and one past it.
        with open(os.path.join(folder, "answers.json")) as file:
            recorded = json.load(file)["answers"]
        for count, code in ((257, 65), (256, 0)):
            with open(os.path.join(folder, "answers.json"), "w") as file:
                json.dump({"answers": recorded + recorded[:1] * (count - len(recorded))}, file)
            done = run_with(gateway, "dry-run", *options, "--answers", folder, code=code)
            self.assertEqual("the limit recordedAnswersMax is 256, and this has 257" in done.stderr, code == 65, done.stderr)
        done = run_with(gateway, "vast", "resolve", tag, "--allow-private", *UNHURRIED, "--record",
                        os.path.join(folder, "answers.json"), code=74)
        self.assertIn("the answers cannot be kept", done.stderr)
        asked = len(server.asked)
        gateway.run("lists", "put", "house", "--vast", VAST)
        os.remove(os.path.join(folder, "answer-1.xml"))
        done = run_with(gateway, "dry-run", *options, "--answers", folder, code=65)
        self.assertIn("answer-1.xml", done.stderr)
        with open(os.path.join(folder, "answers.json"), "w") as file:
            json.dump({"answers": []}, file)
        done = run_with(gateway, "dry-run", *options, "--answers", folder, "--fallback-list", "house", "--json", code=0)
        self.assertEqual(len(json.loads(done.stdout)["variants"][0]["ads"]), 2)
        self.assertIn("those of the list house are taken instead", done.stdout)
        done = run_with(gateway, "dry-run", *options, "--answers", folder, code=65)
        self.assertIn("No answer is recorded for this address", done.stdout)
        self.assertEqual((len(server.asked), self.breaks(gateway)), (asked, {}))

    def test_faults_of_files_and_options_are_told(self):
        gateway = self.gateway()
        for document, said in (({"candidates": [ad("a", 10, weight=0)]}, "Line 1, candidates[0].weight: it must be from 1 to 100."),
                               ({"candidates": [ad("a", 10)], "timeZone": "CST"}, "timeZone: 'CST' is not known"),
                               ({"candidates": [ad("a", 10), ad("a", 10)]}, "candidates[1].ad.id")):
            path = self.file(gateway, document)
            done = run_with(gateway, "publish", "--stream", "s", "--break", "b", "--choose", path, "--fill", "30s", code=65)
            self.assertIn(said, done.stderr)
        path = self.file(gateway, {"candidates": [ad("a", 10)]})
        base = ("--stream", "s", "--break", "b")
        none = os.path.join(gateway.folder, "none.json")
        for options in (("--choose", none), ("--choose", path, "--history", none)):
            done = run_with(gateway, "dry-run", *base, *options, "--fill", "30s", code=65)
            self.assertEqual(done.stderr, f"cuecast: {none}: there is no such file\n")
        # Both commands have the same options.
        for command, options in zip(itertools.cycle(("publish", "dry-run")), (
                ("--choose", path), ("--choose", path, "--fill", "30s", "--fill-exactly", "30s"), ("--fill", "30s", "--vast", VAST),
                ("--choose", path, "--fill", "30s", "--vast", VAST), ("--choose", path, "--fill", "0s"),
                ("--choose", path, "--fill", "21601s"), ("--choose", path, "--fill", "30s", "--fill-at-least", "31s"),
                ("--choose", path, "--fill", "30s", "--variants", path), ("--choose", path, "--duration", "none"), (), ())):
            self.assertEqual(run_with(gateway, command, *base, *options).returncode, 64, options)
        for options in (("--vast", VAST, "--answers", "x"), ("--vast-url", "http://a.example/", "--report-errors")):
            self.assertEqual(run_with(gateway, "dry-run", *base, *options).returncode, 64, options)
        for options in (("--choose", path, "--fill", "21600s"), ("--choose", path, "--duration", "30s"), ("--vast", VAST)):
            run_with(gateway, "dry-run", *base, *options, code=0)
        self.assertEqual(self.breaks(gateway), {})
