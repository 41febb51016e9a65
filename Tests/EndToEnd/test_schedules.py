# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""`cuecast schedule`: a day of breaks from a file, put twice, changed, taken back, and followed by two processes of which one is killed."""
import collections, datetime, json, os, random, signal, subprocess, tempfile, threading, time, unittest

from ad_server import AdServer, answer, inline, vast, wrapper
from harness import BINARY, PATIENCE, ROOT, Gateway, until
from test_ad_servers import gateway_text

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")
#: The title of its first ad.
HOUSE = "Harbour Coffee: the early cup"


class Follower:
    """A `cuecast schedule follow` process, and what it printed."""

    def __init__(self, gateway, *arguments):
        self.lines, self.complaints = [], []
        self.process = subprocess.Popen([BINARY, "schedule", "follow", *arguments, "--json"], env=gateway.environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.readers = [threading.Thread(target=self.read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.lines), (self.process.stderr, self.complaints))]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def read(file, kept):
        for line in file:
            kept.append(line.rstrip("\n"))

    def changes(self, kind):
        return [line["break"] for line in map(json.loads, list(self.lines)) if line["change"] == kind]

    def complaint(self, text):
        # The library gives a gateway up after 15 s.
        return until(f"it complains: {text}", lambda: next((line for line in list(self.complaints) if text in line), None), lasting=30)

    def end(self, number=signal.SIGTERM):
        """Ends it; gives its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        for reader in self.readers:
            reader.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def close(self):
        if not self.process.stdout.closed:
            self.end(signal.SIGKILL)


class Schedules(unittest.TestCase):
    def setUp(self):
        # What starts within half an hour is announced at once.
        self.gateway = Gateway("--set", "breaks.announceAhead=30m")
        self.addCleanup(self.gateway.close)
        self.gateway.run("lists", "put", "spots", "--vast", VAST)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        #: The day of the traffic log, which may go on after midnight.
        self.midnight = int(time.time()) // 86_400 * 86_400
        #: In whole seconds, far enough that nothing is announced meanwhile.
        self.base = int(time.time()) + 7_200

    def at(self, seconds):
        return datetime.datetime.fromtimestamp(self.base + seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def write(self, rows, name="day.csv", header="date,time,duration,id,list,title"):
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write("\n".join([header, *rows]) + "\n")
        os.replace(path + ".new", path)
        return path

    def row(self, number, seconds=None, duration=30, ads="spots"):
        return f"{self.time_of(seconds if seconds is not None else number * 60)},{duration},b{number},{ads},Break {number}"

    def time_of(self, seconds):
        """Date and time as a traffic log has them."""
        rest = self.base + seconds - self.midnight
        return f"{self.day()},{rest // 3600}:{rest // 60 % 60:02}:{rest % 60:02}"

    def day(self):
        return datetime.datetime.fromtimestamp(self.midnight, datetime.timezone.utc).strftime("%Y-%m-%d")

    def put(self, path, *more, code=0, apply=True):
        arguments = ["schedule", "put", path, "--stream", "radio1", "--time-zone", "UTC", "--json", *more]
        if apply:
            arguments.append("--apply")
        done = subprocess.run([BINARY, *arguments], env=self.gateway.environment, capture_output=True, text=True, timeout=PATIENCE + 60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.said = done.stderr
        return json.loads(done.stdout) if done.stdout else None

    def counts(self, said):
        return {kind: count for kind, count in said["counts"].items() if count}

    def breaks(self, stream="radio1", states=("scheduled",)):
        return {each["break"]: each for each in json.loads(self.gateway.run("breaks", "--stream", stream, "--format", "json"))
                if each["state"] in states}

    def name(self, number):
        return f"day.{self.day().replace('-', '')}-b{number}"

    def test_a_day_is_shown_put_put_again_changed_and_taken_back(self):
        path = self.write([self.row(number) for number in range(20)])
        shown = self.put(path, apply=False)
        self.assertEqual((self.counts(shown), shown["applied"], self.breaks()), ({"new": 20}, False, {}))
        self.assertEqual(self.counts(self.put(path)), {"new": 20})
        first = self.breaks()
        self.assertEqual(sorted(first), sorted(self.name(number) for number in range(20)))
        self.assertEqual({each["advertisements"] for each in first.values()}, {2})
        # The same again, in another order: nothing changes, not even a revision.
        self.write(random.sample([self.row(number) for number in range(20)], 20))
        self.assertEqual(self.counts(self.put(path)), {"unchanged": 20})
        self.assertEqual(self.breaks(), first)
        # One moves, one is longer, one has other ads, one is gone, one is new; a break of someone else stays.
        self.gateway.run("publish", "--stream", "radio1", "--break", "day", "--vast", VAST, "--at", self.at(3_600), "--duration", "30s")
        with open(os.path.join(self.folder, "one.json"), "w", encoding="utf-8") as file:
            json.dump({"ads": [{"id": name, "title": "One", "duration": "15s", "media": [{"url": "https://a.example/a.mp3"}]}
                               for name in ("one", "two")]}, file)
        rows = [self.row(number) for number in range(4, 20)]
        rows += [self.row(0, seconds=1_800), self.row(1, duration=45), f"{self.time_of(120)},30,b2,,Break 2", self.row(20)]
        self.write([row + ("," if "b2,," not in row else ",one.json") for row in rows], header="date,time,duration,id,list,title,ads")
        self.assertEqual(self.counts(self.put(path, apply=False)), {"changed": 3, "gone": 1, "new": 1, "unchanged": 16})
        said = self.put(path)
        self.assertEqual({each["break"]: each["differences"] for each in said["breaks"] if each["change"] == "changed"},
                         {self.name(0): ["start"], self.name(1): ["duration"], self.name(2): ["ads"]})
        self.assertEqual(self.counts(self.put(path)), {"unchanged": 20})
        after = self.breaks()
        self.assertEqual(set(after), set(first) - {self.name(3)} | {self.name(20), "day"})
        self.assertEqual((after[self.name(0)]["start"][:19], after[self.name(1)]["durationSeconds"], after[self.name(2)]["firstAdvertisement"]),
                         (self.at(1_800)[:19], 45, "One"))
        # A break that was cancelled by hand stays so, until it is asked for.
        self.gateway.run("cancel", "--stream", "radio1", "--break", self.name(9))
        self.assertEqual(self.counts(self.put(path, code=1)), {"refused": 1, "unchanged": 19})
        self.assertEqual(self.counts(self.put(path, "--revive")), {"new": 1, "unchanged": 19})
        self.assertIn(self.name(9) + ".2", self.breaks())
        self.assertEqual(self.counts(self.put(path)), {"unchanged": 20})
        # Another list of the same length is another list.
        with open(os.path.join(self.folder, "other.json"), "w", encoding="utf-8") as file:
            json.dump({"ads": [{"id": name, "title": "Other", "duration": "15s", "media": [{"url": "https://a.example/b.mp3"}]}
                               for name in ("x", "y")]}, file)
        self.gateway.run("lists", "put", "spots", "--ads", os.path.join(self.folder, "other.json"))
        self.assertEqual(self.counts(self.put(path)), {"changed": 19, "unchanged": 1})
        self.assertEqual(self.counts(self.put(path)), {"unchanged": 20})

    def test_announced_breaks_are_never_touched(self):
        self.base = int(time.time()) + 1_200
        path = self.write([self.row(0), self.row(60)])
        self.put(path)
        self.assertEqual(set(self.breaks(states=("announced", "live"))), {self.name(0)})
        self.write([self.row(0, seconds=2_400), self.row(60)])
        said = self.put(path, code=1)
        self.assertEqual(self.counts(said), {"refused": 1, "unchanged": 1})
        self.assertIn("already", next(each["reason"] for each in said["breaks"] if each["change"] == "refused"))
        self.write([self.row(60)])
        self.assertEqual(self.counts(self.put(path, code=1)), {"refused": 1, "unchanged": 1})
        self.assertEqual(set(self.breaks(states=("announced", "live"))), {self.name(0)})

    def test_faults_refuse_the_whole_file_unless_they_are_skipped(self):
        path = self.write([self.row(0), self.row(1)])
        self.put(path)
        self.write([self.row(0), f"{self.day()},noon,30,b7,spots,x", self.row(2), self.row(3, ads="nolist")])
        self.assertIsNone(self.put(path, code=65))
        for text in ("day.csv: line 3:", "day.csv: line 5: the gateway has no list nolist", "nothing was changed"):
            self.assertIn(text, self.said)
        self.assertEqual(len(self.breaks()), 2)
        # Nothing is cancelled: the row that cannot be read may be the one that is missing.
        said = self.put(path, "--skip-faulty", code=1)
        self.assertEqual(self.counts(said), {"new": 1, "refused": 1, "unchanged": 1})
        self.assertEqual(len(self.breaks()), 3)
        for arguments, text in ((["none.csv", "--time-zone", "UTC"], "no such file"), (["x.doc"], "--from"),
                                (["x.csv"], "--time-zone"), (["x.xml"], "--programme-start"),
                                ([path, "--time-zone", "CST"], "not known"), ([path, "--time-zone", "UTC", "--name", "a.b"], "--name")):
            code = 65 if "no such" in text else 64
            self.assertIn(text, self.gateway.run("schedule", "put", *arguments, "--stream", "radio1", code=code))

    def test_calendars_and_vmap_become_breaks(self):
        path = os.path.join(self.folder, "week.ics")
        start = self.at(0).replace("-", "").replace(":", "")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:news\r\nDTSTART:{start}\r\nDURATION:PT60S\r\nRRULE:FREQ=DAILY\r\n"
                       "CATEGORIES:spots\r\nSUMMARY:News\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
        said = self.put(path)
        self.assertEqual((said["counts"]["new"], said["counts"]["later"] > 3), (1, True))
        self.assertEqual(list(self.breaks()), [f"week.{start[:-1]}-news"])
        with open(VAST, encoding="utf-8") as file:
            vast = file.read().split("?>", 1)[-1]
        path = os.path.join(self.folder, "show.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write('<vmap:VMAP xmlns:vmap="http://www.iab.net/videosuite/vmap" version="1.0">'
                       f'<vmap:AdBreak timeOffset="00:10:00" breakType="linear" breakId="mid"><vmap:AdSource><vmap:VASTAdData>{vast}'
                       '</vmap:VASTAdData></vmap:AdSource></vmap:AdBreak>'
                       '<vmap:AdBreak timeOffset="end" breakType="linear" breakId="post"><vmap:AdSource><vmap:AdTagURI>'
                       'https://ads.example/v</vmap:AdTagURI></vmap:AdSource></vmap:AdBreak></vmap:VMAP>')
        programme = ["--programme-start", self.at(0), "--programme-duration", "1h"]
        self.put(path, *programme, code=65)
        self.assertIn("--list", self.said)
        self.assertEqual(self.counts(self.put(path, *programme, "--list", "spots")), {"new": 2})
        self.assertEqual(self.breaks()["show.mid"]["start"][:19], self.at(600)[:19])
        self.assertEqual(self.counts(self.put(path, *programme, "--list", "spots")), {"unchanged": 2})
        table = self.gateway.run("schedule", "show", path, *programme, "--list", "spots")
        self.assertIn("show.mid", table)
        rows = json.loads(self.gateway.run("schedule", "show", path, *programme, "--list", "spots", "--json"))
        self.assertEqual([row["break"] for row in rows], ["show.mid", "show.post"])

    def follow(self, path, *more):
        follower = Follower(self.gateway, path, "--stream", "radio1", "--time-zone", "UTC", *more)
        self.addCleanup(follower.close)
        return follower

    def test_two_followers_make_each_break_once_and_one_may_be_killed(self):
        # The later half comes into the horizon while they follow.
        horizon = self.base - int(time.time())
        path = self.write([self.row(number, seconds=number * 2, duration=1) for number in range(20)])
        followers = [self.follow(path, "--horizon", f"{horizon}s") for _ in range(2)]
        until("breaks are put in", lambda: len(self.breaks()) >= 3)
        killed = random.SystemRandom().randrange(2)
        self.assertEqual(followers[killed].end(signal.SIGKILL), -signal.SIGKILL)
        until("all breaks are put in", lambda: len(self.breaks()) == 20, lasting=60)
        followers[killed] = self.follow(path, "--horizon", f"{horizon}s")
        followers[killed].complaint("Follows")
        # The file changes: one is gone, one moves, one is new.
        rows = [self.row(number, seconds=number * 2, duration=1) for number in range(2, 20)]
        self.write([*rows, self.row(1, seconds=100), self.row(20, seconds=40, duration=1)])
        wanted = {self.name(number) for number in range(1, 21)}
        until("the change is made", lambda: set(self.breaks()) == wanted and
              self.breaks()[self.name(1)]["start"][:19] == self.at(100)[:19], lasting=30)
        # A faulty file changes nothing, and a good one is followed again.
        self.write([f"{self.day()},noon,30,b1,spots,x"])
        for follower in followers:
            follower.complaint("the last good one counts")
        self.assertEqual(set(self.breaks()), wanted)
        self.write(rows)
        until("the good file counts", lambda: set(self.breaks()) == {self.name(number) for number in range(2, 20)}, lasting=30)
        for follower in followers:
            self.assertEqual(follower.end(), 0, follower.complaints)
        everything = json.loads(self.gateway.run("breaks", "--stream", "radio1", "--format", "json"))
        self.assertEqual(max(collections.Counter(each["break"] for each in everything).values()), 1)
        self.assertEqual(len(everything), 21, everything)

    def test_a_follower_waits_for_its_gateway(self):
        path = self.write([self.row(number) for number in range(3)])
        self.gateway.stop(signal.SIGKILL)
        follower = self.follow(path)
        follower.complaint("It is tried again.")
        self.gateway.start()
        until("breaks are put in", lambda: len(self.breaks()) == 3, lasting=30)
        follower.complaint("answers again")
        self.assertEqual(follower.end(), 0)

    # MARK: Ads of ad servers

    FILLING = ("--ask-ad-servers", "--fill-ahead", "6h", "--allow-private", "--list", "spots")

    def server_row(self, number, url, seconds=None, duration=30):
        return f"{self.time_of(seconds if seconds is not None else number * 60)},{duration},b{number},{url}"

    def write_servers(self, rows):
        return self.write(rows, header="date,time,duration,id,vast-url")

    def ad_server(self):
        server = AdServer()
        self.addCleanup(server.close)
        return server

    def test_ad_servers_fill_breaks_before_their_announcement(self):
        server = self.ad_server()
        server.serve("/one", vast(wrapper(server.url("/inner"))))
        server.serve("/inner", vast(inline("Spring"), inline("Spare")))
        server.serve("/pod", vast(inline("First", place='sequence="1"'), inline("Second", seconds=10, place='sequence="2"')))
        server.serve("/none", vast())
        path = self.write_servers([self.server_row(0, server.url("/one?key=secret")), self.server_row(1, server.url("/pod"), duration=""),
                                   self.server_row(2, server.url("/none"))])
        # put asks no ad server: the list stands in.
        self.assertEqual(self.counts(self.put(path, "--list", "spots")), {"new": 3})
        self.assertIn("3 breaks have ad servers", self.said)
        self.assertEqual(server.asked, [])
        follower = self.follow(path, *self.FILLING)
        follower.complaint(f"{self.name(2)}: it keeps the ads of the list spots")
        until("two breaks are filled", lambda: len(follower.changes("filled")) == 2)
        filled = self.breaks()
        self.assertEqual([(filled[self.name(number)]["firstAdvertisement"], filled[self.name(number)]["durationSeconds"])
                          for number in range(3)], [("Spring", 30), ("First", 25), (HOUSE, 30)])
        self.assertNotIn("secret", "\n".join(follower.lines + follower.complaints))
        # The same file again, a second follower and a restart leave it so; the list does not come back either.
        self.assertEqual(self.counts(self.put(path, "--list", "spots")), {"unchanged": 3})
        asked = len(server.asked)
        other = self.follow(path, *self.FILLING)
        other.complaint(f"{self.name(1)}: it has other ads than the schedule's already")
        other.complaint(f"{self.name(0)}: it has other ads than the schedule's already")
        with open(os.path.join(self.folder, "other.json"), "w", encoding="utf-8") as file:
            json.dump({"ads": [{"id": "x", "title": "Other", "duration": "15s", "media": [{"url": "https://a.example/b.mp3"}]}]}, file)
        self.gateway.run("lists", "put", "spots", "--ads", os.path.join(self.folder, "other.json"))
        self.assertEqual(self.counts(self.put(path, "--list", "spots")), {"unchanged": 3})
        self.assertEqual({name: each["revision"] for name, each in self.breaks().items()},
                         {name: each["revision"] for name, each in filled.items()})
        # The other follower has asked for the one that had no ad, which may have some by now.
        other.complaint(f"{self.name(2)}: it keeps the ads of the list spots")
        self.assertEqual([target for target, _ in server.asked[asked:]], ["/none"])
        # A break that moves is filled anew.
        self.write_servers([self.server_row(0, server.url("/pod"), seconds=1_800), self.server_row(1, server.url("/pod"), duration="")])
        until("the break that moved is filled", lambda: self.breaks()[self.name(0)]["firstAdvertisement"] == "First")
        self.assertEqual((follower.end(), other.end()), (0, 0))

    def test_what_changes_while_an_ad_server_answers_is_not_overwritten(self):
        server = self.ad_server()
        asked, go = threading.Event(), threading.Event()
        self.addCleanup(go.set)

        def slow(_):
            asked.set()
            go.wait(PATIENCE)
            return answer(vast(inline("Late")))

        server.pages["/slow"] = slow
        path = self.write_servers([self.server_row(0, server.url("/slow"))])
        follower = self.follow(path, *self.FILLING, "--ad-server-time", "60s")
        self.assertTrue(asked.wait(PATIENCE))
        name = self.name(0)
        ads = os.path.join(self.folder, "mine.json")
        with open(ads, "w", encoding="utf-8") as file:
            json.dump({"ads": [{"id": "mine", "title": "Mine", "duration": "15s", "media": [{"url": "https://a.example/b.mp3"}]}]}, file)
        self.gateway.run("update", "--stream", "radio1", "--break", name, "--ads", ads)
        go.set()
        follower.complaint(f"{name}: someone else changed it meanwhile")
        follower.complaint(f"{name}: it has other ads than the schedule's already")
        self.assertEqual(self.breaks()[name]["firstAdvertisement"], "Mine")
        self.assertEqual(follower.end(), 0)

    def test_a_conflict_keeps_what_ad_servers_gave_other_breaks(self):
        server = self.ad_server()
        asked, go = threading.Event(), threading.Event()
        self.addCleanup(go.set)

        def slow(_):
            asked.set()
            go.wait(PATIENCE)
            return answer(vast())

        server.pages["/slow"] = slow
        server.serve("/some", vast(inline("Some")))
        path = self.write_servers([self.server_row(0, server.url("/slow")), self.server_row(1, server.url("/some"))])
        follower = self.follow(path, *self.FILLING, "--choose", self.candidates(["only"], "90s"), "--ad-server-time", "60s")
        self.assertTrue(asked.wait(PATIENCE))
        ads = self.file("mine.json", {"ads": [{"id": "mine", "title": "Mine", "duration": "15s", "media": [{"url": "https://a.example/b.mp3"}]}]})
        self.gateway.run("update", "--stream", "radio1", "--break", self.name(0), "--ads", ads)
        go.set()
        follower.complaint(f"{self.name(0)}: someone else changed it meanwhile")
        until("the other is filled", lambda: follower.changes("filled") == [self.name(1)])
        follower.complaint(f"{self.name(0)}: it has other ads than the schedule's already")
        self.assertEqual([self.breaks()[self.name(number)]["firstAdvertisement"] for number in range(2)], ["Mine", "Some"])
        self.assertEqual([target for target, _ in server.asked if target == "/some"], ["/some"], "it is not asked again for an answer that it gave")
        self.assertEqual(follower.end(), 0)

    def test_an_ad_server_that_fails_is_left_alone(self):
        server = self.ad_server()
        server.serve("/broken", "no", status=500)
        path = self.write_servers([self.server_row(number, server.url("/broken")) for number in range(8)])
        follower = self.follow(path, *self.FILLING)
        follower.complaint("failed again, and is left alone for a while")
        until("each break is settled", lambda: sum("it keeps the ads of the list spots" in line for line in list(follower.complaints)) == 8)
        # More breaks come: the server is not asked for them.
        count = len(server.asked)
        self.write_servers([self.server_row(number, server.url("/broken")) for number in range(10)])
        follower.complaint(f"127.0.0.1:{server.port} failed too often, and is not asked for another")
        until("the new ones are settled", lambda: sum("it keeps the ads" in line for line in list(follower.complaints)) == 10)
        self.assertEqual(len(server.asked), count)
        self.assertEqual({each["firstAdvertisement"] for each in self.breaks().values()}, {HOUSE})
        self.assertEqual(follower.end(), 0)

    def test_an_ad_server_needs_a_list_beside_it(self):
        path = self.write_servers([self.server_row(0, "https://ads.example/v")])
        self.put(path, code=65)
        self.assertIn("name a list with --list", self.said)
        self.assertIn("--fill-ahead", self.gateway.run("schedule", "follow", path, "--stream", "radio1", "--time-zone", "UTC",
                                                       "--fill-ahead", "9s", code=64))


    # MARK: Variants and candidates

    def file(self, name, document):
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(document, file)
        os.replace(path + ".new", path)
        return path

    def published(self, name):
        """The ids of the ads of a break in the books, by variant; None is a break without variants."""
        found = json.loads(gateway_text(self.gateway, f"/v1/reports?stream=radio1&break={name}"))["breaks"]
        lists = {}
        for each in found[0]["ads"] if found else ():
            lists.setdefault(each.get("variantName"), []).append(each["title"])
        return lists

    @staticmethod
    def variant(name, **members):
        return {"name": name, "if": [{"attribute": "device", "is": name}], **members}

    def test_each_variant_is_asked_for_apart_and_has_its_own_fallback(self):
        server = self.ad_server()
        server.serve("/main", vast(inline("Main")))
        server.serve("/abroad", vast(inline("Abroad", seconds=20)))
        server.serve("/none", vast())
        with open(os.path.join(self.folder, "one.json"), "w", encoding="utf-8") as file:
            json.dump({"ads": [{"id": "n", "title": "Night", "duration": "15s", "media": [{"url": "https://a.example/n.mp3"}]}]}, file)
        self.gateway.run("lists", "put", "night", "--ads", os.path.join(self.folder, "one.json"))
        ad = {"id": "w", "title": "Work", "duration": "15s", "media": [{"url": "https://a.example/w.mp3"}]}
        variants = self.file("variants.json", {"variants": [
            self.variant("cars", query="aud=cars"), self.variant("abroad", vastUrl=server.url("/abroad")),
            self.variant("night", vastUrl=server.url("/none"), list="night"), self.variant("lost", vastUrl=server.url("/none")),
            self.variant("work", ads=[ad])]})
        path = self.write_servers([self.server_row(0, server.url("/main?site=1")), self.server_row(1, server.url("/none"), duration="")])
        more = ("--list", "spots", "--variants", variants)
        said = self.put(path, *more)
        self.assertEqual((self.counts(said), said["breaks"][0]["variants"]),
                         ({"new": 2}, {"cars": 2, "abroad": 2, "night": 1, "lost": 2, "work": 1}))
        self.assertIn("2 breaks, or variants of them, have ad servers", self.said)
        self.assertEqual((self.counts(self.put(path, *more)), server.asked), ({"unchanged": 2}, []))
        follower = self.follow(path, *self.FILLING, "--variants", variants)
        until("both breaks are filled", lambda: len(follower.changes("filled")) == 2)
        targets = sorted(target for target, _ in server.asked)
        self.assertEqual(targets, ["/abroad", "/abroad", "/main?site=1", "/main?site=1&aud=cars", "/none", "/none", "/none", "/none",
                                   "/none", "/none?aud=cars"])
        filled = until("the books have it", lambda: self.published(self.name(0)).get("cars") == ["Main"]
                       and self.published(self.name(1)).get("abroad") == ["Abroad"] and self.published(self.name(0)))
        self.assertEqual(filled, {"default": ["Main"], "cars": ["Main"], "abroad": ["Abroad"], "night": ["Night"], "lost": ["Main"],
                                  "work": ["Work"]})
        # One record: a break of no ad server but one variant's has that, and the list elsewhere; it lasts as long as the longest.
        house = self.published(self.name(1))["default"]
        self.assertEqual(house[0], HOUSE)
        self.assertEqual(self.published(self.name(1)), {"default": house, "cars": house, "abroad": ["Abroad"], "night": ["Night"],
                                                        "lost": house, "work": ["Work"]})
        self.assertEqual({name: each["revision"] for name, each in self.breaks().items()}, {self.name(0): 2, self.name(1): 2})
        follower.complaint(f"{self.name(0)}: variant night: it keeps the ads of the list night")
        follower.complaint(f"{self.name(0)}: variant lost: it keeps the ads of default")
        line = next(json.loads(line) for line in follower.lines if json.loads(line)["break"] == self.name(0) and "filled" in line)
        self.assertIn("abroad from ", line["reason"])
        # Neither the same file, nor a second follower, nor someone's own variants are overwritten.
        self.assertEqual(self.counts(self.put(path, *more)), {"unchanged": 2})
        asked = len(server.asked)
        other = self.follow(path, *self.FILLING, "--variants", variants)
        for number in range(2):
            other.complaint(f"{self.name(number)}: it has other ads than the schedule's already")
        self.assertEqual(len(server.asked), asked)
        self.assertEqual((follower.end(), other.end()), (0, 0))

    def test_variants_of_the_file_change_with_it_until_the_filling(self):
        path = self.write([self.row(0), self.row(1, ads="")])
        one = self.file("variants.json", {"variants": [self.variant("cars", list="spots")]})
        self.assertEqual(self.counts(self.put(path, "--list", "spots", "--variants", one)), {"new": 2})
        # A break that names its list has it for all listeners.
        self.assertEqual([set(until("the books have it", lambda each=each: self.published(each))) for each in (self.name(0), self.name(1))],
                         [{None}, {"default", "cars"}])
        self.file("variants.json", {"variants": [self.variant("cars", list="spots"), self.variant("bus", list="spots")]})
        said = self.put(path, "--list", "spots", "--variants", one)
        self.assertEqual(self.counts(said), {"changed": 1, "unchanged": 1})
        self.assertEqual(self.counts(self.put(path, "--list", "spots", "--variants", one)), {"unchanged": 2})
        # Without the option nothing is said about variants.
        self.assertEqual(self.counts(self.put(path, "--list", "spots")), {"unchanged": 2})
        # A row that names its own ads has them for all listeners, and not only for those of default.
        self.write([self.row(0), self.row(1)])
        said = self.put(path, "--list", "spots", "--variants", one)
        self.assertEqual({each["break"]: each.get("differences") for each in said["breaks"] if each["change"] != "unchanged"}, {self.name(1): ["ads"]})
        self.assertEqual([each for each in said["breaks"] if "variants" in each], [])
        self.assertEqual(self.breaks()[self.name(1)].get("variants", []), [])
        until("the books have it", lambda: set(self.published(self.name(1))) == {None})
        self.assertEqual(self.counts(self.put(path, "--list", "spots", "--variants", one)), {"unchanged": 2})
        # And back, and from the start.
        self.write([self.row(0), self.row(1, ads=""), self.row(2)])
        said = self.put(path, "--list", "spots", "--variants", one)
        self.assertEqual((self.counts(said), [each["break"] for each in said["breaks"] if "variants" in each]),
                         ({"changed": 1, "new": 1, "unchanged": 1}, [self.name(1)]))
        until("the books have it", lambda: set(self.published(self.name(1))) == {"default", "cars", "bus"})
        self.file("variants.json", {"variants": [self.variant("cars")]})
        self.put(path, "--list", "spots", "--variants", one, code=65)
        self.assertIn("variants[0].name: the variant has no ads of its own", self.said)

    def candidates(self, names, apart, **more):
        return self.file("candidates.json", {"rules": {"apart": {"ad": apart}}, **more, "candidates": [
            {"ad": {"id": name, "title": name, "duration": "15s", "media": [{"url": f"https://a.example/{name}.mp3"}]}} for name in names]})

    def assert_apart(self, count, minutes):
        """No ad plays in two breaks that are nearer than so many minutes; breaks are one minute apart."""
        last = {}
        for number in range(count):
            for title in self.published(self.name(number))[None]:
                self.assertGreaterEqual(number - last.get(title, -99), minutes, (title, number))
                last[title] = number

    def test_ads_are_chosen_at_the_lead_and_stay_apart(self):
        path = self.write([self.row(number, ads="") for number in range(8)])
        names = [f"ad{number}" for number in range(6)]
        choose = self.candidates(names, "3m")
        more = ("--list", "spots", "--choose", choose)
        self.assertEqual(self.counts(self.put(path, *more)), {"new": 8})
        # Two at a time: what one chose counts for the other.
        followers = [self.follow(path, *more, "--fill-ahead", "6h") for _ in range(2)]
        # Both may fill one break in the same moment with the same ads: the second says so, too.
        until("all breaks are filled", lambda: len({name for each in followers for name in each.changes("filled")}) == 8, lasting=60)
        until("the books have it", lambda: all(
            HOUSE not in self.published(self.name(number)).get(None, [HOUSE]) for number in range(8)))
        self.assert_apart(8, 3)
        self.assertEqual({each["revision"] for each in self.breaks().values()}, {2})
        self.assertEqual({each["advertisements"] for each in self.breaks().values()}, {2})
        self.assertEqual(self.counts(self.put(path, *more)), {"unchanged": 8})
        # One is killed; more breaks come, and the one that is left keeps them apart from those of both.
        followers[0].end(signal.SIGKILL)
        self.write([self.row(number, ads="") for number in range(12)])
        until("the new ones are filled", lambda: len(followers[1].changes("filled")) >= 4 and all(
            HOUSE not in self.published(self.name(number)).get(None, [HOUSE]) for number in range(12)), lasting=60)
        self.assert_apart(12, 3)
        self.assertEqual(followers[1].end(), 0)

    def test_a_break_for_which_nothing_is_left_keeps_the_list_and_says_so(self):
        path = self.write([self.row(number, ads="") for number in range(3)])
        choose = self.candidates(["only"], "90s")
        follower = self.follow(path, "--list", "spots", "--choose", choose, "--fill-ahead", "6h")
        follower.complaint(f"{self.name(1)}: chose none of 1 candidates may play as an ad")
        follower.complaint(f"{self.name(1)}: it keeps the ads of the list spots")
        until("two are filled", lambda: sorted(follower.changes("filled")) == [self.name(0), self.name(2)])
        self.assertEqual([self.breaks()[self.name(number)]["firstAdvertisement"] for number in range(3)], ["only", HOUSE, "only"])
        self.assertEqual(follower.end(), 0)

    def test_without_a_history_nothing_is_chosen(self):
        path = self.write([self.row(0, ads="")])
        follower = self.follow(path, "--list", "spots", "--choose", self.candidates(["only"], "90s"), "--fill-ahead", "6h",
                               "--http", "127.0.0.1:1")
        follower.complaint("No ads are chosen, because those of other breaks are not known")
        self.assertEqual(self.breaks()[self.name(0)]["firstAdvertisement"], HOUSE)
        # It is tried again until the break is announced.
        self.assertEqual(self.breaks()[self.name(0)]["revision"], 1)
        self.base -= 6_000
        self.write([self.row(0, ads="")])
        follower.complaint(f"{self.name(0)}: it was announced with the ads of the list spots")
        self.assertEqual(follower.end(), 0)

    def test_candidates_stand_in_for_an_ad_server_that_gives_none(self):
        server = self.ad_server()
        server.serve("/none", vast())
        server.serve("/some", vast(inline("Some")))
        path = self.write_servers([self.server_row(0, server.url("/none")), self.server_row(1, server.url("/some"))])
        choose = self.candidates(["only"], "90s", variants=[{"name": "cars", "if": [{"attribute": "device", "is": "car"}]}])
        follower = self.follow(path, *self.FILLING, "--choose", choose)
        until("both are filled", lambda: len(follower.changes("filled")) == 2)
        self.assertEqual(until("the books have it", lambda: self.published(self.name(1)).get("default") == ["Some"] and [
            self.published(self.name(number)) for number in range(2)]),
            [{"default": ["only"], "cars": ["only"]}, {"default": ["Some"], "cars": ["Some"]}])
        self.assertEqual(follower.end(), 0)
        # Variants stand in one file only.
        variants = self.file("variants.json", {"variants": [self.variant("cars", list="spots")]})
        self.put(path, "--list", "spots", "--choose", choose, "--variants", variants, code=65)
        self.assertIn("name them in one file", self.said)

    def test_a_file_of_variants_has_as_many_bytes_as_file_bytes_max(self):
        path = self.write([self.row(0, ads="")])
        variants = self.file("variants.json", {"variants": [self.variant("cars", list="spots")]})
        for more, code in ((0, 0), (1, 65)):
            with open(variants, "a", encoding="utf-8") as file:
                file.write(" " * (1_048_576 + more - os.path.getsize(variants)))
            self.put(path, "--list", "spots", "--variants", variants, code=code, apply=False)
            self.assertEqual("the limit fileBytesMax is 1048576" in self.said, code == 65, self.said)
