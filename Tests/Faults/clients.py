# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The clients of a fault run: broadcasters and players on stock libraries. They write down everything that they ask and are told.

They wait for an answer for some seconds, then ask another gateway, as a client behind a balancer does. A player takes its session, its
position and what is not confirmed with it.
"""
import itertools, random, threading, time

import zmq

from harness import PATIENCE, ad, broadcast_pb2, listener_pb2, notice_pb2, status_pb2
from history import break_info, notice, position

STREAMS = ("jazz", "news")
ADS = ("x", "y")
#: How long a client waits for an answer before it gives a gateway up, in seconds: at first, and half as much longer after each failure,
#: since a busy machine may take longer.
ANSWER_SECONDS = 5
#: An interval in the programme that several broadcasters change at once; so far ahead that it never begins.
REGISTER, REGISTER_AHEAD_SECONDS = "register", 5 * 3_600
#: A gateway has nothing more to say than that it is there: the client goes elsewhere.
AGAIN = {"UNAVAILABLE", "DRAINING", "RATE_LIMITED", "LIMIT_REACHED"}
connections = itertools.count(1)


def status(reply):
    return status_pb2.StatusCode.Name(reply.status).removeprefix("STATUS_CODE_")


class Client(threading.Thread):
    """One client on a thread of its own; `fault` is the exception that ended it."""

    def __init__(self, name, gateways, history, seed, stopping):
        super().__init__(name=name)
        self.gateways, self.history, self.stopping = gateways, history, stopping
        self.randomness = random.Random(f"{seed} {name}")
        self.at = self.randomness.randrange(len(gateways))
        self.counter, self.fault, self.patience = 0, None, ANSWER_SECONDS

    def run(self):
        try:
            while not self.stopping.is_set():
                self.work()
        except BaseException as fault:  # noqa: BLE001 - told at the end
            self.fault = fault

    def was_answered(self, reply):
        """Takes the next wait from how this one ended; gives the reply."""
        self.patience = min(1.5 * self.patience, max(PATIENCE, ANSWER_SECONDS)) if reply is None else ANSWER_SECONDS
        return reply

    def move(self):
        """To another gateway."""
        self.at = (self.at + self.randomness.randrange(1, len(self.gateways))) % len(self.gateways)

    def connect(self, kind, endpoint):
        socket = zmq.Context.instance().socket(kind)
        # Nothing waits for a connection that was lost.
        socket.linger, socket.sndtimeo = 0, 0
        # A connection that is lost is never made again behind the client's back.
        socket.reconnect_ivl = -1
        socket.connect(self.gateways[self.at].addresses[endpoint])
        return socket


class Publisher(Client):
    def __init__(self, *arguments, register_at):
        super().__init__(*arguments)
        self.stream = STREAMS[int(self.name.split("-")[1]) % len(STREAMS)]
        self.register_at, self.socket = register_at, None
        self.numbers = itertools.count(1)

    def run(self):
        self.insist("publish", {"break": REGISTER, "at_us": self.register_at}, publish=broadcast_pb2.Publish(
            stream=self.stream, break_id=REGISTER, advertisements=[ad("x")], start=broadcast_pb2.Start(at_us=self.register_at),
            duration_ms=60_000))
        super().run()
        self.drop()

    def drop(self):
        if self.socket:
            self.socket.close()
            self.socket = None

    def exchange(self, **kind):
        """The answer; `None` where none came in time."""
        self.counter += 1
        if not self.socket:
            self.socket = self.connect(zmq.REQ, "broadcast")
        try:
            self.socket.send(broadcast_pb2.BroadcastRequest(request_id=self.counter, **kind).SerializeToString())
            is_answered = self.socket.poll(self.patience * 1_000)
        except zmq.Again:
            is_answered = False
        if not is_answered:
            self.drop()
            return self.was_answered(None)
        reply = broadcast_pb2.BroadcastReply.FromString(self.socket.recv())
        assert reply.request_id == self.counter
        return self.was_answered(reply)

    def ask(self, op, asked, **kind):
        """Asks once; gives the status, `None` without an answer, and the reply."""
        asked, gateway, begin = {"stream": self.stream, **asked}, self.at, self.history.now()
        reply = self.exchange(**kind)
        answer = None
        if reply:
            answer = {"status": status(reply), "message": reply.message}
            if answer["status"] == "OK":
                answer |= {"changed": reply.changed, "break": break_info(getattr(reply, "break"))}
        self.history.write(op, client=self.name, gateway=gateway, begin=begin, end=self.history.now(), asked=asked, answer=answer)
        return answer and answer["status"], reply

    def insist(self, op, asked, **kind):
        """Asks until there is an answer that stands, or gives up, as one broadcaster in ten does after each failure."""
        while True:
            said, reply = self.ask(op, asked, **kind)
            if said is not None and said not in AGAIN:
                return said == "OK" and reply
            if self.stopping.is_set() or (self.randomness.random() < 0.1 and asked["break"] != REGISTER):
                return None
            self.move()
            self.drop()
            self.stopping.wait(self.randomness.uniform(0.05, 0.5))

    def work(self):
        chosen = self.randomness.random()
        if chosen < 0.2:
            self.change_register()
        else:
            self.make_break(chosen)
        if self.randomness.random() < 0.1:
            self.move()
            self.drop()
        self.stopping.wait(self.randomness.uniform(0.1, 0.5))

    def make_break(self, chosen):
        break_id = f"{self.name}-{next(self.numbers)}"
        asked, fields = {"break": break_id}, {"advertisements": [ad(name) for name in ADS]}
        if chosen < 0.6:
            fields |= {"pre_stream": True, "hold_ms": self.randomness.randrange(2_000, 5_000)}
        elif chosen < 0.8:
            fields |= {"duration_ms": 3_000, "hold_ms": 5_000}
        else:
            fields |= {"duration_ms": 1_500, "start": broadcast_pb2.Start(in_ms=200)}
        asked |= {"way": "pre-stream" if "pre_stream" in fields else "timed" if "start" in fields else "cued"}
        published = self.insist("publish", asked, publish=broadcast_pb2.Publish(stream=self.stream, break_id=break_id, **fields))
        if not published:
            return
        key = {"stream": self.stream, "break_id": break_id}
        if asked["way"] == "cued":
            self.insist("punch", {"break": break_id}, punch=broadcast_pb2.Punch(**key, start=broadcast_pb2.Start(in_ms=300)))
        if self.randomness.random() < 0.4:
            self.stopping.wait(self.randomness.uniform(0, 1))
            if self.randomness.random() < 0.5:
                self.insist("end", {"break": break_id}, end=broadcast_pb2.End(**key))
            else:
                self.insist("cancel", {"break": break_id}, cancel=broadcast_pb2.Cancel(**key))

    def change_register(self):
        """Changes the duration of the interval that others change, too, if it is still as it was read."""
        reply = self.exchange(list=broadcast_pb2.List(stream=self.stream, break_id=REGISTER))
        if not reply or status(reply) != "OK" or not reply.list.breaks:
            self.move()
            self.drop()
            return
        revision, duration = reply.list.breaks[0].revision, self.randomness.randrange(60_000, 3_000_000)
        self.ask("update", {"break": REGISTER, "expected_revision": revision, "duration_ms": duration}, expected_revision=revision,
                 update=broadcast_pb2.Update(stream=self.stream, break_id=REGISTER, duration_ms=duration))


class Player(Client):
    """Listens by one connection, on which notices are pushed; fetches batches, and acknowledges until it is confirmed."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.stream = STREAMS[int(self.name.split("-")[1]) % len(STREAMS)]
        self.topic = self.stream.encode() + b"\0"
        self.begin_session()

    def begin_session(self):
        self.session, self.last, self.ticket = self.randomness.randbytes(16), None, b""
        #: Breaks to fetch, and what is to be acknowledged: (break, delivery, outcomes).
        self.wanted, self.outbox = [], []

    @property
    def session_text(self):
        return self.session.hex()

    #: How notices come, as a join in the history says it.
    way = "push"

    def work(self):
        self.connection = next(connections)
        self.open()
        try:
            if self.join_stream():
                self.listen()
        finally:
            self.close()
        if not self.outbox and self.randomness.random() < 0.2:
            self.begin_session()
        self.move()
        self.stopping.wait(self.randomness.uniform(0, 0.3))

    def open(self):
        self.socket = self.connect(zmq.DEALER, "requests")

    def close(self):
        self.socket.close()

    # One request after the other; notices come between.

    def ask(self, **kind):
        """The answer; `None` where none came in time."""
        self.counter += 1
        request = listener_pb2.Request(request_id=self.counter, session=self.session, ticket=self.ticket, **kind)
        try:
            self.socket.send_multipart([b"", request.SerializeToString()])
        except zmq.Again:
            return None
        deadline = time.monotonic() + self.patience
        while (left := deadline - time.monotonic()) > 0:
            reply = self.receive(left)
            if isinstance(reply, listener_pb2.Reply) and reply.request_id == self.counter:
                return self.was_answered(reply)
        return self.was_answered(None)

    def receive(self, seconds):
        """What comes next: a reply, `True` for a notice, which is applied; `None`: nothing came."""
        if not self.socket.poll(seconds * 1_000):
            return None
        frames = self.socket.recv_multipart()
        if len(frames) == 2 and not frames[0]:
            return self.take_reply(frames[1])
        assert len(frames) == 1, frames
        return self.take_notice(frames[0])

    def take_reply(self, frame):
        reply = listener_pb2.Reply.FromString(frame)
        self.clock_us = reply.gateway_us - time.monotonic_ns() // 1_000
        return reply

    def take_notice(self, frame):
        assert frame.startswith(self.topic), frame
        said = notice(notice_pb2.Notice.FromString(frame[len(self.topic):]))
        self.history.write("notice", client=self.name, gateway=self.at, connection=self.connection, at=self.history.now(),
                           stream=self.stream, session=self.session_text, notice=said)
        if said["kind"] != "head" and not self.is_known(said):
            self.apply(said)
        return True

    def is_known(self, said):
        return False

    def apply(self, said):
        self.last = said["position"]
        if said["kind"] == "available":
            self.wanted.append(said["break"])

    def told(self, op, begin, asked, answer):
        self.history.write(op, client=self.name, gateway=self.at, connection=self.connection, begin=begin, end=self.history.now(),
                           asked={"stream": self.stream, "session": self.session_text, **asked}, answer=answer)

    def join_stream(self):
        begin, asked = self.history.now(), self.last
        last = notice_pb2.Position(epoch=int(asked[0]), sequence=asked[1]) if asked else None
        reply = self.ask_to_join(last)
        answer = None
        if reply:
            answer = {"status": status(reply), "message": reply.message}
            if answer["status"] == "OK":
                assert reply.joined.pushed == (self.way == "push")
                kind = listener_pb2.JoinKind.Name(reply.joined.kind).removeprefix("JOIN_KIND_").lower()
                answer |= {"kind": kind, "head": position(reply.joined.head), "notices": [notice(each) for each in reply.joined.notices]}
        self.told("join", begin, {"last": asked, "way": self.way}, answer)
        if not answer or answer["status"] != "OK":
            return False
        for said in answer["notices"]:
            self.apply(said)
        self.last = answer["head"]
        self.ticket, self.silence = reply.joined.ticket, 2.5 * reply.joined.head_interval_ms / 1_000
        return True

    def ask_to_join(self, last):
        return self.ask(join=listener_pb2.Join(stream=self.stream, last=last, push=True, client="fault rounds"))

    def listen(self):
        """Until the gateway is silent or refuses, or the player moves by itself."""
        heard, leave_at = time.monotonic(), time.monotonic() + self.randomness.uniform(2, 20)
        while not self.stopping.is_set() and time.monotonic() < leave_at:
            if self.receive(0.1):
                heard = time.monotonic()
                continue
            if time.monotonic() - heard > self.silence:
                return
            if self.outbox or self.wanted:
                if not (self.acknowledge() if self.outbox else self.fetch()):
                    return
                heard = time.monotonic()
        if self.randomness.random() < 0.5 and not self.stopping.is_set():
            self.ask(leave=listener_pb2.Leave(stream=self.stream))

    def fetch(self):
        """Asks for the batch of a break; whether the gateway is of use."""
        break_id, begin = self.wanted.pop(0), self.history.now()
        reply = self.ask(get_batch=listener_pb2.GetBatch(stream=self.stream, break_id=break_id))
        answer = reply and {"status": status(reply), "message": reply.message}
        if answer and answer["status"] == "OK":
            names = [each.id for each in reply.batch.advertisements]
            answer |= {"delivery": reply.batch.delivery.hex(), "ads": names}
            if names and self.randomness.random() < 0.9:  # The others never say what they did.
                outcomes = {name: self.randomness.choice(["played", "played", "failed", "ignored:user"]) for name in names}
                self.outbox.append((break_id, reply.batch.delivery, outcomes))
        self.told("batch", begin, {"break": break_id}, answer)
        if not answer or answer["status"] in AGAIN:
            self.wanted.append(break_id)
            return False
        return True

    def acknowledge(self):
        """Acknowledges what is next in the outbox; whether the gateway is of use."""
        break_id, delivery, outcomes = self.outbox[0]
        kinds = {"played": listener_pb2.OUTCOME_KIND_PLAYED, "failed": listener_pb2.OUTCOME_KIND_FAILED}
        # A player that restarted may say something else the second time.
        if self.randomness.random() < 0.02:
            outcomes = {name: "failed" for name in outcomes}
        begin = self.history.now()
        reply = self.ask(acknowledge=listener_pb2.Acknowledge(stream=self.stream, break_id=break_id, delivery=delivery, outcomes=[
            listener_pb2.Outcome(
                advertisement_id=name, kind=kinds.get(outcome, listener_pb2.OUTCOME_KIND_IGNORED), evidence=listener_pb2.EVIDENCE_REPORTED,
                reason=listener_pb2.IGNORE_REASON_UNSPECIFIED if outcome in kinds else listener_pb2.IGNORE_REASON_USER,
                # By the clock of the gateway that it is told, as it was a moment ago.
                occurred_us=self.clock_us + time.monotonic_ns() // 1_000)
            for name, outcome in outcomes.items()]))
        answer = reply and {"status": status(reply), "message": reply.message}
        if answer and answer["status"] == "OK":
            answer["recorded"] = reply.acknowledged.recorded
        self.told("acknowledge", begin, {"break": break_id, "delivery": delivery.hex(), "outcomes": outcomes}, answer)
        if not answer or answer["status"] in AGAIN:
            return False
        # It is repeated once in a while although it is confirmed, as by a player that was killed before it wrote that down.
        if answer["status"] != "OK" or self.randomness.random() < 0.95:
            self.outbox.pop(0)
        return True


class Subscriber(Player):
    """A player with two connections: it subscribes, proves that by a tick, and joins then."""

    way, SYNC = "subscription", b"~sync\0"

    def open(self):
        super().open()
        self.notices, self.has_joined = self.connect(zmq.SUB, "notices"), False
        #: Notices that came before the join was answered.
        self.early = []

    def close(self):
        super().close()
        self.notices.close()

    def ask_to_join(self, last):
        self.notices.subscribe(self.topic)
        self.notices.subscribe(self.SYNC)
        deadline = time.monotonic() + self.patience
        while (left := deadline - time.monotonic()) > 0 and self.notices.poll(left * 1_000):
            frame = self.notices.recv()
            if not frame.startswith(self.SYNC):
                self.early.append(frame)
                continue
            tick = notice_pb2.SyncTick.FromString(frame[len(self.SYNC):])
            reply = self.ask(join=listener_pb2.Join(stream=self.stream, last=last, instance=tick.instance, client="fault rounds"))
            # The two connections may have met two runs of the gateway; then the tick proves nothing.
            if not reply or status(reply) != "OK" or reply.joined.instance == tick.instance:
                return reply
            return None
        return None

    def join_stream(self):
        self.has_joined = super().join_stream()
        if self.has_joined:
            self.known = self.last
            self.notices.unsubscribe(self.SYNC)
            for frame in self.early:
                self.take_notice(frame)
        return self.has_joined

    def receive(self, seconds):
        poller = zmq.Poller()
        poller.register(self.socket, zmq.POLLIN)
        if self.has_joined:
            poller.register(self.notices, zmq.POLLIN)
        ready = dict(poller.poll(seconds * 1_000))
        if self.notices in ready:
            frame = self.notices.recv()
            return True if frame.startswith(self.SYNC) else self.take_notice(frame)
        return self.take_reply(self.socket.recv_multipart()[1]) if ready else None

    def is_known(self, said):
        """It came between the subscription and the join."""
        return said["position"][0] == self.known[0] and said["position"][1] <= self.known[1]
