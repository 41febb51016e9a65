# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Several gateways as processes on one log that servers of NATS keep.

    scripts/end-to-end.sh SharedLog SharedLogRefusals
"""
import json, os, shutil, signal, subprocess, unittest, urllib.error, urllib.request

from harness import BINARY, PATIENCE, Broadcaster, Listener, LoggedGateway, ad, broadcast_pb2, listener_pb2, run_patiently, status_pb2, until
from nats import NATSServers

OK, UNAVAILABLE = status_pb2.STATUS_CODE_OK, status_pb2.STATUS_CODE_UNAVAILABLE
NOW = broadcast_pb2.Start(now=True)
#: So long that no break is over because the machine is slow.
HALF_AN_HOUR_MS = 1_800_000
KINDS = ("delivered", "played", "ignored", "failed", "unknown", "contradictions")


class SharedGateway(LoggedGateway):
    """A gateway of a shared log; `keys_of` is the one whose signing keys it has."""

    def __init__(self, folder, servers, *arguments, keys_of=None, binary=BINARY):
        self.keys_of, self.binary = keys_of, binary
        super().__init__(folder, "--set", f"jetstream.servers={servers.addresses}", "--set", "jetstream.syncAlways=true",
                         *arguments)

    def start(self):
        if self.keys_of:
            os.makedirs(self.folder + "/data", mode=0o700, exist_ok=True)
            shutil.copy(self.keys_of.folder + "/data/signing.keys", self.folder + "/data/signing.keys")
        super().start()

    def verify(self):
        """The log is not in the folder: the ledger is compared with itself. (SharedLogBooks compares with the log.)"""
        found = self.verified(None, "--ledger-only")
        assert found["right"], found

    def verified(self, servers, *arguments, code=0, data=None):
        """What `cuecast verify` says of the gateway's directory, or of a copy of it, and the log of some servers."""
        where = ["--servers", servers.addresses] if servers else []
        done = subprocess.run([BINARY, "verify", "--json", "--data-dir", data or self.folder + "/data", *where, *arguments],
                              capture_output=True, text=True, timeout=max(PATIENCE, 120))
        assert done.returncode == code, f"verify: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout) if code in (0, 1) else done.stderr

    def readiness(self):
        """The status of /readyz, what is missing, and the alarms."""
        try:
            with urllib.request.urlopen(f"http://{self.addresses['http']}/readyz", timeout=PATIENCE) as answer:
                status, said = answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                status, said = error.code, json.load(error)
        return status, said["missing"], [each["alarm"] for each in said["alarms"]]


def cluster(*arguments, code=0):
    """Runs `cuecast cluster …` and insists on its exit code; gives what it printed, or complained about."""
    done = run_patiently([BINARY, "cluster", *arguments], code)
    assert done.returncode == code, f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def made(servers):
    """Makes a log as soon as the servers have found each other."""
    def make():
        done = subprocess.run([BINARY, "cluster", "init", "--servers", servers.addresses, "--replicas", str(len(servers.ports)),
                               "--json"], capture_output=True, text=True, timeout=max(PATIENCE, 60))
        assert done.returncode in (0, 69), f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout) if done.returncode == 0 else None
    return until("the log is made", make)


def status(servers):
    """The state of the log, whether everything is as it has to be or not; `None`: no answer."""
    done = subprocess.run([BINARY, "cluster", "status", "--servers", servers.addresses, "--json"], capture_output=True, text=True,
                          timeout=max(PATIENCE, 60))
    return json.loads(done.stdout) if done.returncode in (0, 1) else None


def leader(servers, lane="breaks"):
    """The server that leads a lane."""
    def led():
        found = status(servers)
        return next((each.get("leader") for each in found["streams"] if each["lane"] == lane), None) if found else None
    return until("there is a leader", led)


class SharedLogCase(unittest.TestCase):
    def servers(self, count=3):
        servers = NATSServers(count)
        self.addCleanup(servers.close)
        return servers

    def gateway(self, servers, *arguments, keys_of=None, binary=BINARY):
        folder = f"{servers.folder}/gateway-{len(os.listdir(servers.folder))}"
        os.makedirs(folder)
        gateway = SharedGateway(folder, servers, *arguments, keys_of=keys_of, binary=binary)
        self.addCleanup(gateway.close)
        return gateway

    def listener(self, gateway, stream="radio", session=None, last=None):
        listener = Listener(gateway, stream, session=session)
        self.addCleanup(listener.close)
        listener.last = last
        listener.joined = listener.join()
        return listener

    def ask(self, gateway, **kind):
        broadcaster = Broadcaster(gateway)
        try:
            return broadcaster.ask(**kind)
        finally:
            broadcaster.close()

    def publish(self, gateway, break_id, stream="radio"):
        """Publishes a break, again for as long as the log has no leader."""
        def published():
            reply = self.ask(gateway, publish=broadcast_pb2.Publish(
                stream=stream, break_id=break_id, advertisements=[ad("x", HALF_AN_HOUR_MS)], start=NOW, duration_ms=HALF_AN_HOUR_MS))
            self.assertIn(reply.status, (OK, UNAVAILABLE), reply.message)
            return reply.status == OK
        until(f"{break_id} is published", published)

    def end(self, gateway, break_id, stream="radio"):
        def ended():
            reply = self.ask(gateway, end=broadcast_pb2.End(stream=stream, break_id=break_id))
            self.assertIn(reply.status, (OK, UNAVAILABLE), reply.message)
            return reply.status == OK
        until(f"{break_id} is ended", ended)

    def play(self, listener, break_id, what="played"):
        """Fetches a batch and acknowledges it, again for as long as the log has no leader."""
        def fetched():
            reply = listener.batch(break_id)
            self.assertIn(reply.status, (OK, UNAVAILABLE), reply)
            return reply.batch if reply.status == OK else None
        batch = until(f"the batch of {break_id}", fetched)

        def acknowledged():
            reply = listener.acknowledge(break_id, batch.delivery, {"x": what})
            self.assertIn(reply.status, (OK, UNAVAILABLE), reply)
            return reply.status == OK
        until(f"{break_id} is acknowledged", acknowledged)

    def reports_agree(self, gateways, break_id, expected, stream="radio"):
        """The books of all gateways balance, and say what is expected."""
        for number, gateway in enumerate(gateways):
            def counted():
                try:
                    found = gateway.get(f"/v1/reports?stream={stream}&break={break_id}")
                except urllib.error.URLError:
                    return None
                counts = {kind: found["breaks"][0]["ads"][0]["counts"][kind] for kind in KINDS} if found["breaks"] else {}
                return found["balanced"] and all(counts.get(kind) == value for kind, value in expected.items())
            until(f"gateway {number} counts {break_id} as {expected}", counted)


class SharedLog(SharedLogCase):
    def test_three_gateways_lose_nothing_when_a_gateway_and_a_server_are_killed_and_when_the_log_is_away(self):
        servers = self.servers()
        log = made(servers)
        self.assertEqual((log["replicas"], len(log["streams"])), (3, 3))
        self.assertIn("there is a log already", cluster("init", "--servers", servers.addresses, code=65))
        first = self.gateway(servers)
        second, third = (self.gateway(servers, keys_of=first) for _ in range(2))
        gateways = [first, second, third]
        until("they know of each other", lambda: all(each.metric("cuecast_gateways") == 3 for each in gateways))

        # A break of one gateway is heard at all, at the same position, and counted at all.
        listeners = [self.listener(gateway) for gateway in gateways for _ in range(3)]
        self.publish(first, "one")
        positions = {(notice.position.epoch, notice.position.sequence) for notice in (each.next() for each in listeners)}
        self.assertEqual(len(positions), 1, positions)
        for listener in listeners:
            self.play(listener, "one")
        self.reports_agree(gateways, "one", {"delivered": 9, "played": 9, "unknown": 0})

        # A gateway changes the break of another one.
        self.end(third, "one")
        for listener in listeners:
            self.assertEqual(listener.next().break_id, "one")

        # A gateway and the server that leads are killed: players of that gateway move, with what they know.
        second.process.send_signal(signal.SIGKILL)
        second.process.wait()
        killed = servers.kill_named(leader(servers))
        self.publish(third, "two")
        moved = [self.listener(first, session=each.session, last=each.last) for each in listeners[3:6]]
        for listener in moved:
            self.assertEqual(listener.joined.kind, listener_pb2.JOIN_KIND_RECOVERED)
            if not any(notice.break_id == "two" for notice in listener.applied):
                self.assertEqual(listener.next().break_id, "two")
        stayed = listeners[:3] + listeners[6:]
        for listener in stayed:
            self.assertEqual(listener.next().break_id, "two")
        for number, listener in enumerate(stayed + moved):
            self.play(listener, "two", "played" if number % 2 == 0 else "failed")
        expected = {"delivered": 9, "played": 5, "failed": 4, "unknown": 0, "contradictions": 0}
        self.reports_agree([first, third], "two", expected)
        servers.start(killed)
        second.process.stdout.close()
        second.start()
        self.reports_agree(gateways, "one", {"delivered": 9, "played": 9, "unknown": 0})
        self.reports_agree(gateways, "two", expected)

        # Without two servers of three nothing is recorded: gateways serve what they know, say why, and come back by themselves.
        away = [place for place in range(3) if place != killed]
        for place in away:
            servers.kill(place)
        for gateway in gateways:
            until("it says that it is cut off", lambda: gateway.readiness()[:2] == (503, ["log"]) and "logCutOff" in gateway.readiness()[2])
        refused = self.ask(first, publish=broadcast_pb2.Publish(
            stream="other", break_id="three", advertisements=[ad("x")], start=NOW, duration_ms=HALF_AN_HOUR_MS))
        self.assertEqual(refused.status, UNAVAILABLE, refused.message)
        self.assertTrue(any(notice.break_id == "two" for notice in self.listener(third).applied))
        self.assertEqual(stayed[-1].batch("two").status, OK)
        self.assertEqual(stayed[-1].ask(get_time=listener_pb2.GetTime()).status, OK)
        for place in away:
            servers.start(place)
        for gateway in gateways:
            until("it is ready again without a request", lambda: gateway.readiness()[:2] == (200, []))
            until("the alarm is over", lambda: "logCutOff" not in gateway.readiness()[2])
        self.end(first, "two")
        self.publish(first, "three")
        for listener in stayed + moved:
            while listener.next().break_id != "three":
                pass
            self.play(listener, "three")
        self.reports_agree(gateways, "three", {"delivered": 9, "played": 9, "unknown": 0})
        self.reports_agree(gateways, "two", expected)
        until("the boards agree", lambda: not any("boardsDiffer" in gateway.readiness()[2] for gateway in gateways))
        state = until("every copy is current again", lambda: (found := status(servers)) and not found["faults"] and found)
        self.assertEqual((state["log"], [each["replicas"] for each in state["streams"]]), (log["log"], [3, 3]))
        for gateway in gateways:
            self.assertEqual(gateway.stop(), 0)


class SharedLogOperators(SharedLogCase):
    def test_one_gateway_shows_the_listeners_and_the_audit_of_all_and_names_those_that_do_not_answer(self):
        servers = self.servers(1)
        made(servers)
        first = self.gateway(servers)
        second = self.gateway(servers, keys_of=first)
        gateways = [first, second]
        until("they know of each other", lambda: all(each.metric("cuecast_gateways") == 2 for each in gateways))
        listeners = [self.listener(gateway) for gateway in (first, second, second)]
        for gateway in gateways:
            until("all listeners are counted", lambda: gateway.get("/v1/streams/radio")["listeners"] == 3)
            self.assertEqual(json.loads(gateway.run("streams", "--format", "json"))["streams"][0]["listeners"], 3)
        self.publish(first, "one")
        self.publish(second, "two", stream="radio2")

        def audit(*arguments, code=0):
            done = run_patiently([BINARY, "audit", "--format", "json", *arguments], code, env=first.environment)
            assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
            return json.loads(done.stdout), done.stderr

        def both():
            document, _ = audit()
            return document if {each.get("break") for each in document["entries"]} >= {"one", "two"} else None
        document = until("the lines of both are there", both)
        self.assertEqual((document["gateways"], document["unanswered"]), (2, []))
        self.assertEqual(len({each["gateway"] for each in document["entries"] if each["action"] == "publish"}), 2)
        self.assertEqual({each.get("break") for each in audit("--this-gateway")[0]["entries"]} & {"one", "two"}, {"one"})
        self.assertEqual([each["break"] for each in audit("--stream", "radio2")[0]["entries"]], ["two"])
        self.assertIn("GATEWAY", first.run("audit"))

        # One that stands still is named; what it was asked is missing, and the exit code says so.
        second.process.send_signal(signal.SIGSTOP)
        try:
            document, said = audit(code=1)
            self.assertEqual([each["reason"] for each in document["unanswered"]], ["It did not answer in time."])
            self.assertIn(f"at {second.addresses['requests']} are missing", said)
            self.assertNotIn("two", {each.get("break") for each in document["entries"]})
        finally:
            second.process.send_signal(signal.SIGCONT)
        until("it answers again", both)
        for gateway in gateways:
            self.assertEqual(gateway.stop(), 0)
        self.assertEqual(len(listeners), 3)


class SharedLogRefusals(SharedLogCase):
    def serve(self, folder, *settings, code=69):
        """What a gateway says that does not start."""
        flags = [flag for key, value in (setting.split("=", 1) for setting in settings) for flag in ("--set", f"{key}={value}")]
        done = subprocess.run(
            [BINARY, "serve", "--data-dir", folder, "--notices", "tcp://127.0.0.1:*", "--requests", "tcp://127.0.0.1:*",
             "--broadcast", "tcp://127.0.0.1:*", "--http", "none", *flags],
            capture_output=True, text=True, timeout=max(PATIENCE, 120))
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_a_directory_belongs_to_one_log(self):
        servers = self.servers(1)
        made(servers)
        log = [f"jetstream.servers={servers.addresses}", "jetstream.syncAlways=true"]
        gateway = self.gateway(servers)
        listener = self.listener(gateway)
        self.publish(gateway, "one")
        listener.next()
        self.play(listener, "one")
        self.reports_agree([gateway], "one", {"played": 1})
        data = gateway.folder + "/data"

        # Commands that do not work on such a log say so, while it runs and when it does not.
        session = listener.session.hex()
        for _ in range(2):
            self.assertIn("several gateways share", gateway.run("backup", "--data-dir", data, "--to", servers.folder + "/b", code=69))
            self.assertIn("several gateways share", gateway.run("forget", "--data-dir", data, "--session", session, code=69))
            self.assertIn("--ledger-only", gateway.run("verify", "--data-dir", data, code=69))
            if gateway.process.poll() is None:
                self.assertEqual(gateway.stop(), 0)
        self.assertFalse(os.path.exists(servers.folder + "/b"))
        self.assertIn("several gateways share", self.serve(data))

        # Another log, and a log that was made anew.
        cluster("init", "--servers", servers.addresses, "--prefix", "other", "--replicas", "1")
        self.assertIn("the servers have the log", self.serve(data, *log, "jetstream.prefix=other"))
        self.assertIn("cuecast cluster init", self.serve(data, *log, "jetstream.prefix=none"))

        # A directory with a log of its own; a backup of it goes into no directory of a shared log.
        own = servers.folder + "/own"
        with_own = LoggedGateway(servers.folder)
        self.addCleanup(with_own.close)
        self.assertEqual(with_own.stop(), 0)
        shutil.copytree(with_own.folder + "/data", own)
        self.assertIn("it has an event log or a ledger of its own", self.serve(own, *log))
        gateway.run("backup", "--data-dir", own, "--to", servers.folder + "/copy")
        self.assertIn("several gateways share", gateway.run(
            "restore", "--from", servers.folder + "/copy", "--data-dir", data, "--replace", code=69))

        # Keys that others have not.
        fresh = servers.folder + "/fresh"
        self.assertIn("copy the file of one of them", self.serve(fresh, *log))

        # Nothing of that has changed anything.
        gateway.start()
        self.reports_agree([gateway], "one", {"played": 1})
        self.assertEqual(gateway.stop(), 0)

    def test_settings_that_cannot_hold_are_refused_with_a_sentence(self):
        folder = os.path.join(self.servers(1).folder, "none")
        servers = "jetstream.servers=nats://127.0.0.1:4222"
        self.assertIn("jetstream.syncAlways: it must be true", self.serve(folder, servers, code=65))
        self.assertIn("there is no such file", self.serve(
            folder, servers, "jetstream.syncAlways=true", "jetstream.credentialsFile=/nowhere/at.all", code=65))
        self.assertIn("jetstream.prefix: it must be", self.serve(folder, servers, "jetstream.prefix=a.b", code=65))
        self.assertIn("nothing encrypts the way", self.serve(
            folder, "jetstream.servers=nats://nats.example:4222", "jetstream.syncAlways=true", code=65))
        self.assertFalse(os.path.exists(folder))
        self.assertIn("--replicas", cluster("init", "--servers", "nats://127.0.0.1:1", "--replicas", "2", code=64))
        self.assertIn("did not answer", cluster("status", "--servers", "nats://127.0.0.1:1", code=69))
        self.assertIn("no servers are named", cluster("status", code=64))

    def test_a_log_that_went_back_while_the_gateway_was_down_is_refused(self):
        servers = self.servers(1)
        made(servers)
        gateway = self.gateway(servers)
        listener = self.listener(gateway)
        self.publish(gateway, "one")
        listener.next()
        self.play(listener, "one")
        self.reports_agree([gateway], "one", {"played": 1})
        self.assertEqual(gateway.stop(), 0)
        servers.kill(0)
        shutil.copytree(servers.store(0), servers.folder + "/before")
        servers.start(0)
        gateway.start()
        self.end(gateway, "one")
        self.publish(gateway, "two")
        self.play(listener, "two")
        self.reports_agree([gateway], "two", {"played": 1})
        self.assertEqual(gateway.stop(), 0)
        servers.kill(0)
        shutil.rmtree(servers.store(0))
        shutil.move(servers.folder + "/before", servers.store(0))
        servers.start(0)
        self.assertIn("the shared log went back", self.serve(
            gateway.folder + "/data", f"jetstream.servers={servers.addresses}", "jetstream.syncAlways=true"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
