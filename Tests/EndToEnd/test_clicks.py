# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Clicks, told by a listener on stock libraries, are in the books."""
import csv, io, time, unittest

from harness import Broadcaster, Gateway, Listener, ad, listener_pb2, status_pb2


class Clicks(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(broadcaster.close)
        reply = broadcaster.publish("s", "b", [ad("x"), ad("y"), ad("z")], pre_stream=True)
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK)

    def acknowledge(self, *outcomes, listener=None):
        """A listener, a new one unless given, says what it did: pairs of an ad and the fields that are not as usual."""
        if listener is None:
            listener = Listener(self.gateway, "s")
            self.addCleanup(listener.close)
        usual = {"kind": listener_pb2.OUTCOME_KIND_PLAYED, "evidence": listener_pb2.EVIDENCE_REPORTED}
        reply = listener.ask(acknowledge=listener_pb2.Acknowledge(
            stream="s", break_id="b", delivery=listener.batch("b").batch.delivery, outcomes=[
                listener_pb2.Outcome(advertisement_id=name, occurred_us=time.time_ns() // 1_000, **{**usual, **fields})
                for name, fields in outcomes]))
        self.assertEqual((reply.status, reply.acknowledged.recorded), (status_pb2.STATUS_CODE_OK, len(outcomes)))
        return listener

    def clicks(self):
        """The clicks of each ad over HTTP; insists that the command prints the same, in a column behind the older ones."""
        counts = self.gateway.report("s", "b")
        said = {name: each["clicked"] for name, each in counts.items()}
        printed = self.gateway.run("report", "--stream", "s", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(printed)))
        self.assertEqual(printed.splitlines()[0].split(",")[-4:], ["clicked", "complete", "variant", "variant_name"])
        self.assertEqual({row["advertisement"]: int(row["clicked"]) for row in rows}, said)
        for row in rows:
            self.assertEqual(row["played"], str(counts[row["advertisement"]]["played"]))
        return said

    def test_clicks_are_counted_whatever_the_outcome_was(self):
        failed = {"kind": listener_pb2.OUTCOME_KIND_FAILED, "vast_error": 405, "clicked": True}
        ignored = {"kind": listener_pb2.OUTCOME_KIND_IGNORED, "reason": listener_pb2.IGNORE_REASON_USER, "clicked": True}
        self.acknowledge(("x", {"clicked": True}), ("y", {}), ("z", failed))
        self.acknowledge(("x", {"clicked": True}), ("y", {"clicked": False}), ("z", ignored))
        self.acknowledge(("x", {}))
        self.assertEqual(self.clicks(), {"x": 2, "y": 0, "z": 2})
        # The books are replayed from files after a crash: nothing of it is lost, nothing counted twice.
        self.gateway.stop(9)
        self.gateway.start()
        self.assertEqual(self.clicks(), {"x": 2, "y": 0, "z": 2})

    def test_the_first_outcome_stands_with_its_click_or_without(self):
        listener = self.acknowledge(("x", {"clicked": True}), ("y", {}))
        self.acknowledge(("x", {}), ("y", {"clicked": True}), listener=listener)
        self.assertEqual(self.clicks(), {"x": 1, "y": 0, "z": 0})
        counts = self.gateway.report("s", "b")
        self.assertEqual([(counts[name]["repeats"], counts[name]["contradictions"]) for name in "xy"], [(1, 0), (1, 0)])


if __name__ == "__main__":
    unittest.main()
