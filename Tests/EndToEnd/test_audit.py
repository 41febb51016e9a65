# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Who changed what: the audit of a gateway that is reloaded, and of one that is killed."""
import json, os, signal, unittest

from harness import ROOT, Gateway, until

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")


class Audit(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def audit(self, *arguments):
        return json.loads(self.gateway.run("audit", "--format", "json", *arguments))["entries"]

    def lines(self, count, *arguments):
        """The audit once it has so many lines: a line may come a moment after its answer."""
        return until(f"{count} lines", lambda: len(found := self.audit(*arguments)) >= count and found)

    def test_reloads_and_commands_are_there(self):
        self.gateway.process.send_signal(signal.SIGHUP)
        self.lines(1)
        self.gateway.run("clock", "confirm", "--data-dir", self.gateway.folder + "/data")
        lines = self.lines(2)
        self.assertEqual([line["action"] for line in lines], ["clock.confirm", "reload"])
        self.assertEqual({line["entrance"] for line in lines}, {"command"})

    def test_a_kill_takes_nothing_that_was_kept(self):
        for number in range(20):
            self.gateway.run("publish", "--stream", "s", "--break", f"b{number}", "--vast", VAST, "--cued")
        kept = self.lines(20)
        self.gateway.stop(signal.SIGKILL)
        self.gateway.start()
        self.assertEqual(self.audit(), kept)
        self.gateway.run("cancel", "--stream", "s", "--break", "b0")
        self.assertEqual(self.lines(len(kept) + 1)[0]["number"], kept[0]["number"] + 1)


if __name__ == "__main__":
    unittest.main()
