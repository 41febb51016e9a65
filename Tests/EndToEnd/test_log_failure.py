# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The real binary on a disk that fails or is full, as a supervisor sees it."""
import json, os, resource, shutil, subprocess, tempfile, unittest, urllib.error, urllib.request

from harness import BINARY, PATIENCE, Broadcaster, Gateway, Listener, ad, broadcast_pb2, status_pb2, until, whole_lines

FOLDER = os.path.dirname(os.path.abspath(__file__))
#: What `serve` says when its event log failed (sysexits.h: EX_IOERR).
LOG_FAILED = 75
NOW = broadcast_pb2.Start(now=True)
#: So long that no break is over because the machine is slow.
HALF_AN_HOUR_MS = 1_800_000


class FaultyGateway(Gateway):
    """A gateway with an environment and limits of its own, whose messages are kept."""

    def __init__(self, *arguments, environment=None, file_bytes=None):
        self.extra, self.file_bytes, self.messages = environment or {}, file_bytes, tempfile.TemporaryFile("a+")
        super().__init__(*arguments)

    def start(self):
        def limit():
            if self.file_bytes:
                resource.setrlimit(resource.RLIMIT_FSIZE, (self.file_bytes, resource.RLIM_INFINITY))
        flags = [flag for name in ("notices", "requests", "broadcast", "http")
                 for flag in ("--" + name, self.addresses[name])]
        self.process = subprocess.Popen(
            [BINARY, "serve", "--data-dir", self.folder + "/data", *flags, "--set", "logLevel=error", *self.arguments],
            stdout=subprocess.PIPE, stderr=self.messages, text=True, env={**os.environ, **self.extra}, preexec_fn=limit)
        line = self.process.stdout.readline()
        assert line.startswith("ready "), f"the gateway did not start: {line!r}"
        self.addresses = dict(pair.split("=", 1) for pair in line.split()[1:])

    def said(self):
        return whole_lines(self.messages)

    def readiness(self):
        """The status of /readyz, and what is missing."""
        try:
            with urllib.request.urlopen(f"http://{self.addresses['http']}/readyz", timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)["missing"]
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)["missing"]


class LogFailure(unittest.TestCase):
    def failing(self, *arguments, **environment):
        """A gateway, and the file at whose appearance its disk fails."""
        folder = tempfile.mkdtemp(prefix="cuecast-sync.")
        self.addCleanup(shutil.rmtree, folder)
        library, trigger = folder + "/failing_sync.so", folder + "/now"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, FOLDER + "/failing_sync.c", "-ldl"], check=True)
        gateway = FaultyGateway(
            *arguments, environment={"LD_PRELOAD": library, "CUECAST_TEST_FAIL_SYNC": trigger, **environment})
        self.addCleanup(gateway.close)
        return gateway, trigger

    def end_by_failing_disk(self, gateway, broadcaster, trigger):
        """The disk fails: waiting requests are answered, and the gateway ends with its own code. Returns what it said."""
        open(trigger, "w").close()
        refused = broadcaster.publish("s2", "c", [ad("x")], start=NOW, duration_ms=HALF_AN_HOUR_MS)
        self.assertEqual(refused.status, status_pb2.STATUS_CODE_UNAVAILABLE)
        self.assertEqual(gateway.process.wait(PATIENCE), LOG_FAILED)
        gateway.process.stdout.close()
        return gateway.said()

    def start_again(self, gateway, trigger):
        """The supervisor starts it again; the disk works."""
        os.remove(trigger)
        gateway.start()

    def test_a_gateway_whose_log_failed_ends_also_when_its_files_cannot_be_closed(self):
        gateway, trigger = self.failing("--set", "drainTimeout=5s", CUECAST_TEST_HANG_SYNC="1")
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        self.assertIn("could not be closed for", self.end_by_failing_disk(gateway, broadcaster, trigger))
        self.start_again(gateway, trigger)
        self.assertEqual(gateway.stop(), 0)

    def test_a_failed_synchronisation_ends_the_gateway_with_its_own_code_and_loses_nothing(self):
        gateway, trigger = self.failing()
        broadcaster, listener = Broadcaster(gateway), Listener(gateway, "s")
        self.addCleanup(broadcaster.close)
        self.addCleanup(listener.close)
        listener.join()
        self.assertEqual(broadcaster.publish("s", "b", [ad("x", HALF_AN_HOUR_MS)], start=NOW, duration_ms=HALF_AN_HOUR_MS).status,
                         status_pb2.STATUS_CODE_OK)
        listener.next()
        batch = listener.batch("b").batch
        self.assertEqual(listener.acknowledge("b", batch.delivery, {"x": "played"}).status, status_pb2.STATUS_CODE_OK)
        self.assertIn("its event log failed", self.end_by_failing_disk(gateway, broadcaster, trigger))
        self.start_again(gateway, trigger)
        self.assertEqual(gateway.report("s", "b")["x"]["played"], 1)
        self.assertEqual(broadcaster.publish("s3", "d", [ad("x")], start=NOW, duration_ms=HALF_AN_HOUR_MS).status,
                         status_pb2.STATUS_CODE_OK)
        self.assertEqual(gateway.stop(), 0)

    def test_room_that_comes_back_is_used_without_a_restart(self):
        gateway = FaultyGateway(file_bytes=6 * 1_048_576)
        self.addCleanup(gateway.close)
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)

        def publish(number):
            spots = []
            for index in range(64):
                each = ad(f"x{index}")
                each.description = "d" * 2_000
                spots.append(each)
            return broadcaster.publish(f"s{number}", "b", spots, start=NOW, duration_ms=HALF_AN_HOUR_MS).status

        confirmed = 0

        def refused_and_said():
            # What the write-ahead log holds moves into the file meanwhile, and makes room once more.
            nonlocal confirmed
            status = publish(confirmed)
            if status == status_pb2.STATUS_CODE_OK:
                confirmed += 1
                return False
            self.assertEqual(status, status_pb2.STATUS_CODE_UNAVAILABLE)
            return gateway.readiness() == (503, ["log"])

        until("new work is refused, and it is said", refused_and_said)
        self.assertGreater(confirmed, 10)
        self.assertIsNone(gateway.process.poll())
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, unlimited)
        until("it is ready again without a request", lambda: gateway.readiness() == (200, []))
        for number in range(confirmed, confirmed + 5):
            self.assertEqual(publish(number), status_pb2.STATUS_CODE_OK)
        gateway.file_bytes = None
        self.assertEqual(gateway.stop(), 0)
        gateway.start()
        for number in (0, confirmed - 1, confirmed, confirmed + 4):
            breaks = gateway.get(f"/v1/breaks?stream=s{number}")["breaks"]
            self.assertEqual([each["break"] for each in breaks], ["b"], number)


if __name__ == "__main__":
    unittest.main()
