# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Broadcasters with keys: the real binary, its own commands, and stock pyzmq."""
import datetime, json, os, re, stat, subprocess, tempfile, unittest, urllib.request

import zmq
import zmq.utils.z85

from harness import BINARY, GENERATED, PATIENCE, ROOT, LoggedGateway, ad, broadcast_pb2, run_patiently, status_pb2, until

#: For what is not answered at all: long enough for a handshake, and a test does not pass because it is over.
SILENCE = 2


class Keys:
    """A key pair that `cuecast keygen` made."""

    def __init__(self, folder, name):
        self.name, base = name, os.path.join(folder, name)
        done = subprocess.run([BINARY, "keygen", "--out", base, "--json"], capture_output=True, text=True, check=True)
        self.made = json.loads(done.stdout)
        self.secret_file, self.public_file = base + ".key", base + ".pub"
        with open(self.secret_file) as file:
            self.secret = file.read().strip()
        self.public = self.made["publicKey"]


class CurveGateway(LoggedGateway):
    """A gateway that knows its broadcasters by key."""

    def __init__(self, folder, keys, broadcasters, *arguments):
        self.broadcasters_file = os.path.join(folder, "broadcasters.yaml")
        self.write(broadcasters)
        super().__init__(folder, "--set", f"broadcasters.secretKeyFile={keys.secret_file}",
                         "--set", f"broadcasters.file={self.broadcasters_file}", *arguments)

    def write(self, broadcasters):
        """Lists broadcasters: (keys, streams)."""
        with open(self.broadcasters_file + ".new", "w") as file:
            json.dump({"broadcasters": [{"name": keys.name, "keys": [keys.public], "streams": streams}
                                        for keys, streams in broadcasters]}, file)
        os.replace(self.broadcasters_file + ".new", self.broadcasters_file)


class Curve(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cuecast-curve.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.server, self.studio, self.other, self.stranger = (
            Keys(self.folder, name) for name in ("gateway", "studio", "other", "stranger"))
        self.outputs = []

    def start(self, *broadcasters):
        gateway = CurveGateway(self.folder, self.server,
                               broadcasters or [(self.studio, ["radio*"]), (self.other, ["tv1"])])
        self.addCleanup(gateway.close)
        return gateway

    def peer(self, gateway, keys, server=None):
        """A stock REQ socket, with keys or without."""
        socket = zmq.Context.instance().socket(zmq.REQ)
        self.addCleanup(socket.close)
        socket.linger, socket.rcvtimeo = 0, int(PATIENCE * 1_000)
        if keys:
            socket.curve_secretkey, socket.curve_publickey = keys.secret.encode(), keys.public.encode()
            socket.curve_serverkey = (server or self.server).public.encode()
        socket.connect(gateway.addresses["broadcast"])
        return socket

    def send(self, socket, stream, break_id):
        socket.send(broadcast_pb2.BroadcastRequest(request_id=1, publish=broadcast_pb2.Publish(
            stream=stream, break_id=break_id, start=broadcast_pb2.Start(in_ms=3_600_000), duration_ms=10_000,
            advertisements=[ad("a")])).SerializeToString())

    def ask(self, socket, stream, break_id):
        self.send(socket, stream, break_id)
        return broadcast_pb2.BroadcastReply.FromString(socket.recv())

    def run_command(self, gateway, *arguments, keys=None, server=None, code=0):
        """Runs a command of a broadcaster with keys in its environment."""
        environment = dict(gateway.environment)
        if keys:
            environment.update(CUECAST_KEY_FILE=keys.secret_file,
                               CUECAST_GATEWAY_KEY_FILE=(server or self.server).public_file)
        done = run_patiently([BINARY, *arguments], code, env=environment)
        self.outputs += [done.stdout, done.stderr]
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout} {done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def connected(self, gateway):
        """Those whose connections it has told of."""
        return set(re.findall(r"a broadcaster connected.*\bby=(\w+)", gateway.messages()))

    def refused(self, gateway, result):
        return gateway.metric(f'cuecast_broadcast_authentications_total{{result="{result}"}}')

    def test_stock_sockets_get_in_with_the_right_key_and_with_no_other(self):
        gateway = self.start()
        reply = self.ask(self.peer(gateway, self.studio), "radio1", "b1")
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)
        self.assertEqual(getattr(reply, "break").broadcaster, "studio")
        reply = self.ask(self.peer(gateway, self.other), "radio1", "b2")
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_NOT_ALLOWED)
        self.assertIn("The broadcaster other has no right to the stream radio1", reply.message)
        self.send(self.peer(gateway, self.stranger), "radio1", "b3")
        until("the unknown key is refused", lambda: self.refused(gateway, "unknown_key"))
        until("whose key it is", lambda: self.stranger.public in gateway.messages())
        self.send(self.peer(gateway, self.studio, server=self.other), "radio1", "b4")
        until("the wrong server key does not pass", lambda: self.refused(gateway, "handshake"))
        before = self.refused(gateway, "handshake")
        self.send(self.peer(gateway, None), "radio1", "b5")
        until("who has no key does not pass", lambda: self.refused(gateway, "handshake") > before + 1)
        breaks = gateway.get("/v1/breaks")["breaks"]
        self.assertEqual([(each["break"], each["broadcaster"]) for each in breaks], [("b1", "studio")])
        # A connection that did not come about in time is made again.
        self.assertGreaterEqual(self.refused(gateway, "admitted"), 2)
        for name in ("studio", "other"):
            until(f"the connection of {name} is told of", lambda: name in self.connected(gateway))
        self.assertEqual(self.connected(gateway), {"studio", "other"})

    def test_a_hang_up_withdraws_a_key_at_once_and_a_faulty_file_changes_nothing(self):
        gateway = self.start()
        studio = self.peer(gateway, self.studio)
        self.assertEqual(self.ask(studio, "radio1", "b1").status, status_pb2.STATUS_CODE_OK)
        # A faulty file: everything stays as it was, and why is said.
        with open(gateway.broadcasters_file) as file:
            whole = file.read()
        for text, said in ((whole[:len(whole) // 2], "it is not YAML or JSON"), ("", "is empty"),
                           (whole.replace("tv1", "t*v"), "each of its streams must be")):
            with open(gateway.broadcasters_file, "w") as file:
                file.write(text)
            gateway.hang_up(said)
            self.assertEqual(gateway.metric('cuecast_alarm{alarm="reload"}'), 1)
            self.assertEqual(self.ask(studio, "radio1", "b1").status, status_pb2.STATUS_CODE_OK)
        os.chmod(self.server.secret_file, 0o644)
        gateway.write([(self.other, ["tv1"])])
        gateway.hang_up("others may read or change it")
        self.assertEqual(self.ask(studio, "radio1", "b1").status, status_pb2.STATUS_CODE_OK)
        os.chmod(self.server.secret_file, 0o600)
        gateway.hang_up("broadcasters=other")
        self.assertEqual(gateway.metric('cuecast_alarm{alarm="reload"}'), 0)
        # The open connection is refused with its next request, and a new one does not come about.
        reply = self.ask(studio, "radio1", "b1")
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_NOT_ALLOWED, reply)
        error = self.run_command(gateway, "breaks", keys=self.studio, code=77)
        self.assertIn(f"does not let in the key {self.studio.public}", error)
        self.assertEqual(gateway.metric("cuecast_broadcaster_keys"), 1)
        # Another key of the gateway's own needs a restart.
        os.replace(self.stranger.secret_file, self.server.secret_file)
        self.assertIn("restart", gateway.hang_up("another key stands in it"))
        self.assertEqual(self.ask(self.peer(gateway, self.other), "tv1", "b1").status, status_pb2.STATUS_CODE_OK)

    def test_commands_show_their_keys_and_say_why_they_are_refused(self):
        gateway = self.start()
        publish = ["publish", "--stream", "radio1", "--break", "b1", "--vast",
                   os.path.join(ROOT, "Examples/two-ads.vast.xml"), "--in", "1h", "--format", "json"]
        self.assertEqual(json.loads(self.run_command(gateway, *publish, keys=self.studio))["broadcaster"], "studio")
        name = ["--stream", "radio1", "--break", "b1"]
        # Not from its receipt on: a start that is one is asked for once only, however slow the machine is.
        later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=2)
        self.run_command(gateway, "update", *name, "--at", later.strftime("%Y-%m-%dT%H:%M:%SZ"), keys=self.studio)
        error = self.run_command(gateway, "cancel", *name, keys=self.other, code=77)
        self.assertIn("NOT_ALLOWED: The broadcaster other has no right to the stream radio1.", error)
        self.assertEqual(json.loads(self.run_command(gateway, "breaks", "--format", "json", keys=self.other)), [])
        self.assertIn("does not let in the key", self.run_command(gateway, "breaks", keys=self.stranger, code=77))
        self.assertIn("asks for a key", self.run_command(gateway, "breaks", code=77))
        self.assertIn("its public key may be another than the one",
                      self.run_command(gateway, "breaks", keys=self.studio, server=self.other, code=69))
        error = self.run_command(gateway, "breaks", "--key-file", self.studio.secret_file, code=64)
        self.assertIn("--gateway-key-file", error)
        os.chmod(self.studio.secret_file, 0o640)
        self.assertIn("others may read or change it", self.run_command(gateway, "breaks", keys=self.studio, code=65))
        os.chmod(self.studio.secret_file, 0o600)
        self.run_command(gateway, "cancel", *name, keys=self.studio)
        # Who published is in the books, and in the log of messages.
        report = until("the ledger has it", lambda: gateway.get("/v1/reports?stream=radio1")["breaks"])
        self.assertEqual(report[0]["broadcaster"], "studio")
        gateway.until_said("by=studio")

    def test_the_example_publishes(self):
        gateway = self.start()
        example = os.path.join(ROOT, "Examples/pyzmq/curve_broadcaster.py")

        def run(keys, *more):
            return subprocess.run(
                ["/usr/bin/python3", example, "--stream", "radio1", "--break", "noon-1", "--broadcast",
                 gateway.addresses["broadcast"], "--key-file", keys.secret_file, "--gateway-key-file",
                 self.server.public_file, *more],
                env={**os.environ, "PYTHONPATH": GENERATED}, capture_output=True, text=True, timeout=PATIENCE)
        done = run(self.studio, "--timeout", str(PATIENCE / 2))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), {"stream": "radio1", "break": "noon-1", "broadcaster": "studio"})
        done = run(self.other, "--timeout", str(PATIENCE / 2))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("NOT_ALLOWED", done.stderr)
        done = run(self.stranger, "--timeout", str(SILENCE))
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_keygen_writes_files_that_only_their_owner_reads_and_never_over_others(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.studio.secret_file).st_mode), 0o600)
        self.assertEqual(set(self.studio.made), {"publicKey", "secretKeyFile", "publicKeyFile"})
        done = subprocess.run([BINARY, "keygen", "--out", os.path.join(self.folder, "studio")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 65)
        self.assertIn("never written over", done.stderr)
        with open(self.studio.secret_file) as file:
            self.assertEqual(file.read().strip(), self.studio.secret)
        done = subprocess.run([BINARY, "keygen", "--out", os.path.join(self.folder, "no/such/folder")], capture_output=True)
        self.assertEqual(done.returncode, 74)
        done = subprocess.run([BINARY, "keygen", "--out", ""], capture_output=True)
        self.assertEqual(done.returncode, 64)
        printed = json.loads(subprocess.run([BINARY, "keygen", "--json"], capture_output=True, check=True).stdout)
        self.assertEqual(zmq.curve_public(printed["secretKey"].encode()).decode(), printed["publicKey"])
        plain = subprocess.run([BINARY, "keygen"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(plain, r"\Apublic key: .{40}\nsecret key: .{40}\n\Z")
        self.assertIn("cuecast keygen --out studio-a",
                      subprocess.run([BINARY, "keygen", "--help"], capture_output=True, text=True, check=True).stdout)

    def test_a_gateway_does_not_start_with_files_that_are_not_as_they_must_be(self):
        file = os.path.join(self.folder, "broadcasters.yaml")
        os.chmod(self.server.secret_file, 0o604)
        for command in ("serve", "check-config"):
            done = subprocess.run(
                [BINARY, command, "--data-dir", self.folder + "/data", "--set",
                 f"broadcasters.secretKeyFile={self.server.secret_file}", "--set", f"broadcasters.file={file}"],
                capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 65)
            self.assertIn("broadcasters.secretKeyFile: ", done.stderr)
            self.assertIn("(mode 604); say chmod 600", done.stderr)
            self.assertIn(f"broadcasters.file: {file}: it cannot be read: No such file", done.stderr)

    def test_no_secret_is_in_anything_that_a_run_leaves(self):
        gateway = self.start()
        self.ask(self.peer(gateway, self.studio), "radio1", "b1")
        self.ask(self.peer(gateway, self.other), "radio1", "b1")
        for keys, server, code in ((self.studio, None, 0), (self.stranger, None, 77), (self.other, self.stranger, 69)):
            self.run_command(gateway, "breaks", keys=keys, server=server, code=code)
        # What goes wrong with a secret in it: a key where another belongs, a key that is cut, a secret in the file of names.
        halved = os.path.join(self.folder, "halved.key")
        with open(os.open(halved, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(self.studio.secret[:39])
        self.run_command(gateway, "breaks", "--key-file", halved, "--gateway-key-file", self.server.public_file, code=65)
        # A secret where a file belongs, and where a public key belongs.
        self.run_command(gateway, "breaks", "--key-file=" + self.studio.secret, "--gateway-key-file", self.server.public_file, code=65)
        self.run_command(gateway, "breaks", "--key-file", self.studio.secret_file, "--gateway-key-file", self.server.secret_file,
                         code=69)
        for command in ("serve", "check-config"):
            done = subprocess.run([BINARY, command, "--data-dir", self.folder + "/data", "--set",
                                   "broadcasters.secretKeyFile=" + self.server.secret, "--set", "broadcasters.file=x"],
                                  capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 65)
            self.outputs += [done.stdout, done.stderr]
        for text in (self.studio.secret, f"broadcasters: [{{name: x, streams: [y], keys: ['{self.studio.secret}', '{self.studio.secret}']}}]",
                     f"broadcasters: [{{name: x, streams: [y], keys: ['{self.studio.secret}~']}}]",
                     f"broadcasters: [{{name: '{self.studio.secret}', streams: [y], keys: []}}]"):
            with open(gateway.broadcasters_file, "w") as file:
                file.write(text)
            gateway.hang_up("everything stays as it was")
        gateway.write([(self.studio, ["radio1"])])
        gateway.hang_up("broadcasters=studio")
        self.outputs.append(urllib.request.urlopen(f"http://{gateway.addresses['http']}/metrics").read().decode())
        for path in ("/v1/breaks", "/v1/reports?stream=radio1", "/readyz"):
            self.outputs.append(urllib.request.urlopen(f"http://{gateway.addresses['http']}{path}").read().decode())
        gateway.stop()
        texts = {"output": "".join(self.outputs).encode()}
        for folder, _, names in os.walk(gateway.folder):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    texts[name] = file.read()
        with open(gateway.log, "rb") as file:
            texts["messages"] = file.read()
        self.assertGreater(len(texts), 3, "the stores are there")
        self.assertTrue(any(b"studio" in text for name, text in texts.items() if name.startswith("events.sqlite")), list(texts))
        for keys in (self.server, self.studio, self.other, self.stranger):
            raw = zmq.utils.z85.decode(keys.secret)
            for name, text in texts.items():
                for secret in (keys.secret[:39].encode(), raw, raw.hex().encode()):
                    self.assertNotIn(secret, text, f"the secret key of {keys.name} is in {name}")
