# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""`cuecast group`: one break on many streams, with offsets and ads of their own, continued where it failed.

    scripts/end-to-end.sh Groups
"""
import datetime, json, os, signal, tempfile, time, unittest

from ad_server import AdServer, inline, vast
from harness import ROOT, Gateway, until
from test_ad_servers import UNHURRIED, gateway_text, run_with
from test_http_api import API

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Groups(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, streams):
        path = os.path.join(self.folder, "streams.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"streams": streams}, file)
        return path

    def publish(self, *arguments, code=0):
        return json.loads(run_with(self.gateway, "group", "publish", *arguments, "--json", code=code).stdout)

    def results(self, said):
        return {each["stream"]: each["result"] for each in said["streams"]}

    def breaks(self, name=None):
        only = ("--break", name) if name else ()
        return {each["stream"]: each for each in json.loads(self.gateway.run("breaks", *only, "--format", "json"))}

    @staticmethod
    def ad(name, seconds):
        return {"id": name, "title": name, "duration": f"{seconds}s", "media": [{"url": f"https://a.example/{name}.mp3"}]}

    def test_streams_have_offsets_ads_and_variants_of_their_own(self):
        variant = {"name": "cars", "if": [{"attribute": "device", "is": "car"}], "ads": [self.ad("tyres", 40)]}
        group = self.file([{"stream": "a"}, {"stream": "b", "offset": "2s"}, {"stream": "c", "offset": "-500ms", "ads": [self.ad("local", 7)]},
                           {"stream": "d", "variants": [variant]}])
        options = ("--group", group, "--break", "final", "--vast", VAST, "--in", "1h")
        said = self.publish(*options)
        self.assertEqual((self.results(said), said["failed"]), ({name: "published" for name in "abcd"}, 0))
        start, breaks = instant(said["start"]), self.breaks()
        self.assertEqual({name: round(instant(each["start"]) - start, 3) for name, each in breaks.items()}, {"a": 0, "b": 2, "c": -0.5, "d": 0})
        self.assertEqual((breaks["c"]["durationSeconds"], breaks["c"]["firstAdvertisement"], breaks["d"]["durationSeconds"]), (7, "local", 40))
        self.assertEqual(breaks["d"]["variants"][0]["name"], "cars")
        # The same again, later, is the same: the start counts once.
        again = self.publish(*options)
        self.assertEqual((self.results(again), again["start"], self.breaks()), ({name: "present" for name in "abcd"}, said["start"], breaks))
        shown = json.loads(self.gateway.run("group", "show", "--break", "final", "--json"))
        self.assertEqual((shown["states"], shown["missing"], [each["stream"] for each in shown["streams"]]), ({"scheduled": 4}, [], list("abcd")))
        # With other ads it is another break: each stream says so, and none changes.
        with open(os.path.join(self.folder, "other.json"), "w", encoding="utf-8") as file:
            json.dump({"ads": [self.ad("other", 5)]}, file)
        other = self.publish("--group", group, "--break", "final", "--ads", os.path.join(self.folder, "other.json"), "--in", "1h", code=1)
        self.assertEqual(self.results(other), {"a": "failed", "b": "failed", "c": "present", "d": "failed"})
        self.assertTrue(all("CONFLICT" in each["reason"] for each in other["streams"] if each["result"] == "failed"), other)
        self.assertEqual(self.breaks(), breaks)
        # Cancelled on two of them; those stay cancelled.
        self.gateway.run("group", "cancel", "--streams", "a,b", "--break", "final")
        said = self.publish(*options, code=1)
        self.assertEqual(self.results(said), {"a": "failed", "b": "failed", "c": "present", "d": "present"})
        self.assertIn("it is cancelled already", said["streams"][0]["reason"])

    def test_a_group_over_http_is_the_group_of_the_command(self):
        api = API(self.gateway)
        streams = [{"stream": "a"}, {"stream": "b", "offset": "2s"}, {"stream": "c", "offset": "-500ms", "ads": [self.ad("local", 7)]}]
        body = {"in": "1h", "ads": [self.ad("spot", 20)], "streams": streams}
        self.assertEqual(api.ask("PUT", "/v1/groups/final", body, token=False)[0], 401)
        status, said = api.ask("PUT", "/v1/groups/final", body)
        self.assertEqual((status, self.results(said), said["failed"]), (200, {name: "published" for name in "abc"}, 0))
        start, breaks = instant(said["start"]), self.breaks()
        self.assertEqual({name: round(instant(each["start"]) - start, 3) for name, each in breaks.items()}, {"a": 0, "b": 2, "c": -0.5})
        self.assertEqual((breaks["b"]["durationSeconds"], breaks["c"]["durationSeconds"]), (20, 7))
        # The command continues it, and the other way around.
        with open(os.path.join(self.folder, "ads.json"), "w", encoding="utf-8") as file:
            json.dump({"ads": [self.ad("spot", 20)]}, file)
        group = self.file(streams + [{"stream": "d"}])
        again = self.publish("--group", group, "--break", "final", "--ads", os.path.join(self.folder, "ads.json"), "--in", "1h")
        self.assertEqual((self.results(again), again["start"]), ({"a": "present", "b": "present", "c": "present", "d": "published"}, said["start"]))
        status, once = api.ask("PUT", "/v1/groups/final", {**body, "streams": streams + [{"stream": "d"}]})
        self.assertEqual((status, self.results(once), once["start"]), (200, {name: "present" for name in "abcd"}, said["start"]))
        status, shown = api.ask("GET", "/v1/groups/final?streams=a,d,x")
        self.assertEqual((status, shown["states"], shown["missing"], [each["stream"] for each in shown["streams"]]),
                         (200, {"scheduled": 2}, ["x"], ["a", "d"]))
        status, cancelled = api.ask("POST", "/v1/groups/final/cancel", {"streams": ["a", "b", "x"]})
        self.assertEqual((status, self.results(cancelled)), (200, {"a": "cancelled", "b": "cancelled", "x": "failed"}))
        self.assertEqual({name: each["state"] for name, each in self.breaks().items()},
                         {"a": "cancelled", "b": "cancelled", "c": "scheduled", "d": "scheduled"})
        status, problem = api.ask("PUT", "/v1/groups/other", {**body, "in": "0s"})
        self.assertEqual((status, problem["code"]), (422, "START_IN_PAST"))
        self.assertEqual(api.ask("GET", "/v1/groups/other")[1]["streams"], [])

    def test_what_failed_on_one_stream_is_told_and_continued(self):
        names = [f"s{number}" for number in range(40)]
        options = ("--streams", ",".join(names), "--break", "final", "--vast", VAST, "--in", "1h")
        at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=59)
        self.gateway.run("publish", "--stream", "s7", "--break", "other", "--vast", VAST, "--at", at.isoformat().replace("+00:00", "Z"),
                         "--duration", "10m")
        said = self.publish(*options, code=1)
        failed = {each["stream"]: each for each in said["streams"] if each["result"] == "failed"}
        self.assertEqual((list(failed), failed["s7"]["canRetry"]), (["s7"], False))
        self.assertIn("BREAK_OVERLAP", failed["s7"]["reason"])
        text = run_with(self.gateway, "group", "show", "--streams", ",".join(names), "--break", "final", code=1).stdout
        self.assertIn("group final: 39 scheduled; missing on s7", text)
        before = self.breaks()
        self.gateway.run("cancel", "--stream", "s7", "--break", "other")
        # The gateway was killed meanwhile, too.
        self.gateway.stop(signal.SIGKILL)
        done = run_with(self.gateway, "group", "publish", *options)
        self.assertEqual(done.returncode, 69, done.stderr)
        self.gateway.start()
        again = self.publish(*options)
        self.assertEqual((again["start"], [each["stream"] for each in again["streams"] if each["result"] == "published"]), (said["start"], ["s7"]))
        after = {each["stream"]: each for each in json.loads(self.gateway.run("breaks", "--break", "final", "--format", "json"))}
        self.assertEqual({name: after[name]["start"] for name in names}, {name: said["start"] for name in names})
        self.assertEqual({name: each["revision"] for name, each in after.items() if name != "s7"},
                         {name: each["revision"] for name, each in before.items() if name != "s7"})
        text = run_with(self.gateway, "group", "publish", *options, code=0).stdout
        self.assertIn("40 of 40 streams have the break, 0 of them new", text)

    def test_an_ad_server_is_asked_once_for_all_streams(self):
        server = AdServer()
        self.addCleanup(server.close)
        server.serve("/tag", vast(inline("Spring")))
        said = self.publish("--streams", "a,b,c", "--break", "final", "--vast-url", server.url("/tag"), "--allow-private", *UNHURRIED, "--cued")
        self.assertEqual((self.results(said), said.get("start"), len(server.asked)), ({name: "published" for name in "abc"}, None, 1))
        self.assertEqual({each["firstAdvertisement"] for each in self.breaks().values()}, {"Spring"})
        until("the books have them", lambda: len(json.loads(gateway_text(self.gateway, "/v1/reports?break=final"))["breaks"]) == 3)

    def test_a_group_that_starts_now_is_published_again_at_the_same_time(self):
        offsets = {"a": 0, "b": 1.5, "c": -0.5}
        group = self.file([{"stream": name, "offset": f"{1_000 * offset:.0f}ms"} for name, offset in offsets.items()])

        def published(name):
            """Publishes now; gives the group's start and its breaks, unless this machine took longer than the lead."""
            before = time.time()
            said = self.publish("--group", group, "--break", name, "--vast", VAST, "--now")
            # 2 s after the gateway's clock was read, which is this machine's.
            start = instant(said["start"])
            self.assertLessEqual(before + 2, start + 0.001)
            self.assertLessEqual(start, time.time() + 2.001)
            self.assertEqual(self.results(said), {name: "published" for name in offsets})
            breaks = self.breaks(name)
            if {stream: round(instant(each["start"]) - start, 3) for stream, each in breaks.items()} == offsets:
                return name, said["start"], breaks
            run_with(self.gateway, "group", "cancel", "--streams", ",".join(offsets), "--break", name)
            return None

        name, start, breaks = next(found for attempt in range(20) if (found := published(f"final-{attempt}")))
        # Now that some have begun it is the same publication, also without --now.
        until("the first has begun", lambda: self.breaks(name)["c"]["state"] in ("live", "complete"))
        options = ("--break", name, "--vast", VAST)
        for more in (("--now",), ()):
            again = self.publish("--group", group, *options, *more)
            self.assertEqual((self.results(again), again["start"]), ({name: "present" for name in offsets}, start))
        self.assertEqual({stream: each["revision"] for stream, each in self.breaks(name).items()},
                         {stream: each["revision"] for stream, each in breaks.items()})

    def test_no_stream_starts_before_the_clock_is_read(self):
        base = ("--break", "final", "--vast", VAST)
        for offset, lead, said in (("-2001ms", ("--now",), "1 ms"), ("-2001ms", (), "1 ms"), ("-3s", ("--in", "1s"), "2000 ms")):
            group = self.file([{"stream": "a"}, {"stream": "early", "offset": offset}])
            done = run_with(self.gateway, "group", "publish", "--group", group, *base, *lead, code=65)
            self.assertIn(f"on early the break would start {said} before now: give a later start with --in or --at", done.stderr)
        self.assertEqual(self.breaks(), {})

    def test_as_many_streams_as_group_streams_max_get_a_break(self):
        names = [f"s{number}" for number in range(1_000)]
        said = self.publish("--streams", ",".join(names), "--break", "final", "--vast", VAST, "--in", "1h")
        self.assertEqual((self.results(said), said["failed"]), ({name: "published" for name in names}, 0))
        self.assertEqual({each["start"] for each in self.breaks().values()}, {said["start"]})
        self.assertEqual(len(self.breaks()), 1_000)

    def test_a_file_of_streams_has_as_many_bytes_as_group_file_bytes_max(self):
        path = self.file([{"stream": "a"}])
        for more, code in ((0, 0), (1, 65)):
            with open(path, "a", encoding="utf-8") as file:
                file.write(" " * (4_194_304 + more - os.path.getsize(path)))
            done = run_with(self.gateway, "group", "publish", "--group", path, "--break", "final", "--vast", VAST, "--in", "1h", code=code)
            self.assertEqual("the limit groupFileBytesMax is 4194304" in done.stderr, code == 65, done.stderr)

    def test_faults_publish_nothing(self):
        path = self.file([{"stream": "a"}, {"stream": "a"}])
        base = ("--break", "final", "--vast", VAST)
        done = run_with(self.gateway, "group", "publish", "--group", path, *base, code=65)
        self.assertIn("streams[1].stream: the stream a stands on line", done.stderr)
        cued = self.file([{"stream": "a", "offset": "2s"}])
        done = run_with(self.gateway, "group", "publish", "--group", cued, *base, "--cued", code=65)
        self.assertIn("a break without a start has no offset", done.stderr)
        done = run_with(self.gateway, "group", "publish", "--group", cued, "--break", "final", code=65)
        self.assertIn("the stream a has no ads in the file", done.stderr)
        for arguments in ((*base,), ("--streams", "a,,b", *base), ("--streams", "a,a", *base), ("--streams", "a", "--group", cued, *base),
                          ("--streams", "a", "--break", "final"), ("--streams", ",".join(f"s{number}" for number in range(1_001)), *base)):
            self.assertEqual(run_with(self.gateway, "group", "publish", *arguments).returncode, 64, arguments[:2])
        self.assertEqual(run_with(self.gateway, "group", "cancel", "--break", "final").returncode, 64)
        run_with(self.gateway, "group", "cancel", "--streams", "a,b", "--break", "final", code=65)
        run_with(self.gateway, "group", "show", "--break", "final", code=1)
        # Streams that do not agree on the start.
        for stream, lead in (("a", "1h"), ("b", "2h")):
            self.gateway.run("publish", "--stream", stream, *base, "--in", lead)
        done = run_with(self.gateway, "group", "publish", "--streams", "a,b,c", *base, "--in", "3h", code=65)
        self.assertIn("say with --at when the group starts", done.stderr)
        self.assertEqual(set(self.breaks()), {"a", "b"})
