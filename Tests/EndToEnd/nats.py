# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Servers of NATS as processes, alone or as a cluster, that a test kills and starts again."""
import os, shutil, signal, subprocess, tempfile

from harness import ROOT, HeldPort

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
