# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Three gateways on one log are restarted one after the other, under listeners and with breaks running.

    scripts/end-to-end.sh SharedLogRolling                                     300 listeners, as `make test` has it
    CUECAST_ROLLING_LISTENERS=2000 scripts/end-to-end.sh SharedLogRolling      2,000 listeners (`make rolling`)
    CUECAST_PREVIOUS_BIN=FILE scripts/end-to-end.sh SharedLogRolling           an upgrade: the gateways begin as that program, and come back as this one

The load tool checks what every listener gets. Its numbers are compared with the books of all gateways.
"""
import json, os, signal, subprocess, tempfile, time, unittest

from harness import BINARY, RUN_PATIENCE, until
from test_load_tool import LOAD_BINARY as LOAD
from test_shared_log import HALF_AN_HOUR_MS, KINDS, SharedLogCase, made

#: On both streams and at all gateways together.
LISTENERS = int(os.environ.get("CUECAST_ROLLING_LISTENERS", "300"))
#: The program of the gateways before they are restarted.
PREVIOUS = os.environ.get("CUECAST_PREVIOUS_BIN") or BINARY
GATEWAYS = 3
#: A break of the first runs when a gateway stops; one of the second is published while the gateway is away.
RUNNING, MEANWHILE = "running", "meanwhile"
#: An ad lasts half an hour, so that it can be played however slow the machine is; a listener plays it in two seconds.
SPEED = HALF_AN_HOUR_MS // 2_000
#: Listeners that lost their gateway together must not come back together: at most so many of them within a time, in seconds. Those whose
#: attempt fell into the time between the gateway's first socket and its first answer are answered together.
BURST_SECONDS, BURST_SHARE_MAX = 0.25, 0.75


def burst(away):
    """The largest share of the listeners that came back within BURST_SECONDS: of their times away, from the load tool's curve."""
    points = [(percentile / 100, microseconds / 1e6) for percentile, microseconds in away["curve"]]
    return max(later - earlier for earlier, began in points for later, ended in points if 0 <= ended - began <= BURST_SECONDS)


class SharedLogRolling(SharedLogCase):
    def setUp(self):
        self.share = LISTENERS // GATEWAYS
        self.steps = time.monotonic()

    def step(self, text):
        print(f"  {time.monotonic() - self.steps:5.1f} s  {text}", flush=True)

    def loaded(self, gateway):
        """Listeners at one gateway that play the breaks of both streams, until there was one for each restart."""
        output = tempfile.TemporaryFile("w+")
        self.addCleanup(output.close)
        process = subprocess.Popen(
            [LOAD, "run", "--stream", RUNNING, "--stream", MEANWHILE, "--listeners", str(self.share), "--follow", "--breaks", str(GATEWAYS),
             "--speed", str(SPEED), "--patience", "30m", "--json"],
            env={**gateway.environment, "CUECAST_HTTP": "none"}, stdout=output, stderr=subprocess.STDOUT, text=True)

        def close():
            if process.poll() is None:
                process.kill()
                process.wait()
        self.addCleanup(close)
        return process, output

    @staticmethod
    def report_of(load):
        process, output = load
        code = process.wait(RUN_PATIENCE)
        output.seek(0)
        said = output.read()
        # What it complains of goes before the report.
        assert "{" in said, f"exit {code}: {said}"
        report = json.loads(said[said.index("{"):])
        assert code in (0, 1), f"exit {code}: {said}"
        return report

    def counts(self, gateway, stream, break_id):
        """What a gateway has counted of a break so far, or `None`."""
        found = gateway.get(f"/v1/reports?stream={stream}&break={break_id}")
        return found["breaks"][0]["ads"][0]["counts"] if found["breaks"] and found["balanced"] else None

    def restart(self, gateway, others, number):
        """Restarts one of the gateways; returns the seconds that the stop and the start took."""
        running, meanwhile = f"{RUNNING}-{number}", f"{MEANWHILE}-{number}"
        self.publish(others[0], running, RUNNING)
        half = LISTENERS // 4
        until("half of the listeners of its stream have it",
              lambda: (counts := self.counts(others[0], RUNNING, running)) and counts["delivered"] >= half)
        began = time.monotonic()
        gateway.process.send_signal(signal.SIGTERM)
        self.assertEqual(gateway.process.wait(RUN_PATIENCE), 0)
        gateway.process.stdout.close()
        stopped = time.monotonic()
        self.publish(others[1], meanwhile, MEANWHILE)
        gateway.binary = BINARY
        gateway.start()
        ready = time.monotonic()
        until("its listeners are back", lambda: gateway.metric("cuecast_listeners") == self.share)
        for stream, name in ((RUNNING, running), (MEANWHILE, meanwhile)):
            until(f"every outcome of {name} is counted",
                  lambda: (counts := self.counts(gateway, stream, name)) and counts["delivered"] == LISTENERS // 2 and counts["unknown"] == 0)
            self.end(others[0], name, stream)
        return stopped - began, ready - stopped

    def test_gateways_are_restarted_one_after_the_other_and_nothing_is_missed(self):
        self.assertEqual(LISTENERS % (2 * GATEWAYS), 0, "CUECAST_ROLLING_LISTENERS is a multiple of 6")
        servers = self.servers()
        made(servers)
        first = self.gateway(servers, binary=PREVIOUS)
        gateways = [first] + [self.gateway(servers, keys_of=first, binary=PREVIOUS) for _ in range(GATEWAYS - 1)]
        until("they know of each other", lambda: all(each.metric("cuecast_gateways") == GATEWAYS for each in gateways))
        loads = [self.loaded(gateway) for gateway in gateways]
        for gateway in gateways:
            until("all its listeners are there", lambda: gateway.metric("cuecast_listeners") == self.share)
        self.step(f"{LISTENERS} listeners at {GATEWAYS} gateways" + ("" if PREVIOUS == BINARY else f" as {PREVIOUS}"))

        for number, gateway in enumerate(gateways):
            stopped, started = self.restart(gateway, [each for each in gateways if each is not gateway], number)
            self.step(f"gateway {number} stopped in {stopped:.1f} s, and was ready {started:.1f} s later")
        reports = [self.report_of(load) for load in loads]
        self.came_back_spread([report["latency"]["away"] for report in reports])
        self.balance(gateways, reports)
        until("the boards agree", lambda: not any("boardsDiffer" in gateway.readiness()[2] for gateway in gateways))
        for gateway in gateways:
            self.assertEqual(gateway.stop(), 0)

    def came_back_spread(self, aways):
        """Listeners that lost their gateway together did not come back together."""
        for number, away in enumerate(aways):
            self.assertGreaterEqual(away["count"], self.share)
            figures = {name: away["intended_us"][name] / 1e6 for name in ("p50", "p90", "max")}
            self.step(f"the {self.share} listeners of gateway {number} were away for {figures['p50']:.1f} s in the median, 90 % of them for at most "
                      f"{figures['p90']:.1f} s, the last for {figures['max']:.1f} s; at most {100 * burst(away):.0f} % came back within {BURST_SECONDS} s")
        # Where this machine stood still, those who had come meanwhile are answered together. It does not do so every time.
        self.assertLessEqual(min(burst(away) for away in aways), BURST_SHARE_MAX, "the listeners came back together")

    def balance(self, gateways, reports):
        """No listener missed anything, every outcome was confirmed, and the books of all gateways say the same."""
        for report in reports:
            self.assertEqual((report["findings"], report["passed"], report["complete"]), ([], True, True), json.dumps(report["findings"]))
            self.assertEqual((report["lost"], report["repeated"], report["out_of_order"]), (0, 0, 0))
            # A stop is told with a status that permits to try again. Nothing else refuses anything.
            self.assertLessEqual(set(report["refused"]), {"DRAINING", "UNAVAILABLE"}, report["refused"])
            self.assertEqual(report["counts"]["outcomes"], GATEWAYS * self.share)
        total = {}
        for report in reports:
            for each in report["breaks"]:
                sums = total.setdefault((each["stream"], each["break"]), dict.fromkeys(("delivered", "played", "ignored", "failed"), 0))
                for kind in sums:
                    sums[kind] += each[kind]
        self.assertEqual(len(total), 2 * GATEWAYS)
        for (stream, name), sums in sorted(total.items()):
            self.assertEqual(sums["delivered"], LISTENERS // 2)
            self.reports_agree(gateways, name, {**dict.fromkeys(KINDS, 0), **sums}, stream)
        asked = sum(report["counts"]["retries"] for report in reports)
        refused = sum(sum(report["refused"].values()) for report in reports)
        latest = max(report["latency"]["acknowledge"]["intended_us"]["max"] for report in reports) / 1e6
        self.step(f"{sum(report['counts']['outcomes'] for report in reports)} outcomes confirmed, the last {latest:.1f} s after it was told; "
                  f"{refused} requests refused by a gateway that stopped, {asked} sent again; the books are equal at all gateways")


if __name__ == "__main__":
    unittest.main(verbosity=2)
