# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Servers of NATS as processes, alone or as a cluster, that a test kills and starts again; and a client that speaks with one."""
import base64, json, os, shutil, signal, socket, subprocess, tempfile

from harness import PATIENCE, ROOT, HeldPort

PROGRAM = os.path.join(ROOT, ".venv/bin/nats-server")


class NATSServers:
    """They keep their ports and their folders when they are started again, and end with `close`."""

    def __init__(self, count=3):
        assert os.access(PROGRAM, os.X_OK), f"there is no {PROGRAM}: scripts/setup.sh test installs it"
        self.folder = tempfile.mkdtemp(prefix="cuecast-nats.")
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
                 f'jetstream {{ store_dir: "{self.store(place)}", sync_interval: always }}']
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

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=PATIENCE)
        self.file = self.socket.makefile("rb")
        self.asked = 0
        assert self.line().startswith("INFO "), "no server of NATS"
        self.write(b'CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"lang":"tests","version":"1"}\r\n')

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
