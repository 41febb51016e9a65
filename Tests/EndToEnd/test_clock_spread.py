# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Players with a network of their own each and a wall clock that is stepped begin a break together."""
import json, os, subprocess, sys, unittest

from harness import BINARY, RUN_PATIENCE, ROOT

#: Milliseconds. The paths' asymmetry alone allows 10; 100 are promised, of which `make bench-clock` makes sure. Here the
#: machine does other things meanwhile.
ESTIMATE_SPREAD_MAX, TOLD_SPREAD_MAX = 40, 1_000
#: How often players that were apart because the machine was busy begin once more: what is wrong is so each time. For each attempt, how
#: many seconds the break is published ahead, and how many times as far apart they may be: by less than their wall clocks are wrong.
ATTEMPTS = [(4, 1)] * 8 + [(16, 1)] * 4 + [(64, 4)] * 8


class ClockSpread(unittest.TestCase):
    def test_players_begin_a_break_together_whatever_their_wall_clock_shows(self):
        for ahead, factor in ATTEMPTS:
            done = subprocess.run(
                [sys.executable, os.path.join(ROOT, "Benchmarks/clock_spread.py"), "--players", "20", "--breaks", "1", "--json",
                 "--binary", BINARY, "--ahead", str(ahead), "--spread-max", str(factor * TOLD_SPREAD_MAX)], capture_output=True, text=True, timeout=RUN_PATIENCE)
            if done.returncode == 0:
                report = json.loads(done.stdout)
                if all(each["estimated"]["spread_ms"] <= factor * ESTIMATE_SPREAD_MAX for each in report["breaks"]):
                    break
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        self.assertEqual(len(report["breaks"]), 1)
        for each in report["breaks"]:
            self.assertGreater(abs(each["wall_clock_wrong_by_seconds"]), 0.2, "the wall clock was not stepped")
            self.assertLessEqual(each["estimated"]["spread_ms"], factor * ESTIMATE_SPREAD_MAX, report)


if __name__ == "__main__":
    unittest.main()
