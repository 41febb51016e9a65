# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Players with a network of their own each and a wall clock that is stepped begin a break together."""
import json, os, subprocess, sys, unittest

from harness import BINARY, PATIENCE, ROOT

#: Milliseconds. The paths' asymmetry alone allows 10; the rest is for a machine that does other things meanwhile.
ESTIMATE_SPREAD_MAX, TOLD_SPREAD_MAX = 40, 300


class ClockSpread(unittest.TestCase):
    def test_players_begin_a_break_together_whatever_their_wall_clock_shows(self):
        done = subprocess.run(
            [sys.executable, os.path.join(ROOT, "Benchmarks/clock_spread.py"), "--quick", "--json", "--binary", BINARY,
             "--spread-max", str(TOLD_SPREAD_MAX)], capture_output=True, text=True, timeout=2 * PATIENCE)
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        report = json.loads(done.stdout)
        self.assertEqual(len(report["breaks"]), 1)
        for each in report["breaks"]:
            self.assertGreater(abs(each["wall_clock_wrong_by_seconds"]), 0.2, "the wall clock was not stepped")
            self.assertLessEqual(each["estimated"]["spread_ms"], ESTIMATE_SPREAD_MAX, report)


if __name__ == "__main__":
    unittest.main()
