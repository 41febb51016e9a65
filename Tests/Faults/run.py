#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Fault rounds: three gateways on three servers, with faults at random moments under publishing and acknowledging.

    scripts/jepsen.sh                                       200 rounds
    scripts/jepsen.sh --rounds 20 --seed 42 --faults partition,kill-leader
    scripts/jepsen.sh --short                               ten rounds, as `make test` has them
    scripts/jepsen.sh --keep                                keeps the folder with the history and all logs in any case

Each gateway and server is in a network namespace of its own. The seed chooses the faults, their targets and their moments; what
happens then depends on the machine. Where this user may have no namespaces, the run says so and has only faults of processes, on this
machine's own network; with --network it refuses instead.

A member that ends by itself, does not come back by itself, or does not go on after a round fails the run. Whether promises were kept is
for the checker, a program of its own, which reads the history.
"""
import argparse, faulthandler, fcntl, glob, json, os, random, shutil, signal, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "EndToEnd")]
import clients, faults, places
from harness import Broadcaster, Requester, broadcast_pb2, listener_pb2, notice_pb2, status_pb2, until
from history import History, break_info, notice, position
from members import GATEWAYS, SERVERS, Cluster

PREFIX = "cuecast-faults."
#: How many confirmed requests there have to be after a round before the next one begins.
GOES_ON_AFTER = 10
#: How many notices of each stream every gateway tells once more at the end.
TOLD_AGAIN = 100
#: A break changes no more.
OVER = {broadcast_pb2.BREAK_STATE_COMPLETE, broadcast_pb2.BREAK_STATE_CANCELLED, broadcast_pb2.BREAK_STATE_EXPIRED}


def options():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int)
    arguments.add_argument("--seed", type=int, default=os.environ.get("CUECAST_SEED"))
    arguments.add_argument("--faults", help=f"some of {','.join(faults.FAULTS)}")
    arguments.add_argument("--short", action="store_true")
    arguments.add_argument("--network", action="store_true")
    arguments.add_argument("--loopback", action="store_true", help="has only faults of processes, without namespaces")
    arguments.add_argument("--keep", action="store_true")
    chosen = arguments.parse_args()
    chosen.rounds = chosen.rounds or (10 if chosen.short else 200)
    chosen.seed = int(chosen.seed) if chosen.seed is not None else random.SystemRandom().randrange(1 << 32)
    chosen.faults = chosen.faults.split(",") if chosen.faults else None
    if unknown := set(chosen.faults or ()) - set(faults.FAULTS):
        arguments.error(f"there is no fault {', '.join(sorted(unknown))}; there are {', '.join(faults.FAULTS)}")
    return chosen


class Plan:
    """Which faults happen in each round, and for how long: chosen by the seed alone."""

    def __init__(self, names, is_short, seed):
        self.names, self.is_short, self.randomness = names, is_short, random.Random(seed)
        self.waiting = []

    def next(self):
        # Every fault has its turn: all of them in random order, again and again.
        if not self.waiting:
            self.waiting = self.randomness.sample(self.names, len(self.names))
        chosen = [self.waiting.pop()]
        seconds = self.randomness.uniform(0.3, 1.2 if self.is_short else 2)
        if not self.is_short:
            others = [name for name in faults.TOGETHER if name in self.names and name != chosen[0]]
            if chosen[0] in faults.TOGETHER and others and self.randomness.random() < 0.25:
                chosen.append(self.randomness.choice(others))
            # Longer than an election takes, and than the time after which a gateway is cut off.
            seconds = self.randomness.choice((seconds, self.randomness.uniform(1, 5), self.randomness.uniform(5, 14)))
        return chosen, seconds, self.randomness.uniform(0, 0.3 if self.is_short else 1)


class Run:
    def __init__(self, chosen, world, folder):
        self.chosen = chosen
        self.names = [name for name in chosen.faults or faults.FAULTS if name in faults.possible(world)]
        if not self.names:
            print(f"jepsen: none of these faults can be had here; there are {', '.join(faults.possible(world))}", flush=True)
            raise SystemExit(69)
        self.history = History(f"{folder}/history")
        self.cluster = Cluster(world, folder)
        self.stopping, self.clients = threading.Event(), []

    def begin_load(self):
        register_at = int((time.time() + clients.REGISTER_AHEAD_SECONDS) * 1_000) * 1_000
        shared = (self.cluster.gateways, self.history, self.chosen.seed, self.stopping)
        self.clients = [clients.Publisher(f"publisher-{number}", *shared, register_at=register_at) for number in range(4)]
        self.clients += [clients.Player(f"player-{number}", *shared) for number in range(6)]
        self.clients += [clients.Subscriber(f"subscriber-{number}", *shared) for number in range(2)]
        for client in self.clients:
            client.start()

    def check_clients(self):
        for client in self.clients:
            if client.fault:
                raise client.fault

    def check_members(self):
        """No member ends by itself."""
        for member in self.cluster.members:
            code = member.ended_by_itself()
            assert code is None, f"{member.place.name} ended by itself with {code}: {member.last_lines()}"

    def until_it_goes_on(self):
        self.cluster.until_ready(self.cluster.gateways)
        self.cluster.until_whole()
        before = self.history.confirmed

        def goes_on():
            self.check_clients()
            self.check_members()
            return self.history.confirmed >= before + GOES_ON_AFTER
        until("requests are confirmed again", goes_on)

    def rounds(self):
        plan = Plan(self.names, self.chosen.short, self.chosen.seed)
        randomness = random.Random(f"{self.chosen.seed} faults")
        for number in range(1, self.chosen.rounds + 1):
            chosen, seconds, pause = plan.next()
            time.sleep(pause)
            begin = self.history.now()
            said = faults.happen(self.cluster, randomness, chosen, seconds)
            healed = self.history.now()
            self.history.write("fault", round=number, faults=chosen, said=said, begin=begin, healed=healed)
            self.until_it_goes_on()
            print(f"round {number}: {'; '.join(said)}, for {healed - begin:.1f} s; went on after {self.history.now() - healed:.1f} s, "
                  f"{self.history.confirmed} confirmed", flush=True)

    def end_load(self):
        self.stopping.set()
        for client in self.clients:
            client.join()
        self.check_clients()

    # How it ended, as every gateway tells it to a client that asks.

    def tell_end(self):
        gateways = self.cluster.gateways
        self.cluster.until_ready(gateways)

        def counted(gateway):
            """The newest record of each lane, when all of them are counted."""
            lanes = gateway.get("/v1/reports?limit=1")["lanes"]
            return all(lane["offset"] == lane.get("head") for lane in lanes.values()) and {
                name: lane["head"] for name, lane in lanes.items()}

        def told():
            """What all gateways tell, if no record came meanwhile."""
            before = [counted(gateway) for gateway in gateways]
            if not all(before) or any(each != before[0] for each in before):
                return None
            finals = [{"gateway": number, "alarms": until("it tells its alarms", gateway.readiness)[1], "heads": self.heads(gateway, number),
                       "breaks": self.breaks(gateway), "reports": self.reports(gateway), "outcomes": self.outcomes(gateway)}
                      for number, gateway in enumerate(gateways)]
            return [counted(gateway) for gateway in gateways] == before and finals

        def over():
            return all(self.are_over(gateway) for gateway in gateways)
        # What is open ends by its time, and each end is a record: until then the log grows.
        until("every break is over at every gateway", over, lasting=20)
        for final in until("all gateways have counted the same log", told):
            self.history.write("final", **final)

    def are_over(self, gateway):
        return all(each.state in OVER for each in self.list(gateway) if each.break_id != clients.REGISTER)

    def breaks(self, gateway):
        return sorted((break_info(each) for each in self.list(gateway)), key=lambda each: (each["stream"], each["break"]))

    def list(self, gateway):
        found, after, peer = [], b"", Broadcaster(gateway)
        try:
            while True:
                reply = peer.ask(list=broadcast_pb2.List(after=after))
                assert reply.status == status_pb2.STATUS_CODE_OK, reply
                found += reply.list.breaks
                if not (after := reply.list.after):
                    return found
        finally:
            peer.close()

    def heads(self, gateway, number):
        """The newest position of each stream. A join with an older one has every notice since told again."""
        heads = {}
        for stream in clients.STREAMS:
            def ask(session, last):
                peer = Requester(gateway.addresses["requests"])
                try:
                    frame = listener_pb2.Request(request_id=1, session=session, join=listener_pb2.Join(stream=stream, last=last))
                    begin = self.history.now()
                    reply = listener_pb2.Reply.FromString(peer.exchange(frame.SerializeToString()))
                finally:
                    peer.close()
                assert reply.status == status_pb2.STATUS_CODE_OK, reply
                joined = reply.joined
                self.history.write("join", client="end", gateway=number, connection=0, begin=begin, end=self.history.now(),
                                   asked={"stream": stream, "session": session.hex(), "last": last and position(last)},
                                   answer={"status": "OK", "kind": listener_pb2.JoinKind.Name(joined.kind)[10:].lower(),
                                           "head": position(joined.head), "notices": [notice(each) for each in joined.notices]})
                return joined
            head = ask(os.urandom(16), None).head
            ask(os.urandom(16), notice_pb2.Position(epoch=head.epoch, sequence=max(head.sequence - TOLD_AGAIN, 1)))
            heads[stream] = position(head)
        return heads

    def reports(self, gateway):
        found, before = [], None
        while True:
            page = gateway.get("/v1/reports?limit=500" + (f"&before={before}" if before else ""))
            for each in page["breaks"]:
                found.append({"stream": each["stream"], "break": each["break"], "balanced": each.get("balanced"),
                              "ads": {one["id"]: one["counts"] for one in each["ads"]}})
            if (before := page.get("before")) is None:
                return found

    def outcomes(self, gateway):
        found, following = [], None
        while True:
            with gateway.open("/v1/outcomes" + (f"?from={following}" if following else "")) as answer:
                lines = [json.loads(line) for line in answer]
            last = lines.pop()
            for row in lines:
                outcome = row["outcome"] + (":" + row["reason"] if row.get("reason") else "")
                found.append({**{name: row[name] for name in ("stream", "break", "ad", "session")}, "outcome": outcome})
            if not last["more"]:
                return found
            following = last["next"]

    def run(self):
        try:
            self.cluster.start()
            print(f"three gateways and three servers run after {self.history.now():.1f} s", flush=True)
            self.begin_load()
            until("requests are confirmed", lambda: (self.check_clients(), self.history.confirmed >= GOES_ON_AFTER)[1])
            self.rounds()
            self.end_load()
            self.tell_end()
            for gateway in self.cluster.gateways:
                code = gateway.end()
                assert code == 0, f"{gateway.place.name} ended with {code}: {gateway.last_lines()}"
        except Exception:
            for member in self.cluster.members:
                for line in member.last_lines():
                    print(f"{member.place.name}: {line}", flush=True)
            raise
        finally:
            self.stopping.set()
            self.cluster.close()
            self.history.close()


def sweep():
    """Takes away the folders of runs that were killed: no process has their lock."""
    for folder in glob.glob(os.path.join(tempfile.gettempdir(), PREFIX + "*")):
        try:
            with open(f"{folder}/lock", "r+", encoding="ascii") as lock:  # A folder that is kept has none.
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
        except OSError:
            pass


def interrupted(number, _):
    raise SystemExit(128 + number)


def main():
    chosen = options()
    sweep()
    folder = tempfile.mkdtemp(prefix=PREFIX)
    lock = open(f"{folder}/lock", "w", encoding="ascii")
    fcntl.flock(lock, fcntl.LOCK_EX)
    print(f"CUECAST_SEED={chosen.seed}, {chosen.rounds} rounds", flush=True)
    began = time.monotonic()

    def body(world):
        faulthandler.register(signal.SIGUSR1)  # For a run that hangs.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, interrupted)
        Run(chosen, world, folder).run()
        return 0
    code, is_kept, names = 1, chosen.keep, SERVERS + GATEWAYS
    try:
        if chosen.loopback:
            code = body(places.Loopback(folder, names))
        else:
            try:
                code = places.alone(lambda: places.Network(folder, names), body)
            except places.NoNamespaces as error:
                if chosen.network:
                    print(f"jepsen: no namespaces with networks can be had ({error}): run it as root, or where they are allowed", file=sys.stderr)
                    return 77
                print(f"jepsen: no namespaces with networks can be had ({error}): only faults of processes, no partitions and full disks",
                      flush=True)
                code = body(places.Loopback(folder, names))
        if code == 0:
            code = subprocess.run([sys.executable, f"{HERE}/checker.py", f"{folder}/history"]).returncode
            print(f"{chosen.rounds} rounds in {time.monotonic() - began:.0f} s", flush=True)
        is_kept = is_kept or code == 1
    except Exception:
        is_kept = True
        raise
    finally:
        if is_kept:
            print(f"the history and all logs: {folder}; CUECAST_SEED={chosen.seed}", flush=True)
            lock.close()
            os.unlink(f"{folder}/lock")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
