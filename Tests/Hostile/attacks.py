# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""What strangers may do to a gateway: one class an attack. `hostile.py` runs each in a process of its own (run_attack.py).

An attack does its amount, or as much as its seconds allow, and says what it did. The same seed gives the same bytes.
"""
import base64, collections, collections.abc, itertools, json, math, os, random, select, socket, ssl, struct, subprocess, sys, time, urllib.request

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "Benchmarks")]

import measuring, tokens, zmtp
from handshakes import ALERT, CHANGE_CIPHER, DATA, HANDSHAKE, HEARTBEAT, Handshake, record
from swarm import BALANCER, SOURCE, Swarm, host_port

advertisement_pb2, broadcast_pb2, listener_pb2, notice_pb2, status_pb2, DecodeError = (None,) * 6


def load_wire():
    """The generated code of the wire contract: made when an attack runs, not when attacks are listed."""
    global advertisement_pb2, broadcast_pb2, listener_pb2, notice_pb2, status_pb2, DecodeError
    from google.protobuf.message import DecodeError
    advertisement_pb2, broadcast_pb2, listener_pb2, notice_pb2, status_pb2 = measuring.wire()


#: Stands in encoded requests where the session goes: encoding once is quicker than each time.
SESSION = b"<sixteen bytes!>"


def encoded(request_id=1, session=SESSION, **kind):
    """A listener's request."""
    return listener_pb2.Request(request_id=request_id, session=session, **kind).SerializeToString()


class Attack:
    """One attack.

    `seconds` bounds it in the full form; `full` and `short` are its amounts.
    """
    name = ""
    entrance = ""
    does = ""
    seconds = 12
    full = short = 0
    #: The access mode of the listeners' ports (access_modes.py).
    access = "plain"
    #: What goes before the gateway's command.
    prefix = ()
    #: Counters that move for what is no attack in it.
    explains = ()

    def __init__(self, context):
        self.context = context
        self.amount = self.short if context["short"] else self.full
        self.random = random.Random(f"{self.name} {context['seed']}")
        self.statuses = collections.Counter()
        self.facts = collections.Counter()
        self.sent_bytes = 0
        self.deadline = time.monotonic() + (context["patience"] if context["short"] else self.seconds)
        self.swarm = Swarm(self.goes_on)
        #: A stream of its own, which no other attack has.
        self.stream = f"{self.name}-{os.getpid()}"

    # What the attacks share.

    def goes_on(self):
        return time.monotonic() < self.deadline and not stopped()

    def hold(self):
        """Keeps what is open until its time is over: in the short form, until it is told to stop."""
        say_holding()
        while self.goes_on():
            self.swarm.turn()

    def let_go(self, waiting, most, after, resets=False):
        """Goes on until fewer than `most` of these connections wait: each is closed after so many seconds, or once the gateway has."""
        self.swarm.turn(0)
        while len(waiting) >= most:
            self.swarm.turn(0.002)
            if time.monotonic() - waiting[0].opened > after or not waiting[0].open:
                self.swarm.close(waiting.popleft(), reset=resets and self.random.random() < 0.5)

    def come_and_go(self, connect, after):
        """Makes the attack's amount of connections, 200 at a time. The gateway may close first; those that it does not close are closed
        here after so many seconds, half of them without a word."""
        waiting = collections.deque()
        for number in range(self.amount):
            if not self.goes_on():
                return
            peer = connect(number)
            if peer:
                waiting.append(peer)
            self.let_go(waiting, most=200, after=after, resets=True)
        self.hold()

    def address(self, name):
        """An entrance. A gateway with one port for listeners may tell only one of the two."""
        found = self.context["addresses"]
        return found.get(name) or found.get({"requests": "notices", "notices": "requests"}.get(name, ""), "")

    @property
    def listening(self):
        """Both entrances of listeners."""
        return [self.address("notices"), self.address("requests")]

    def session(self):
        return self.random.randbytes(16)

    def dealer(self, data=b"", **options):
        return self.swarm.connect(self.address("requests"), zmtp.greeting(), after=zmtp.ready(b"DEALER") + data, **options)

    def subscriber(self, data=b"", **options):
        return self.swarm.connect(self.address("notices"), zmtp.greeting(), after=zmtp.ready(b"SUB") + data, **options)

    def trickle(self):
        """From now on each connection whose fact is an iterator of bytes sends one of them a second, and zeros at its end."""
        trickled, turn = time.monotonic(), self.swarm.turn

        def trickling(seconds=0.05):
            nonlocal trickled
            turn(seconds)
            if time.monotonic() - trickled >= 1:
                trickled = time.monotonic()
                for peer in list(self.swarm.peers.values()):
                    if isinstance(peer.fact, collections.abc.Iterator):
                        self.swarm.send(peer, bytes((next(peer.fact, 0),)))

        self.swarm.turn = trickling

    def refill_with_fact(self, peer):
        """Sends a connection's fact again and again, until all of them together have sent as many bytes as the attack's amount."""
        if self.sent_bytes >= self.amount:
            return None
        self.sent_bytes += len(peer.fact)
        self.facts["mebibytes"] = self.sent_bytes >> 20
        return peer.fact

    def keep_open(self, wanted, connect, per_second):
        """Holds so many connections open, and opens new ones for those that the gateway closes, at most so many a second."""
        opened, began = 0, time.monotonic()
        while self.goes_on() and (not self.context["short"] or opened < wanted):
            allowed = (time.monotonic() - began + 0.05) * per_second
            while len(self.swarm.peers) < wanted and opened < allowed:
                opened += 1
                if connect(opened) is None:
                    break
            self.swarm.turn()
        self.hold()

    def ask_all(self, bodies, connections, window, windows_max=None):
        """Sends requests on connections that read, `window` at a time on each, and counts the answers.

        With `windows_max` a connection makes room for a new one after so many windows, so that it keeps within what one may take.
        Then all must be requests: a window ends when each has its answer, in whatever order.

        What is no request gets no answer: every window ends with a question for the time, and its answer opens the next.
        """
        bodies = iter(bodies)
        mark = zmtp.request(encoded(2**63, self.session(), get_time=listener_pb2.GetTime()))
        opened = open_windows = 0
        opened_max = 100 * connections if windows_max is None else math.inf
        windows, awaited = collections.Counter(), collections.Counter()
        exhausted = False

        def next_window(peer):
            nonlocal open_windows, exhausted
            if windows_max is not None and windows[peer] == windows_max:
                del windows[peer], awaited[peer]
                self.swarm.close(peer)
                open_windows -= 1
                return
            windows[peer] += 1
            data = [zmtp.request(body) for body in itertools.islice(bodies, window)]
            self.facts["requests"] += len(data)
            if not data or not self.goes_on():
                exhausted = exhausted or not data
                self.swarm.close(peer)
                open_windows -= 1
                return
            awaited[peer] = len(data) + 1
            data.append(mark)
            self.swarm.send(peer, b"".join(data))

        def heard(peer, data):
            for body in zmtp.bodies(peer.fact.feed(data)):
                reply = listener_pb2.Reply()
                try:
                    reply.ParseFromString(body)
                except DecodeError:
                    self.statuses["unreadable"] += 1
                    continue
                awaited[peer] -= 1
                if reply.request_id != 2**63:
                    self.statuses[status_pb2.StatusCode.Name(reply.status).removeprefix("STATUS_CODE_")] += 1
                if awaited[peer] > 0 if windows_max else reply.request_id != 2**63:
                    continue
                next_window(peer)
                if not peer.open:
                    return

        def ended(peer):
            nonlocal open_windows
            open_windows -= 1

        while self.goes_on() and not (exhausted and not open_windows):
            # Where the gateway closes connections, new ones take their place, a hundred times at most.
            while not exhausted and open_windows < connections and opened < opened_max:
                opened += 1
                if self.dealer(mark, heard=heard, ended=ended, fact=zmtp.Reader()) is None:
                    break
                open_windows += 1
            self.swarm.turn()
            if not open_windows and opened >= opened_max:
                return

    def ask(self, body, name="requests", kind=b"REQ"):
        """One request on a connection of its own that waits; the reply's body."""
        while True:
            try:
                return self.ask_once(body, name, kind)
            except ConnectionError:
                # On a busy machine this side, which is nice, may need longer than a handshake may take. To ask again is harmless.
                if not self.goes_on():
                    raise

    def ask_once(self, body, name, kind):
        with socket.create_connection(host_port(self.address(name)), timeout=self.context["patience"],
                                      source_address=(SOURCE, 0)) as peer:
            peer.sendall(zmtp.greeting())
            reader = zmtp.Reader()
            while not reader.greeted:
                data = peer.recv(65_536)
                if not data:
                    raise ConnectionError("the gateway closed the connection of a proper greeting")
                reader.feed(data)
            peer.sendall(zmtp.ready(kind) + zmtp.request(body))
            while True:
                data = peer.recv(65_536)
                if not data:
                    raise ConnectionError("the gateway closed the connection of a proper request")
                found = zmtp.bodies(reader.feed(data))
                if found:
                    return found[0]

    def publish(self, stream, break_id, ads=3, **fields):
        """Publishes a break of the attack's own, as its broadcaster: nothing hostile."""
        body = broadcast_pb2.BroadcastRequest(request_id=1, publish=broadcast_pb2.Publish(
            stream=stream, break_id=break_id, advertisements=[advertisement_pb2.Advertisement(
                id=f"ad-{index}", title="Ad", duration_ms=10_000,
                media=[advertisement_pb2.MediaFile(url="https://cdn.example.com/ad.mp3", type="audio/mpeg")])
                for index in range(ads)], **fields)).SerializeToString()
        reply = broadcast_pb2.BroadcastReply.FromString(self.ask(body, "broadcast"))
        if reply.status != status_pb2.STATUS_CODE_OK:
            raise RuntimeError(f"the attack's own break was refused: {reply.message}")

    def batch(self, session, stream, break_id):
        """Joins and fetches a batch, as a listener does."""
        for body in (encoded(1, session, join=listener_pb2.Join(stream=stream)),
                     encoded(2, session, get_batch=listener_pb2.GetBatch(stream=stream, break_id=break_id))):
            reply = listener_pb2.Reply.FromString(self.ask(body))
            if reply.status != status_pb2.STATUS_CODE_OK:
                raise RuntimeError(f"a proper request of the attack was refused: {reply.message}")
        return reply.batch

    def acknowledgement(self, stream, break_id, delivery, kinds, session=SESSION, request_id=1):
        now = time.time_ns() // 1000
        return encoded(request_id, session, acknowledge=listener_pb2.Acknowledge(
            stream=stream, break_id=break_id, delivery=delivery, outcomes=[listener_pb2.Outcome(
                advertisement_id=ad, kind=kind, evidence=listener_pb2.EVIDENCE_REPORTED, heard_ms=1_000, occurred_us=now,
                reason=listener_pb2.IGNORE_REASON_USER if kind == listener_pb2.OUTCOME_KIND_IGNORED else 0)
                for ad, kind in kinds]))

    def run(self):
        raise NotImplementedError

    def report(self):
        return {**self.swarm.counts, **self.facts, **({"replies": dict(self.statuses)} if self.statuses else {})}


class Nothing(Attack):
    name, entrance = "nothing", "none"
    does = "Nothing: shows how much two quiet runs differ, and what memory honest listeners leave behind."

    def run(self):
        self.hold()


class Garbage(Attack):
    name, entrance = "garbage", "notices, requests, HTTP"
    does = ("Connections that send random bytes, 1 to 63 bytes of a greeting, greetings of other versions and mechanisms, a TLS "
            "hello, HTTP, or a good greeting and then random frames; 5,000 of them, 200 at a time.")
    full, short = 5_000, 200

    def piece(self):
        """What is sent at once, and what is sent after the gateway's greeting."""
        choose = self.random
        kind = choose.randrange(9)
        if kind == 0:
            return choose.randbytes(choose.randrange(1, 4_096)), None
        if kind == 1:
            return zmtp.greeting()[:choose.randrange(1, 64)], None
        if kind == 2:
            return zmtp.greeting(mechanism=choose.choice((b"CURVE", b"PLAIN", b"GSSAPI", b"", b"X" * 20))), choose.randbytes(64)
        if kind == 3:
            return zmtp.greeting(major=choose.choice((0, 1, 2, 4, 255)), minor=choose.randrange(256)), choose.randbytes(64)
        if kind == 4:
            return b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + choose.randbytes(506), None
        if kind == 5:
            return b"GET / HTTP/1.1\r\nHost: gateway\r\n\r\n", None
        if kind == 6:
            return b"\x01\x00" + choose.randbytes(32), None  # The handshake of ZMTP 1.0: no greeting at all.
        if kind == 7:
            return zmtp.greeting(), choose.randbytes(choose.randrange(1, 512))
        return zmtp.greeting(), zmtp.ready(choose.choice((b"SUB", b"REQ", b"DEALER"))) + choose.randbytes(choose.randrange(1, 2_048))

    def run(self):
        def connect(number):
            first, after = self.piece()
            return self.swarm.connect(self.random.choice([*self.listening, self.address("http")]), first, after=after)

        self.come_and_go(connect, after=0.2)


class HalfOpen(Attack):
    name, entrance = "half-open", "notices, requests"
    does = ("5,000 connections that never finish their handshake: a third say nothing, a third 10 bytes, a third a greeting without "
            "READY. New ones take the place of those that are closed, 1,000 a second at most.")
    full, short = 5_000, 300

    def run(self):
        parts = (b"", zmtp.greeting()[:10], zmtp.greeting())
        self.keep_open(self.amount, lambda number: self.swarm.connect(self.listening[number % 2], parts[number % 3]), 1_000)


class EndlessMultipart(Attack):
    name, entrance = "endless-multipart", "requests, notices"
    does = ("Messages without an end: frames that all say that more follow, 1 byte and 8 KiB each, as fast as they are taken, on "
            "four connections to each entrance.")
    full, short = 64 << 30, 32 << 20

    def run(self):
        blocks = [zmtp.frame(b"x", more=True) * 20_000, zmtp.frame(bytes(8_192), more=True) * 16]

        def connect(number):
            block = blocks[number // 2 % 2]
            return (self.dealer if number % 2 else self.subscriber)(refill=self.refill_with_fact, fact=block)

        # Enough of each kind that a counter of those that are closed tells of it.
        self.keep_open(48 if self.context["short"] else 8, connect, 100)


class InventedStreams(Attack):
    name, entrance = "invented-streams", "notices"
    does = "Four connections that each subscribe to 10,000 streams that do not exist; new ones for those that are closed."
    full, short = 10_000, 1_000

    def run(self):
        def connect(connection):
            self.facts["subscriptions"] += self.amount
            return self.subscriber(b"".join(zmtp.subscription(b"invented-%d-%d\0" % (connection, number))
                                            for number in range(self.amount)))

        # Enough that a counter of those that are closed tells of it.
        self.keep_open(24 if self.context["short"] else 4, connect, 10)


class SubscriptionToggles(Attack):
    name, entrance = "subscription-toggles", "notices"
    does = ("Four connections that subscribe and unsubscribe the listeners' stream and invented ones, or subscribe the same again and "
            "again, as messages and as commands, 4 million times, as fast as they are taken.")
    full, short = 4_000_000, 40_000

    def run(self):
        topics = [stream.encode() + b"\0" for stream in self.context["streams"]] + [b"~sync\0", b"", b"invented\0"]
        blocks = []
        for as_command in (False, True):
            both = [zmtp.subscription(topic, cancel, as_command) for topic in topics for cancel in (False, True)]
            blocks.append(b"".join(both) * (1_000 // len(both)))
            blocks.append(zmtp.subscription(topics[0], as_command=as_command) * 1_000)

        def refill(peer):
            if self.facts["toggles"] >= self.amount:
                return None
            self.facts["toggles"] += 1_000
            return peer.fact

        self.keep_open(4, lambda number: self.subscriber(refill=refill, fact=blocks[number % 4]), 10)


class ManyTopics(Attack):
    name, entrance = "many-topics", "notices"
    does = ("100,000 topics on one connection, then its end, again and again; beside it topics of 200, 245 to 256, 1,000, 4,095 and "
            "20,000 bytes.")
    full, short = 100_000, 5_000

    def run(self):
        topics = b"".join(zmtp.subscription(b"topic-%d-%d\0" % (number % 97, number)) for number in range(self.amount))
        sizes = [200, *range(245, 257), 1_000, 4_095, 4_096, 20_000]
        first = True
        while self.goes_on() and (first or not self.context["short"]):
            first = False
            peers = [self.subscriber(topics)]
            peers += [self.subscriber(zmtp.subscription(self.random.randbytes(size), as_command=bool(size % 2)))
                      for size in sizes]
            until = time.monotonic() + 3
            while self.goes_on() and (time.monotonic() < until or len(peers[0].out)) and peers[0].open:
                self.swarm.turn()
            self.facts["subscriptions"] += peers[0].sent * self.amount // max(1, len(topics))
            for peer in peers:
                self.swarm.close(peer)
        self.hold()


class WrongShapes(Attack):
    name, entrance = "wrong-shapes", "requests, notices"
    does = ("3,000 connections with messages of the wrong shape: no delimiter, two, none but one, three bodies, empty bodies; frames "
            "said to have 2^63 bytes, reserved flags, commands within messages; socket types that do not fit, READY twice, without a "
            "type, with 1,000 properties, identities of 256 bytes.")
    full, short = 3_000, 150

    def shapes(self):
        body = encoded(7, self.session(), get_time=listener_pb2.GetTime())
        dealer, subscriber = zmtp.greeting() + zmtp.ready(b"DEALER"), zmtp.greeting() + zmtp.ready(b"SUB")
        good = zmtp.message(b"", body)
        messages = [
            zmtp.frame(body), zmtp.message(b"", b"", body), zmtp.message(b""), zmtp.message(b"", b""), zmtp.message(b"", body, body),
            zmtp.message(body, b""), zmtp.message(*[b""] * 1_000), zmtp.message(b"x", body), zmtp.message(b"", body + bytes(20_000)),
            zmtp.header(2**63 - 1, zmtp.MORE), zmtp.header(2**64 - 1), zmtp.header(1 << 40) + body, zmtp.header(20, 0x80) + bytes(20),
            zmtp.header(5, zmtp.COMMAND | zmtp.MORE) + b"\4PING", zmtp.header(0, zmtp.COMMAND), zmtp.command(b"PING", b"\1"),
            zmtp.command(b"PING", bytes(2) + bytes(200)), zmtp.frame(b"", more=True) + zmtp.ping() + zmtp.frame(body),
            zmtp.frame(b"", more=True) + zmtp.subscription(b"x", as_command=True) + zmtp.frame(body), zmtp.ready(b"DEALER"),
            zmtp.command(b"ERROR", b"\5"), zmtp.command(b"ERROR", b"\3sad"), zmtp.command(b"CANCEL", b"never subscribed"),
            zmtp.command(b"READY", b"\xff"), zmtp.command(b"X" * 255, bytes(100)), zmtp.header(len(body), long=True) + body,
            zmtp.frame(b"\1topic"), zmtp.frame(b"\2neither"), zmtp.frame(b""),
        ]
        yield from (dealer + shape + good for shape in messages)
        yield from (subscriber + shape for shape in messages)
        # Before READY is done.
        for kind in (b"PUB", b"XPUB", b"PUSH", b"PULL", b"PAIR", b"ROUTER", b"REP", b"CLIENT", b"", b"S" * 200):
            yield zmtp.greeting() + zmtp.command(b"READY", zmtp.metadata(b"Socket-Type", kind)) + good
        yield zmtp.greeting() + good
        yield zmtp.greeting() + zmtp.command(b"READY") + good
        yield zmtp.greeting() + zmtp.command(b"READY", zmtp.metadata(b"Socket-Type", b"DEALER") + b"".join(
            zmtp.metadata(b"X-%d" % number, b"value") for number in range(1_000))) + good
        yield zmtp.greeting() + zmtp.ready(b"DEALER", bytes(256)) + good
        yield zmtp.greeting() + zmtp.ready(b"DEALER", bytes(60_000)) + good
        yield zmtp.greeting() + zmtp.command(b"HELLO", b"x") + good
        yield zmtp.greeting() + zmtp.header(1 << 30, zmtp.COMMAND) + bytes(1_000)

    def run(self):
        shapes = list(self.shapes())
        waiting = collections.deque()
        for number in range(max(self.amount, 2 * len(shapes))):
            if not self.goes_on():
                return
            # Every shape at every entrance.
            shape = shapes[number % len(shapes)]
            peer = self.swarm.connect(self.listening[number // len(shapes) % 2], shape[:64], after=shape[64:])
            if peer:
                waiting.append(peer)
            self.let_go(waiting, most=100, after=0.2)
        self.hold()


class MutatedRequests(Attack):
    name, entrance = "mutated-requests", "requests"
    does = "50,000 requests of all kinds, cut short or with bytes changed, put in, taken out or doubled; 16 connections read the answers."
    full, short = 50_000, 2_000
    seconds = 25

    def mutate(self, body):
        choose, body = self.random, bytearray(body)
        for _ in range(choose.randrange(1, 4)):
            kind, at = choose.randrange(6), choose.randrange(len(body) or 1)
            if kind == 0:
                del body[at:]
            elif kind == 1 and body:
                body[at] ^= 1 << choose.randrange(8)
            elif kind == 2 and body:
                body[at] = choose.choice((0, 1, 0x7F, 0x80, 0xFF))
            elif kind == 3:
                body[at:at] = choose.randbytes(choose.randrange(1, 16))
            elif kind == 4:
                del body[at:at + choose.randrange(1, 8)]
            else:
                body += body[at:at + 64]
        return bytes(body)

    def run(self):
        stream = self.context["streams"][0]
        corpus = [encoded(1, self.session(), **kind) for kind in (
            {"join": listener_pb2.Join(stream=stream, client="hostile", attributes={"device": "phone", "region": "north"},
                                       last=notice_pb2.Position(epoch=1, sequence=2), instance=3, token="t" * 64)},
            {"get_batch": listener_pb2.GetBatch(stream=stream, break_id="b-1", delay_ms=1, delay_max_ms=2)},
            {"get_time": listener_pb2.GetTime()}, {"leave": listener_pb2.Leave(stream=stream)})]
        corpus.append(self.acknowledgement(self.stream, "b-1", bytes(29), [("ad-0", 1), ("ad-1", 2), ("ad-2", 3)], self.session()))
        self.ask_all((self.mutate(self.random.choice(corpus)) for _ in range(self.amount)), 16, 8)


class NeverRead(Attack):
    name, entrance = "never-read", "requests"
    does = "A million requests on 20 connections that never read an answer: joins, batches and questions for the time."
    full, short = 1_000_000, 20_000
    seconds = 20

    def run(self):
        stream = self.context["streams"][0]
        blocks = []
        for _ in range(64):
            session = self.session()
            blocks.append(zmtp.request(encoded(1, session, join=listener_pb2.Join(stream=stream)))
                          + zmtp.request(encoded(2, session, get_batch=listener_pb2.GetBatch(stream=stream, break_id="b-1")))
                          + zmtp.request(encoded(3, session, get_time=listener_pb2.GetTime())) * 8)

        def refill(peer):
            if self.facts["requests"] >= self.amount:
                return None
            self.facts["requests"] += 100
            return self.random.choice(blocks) * 10

        self.keep_open(20, lambda number: self.dealer(refill=refill, reading=False, receive_bytes=2_304), 200)
        self.facts["mebibytes taken"] = sum(peer.sent for peer in self.swarm.peers.values()) >> 20


class SlowReaders(Attack):
    name, entrance = "slow-readers", "notices"
    does = ("200 connections with the smallest receive buffer that subscribe to everything; half never read, half read 64 bytes a "
            "second; meanwhile a stream of its own gets 20,000 notices.")
    full, short = 20_000, 2_000
    seconds = 20
    # Its notices come from a broadcaster.
    explains = ("cuecast_broadcast_requests", "cuecast_break_entries", "cuecast_notices_sent", "cuecast_heads_sent",
                "cuecast_log_lines_suppressed")

    def connect(self, number):
        """One that hears the stream of the notices."""
        topics = b"".join(zmtp.subscription(each.encode() + b"\0") for each in (self.stream, *self.context["streams"]))
        return self.subscriber(topics + zmtp.subscription(b""), reading=False, receive_bytes=2_304)

    def run(self):
        self.publish(self.stream, "b-1", duration_ms=30_000)
        peers = [self.connect(number) for number in range(40 if self.context["short"] else 200)]
        peers = [peer for peer in peers if peer]
        asked = answered = 0

        def heard(peer, data):
            nonlocal answered
            for body in zmtp.bodies(peer.fact.feed(data)):
                answered += 1
                self.statuses[status_pb2.StatusCode.Name(broadcast_pb2.BroadcastReply.FromString(body).status)
                              .removeprefix("STATUS_CODE_")] += 1

        def broadcaster():
            return self.swarm.connect(self.address("broadcast"), zmtp.greeting(), after=zmtp.ready(b"DEALER"), heard=heard,
                                      fact=zmtp.Reader())

        # Each change of a break that waits for its start is a notice.
        source = broadcaster()
        read_at = time.monotonic()
        while self.goes_on() and asked < self.amount:
            while asked - answered < 32 and asked < self.amount:
                asked += 1
                self.swarm.send(source, zmtp.request(broadcast_pb2.BroadcastRequest(
                    request_id=asked, update=broadcast_pb2.Update(
                        stream=self.stream, break_id="b-1", duration_ms=30_000 + asked % 1_000)).SerializeToString()))
            self.swarm.turn()
            if time.monotonic() - read_at >= 1:
                read_at = time.monotonic()
                for peer in peers[::2]:
                    if peer.open:
                        try:
                            peer.socket.recv(64)
                        except OSError:
                            pass
            self.facts["notices"] = self.statuses["OK"]
            if not source.open:
                # On a busy machine this side, which is nice, may need longer than a handshake may take. What was not answered is
                # asked again.
                self.facts["broadcaster's connections closed"] += 1
                if self.facts["broadcaster's connections closed"] > 100:
                    raise RuntimeError("the gateway closes the connections of a broadcaster")
                source, asked = broadcaster(), answered
        self.hold()


class PushedSlowReaders(SlowReaders):
    name, entrance = "pushed-slow-readers", "requests"
    does = ("200 DEALERs with the smallest receive buffer that join with push, 2,500 times each: half a stream of their own, which gets "
            "20,000 notices meanwhile, half the listeners' stream; half never read, half read 64 bytes a second.")

    def connect(self, number):
        stream = self.stream if number // 2 % 2 else self.context["streams"][0]
        join = zmtp.request(encoded(1, self.session(), join=listener_pb2.Join(stream=stream, push=True)))
        return self.dealer(join * 2_500, reading=False, receive_bytes=2_304)


class ForgedDeliveries(Attack):
    name, entrance = "forged-deliveries", "requests"
    does = ("40,000 acknowledgements with deliveries that were never given: random, of other lengths and versions, without a signature, of "
            "another session, of another break, with one bit changed, for the listeners' streams and one of its own.")
    full, short = 40_000, 2_000
    seconds = 20

    def run(self):
        stream = self.stream
        self.publish(stream, "b-1", pre_stream=True, hold_ms=3_600_000)
        own = self.session()
        delivery = self.batch(own, stream, "b-1").delivery
        kinds = [("ad-0", listener_pb2.OUTCOME_KIND_PLAYED)]

        def forge():
            choose = self.random
            for _ in range(self.amount):
                session, kind, made = self.session(), choose.randrange(8), bytearray(delivery)
                target = choose.choice((stream, *self.context["streams"]))
                if kind == 0:
                    made = choose.randbytes(len(delivery))
                elif kind == 1:
                    made = choose.randbytes(choose.randrange(0, 65))
                elif kind == 2:
                    made[0] ^= 1 << choose.randrange(8)
                elif kind == 3:
                    pass  # Another session's.
                elif kind == 4:
                    # Its own, with a bit changed.
                    session = own
                    made[choose.randrange(len(made))] ^= 1 << choose.randrange(8)
                elif kind == 5:
                    # Its own, as gateways gave it that did not sign: session, number of the break, variant.
                    session, made = own, bytes([1]) + made[5:33]
                elif kind == 6:
                    # Its own, for another break.
                    session, target = own, self.context["streams"][0]
                else:
                    made = made[:-1] + bytes(choose.randrange(1, 40))
                yield self.acknowledgement(target, "b-1", bytes(made), kinds, session)

        self.ask_all(forge(), 16, 16)
        self.facts["counted"] = self.counted(stream)

    def report(self):
        return {**super().report(), "forged_counted": self.facts["counted"]}

    def counted(self, stream):
        """How many outcomes of its own break the gateway has: none was ever rightly said."""
        deadline = time.monotonic() + self.context["patience"]
        while True:
            with urllib.request.urlopen(f"http://{self.address('http')}/v1/reports?stream={stream}&break=b-1",
                                        timeout=self.context["patience"]) as answer:
                report = json.load(answer)
            settled = report["breaks"] and all(lane["offset"] == lane.get("head") for lane in report["lanes"].values())
            if settled or time.monotonic() > deadline:
                return sum(ad["counts"][name] for each in report["breaks"] for ad in each["ads"]
                           for name in ("played", "ignored", "failed"))
            time.sleep(0.1)


class AcknowledgementFlood(Attack):
    name, entrance = "acknowledgement-flood", "requests"
    does = ("200,000 acknowledgements of 40 sessions that really have the batch: the same again and again, and contradicting ones, on 16 "
            "connections that read the answers.")
    full, short = 200_000, 4_000
    seconds = 25

    def run(self):
        self.publish(self.stream, "b-1", ads=8, pre_stream=True, hold_ms=3_600_000)
        bodies = []
        for _ in range(40):
            session = self.session()
            delivery = self.batch(session, self.stream, "b-1").delivery
            for kind in (1, 2, 3):
                bodies.append(self.acknowledgement(self.stream, "b-1", delivery, [(f"ad-{index}", kind) for index in range(8)], session))
        self.ask_all((self.random.choice(bodies) for _ in range(self.amount)), 16, 32)


class JoinsOneConnection(Attack):
    name, entrance = "joins-one-connection", "requests"
    does = "100,000 joins to the listeners' stream, each of another session, on one connection, 32 at a time."
    full, short = 100_000, 3_000
    seconds = 25
    connections = 1

    def run(self):
        body = encoded(1, join=listener_pb2.Join(stream=self.context["streams"][0], client="hostile"))
        before, after = body.split(SESSION)
        self.ask_all((before + self.session() + after for _ in range(self.amount)), self.connections, 32)


class JoinsOneAddress(JoinsOneConnection):
    name = "joins-one-address"
    does = "100,000 joins to the listeners' stream, each of another session, on 500 connections from one address, 32 at a time on each."
    connections = 500


class PushedJoins(Attack):
    name, entrance = "pushed-joins", "requests"
    does = ("10,000 joins with push on one DEALER, each of another session and another stream that does not exist, 32 at a time; then the "
            "same for one session, and for one stream; and REQs that ask for push.")
    full, short = 10_000, 1_000
    seconds = 20

    def bodies(self):
        one = self.session()
        for number in range(self.amount):
            stream, session = f"invented-{number}", self.session()
            kind = number * 3 // self.amount
            yield encoded(1, one if kind == 1 else session,
                          join=listener_pb2.Join(stream=self.context["streams"][0] if kind == 2 else stream, push=True))

    def run(self):
        self.ask_all(self.bodies(), 1, 32)
        for _ in range(10):
            if not self.goes_on():
                break
            reply = listener_pb2.Reply.FromString(self.ask(encoded(
                1, self.session(), join=listener_pb2.Join(stream=self.context["streams"][0], push=True))))
            self.facts["REQs that were pushed to"] += reply.joined.pushed
        if self.facts["REQs that were pushed to"]:
            raise RuntimeError("a REQ was told that it gets notices, which it cannot read")
        self.hold()


class PushedToggles(Attack):
    name, entrance = "pushed-toggles", "requests"
    does = ("Eight DEALERs that join the listeners' stream with push, without it, and leave, 400,000 times, as fast as they are taken; half "
            "never read.")
    full, short = 400_000, 20_000
    seconds = 15

    def run(self):
        def block():
            session = self.session()
            join, leave = listener_pb2.Join, listener_pb2.Leave(stream=self.context["streams"][0])
            kinds = [{"join": join(stream=self.context["streams"][0], push=True)}, {"leave": leave},
                     {"join": join(stream=self.context["streams"][0])}, {"leave": leave}]
            return b"".join(zmtp.request(encoded(number, session, **kind)) for number, kind in enumerate(kinds)) * 25

        def refill(peer):
            if self.facts["toggles"] >= self.amount:
                return None
            self.facts["toggles"] += 100
            return peer.fact

        self.keep_open(8, lambda number: self.dealer(
            refill=refill, fact=block(), reading=number % 2 == 0, receive_bytes=None if number % 2 == 0 else 2_304), 20)


class HTTPSlowLoris(Attack):
    name, entrance = "http-slow-loris", "HTTP"
    does = "1,000 connections that send the head of a request one byte a second, and come again when they are closed."
    full, short = 1_000, 300

    def run(self):
        head = b"GET /metrics HTTP/1.1\r\nHost: gateway\r\nX-Slow: " + b"x" * 100_000
        trickled = time.monotonic()
        opened, began = 0, time.monotonic()
        while self.goes_on() and (not self.context["short"] or opened < self.amount):
            while len(self.swarm.peers) < self.amount and opened < (time.monotonic() - began + 0.05) * 500:
                opened += 1
                if self.swarm.connect(self.address("http"), head[:20]) is None:
                    break
            self.swarm.turn()
            if time.monotonic() - trickled >= 1:
                trickled = time.monotonic()
                for peer in list(self.swarm.peers.values()):
                    self.swarm.send(peer, b"x")
        self.hold()


class HTTPIdle(Attack):
    name, entrance = "http-idle", "HTTP"
    does = "1,000 connections that ask once, keep the connection alive and say nothing more; they come again when they are closed."
    full, short = 1_000, 300

    def run(self):
        self.keep_open(self.amount, lambda number: self.swarm.connect(
            self.address("http"), b"GET /healthz HTTP/1.1\r\nHost: gateway\r\n\r\n"), 200)


class HTTPListening(Attack):
    """Asks for a stream's notices over HTTP."""

    def listen(self, stream, **options):
        return self.swarm.connect(
            self.address("http"), b"GET /v1/streams/%s/listen?session=%s HTTP/1.1\r\nHost: gateway\r\n\r\n"
            % (stream.encode(), self.session().hex().encode()), **options)


class HTTPListenersNeverRead(HTTPListening):
    name, entrance = "http-listeners-never-read", "HTTP"
    does = "1,000 connections that ask for the events of the listeners' stream and never read one; new ones take the place of those that are closed."
    full, short = 1_000, 200

    def run(self):
        self.keep_open(self.amount, lambda number: self.listen(self.context["streams"][0], reading=False, receive_bytes=2_304), 500)


class HTTPListenerJoins(HTTPListening):
    name, entrance = "http-listener-joins", "HTTP"
    does = "5,000 connections from one address that ask for the events of the listeners' stream, each as another session; new ones take the place of those that are closed."
    full, short = 5_000, 400

    def run(self):
        self.keep_open(self.amount, lambda number: self.listen(self.context["streams"][0]), 1_000)


class HTTPBatchFlood(Attack):
    name, entrance = "http-batch-flood", "HTTP"
    does = ("200,000 requests over HTTP for batches, asset lists and VAST of a break of its own, each of another session, on 64 connections, "
            "as fast as they are taken; half never read the answers.")
    full, short = 200_000, 2_000

    def run(self):
        # Of the listeners' stream each would rightly be counted with them.
        left, stream = self.amount, self.stream
        self.publish(stream, "b-1", pre_stream=True, hold_ms=3_600_000)

        def refill(peer):
            nonlocal left
            if left <= 0:
                return None
            left -= 1
            self.facts["requests"] += 1
            session, kind = self.session().hex(), left % 3
            if kind:
                document = ("asset-list", "vast")[kind - 1]
                return f"GET /v1/streams/{stream}/{document}?break=b-1&session={session} HTTP/1.1\r\nHost: gateway\r\n\r\n".encode()
            body = json.dumps({"session": session})
            return (f"POST /v1/streams/{stream}/breaks/b-1/batch HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n{body}").encode()

        self.keep_open(64, lambda number: self.swarm.connect(
            self.address("http"), refill(None) or b"", refill=refill, reading=number % 2 == 0,
            receive_bytes=None if number % 2 == 0 else 2_304), 200)


class ForgedTrackings(ForgedDeliveries):
    name, entrance = "forged-trackings", "HTTP"
    does = ("20,000 calls of tracking URLs that no gateway made: random, cut, longer, with one bit changed, with another ad or event, and a true one "
            "under another break and another stream.")
    full, short = 20_000, 1_000
    seconds = 20

    def run(self):
        self.publish(self.stream, "b-1", pre_stream=True, hold_ms=3_600_000)
        self.publish(self.stream, "b-2", pre_stream=True, hold_ms=3_600_000)
        base = f"http://{self.address('http')}/v1/streams/{self.stream}"
        with urllib.request.urlopen(f"{base}/asset-list?break=b-1&session={self.session().hex()}",
                                    timeout=self.context["patience"]) as answer:
            events = json.load(answer)["ASSETS"][0]["X-AD-CREATIVE-SIGNALING"]["payload"][0]["tracking"]
        complete = next(each["urls"][0] for each in events if each["type"] == "complete").rsplit("/", 1)[1]
        made, left = base64.urlsafe_b64decode(complete + "="), self.amount

        def forged():
            choose = self.random
            stream, break_id, kind, token = self.stream, "b-1", choose.randrange(7), bytearray(made)
            if kind == 0:
                token = choose.randbytes(len(made))
            elif kind == 1:
                token = token[:choose.randrange(len(made))]
            elif kind == 2:
                token += choose.randbytes(choose.randrange(1, 40))
            elif kind == 3:
                token[choose.randrange(len(made))] ^= 1 << choose.randrange(8)
            elif kind == 4:
                # Another event, or another ad.
                token[choose.choice((1, 2))] ^= choose.choice((1, 2, 3))
            elif kind == 5:
                break_id = choose.choice(("b-2", "b-3"))
            else:
                stream = self.context["streams"][0]
            text = base64.urlsafe_b64encode(bytes(token)).rstrip(b"=").decode() or "-"
            return f"GET /v1/streams/{stream}/breaks/{break_id}/track/{text} HTTP/1.1\r\nHost: gateway\r\n\r\n".encode()

        def refill(peer):
            nonlocal left
            if left <= 0:
                return None
            left -= 1
            self.facts["requests"] += 1
            return forged()

        for _ in range(16):
            self.swarm.connect(self.address("http"), forged(), refill=refill)
        while self.goes_on() and left > 0 and self.swarm.peers:
            self.swarm.turn()
        self.facts["counted"] = self.counted(self.stream)
        self.hold()


class Descriptors(Attack):
    name, entrance = "descriptors", "notices, requests, HTTP"
    does = "3,000 connections, each with its handshake done, to a gateway that may have 1,024 open files; new ones for those that are closed."
    full, short = 3_000, 1_500
    prefix = ("prlimit", "--nofile=1024:1024")

    def run(self):
        def connect(number):
            if number % 8 == 0:
                return self.swarm.connect(self.address("http"), b"GET /healthz HTTP/1.1\r\nHost: gateway\r\n\r\n")
            return self.dealer() if number % 2 else self.subscriber(zmtp.subscription(b"~sync\0"))

        self.keep_open(self.amount, connect, 1_000)


class ClaimedIdentity(Attack):
    name, entrance = "claimed-identity", "requests, broadcast"
    does = ("4,000 DEALERs that claim the ids that a ROUTER of libzmq gives its next peers after a start that seeds nothing (from 00 6b8b4567 "
            "on), and then 200 that claim none; and pairs that claim the same id.")
    full, short = 4_000, 400

    def claim(self, identity, data):
        self.swarm.connect(self.address("requests"), zmtp.greeting(), after=zmtp.ready(b"DEALER", identity) + data)

    def run(self):
        # The first two numbers of an unseeded rand(): one for each ROUTER. Who has connected already has moved them on.
        firsts = (0x6B8B4567, 0x327B23C6)
        asking = zmtp.request(encoded(1, self.session(), get_time=listener_pb2.GetTime()))
        number = 0
        while self.goes_on() and number < self.amount:
            for _ in range(20):
                value = (firsts[number % 2] + number // 2) & 0xFFFFFFFF
                identity = b"\0" + value.to_bytes(4, "big")
                self.claim(identity, asking)
                number += 1
            self.swarm.turn()
        for identity in (b"\0same", b"same", b"", b"\0", bytes(5), b"x" * 255):
            for _ in range(4):
                self.claim(identity, asking)
        for _ in range(200):
            self.dealer(asking)
            self.swarm.turn(0)
        self.facts["claimed"] = number
        self.hold()


class Churn(Attack):
    name, entrance = "churn", "notices, requests"
    does = "40,000 connections that do their handshake, subscribe the listeners' stream or join it, and vanish, 50 at a time."
    full, short = 40_000, 1_000
    seconds = 15

    def run(self):
        stream = self.context["streams"][0]
        join = encoded(1, join=listener_pb2.Join(stream=stream))
        waiting = collections.deque()
        for number in range(self.amount):
            if not self.goes_on():
                break
            if number % 2:
                peer = self.dealer(zmtp.request(join.replace(SESSION, self.session())))
            else:
                peer = self.subscriber(zmtp.subscription(stream.encode() + b"\0"))
            if peer:
                waiting.append(peer)
            while len(waiting) >= 50:
                self.swarm.turn(0.001)
                peer = waiting.popleft()
                if peer.state == "connecting" and time.monotonic() - peer.opened < 1:
                    waiting.append(peer)
                else:
                    self.swarm.close(peer, reset=self.random.random() < 0.5)
        self.hold()


class PingFlood(Attack):
    name, entrance = "ping-flood", "notices, requests"
    does = "PINGs as fast as they are taken on eight connections, of which half never read a PONG."
    full, short = 8 << 30, 8 << 20

    def run(self):
        block = zmtp.ping(context=b"c" * 16) * 2_000

        def connect(number):
            options = {"refill": self.refill_with_fact, "fact": block, "reading": number % 4 < 2,
                       "receive_bytes": 2_304 if number % 4 >= 2 else None}
            return self.dealer(**options) if number % 2 else self.subscriber(**options)

        self.keep_open(8, connect, 100)


class LargeUnfinished(Attack):
    name, entrance = "large-unfinished", "requests, notices"
    does = "1,500 connections that announce a frame of the largest size, send all of it but its last byte, and wait."
    full, short = 1_500, 200

    def run(self):
        request = zmtp.header(16_384, long=True) + bytes(16_383)
        topic = zmtp.header(4_096, long=True) + b"\1" + bytes(4_094)
        self.keep_open(self.amount, lambda number: self.dealer(zmtp.frame(b"", more=True) + request) if number % 2
                       else self.subscriber(topic), 500)


# Endpoints with TLS

class HalfTLS(Attack):
    name, entrance, access = "tls-half-handshakes", "notices, requests, with TLS", "tls"
    does = ("5,000 connections that never finish a handshake of TLS: a fifth each say nothing, half a hello, a hello and nothing after "
            "the gateway's answer, all but the last message, and a hello of which one byte comes a second. New ones take the place of those "
            "that are closed, 1,000 a second at most.")
    full, short = 5_000, 300

    def run(self):
        hello = Handshake().feed()

        def answered(peer, data):
            # The client's last message, but for its last byte.
            said = peer.fact.feed(data)
            if said:
                peer.heard = None
                self.swarm.send(peer, said[:-1])

        def connect(number):
            address, kind = self.listening[number % 2], number // 2 % 5
            if kind == 3:
                handshake = Handshake()
                return self.swarm.connect(address, handshake.feed(), heard=answered, fact=handshake)
            begun = (b"", hello[:len(hello) // 2], hello, None, hello[:10])[kind]
            return self.swarm.connect(address, begun, fact=iter(hello[10:]) if kind == 4 else None)

        self.trickle()
        self.keep_open(self.amount, connect, 1_000)


class WrongRecords(Attack):
    name, entrance, access = "tls-wrong-records", "notices, requests, with TLS", "tls"
    does = ("3,000 connections with records that are none: random, a hello with bits changed, of 40 KiB, of SSL 2, in pieces of one byte, lengths "
            "that are a lie, floods of alerts and of changes of the cipher; and after a handshake that is done garbage, records that are "
            "empty or too long, heartbeats, and plain ZMTP.")
    full, short = 3_000, 200
    seconds = 15

    def before(self, kind):
        """What is sent instead of a handshake."""
        choose, hello = self.random, bytearray(Handshake().feed())
        if kind == 0:
            return record(HANDSHAKE, choose.randbytes(choose.randrange(1, 2_000)))
        if kind == 1:
            for _ in range(choose.randrange(1, 9)):
                hello[choose.randrange(5, len(hello))] ^= 1 << choose.randrange(8)
            return bytes(hello)
        if kind == 2:
            # A client's hello that says that it has 40 KiB, in three records.
            body = b"\1" + (40_000).to_bytes(3, "big") + b"\3\3" + choose.randbytes(39_998)
            return b"".join(record(HANDSHAKE, body[start:start + 16_384]) for start in range(0, len(body), 16_384))
        if kind == 3:
            return b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + choose.randbytes(37)
        if kind == 4:
            return b"".join(record(HANDSHAKE, hello[index:index + 1]) for index in range(5, len(hello)))
        if kind == 5:
            return record(HANDSHAKE, bytes(hello[5:]), size=choose.choice((0, 1, 16_641, 65_535)))
        flood = record(ALERT, b"\1\x5a") if kind == 6 else record(CHANGE_CIPHER, b"\1")
        return (bytes(hello) if choose.random() < 0.5 else b"") + flood * 4_000

    def after(self, kind):
        """What is sent where the other side takes records of an open session."""
        choose = self.random
        if kind == 0:
            return record(DATA, choose.randbytes(choose.randrange(1, 16_000)))
        if kind == 1:
            return record(DATA, b"") * 4_000
        if kind == 2:
            return record(DATA, choose.randbytes(17_000))
        if kind == 3:
            return record(HEARTBEAT, b"\1\xff\xff") * 100
        if kind == 4:
            return zmtp.greeting() + zmtp.ready(b"DEALER")
        return record(CHANGE_CIPHER, b"\1") * 4_000

    def connect(self, number):
        address, kind = self.listening[number % 2], number // 2 % 14
        if kind < 8:
            return self.swarm.connect(address, self.before(kind))
        handshake = Handshake((ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)[number // 28 % 2])

        def heard(peer, data):
            was_done = handshake.done
            said = handshake.feed(data)
            if handshake.done and not was_done:
                self.facts["handshakes"] += 1
                said += self.after(kind - 8)
            if said:
                self.swarm.send(peer, said)

        return self.swarm.connect(address, handshake.feed(), heard=heard)

    def run(self):
        waiting = collections.deque()
        for number in range(self.amount):
            if not self.goes_on():
                break
            peer = self.connect(number)
            if peer:
                waiting.append(peer)
            self.let_go(waiting, most=100, after=0.5)
        self.hold()


class KeyChanges(Attack):
    name, entrance, access = "tls-key-changes", "requests, with TLS", "tls"
    does = ("Eight processes of OpenSSL's own command that ask for another handshake (TLS 1.2) or change their keys (TLS 1.3) without end, and come "
            "again when they are closed.")
    full, short = 2_000, 60

    def start(self, number):
        version, line = (("-tls1_2", b"R\n"), ("-tls1_3", b"k\n"), ("-tls1_3", b"K\n"))[number % 3]
        host, port = host_port(self.address("requests"))
        process = subprocess.Popen(["openssl", "s_client", "-connect", f"{host}:{port}", version], stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.set_blocking(process.stdin.fileno(), False)
        return process, line

    def run(self):
        running, started = [], 0
        try:
            while self.goes_on() and (running or started < self.amount):
                while len(running) < 8 and started < self.amount:
                    running.append(self.start(started))
                    started += 1
                for each in list(running):
                    process, line = each
                    # Lines that it reads at once are one.
                    try:
                        os.write(process.stdin.fileno(), line)
                        self.facts["lines"] += 1
                    except BlockingIOError:
                        pass
                    except OSError:
                        process.kill()
                    if process.poll() is not None:
                        process.stdin.close()
                        self.facts["connections"] += 1
                        running.remove(each)
                time.sleep(0.001)
        finally:
            for process, _ in running:
                process.kill()
                process.wait()
                process.stdin.close()
        self.hold()


# Streams that ask for a token

class Guarded(Attack):
    """What attacks on streams with tokens share."""
    access = "tokens"

    @property
    def guarded(self):
        """A stream of its own that asks for a token."""
        return "guarded-" + self.stream

    def join(self, token, stream=None, session=SESSION, **fields):
        return encoded(1, session, join=listener_pb2.Join(stream=stream or self.context["streams"][0], push=True, token=token,
                                                          client="hostile", **fields))

    def granted(self):
        return measuring.metrics(self.context["addresses"]).get('cuecast_join_tokens_total{result="granted"}', 0)

    def joined(self, session):
        """A session of the attack's own that joined its stream as a listener does; gives its ticket."""
        while True:
            reply = listener_pb2.Reply.FromString(self.ask(self.join(self.context["token"], self.guarded, session), kind=b"DEALER"))
            if reply.status == status_pb2.STATUS_CODE_OK:
                return reply.joined.ticket
            if reply.status != status_pb2.STATUS_CODE_LIMIT_REACHED:
                raise RuntimeError(f"a proper join of the attack was refused: {reply.message}")


class ForgedTokens(Guarded):
    name, entrance = "forged-tokens", "requests, of a stream that asks for a token"
    does = ("20,000 joins with tokens that are none: none, cut, with a bit of each part changed, parts of two tokens, of an unknown key, by a key "
            "that is not the one it names, `alg` none, HS256 by the public key, over, for another stream, audience or issuer, of 4,097 bytes "
            "and of 64 KiB; and without push.")
    full, short = 20_000, 1_000
    seconds = 20

    def forge(self):
        choose, good = self.random, self.context["token"]
        claims = {"iss": "cuecast", "aud": "cuecast", "sub": "forged", "exp": int(time.time()) + 86_400, "streams": ["*"]}
        public = [(key["kid"], tokens.point(key)) for key in self.context["public_keys"]]
        head, body, signature = good.split(".")
        kinds = [
            lambda: "", lambda: "x" * choose.randrange(1, 100), lambda: good[:choose.randrange(1, len(good))],
            lambda: tokens.changed(good, 0, choose), lambda: tokens.changed(good, 1, choose), lambda: tokens.changed(good, 2, choose),
            lambda: ".".join((head, body, self.context["other_stream_token"].split(".")[2])),
            lambda: ".".join((head, tokens.part(claims), signature)), lambda: f"{head}.{body}.", lambda: f"{head}.{body}",
            lambda: f"{good}.{signature}", lambda: f"{good}=", lambda: f" {good}",
            lambda: tokens.part({"alg": choose.choice(("none", "None", "NONE", "")), "kid": choose.choice(public)[0]}) + f".{body}.",
            lambda: tokens.signed(choose.randbytes(32), {"alg": "HS256", "kid": "HS256"}, claims),
            lambda: tokens.signed(choose.randbytes(32), {"alg": "HS256", "kid": "unknown"}, claims),
            lambda: tokens.signed(choose.randbytes(32), {"alg": "HS256"}, claims),
            lambda: tokens.signed(b"", {"alg": "HS256", "kid": "HS256"}, claims),
            lambda: (lambda key: tokens.signed(key[1], {"alg": choose.choice(("HS256", "ES256", "EdDSA")), "kid": key[0]}, claims))(
                choose.choice(public)),
            lambda: self.context["short_token"], lambda: self.context["other_audience_token"], lambda: self.context["other_issuer_token"],
            lambda: good + "x" * (4_097 - len(good)), lambda: "x" * 65_536,
            lambda: ".".join(tokens.part(choose.randbytes(choose.randrange(1, 500))) for _ in range(3)),
            lambda: tokens.part({"alg": "ES256", "kid": "ES256", "x": "[" * 2_000}) + f".{body}.{signature}",
        ]
        return (self.join(kinds[number % len(kinds)](), session=self.session()) for number in range(self.amount * 9 // 10))

    def misuse(self):
        """True tokens that do not help: for another stream, and of who asks for no push, to whom a subscription brings nothing."""
        stream = self.context["streams"][0]
        for number in range(self.amount // 10):
            if number % 2:
                yield self.join(self.context["other_stream_token"], session=self.session())
            else:
                yield encoded(1, self.session(), join=listener_pb2.Join(stream=stream, token=self.context["token"]))

    def run(self):
        before = self.granted()
        # One on each connection: who has more refused is read from later.
        self.ask_all(self.forge(), 32, 1, windows_max=1)
        # Earlier listeners have a ticket: no other may have been granted anything meanwhile.
        self.facts["granted"] = int(self.granted() - before)
        self.ask_all(self.misuse(), 32, 1, windows_max=1)
        self.hold()

    def report(self):
        # One with which a listener was let in may have been granted too.
        return {**super().report(), "forged_joined": max(self.statuses["OK"], self.facts["granted"])}


class WrongSignatures(Guarded):
    name, entrance = "wrong-signatures", "requests, of a stream that asks for a token"
    does = ("Joins with a true token whose signature is another, as fast as they are taken, 100,000 a second at most, on 1,200 connections: "
            "more than may wait to be checked.")
    full, short = 2_000_000, 500
    seconds = 20

    def run(self):
        before = self.granted()
        head, body, _ = self.context["token"].split(".")
        marks = self.join(f"{head}.{body}." + "A" * 86, session=SESSION)
        first, rest = marks.split(SESSION)
        middle, last = rest.split(b"A" * 86)

        def forge():
            began = time.monotonic()
            for number in range(self.amount):
                if number % 1_000 == 0:
                    while number > (time.monotonic() - began) * 100_000 and self.goes_on():
                        time.sleep(0.001)
                yield first + self.session() + middle + tokens.part(self.random.randbytes(64)).encode() + last

        self.ask_all(forge(), 64 if self.context["short"] else 1_200, 16)
        self.facts["granted"] = int(self.granted() - before)
        self.hold()

    def report(self):
        return {**super().report(), "forged_joined": max(self.statuses["OK"], self.facts["granted"])}


class ForgedTickets(Guarded):
    name, entrance = "forged-tickets", "requests, of a stream that asks for a token"
    does = ("30,000 requests with tickets that are none: random, cut, longer, with a bit changed, of another session, of another stream, of a stream "
            "that asks for no token, and none at all; and, with a true ticket, deliveries of another session: batches, acknowledgements, joins and "
            "leaves.")
    full, short = 30_000, 1_500
    seconds = 20

    counted = ForgedDeliveries.counted

    def run(self):
        stream = self.guarded
        self.publish(stream, "b-1", pre_stream=True, hold_ms=3_600_000)
        # So many that the limit of a session's requests is not what refuses most of them.
        owns = [self.session() for _ in range(8 if self.context["short"] else 200)]
        other, elsewhere = self.session(), self.session()
        tickets = {session: self.joined(session) for session in (*owns, other)}
        reply = listener_pb2.Reply.FromString(self.ask(encoded(1, elsewhere, join=listener_pb2.Join(stream=self.stream))))
        foreign = reply.joined.ticket
        reply = listener_pb2.Reply.FromString(self.ask(encoded(
            2, other, ticket=tickets[other], get_batch=listener_pb2.GetBatch(stream=stream, break_id="b-1"))))
        if reply.status != status_pb2.STATUS_CODE_OK:
            raise RuntimeError(f"a proper request of the attack was refused: {reply.message}")
        delivery = reply.batch.delivery
        played = [("ad-0", listener_pb2.OUTCOME_KIND_PLAYED)]
        before = self.granted()

        def changed(ticket):
            made = bytearray(ticket)
            made[self.random.randrange(len(made))] ^= 1 << self.random.randrange(8)
            return bytes(made)

        def forge():
            choose, own = self.random, None
            kinds = [
                lambda: (own, b""), lambda: (own, choose.randbytes(len(good))), lambda: (own, good[:choose.randrange(1, len(good))]),
                lambda: (own, good + choose.randbytes(choose.randrange(1, 200))), lambda: (own, changed(good)),
                lambda: (own, tickets[other]), lambda: (self.session(), good), lambda: (elsewhere, foreign), lambda: (own, foreign),
            ]
            for number in range(self.amount):
                own = owns[number % len(owns)]
                good = tickets[own]
                session, ticket = kinds[number % len(kinds)]()
                what = number // len(kinds) % 5
                if what == 0:
                    request = {"get_batch": listener_pb2.GetBatch(stream=stream, break_id="b-1")}
                elif what == 1:
                    request = {"leave": listener_pb2.Leave(stream=stream)}
                elif what == 2:
                    request = {"join": listener_pb2.Join(stream=stream, push=True)}
                else:
                    # With a ticket that holds, and another session's delivery, now and then.
                    if what == 4:
                        session, ticket = own, good
                    body = listener_pb2.Request.FromString(self.acknowledgement(stream, "b-1", delivery, played, session, 1))
                    body.ticket = ticket
                    yield body.SerializeToString()
                    continue
                yield encoded(1, session, ticket=ticket, **request)

        self.ask_all(forge(), 16, 16)
        self.facts["granted"] = int(self.granted() - before)
        self.facts["counted"] = self.counted(stream)
        self.hold()

    def report(self):
        return {**super().report(), "forged_counted": self.facts["counted"], "forged_joined": self.facts["granted"],
                "forged_served": self.statuses["OK"]}


# Behind a balancer

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def proxy_header(rest, family=0x11, command=0x21, size=None, signature=SIGNATURE):
    """A header of the PROXY protocol, version 2; `size` is what it says that follows."""
    return signature + bytes((command, family)) + (len(rest) if size is None else size).to_bytes(2, "big") + rest


class ForgedHeaders(Attack):
    name, entrance, access = "forged-proxy-headers", "notices, requests, behind a balancer", "proxy"
    does = ("4,000 connections with headers of the PROXY protocol: good ones from an address that is no balancer's; from the balancer's address "
            "none, of version 1, 3 and 15, cut, lengths that are a lie, fields that are cut, twice, too long or have a wrong checksum, AF_UNIX, UDP, "
            "unknown families, and good ones before garbage.")
    full, short = 4_000, 300
    seconds = 15

    addresses = socket.inet_aton("192.0.2.7") + socket.inet_aton("192.0.2.1") + struct.pack(">HH", 40_000, 7_400)
    local = socket.inet_aton("127.0.0.1") * 2 + struct.pack(">HH", 40_000, 7_400)

    @staticmethod
    def field(kind, value, size=None):
        return bytes((kind,)) + (len(value) if size is None else size).to_bytes(2, "big") + value

    def shapes(self):
        """A message from the balancer's address, and whether ZMTP may follow."""
        choose, field, local = self.random, self.field, self.local
        six = bytes(15) + b"\1" + bytes(15) + b"\1" + bytes(4)
        yield from (
            b"", b"PROXY TCP4 192.0.2.7 192.0.2.1 40000 7400\r\n", b"PROXY UNKNOWN\r\n", proxy_header(local, command=0x31),
            proxy_header(local, command=0x22), proxy_header(local, command=0xF1), proxy_header(local, signature=SIGNATURE[:-1] + b"x"),
            proxy_header(local, size=0), proxy_header(local, size=len(local) - 1), proxy_header(local, size=len(local) + 200),
            proxy_header(local, size=65_535), proxy_header(local + field(5, bytes(4_200))), proxy_header(local + field(5, b"x", 60_000)),
            proxy_header(local + field(3, bytes(4))), proxy_header(local + field(3, bytes(4)) * 2), proxy_header(local + field(3, b"x")),
            proxy_header(local + b"\x20"), proxy_header(local + field(0x20, b"")), proxy_header(local + field(0x20, bytes(5)) * 2),
            proxy_header(bytes(216), family=0x31), proxy_header(bytes(216), family=0x32), proxy_header(local, family=0x12),
            proxy_header(b"", family=0), proxy_header(local, family=0xFF), proxy_header(six, family=0x21),
            proxy_header(local, family=0x21), proxy_header(choose.randbytes(100)), proxy_header(self.addresses),
            proxy_header(choose.randbytes(4_080)), proxy_header(b"", command=0x20) + choose.randbytes(300),
            proxy_header(local) + choose.randbytes(300), proxy_header(local) * 3,
        )

    def run(self):
        shapes, good = list(self.shapes()), [proxy_header(self.local), proxy_header(self.addresses), proxy_header(b"", command=0x20)]
        wanted = zmtp.greeting() + zmtp.ready(b"DEALER")
        waiting = collections.deque()

        def answered(peer, data):
            self.facts["answered"] += 1

        for number in range(self.amount):
            if not self.goes_on():
                break
            address = self.listening[number % 2]
            if number % 4 == 3:
                # Only a balancer may state the client: not a byte may come back.
                peer = self.swarm.connect(address, self.random.choice(good) + wanted, heard=answered)
            else:
                peer = self.swarm.connect(address, shapes[number // 2 % len(shapes)] + wanted, source=BALANCER)
            if peer:
                waiting.append(peer)
            self.let_go(waiting, most=100, after=0.3)
        self.hold()

    def report(self):
        return {**super().report(), "forged_answered": self.facts["answered"]}


class HalfHeaders(Attack):
    name, entrance, access = "half-proxy-headers", "notices, requests, behind a balancer", "proxy"
    does = ("3,000 connections from the balancer's address whose header never comes in full: nothing, half of it, all but the last byte, one byte a "
            "second, or a good one and no greeting. New ones take the place of those that are closed, 500 a second at most.")
    full, short = 3_000, 200

    def run(self):
        header = proxy_header(ForgedHeaders.local + ForgedHeaders.field(5, bytes(200)))
        parts = (b"", header[:14], header[:-1], header[:1], header)
        self.trickle()
        self.keep_open(self.amount, lambda number: self.swarm.connect(
            self.listening[number % 2], parts[number // 2 % 5], source=BALANCER,
            fact=iter(header[1:]) if number // 2 % 5 == 3 else None), 500)


ATTACKS = [Nothing, Garbage, HalfOpen, EndlessMultipart, InventedStreams, SubscriptionToggles, ManyTopics, WrongShapes,
           MutatedRequests, NeverRead, SlowReaders, PushedSlowReaders, ForgedDeliveries, AcknowledgementFlood, JoinsOneConnection,
           JoinsOneAddress, PushedJoins, PushedToggles, HTTPSlowLoris, HTTPIdle, HTTPListenersNeverRead, HTTPListenerJoins, HTTPBatchFlood,
           ForgedTrackings, Descriptors, ClaimedIdentity, Churn, PingFlood,
           LargeUnfinished, HalfTLS, WrongRecords, KeyChanges, ForgedTokens, WrongSignatures, ForgedTickets, ForgedHeaders,
           HalfHeaders]

_stopping = _holding = False


def say_holding():
    """Tells the parent process that the amount is done."""
    global _holding
    if not _holding:
        print("holding", flush=True)
    _holding = True


def stopped():
    """Whether the parent process wants the end: it says so, or has ended."""
    global _stopping
    if not _stopping and select.select([sys.stdin], [], [], 0)[0]:
        _stopping = True
    return _stopping
