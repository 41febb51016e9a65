# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The real binary under a service manager's protocol, `cuecast health`, and the messages of a gateway."""
import json, os, re, select, shutil, signal, socket, subprocess, tempfile, threading, unittest, urllib.error, urllib.request, uuid

import zmq

from harness import BINARY, PATIENCE, Broadcaster, Gateway, HeldPort, Listener, ad, broadcast_pb2, status_pb2, until, whole_lines

FOLDER = os.path.dirname(os.path.abspath(__file__))
NOW = broadcast_pb2.Start(now=True)
PATIENT_HEALTH = ("health", "--timeout", f"{int(PATIENCE)}s")


class NotifySocket:
    """What a service manager listens on: a path or an abstract name."""

    def __init__(self, abstract=False):
        self.folder = tempfile.mkdtemp(prefix="cuecast-notify.")
        self.name = f"@cuecast-{uuid.uuid4()}" if abstract else self.folder + "/notify.sock"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + self.name[1:] if abstract else self.name)
        self.told = []

    def next(self, what, condition):
        """The next datagram that is looked for; those before it are kept in `told`."""
        self.socket.settimeout(PATIENCE)
        while True:
            datagram = self.socket.recv(65_536).decode()
            self.told.append(datagram)
            if condition(datagram):
                return datagram

    def begins(self, text):
        return self.next(text, lambda datagram: datagram.startswith(text))

    def taken(self):
        """What is there, without waiting."""
        found = []
        while select.select([self.socket], [], [], 0)[0]:
            found.append(self.socket.recv(65_536).decode())
        return found

    def close(self):
        self.socket.close()
        shutil.rmtree(self.folder)


class ManagedGateway(Gateway):
    """A gateway with variables of its own, whose messages are kept."""

    def __init__(self, *arguments, environment=None):
        self.extra, self.messages = environment or {}, tempfile.TemporaryFile("a+")
        super().__init__(*arguments)

    def start(self):
        flags = [flag for name in ("notices", "requests", "broadcast", "http")
                 for flag in ("--" + name, self.addresses[name])]
        self.process = subprocess.Popen(
            [BINARY, "serve", "--data-dir", self.folder + "/data", *flags, *self.arguments],
            stdout=subprocess.PIPE, stderr=self.messages, text=True, env={**os.environ, **self.extra})
        self.wait_until_ready()

    def wait_until_ready(self):
        line = self.process.stdout.readline()
        assert line.startswith("ready "), f"the gateway did not start: {line!r}\n{self.said()}"
        self.addresses = dict(pair.split("=", 1) for pair in line.split()[1:])

    def said(self):
        return whole_lines(self.messages)

    def close(self):
        super().close()
        self.messages.close()

    def status(self, path):
        """The status and the document of a path."""
        try:
            with urllib.request.urlopen(f"http://{self.addresses['http']}{path}", timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def health(self, *arguments):
        """What `cuecast health` says of a gateway that answers, however long it takes for that."""
        return self.ask(*PATIENT_HEALTH, *arguments)

    def ask(self, *arguments):
        return subprocess.run([BINARY, *arguments], env=self.environment, capture_output=True, text=True,
                              timeout=PATIENCE)


class ServiceManager(unittest.TestCase):
    def managed(self, *arguments, abstract=False, **environment):
        manager = NotifySocket(abstract)
        self.addCleanup(manager.close)
        gateway = ManagedGateway(*arguments, environment={"NOTIFY_SOCKET": manager.name, **environment})
        self.addCleanup(gateway.close)
        return manager, gateway

    def test_ready_is_told_when_the_gateway_is_ready_and_not_before(self):
        for abstract in (False, True):
            manager = NotifySocket(abstract)
            self.addCleanup(manager.close)
            port = HeldPort()
            self.addCleanup(port.close)
            data = tempfile.mkdtemp(prefix="cuecast-manager.")
            self.addCleanup(shutil.rmtree, data)
            # The ready line is not read here: READY=1 alone must do.
            process = subprocess.Popen(
                [BINARY, "serve", "--data-dir", data + "/data", "--http", port.address, "--notices", "tcp://127.0.0.1:*",
                 "--requests", "tcp://127.0.0.1:*", "--broadcast", "tcp://127.0.0.1:*"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env={**os.environ, "NOTIFY_SOCKET": manager.name})
            try:
                ready = manager.begins("READY=1")
                with urllib.request.urlopen(f"http://{port.address}/readyz", timeout=PATIENCE) as answer:
                    self.assertEqual(answer.status, 200)
                self.assertRegex(ready, r"\nSTATUS=serving 0 listeners, 0 streams")
                self.assertIn("STATUS=starting: opening the event log and the ledger", manager.told)
                self.assertIn("EXTEND_TIMEOUT_USEC=30000000", manager.told)
                self.assertEqual([each for each in manager.told if "READY=1" in each], [ready])
                process.send_signal(signal.SIGTERM)
                self.assertRegex(manager.begins("STOPPING=1"), r"\nSTATUS=draining$")
                self.assertEqual(process.wait(PATIENCE), 0)
            finally:
                process.kill()
                process.wait()

    def test_a_reload_is_told_from_its_beginning_to_its_end(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("logLevel: notice\n")
            file.flush()
            manager, gateway = self.managed("--config", file.name)
            manager.begins("READY=1")
            for text in ("logLevel: warning\n", "logLevel: loud\n"):
                file.seek(0)
                file.truncate()
                file.write(text)
                file.flush()
                gateway.process.send_signal(signal.SIGHUP)
                self.assertRegex(manager.begins("RELOADING=1"), r"\nMONOTONIC_USEC=[0-9]+\n")
                # Refused or not, it runs on.
                manager.begins("READY=1")
        self.assertEqual(gateway.stop(), 0)

    def test_a_start_that_fails_says_why(self):
        manager = NotifySocket()
        self.addCleanup(manager.close)
        environment = {**os.environ, "NOTIFY_SOCKET": manager.name}
        with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            command = [BINARY, "serve", "--data-dir", folder + "/data", "--http", "none", "--requests", "tcp://127.0.0.1:*",
                       "--broadcast", "tcp://127.0.0.1:*", "--notices", f"tcp://127.0.0.1:{taken.getsockname()[1]}"]
            self.assertEqual(subprocess.run(command, env=environment, capture_output=True).returncode, 69)
            told = manager.begins("ERRNO=98\n")
            self.assertIn("STATUS=the gateway cannot run: ", told)
            done = subprocess.run([BINARY, "serve", "--set", "logLevel=loud"], env=environment, capture_output=True)
            self.assertEqual(done.returncode, 65)
            self.assertIn("logLevel: it must be one of", manager.begins("ERRNO=22\n"))
        self.assertFalse([each for each in manager.told if "READY=1" in each])

    def test_a_manager_that_is_gone_is_one_warning(self):
        gateway = ManagedGateway(environment={"NOTIFY_SOCKET": "/nowhere/notify.sock", "WATCHDOG_USEC": "20000"})
        self.addCleanup(gateway.close)
        gateway.run("breaks")
        self.assertEqual(gateway.stop(), 0)
        self.assertEqual(gateway.said().count("the service manager cannot be told anything"), 1)

    def test_signs_of_life_come_idle_and_under_load_and_cease_with_the_process(self):
        manager, gateway = self.managed(WATCHDOG_USEC="100000")
        for _ in range(5):
            manager.begins("WATCHDOG=1")
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        over = threading.Event()

        def load():
            while not over.is_set():
                broadcaster.ask(list=broadcast_pb2.List())
        thread = threading.Thread(target=load)
        thread.start()
        try:
            for _ in range(5):
                manager.begins("WATCHDOG=1")
        finally:
            over.set()
            thread.join()
        gateway.process.send_signal(signal.SIGSTOP)
        tasks = f"/proc/{gateway.process.pid}/task"

        def is_stopped(task):
            with open(f"{tasks}/{task}/status") as file:
                return re.search(r"^State:\s+T", file.read(), re.M)
        until("all its threads are stopped", lambda: all(map(is_stopped, os.listdir(tasks))))
        manager.taken()
        self.assertFalse(select.select([manager.socket], [], [], 0.5)[0])
        gateway.process.send_signal(signal.SIGCONT)
        manager.begins("WATCHDOG=1")
        self.assertEqual(gateway.stop(), 0)

    def test_another_process_s_watchdog_is_not_fed(self):
        manager, gateway = self.managed(WATCHDOG_USEC="20000", WATCHDOG_PID="1")
        gateway.run("breaks")
        self.assertEqual(gateway.stop(), 0)
        self.assertFalse([each for each in manager.told + manager.taken() if "WATCHDOG" in each])

    def test_the_variables_are_not_in_the_environment_any_more(self):
        manager, gateway = self.managed(WATCHDOG_USEC="1000000000")
        # What a process was started with stays in /proc; what it would hand on is asked of the library that holds it.
        library = manager.folder + "/environment.so"
        source = manager.folder + "/environment.c"
        with open(source, "w") as file:
            file.write('#include <stdlib.h>\n#include <stdio.h>\n'
                       '__attribute__((destructor)) static void tell(void) {\n'
                       '  FILE *file = fopen(getenv("CUECAST_TEST_TOLD"), "w");\n'
                       '  fprintf(file, "%d", getenv("NOTIFY_SOCKET") != NULL || getenv("WATCHDOG_USEC") != NULL);\n'
                       '  fclose(file);\n}\n')
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        self.assertEqual(gateway.stop(), 0)
        gateway.extra |= {"LD_PRELOAD": library, "CUECAST_TEST_TOLD": manager.folder + "/told"}
        gateway.start()
        self.assertEqual(gateway.stop(), 0)
        with open(manager.folder + "/told") as file:
            self.assertEqual(file.read(), "0")


class Health(unittest.TestCase):
    def test_each_answer_has_its_exit_code(self):
        gateway = ManagedGateway("--set", "log.bytesMax=67108864")
        self.addCleanup(gateway.close)
        done = gateway.health()
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "ready"))
        self.assertEqual(gateway.health("--live").stdout, "alive\n")
        done = gateway.health("--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        document = json.loads(gateway.health("--json").stdout)
        self.assertEqual((document["healthy"], document["status"], document["missing"]), (True, 200, []))
        self.assertEqual(gateway.ask("health", "--timeout", "0s").returncode, 64)
        # A flag goes before the variables; a file counts where neither says anything.
        self.assertEqual(gateway.ask("health", "--http", "127.0.0.1:1").returncode, 69)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("CUECAST_")}
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(f"http: {gateway.addresses['http']}\n")
            file.flush()
            done = subprocess.run([BINARY, *PATIENT_HEALTH, "--config", file.name], env=clean, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "ready"))
            file.write("nonsense: 1\n")
            file.flush()
            done = subprocess.run([BINARY, *PATIENT_HEALTH, "--config", file.name], env=clean, capture_output=True, text=True)
            self.assertEqual(done.returncode, 65)
        self.assertEqual(gateway.stop(), 0)
        self.assertEqual(gateway.ask("health").returncode, 69)

    def test_who_is_silent_or_no_gateway_is_not_available(self):
        # Two servers: a command that has no time left may not even have connected to the first.
        with socket.create_server(("127.0.0.1", 0)) as silent, socket.create_server(("127.0.0.1", 0)) as other:
            address = f"127.0.0.1:{silent.getsockname()[1]}"
            done = subprocess.run([BINARY, "health", "--http", address, "--timeout", "200ms"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 69)
            self.assertIn(address, done.stderr)

            def answer():
                connection, _ = other.accept()
                with connection:
                    connection.recv(65_536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
            thread = threading.Thread(target=answer)
            thread.start()
            address = f"127.0.0.1:{other.getsockname()[1]}"
            done = subprocess.run([BINARY, *PATIENT_HEALTH, "--http", address], capture_output=True, text=True)
            thread.join()
            self.assertEqual(done.returncode, 69)
            self.assertIn("is not a gateway", done.stderr)

    def test_a_gateway_that_drains_is_not_ready_and_lives(self):
        folder = tempfile.mkdtemp(prefix="cuecast-drain.")
        self.addCleanup(shutil.rmtree, folder)
        library, trigger = folder + "/holding_sync.so", folder + "/hold"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, FOLDER + "/holding_sync.c", "-ldl"], check=True)
        manager = NotifySocket()
        self.addCleanup(manager.close)
        gateway = ManagedGateway("--set", "drainTimeout=300s", environment={
            "LD_PRELOAD": library, "CUECAST_TEST_HOLD_SYNC": trigger, "NOTIFY_SOCKET": manager.name})
        self.addCleanup(gateway.close)
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        self.assertEqual(broadcaster.publish("s", "a", [ad("x")], start=NOW, duration_ms=1_000).status,
                         status_pb2.STATUS_CODE_OK)
        # The disk holds the next record: the drain waits for it.
        open(trigger, "w").close()
        request = broadcast_pb2.BroadcastRequest(request_id=9, publish=broadcast_pb2.Publish(
            stream="t", break_id="b", advertisements=[ad("x")], start=NOW, duration_ms=1_000))
        broadcaster.send(request.SerializeToString())
        until("the disk holds it", lambda: os.path.exists(trigger + ".held"))
        gateway.process.send_signal(signal.SIGTERM)
        manager.begins("STOPPING=1")
        until("it is not ready any more", lambda: gateway.status("/readyz")[0] == 503)
        self.assertEqual(gateway.status("/readyz")[1]["missing"], ["sockets"])
        self.assertEqual(gateway.status("/healthz"), (200, {"status": "alive"}))
        done = gateway.health()
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (1, "not ready: missing sockets"))
        document = gateway.health("--json")
        self.assertEqual(document.returncode, 1)
        self.assertEqual(json.loads(document.stdout)["missing"], ["sockets"])
        self.assertEqual(gateway.health("--live").returncode, 0)
        self.assertEqual(gateway.health("--quiet").stdout, "")
        manager.begins("EXTEND_TIMEOUT_USEC=30000000")
        os.remove(trigger)
        reply = broadcast_pb2.BroadcastReply.FromString(broadcaster.socket.recv())
        self.assertEqual((reply.request_id, reply.status), (9, status_pb2.STATUS_CODE_OK))
        self.assertEqual(gateway.process.wait(PATIENCE), 0)
        gateway.process.stdout.close()


class Messages(unittest.TestCase):
    """What a gateway says on standard error."""

    def test_a_request_is_followed_from_the_client_s_error_to_the_log(self):
        gateway = ManagedGateway("--set", "log.format=json")
        self.addCleanup(gateway.close)
        said = gateway.run("cancel", "--stream", "s", "--break", "none", code=65)
        number = re.search(r"\(request ([0-9]+)\)", said)[1]

        def about():
            return [line for line in map(json.loads, gateway.said().splitlines()) if line.get("requestId") == number]
        found = until("the line", about)
        lines = [json.loads(line) for line in gateway.said().splitlines()]
        self.assertEqual([(line["level"], line["status"], line["break"]) for line in found],
                         [("notice", "NOT_FOUND", "none")])
        self.assertIn(found[0]["sentence"], said)
        for line in lines:
            self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")

    def test_a_request_over_http_keeps_its_id(self):
        gateway = ManagedGateway("--set", "log.format=json", "--set", "logLevel=debug")
        self.addCleanup(gateway.close)
        for given, kept in [("trace-7/ü".encode("latin-1"), False), (b"x" * 128, True), (b"x" * 129, False), (b"a b", False),
                            (b"trace-7/1", True)]:
            host, port = gateway.addresses["http"].split(":")
            with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
                connection.sendall(b"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: " + given
                                   + b"\r\n\r\n")
                answer = b""
                while part := connection.recv(65_536):
                    answer += part
            head, body = answer.decode("latin-1").split("\r\n\r\n", 1)
            number = re.search(r"(?im)^x-request-id: (.*?)\r?$", head)[1]
            self.assertEqual(number == given.decode("latin-1"), kept, (given, head))
            if not kept:
                self.assertRegex(number, r"^[0-9]+$")
            self.assertEqual(json.loads(body)["requestId"], number)
            found = until("the line", lambda: [line for line in map(json.loads, gateway.said().splitlines())
                                               if line.get("requestId") == number])
            self.assertEqual((found[0]["level"], found[0]["status"], found[0]["path"]), ("debug", "404", "unknown"))

    def test_the_journal_gets_priorities_and_everybody_else_the_time(self):
        messages = tempfile.TemporaryFile("a+")
        self.addCleanup(messages.close)
        status = os.fstat(messages.fileno())
        for stream, pattern in [(f"{status.st_dev}:{status.st_ino}", r"^<[2-7]>(info|notice|warning|error) cuecast: "),
                                (f"{status.st_dev}:{status.st_ino + 1}",
                                 r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z (info|notice|warning|error) cuecast: ")]:
            messages.seek(0)
            messages.truncate()
            with tempfile.TemporaryDirectory() as folder:
                process = subprocess.Popen(
                    [BINARY, "serve", "--data-dir", folder + "/data", "--http", "none", "--notices", "tcp://127.0.0.1:*",
                     "--requests", "tcp://127.0.0.1:*", "--broadcast", "tcp://127.0.0.1:*"],
                    stdout=subprocess.PIPE, stderr=messages, text=True, env={**os.environ, "JOURNAL_STREAM": stream})
                self.assertTrue(process.stdout.readline().startswith("ready "))
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(PATIENCE), 0)
                process.stdout.close()
            messages.seek(0)
            lines = messages.read().splitlines()
            self.assertTrue(lines)
            for line in lines:
                self.assertRegex(line, pattern)

    def test_a_flood_of_bad_frames_is_a_bounded_number_of_lines(self):
        gateway = ManagedGateway("--set", "log.format=json")
        self.addCleanup(gateway.close)
        count = 20_000
        rude = zmq.Context.instance().socket(zmq.DEALER)
        rude.sndhwm = 0
        rude.connect(gateway.addresses["requests"])
        self.addCleanup(rude.close, 0)
        for _ in range(count):
            rude.send(b"no envelope")

        def told():
            lines = [json.loads(line) for line in gateway.said().splitlines()]
            logged = [line for line in lines if line["message"].startswith("a message is no request")]
            left_out = [int(line["count"]) for line in lines if line["message"].startswith("lines were left out")]
            return len(logged), sum(left_out)
        until("every one is told of", lambda: sum(told()) == count)
        with urllib.request.urlopen(f"http://{gateway.addresses['http']}/metrics", timeout=PATIENCE) as answer:
            metrics = answer.read().decode()
        self.assertIn(f'cuecast_log_lines_suppressed_total{{kind="frames"}} {told()[1]}\n', metrics)
        self.assertGreaterEqual(told()[0], 50)
        self.assertEqual(gateway.stop(), 0)

    def test_the_format_is_taken_over_while_the_gateway_runs(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("log:\n  format: text\n")
            file.flush()
            gateway = ManagedGateway("--config", file.name)
            self.addCleanup(gateway.close)
            file.seek(0)
            file.write("log:\n  format: json\n")
            file.flush()
            gateway.process.send_signal(signal.SIGHUP)
            line = until("the first line of JSON", lambda: next(
                (line for line in gateway.said().splitlines() if line.startswith("{")), None))
            self.assertEqual(json.loads(line)["changed"], "log.format: text → json")
