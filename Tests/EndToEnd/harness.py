# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""What the end-to-end and crash tests share: the real binary as a process, and listeners on stock pyzmq."""
import atexit, json, os, shutil, signal, socket, ssl, subprocess, sys, tempfile, time, urllib.error, urllib.request

import zmq

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("CUECAST_BIN", os.path.join(ROOT, ".build/debug/cuecast"))
#: How long a test waits for a condition, an answer or the end of a process before it fails, in seconds. The scripts that run many
#: tests at once set half an hour, since a busy machine must fail no test (scripts/lib.sh, be_patient).
PATIENCE = float(os.environ.get("CUECAST_TEST_PATIENCE", "20"))
#: The same for a command that works for long, such as the load tool.
RUN_PATIENCE = max(PATIENCE, 600)


def generate(folder):
    """Generates the Python code of the wire contract into a folder."""
    protos = os.path.join(ROOT, "proto")
    names = [os.path.join("cuecast/v1", name) for name in sorted(os.listdir(os.path.join(protos, "cuecast/v1")))]
    subprocess.run(["protoc", f"-I{protos}", f"--python_out={folder}", *names], cwd=protos, check=True)


#: The folder of the generated code: that of the process which starts this one, else one of its own.
GENERATED = os.environ.get("CUECAST_TEST_GENERATED")
if not GENERATED:
    GENERATED = tempfile.mkdtemp(prefix="cuecast-proto.")
    atexit.register(shutil.rmtree, GENERATED, ignore_errors=True)
    generate(GENERATED)
sys.path.insert(0, GENERATED)
from cuecast.v1 import advertisement_pb2, broadcast_pb2, listener_pb2, notice_pb2, status_pb2  # noqa: E402


def whole_lines(messages):
    """All whole lines of a file that a gateway writes to; the last one may be half written while it runs."""
    # Opened again: the gateway's writes move the place at which a file that is shared with it is read.
    with open(f"/proc/self/fd/{messages.fileno()}", encoding="utf-8") as file:
        said = file.read()
    return said[:said.rfind("\n") + 1]


def until(what, condition, lasting=0):
    """Waits for a condition; fails with its name. It is checked less and less often, since a check computes, too.

    `lasting` is the time in seconds that passes even on an idle machine, such as the duration of an ad.
    """
    deadline, pause = time.monotonic() + PATIENCE + lasting, 0.02
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)
    return value


def slower_until(run, kept_up):
    """What `run` gives for the first factor of time with which the machine kept up, else for the last: for what needs a pace.

    Only ever for that: whether something was lost or wrong is no matter of pace, and `kept_up` must not look at it.
    """
    for factor in (1, 4, 16, 64):
        result = run(factor)
        if kept_up(result):
            break
    return result


#: How commands say that they have given a gateway up, which has 10 s over HTTP and 15 s over ZeroMQ.
GIVEN_UP = ("it has said nothing for", "did not reply within", "no connection was made in time")


def run_patiently(command, code, **settings):
    """Runs a command that should end with a code, or with any (`None`). Where it has given the gateway up instead it is run once
    more: a busy machine may take longer."""
    deadline = time.monotonic() + PATIENCE
    while True:
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_PATIENCE, **settings)
        if code is None or done.returncode in (0, code) or not any(text in done.stderr for text in GIVEN_UP) or time.monotonic() > deadline:
            return done


#: How long a gateway waits for a handshake, and for the next request on a connection over HTTP, in seconds.
IDLE_SECONDS = 10


def shaken_hands(connect):
    """A connection by TLS; once more where this machine was slower than the gateway waits for a handshake."""
    while True:
        began = time.monotonic()
        try:
            return connect()
        except (ConnectionError, ssl.SSLError) as error:
            if isinstance(error, ssl.SSLCertVerificationError) or time.monotonic() - began < IDLE_SECONDS:
                raise


class HeldPort:
    """A TCP port that is reserved until it is closed, also between two servers that listen there.

    The socket is bound and never listens; who sets SO_REUSEADDR, as the gateway does, may listen there meanwhile.
    (socket(7) of Linux)
    """

    def __init__(self):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"

    def close(self):
        self.socket.close()


class Gateway:
    """A gateway process. It keeps its ports and its folder over a restart."""

    #: The program that the next start runs.
    binary = BINARY

    def __init__(self, *arguments):
        self.folder = tempfile.mkdtemp(prefix="cuecast-e2e.")
        # A listener of a test asks for nothing while the test does something else, and listens on.
        self.arguments = ["--set", "listeners.lease=1d", *arguments]
        self.ports = {name: HeldPort() for name in ("notices", "requests", "broadcast", "http")}
        self.addresses = {name: ("" if name == "http" else "tcp://") + port.address for name, port in self.ports.items()}
        self.process = None
        self.start()

    def start(self):
        flags = [flag for name in ("notices", "requests", "broadcast", "http")
                 for flag in ("--" + name, self.addresses[name])]
        self.process = subprocess.Popen(
            [self.binary, "serve", "--data-dir", self.folder + "/data", *flags, "--set", "logLevel=error", *self.arguments],
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("ready "), f"the gateway did not start: {line!r}"
        self.addresses = dict(pair.split("=", 1) for pair in line.split()[1:])

    def stop(self, number=signal.SIGTERM):
        """Ends the gateway; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(RUN_PATIENCE)  # It drains before it ends.
        if not self.process.stdout.closed:
            self.process.stdout.close()
            self.verify()
        return code

    def verify(self):
        """Counts the log anew and insists that the ledger says the same; the books are not written to.

        Where a session was being forgotten, it may have its old names in a part of them, until the next start.
        """
        pending = os.path.exists(self.folder + "/data/forgetting.pending")
        done = subprocess.run([BINARY, "verify", "--json", "--data-dir", self.folder + "/data"], capture_output=True,
                              text=True)
        if pending and done.returncode == 69 and "being forgotten" in done.stderr:
            return
        assert done.returncode == 0, f"verify: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        found = json.loads(done.stdout)
        assert found["right"] and found["differenceCount"] == 0, found

    def close(self):
        self.stop(signal.SIGKILL)
        for port in self.ports.values():
            port.close()
        shutil.rmtree(self.folder)

    @property
    def environment(self):
        return {**os.environ, **{f"CUECAST_{name.upper()}": self.addresses[name]
                                 for name in ("notices", "requests", "broadcast", "http")}}

    def run(self, *arguments, code=0):
        """Runs a command against this gateway, insists on its exit code, and gives what it printed."""
        done = run_patiently([BINARY, *arguments], code, env=self.environment)
        assert done.returncode == code, f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout if code == 0 else done.stderr

    def until_begun(self, stream, break_id):
        """Waits until a break has begun by the gateway's clock. That of a player who plays it may be ahead by the bound that
        the player knows."""
        until("the break has begun at the gateway", lambda: any(
            each["break"] == break_id and each["state"] not in ("cued", "scheduled", "announced")
            for each in self.get(f"/v1/breaks?stream={stream}")["breaks"]))

    def end(self, stream, break_id):
        """Ends a break that a player plays, once it has begun at the gateway, too."""
        self.until_begun(stream, break_id)
        self.run("end", "--stream", stream, "--break", break_id)

    def listen(self, stream, *arguments):
        """Starts a player on the client library that prints JSON, and waits for the gateway where that is away."""
        return Player(subprocess.Popen(
            [BINARY, "listen", "--stream", stream, "--json", "--wait", *arguments], env=self.environment,
            stdout=subprocess.PIPE, text=True))

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.addresses['http']}{path}", timeout=PATIENCE) as answer:
            return json.load(answer)

    def metric(self, name):
        with urllib.request.urlopen(f"http://{self.addresses['http']}/metrics", timeout=PATIENCE) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith(name + " "):
                    return float(line.split()[-1])
        return None

    def report(self, stream, break_id):
        """The counts of a break by ad, once the ledger has read the whole log; insists that the books balance."""
        def settled():
            try:
                report = self.get(f"/v1/reports?stream={stream}&break={break_id}")
            except urllib.error.URLError:
                return None
            ready = report["breaks"] and all(lane["offset"] == lane.get("head") for lane in report["lanes"].values())
            return report if ready else None
        report = until("the ledger has read the log", settled)
        assert report["balanced"], report
        return {ad["id"]: ad["counts"] for ad in report["breaks"][0]["ads"]}


class LoggedGateway(Gateway):
    """A gateway whose messages are kept."""

    def __init__(self, folder, *arguments):
        self.log = os.path.join(folder, "messages")
        super().__init__("--set", "logLevel=info", *arguments)

    def start(self):
        flags = [flag for name in ("notices", "requests", "broadcast", "http")
                 for flag in ("--" + name, self.addresses[name])]
        with open(self.log, "a") as log:
            self.process = subprocess.Popen([self.binary, "serve", "--data-dir", self.folder + "/data", *flags, *self.arguments],
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("ready "), f"the gateway did not start: {line!r}"
        self.addresses = dict(pair.split("=", 1) for pair in line.split()[1:])

    def messages(self):
        """What it said so far, in whole lines."""
        with open(self.log) as file:
            said = file.read()
        # Half a line is for the next look.
        return said[:said.rfind("\n") + 1]

    def hang_up(self, expected):
        """Has the files read again, and waits for what is said then. Lines about a reload that was asked for otherwise may come
        only now, and say the same."""
        before = len(self.messages())
        self.process.send_signal(signal.SIGHUP)
        return until(expected, lambda: (said := self.messages()[before:]) and expected in said and "SIGHUP" in said and said)

    def until_said(self, text):
        """Waits until it has said something: a line may come a moment after the answer to the request that it is about."""
        return until(f"it says {text!r}", lambda: text in (said := self.messages()) and said)


class Player:
    """A `cuecast listen` process and the events that it has printed."""

    def __init__(self, process):
        self.process = process
        self.events = []

    def wait_for(self, name, **fields):
        """Reads until an event of this name with these fields."""
        for event in self.events:
            if event["event"] == name and all(event.get(key) == value for key, value in fields.items()):
                return event
        for line in self.process.stdout:
            event = json.loads(line)
            self.events.append(event)
            if event["event"] == name and all(event.get(key) == value for key, value in fields.items()):
                return event
        raise AssertionError(f"the player ended before {name} {fields}: {self.events}")

    def finish(self):
        self.events += [json.loads(line) for line in self.process.stdout]
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        return code

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def ad(name, milliseconds=1_000):
    return advertisement_pb2.Advertisement(
        id=name, title=f"Ad {name}", duration_ms=milliseconds,
        media=[advertisement_pb2.MediaFile(url=f"https://cdn.example.com/{name}.mp3", type="audio/mpeg")])


class Requester:
    """A REQ socket with a time-out.

    It connects with its first request: the gateway ends a connection that has brought none for some time, and what is asked
    on it in that moment is lost.
    """

    def __init__(self, endpoint, timeout=PATIENCE):
        self.socket = zmq.Context.instance().socket(zmq.REQ)
        self.socket.linger, self.socket.rcvtimeo = 0, int(timeout * 1_000)
        self.endpoint, self.is_connected = endpoint, False
        self.counter = 0

    def send(self, frame):
        if not self.is_connected:
            self.socket.connect(self.endpoint)
            self.is_connected = True
        self.socket.send(frame)

    def exchange(self, frame):
        self.send(frame)
        return self.socket.recv()

    def close(self):
        self.socket.close()


class Broadcaster(Requester):
    def __init__(self, gateway, timeout=PATIENCE):
        super().__init__(gateway.addresses["broadcast"], timeout)

    def ask(self, **kind):
        self.counter += 1
        reply = broadcast_pb2.BroadcastReply.FromString(
            self.exchange(broadcast_pb2.BroadcastRequest(request_id=self.counter, **kind).SerializeToString()))
        assert reply.request_id == self.counter
        return reply

    def publish(self, stream, break_id, ads, **fields):
        return self.ask(publish=broadcast_pb2.Publish(stream=stream, break_id=break_id, advertisements=ads, **fields))


class Listener(Requester):
    """A listener on stock libraries that follows positions as the contract says."""

    def __init__(self, gateway, stream, session=None, timeout=PATIENCE):
        super().__init__(gateway.addresses["requests"], timeout)
        self.stream, self.session = stream, session or os.urandom(16)
        self.topic, self.sync = stream.encode() + b"\0", b"~sync\0"
        self.last = None
        #: Every notice applied, in order.
        self.applied = []
        self.notices = zmq.Context.instance().socket(zmq.SUB)
        self.notices.linger, self.notices.rcvtimeo = 0, int(timeout * 1_000)
        self.notices.connect(gateway.addresses["notices"])

    def close(self):
        super().close()
        self.notices.close()

    def ask(self, **kind):
        self.counter += 1
        reply = listener_pb2.Reply.FromString(self.exchange(listener_pb2.Request(
            request_id=self.counter, session=self.session, **kind).SerializeToString()))
        assert reply.request_id == self.counter
        return reply

    def join(self):
        """Proves the subscription, joins, and applies what was missed."""
        self.notices.subscribe(self.topic)
        self.notices.subscribe(self.sync)
        while True:
            while not (frame := self.notices.recv()).startswith(self.sync):
                pass
            tick = notice_pb2.SyncTick.FromString(frame[len(self.sync):])
            reply = self.ask(join=listener_pb2.Join(stream=self.stream, last=self.last, instance=tick.instance))
            assert reply.status == status_pb2.STATUS_CODE_OK, reply
            joined = reply.joined
            # A tick of the gateway before a restart may still have waited here: it proves nothing of this one.
            if joined.instance == tick.instance:
                break
        self.notices.unsubscribe(self.sync)
        if joined.kind == listener_pb2.JOIN_KIND_RECOVERED:
            for notice in joined.notices:
                assert notice.position.sequence == self.last.sequence + 1, "a recovery has a gap"
                self.take(notice)
        elif joined.kind == listener_pb2.JOIN_KIND_SNAPSHOT:
            self.applied += joined.notices
        self.last = joined.head
        return joined

    def take(self, notice):
        self.applied.append(notice)
        self.last = notice.position

    def next(self):
        """The next notice of a break; a gap is an error, what is known already is passed over."""
        while True:
            frame = self.notices.recv()
            if not frame.startswith(self.topic):
                continue
            notice = notice_pb2.Notice.FromString(frame[len(self.topic):])
            if notice.kind == notice_pb2.NOTICE_KIND_HEAD:
                assert notice.position.sequence <= self.last.sequence, "the head tells of a notice that never came"
            elif notice.position.sequence > self.last.sequence:
                assert notice.position.sequence == self.last.sequence + 1, "a notice is missing"
                self.take(notice)
                return notice

    def batch(self, break_id):
        return self.ask(get_batch=listener_pb2.GetBatch(stream=self.stream, break_id=break_id))

    def acknowledge(self, break_id, delivery, outcomes):
        """Outcomes by ad: `played`, `failed`, or a reason why it was ignored."""
        kinds = {"played": listener_pb2.OUTCOME_KIND_PLAYED, "failed": listener_pb2.OUTCOME_KIND_FAILED}
        return self.ask(acknowledge=listener_pb2.Acknowledge(
            stream=self.stream, break_id=break_id, delivery=delivery, outcomes=[
                listener_pb2.Outcome(
                    advertisement_id=name, kind=kinds.get(what, listener_pb2.OUTCOME_KIND_IGNORED),
                    evidence=listener_pb2.EVIDENCE_REPORTED,
                    reason=listener_pb2.IGNORE_REASON_UNSPECIFIED if what in kinds else what,
                    occurred_us=time.time_ns() // 1_000)
                for name, what in outcomes.items()]))
