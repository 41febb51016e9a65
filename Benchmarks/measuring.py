# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""What the measurements share: a gateway of their own in a temporary folder, and a broadcaster."""
import contextlib, os, shutil, signal, subprocess, sys, tempfile, urllib.request

import zmq

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


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


@contextlib.contextmanager
def gateway(binary, *arguments):
    """Runs a gateway on ports that the system chooses; gives its process and its addresses."""
    folder = tempfile.mkdtemp(prefix="cuecast-bench.")
    process = subprocess.Popen(
        [binary, "serve", "--data-dir", folder + "/data", "--notices", "tcp://127.0.0.1:*", "--requests",
         "tcp://127.0.0.1:*", "--broadcast", "tcp://127.0.0.1:*", "--http", "127.0.0.1:0", "--set",
         "logLevel=warning", *arguments],
        stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line.startswith("ready "):
            raise SystemExit("the gateway did not start")
        yield process, dict(pair.split("=", 1) for pair in line.split()[1:])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        shutil.rmtree(folder)


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


def machine():
    """One line about where this was measured."""
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "?")
    return f"{os.cpu_count()} cores of {model}, Linux {os.uname().release}, libzmq {zmq.zmq_version()}"


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
