# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The load-test tool against the real binary: what it counts is what the gateway has in its books."""
import json, os, signal, subprocess, unittest

from harness import BINARY, PATIENCE, RUN_PATIENCE, Gateway, slower_until, until

LOAD_BINARY = os.environ.get("CUECAST_LOAD_BIN", os.path.join(os.path.dirname(BINARY), "cuecast-load"))


def load(*arguments, code=0):
    """Runs the tool, insists on its exit code, and gives what it printed. `None` is either code of a measurement: 1 is that something
    did not come in time."""
    done = subprocess.run([LOAD_BINARY, *arguments], capture_output=True, text=True, timeout=RUN_PATIENCE)
    assert done.returncode in ((0, 1) if code is None else (code,)), f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stderr if code else done.stdout


class LoadTool(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway("--set", "listeners.requestsPerSecondMax=0", "--set", "listeners.attributes=load-* join=variant",
                               "--set", "listeners.sessionsPerConnectionMax=0")
        self.addCleanup(self.gateway.close)

    def at(self, *names):
        return [flag for name in names for flag in ("--" + name, self.gateway.addresses[name])]

    def test_acknowledgements_that_were_answered_are_in_the_books_once(self):
        runs = []

        def run(factor):
            runs.append(json.loads(load(
                "requests", *self.at("requests", "broadcast"), "--kind", "acknowledge", "--connections", "20", "--duration",
                f"{500 * factor}ms", "--warmup", "0s", "--expect", "4000", "--json", code=None)))
            self.assertEqual(runs[-1]["refused"], {})
            return runs[-1]
        # Where the machine did something else meanwhile, once more with more time: the tool waits for the last answers for 5 s.
        result = slower_until(run, lambda result: result["count"] > 0 and result["lost"] == 0)
        self.assertGreater(result["count"], 0)
        self.assertEqual(result["lost"], 0)
        answered = sum(each["count"] for each in runs)

        def books():
            report = self.gateway.get("/v1/reports")
            return report if all(lane["offset"] == lane.get("head") for lane in report["lanes"].values()) else None
        report = until("the ledger has read the log", books)
        self.assertTrue(report["balanced"])
        counts = [ad["counts"] for each in report["breaks"] for ad in each["ads"]]
        # Those that were under way at the end were recorded too, at most one for each connection.
        played = sum(each["played"] for each in counts)
        self.assertGreaterEqual(played, 3 * answered)
        self.assertLessEqual(played, 3 * (answered + 20 * len(runs)))
        self.assertEqual(sum(each.get("repeats", 0) for each in counts), 0)

    def test_batches_of_variants_are_in_the_books_of_each(self):
        sessions = 20 * 26

        def run(factor):
            result = json.loads(load(
                "requests", *self.at("requests", "broadcast"), "--kind", "batch", "--variants", "4", "--connections", "20", "--duration",
                f"{500 * factor}ms", "--warmup", "0s", "--json", code=None))
            self.assertEqual(result["refused"], {})
            return result
        # Until each session has its batch.
        result = slower_until(run, lambda result: result["count"] > 2 * sessions and result["lost"] == 0)
        self.assertGreater(result["count"], 2 * sessions)

        def books():
            report = self.gateway.get("/v1/reports?limit=1")
            return report["breaks"][0]["ads"] if all(lane["offset"] == lane.get("head") for lane in report["lanes"].values()) else None
        ads = until("the ledger has read the log", books)
        self.assertEqual([(each["variantName"], each["id"], each["counts"]["delivered"]) for each in ads],
                         [(name, f"ad-{3 * variant + place:03}", sessions // 4)
                          for variant, name in enumerate(("default", "v01", "v02", "v03")) for place in range(3)])
        for arguments in (("batch", "0"), ("batch", "33"), ("time", "2")):
            self.assertIn("--variants is 1 to 32", load("requests", *self.at("requests", "broadcast"), "--kind", arguments[0], "--variants",
                                                        arguments[1], code=64))

    def test_notices_reach_every_subscriber(self):
        # The tool waits for a notice for 10 s.
        result = slower_until(lambda _: json.loads(load(
            "notices", *self.at("notices", "broadcast"), "--connections", "50", "--pattern", "burst", "--burst", "100", "--count", "2",
            "--json", code=None)), lambda result: result["lost"] == 0)
        self.assertEqual([each["received"] for each in result["rounds"]], [5_000, 5_000])
        self.assertEqual((result["lost"], result["repeated"], result["out_of_order"]), (0, 0, 0))

    def test_idle_listeners_are_up_until_a_signal(self):
        process = subprocess.Popen([LOAD_BINARY, "idle", *self.at("notices", "requests"), "--connections", "30", "--hold",
                                    "1m", "--json"], stdout=subprocess.PIPE, text=True)
        self.assertEqual(json.loads(process.stdout.readline()), {"ready": 30})
        process.send_signal(signal.SIGINT)
        result = json.loads(process.stdout.read())
        process.stdout.close()
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(result["ended"], 0)

    def test_exit_codes_and_sentences(self):
        self.gateway.stop()
        self.assertIn("the connection was refused", load("requests", *self.at("requests"), "--kind", "time", code=69))
        self.assertIn("--broadcast", load("requests", *self.at("requests"), "--kind", "batch", code=64))
        self.assertIn("tcp://HOST:PORT", load("requests", "--requests", "here", "--kind", "time", code=64))
        self.assertIn("--broadcast", load("notices", *self.at("notices"), code=64))
        self.assertIn("do not fit", load("idle", *self.at("notices"), "--connections", "900000", code=64))
