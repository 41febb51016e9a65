# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""ffmpeg makes a live transport stream and a live HLS stream, cues are put in, and listeners get the breaks: clocks are real."""
import datetime, json, os, signal, socket, time, unittest

import encoder
from harness import PATIENCE, ROOT, Gateway, Listener, notice_pb2, status_pb2, until
from test_watch_hls import PlaylistServer
from transport_stream import splice_insert
from watcher import Watcher

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")
#: No break is over because the machine is slow.
HOUR = 3_600
#: A cue comes so many seconds before its break.
AHEAD = 2
#: Times are told in milliseconds, and the clock is compared with them.
ROUNDING = 0.05


def seconds(text):
    """The time of day of a date."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00").replace("+0000", "+00:00")).timestamp()


@unittest.skipIf(encoder.FFMPEG is None, "there is no ffmpeg on this machine: scripts/setup.sh test")
class RealEncoder(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway("--set", "breaks.cues=* list=spots")
        self.addCleanup(self.gateway.close)
        self.gateway.run("lists", "put", "spots", "--vast", VAST)
        self.listener = Listener(self.gateway, "sport1")
        self.addCleanup(self.listener.close)
        self.listener.join()

    def watcher(self, *arguments, given=None):
        watcher = Watcher(self.gateway, *arguments, "--stream", "sport1", given=given)
        self.addCleanup(watcher.close)
        return watcher

    def encoder(self, output):
        live = encoder.Encoder(output)
        self.addCleanup(live.close)
        return live

    def breaks(self):
        return json.loads(self.gateway.run("breaks", "--stream", "sport1", "--format", "json"))

    def hear(self, kind):
        notice = self.listener.next()
        self.assertEqual(notice.kind, kind, notice)
        return notice

    def play(self, break_id, end):
        """Plays the ads of a break, hears its end, and insists that the books say so. `end` ends it."""
        reply = self.listener.batch(break_id)
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)
        ads = [each.id for each in reply.batch.advertisements]
        self.assertEqual(self.listener.acknowledge(break_id, reply.batch.delivery, dict.fromkeys(ads, "played")).status,
                         status_pb2.STATUS_CODE_OK)
        end()
        ended = self.hear(notice_pb2.NOTICE_KIND_ENDED)
        self.assertEqual(ended.break_id, break_id)
        counts = self.gateway.report("sport1", break_id)
        self.assertEqual({(each["delivered"], each["played"]) for name, each in counts.items() if name in ads}, {(1, 1)})

    def run_transport_stream(self, watcher, live, again):
        """A cue ahead, and an early return. `again`: datagrams may get lost on the way, so cues are sent until one is seen."""
        until("the encoder has a clock", lambda: live.injector.clock is not None)
        clocks = []

        def out(clock):
            # An encoder says the same cue again, and not with another time.
            clocks.append(clock)
            return splice_insert(7, pts=clocks[0] + AHEAD * 90_000, seconds=HOUR)

        def send(make, kind):
            live.cue(make)
            if again:
                until(f"the watch sees {kind}", lambda: watcher.seen("sent", kind) or live.cue(make))
            return watcher.wait_for("sent", kind)[0]

        sent = send(out, "out")
        start, now = seconds(sent["signal"]["start"]), time.time()
        # No value of the clock came before it was sent, and the one before the cue had come when the signal was told.
        self.assertGreaterEqual(start, live.least_offset + clocks[0] / 90_000 + AHEAD - ROUNDING)
        self.assertLessEqual(start, now + AHEAD + ROUNDING)
        self.assertEqual((sent["signal"]["eventId"], sent["signal"]["durationMs"]), ("splice-7", HOUR * 1_000))
        available = self.hear(notice_pb2.NOTICE_KIND_AVAILABLE)
        self.assertEqual((available.break_id, available.start_us // 1_000), (sent["reply"]["breakId"], round(start * 1_000)))
        self.gateway.until_begun("sport1", available.break_id)
        self.play(available.break_id, lambda: send(lambda clock: splice_insert(7, out=False), "in"))
        self.assertEqual([(each["break"], each["state"]) for each in self.breaks()], [(available.break_id, "complete")])
        self.assertEqual(watcher.seen("refused"), [])

    def test_a_cue_in_a_live_transport_stream_by_a_pipe(self):
        reading, writing = os.pipe()
        watcher = self.watcher("ts", "-", given=reading)
        os.close(reading)
        with open(writing, "wb", buffering=0) as pipe:
            live = self.encoder(pipe.write)
            self.run_transport_stream(watcher, live, again=False)
            live.close()
        watcher.end()
        # Each packet of ffmpeg and each of the cues had its place, by their counters and checksums.
        self.assertFalse([line for line in watcher.complaints if "continuity" in line or "Packets" in line], watcher.complaints)

    def test_a_cue_in_a_live_transport_stream_by_udp(self):
        watcher = self.watcher("ts", "udp://127.0.0.1:0")
        address = watcher.address()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            live = self.encoder(lambda datagram: sender.sendto(datagram, address))
            self.run_transport_stream(watcher, live, again=True)
            live.close()

    def until_written(self, live, date):
        """Waits for a segment that begins later than a date."""
        until("the programme goes on", lambda: seconds(live.segments()[-1][1]) > date)

    def test_marks_in_a_live_playlist(self):
        live, server = encoder.LiveHLS(), PlaylistServer()
        self.addCleanup(live.close)
        self.addCleanup(server.close)
        server.serve("/live.m3u8", live.text)
        until("the first segments", lambda: len(live.segments()) >= 2)
        watcher = self.watcher("hls", server.url("/live.m3u8"), "--allow-private")

        def marked(tag, kind, count):
            name = live.mark(tag)
            date = until("the segment that is marked", lambda: dict(live.segments()).get(name))
            sent = watcher.wait_for("sent", kind, count=count)[-1]
            # The place in the programme as ffmpeg wrote it.
            self.assertAlmostEqual(seconds(sent["signal"]["start"]), seconds(date), delta=0.0015)
            return sent

        first = marked(f"#EXT-X-CUE-OUT:DURATION={HOUR}", "out", 1)
        available = self.hear(notice_pb2.NOTICE_KIND_AVAILABLE)
        self.assertEqual(available.break_id, first["reply"]["breakId"])
        self.play(available.break_id, lambda: marked("#EXT-X-CUE-IN", "in", 1))
        # A range of dates, whose start the packager takes from the clock of the playlist; further on, since a start within the
        # tolerance would be of the break before.
        self.until_written(live, seconds(first["signal"]["start"]) + 4)
        section = splice_insert(9, seconds=HOUR).hex()
        date = live.segments()[-1][1]
        live.mark(f'#EXT-X-DATERANGE:ID="second",START-DATE="{date}",PLANNED-DURATION={HOUR}.0,SCTE35-OUT=0x{section}')
        second = watcher.wait_for("sent", "out", count=2)[-1]
        self.assertAlmostEqual(seconds(second["signal"]["start"]), seconds(date), delta=0.0015)
        available = self.hear(notice_pb2.NOTICE_KIND_AVAILABLE)
        self.assertEqual((available.break_id, second["signal"]["durationMs"]), (second["reply"]["breakId"], HOUR * 1_000))
        # Ends that are a second apart are one: so the range is longer.
        self.until_written(live, seconds(date) + 2)
        live.mark(f'#EXT-X-DATERANGE:ID="second",START-DATE="{date}",END-DATE="{live.segments()[-1][1]}",'
                  f'SCTE35-IN=0x{splice_insert(9, out=False).hex()}')
        self.play(available.break_id, lambda: watcher.wait_for("sent", "in", count=2))
        self.assertEqual([each["state"] for each in self.breaks()], ["complete"] * 2)
        self.assertEqual(watcher.seen("refused"), [])
        watcher.process.send_signal(signal.SIGTERM)
        self.assertEqual(watcher.process.wait(PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
