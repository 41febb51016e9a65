# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Reports of watchers: the gateway tells its cue policy, shows who watches what, and notices a source that is silent."""
import json, os, signal, socket, tempfile, time, unittest

from harness import ROOT, Gateway, until
from test_watch_hls import LivePlaylist, PlaylistServer, Watcher as PlaylistWatcher
from transport_stream import PACKET, TransportStream, rtp, segment
from watcher import Watcher

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")
#: Watchers report every second then, and are gone after three.
SILENT_AFTER = ("--set", "breaks.sourceSilentAfter=2s")


class ToldPolicy(unittest.TestCase):
    """Which segments open a break is said by the policy, and may change while watchers run."""

    def setUp(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False) as file:
            self.file = file.name
        self.addCleanup(os.unlink, self.file)
        self.write("opens=0x34")
        self.gateway = Gateway(*SILENT_AFTER, "--config", self.file)
        self.addCleanup(self.gateway.close)
        self.gateway.run("lists", "put", "spots", "--vast", VAST)
        self.parts, self.number = TransportStream(), 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(self.socket.close)

    def write(self, fields):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(f'breaks.cues: "* list=spots duration=1h tolerance=0s {fields}"\n')

    def reload(self, fields):
        self.write(fields)
        self.gateway.process.send_signal(signal.SIGHUP)

    def watcher(self, stream, *arguments):
        watcher = Watcher(self.gateway, "ts", "udp://127.0.0.1:0", "--stream", stream, *arguments)
        self.addCleanup(watcher.close)
        return watcher

    def send(self, watcher, *segments):
        """Segments with their places in seconds from now."""
        now = int(time.monotonic() * 90_000)
        packets = self.parts.tables() + self.parts.clock(now)
        for event, kind, seconds in segments:
            packets += self.parts.section(segment(event, kind, pts=now + seconds * 90_000))
        for begin in range(0, len(packets), 7 * PACKET):
            self.socket.sendto(rtp(self.number, packets[begin:begin + 7 * PACKET]), watcher.address())
            self.number += 1

    def test_the_policy_says_which_segments_open_a_break_also_when_it_changes(self):
        watcher = self.watcher("sport1")
        self.assertIn("segments 0x34 open a break", watcher.complaint("The cue policy for sport1"))
        self.send(watcher, (1, 0x22, 500), (2, 0x34, 600))
        [out] = watcher.wait_for("sent", "out")
        self.assertEqual(out["signal"]["eventId"], "segment-2")
        self.assertIn("segments of type 0x22 open no break here", watcher.wait_for("ignored")[0]["reason"])
        self.reload("opens=0x22 ends=0x10 restrictions=web")
        told = watcher.complaint("segments 0x22 open a break")
        self.assertIn("segments 0x10 end every break", told)
        self.assertIn("restrictions are obeyed: web", told)
        # What runs is ended by its own segment, and what begins goes by the new policy.
        self.send(watcher, (2, 0x35, 660), (3, 0x34, 700), (4, 0x22, 800))
        [end] = watcher.wait_for("sent", "in")
        self.assertEqual(end["signal"]["eventId"], "segment-2")
        outs = watcher.wait_for("sent", "out", count=2)
        self.assertEqual([each["signal"]["eventId"] for each in outs], ["segment-2", "segment-4"])
        # An option goes before the policy.
        other = self.watcher("sport2", "--opens", "0x34")
        other.complaint("The cue policy for sport2")
        self.send(other, (5, 0x22, 500), (6, 0x34, 600))
        [out] = other.wait_for("sent", "out")
        self.assertEqual(out["signal"]["eventId"], "segment-6")

    def test_check_config_explains_the_segments(self):
        done = self.gateway.run("check-config", "--config", self.file)
        self.assertIn("segments 0x34 open a break", done)
        self.write("opens=0x35")
        self.assertIn("opens must be some of 0x20, 0x22", self.gateway.run("check-config", "--config", self.file, code=65))

    def test_the_lateness_of_the_policy_holds_for_playlists(self):
        server = PlaylistServer()
        self.addCleanup(server.close)
        # The break was over 300 s ago.
        playlist = LivePlaylist({0: "#EXT-X-CUE-OUT:60"}, base=int(time.time()) - 360, moves=False)
        server.serve("/live.m3u8", playlist.text)

        def watch():
            watcher = PlaylistWatcher(self.gateway, server.url("/live.m3u8"), "--stream", "radio1", "--allow-private")
            self.addCleanup(watcher.kill)
            return until("the mark is seen", lambda: [line for line in list(watcher.lines) if "seen" in line])[0]

        self.assertIn("it was over 3", watch()["reason"])
        other = self.watcher("sport1")
        self.reload("late=1h opens=0x22")
        other.complaint("segments 0x22 open a break")
        told = watch()
        self.assertEqual((told["result"], told["signal"]["kind"]), ("sent", "out"), told)


class WatchReports(unittest.TestCase):
    """Who watches what, what they saw, and which source is silent."""

    def setUp(self):
        self.server = PlaylistServer()
        self.addCleanup(self.server.close)
        self.gateway = Gateway(*SILENT_AFTER, "--set", "breaks.cues=* list=spots duration=10m")
        self.addCleanup(self.gateway.close)
        self.gateway.run("lists", "put", "spots", "--vast", VAST)

    def watcher(self, path, stream="radio1"):
        watcher = PlaylistWatcher(self.gateway, self.server.url(path), "--stream", stream, "--allow-private")
        self.addCleanup(watcher.kill)
        return watcher

    def listed(self, stream="radio1"):
        return self.gateway.get(f"/v1/streams/{stream}/signals")

    def states(self, stream="radio1"):
        return sorted(each["state"] for each in self.listed(stream)["watchers"])

    def is_raised(self):
        return self.gateway.metric('cuecast_alarm{alarm="sourceSilent"}') == 1

    def alarm(self, text):
        """The sentence of the alarm, once it says this."""
        def found():
            sentences = [each["sentence"] for each in self.gateway.get("/readyz")["alarms"] if each["alarm"] == "sourceSilent"]
            return sentences and text in sentences[0] and sentences[0]
        return until(f"the alarm says {text}", found)

    def test_a_source_is_silent_when_no_watcher_hears_it_and_not_when_one_is_gone(self):
        playlist = LivePlaylist({})
        self.server.serve("/live.m3u8?token=geheim", playlist.text)
        one, other = self.watcher("/live.m3u8?token=geheim"), self.watcher("/live.m3u8?token=geheim")
        until("both are there", lambda: self.states() == ["present", "present"]
              and all("heard" in each for each in self.listed()["watchers"]))
        [first, second] = self.listed()["watchers"]
        self.assertNotEqual(first["watcher"], second["watcher"])
        self.assertEqual((first["source"], first["kind"], first["steady"]), ("playlist", "hls", True))
        self.assertEqual(first["address"], self.server.url("/live.m3u8"))
        self.assertNotIn("geheim", json.dumps(self.listed()))
        self.assertEqual(self.gateway.metric("cuecast_watchers"), 2)
        one.kill()
        # The one that is left still hears the source.
        until("one is gone, and there is no alarm", lambda: self.states() == ["gone", "present"] and not self.is_raised())
        # The encoder stops: the playlist stands still.
        with playlist.lock:
            playlist.moves = False
        self.alarm("The source playlist of radio1 has been silent since")
        until("its age is shown", lambda: self.gateway.metric('cuecast_source_heard_seconds{source="playlist"}') >= 2)
        self.assertIn("sourceSilent", self.gateway.run("top", "--once"))
        playlist.go_on()
        until("the source is heard again", lambda: not self.is_raised())
        # It ends as it should: of the two only the killed one is left.
        other.end()
        until("it has said goodbye", lambda: self.states() == ["gone"])
        self.alarm("No watcher of the source playlist of radio1 is left")

    def test_a_watcher_that_ends_as_it_should_makes_no_alarm(self):
        playlist = LivePlaylist({})
        self.server.serve("/live.m3u8", playlist.text)
        watcher = self.watcher("/live.m3u8")
        until("it is there", lambda: self.states() == ["present"])
        watcher.end()
        self.assertEqual(self.states(), [])
        self.assertFalse(self.is_raised())

    def test_what_a_watcher_does_not_send_is_counted_and_shown(self):
        playlist = LivePlaylist({2: "#EXT-OATCLS-SCTE35:/DAvAA==\n#EXT-X-CUE-OUT:30"})
        self.server.serve("/live.m3u8", playlist.text)
        watcher = self.watcher("/live.m3u8")
        watcher.wait_for("the break", result="sent")
        watcher.wait_for("the section", result="refused")
        found = until("the report is there", lambda: [each for each in self.listed()["signals"] if each["result"] == "unusable"])
        self.assertIn("UNREADABLE", found[0]["reason"])
        self.assertIn("EXT-X-CUE-OUT", found[0]["decoded"])
        [source] = self.listed()["sources"]
        self.assertEqual((source["source"], source["changed"], source["unusable"]), ("playlist", 1, 1))
        self.assertEqual(self.gateway.metric('cuecast_source_signals_total{source="playlist",result="unusable"}'), 1)
        # Trouble with the source is told, and counts as no signal.
        self.server.fail("/live.m3u8", 503)
        [each] = until("the trouble is told", lambda: [each for each in self.listed()["watchers"] if "problem" in each
                                                       and "status 503" in each["problem"]])
        self.assertIn("problemAt", each)
        self.assertEqual(self.listed()["sources"][0]["unusable"], 1)
        watcher.end()
        # What was seen long ago is ignored, and that is shown too.
        old = LivePlaylist({0: "#EXT-X-CUE-OUT:60"}, base=int(time.time()) - 7_200, moves=False)
        self.server.serve("/old.m3u8", old.text)
        self.watcher("/old.m3u8", "radio2")
        found = until("it is shown", lambda: [each for each in self.listed("radio2")["signals"] if each["result"] == "ignored"])
        self.assertIn("it was over", found[0]["reason"])
        self.assertEqual(self.gateway.metric('cuecast_source_signals_total{source="playlist",result="ignored"}'), 1)

    def test_a_gateway_that_restarts_hears_of_its_watchers_again(self):
        playlist = LivePlaylist({})
        self.server.serve("/live.m3u8", playlist.text)
        watcher = self.watcher("/live.m3u8")
        until("it is there", lambda: self.states() == ["present"])
        self.gateway.stop()
        self.gateway.start()
        until("it is there again", lambda: self.states() == ["present"])
        watcher.end()


if __name__ == "__main__":
    unittest.main()
