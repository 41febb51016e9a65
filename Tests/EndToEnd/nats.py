# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Servers of NATS as processes, alone or as a cluster, that a test kills and starts again; and a client that speaks with one."""
import base64, binascii, json, os, shutil, signal, socket, subprocess, tempfile

from harness import PATIENCE, ROOT, HeldPort

PROGRAM = os.path.join(ROOT, ".venv/bin/nats-server")


class NATSServers:
    """They keep their ports and their folders when they are started again, and end with `close`."""

    def __init__(self, count=3, more="", folder=None, sync="always"):
        """`more` is added to the configuration of each; `folder` is made for them where none is given."""
        self.more, self.sync = more, sync
        assert os.access(PROGRAM, os.X_OK), f"there is no {PROGRAM}: scripts/setup.sh test installs it"
        self.folder = folder or tempfile.mkdtemp(prefix="cuecast-nats.")
        os.makedirs(self.folder, exist_ok=True)
        self.ports = [(HeldPort(), HeldPort()) for _ in range(count)]
        self.processes = [None] * count
        for place in range(count):
            self.start(place)

    @property
    def addresses(self):
        return ",".join(f"nats://{client.address}" for client, _ in self.ports)

    def store(self, place):
        """The folder with a server's streams."""
        return f"{self.folder}/{place}"

    def start(self, place):
        client, route = self.ports[place]
        lines = [f'server_name: server-{place}', f'listen: "{client.address}"', "max_payload: 8MB",
                 f'jetstream {{ store_dir: "{self.store(place)}", sync_interval: {self.sync} }}', self.more]
        if len(self.ports) > 1:
            routes = ", ".join(f'"nats://{each.address}"' for _, each in self.ports)
            lines.append(f'cluster {{ name: tests, listen: "{route.address}", routes: [{routes}] }}')
        path = f"{self.folder}/{place}.conf"
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        with open(f"{self.folder}/{place}.log", "a", encoding="utf-8") as log:
            self.processes[place] = subprocess.Popen([PROGRAM, "-c", path], stdout=log, stderr=log)

    def kill(self, place):
        process, self.processes[place] = self.processes[place], None
        if process:
            process.send_signal(signal.SIGKILL)
            process.wait()

    def kill_named(self, name):
        """Kills the server of a name; returns its place."""
        place = int(name.removeprefix("server-"))
        self.kill(place)
        return place

    def close(self):
        for place in range(len(self.ports)):
            self.kill(place)
        for pair in self.ports:
            for port in pair:
                port.close()
        shutil.rmtree(self.folder)


class NATSClient:
    """Asks a server over the text protocol of NATS (docs.nats.io/reference/reference-protocols/nats-protocol)."""

    def __init__(self, address, key=None):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=PATIENCE)
        self.file = self.socket.makefile("rb")
        self.asked = 0
        said = self.line()
        assert said.startswith("INFO "), f"no server of NATS: {said!r}"
        who = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, "lang": "tests", "version": "1"}
        if key:
            who["nkey"] = key.public
            who["sig"] = key.sign(json.loads(said[5:])["nonce"])
        self.write(f"CONNECT {json.dumps(who)}\r\n".encode())

    def line(self):
        return self.file.readline().decode().rstrip("\r\n")

    def write(self, data):
        self.socket.sendall(data)

    def ask(self, subject, payload=b"", header=b""):
        """Publishes a message and gives the answer to it."""
        self.asked += 1
        inbox = f"_INBOX.tests.{id(self)}.{self.asked}"
        self.write(f"SUB {inbox} {self.asked}\r\nUNSUB {self.asked} 1\r\n".encode())
        verb = f"HPUB {subject} {inbox} {len(header)} {len(header) + len(payload)}" if header else f"PUB {subject} {inbox} {len(payload)}"
        self.write(verb.encode() + b"\r\n" + header + payload + b"\r\n")
        while True:
            line = self.line()
            assert line and not line.startswith("-ERR"), f"{subject}: {line!r}"
            if line == "PING":
                self.write(b"PONG\r\n")
            if line.startswith(("MSG ", "HMSG ")):
                words = line.split()
                content = self.file.read(int(words[-1]) + 2)[:-2]
                if words[2] == str(self.asked):
                    return content[int(words[-2]) if words[0] == "HMSG" else 0:]

    def refusal(self, command):
        """What the server says against a command, which it has to refuse."""
        self.write(command + b"\r\nPING\r\n")
        refused = ""
        # A server that does not know the client says so, and closes the connection.
        while (line := self.line()) and line != "PONG":
            refused = line if line.startswith("-ERR") else refused
        assert refused, f"{command} is allowed"
        return refused

    def api(self, what, **members):
        """Asks JetStream; insists that it did what it was asked."""
        answer = json.loads(self.ask(f"$JS.API.{what}", json.dumps(members).encode()))
        assert "error" not in answer, f"{what}: {answer}"
        return answer

    def message(self, stream, sequence):
        """The header and the bytes of a message."""
        found = self.api(f"STREAM.MSG.GET.{stream}", seq=sequence)["message"]
        return base64.b64decode(found.get("hdrs", "")), base64.b64decode(found.get("data", ""))

    def copy(self, other, streams, change):
        """Makes the same streams at another server; `change` gets a stream's name, a sequence and the bytes, and gives those to store."""
        for stream in streams:
            facts = self.api(f"STREAM.INFO.{stream}")
            other.api(f"STREAM.CREATE.{stream}", **facts["config"])
            for sequence in range(1, facts["state"]["last_seq"] + 1):
                header, data = self.message(stream, sequence)
                stored = json.loads(other.ask(facts["config"]["subjects"][0], change(stream, sequence, data), header))
                assert stored["seq"] == sequence, stored

    def close(self):
        self.file.close()
        self.socket.close()


class NATSKey:
    """A key of a user of NATS (docs.nats.io, NKeys), made by OpenSSL; `file` has it as `nk -gen user -pubout` writes it."""

    def __init__(self, folder, name):
        self.private, self.file = f"{folder}/{name}.pem", f"{folder}/{name}.nk"
        self.openssl("genpkey", "-algorithm", "ed25519", "-out", self.private)
        # The seed and the public key are the last 32 bytes of their DER (RFC 8410).
        seed = self.openssl("pkey", "-in", self.private, "-outform", "DER")[-32:]
        public = self.openssl("pkey", "-in", self.private, "-pubout", "-outform", "DER")[-32:]
        user, seed_head = 20 << 3, 18 << 3
        self.public = self.text(bytes([user]) + public)
        with open(self.file, "w", encoding="ascii") as file:
            file.write(self.text(bytes([seed_head | user >> 5, (user & 31) << 3]) + seed) + "\n" + self.public + "\n")
        os.chmod(self.file, 0o600)

    def sign(self, nonce):
        with tempfile.NamedTemporaryFile() as file:
            file.write(nonce.encode())
            file.flush()
            signature = self.openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.private, "-in", file.name)
        return base64.urlsafe_b64encode(signature).rstrip(b"=").decode()

    @staticmethod
    def text(data):
        return base64.b32encode(data + binascii.crc_hqx(data, 0).to_bytes(2, "little")).rstrip(b"=").decode()

    @staticmethod
    def openssl(*arguments):
        return subprocess.run(["openssl", *arguments], check=True, capture_output=True).stdout
