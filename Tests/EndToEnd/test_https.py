# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""HTTP by TLS: the real binary with a certificate, curl, Python's ssl, and the commands that ask over HTTP."""
import http.client, json, os, shutil, socket, ssl, stat, subprocess, tempfile, time, unittest

from harness import BINARY, IDLE_SECONDS, PATIENCE, RUN_PATIENCE, LoggedGateway, run_patiently, shaken_hands, until
from test_load_run import short
from test_load_tool import LOAD_BINARY as LOAD

#: For `cuecast health`, which waits for an answer for 5 s otherwise.
PATIENT = ("--timeout", f"{int(PATIENCE)}s")


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


class Authority:
    """A certificate authority; all files are in one folder."""

    NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")

    def __init__(self, folder, name="root"):
        self.folder = folder
        self.certificate, self.key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
        openssl("req", "-x509", *self.NEW_KEY, "-days", "2", "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.certificate)

    def sign(self, names, certificate, key, days=2):
        """Puts a certificate and its key into two files."""
        request = certificate + ".csr"
        openssl("req", *self.NEW_KEY, "-subj", "/CN=gateway", "-addext", f"subjectAltName={names}", "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-days", str(days),
                "-copy_extensions", "copy", "-out", certificate)


class EncryptedGateway(LoggedGateway):
    """A gateway that is asked by https; who asks trusts an authority."""

    def __init__(self, folder, authority, *arguments):
        self.authority = authority
        super().__init__(folder, *arguments)

    @property
    def http_port(self):
        return int(self.addresses["http"].rsplit(":", 1)[1])

    def connect(self, **settings):
        """A connection that stays open."""
        context = ssl.create_default_context(cafile=self.authority.certificate)
        for name, value in settings.items():
            setattr(context, name, value)
        connection = http.client.HTTPSConnection("127.0.0.1", self.http_port, timeout=PATIENCE, context=context)
        shaken_hands(connection.connect)
        connection.used = time.monotonic()
        return connection

    def ask(self, connection, path, method="GET", token=None):
        """The status and the document. Where this machine is so slow that the gateway has ended the connection, because it was idle, it is
        made anew."""
        def told():
            connection.request(method, path, headers={"Authorization": "Bearer " + token} if token else {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

        idle, connection.used = time.monotonic() - connection.used, time.monotonic()
        try:
            return told()
        except (ConnectionError, ssl.SSLError):
            if idle < IDLE_SECONDS:
                raise
            connection.close()
            shaken_hands(connection.connect)
            return told()

    def metric(self, name):
        connection = self.connect()
        text = self.ask(connection, "/metrics")[1]
        connection.close()
        return next((float(line.split()[-1]) for line in text.splitlines() if line.startswith(name + " ")), None)

    def file(self, name):
        return os.path.join(self.folder, "data", name)

    def token(self):
        with open(self.file("http-token")) as file:
            return file.read().strip()


class EncryptedHTTP(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cuecast-https.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.authority = Authority(self.folder)
        self.certificate, self.key = os.path.join(self.folder, "gateway.pem"), os.path.join(self.folder, "gateway.key")
        self.authority.sign("IP:127.0.0.1,DNS:localhost", self.certificate, self.key)
        self.settings = ["--set", f"http.tls.certificateFile={self.certificate}", "--set", f"http.tls.keyFile={self.key}"]

    def start(self, *arguments):
        gateway = EncryptedGateway(self.folder, self.authority, *self.settings, *arguments)
        self.addCleanup(gateway.close)
        return gateway

    def command(self, *arguments, code=0, **environment):
        """Runs a command with no environment but this; gives what it printed, or what it complained about."""
        if arguments[0] == "health" and "--timeout" not in arguments:
            arguments = ("health", *PATIENT, *arguments[1:])
        done = run_patiently([BINARY, *arguments], code, env={"PATH": os.environ["PATH"], **environment}, cwd=self.folder)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def curl(self, *arguments, code=0):
        done = subprocess.run(["curl", "-sS", "--noproxy", "*", *arguments], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_curl_asks_by_tls_and_not_otherwise(self):
        gateway = self.start()
        address = gateway.addresses["http"]
        self.assertTrue(address.startswith("https://127.0.0.1:"), address)
        trusting = ["--cacert", self.authority.certificate]
        for version in ("1.2", "1.3"):
            self.assertEqual(json.loads(self.curl(*trusting, f"--tlsv{version}", "--tls-max", version, address + "/healthz")),
                             {"status": "alive"})
        self.curl(*trusting, "--tls-max", "1.1", "--ciphers", "DEFAULT@SECLEVEL=0", address + "/healthz", code=35)
        self.curl(address + "/healthz", code=60)
        plain = self.curl("-w", "%{http_code}", address.replace("https://", "http://") + "/healthz")
        self.assertIn("ask by https", plain)
        self.assertTrue(plain.endswith("400"), plain)
        self.assertEqual(gateway.metric('cuecast_http_tls_handshakes_total{result="plaintext"}'), 1)
        # A client that breaks off waits for nothing.
        until("it is counted", lambda: gateway.metric('cuecast_http_tls_handshakes_total{result="failed"}') >= 1)
        self.assertGreater(gateway.metric('cuecast_tls_certificate_expiry_timestamp_seconds{socket="http"}'), 0)
        self.assertEqual(gateway.metric('cuecast_tls_certificate_expiry_timestamp_seconds{socket="listeners"}'), 0)

    def test_rights_are_the_same_by_tls(self):
        gateway = self.start("--set", "http.openReads=health")
        connection = gateway.connect()
        self.addCleanup(connection.close)
        self.assertEqual(gateway.ask(connection, "/readyz")[0], 200)
        self.assertEqual(gateway.ask(connection, "/v1/reports")[0], 401)
        self.assertEqual(gateway.ask(connection, "/v1/reports", token="nonsense")[0], 401)
        self.assertEqual(gateway.ask(connection, "/v1/reports", token=gateway.token())[0], 200)
        self.assertEqual(gateway.ask(connection, "/v1/reload", "POST")[0], 401)
        self.assertEqual(gateway.ask(connection, "/v1/reload", "POST", gateway.token())[0], 200)

    def test_a_reload_keeps_connections_and_one_that_fails_changes_nothing(self):
        gateway = self.start()
        old = gateway.connect()
        self.addCleanup(old.close)

        def shown():
            connection = gateway.connect()
            found = connection.sock.getpeercert(binary_form=True)
            connection.close()
            return found

        first = shown()
        self.assertEqual(old.sock.getpeercert(binary_form=True), first)
        # A new certificate whose key is not there yet.
        waiting = os.path.join(self.folder, "next.key")
        self.authority.sign("IP:127.0.0.1", self.certificate, waiting)
        self.assertIn("everything stays as it was", gateway.hang_up("does not belong to the certificate"))
        self.assertEqual(gateway.metric('cuecast_alarm{alarm="reload"}'), 1)
        self.assertIn("http.tls.keyFile", self.command("reload", "--data-dir", gateway.folder + "/data", code=65))
        status, text = gateway.ask(old, "/v1/reload", "POST", gateway.token())
        self.assertEqual((status, json.loads(text)["code"]), (422, "NOT_RELOADED"))
        self.assertEqual(shown(), first)
        # Its key, that others may read.
        shutil.copyfile(waiting, self.key)
        os.chmod(self.key, 0o644)
        self.assertIn("everything stays as it was", gateway.hang_up("others may read or change it"))
        self.assertEqual(shown(), first)
        os.chmod(self.key, 0o600)
        self.assertEqual(gateway.ask(old, "/v1/reload", "POST", gateway.token())[0], 200)
        self.assertEqual(gateway.metric('cuecast_alarm{alarm="reload"}'), 0)
        second = shown()
        self.assertNotEqual(second, first)
        self.assertEqual(gateway.ask(old, "/healthz")[0], 200)
        self.command("health", "--data-dir", gateway.folder + "/data")
        # And once more, by the command and by the signal.
        for reload in (lambda: self.command("reload", "--data-dir", gateway.folder + "/data"),
                       lambda: gateway.hang_up("the configuration was read again")):
            before = shown()
            self.authority.sign("IP:127.0.0.1", self.certificate, self.key)
            reload()
            self.assertNotEqual(shown(), before)
            self.assertEqual(gateway.ask(old, "/healthz")[0], 200)
            self.command("health", "--data-dir", gateway.folder + "/data")

    def test_commands_on_this_machine_find_address_and_certificate(self):
        # For another name than they ask.
        self.authority.sign("DNS:gateway.example", self.certificate, self.key)
        gateway = self.start("--set", "http.openReads=health")
        data, address = gateway.folder + "/data", gateway.addresses["http"]
        self.assertEqual(stat.S_IMODE(os.stat(gateway.file("http-endpoint")).st_mode), 0o600)
        self.assertIn("TOTAL", self.command("report", "--data-dir", data))
        self.assertIn("TOTAL", self.command("report", CUECAST_DATA_DIR=data))
        self.assertEqual(self.command("health", "--data-dir", data), "ready\n")
        self.assertEqual(self.command("health", "--live", CUECAST_DATA_DIR=data, CUECAST_HTTP=address), "alive\n")
        for http in (address, address.removeprefix("https://"), address.removeprefix("https://").replace("127.0.0.1", "0.0.0.0")):
            found = json.loads(self.command("health", "--json", "--data-dir", data, CUECAST_HTTP=http))
            self.assertEqual((found["healthy"], found["address"]), (True, address))
        config = os.path.join(self.folder, "cuecast.yaml")
        with open(config, "w") as file:
            file.write(f"dataDir: {data}\nhttp: {address.removeprefix('https://')}\n"
                       f"http.tls.certificateFile: {self.certificate}\nhttp.tls.keyFile: {self.key}\n")
        self.command("health", "--config", config)
        # What others may change is not believed, and what is gone is not missed.
        os.chmod(gateway.file("http-endpoint"), 0o644)
        self.assertIn("has no trusted issuer", self.command("report", "--http", address, "--data-dir", data, code=69))
        self.assertIn("is for another host",
                      self.command("report", "--http", address, "--ca-file", self.authority.certificate, code=69))

    def test_commands_say_why_a_gateway_is_not_believed(self):
        gateway = self.start()
        address = gateway.addresses["http"]
        authority = ("--ca-file", self.authority.certificate)
        self.command("health", "--http", address, *authority)
        self.command("health", "--http", address.replace("127.0.0.1", "localhost"), *authority)
        self.command("report", "--http", address, CUECAST_CA_FILE=self.authority.certificate)
        # A file of certificates means that TLS is wanted.
        self.command("health", "--http", address.removeprefix("https://"), *authority)
        token = ("--token-file", gateway.file("http-token"))
        self.command("report", "--http", address, *authority, *token)
        other = Authority(self.folder, "other")
        for sentence, arguments in (
                ("has no trusted issuer", ("--http", address)),
                ("has no trusted issuer", ("--http", address, "--ca-file", other.certificate)),
                ("its address begins with https://", ("--http", address.replace("https://", "http://")))):
            for command in (("report", *token), ("health",), ("health", "--live")):
                said = self.command(*command, *arguments, code=69)
                self.assertIn(sentence, said)
                self.assertNotIn(gateway.token(), said)
        nonsense = os.path.join(self.folder, "nonsense")
        with open(nonsense, "w") as file:
            file.write("nonsense")
        for file in (nonsense, self.folder + "/nowhere"):
            for command in ("report", "health"):
                self.command(command, "--http", address, "--ca-file", file, code=65)
        self.authority.sign("IP:127.0.0.1", self.certificate, self.key, days=-1)
        gateway.hang_up("the configuration was read again")
        self.assertIn("has expired", self.command("health", "--http", address, *authority, code=69))

    def test_the_load_tool_compares_books_by_tls(self):
        gateway = self.start("--set", "http.openReads=health")
        addresses = [flag for name in ("notices", "requests", "broadcast", "http") for flag in ("--" + name, gateway.addresses[name])]
        done = subprocess.run([LOAD, *addresses, "--data-dir", gateway.folder + "/data", "--listeners", "3", *short(), "--json"],
                              env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, timeout=RUN_PATIENCE)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        # Where the machine is too slow for its pace it finds batches missing; the books say the same all the same.
        self.assertEqual(json.loads(done.stdout)["books"]["state"], "equal", done.stdout)

    def test_a_plain_gateway_asked_by_tls_is_told_from_others(self):
        self.settings = []
        gateway = self.start()
        address = gateway.addresses["http"]
        said = self.command("report", "--http", "https://" + address, "--ca-file", self.authority.certificate, code=69)
        self.assertIn("does not speak TLS; its address begins with http://", said)
        # Without options the data directory says how, and what an option says goes first.
        self.command("health", "--data-dir", gateway.folder + "/data", CUECAST_CA_FILE=self.authority.certificate)
        self.command("report", "--http", "http://" + address, CUECAST_CA_FILE=self.authority.certificate)
        # No proxy is asked.
        self.command("health", "--http", address, http_proxy="http://127.0.0.1:9", HTTP_PROXY="http://127.0.0.1:9")

    def test_a_server_that_says_nothing_is_given_up(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"https://127.0.0.1:{silent.getsockname()[1]}"
            self.assertIn("the gateway does not answer", self.command("health", "--http", address, "--timeout", "300ms", code=69))

    def test_the_configuration_is_checked_before_a_start(self):
        self.assertIn(f"http.tls.certificateFile: {self.certificate}\n", self.command("check-config", *self.settings))
        said = self.command("check-config", "--http", "0.0.0.0:7480", code=65)
        self.assertIn("or have a certificate (http.tls.certificateFile)", said)
        self.command("check-config", "--http", "0.0.0.0:7480", *self.settings)
        os.chmod(self.key, 0o644)
        for command in ("check-config", "serve"):
            said = self.command(command, *self.settings, code=65)
            self.assertIn("http.tls.keyFile: " + self.key, said)
            self.assertIn("others may read or change it", said)

    def test_half_handshakes_keep_no_client_out(self):
        gateway = self.start()
        half = []
        for number in range(300):
            connection = socket.create_connection(("127.0.0.1", gateway.http_port), timeout=PATIENCE)
            self.addCleanup(connection.close)
            if number % 2:
                connection.sendall(bytes([22, 3, 1, 0, 200, 1]))
            half.append(connection)
        connection = gateway.connect()
        self.addCleanup(connection.close)
        self.assertEqual(gateway.ask(connection, "/healthz")[0], 200)
        until("the oldest are gone", lambda: gateway.metric('cuecast_connections{socket="http"}') <= 256)
        self.assertEqual(half[0].recv(100), b"")


if __name__ == "__main__":
    unittest.main()
