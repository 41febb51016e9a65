# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The client library as a process that is killed, frozen out and started again, against the real gateway."""
import http.server, json, os, shutil, signal, struct, tempfile, threading, time, unittest

from harness import PATIENCE, Broadcaster, Gateway, ad, advertisement_pb2, broadcast_pb2, status_pb2, until
from cuecast.v1 import journal_pb2

OK = status_pb2.STATUS_CODE_OK
#: A record of a journal: this mark, the length of its entry, a hash of it, and the entry (Sources/Cuecast/Storage/JournalRecords.swift).
RECORD_MARK = b"\xc5cue"


def heard_on_disk(path):
    """How much was heard of what plays, in milliseconds, as the file of a session has it."""
    with open(path, "rb") as file:
        data = file.read()
    heard, place = 0, data.find(RECORD_MARK)
    while 0 <= place and place + 16 <= len(data):
        end = place + 16 + struct.unpack_from("<I", data, place + 4)[0]
        if end > len(data):
            break  # It is being written.
        entry = journal_pb2.JournalEntry.FromString(data[place + 16:end])
        if entry.HasField("progress"):
            heard = entry.progress.heard_ms
        place = data.find(RECORD_MARK, end)
    return heard


class TrackingServer:
    """Counts the calls of tracking URLs; answers none while `silent`."""

    def __init__(self):
        self.paths, self.silent, self.released = [], False, threading.Event()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.paths.append(self.path)
                if server.silent:
                    server.released.wait(PATIENCE)
                    return
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, event):
        return f"http://127.0.0.1:{self.server.server_address[1]}/{event}?n=[PODSEQUENCE]"

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


class PlayerLife(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.folder = tempfile.mkdtemp(prefix="cuecast-player.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.state = os.path.join(self.folder, "session")

    def publish(self, break_id, ads, stream="s", **fields):
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(broadcaster.close)
        reply = broadcaster.publish(stream, break_id, ads, **fields)
        self.assertEqual(reply.status, OK, reply)

    def play(self, *arguments, stream="s"):
        player = self.gateway.listen(stream, "--state", f"{self.state}-{stream}", *arguments)
        self.addCleanup(lambda: player.process.poll() is None and player.kill())
        return player

    def test_a_player_that_is_killed_goes_on_in_its_session_and_each_ad_counts_once(self):
        # It is killed while it plays the first one, however slow the machine is.
        player = self.play()
        player.wait_for("joined")
        ads = [ad("one", 1_500_000), ad("two", 750_000), ad("three", 750_000)]
        self.publish("b", ads, start=broadcast_pb2.Start(in_ms=500))
        player.wait_for("playing")
        player.kill()
        # Played so much faster that none is over before its time.
        player = self.play("--breaks", "1", "--speed", "500")
        self.assertEqual(player.wait_for("sessionBegan")["state"], "resumed")
        player.wait_for("outcome", outcome="played")
        self.assertEqual(player.finish(), 0)
        counts = self.gateway.report("s", "b")
        self.assertEqual([counts[name]["delivered"] for name in ("one", "two", "three")], [1, 1, 1], "one session")
        for name, each in counts.items():
            self.assertLessEqual(each["played"] + each["ignored"] + each["failed"], 1, name)
        self.assertEqual(counts["three"]["played"], 1)

    def test_a_player_that_is_killed_tells_how_much_it_had_heard(self):
        player = self.play()
        player.wait_for("joined")
        began = time.monotonic()
        self.publish("b", [ad("one", 600_000)], start=broadcast_pb2.Start(in_ms=500))
        player.wait_for("playing")
        # It says nothing more before a quarter is heard, which takes 150 s.
        known = until("what is heard is kept", lambda: (heard := heard_on_disk(f"{self.state}-s")) >= 5_000 and heard)
        player.kill()
        most = (time.monotonic() - began) * 1_000
        player = self.play()
        player.wait_for("outcome", outcome="played")
        player.wait_for("acknowledged")
        player.process.send_signal(signal.SIGTERM)
        self.assertEqual(player.finish(), 0)
        counts = self.gateway.report("s", "b")["one"]
        self.assertEqual((counts["delivered"], counts["played"], counts["inferred"]), (1, 1, 1))
        self.assertGreaterEqual(counts["heardMilliseconds"], known)
        self.assertLess(counts["heardMilliseconds"], most)

    def test_an_outcome_survives_the_death_of_both(self):
        def dies_before(lead):
            """The stream of a break whose start, so many seconds later, the gateway did not live to see; else nothing."""
            stream = f"s-{lead}"
            player = self.play("--ignore", stream=stream)
            player.wait_for("joined")
            began = time.monotonic()
            self.publish("b", [ad("one", 1_800_000)], stream=stream, start=broadcast_pb2.Start(in_ms=lead * 1_000))
            player.wait_for("ready")
            self.gateway.stop(signal.SIGKILL)
            in_time = time.monotonic() - began < lead
            if in_time:
                player.wait_for("outcome")
            player.kill()
            self.gateway.start()
            return stream if in_time else None

        # Where the machine is so slow that the outcome may have been told, once more with more time.
        stream = next(filter(None, map(dies_before, (8, 32, 128, 512))))
        player = self.play("--ignore", stream=stream)
        player.wait_for("acknowledged")
        player.process.send_signal(signal.SIGTERM)
        self.assertEqual(player.finish(), 0)
        self.assertEqual(self.gateway.report(stream, "b")["one"]["ignored"], 1)

    def test_a_gateway_that_is_frozen_is_noticed_and_found_again(self):
        player = self.play("--breaks", "1", "--speed", "2000")
        player.wait_for("joined")
        # The connection stays: only nothing comes any more, as on a line that is cut.
        self.gateway.process.send_signal(signal.SIGSTOP)
        try:
            waiting = player.wait_for("connection", state="waiting: the gateway is silent")
        finally:
            self.gateway.process.send_signal(signal.SIGCONT)
        self.assertIn("silent", waiting["state"])
        before = len(player.events)
        while not any(event.get("state") == "listening" for event in player.events[before:]):
            player.events.append(json.loads(player.process.stdout.readline()))
        self.publish("b", [ad("one", 1_000_000)], start=broadcast_pb2.Start(in_ms=300))
        self.assertEqual(player.finish(), 0)
        self.assertEqual(self.gateway.report("s", "b")["one"]["played"], 1)

    def test_a_second_player_on_the_same_file_is_refused_with_a_sentence(self):
        player = self.play()
        player.wait_for("joined")
        sentence = self.gateway.run("listen", "--stream", "s", "--state", self.state + "-s", code=69)
        self.assertIn(f"Another client uses the file {self.state}-s.", sentence)
        player.process.send_signal(signal.SIGTERM)
        self.assertEqual(player.finish(), 0)

    def test_tracking_urls_are_called_once_also_by_a_player_that_is_killed_meanwhile(self):
        server = TrackingServer()
        self.addCleanup(server.close)
        tracked = ad("one", 1_000_000)
        for event in ("impression", "complete"):
            tracked.trackers.add(event=event, url=server.url(event))
        player = self.play("--breaks", "1", "--tracking", "--speed", "2000")
        player.wait_for("joined")
        self.publish("b", [tracked], start=broadcast_pb2.Start(in_ms=300), duration_ms=1_000_000)
        self.assertEqual(player.finish(), 0)
        self.assertEqual(sorted(server.paths), ["/complete?n=1", "/impression?n=1"])
        # Now it is killed while the server is silent: the result is not known, and it is not called again.
        self.gateway.end("s", "b")  # It would last longer than its advertisement was played.
        server.silent, number = True, 0
        while True:
            name, number, server.paths = f"c-{number}", number + 1, []
            player = self.play("--tracking")
            player.wait_for("joined")
            late = advertisement_pb2.Advertisement()
            late.CopyFrom(tracked)
            late.id = name
            self.publish(name, [late], start=broadcast_pb2.Start(in_ms=300), duration_ms=1_000_000)
            until("the server is called", lambda: "/impression?n=1" in server.paths)
            player.process.kill()
            player.finish()
            called = len(server.paths)
            self.gateway.end("s", name)
            # Where the machine is so slow that it had given the call up by then, after 10 s, once more.
            if not any(event["event"] == "tracking" and "uncertain" in event["state"] for event in player.events):
                break
        until("the break is over", lambda: all(
            each["state"] == "complete" for each in self.gateway.get("/v1/breaks?stream=s")["breaks"]))
        server.silent = False
        player = self.play("--tracking")
        event = player.wait_for("tracking")
        self.assertIn("uncertain", event["state"])
        player.process.send_signal(signal.SIGTERM)
        self.assertEqual(player.finish(), 0)
        self.assertEqual(server.paths[:called].count("/impression?n=1"), 1)
        self.assertNotIn("/impression?n=1", server.paths[called:])
