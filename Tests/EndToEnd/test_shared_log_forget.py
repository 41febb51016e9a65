# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A listener is forgotten by several gateways on one log, and by its servers.

    scripts/end-to-end.sh SharedLogForget
"""
import json, os, random, signal, subprocess, time, unittest

from harness import BINARY, PATIENCE, status_pb2, until
from nats import NATSClient
from test_shared_log import SharedLogCase, made

OK, NOT_ALLOWED = status_pb2.STATUS_CODE_OK, status_pb2.STATUS_CODE_NOT_ALLOWED
ACKNOWLEDGEMENTS = "cuecast-acknowledgements-0"


class SharedLogForget(SharedLogCase):
    def forget(self, servers, *arguments, codes=(0,)):
        done = subprocess.run([BINARY, "forget", "--servers", servers.addresses, "--json", *arguments],
                              capture_output=True, text=True, timeout=max(PATIENCE, 300))
        self.assertIn(done.returncode, codes, f"{arguments}: {done.stdout}\n{done.stderr}")
        return json.loads(done.stdout) if done.stdout else None

    def files_with(self, folder, session):
        """The files below a folder that hold a session: its bytes, or its digits."""
        found = []
        for place, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                try:
                    with open(path, "rb") as file:
                        content = file.read()
                except OSError:
                    continue
                if any(form in content for form in (session, session.hex().encode(), session.hex().upper().encode())):
                    found.append(os.path.relpath(path, folder))
        return sorted(found)

    def reports(self, gateway, names):
        return {name: gateway.get(f"/v1/reports?stream=radio&break={name}")["breaks"][0]["ads"] for name in names}

    def played(self, gateways, names, outcomes):
        """Breaks that listeners of all gateways play; gives the listeners."""
        listeners = [self.listener(gateway) for gateway in gateways]
        for name in names:
            self.publish(gateways[0], name)
            for listener, outcome in zip(listeners, outcomes):
                while listener.next().break_id != name:
                    pass
                self.play(listener, name, outcome)
            self.end(gateways[0], name)
        return listeners

    def gone_from_streams(self, servers, session):
        """The streams' own files are overwritten at once; a copy may be a moment behind its leader."""
        until("the session is in no file of a stream",
              lambda: not [path for path in self.files_with(servers.folder, session) if "/streams/" in path])

    def gone_from_servers(self, servers, session):
        """The servers' own journals are written anew within 3 minutes, or when a server ends in order."""
        until("the session is in no file of any server",
              lambda: not [path for path in self.files_with(servers.folder, session) if not path.startswith("gateway-")],
              lasting=max(PATIENCE, 400))

    def test_no_file_of_any_gateway_or_server_holds_the_session_and_no_total_changes(self):
        servers = self.servers()
        made(servers)
        first = self.gateway(servers)
        second, third = (self.gateway(servers, keys_of=first) for _ in range(2))
        gateways, names = [first, second, third], ("one", "two")
        listeners = self.played(gateways, names, ("played", "failed", "played"))
        forgotten = listeners[0]
        for name in names:
            self.reports_agree(gateways, name, {"delivered": 3, "played": 2, "failed": 1})
        before = self.reports(second, names)
        self.assertGreater(self.forget(servers, "--session", forgotten.session.hex(), "--dry-run")["records"], 1)

        # One gateway is away, and one is killed meanwhile.
        self.assertEqual(third.stop(), 0)
        command = subprocess.Popen(
            [BINARY, "forget", "--servers", servers.addresses, "--json", "--wait", "600", "--session", forgotten.session.hex()],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: command.poll() is None and command.kill())
        until("a gateway refuses it", lambda: forgotten.batch("two").status == NOT_ALLOWED)
        second.process.send_signal(signal.SIGKILL)
        second.process.wait()
        second.process.stdout.close()
        second.start()
        third.start()
        said, complained = command.communicate(timeout=max(PATIENCE, 700))
        done = json.loads(said)
        self.assertEqual((command.returncode, done["done"], done["pending"]), (0, True, 0), (said, complained))
        self.assertEqual([(each["refused"], each["done"]) for each in done["gateways"]], [(True, True)] * 3, done)

        # Its repeats are refused at every gateway; others are served.
        for gateway in gateways:
            again = self.listener(gateway)
            again.session = forgotten.session
            self.assertEqual(again.batch("two").status, NOT_ALLOWED)
        for gateway in gateways:
            self.assertEqual(self.files_with(gateway.folder, forgotten.session), [])
            for name in names:
                self.reports_agree([gateway], name, {"delivered": 3, "played": 2, "failed": 1, "contradictions": 0})
            self.assertEqual(self.reports(gateway, names), before)
            searched = subprocess.run(
                [BINARY, "forget", "--session", forgotten.session.hex(), "--data-dir", gateway.folder + "/data", "--search"],
                capture_output=True, text=True, timeout=max(PATIENCE, 60))
            self.assertEqual((searched.returncode, searched.stdout.strip()), (0, "no file of the data directory holds it"))
        self.gone_from_servers(servers, forgotten.session)
        self.assertTrue(self.files_with(servers.folder, listeners[1].session))

        # The books go on, fit the log, and a new gateway comes to the same.
        new = self.gateway(servers, keys_of=first)
        for name in names:
            self.reports_agree([new], name, {"delivered": 3, "played": 2, "failed": 1})
        for gateway in gateways + [new]:
            until("nothing differs", lambda: gateway.verified(servers)["right"])
        self.publish(second, "three")
        self.play(self.listener(third), "three")
        self.reports_agree(gateways + [new], "three", {"delivered": 1, "played": 1})
        self.assertTrue(self.forget(servers, "--status")["done"])

        # A message that was deleted without a record in its place is found.
        for gateway in gateways + [new]:
            self.assertEqual(gateway.stop(), 0)
        client = NATSClient(servers.ports[0][0].address)
        self.addCleanup(client.close)
        client.api(f"STREAM.MSG.DELETE.{ACKNOWLEDGEMENTS}",
                   seq=client.api(f"STREAM.INFO.{ACKNOWLEDGEMENTS}")["state"]["last_seq"])
        found = first.verified(servers, code=1)
        self.assertTrue(any("has no record" in each for each in found["log"]), found)

    def test_the_command_is_killed_at_random_moments_and_a_server_that_is_away_is_waited_for(self):
        servers = self.servers()
        made(servers)
        gateway = self.gateway(servers)
        listeners = self.played([gateway] * 4, ("one",), ("played",) * 4)
        self.reports_agree([gateway], "one", {"delivered": 4, "played": 4})
        before = self.reports(gateway, ("one",))

        # The disk of a server that is away would keep what is erased. A leader may have to be elected before the session is ordered to
        # be forgotten; a command that ends before that says so, and --continue has nothing to go on with.
        self.assertIn("no session is being forgotten", self.forget(servers, "--continue", codes=(1,))["reason"])
        servers.kill(2)
        away = until("the server is missed",
                     lambda: self.forget(servers, "--session", listeners[0].session.hex(), "--wait", "5", codes=(1, 69)))
        self.assertFalse(away["done"])
        self.assertEqual((away["serversAway"], away["sessions"]), (["server-2"], 1))
        servers.start(2)
        # While the server comes back there may be no leader for a while.
        until("it is forgotten", lambda: (self.forget(servers, "--continue", codes=(0, 1, 69)) or {}).get("done"))
        self.gone_from_streams(servers, listeners[0].session)

        # Among the moments are those before the order, between the copy of a record and its erasure, and before gateways are told.
        seed = int(os.environ.get("CUECAST_SEED", time.time_ns() % 1_000_000))
        print(f"CUECAST_SEED={seed}", flush=True)
        moments = random.Random(seed)
        for listener in listeners[1:]:
            session = listener.session.hex()
            for _ in range(6):
                command = subprocess.Popen([BINARY, "forget", "--servers", servers.addresses, "--session", session],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    command.wait(moments.uniform(0.05, 1.2))
                except subprocess.TimeoutExpired:
                    command.kill()
                    command.wait()
            until("it is forgotten", lambda: (self.forget(servers, "--session", session, codes=(0, 1, 69)) or {}).get("done"))
            self.assertEqual(self.files_with(gateway.folder, listener.session), [])
            self.gone_from_streams(servers, listener.session)
            self.assertEqual(self.reports(gateway, ("one",)), before)
        self.assertTrue(gateway.verified(servers)["right"])
        gateway.process.send_signal(signal.SIGKILL)
        gateway.process.wait()
        gateway.process.stdout.close()
        gateway.start()
        self.assertEqual(self.reports(gateway, ("one",)), before)
        self.assertTrue(gateway.verified(servers)["right"])
        for listener in listeners:
            self.gone_from_servers(servers, listener.session)
        self.assertEqual(gateway.stop(), 0)

    def test_a_gateway_that_was_not_waited_for_counts_the_log_anew(self):
        servers = self.servers(1)
        made(servers)
        first = self.gateway(servers)
        second = self.gateway(servers, keys_of=first)
        listeners = self.played([first, second], ("one",), ("played", "failed"))
        self.reports_agree([first, second], "one", {"delivered": 2, "played": 1, "failed": 1})
        before = self.reports(second, ("one",))
        self.assertEqual(second.stop(), 0)
        session = listeners[0].session
        waiting = self.forget(servers, "--session", session.hex(), "--wait", "20", codes=(1,))
        self.assertEqual((waiting["done"], waiting["pending"], sorted(each["done"] for each in waiting["gateways"])),
                         (False, 1, [False, True]))
        missing = next(each["gateway"] for each in waiting["gateways"] if not each["done"])
        self.assertFalse(self.forget(servers, "--status", codes=(1,))["done"])
        self.assertTrue(self.forget(servers, "--continue", "--without", missing)["done"])
        self.assertTrue(self.files_with(second.folder, session))
        second.start()
        self.reports_agree([second], "one", {"delivered": 2, "played": 1, "failed": 1})
        self.assertEqual(self.reports(second, ("one",)), before)
        until("no file holds it", lambda: not self.files_with(second.folder, session))
        for gateway in (first, second):
            until("nothing differs", lambda: gateway.verified(servers)["right"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
