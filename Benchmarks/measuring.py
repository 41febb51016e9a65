# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""What the measurements share: a gateway of their own in a temporary folder, and a broadcaster."""
import contextlib, ctypes, os, re, shutil, signal, sqlite3, subprocess, sys, tempfile, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

#: After so many seconds something hangs. A machine that is busy takes longer than any that is not, and that is no fault.
HANGS_AFTER_SECONDS = 1_800


class MeasurementError(Exception):
    """Why something could not be measured, as a sentence."""


def wire():
    """The modules generated from proto/, made anew in a temporary folder."""
    folder = tempfile.mkdtemp(prefix="cuecast-proto.")
    protos = os.path.join(ROOT, "proto")
    names = [os.path.join("cuecast/v1", name) for name in os.listdir(os.path.join(protos, "cuecast/v1"))]
    subprocess.run(["protoc", f"-I{protos}", f"--python_out={folder}", *names], cwd=protos, check=True)
    sys.path.insert(0, folder)
    from cuecast.v1 import advertisement_pb2, broadcast_pb2, listener_pb2, notice_pb2, status_pb2
    shutil.rmtree(folder)
    return advertisement_pb2, broadcast_pb2, listener_pb2, notice_pb2, status_pb2


def fields(line):
    """What a server says when it is ready, `ready name=value …`, as a dictionary; {} when it says something else."""
    words = line.split()
    return dict(pair.split("=", 1) for pair in words[1:] if "=" in pair) if words[:1] == ["ready"] else {}


@contextlib.contextmanager
def server(command, name, prefix=(), **settings):
    """Runs a server that prints a `ready` line; gives its process and its addresses, and ends it by SIGTERM."""
    process = subprocess.Popen([*prefix, *command], stdout=subprocess.PIPE, text=True, **settings)
    try:
        addresses = fields(process.stdout.readline())
        if not addresses:
            words = " ".join(map(str, command))
            raise MeasurementError(f"{name} did not start: {words}")
        yield process, addresses
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(HANGS_AFTER_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


@contextlib.contextmanager
def gateway(binary, *arguments, prefix=(), data=None):
    """Runs a gateway on ports that the system chooses; gives its process and its addresses.

    `data` is its folder; without it a temporary one that is removed.
    """
    # Not in /tmp, which is in memory on some machines: what is durable must really be.
    os.makedirs(os.path.join(ROOT, ".build"), exist_ok=True)
    folder = tempfile.mkdtemp(prefix="bench-data.", dir=os.path.join(ROOT, ".build")) if data is None else None
    try:
        command = [binary, "serve", "--data-dir", data or folder + "/data", "--notices", "tcp://127.0.0.1:*",
                   "--requests", "tcp://127.0.0.1:*", "--broadcast", "tcp://127.0.0.1:*", "--http", "127.0.0.1:0",
                   "--set", "logLevel=warning", *arguments]
        with server(command, "the gateway", prefix) as running:
            yield running
    finally:
        if folder:
            shutil.rmtree(folder)


def certificate(folder):
    """Makes a certificate for 127.0.0.1, signed by itself, with an elliptic key; gives the files of both."""
    found, key = os.path.join(folder, "certificate.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=gateway", "-addext", "subjectAltName=IP:127.0.0.1", "-out", found, "-keyout", key],
                   check=True, capture_output=True)
    return found, key


def metrics(addresses):
    """The gateway's metrics: name with labels → value."""
    with urllib.request.urlopen(f"http://{addresses['http']}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if line and line[0] != "#"}


def process_facts(pid):
    """CPU seconds and resident KiB of a process."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(") ", 1)[1].split()
    with open(f"/proc/{pid}/status") as status:
        resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), resident


def children(pid):
    """The processes that a process has started."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def cpu_seconds(pid):
    """User and system time so far of a process, all its threads together, and of its children."""
    return sum(process_facts(each)[0] for each in [pid, *children(pid)])


def resident_kib(pid):
    """Resident KiB of a process, counted page by page."""
    with open(f"/proc/{pid}/smaps_rollup") as rollup:
        return next(int(line.split()[1]) for line in rollup if line.startswith("Rss:"))


def stored_bytes(path):
    """What is in a store's file, without pages that are free."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
        size, pages, free = (store.execute(f"PRAGMA {name}").fetchone()[0]
                             for name in ("page_size", "page_count", "freelist_count"))
    store.close()
    return size * (pages - free)


def descriptors(pid):
    """How many descriptors a process has open.

    Linux tells it as the folder's size since 6.2. Listing thousands of them takes 5 to 17 ms of the kernel's time, which the measured program
    would pay for.
    """
    folder = f"/proc/{pid}/fd"
    return os.stat(folder).st_size or len(os.listdir(folder))


def libzmq_version():
    try:
        library = ctypes.CDLL("libzmq.so.5")
    except OSError:
        return "?"
    numbers = [ctypes.c_int() for _ in range(3)]
    library.zmq_version(*map(ctypes.byref, numbers))
    return ".".join(str(number.value) for number in numbers)


def machine_facts():
    """Where this was measured: name → text."""
    with open("/proc/cpuinfo") as info:
        text = info.read()
    model = re.search(r"^model name\s*: (.*)$", text, re.M)
    with open("/proc/meminfo") as info:
        memory = int(re.search(r"^MemTotal:\s*(\d+)", info.read(), re.M)[1])
    return {
        "cpu": model[1].strip() if model else "?",
        "cores": os.cpu_count(),
        "virtual": "hypervisor" in text,
        "memory_gib": round(memory / 1048576, 1),
        "kernel": os.uname().release,
        "libzmq": libzmq_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def machine():
    """One line about where this was measured."""
    facts = machine_facts()
    return (f"{facts['cores']} cores of {facts['cpu']}{' (virtual machine)' if facts['virtual'] else ''}, "
            f"{facts['memory_gib']} GiB, Linux {facts['kernel']}, libzmq {facts['libzmq']}, SQLite {facts['sqlite']}")


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
