#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""How long a gateway on a shared log takes to be ready: after SIGKILL, after a stop, and on an empty directory.

    Benchmarks/shared_starts.py --binary .build/release/cuecast --records 1000000 --breaks 100000

The log is on one server of NATS in this machine. It is filled with records as a gateway writes them: breaks of many streams
that are over, and acknowledgements, one request each. A gateway counts them; then starts are timed. Ready is the line `ready`.
Needs what the tests need (scripts/setup.sh test), and disk space for about 300 bytes a record, twice.
"""
import argparse, json, os, shutil, signal, subprocess, sys, tempfile, time, urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Tests/EndToEnd"))

import measuring

#: How many publications wait for the server's answer at a time, while the log is filled.
WINDOW = 1_000
#: Breaks of one record of the log.
GROUP = 250
STREAMS = 1_000
#: A break lasts 10 s, and the next one of its stream begins a minute later.
EVERY_US, LASTS_MS = 60_000_000, 10_000
SESSIONS = 5_000


class Filling:
    """Writes records to the streams of a log, many at a time."""

    def __init__(self, client):
        self.client = client
        self.waiting = 0
        client.write(b"SUB _INBOX.fill 1\r\n")

    def add(self, subject, record):
        self.client.write(f"PUB {subject} _INBOX.fill {len(record)}\r\n".encode() + record + b"\r\n")
        self.waiting += 1
        while self.waiting >= WINDOW:
            self.answer()

    def answer(self):
        line = self.client.line()
        if line == "PING":
            return self.client.write(b"PONG\r\n")
        if not line.startswith("MSG "):
            raise measuring.MeasurementError(f"the server says {line!r}")
        answer = json.loads(self.client.file.read(int(line.split()[-1]) + 2))
        if "error" in answer:
            raise measuring.MeasurementError(f"a record was not stored: {answer}")
        self.waiting -= 1

    def end(self):
        while self.waiting:
            self.answer()


def break_groups(count, now_us):
    """Records with breaks that are over; gives the numbers of the breaks by and by."""
    from cuecast.v1 import advertisement_pb2, broadcast_pb2, log_pb2
    ads = [advertisement_pb2.Advertisement(id=f"spot-{place}", title=f"Spot {place}", duration_ms=LASTS_MS // 2,
                                           media=[advertisement_pb2.MediaFile(url=f"https://ads.example/spot-{place}.mp3", type="audio/mpeg")])
           for place in range(2)]
    rounds = -(-count // STREAMS)
    first = now_us - (rounds + 5) * EVERY_US
    made = 0
    while made < count:
        group = log_pb2.BreakGroup()
        while made < count and len(group.entries) < GROUP:
            start = first + made // STREAMS * EVERY_US + made % STREAMS * 1_000
            publish = broadcast_pb2.Publish(stream=f"radio-{made % STREAMS}", break_id=f"break-{made // STREAMS}", advertisements=ads,
                                            start=broadcast_pb2.Start(at_us=start), duration_ms=LASTS_MS)
            group.entries.append(log_pb2.BreakEntry(
                at_us=start - 8_000_000, broadcaster="studio",
                publish=log_pb2.PublishEntry(publish=publish, start_us=start, announce_us=start - 8_000_000, safety_duration_ms=300_000)))
            made += 1
        yield group.SerializeToString()


def acknowledgements(count, breaks, now_us, before):
    """Records with one request each: a session played both ads of a break. `before` is how many records the breaks follow."""
    from cuecast.v1 import listener_pb2, log_pb2
    played = [listener_pb2.Outcome(advertisement_id=f"spot-{place}", kind=listener_pb2.OUTCOME_KIND_PLAYED, heard_ms=LASTS_MS // 2, evidence=listener_pb2.EVIDENCE_REPORTED,
                                   quartiles=4, occurred_us=now_us) for place in range(2)]
    for each in range(count):
        which = each // SESSIONS * 7_919 % breaks
        session = (each % SESSIONS + each // SESSIONS * SESSIONS * 1_000_003).to_bytes(16, "big")
        request = listener_pb2.Request(request_id=1, session=session, acknowledge=listener_pb2.Acknowledge(
            stream=f"radio-{which % STREAMS}", break_id=f"break-{which // STREAMS}", outcomes=played))
        number = (before + which // GROUP + 1) * 1_024 + which % GROUP
        group = log_pb2.AcknowledgementGroup(requests=[log_pb2.AcceptedRequest(
            request=request.SerializeToString(), received_us=now_us, break_number=number, ordinals=[0, 1])])
        yield group.SerializeToString()


class Started:
    """A gateway that was started, and how long it took to be ready."""

    def __init__(self, binary, servers, folder):
        began = time.monotonic()
        self.log = open(os.path.join(os.path.dirname(folder), "messages"), "a", encoding="utf-8")
        self.process = subprocess.Popen(
            [binary, "serve", "--data-dir", folder, "--notices", "tcp://127.0.0.1:*", "--requests", "tcp://127.0.0.1:*",
             "--broadcast", "tcp://127.0.0.1:*", "--http", "127.0.0.1:0", "--set", f"jetstream.servers={servers}",
             "--set", "jetstream.syncAlways=true"], stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        self.took = time.monotonic() - began
        self.addresses = measuring.fields(line)
        if not self.addresses:
            raise measuring.MeasurementError(f"the gateway did not start: {line!r}")

    def until(self, what, condition):
        began = time.monotonic()
        while not condition(self.state()):
            if time.monotonic() - began > measuring.HANGS_AFTER_SECONDS:
                raise measuring.MeasurementError(f"waited in vain: {what}")
            time.sleep(0.25)
        return time.monotonic() - began

    def state(self):
        """How many records of each lane are counted, the alarms, and the breaks of the first stream."""
        with urllib.request.urlopen(f"http://{self.addresses['http']}/v1/reports?limit=1", timeout=120) as answer:
            report = json.load(answer)
        request = urllib.request.Request(f"http://{self.addresses['http']}/readyz")
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                ready = json.load(answer)
        except urllib.error.HTTPError as error:
            ready = json.load(error)
        return report, [each["alarm"] for each in ready["alarms"]]

    def is_counted(self, state):
        return all(lane["offset"] == lane.get("head") for lane in state[0]["lanes"].values())

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(measuring.HANGS_AFTER_SECONDS)
        self.process.stdout.close()
        self.log.close()
        return code


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(measuring.ROOT, ".build/release/cuecast"))
    parser.add_argument("--records", type=int, default=1_000_000, help="records of acknowledgements")
    parser.add_argument("--breaks", type=int, default=100_000, help="breaks that are kept")
    parser.add_argument("--tail", type=int, default=1_000, help="records that come while the gateway is down")
    parser.add_argument("--wait", type=int, default=90, help="how many seconds the first gateway runs on before it is killed")
    parser.add_argument("--keep", action="store_true", help="leave the folder, and say where")
    options = parser.parse_args()
    from nats import NATSClient, NATSServers
    print(measuring.machine(), flush=True)
    os.makedirs(os.path.join(measuring.ROOT, ".build"), exist_ok=True)
    folder = tempfile.mkdtemp(prefix="bench-shared.", dir=os.path.join(measuring.ROOT, ".build"))
    servers = NATSServers(1, folder=folder + "/servers", sync="10s")
    try:
        measure(options, servers, NATSClient, folder)
    finally:
        servers.close()
        if options.keep:
            print(f"kept {folder}")
        else:
            shutil.rmtree(folder)


def measure(options, servers, NATSClient, folder):
    def said(what, seconds):
        print(f"{what:<60} {seconds:8.2f} s", flush=True)

    while subprocess.run([options.binary, "cluster", "init", "--servers", servers.addresses, "--replicas", "1"],
                         capture_output=True, text=True).returncode == 69:
        time.sleep(0.1)
    # Signing keys are made only where nobody has signed.
    os.makedirs(folder + "/keys")
    Started(options.binary, servers.addresses, folder + "/keys/data").end()
    for name in ("one", "two"):
        os.makedirs(f"{folder}/{name}/data", mode=0o700)
        shutil.copy(folder + "/keys/data/signing.keys", f"{folder}/{name}/data/signing.keys")
    filling = Filling(NATSClient(servers.addresses.removeprefix("nats://")))
    before = NATSClient(servers.addresses.removeprefix("nats://")).api("STREAM.INFO.cuecast-breaks")["state"]["last_seq"] - 1
    now_us = time.time_ns() // 1_000
    began = time.monotonic()
    for record in break_groups(options.breaks, now_us):
        filling.add("cuecast.log.breaks", record)
    for record in acknowledgements(options.records, options.breaks, now_us, before):
        filling.add("cuecast.log.acknowledgements.0", record)
    filling.end()
    said(f"filled: {options.records} records, {options.breaks} breaks", time.monotonic() - began)
    data = folder + "/one/data"
    gateway = Started(options.binary, servers.addresses, data)
    said("ready on an empty directory, the whole log", gateway.took)
    said("  then: everything is counted", gateway.until("everything is counted", gateway.is_counted))
    # A copy of the ledger, and a snapshot of the board.
    time.sleep(options.wait)
    gateway.end(signal.SIGKILL)
    for record in acknowledgements(options.tail, options.breaks, now_us + 1_000_000, before):
        filling.add("cuecast.log.acknowledgements.0", record)
    filling.end()
    gateway = Started(options.binary, servers.addresses, data)
    said("ready after SIGKILL", gateway.took)
    said("  then: everything is counted", gateway.until("everything is counted", gateway.is_counted))
    said("  then: the ledger is checked", gateway.until("the check", lambda state: "ledger" not in state[1]))
    gateway.end()
    gateway = Started(options.binary, servers.addresses, data)
    said("ready after a stop", gateway.took)
    gateway.end()
    gateway = Started(options.binary, servers.addresses, folder + "/two/data")
    said("ready on an empty directory, with what gateways left", gateway.took)
    said("  then: everything is counted", gateway.until("everything is counted", gateway.is_counted))
    gateway.end()


if __name__ == "__main__":
    main()
