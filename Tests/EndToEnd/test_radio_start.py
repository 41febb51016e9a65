# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Radio says that a break begins as it begins: many players ask for it in the first seconds, evenly; and a break that is told ahead is
announced ahead."""
import datetime, json, math, os, subprocess, tempfile, time, unittest

from harness import ROOT, RUN_PATIENCE, Gateway, Listener, notice_pb2, until
from test_http_api import started
from test_load_tool import LOAD_BINARY as LOAD

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")
LISTENERS = 1_000
#: So many requests a second are meant: with as many listeners a window of four seconds.
RATE = 250
WINDOW = LISTENERS / RATE


class RadioStart(unittest.TestCase):
    def gateway(self, *more):
        gateway = Gateway("--set", "breaks.cues=* list=spots duration=1h", *more)
        self.addCleanup(gateway.close)
        gateway.run("lists", "put", "spots", "--vast", VAST)
        return gateway

    def test_a_break_that_begins_now_is_asked_for_evenly_over_the_first_seconds(self):
        gateway = self.gateway("--set", f"breaks.batchRequestsPerSecond={RATE}")
        watcher = Listener(gateway, "radio1")
        self.addCleanup(watcher.close)
        watcher.join()
        with subprocess.Popen([LOAD, "--stream", "radio1", "--listeners", str(LISTENERS), "--follow", "--breaks", "1", "--patience", "30m",
                               "--processes", "1", "--json"], env=gateway.environment, stdout=subprocess.PIPE, text=True) as tool:
            try:
                until("all listen", lambda: (gateway.metric("cuecast_listeners") or 0) > LISTENERS)
                gateway.run("signal", "out", "--stream", "radio1", "--source", "automation", "--event", "on-air", "--now")
                notice = watcher.next()
                self.assertEqual(notice.kind, notice_pb2.NOTICE_KIND_AVAILABLE)
                opened = notice.window.from_us / 1_000_000
                self.assertEqual(round((notice.window.by_us - notice.window.from_us) / 1_000_000, 1), WINDOW)
                # No player asks before its turn, and turns are drawn from hashes: so many have asked at most, however slow this
                # machine is. (Five standard deviations of a binomial number.)
                curve = []

                def asked():
                    count = gateway.metric("cuecast_batches_total") or 0
                    share = min(max(time.time() - opened, 0) / WINDOW, 1)
                    curve.append((time.time() - opened, count))
                    self.assertLessEqual(count, LISTENERS * share + 5 * math.sqrt(LISTENERS * share * (1 - share)) + 1, curve)
                    return count >= LISTENERS
                until("all have asked", asked, lasting=WINDOW)
                report = json.loads(tool.communicate(timeout=RUN_PATIENCE)[0])
            finally:
                tool.kill()
        self.assertEqual([each["kind"] for each in report["findings"]], [])
        self.assertEqual([each["batches"] for each in report["breaks"]], [LISTENERS])

    def test_an_element_that_is_told_ahead_is_announced_ahead_and_players_have_its_ads_before_it_starts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/mappings.json"
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"mappings": [{"name": "studio2", "type": ["category"], "ads": ["spot"], "duration": ["length"],
                                         "start": ["airs"]}]}, file)
            gateway, api = started(self, "--set", f"breaks.signalMappingsFile={path}", "--set", "breaks.announceAhead=20m",
                                   "--set", "breaks.cues=* list=spots")
        gateway.run("lists", "put", "spots", "--vast", VAST)
        listener = Listener(gateway, "radio1")
        self.addCleanup(listener.close)
        listener.join()
        # So far ahead that it has not begun at the end of this test, however slow the machine is.
        airs = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=15)
        path = "/v1/streams/radio1/signals/studio2"
        spot = {"category": "spot", "length": 60, "airs": airs.isoformat(timespec="milliseconds")}
        status, out = api.ask("POST", path, spot)
        self.assertEqual((status, out["signal"], out["break"]["state"]), (200, "out", "announced"), out)
        self.assertEqual(datetime.datetime.fromisoformat(out["break"]["start"].replace("Z", "+00:00")),
                         datetime.datetime.fromisoformat(spot["airs"]))
        # The same element once more changes nothing.
        self.assertEqual(api.ask("POST", path, spot)[1]["break"]["revision"], out["break"]["revision"])
        notice = listener.next()
        self.assertEqual((notice.kind, notice.break_id), (notice_pb2.NOTICE_KIND_AVAILABLE, out["break"]["break"]))
        # All of the window lies before the start.
        self.assertLess(notice.window.by_us, notice.start_us)
        self.assertEqual(len(listener.batch(notice.break_id).batch.advertisements), 2)


if __name__ == "__main__":
    unittest.main()
