# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""What the processes do as such: signals, output that cannot be written, addresses, variables, servers that are silent."""
import os, signal, socket, subprocess, tempfile, threading, time, unittest

from harness import BINARY, GIVEN_UP, PATIENCE, RUN_PATIENCE, Gateway, ad, Broadcaster, until

LOAD = os.path.join(os.path.dirname(BINARY), "cuecast-load")


def run(*arguments, binary=BINARY, environment=None, stdout=subprocess.PIPE, timeout=RUN_PATIENCE):
    """Runs a command with no variable of ours but those given."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CUECAST_")}
    return subprocess.run([binary, *arguments], env={**clean, **(environment or {})}, stdout=stdout,
                          stderr=subprocess.PIPE, text=True, timeout=timeout)


def run_at_gateway(*arguments, environment, **settings):
    """Runs a command; once more where it has given the gateway up, which may be slow on a busy machine."""
    deadline = time.monotonic() + PATIENCE
    while True:
        done = run(*arguments, environment=environment, **settings)
        if not any(text in done.stderr for text in GIVEN_UP) or time.monotonic() > deadline:
            return done


class Reload(unittest.TestCase):
    """SIGHUP reads the configuration file again and never ends the gateway."""

    def start(self, text):
        """A gateway with a configuration file, whose messages are gathered."""
        self.folder = tempfile.TemporaryDirectory(prefix="cuecast-reload.")
        self.addCleanup(self.folder.cleanup)
        self.file = os.path.join(self.folder.name, "cuecast.yaml")
        self.write(text)
        return self.serve("--config", self.file)

    def write(self, text):
        with open(self.file, "w") as file:
            file.write(text)

    def serve(self, *arguments):
        data = tempfile.TemporaryDirectory(prefix="cuecast-reload.")
        self.addCleanup(data.cleanup)
        process = subprocess.Popen(
            [BINARY, "serve", "--data-dir", data.name + "/data", "--notices", "tcp://127.0.0.1:*", "--requests",
             "tcp://127.0.0.1:*", "--broadcast", "tcp://127.0.0.1:*", "--http", "none", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.messages = []
        thread = threading.Thread(target=lambda: self.messages.extend(iter(process.stderr.readline, "")))
        thread.start()

        def end():
            process.kill()
            process.wait()
            thread.join()
            process.stdout.close()
            process.stderr.close()
        self.addCleanup(end)
        self.assertTrue(process.stdout.readline().startswith("ready "))
        return process

    def hang_up(self, process, expected):
        """Sends SIGHUP and waits until the gateway has said something; gives the line."""
        before = len(self.messages)
        process.send_signal(signal.SIGHUP)
        return until(expected, lambda: next((line for line in self.messages[before:] if expected in line), None))

    def test_a_reloadable_key_is_taken_over_and_another_waits_for_a_restart(self):
        process = self.start("logLevel: notice\nlisteners:\n  max: 10\n")
        self.write("logLevel: warning\nlisteners:\n  max: 11\nioThreads: 3\n")
        line = self.hang_up(process, "ioThreads: 0 → 3")
        self.assertIn("restart", line)
        self.assertIn("warning", line)
        # The threshold is another now: what is only a notice is not told any more, also not of this change.
        self.write("logLevel: notice\nlisteners:\n  max: 12\n")
        line = self.hang_up(process, "was read again")
        self.assertIn("listeners.max: 11 → 12", line)
        self.assertFalse([each for each in self.messages if "10 → 11" in each])
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_faulty_file_leaves_everything_as_it_was(self):
        process = self.start("logLevel: notice\n")
        self.write("logLevel: loud\nlisteners:\n  max: many\n")
        self.hang_up(process, "listeners.max: it must be a whole number")
        until("the other fault", lambda: any("logLevel: it must be one of" in line for line in self.messages))
        os.remove(self.file)
        self.hang_up(process, "there is no such file")
        self.write("logLevel: notice\nlisteners:\n  max: 7\n")
        line = self.hang_up(process, "was read again")
        self.assertIn("listeners.max: 0 → 7", line)

    def test_without_a_file_the_keys_are_read_again(self):
        process = self.serve("--set", "logLevel=notice")
        self.assertIn("file=none", self.hang_up(process, "the configuration was read again"))

    def test_a_storm_of_hang_ups_ends_nothing(self):
        process = self.serve("--set", "logLevel=error")
        for _ in range(500):
            process.send_signal(signal.SIGHUP)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        for _ in range(100):
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_limit_that_is_read_again_counts_at_once(self):
        process = self.start("logLevel: notice\nbreaks:\n  leadTimeMin: 0s\n")
        self.write("logLevel: notice\nbreaks:\n  leadTimeMin: 5s\n")
        line = self.hang_up(process, "was read again")
        self.assertIn("breaks.leadTimeMin: 0s → 5s", line)


class Output(unittest.TestCase):
    """Output that cannot be written is an error, and a reader that has had enough is none."""

    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.broadcaster = Broadcaster(cls.gateway)
        for number in range(50):
            cls.broadcaster.publish("output", f"b{number}", [ad("spot")], pre_stream=True)

    @classmethod
    def tearDownClass(cls):
        cls.broadcaster.close()
        cls.gateway.close()

    @property
    def environment(self):
        return {name: value for name, value in self.gateway.environment.items() if name.startswith("CUECAST_")}

    COMMANDS = [("report",), ("report", "--format", "json"), ("report", "--format", "csv"), ("breaks",),
                ("breaks", "--format", "json"), ("check-config",), ("version",), ("--help",), ("--version",),
                ("help", "publish"), ("publish", "--help")]

    def test_a_full_device_is_an_error_of_every_command(self):
        with open("/dev/full", "w") as full:
            for arguments in self.COMMANDS:
                done = run_at_gateway(*arguments, environment=self.environment, stdout=full)
                self.assertEqual(done.returncode, 74, (arguments, done.stderr))
                self.assertIn("standard output cannot be written", done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            done = run("--help", binary=LOAD, stdout=full)
            self.assertEqual(done.returncode, 74, done.stderr)

    def test_a_closed_output_is_an_error_and_no_file_takes_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(f'"{BINARY}" serve --data-dir "{folder}/data" --notices "tcp://127.0.0.1:*" --requests '
                                  '"tcp://127.0.0.1:*" --broadcast "tcp://127.0.0.1:*" --http none >&-', shell=True,
                                  stderr=subprocess.PIPE, text=True, timeout=RUN_PATIENCE)
            self.assertEqual(done.returncode, 74, done.stderr)

    def test_a_ready_line_that_cannot_be_written_ends_the_gateway(self):
        with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w") as full:
            for http in ("none", "127.0.0.1:0"):
                done = run("serve", "--data-dir", folder + "/data", "--notices", "tcp://127.0.0.1:*", "--requests",
                           "tcp://127.0.0.1:*", "--broadcast", "tcp://127.0.0.1:*", "--http", http, stdout=full)
                self.assertEqual(done.returncode, 74, done.stderr)
                self.assertIn("standard output cannot be written", done.stderr)

    def test_a_reader_that_goes_away_ends_a_command_quietly(self):
        for arguments in self.COMMANDS:
            # The pipe's reader is gone before anything is written.
            reading, writing = os.pipe()
            os.close(reading)
            done = run_at_gateway(*arguments, environment=self.environment, stdout=writing)
            os.close(writing)
            self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)

    def test_a_player_ends_when_the_reader_of_its_output_does(self):
        reading, writing = os.pipe()
        os.close(reading)
        done = run("listen", "--stream", "output", "--json", environment=self.environment, stdout=writing)
        os.close(writing)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_broken_error_output_does_no_harm(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([BINARY, "report", "--http", "nonsense"], stderr=full, timeout=RUN_PATIENCE)
            self.assertEqual(done.returncode, 64)


class Addresses(unittest.TestCase):
    """Which gateway a command asks, and addresses that are none."""

    def test_a_gateway_that_is_typed_stands_above_the_environment(self):
        gateway = Gateway()
        self.addCleanup(gateway.close)
        # The variables lead to a gateway that answers; what is typed leads elsewhere, to a closed port.
        done = run("breaks", "--gateway", "127.0.0.2", environment=gateway.environment)
        self.assertEqual(done.returncode, 69, done.stderr)
        done = run_at_gateway("breaks", "--gateway", "127.0.0.2", "--broadcast", gateway.addresses["broadcast"],
                              environment={"CUECAST_BROADCAST": "tcp://127.0.0.2:1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run("report", "--gateway", "127.0.0.2", environment=gateway.environment)
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn("127.0.0.2:7480", done.stderr)

    def test_a_bad_address_is_told_at_once_with_where_it_was_said(self):
        cases = [("breaks", "--broadcast", text) for text in
                 ("tcp://127.0.0.1", "tcp://127.0.0.1:99999", "tcp://127.0.0.1:x", "tcp:// 127.0.0.1:1", "ipc:///tmp/x",
                  "127.0.0.1:7402", "tcp://::1:7402", "")]
        cases += [("report", "--http", text) for text in ("127.0.0.1", "127.0.0.1:0", "ftp://127.0.0.1:1", "a b:1")]
        cases += [("report", "--gateway", text) for text in ("127.0.0.1:7400", "tcp://127.0.0.1", "a b", "[::1")]
        cases += [("listen", "--stream", "s", "--notices", "nonsense"), ("listen", "--stream", "s", "--requests", "x:1")]
        for arguments in cases:
            done = run(*arguments)
            self.assertEqual(done.returncode, 64, (arguments, done.stderr))
            self.assertIn(arguments[-2], done.stderr)
        for command, variable in [(("breaks",), "CUECAST_BROADCAST"), (("report",), "CUECAST_HTTP"),
                                  (("breaks",), "CUECAST_GATEWAY"), (("listen", "--stream", "s"), "CUECAST_NOTICES"),
                                  (("listen", "--stream", "s"), "CUECAST_REQUESTS")]:
            done = run(*command, environment={variable: "no address"})
            self.assertEqual(done.returncode, 64, (variable, done.stderr))
            self.assertIn(variable, done.stderr)
        for arguments in (("--broadcast", "nonsense"), ("--gateway", "a b"), ("--http", "x")):
            done = run("--stream", "s", *arguments, binary=LOAD)
            self.assertEqual(done.returncode, 64, (arguments, done.stderr))
            self.assertIn(arguments[0], done.stderr)

    def test_a_misspelt_variable_is_named_with_the_one_that_is_meant(self):
        done = run("check-config", environment={"CUECAST_NOTICE": "x", "CUECAST_BREAKS_ANOUNCE_AHEAD": "1s",
                                                "CUECAST_NONSENSE": "1", "CUECAST_GATEWAY": "127.0.0.1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the variable CUECAST_NOTICE is not used; is CUECAST_NOTICES meant?", done.stderr)
        self.assertIn("CUECAST_BREAKS_ANOUNCE_AHEAD is not used; is CUECAST_BREAKS_ANNOUNCE_AHEAD meant?", done.stderr)
        self.assertIn("CUECAST_NONSENSE", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 3, done.stderr)
        done = run("version", binary=BINARY, environment={"CUECAST_GATWAY": "x"})
        self.assertIn("is CUECAST_GATEWAY meant?", done.stderr)


class Silence(unittest.TestCase):
    """A server that does not answer over HTTP is given up."""

    def serve(self, answer):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)

        def accept():
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(peer,), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        return f"127.0.0.1:{server.getsockname()[1]}"

    def test_a_server_that_says_nothing_is_given_up_after_ten_seconds(self):
        address = self.serve(lambda peer: peer.recv(1 << 20) and threading.Event().wait())
        began = time.monotonic()
        done = run("report", "--http", address, timeout=RUN_PATIENCE)
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn(f"does not answer at {address}: it has said nothing for 10 s", done.stderr)
        self.assertGreaterEqual(time.monotonic() - began, 9)


if __name__ == "__main__":
    unittest.main()
