# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Where the gateways and servers of a fault run stand: each in a network namespace of its own, with a disk of its own.

The run has namespaces of its own for networks, mounts and processes. When it ends, however it ends, the kernel ends every process in
them and takes the networks and disks away, so that nothing of a run is left but its folder. Two runs never meet.
"""
import ctypes, errno, os, random, signal, subprocess, sys

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x10000000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG = 1
DISK_MIB = 256
libc = ctypes.CDLL(None, use_errno=True)
# Where Debian has what makes networks; users may not have it on their path.
os.environ["PATH"] += ":/usr/sbin:/sbin"


class NoNamespaces(Exception):
    """The system does not give this user what the run needs; the text says what."""


def run(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise NoNamespaces(f"{error.filename} is not installed") from error
    if done.returncode != 0:
        raise NoNamespaces(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def unshare(flags):
    if libc.unshare(flags) != 0:
        error = ctypes.get_errno()
        raise NoNamespaces(f"namespaces of its own: {os.strerror(error)}")


def alone(prepare, body):
    """Runs `body` with what `prepare` gives in namespaces of its own, as their first process; gives its exit code.

    Raises NoNamespaces where they, or what `prepare` makes in them, cannot be had; then `body` has not run.

    SIGINT and SIGTERM go to it. If this process is killed, all of them are.
    """
    reading, writing = os.pipe()
    parent = os.fork()
    if parent == 0:  # It unshares, and only its children are in the new namespace of processes.
        os.close(reading)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        try:
            user, group = os.geteuid(), os.getegid()
            unshare((CLONE_NEWUSER if user else 0) | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET)
            if user:
                for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
                    with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                        file.write(text)
            child = os.fork()
        except (NoNamespaces, OSError) as error:
            os.write(writing, str(error).encode())
            os._exit(69)
        if child == 0:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            code = 70
            try:
                try:
                    run("mount", "--make-rprivate", "/")
                    run("mount", "-t", "proc", "proc", "/proc")
                    os.makedirs("/run/netns", exist_ok=True)
                    run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
                    prepared = prepare()
                except (NoNamespaces, OSError) as error:
                    os.write(writing, str(error).encode())
                    os._exit(69)
                os.close(writing)
                code = body(prepared)
            except KeyboardInterrupt:
                code = 130
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
            except BaseException:  # noqa: BLE001 - it is the process's end
                sys.excepthook(*sys.exc_info())
                code = 1
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        os.close(writing)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: os.kill(child, number))
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) % 256)
    os.close(writing)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.kill(parent, number))
    with os.fdopen(reading, "rb") as pipe:
        complaint = pipe.read().decode()
    _, status = os.waitpid(parent, 0)
    if complaint:
        raise NoNamespaces(complaint)
    return os.waitstatus_to_exitcode(status)


class Place:
    """Where one process and its disk are: an address, what a command begins with to run there, and a folder."""

    def __init__(self, name, address, prefix, folder):
        self.name, self.address, self.prefix, self.folder = name, address, prefix, folder


class Loopback:
    """All places are addresses of this machine's own network: for faults of processes only."""

    has_network, has_disks, has_delays = False, False, False

    def __init__(self, folder, names):
        base = f"127.{random.SystemRandom().randrange(1, 250)}.{random.SystemRandom().randrange(250)}"
        self.places = [Place(name, f"{base}.{number}", [], f"{folder}/{name}") for number, name in enumerate(names, 11)]
        for place in self.places:
            os.makedirs(place.folder)

    def heal(self):
        pass


class Network:
    """A bridge in the run's own namespace, where its clients are, and a namespace behind it for each place."""

    has_network, has_disks = True, True
    OWN = "10.77.0.1"

    def __init__(self, folder, names):
        self.folder = folder
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "address", "add", f"{self.OWN}/24", "dev", "bridge")
        run("ip", "link", "set", "bridge", "up")
        self.places = [self.place(name, number) for number, name in enumerate(names, 11)]
        try:
            self.delay(self.places[0], 1)
            self.has_delays = True
        except NoNamespaces:
            self.has_delays = False  # Not every kernel is built with delays.
        self.heal()

    def place(self, name, number):
        folder, address, inside = f"{self.folder}/{name}", f"10.77.0.{number}", ["ip", "-n", name]
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "net", "netns", name)
        run("ip", "link", "set", f"to-{name}", "master", "bridge")
        run("ip", "link", "set", f"to-{name}", "up")
        run(*inside, "address", "add", f"{address}/24", "dev", "net")
        for link in ("lo", "net"):
            run(*inside, "link", "set", link, "up")
        os.makedirs(folder)
        run("mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", folder)
        place = Place(name, address, ["nsenter", f"--net=/run/netns/{name}"], folder)
        self.nft(place, "add table ip faults; add chain ip faults in { type filter hook input priority 0; }; "
                        "add chain ip faults out { type filter hook output priority 0; }")
        return place

    def nft(self, place, commands):
        run(*place.prefix, "nft", commands)

    def cut(self, source, place):
        """Nothing that `source` sends arrives at `place`; `None` is the clients."""
        self.nft(place, f"add rule ip faults in ip saddr {source.address if source else self.OWN} drop")

    def silence(self, place):
        """Nothing that `place` sends to the clients arrives, and what they send arrives there."""
        self.nft(place, f"add rule ip faults out ip daddr {self.OWN} drop")

    def lose(self, place, percent):
        """So many of a hundred packets to `place` are lost."""
        self.nft(place, f"add rule ip faults in iifname net numgen random mod 100 < {percent} drop")

    def delay(self, place, milliseconds):
        """What `place` sends is late."""
        run(*place.prefix, "tc", "qdisc", "replace", "dev", "net", "root", "netem", "delay", f"{milliseconds}ms", f"{milliseconds // 2}ms")

    def narrow(self, place, kilobits):
        """What `place` sends goes through a line of so many kbit/s, which waits half a second before it drops."""
        run(*place.prefix, "tc", "qdisc", "replace", "dev", "net", "root", "tbf", "rate", f"{kilobits}kbit", "burst", "4kb",
            "latency", "500ms")

    def undelay(self, place):
        subprocess.run([*place.prefix, "tc", "qdisc", "delete", "dev", "net", "root"], capture_output=True)

    def heal(self):
        for place in self.places:
            self.nft(place, "flush table ip faults")
            self.undelay(place)


class Disk:
    """The file system of a place."""

    def __init__(self, place):
        self.filler = f"{place.folder}/filler"

    def fill(self):
        """Leaves no room on it."""
        with open(self.filler, "wb", buffering=0) as file:
            for size in (1 << 20, 4_096):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

    def free(self):
        if os.path.exists(self.filler):
            os.unlink(self.filler)
