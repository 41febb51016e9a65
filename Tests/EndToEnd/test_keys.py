# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The keys that sign deliveries: made at the first start, rotated, revoked and read again by a gateway that runs."""
import json, os, re, signal, stat, subprocess, sys, time, unittest

from harness import BINARY, PATIENCE, ROOT, Broadcaster, Gateway, Listener, ad, status_pb2, until

OK = status_pb2.STATUS_CODE_OK
INVALID = status_pb2.STATUS_CODE_DELIVERY_INVALID


class Keys(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.data = self.gateway.folder + "/data"
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(broadcaster.close)
        self.assertEqual(broadcaster.publish("s", "b", [ad("x"), ad("y")], pre_stream=True).status, OK)

    def listener(self):
        listener = Listener(self.gateway, "s")
        self.addCleanup(listener.close)
        return listener

    def keys(self, *arguments):
        said = self.gateway.run("keys", *(arguments or ("list",)), "--data-dir", self.data, "--json")
        with open(self.data + "/signing.keys") as file:
            secrets = re.findall("[0-9a-f]{64}", file.read())
        self.assertTrue(secrets)
        self.assertFalse([secret for secret in secrets if secret in said], "a secret is printed")
        return [(key["id"], key["state"]) for key in json.loads(said)["keys"]]

    def signer(self):
        """The key that signed a batch: four bytes behind the version of its delivery."""
        return self.listener().batch("b").batch.delivery[1:5].hex()

    def hang_up(self):
        self.gateway.process.send_signal(signal.SIGHUP)

    def alarms(self):
        return [alarm["alarm"] for alarm in json.loads(self.gateway.run("health", "--timeout", "30m", "--json")).get("alarms", [])]

    def test_the_first_start_makes_a_key_and_later_ones_keep_it(self):
        self.assertEqual(stat.S_IMODE(os.stat(f"{self.data}/signing.keys").st_mode), 0o600)
        [(first, state)] = self.keys()
        self.assertEqual((state, self.signer()), ("signing", first))
        listener = self.listener()
        delivery = listener.batch("b").batch.delivery
        self.gateway.stop(signal.SIGKILL)
        self.gateway.start()
        self.assertEqual(self.keys(), [(first, "signing")])
        self.assertEqual(listener.acknowledge("b", delivery, {"x": "played"}).status, OK)

    def test_a_rotation_is_taken_over_and_what_was_signed_before_is_taken(self):
        [(first, _)] = self.keys()
        listener = self.listener()
        delivery = listener.batch("b").batch.delivery
        (second, _), before = self.keys("rotate")
        self.assertEqual(before, (first, "verify-only"))
        self.assertEqual(self.signer(), first, "nothing changes before the file is read again")
        self.hang_up()
        until("the new key signs", lambda: self.signer() == second)
        self.assertEqual(listener.acknowledge("b", delivery, {"x": "played"}).status, OK)
        self.assertEqual(self.keys("revoke", first)[1], (first, "revoked"))
        self.hang_up()
        # A repeat of what is counted, until it is refused: it changes nothing before.
        until("the old key is not taken", lambda: listener.acknowledge("b", delivery, {"x": "played"}).status == INVALID)
        self.assertEqual(listener.acknowledge("b", delivery, {"y": "played"}).status, INVALID)
        self.assertEqual({name: each["played"] for name, each in self.gateway.report("s", "b").items()}, {"x": 1, "y": 0})

    def test_what_is_old_enough_is_told_by_the_books_and_not_by_the_machines_clock(self):
        [(first, _)] = self.keys()
        self.keys("rotate")
        path, day = self.data + "/signing.keys", 86_400 * 1_000_000
        now = time.time_ns() // 1_000

        def age(key, microseconds):
            """Says in the file when a key signed last."""
            with open(path) as file:
                text = re.sub(rf"(?m)^({key} \S+) -?\d+ ", rf"\1 {microseconds} ", file.read())
            with open(path, "w") as file:
                file.write(text)
        # Ten days by this machine's clock, and a day ahead of what the books believe: it may have been used a moment ago.
        age(first, now - 8 * day)
        self.assertIn(first, [key for key, _ in self.keys("rotate")])
        age(first, now - 10 * day)
        self.assertNotIn(first, [key for key, _ in self.keys("rotate")])
        # Without a gateway the time is not known: nothing is left out, and at the limit that is said.
        second = self.keys()[-1][0]
        self.gateway.stop()
        age(second, now - 4_000 * day)
        while len(self.keys()) < 16:
            self.assertIn(second, [key for key, _ in self.keys("rotate")])
        said = self.gateway.run("keys", "rotate", "--data-dir", self.data, code=65)
        self.assertIn("the limit keysMax is 16; no gateway runs", said)
        self.gateway.start()
        self.assertNotIn(second, [key for key, _ in self.keys("rotate")])

    def test_a_clock_that_is_a_year_off_leaves_out_nothing_that_is_needed(self):
        library = self.gateway.folder + "/stepped_clock.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, os.path.join(ROOT, "Benchmarks/stepped_clock.c")],
                       check=True)
        step = self.gateway.folder + "/step"
        self.keys("rotate")
        for days in (400, -4_000):
            with open(step, "wb") as file:
                file.write((days * 86_400 * 10 ** 9).to_bytes(8, sys.byteorder, signed=True))
            before = [key for key, _ in self.keys()]
            done = subprocess.run([BINARY, "keys", "rotate", "--data-dir", self.data], capture_output=True, text=True,
                                  timeout=PATIENCE, env={**os.environ, "LD_PRELOAD": library, "CUECAST_CLOCK_STEP": step})
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual([key for key, _ in self.keys()][1:], before, days)
        # By the right clock all of them are still there.
        self.assertEqual(len(self.keys("rotate")), 5)

    def test_a_file_that_others_may_read_changes_nothing_and_ends_a_start(self):
        [(first, _)] = self.keys()
        path = self.data + "/signing.keys"
        self.keys("rotate")
        os.chmod(path, 0o644)
        self.hang_up()
        until("the alarm is raised", lambda: "reload" in self.alarms())
        self.assertEqual(self.signer(), first)
        self.assertIn("chmod 600", self.gateway.run("keys", "list", "--data-dir", self.data, code=65))
        self.gateway.stop()
        with self.assertRaises(AssertionError):
            self.gateway.start()
        self.gateway.process.wait()
        os.chmod(path, 0o600)
        self.gateway.start()
        self.assertNotEqual(self.signer(), first)

    def test_a_delivery_without_a_signature_is_refused(self):
        listener = self.listener()
        signed = listener.batch("b").batch.delivery
        # The version, the session, the number of the break, the variant.
        unsigned = bytes([1]) + signed[5:33]
        self.assertEqual(listener.acknowledge("b", unsigned, {"x": "played"}).status, INVALID)
        self.assertEqual(listener.acknowledge("b", signed, {"x": "played"}).status, OK)


if __name__ == "__main__":
    unittest.main()
