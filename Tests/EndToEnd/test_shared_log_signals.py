# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Two gateways of one shared log, each with a watcher of its own, that hear of the same cue at once: one break, the same at both."""
import json, os, signal, threading, time, unittest

from harness import ROOT, Broadcaster, broadcast_pb2, notice_pb2, until
from test_shared_log import OK, UNAVAILABLE, SharedLogCase, made
from transport_stream import splice_insert
from watcher import Watcher
from watchers import Sender

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")
ROUNDS = 6


class SharedLogSignals(SharedLogCase):
    def watcher(self, gateway):
        watcher = Watcher(gateway, "ts", "udp://127.0.0.1:0", "--stream", "sport1")
        self.addCleanup(watcher.close)
        return watcher

    def breaks(self, gateway, stream="sport1"):
        return json.loads(gateway.run("breaks", "--stream", stream, "--format", "json"))

    def same_breaks(self, gateways, count, stream="sport1"):
        """So many breaks, the same at all gateways in everything that is told of them."""
        def same():
            found = [self.breaks(gateway, stream) for gateway in gateways]
            return found[0] if len(found[0]) == count and all(each == found[0] for each in found) else None
        return until(f"{count} breaks are the same at {len(gateways)} gateways", same)

    def sender(self, watchers):
        sender = Sender([watcher.address() for watcher in watchers])
        self.addCleanup(sender.socket.close)
        return sender

    def cue(self, sender, *events):
        """Sends the tables, a clock and cues, to all watchers in the same moment."""
        parts, now = sender.stream, int(time.monotonic() * 90_000)
        sender.send(parts.tables() + parts.clock(now) + b"".join(
            parts.section(splice_insert(number, pts=now + ahead * 90_000, seconds=seconds)) for number, ahead, seconds in events))

    def test_a_cue_that_two_gateways_hear_of_at_once_is_one_break_also_when_a_watcher_and_a_gateway_are_killed(self):
        servers = self.servers(1)
        made(servers)
        cues = ("--set", "breaks.cues=* list=spots")
        first = self.gateway(servers, *cues)
        second = self.gateway(servers, *cues, keys_of=first)
        gateways = (first, second)
        first.run("lists", "put", "spots", "--vast", VAST)
        until("the other gateway knows the list", lambda: json.loads(second.run("lists", "list", "--format", "json")))
        watchers = [self.watcher(gateway) for gateway in gateways]
        sender = self.sender(watchers)
        listeners = [self.listener(gateway, "sport1") for gateway in gateways]

        # Both watchers have each cue in the same moment, and both gateways append a signal of it.
        for number in range(1, ROUNDS + 1):
            self.cue(sender, (number, 2_400 + 60 * number, 30))
        for watcher in watchers:
            watcher.wait_for("sent", "out", count=ROUNDS)
        found = self.same_breaks(gateways, ROUNDS)
        self.assertEqual([[each["event"] for each in one["signals"]] for one in found],
                         [[f"splice-{number}"] for number in range(1, ROUNDS + 1)])
        for number in range(ROUNDS):
            told = {watcher.seen("sent", "out")[number]["reply"]["breakId"] for watcher in watchers}
            self.assertEqual(told, {found[number]["break"]}, "both gateways name the same break")

        # A cue about now, which each watcher has at its own moment: its listeners hear the same notice at the same position.
        now = splice_insert(100, seconds=1_500)
        self.cue(sender)
        sender.send(sender.stream.section(now))
        for watcher in watchers:
            watcher.wait_for("sent", "out", count=ROUNDS + 1)
        heard = [listener.next() for listener in listeners]
        self.assertEqual({notice.kind for notice in heard}, {notice_pb2.NOTICE_KIND_AVAILABLE})
        self.assertEqual(len({(notice.break_id, notice.start_us, notice.position.epoch, notice.position.sequence) for notice in heard}), 1)
        sender.send(sender.stream.section(splice_insert(100, out=False)))
        for listener in listeners:
            # The other watcher's moment may still move the end.
            while (notice := listener.next()).kind != notice_pb2.NOTICE_KIND_ENDED:
                self.assertEqual(notice.break_id, heard[0].break_id)
        for watcher in watchers:
            watcher.wait_for("sent", "in")
        self.same_breaks(gateways, ROUNDS + 1)

        # One watcher and one gateway are killed while they have a cue: the other ones make its break, once.
        killer = threading.Thread(target=lambda: (watchers[0].process.kill(), first.process.send_signal(signal.SIGKILL)))
        self.cue(sender, (200, 3_000, 30))
        killer.start()
        killer.join()
        first.process.wait()
        watchers[1].wait_for("sent", "out", count=ROUNDS + 2)
        self.same_breaks([second], ROUNDS + 2)
        first.process.stdout.close()
        first.start()
        before = self.same_breaks(gateways, ROUNDS + 2)
        # A watcher that comes back sees the encoder's repeat, and says what its gateway knows.
        again = self.watcher(first)
        sender.addresses[0] = again.address()
        last = before[-1]
        self.assertEqual(last["signals"][0]["event"], "splice-200")
        self.cue(sender, (200, 3_000, 30))
        again.wait_for("sent", "out")
        after = self.same_breaks(gateways, ROUNDS + 2)
        self.assertEqual([each["break"] for each in after], [each["break"] for each in before])
        for gateway in gateways:
            self.assertEqual(gateway.stop(), 0)

    def test_signals_of_two_sources_that_are_in_flight_at_two_gateways_are_one_break(self):
        servers = self.servers(1)
        made(servers)
        cues = ("--set", "breaks.cues=* list=spots sources=encoder,playlist")
        first = self.gateway(servers, *cues)
        second = self.gateway(servers, *cues, keys_of=first)
        first.run("lists", "put", "spots", "--vast", VAST)
        until("the other gateway knows the list", lambda: json.loads(second.run("lists", "list", "--format", "json")))
        broadcasters = [Broadcaster(gateway) for gateway in (first, second)]
        for each in broadcasters:
            self.addCleanup(each.close)
        base = time.time_ns() // 1_000 + 600_000_000

        def send(place, number, barrier, replies):
            said = broadcast_pb2.Signal(
                stream="radio1", source=("encoder", "playlist")[place], event_id=str(number), kind=broadcast_pb2.SIGNAL_KIND_OUT,
                start=broadcast_pb2.Start(at_us=base + 60_000_000 * number + 1_000_000 * place), duration_ms=30_000 + 1_000 * place)
            barrier.wait()
            while (reply := broadcasters[place].ask(signal=said)).status == UNAVAILABLE:
                pass
            replies[place] = reply

        for number in range(ROUNDS):
            barrier, replies = threading.Barrier(2), [None, None]
            threads = [threading.Thread(target=send, args=(place, number, barrier, replies)) for place in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual([reply.status for reply in replies], [OK, OK], replies)
            self.assertEqual(len({getattr(reply, "break").break_id for reply in replies}), 1, replies)
        found = self.same_breaks((first, second), ROUNDS, "radio1")
        for number, each in enumerate(found):
            # The encoder goes first, whichever the log has first.
            self.assertEqual([(claim["source"], claim["event"], claim["durationSeconds"]) for claim in each["signals"]],
                             [("encoder", str(number), 30), ("playlist", str(number), 31)])
            self.assertEqual(each["durationSeconds"], 30)


if __name__ == "__main__":
    unittest.main()
