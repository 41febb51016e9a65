# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The real binary while a user sets the machine's wall clock, and on books that another clock wrote.

The wall clock is stepped for the gateway's process alone (Benchmarks/stepped_clock.c); the monotonic clocks stay as they are.
"""
import json, os, signal, subprocess, sys, tempfile, time, unittest, urllib.request

from harness import BINARY, PATIENCE, RUN_PATIENCE, ROOT, Broadcaster, Gateway, Listener, ad, broadcast_pb2, listener_pb2, status_pb2, until

OK = status_pb2.STATUS_CODE_OK
HOUR, DAY = 3_600, 86_400


class SteppedGateway(Gateway):
    """A gateway whose wall clock a test sets, in seconds from the machine's."""

    def __init__(self, *arguments):
        self.clock_folder = tempfile.mkdtemp(prefix="cuecast-clock.")
        self.library = os.path.join(self.clock_folder, "stepped_clock.so")
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", self.library,
                        os.path.join(ROOT, "Benchmarks/stepped_clock.c")], check=True)
        self.step_file = os.path.join(self.clock_folder, "step")
        self.step(0)
        super().__init__(*arguments)

    def step(self, seconds):
        file = os.open(self.step_file, os.O_RDWR | os.O_CREAT)
        os.pwrite(file, int(seconds * 1e9).to_bytes(8, sys.byteorder, signed=True), 0)
        os.close(file)

    def popen(self, *arguments):
        flags = [flag for name in ("notices", "requests", "broadcast", "http")
                 for flag in ("--" + name, self.addresses[name])]
        return subprocess.Popen(
            [BINARY, "serve", "--data-dir", self.folder + "/data", *flags, "--set", "logLevel=error", *self.arguments,
             *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "LD_PRELOAD": self.library, "CUECAST_CLOCK_STEP": self.step_file})

    def start(self, *arguments):
        self.process = self.popen(*arguments)
        line = self.process.stdout.readline()
        assert line.startswith("ready "), f"the gateway did not start: {line!r} {self.process.stderr.read()}"
        self.addresses = dict(pair.split("=", 1) for pair in line.split()[1:])

    def refuses(self, *arguments):
        """Starts in vain; gives the exit code and what was said."""
        process = self.popen(*arguments)
        _, said = process.communicate(timeout=RUN_PATIENCE)
        return process.returncode, said

    def stop(self, number=signal.SIGTERM):
        code = super().stop(number)
        self.process.stderr.close()
        return code

    def close(self):
        if self.process.poll() is None:
            self.stop(signal.SIGKILL)
        super().close()

    def ready(self):
        with urllib.request.urlopen(f"http://{self.addresses['http']}/readyz", timeout=PATIENCE) as answer:
            return json.load(answer)

    def alarms(self):
        return [alarm["alarm"] for alarm in self.ready()["alarms"]]

    def metric(self, name):
        with urllib.request.urlopen(f"http://{self.addresses['http']}/metrics", timeout=PATIENCE) as answer:
            for line in answer.read().decode().splitlines():
                if line.split(" ")[0] == name:
                    return float(line.split(" ")[1])
        raise AssertionError(f"there is no metric {name}")

    def clock(self, *action, code=0):
        said = self.run("clock", *action, "--json", "--data-dir", self.folder + "/data", code=code)
        return json.loads(said) if code == 0 else said


class ClockSteps(unittest.TestCase):
    def gateway(self, *arguments):
        gateway = SteppedGateway(*arguments)
        self.addCleanup(gateway.close)
        return gateway

    def listener(self, gateway, stream, **more):
        listener = Listener(gateway, stream, **more)
        self.addCleanup(listener.close)
        return listener

    def played(self, gateway, stream, break_id, session):
        """One break, played by one listener; its acknowledgement."""
        listener = self.listener(gateway, stream, session=session)
        listener.join()
        broadcaster = Broadcaster(gateway)
        self.assertEqual(broadcaster.publish(stream, break_id, [ad("a", 600_000)], start=broadcast_pb2.Start(now=True),
                                             duration_ms=600_000).status, OK)
        broadcaster.close()
        until("the notice", lambda: any(each.break_id == break_id for each in listener.applied) or listener.next())
        reply = listener.batch(break_id)
        self.assertEqual(reply.status, OK)
        delivery = reply.batch.delivery
        self.assertEqual(listener.acknowledge(break_id, delivery, {"a": "played"}).status, OK)
        return listener, delivery

    def test_a_step_of_an_hour_while_it_runs_changes_nothing_but_the_alarm(self):
        gateway = self.gateway("--set", "listeners.headInterval=1s")
        listener = self.listener(gateway, "radio1")
        listener.join()
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        self.assertEqual(broadcaster.publish("radio1", "live", [ad("a", 1_800_000)], start=broadcast_pb2.Start(now=True),
                                             duration_ms=1_800_000).status, OK)
        self.assertEqual(broadcaster.publish("radio1", "later", [ad("a")], duration_ms=10_000,
                                             start=broadcast_pb2.Start(in_ms=3_500_000)).status, OK)
        self.assertEqual(listener.next().break_id, "live")
        begun = time.monotonic()
        first = listener.ask(get_time=listener_pb2.GetTime()).gateway_us
        offset = gateway.metric('cuecast_log_offset{lane="breaks"}')
        last = first
        for seconds in (HOUR, -HOUR, HOUR, 0):
            gateway.step(seconds)
            until("the alarm", lambda: gateway.alarms() == (["clock"] if seconds else []))
            since, heads = time.monotonic(), gateway.metric("cuecast_heads_sent_total")
            for _ in range(20):
                shown = listener.ask(get_time=listener_pb2.GetTime()).gateway_us
                self.assertGreaterEqual(shown, last)
                last = shown
                time.sleep(0.05)  # So that timers, heads and leases have the time to go wrong.
            # One stream, one head a second at most, and what was due when the counting began.
            heads = gateway.metric("cuecast_heads_sent_total") - heads
            self.assertLessEqual(heads, time.monotonic() - since + 3)
            self.assertEqual(gateway.metric("cuecast_listeners"), 1)
            until("the notice is counted", lambda: gateway.metric("cuecast_notices_sent_total"))
            self.assertEqual(gateway.metric("cuecast_notices_sent_total"), 1)
            self.assertEqual(gateway.metric('cuecast_log_offset{lane="breaks"}'), offset)
            states = {each["break"]: each["state"] for each in gateway.get("/v1/breaks")["breaks"]}
            self.assertEqual(states, {"live": "live", "later": "scheduled"})
            self.assertEqual(listener.batch("live").status, OK)
        passed = time.monotonic() - begun
        self.assertAlmostEqual((last - first) / 1e6, passed, delta=passed * 0.001 + 180)

    def test_the_command_shows_the_clock_and_sets_it(self):
        gateway = self.gateway()
        shown = gateway.clock()
        self.assertEqual((shown["state"], shown["retention"]), ("following", "running"))
        self.assertIn("follows the wall clock", gateway.run("clock", "--data-dir", gateway.folder + "/data"))

        gateway.step(HOUR)
        until("the clocks are apart", lambda: gateway.clock()["state"] == "apart")
        self.assertAlmostEqual(gateway.clock()["differenceMicroseconds"] / 1e6, HOUR, delta=60)
        self.assertEqual(gateway.clock("step")["state"], "following")
        until("the alarm is over", lambda: gateway.alarms() == [])
        listener = self.listener(gateway, "radio1")
        self.assertAlmostEqual(listener.ask(get_time=listener_pb2.GetTime()).gateway_us / 1e6, time.time() + HOUR,
                               delta=RUN_PATIENCE)

        # A minute back: it runs slower, and never back.
        before = listener.ask(get_time=listener_pb2.GetTime()).gateway_us
        gateway.step(HOUR - 60)
        self.assertEqual(gateway.clock("step")["state"], "goingBack")
        until("the alarm", lambda: gateway.alarms() == ["clock"])
        self.assertGreaterEqual(listener.ask(get_time=listener_pb2.GetTime()).gateway_us, before)
        # An hour back is too far, and says what to do.
        gateway.step(0)
        self.assertIn("--accept-clock", gateway.clock("step", code=65))
        self.assertGreaterEqual(listener.ask(get_time=listener_pb2.GetTime()).gateway_us, before)

        gateway.stop()
        self.assertIn("no gateway answers", gateway.clock(code=69))

    def test_one_start_401_days_ahead_deletes_nothing(self):
        self.ahead(401 * DAY)

    def test_one_start_nine_days_ahead_loses_no_rows(self):
        self.ahead(9 * DAY + HOUR)

    def ahead(self, seconds):
        gateway = self.gateway()
        session = os.urandom(16)
        listener, delivery = self.played(gateway, "radio1", "old", session)
        counts = gateway.report("radio1", "old")
        self.assertEqual(counts["a"]["played"], 1)
        gateway.stop()

        gateway.step(seconds)
        gateway.start()
        until("the alarm", lambda: gateway.alarms() == ["retention"])
        self.assertEqual(gateway.report("radio1", "old"), counts)
        # A publish with the wrong clock retires nothing.
        broadcaster = Broadcaster(gateway)
        self.assertEqual(broadcaster.publish("radio1", "wrong", [ad("a")], duration_ms=1_000,
                                             start=broadcast_pb2.Start(now=True)).status, OK)
        broadcaster.close()
        self.assertEqual(gateway.report("radio1", "old"), counts)
        gateway.stop()
        # Frozen it stays over a restart with the same clock.
        gateway.start()
        until("the alarm", lambda: gateway.alarms() == ["retention"])
        self.assertEqual(gateway.clock()["retention"], "frozen")
        self.assertEqual(gateway.report("radio1", "old"), counts)
        gateway.stop()

        # The clock was set right: now it is behind the books.
        gateway.step(0)
        code, said = gateway.refuses()
        self.assertEqual(code, 69)
        self.assertIn("behind the newest record of the event log", said)
        gateway.start("--accept-clock")
        until("there is no alarm", lambda: gateway.alarms() == [])
        self.assertEqual(gateway.report("radio1", "old"), counts)
        # The rows are there: the same acknowledgement again is a repeat, and counts nothing.
        listener.close()
        again = self.listener(gateway, "radio1", session=session)
        again.join()
        self.assertEqual(again.acknowledge("old", delivery, {"a": "played"}).status, OK)
        after = gateway.report("radio1", "old")
        self.assertEqual(after["a"]["played"], 1)
        self.assertEqual(after["a"]["delivered"], 1)
        gateway.stop()
        # Accepted once, it is not asked again.
        gateway.start()
        self.assertEqual(gateway.report("radio1", "old")["a"]["played"], 1)

    def test_players_see_no_earlier_time_after_a_restart_with_a_clock_that_was_set_back(self):
        gateway = self.gateway()
        listener = self.listener(gateway, "radio1")
        listener.join()
        seen = listener.ask(get_time=listener_pb2.GetTime()).gateway_us
        began = time.monotonic()
        self.assertEqual(gateway.stop(), 0)
        gateway.step(-5)
        gateway.start()
        again = self.listener(gateway, "radio1")
        shown = again.ask(get_time=listener_pb2.GetTime()).gateway_us
        self.assertGreaterEqual(shown, seen)
        state = gateway.clock()["state"]
        if time.monotonic() - began < 5:  # Else the clock has caught up by itself.
            self.assertEqual(state, "goingBack")


if __name__ == "__main__":
    unittest.main()
