# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The gateways and servers of a fault run, as processes that are killed, stopped and started again."""
import json, os, shutil, signal, subprocess, sys, time, urllib.error, urllib.request

from harness import BINARY, PATIENCE, ROOT, until

NATS = os.path.join(ROOT, ".venv/bin/nats-server")
HERE = os.path.dirname(os.path.abspath(__file__))
SERVERS, GATEWAYS = ("server-0", "server-1", "server-2"), ("gateway-0", "gateway-1", "gateway-2")


class Tools:
    """The small C programs of the run, compiled into its folder."""

    def __init__(self, folder):
        self.slow_sync, self.stepped_clock = f"{folder}/slow_sync", f"{folder}/stepped_clock.so"
        flags = ["cc", "-O2", "-Wall", "-Wextra", "-Werror"]
        subprocess.run([*flags, "-o", self.slow_sync, f"{HERE}/slow_sync.c"], check=True)
        subprocess.run([*flags, "-shared", "-fPIC", "-o", self.stepped_clock, f"{ROOT}/Benchmarks/stepped_clock.c"], check=True)


def write_number(path, number):
    """A number that a running program reads from its memory: eight bytes, in place."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.pwrite(file, int(number).to_bytes(8, sys.byteorder, signed=True), 0)
    os.close(file)


class Member:
    """A process at its place. Its log, and the files that steer its disk and clock, are not on its disk."""

    def __init__(self, place, tools, folder):
        self.place, self.tools = place, tools
        self.log = f"{folder}/{place.name}.log"
        self.delay_file, self.step_file = f"{folder}/{place.name}.delay", f"{folder}/{place.name}.step"
        write_number(self.delay_file, 0)
        write_number(self.step_file, 0)
        self.process = None
        #: Whether it should run: a process that has ended meanwhile ended by itself.
        self.is_wanted = False

    def start(self):
        """Starts it, unless another fault has started it again already."""
        if not self.is_wanted:
            self.launch()

    def popen(self, command, **settings):
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([*self.place.prefix, self.tools.slow_sync, self.delay_file, *command], stderr=log,
                                            stdin=subprocess.DEVNULL, **settings)
        self.is_wanted = True

    def signal(self, number):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self):
        self.is_wanted = False
        self.signal(signal.SIGKILL)
        if self.process:
            self.process.wait()

    def end(self):
        """Ends it by SIGTERM; gives its exit code."""
        self.is_wanted = False
        self.signal(signal.SIGTERM)
        return self.process.wait(max(PATIENCE, 120))

    def slow(self, milliseconds):
        write_number(self.delay_file, milliseconds * 1_000_000)

    def ended_by_itself(self):
        """Its exit code if it ended although it should run."""
        return self.process.poll() if self.is_wanted and self.process else None

    def last_lines(self, count=5):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()[-count:]


class Server(Member):
    def __init__(self, place, tools, folder, addresses):
        super().__init__(place, tools, folder)
        self.config, self.store = f"{folder}/{place.name}.conf", f"{place.folder}/store"
        routes = ", ".join(f'"nats://{address}:6222"' for address in addresses)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f'server_name: {place.name}\nlisten: "{place.address}:4222"\nmax_payload: 8MB\n'
                       f'jetstream {{ store_dir: "{self.store}", sync_interval: always }}\n'
                       f'cluster {{ name: faults, listen: "{place.address}:6222", routes: [{routes}] }}\n')

    def launch(self):
        self.popen([NATS, "-c", self.config], stdout=subprocess.DEVNULL)

    def lose_data(self):
        shutil.rmtree(self.store)


class Gateway(Member):
    def __init__(self, place, tools, folder, servers):
        super().__init__(place, tools, folder)
        self.data, self.keys = f"{place.folder}/data", f"{folder}/signing.keys"
        self.ready_file = f"{folder}/{place.name}.ready"
        self.http = f"{place.address}:7480"
        self.addresses = {name: f"tcp://{place.address}:{port}" for name, port in
                          (("notices", 7400), ("requests", 7401), ("broadcast", 7402))}
        self.command = [BINARY, "serve", "--data-dir", self.data, "--http", self.http]
        for name, address in self.addresses.items():
            self.command += [f"--{name}", address]
        for setting in (f"jetstream.servers={servers}", "jetstream.syncAlways=true", "allowUnencryptedRemote=true",
                        "listeners.headInterval=1s", "logLevel=info"):
            self.command += ["--set", setting]

    def launch(self):
        if os.path.exists(self.keys) and not os.path.exists(self.data):
            os.makedirs(self.data, mode=0o700)
            shutil.copy(self.keys, f"{self.data}/signing.keys")
        with open(self.ready_file, "w", encoding="utf-8") as ready:
            self.popen(self.command, stdout=ready, env={**os.environ, "LD_PRELOAD": self.tools.stepped_clock,
                                                        "CUECAST_CLOCK_STEP": self.step_file})

    def keep_keys(self):
        """All gateways sign with the keys of the first."""
        shutil.copy(f"{self.data}/signing.keys", self.keys)

    def lose_data(self):
        shutil.rmtree(self.data)

    def step_clock(self, seconds):
        write_number(self.step_file, seconds * 1_000_000_000)

    def has_started(self):
        with open(self.ready_file, encoding="utf-8") as file:
            return file.read().startswith("ready ")

    def open(self, path, timeout=max(PATIENCE, 120)):
        request = urllib.request.Request(f"http://{self.http}{path}")
        token = f"{self.data}/http-token"
        if os.path.exists(token):
            with open(token, encoding="ascii") as file:
                request.add_header("Authorization", f"Bearer {file.read().strip()}")
        return urllib.request.urlopen(request, timeout=timeout)

    def get(self, path, timeout=max(PATIENCE, 120)):
        with self.open(path, timeout) as answer:
            return json.load(answer)

    def readiness(self):
        """What is missing, and the alarms; `None`: no answer."""
        try:
            said = self.get("/readyz", 5)
        except urllib.error.HTTPError as error:
            with error:
                try:
                    said = json.load(error)
                except ValueError:
                    return None
        except (OSError, ValueError):
            return None
        return said["missing"], sorted(each["alarm"] for each in said["alarms"])

    def is_ready(self):
        if not self.has_started():
            return False
        found = self.readiness()
        return found is not None and not found[0]


class Cluster:
    """Three servers, the log that they keep, and three gateways on it."""

    def __init__(self, world, folder):
        tools = Tools(folder)
        places = [place for place in world.places if place.name in SERVERS]
        self.servers = [Server(place, tools, folder, [each.address for each in places]) for place in places]
        names = ",".join(f"nats://{place.address}:4222" for place in places)
        self.names_flags = ["--servers", names, "--set", "allowUnencryptedRemote=true"]
        self.gateways = [Gateway(place, tools, folder, names) for place in world.places if place.name in GATEWAYS]
        self.world = world

    @property
    def members(self):
        return self.servers + self.gateways

    def start(self):
        for server in self.servers:
            server.start()

        def made():
            done = subprocess.run([BINARY, "cluster", "init", *self.names_flags, "--replicas", str(len(SERVERS))], capture_output=True,
                                  text=True, timeout=max(PATIENCE, 60))
            assert done.returncode in (0, 69), f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
            return done.returncode == 0
        until("the log is made", made)
        first, *others = self.gateways
        first.start()
        self.until_ready([first])
        first.keep_keys()
        for gateway in others:
            gateway.start()
        self.until_ready(others)

    def until_ready(self, gateways):
        def ready():
            for gateway in gateways:
                code = gateway.ended_by_itself()
                assert code is None, f"{gateway.place.name} ended with {code}: {gateway.last_lines()}"
            return all(gateway.is_ready() for gateway in gateways)
        until(f"{', '.join(gateway.place.name for gateway in gateways)} are ready", ready)

    def status(self):
        """The state of the log; `None`: no answer."""
        done = subprocess.run([BINARY, "cluster", "status", *self.names_flags, "--json"], capture_output=True, text=True,
                              timeout=max(PATIENCE, 60))
        return json.loads(done.stdout) if done.returncode in (0, 1) else None

    def leader(self):
        """The server that leads a lane, if there is one."""
        names = [each.get("leader") for each in (self.status() or {"streams": []})["streams"]]
        return next((server for server in self.servers if server.place.name in names), None)

    def until_whole(self):
        """Every server has every record."""
        def whole():
            found = self.status()
            return found is not None and not found["faults"]
        until("every copy of the log is current", whole)

    def until_led_by(self, names):
        """Both lanes have a leader among these servers, which have every record."""
        def led():
            streams = (self.status() or {"streams": []})["streams"]
            return len(streams) > 1 and all(
                each.get("leader") in names and all(copy["current"] for copy in each["copies"] if copy["server"] in names)
                for each in streams)
        until(f"{names} lead the log", led)

    def close(self):
        for member in self.members:
            member.kill()
