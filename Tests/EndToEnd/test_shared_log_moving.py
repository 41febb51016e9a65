# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Listeners that know one of three gateways go on at the others: when theirs stops, and when theirs is killed.

    scripts/end-to-end.sh SharedLogMoving

All listeners of the load tool, and two players on the client library, begin at the first gateway. Nobody told them of the others but
that gateway.
"""
import json, os, signal, subprocess, tempfile, time, unittest

from harness import RUN_PATIENCE, until
from test_load_tool import LOAD_BINARY as LOAD
from test_shared_log import HALF_AN_HOUR_MS, KINDS, SharedGateway, SharedLogCase, made

#: On both streams together.
LISTENERS = int(os.environ.get("CUECAST_MOVING_LISTENERS", "300"))
PLAYERS = 2
#: Within this time they leave the gateway that stops, in seconds.
MOVE_WITHIN = 6
RUNNING, MEANWHILE = "running", "meanwhile"
#: An ad lasts half an hour, so that it can be played however slow the machine is; a listener plays it in two seconds.
SPEED = HALF_AN_HOUR_MS // 2_000
#: One after the other: before anything happens, while the first gateway stops, and after the second one was killed.
BREAKS = 3


class AdvertisedGateway(SharedGateway):
    """A gateway that says where players reach it."""

    def start(self):
        if not any("listeners.advertised" in each for each in self.arguments):
            self.arguments += ["--set", f"listeners.advertised={self.addresses['requests']}", "--set", f"listeners.moveWithin={MOVE_WITHIN}s"]
        super().start()


class SharedLogMoving(SharedLogCase):
    def setUp(self):
        self.steps = time.monotonic()

    def step(self, text):
        print(f"  {time.monotonic() - self.steps:5.1f} s  {text}", flush=True)

    def gateway(self, servers, keys_of=None):
        folder = f"{servers.folder}/gateway-{len(os.listdir(servers.folder))}"
        os.makedirs(folder)
        gateway = AdvertisedGateway(folder, servers, keys_of=keys_of)
        self.addCleanup(gateway.close)
        return gateway

    def loaded(self, gateway):
        output = tempfile.TemporaryFile("w+")
        self.addCleanup(output.close)
        process = subprocess.Popen(
            [LOAD, "run", "--stream", RUNNING, "--stream", MEANWHILE, "--listeners", str(LISTENERS), "--follow", "--breaks", str(BREAKS),
             "--speed", str(SPEED), "--patience", "30m", "--json"],
            env={**gateway.environment, "CUECAST_HTTP": "none"}, stdout=output, stderr=subprocess.STDOUT, text=True)

        def close():
            if process.poll() is None:
                process.kill()
                process.wait()
        self.addCleanup(close)
        return process, output

    def player(self, gateway):
        player = gateway.listen(RUNNING, "--ignore", "--breaks", str(BREAKS))

        def close():
            if not player.process.stdout.closed:
                player.kill()
        self.addCleanup(close)
        return player

    def listeners(self, gateway):
        return gateway.metric("cuecast_listeners")

    def both_breaks(self, gateway, number):
        for stream in (RUNNING, MEANWHILE):
            self.publish(gateway, f"{stream}-{number}", stream)

    def all_counted(self, gateway, number):
        for stream, count in ((RUNNING, LISTENERS // 2 + PLAYERS), (MEANWHILE, LISTENERS // 2)):
            self.reports_agree([gateway], f"{stream}-{number}", {"delivered": count, "unknown": 0, "contradictions": 0}, stream)
            self.end(gateway, f"{stream}-{number}", stream)

    def test_listeners_of_a_gateway_that_stops_or_dies_go_on_at_the_others(self):
        everyone = LISTENERS + PLAYERS
        servers = self.servers()
        made(servers)
        first = self.gateway(servers)
        second, third = (self.gateway(servers, keys_of=first) for _ in range(2))
        gateways = [first, second, third]
        until("they name each other", lambda: all(each.metric("cuecast_alternative_gateways") == 2 for each in gateways))
        load = self.loaded(first)
        players = [self.player(first) for _ in range(PLAYERS)]
        until("all are at the first gateway", lambda: self.listeners(first) == everyone)
        self.both_breaks(first, 0)
        self.all_counted(third, 0)
        self.step(f"{everyone} listeners at the first gateway, which have played a break of each stream")

        self.stop_first(gateways, everyone)
        self.all_counted(second, 1)

        there = self.listeners(second)
        second.process.send_signal(signal.SIGKILL)
        second.process.wait(RUN_PATIENCE)
        killed = time.monotonic()
        until("the third gateway has all", lambda: self.listeners(third) == everyone)
        self.step(f"the second gateway was killed: its {there} listeners were at the third {time.monotonic() - killed:.1f} s later")
        self.both_breaks(third, 2)
        self.all_counted(third, 2)

        for player in players:
            self.assertEqual(player.finish(), 0)
            names = [f"{RUNNING}-{number}" for number in range(BREAKS)]
            for event in ("announced", "acknowledged"):
                self.assertEqual([each["break"] for each in player.events if each["event"] == event], names, event)
            self.assertEqual([each for each in player.events if each["event"] == "positionLost"], [])
        for gateway in (first, second):
            gateway.process.stdout.close()
            gateway.start()
        self.balance(gateways, load)
        for gateway in gateways:
            self.assertEqual(gateway.stop(), 0)

    def stop_first(self, gateways, everyone):
        """SIGTERM, with a break published while the listeners move."""
        first, second, third = gateways
        began = time.monotonic()
        first.process.send_signal(signal.SIGTERM)
        arrivals, tell = [], True
        while not arrivals or arrivals[-1][1] < everyone:
            arrivals.append((time.monotonic() - began, self.listeners(second) + self.listeners(third)))
            self.assertLess(arrivals[-1][0], RUN_PATIENCE, f"{arrivals[-1][1]} of {everyone} have moved")
            if tell and arrivals[-1][1] >= everyone // 3:
                self.both_breaks(second, 1)
                tell = False
            time.sleep(0.05)
        self.assertEqual(first.process.wait(RUN_PATIENCE), 0)
        # Each moves at a time of its own, evenly over the time: between the tenth and the ninetieth of a hundred are four fifths of it. A
        # slow machine makes that longer. Those that come together come within a fraction of a second.
        tenth, ninetieth = (next(at for at, count in arrivals if count >= everyone * share) for share in (0.1, 0.9))
        self.assertGreater(ninetieth - tenth, MOVE_WITHIN / 2, arrivals)
        shares = [self.listeners(each) for each in (second, third)]
        # 150 and 150, by chance: five standard deviations are 43.
        self.assertTrue(all(count > everyone / 4 for count in shares), shares)
        self.step(f"the first gateway has stopped: 80 % of its listeners came to the others within {ninetieth - tenth:.1f} s, "
                  f"the last after {arrivals[-1][0]:.1f} s; {shares[0]} and {shares[1]}")
        said = first.messages()
        self.assertIn("listeners are asked to go on at other gateways", said)

    def balance(self, gateways, load):
        """No listener missed anything, every outcome was confirmed, and the books of all gateways say the same."""
        process, output = load
        code = process.wait(RUN_PATIENCE)
        output.seek(0)
        said = output.read()
        self.assertIn("{", said, f"exit {code}")
        report = json.loads(said[said.index("{"):])
        self.assertEqual((report["findings"], report["passed"], report["complete"]), ([], True, True), json.dumps(report["findings"]))
        self.assertEqual((report["lost"], report["repeated"], report["out_of_order"]), (0, 0, 0))
        self.assertLessEqual(set(report["refused"]), {"DRAINING", "UNAVAILABLE"}, report["refused"])
        self.assertEqual(report["counts"]["outcomes"], BREAKS * LISTENERS)
        self.assertEqual(report["counts"]["moved"], LISTENERS)
        for each in report["breaks"]:
            sums = {**dict.fromkeys(KINDS, 0), **{kind: each[kind] for kind in ("delivered", "played", "ignored", "failed")}}
            if each["stream"] == RUNNING:
                sums["delivered"] += PLAYERS
                sums["ignored"] += PLAYERS
            self.reports_agree(gateways, each["break"], sums, each["stream"])
        away = report["latency"]["away"]
        self.step(f"{report['counts']['outcomes']} outcomes confirmed, {report['counts']['notices_recovered']} notices recovered; a listener was away "
                  f"for {away['intended_us']['p50'] / 1e6:.2f} s in the median, {away['intended_us']['max'] / 1e6:.1f} s at most")


if __name__ == "__main__":
    unittest.main(verbosity=2)
