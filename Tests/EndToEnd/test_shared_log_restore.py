# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A log that all its servers have lost comes back from a backup: breaks, books and players go on.

    scripts/end-to-end.sh SharedLogRestore SharedLogRestoreInterrupted SharedLogRestoreRefusals
"""
import json, os, re, shutil, signal, subprocess, unittest

from harness import BINARY, PATIENCE, Broadcaster, LoggedGateway, ad, broadcast_pb2, listener_pb2, until
from nats import NATSClient
from test_shared_log import HALF_AN_HOUR_MS, NOW, OK, SharedLogCase, cluster, made, status

STREAMS = ("breaks", "acknowledgements-0", "forgotten", "snapshots")


class RestoreCase(SharedLogCase):
    def client(self, servers):
        """A client of the first server, as soon as the servers keep streams."""
        def connected():
            try:
                client = NATSClient(servers.ports[0][0].address)
            except OSError:
                return None
            if "error" in json.loads(client.ask("$JS.API.INFO") or b'{"error": 1}'):
                client.close()
                return None
            self.addCleanup(client.close)
            return client
        return until("the servers keep streams", connected)

    def backup(self, servers, folder, *arguments):
        return json.loads(cluster("backup", "--servers", servers.addresses, "--to", folder, "--json", *arguments))

    def restore(self, servers, folder):
        return [BINARY, "cluster", "restore", "--json", "--servers", servers.addresses, "--from", folder,
                "--replicas", str(len(servers.ports))]

    def restored(self, servers, folder, code=0):
        """Runs the command, again for as long as the servers have not found each other."""
        def done():
            done = subprocess.run(self.restore(servers, folder), capture_output=True, text=True, timeout=max(PATIENCE, 600))
            if done.returncode == 69 and code != 69:
                return None
            self.assertEqual(done.returncode, code, done.stderr)
            return json.loads(done.stdout) if code in (0, 1) else done.stderr
        return until("the log is restored", done)

    def lose_everything(self, servers):
        """Every server is killed, and its folder is gone; new ones start in their places."""
        for place in range(len(servers.ports)):
            servers.kill(place)
            shutil.rmtree(servers.store(place))
        for place in range(len(servers.ports)):
            servers.start(place)

    def does_not_start(self, gateway, servers, code=69):
        done = subprocess.run(
            [BINARY, "serve", "--data-dir", gateway.folder + "/data", "--notices", "tcp://127.0.0.1:*", "--requests", "tcp://127.0.0.1:*",
             "--broadcast", "tcp://127.0.0.1:*", "--http", "none", "--set", f"jetstream.servers={servers.addresses}",
             "--set", "jetstream.syncAlways=true"], capture_output=True, text=True, timeout=max(PATIENCE, 180))
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def end_by_force(self, gateway):
        gateway.process.send_signal(signal.SIGKILL)
        gateway.process.wait()
        gateway.process.stdout.close()


class SharedLogRestore(RestoreCase):
    def test_books_and_players_go_on_and_what_was_counted_before_the_backup_is_counted_once(self):
        servers = self.servers(3)
        log = made(servers)
        first = self.gateway(servers)
        second = self.gateway(servers, keys_of=first)
        gateways = [first, second]
        until("they know of each other", lambda: all(each.metric("cuecast_gateways") == 2 for each in gateways))
        listeners = [self.listener(gateways[number % 2]) for number in range(6)]
        self.publish(first, "one")
        for listener in listeners:
            listener.next()
            self.play(listener, "one")
        self.end(second, "one")
        self.publish(second, "two")
        kept = []
        for number, listener in enumerate(listeners):
            while listener.next().break_id != "two":
                pass
            kept.append(listener.batch("two").batch.delivery)
            if number < 2:
                self.assertEqual(listener.acknowledge("two", kept[number], {"x": "played"}).status, OK)
        one = {"delivered": 6, "played": 6, "unknown": 0, "contradictions": 0}
        self.reports_agree(gateways, "one", one)
        self.reports_agree(gateways, "two", {"delivered": 6, "played": 2, "unknown": 4})

        # The backup is made while both run. Then an outcome is confirmed, and a break is published, fetched and played.
        folder = servers.folder + "/backup"
        saved = self.backup(servers, folder, "--data-dir", first.folder + "/data")
        self.assertEqual(saved["log"], log["log"])
        self.assertEqual(saved["files"], ["shared-log.sqlite", "signing.keys"])
        self.assertGreaterEqual(saved["records"]["breaks"], 3)
        self.assertEqual(listeners[2].acknowledge("two", kept[2], {"x": "played"}).status, OK)
        self.end(first, "two")
        self.publish(first, "three")
        while listeners[0].next().break_id != "three":
            pass
        lost = listeners[0].batch("three").batch.delivery
        self.assertEqual(listeners[0].acknowledge("three", lost, {"x": "played"}).status, OK)
        self.reports_agree(gateways, "three", {"played": 1})
        last = listeners[0].last

        # All servers are lost, one gateway with them; the other one notices that it has no log.
        self.lose_everything(servers)
        self.end_by_force(first)
        until("it says that it has no log", lambda: second.process.poll() is not None or second.readiness()[0] == 503)
        self.end_by_force(second)
        done = self.restored(servers, folder)
        self.assertTrue(done["right"] and not done["before"] and not done["differences"], done)
        self.assertEqual((done["log"], done["records"]), (log["log"], saved["records"]))
        self.assertNotEqual(done["epoch"], saved["epoch"])
        self.assertEqual(done["copy"], [folder + "/signing.keys"])
        self.assertTrue(self.restored(servers, folder)["before"])

        # Both gateways go on: one on its directory, the other one on a new one with the keys of the backup.
        self.assertIn("that is not the one at the servers", first.verified(servers, code=65))
        shutil.rmtree(second.folder + "/data")
        os.mkdir(second.folder + "/data", mode=0o700)
        shutil.copy(folder + "/signing.keys", second.folder + "/data/signing.keys")
        second.keys_of = None
        for gateway in gateways:
            gateway.start()
        aside = f"{first.folder}/data/set-aside/before-restore-{done['epoch']}"
        self.assertTrue(os.path.exists(aside + "/ledger.sqlite"), os.listdir(first.folder + "/data"))
        # It says how much it had counted that is not there any more: the outcomes after the backup.
        said = next(line for line in first.messages().splitlines() if "the shared log was restored from a backup" in line)
        self.assertGreaterEqual(int(re.search(r"acknowledgements/0=(\d+)", said)[1]), 2, said)
        self.reports_agree(gateways, "one", one)
        self.reports_agree(gateways, "two", {"delivered": 6, "played": 2, "unknown": 4, "contradictions": 0})
        for gateway in gateways:
            self.assertEqual(gateway.get("/v1/reports?stream=radio&break=three")["breaks"], [])

        # Players come with positions of before, also with one that the log does not know any more: each gets a snapshot.
        moved = []
        for number, before in enumerate(listeners):
            listener = self.listener(gateways[number % 2], session=before.session, last=last if number == 0 else before.last)
            self.assertEqual(listener.joined.kind, listener_pb2.JOIN_KIND_SNAPSHOT)
            self.assertNotEqual(listener.joined.head.epoch, last.epoch)
            self.assertIn("two", {each.break_id for each in listener.applied})
            self.assertNotIn("three", {each.break_id for each in listener.applied})
            moved.append(listener)
        # What was counted before the backup is counted once; what was not confirmed is counted. The third one was confirmed after the
        # backup: its player does not send it again, and it stays unknown.
        for number in (0, 1, 3, 4, 5):
            self.assertEqual(moved[number].acknowledge("two", kept[number], {"x": "played"}).status, OK)
        two = {"delivered": 6, "played": 5, "unknown": 1, "contradictions": 0}
        self.reports_agree(gateways, "two", two)
        # An outcome of a break that the log does not know is refused, and is none of the break that has its id now.
        self.assertNotEqual(moved[0].acknowledge("three", lost, {"x": "played"}).status, OK)
        self.end(second, "two")
        self.publish(second, "three")
        self.assertNotEqual(moved[0].acknowledge("three", lost, {"x": "played"}).status, OK)
        for listener in moved[1:]:
            while listener.next().break_id != "three":
                pass
            self.play(listener, "three")
        self.reports_agree(gateways, "three", {"delivered": 5, "played": 5, "unknown": 0})
        # Where a player still has it, it is counted.
        self.assertEqual(moved[2].acknowledge("two", kept[2], {"x": "played"}).status, OK)
        two = {"delivered": 6, "played": 6, "unknown": 0, "contradictions": 0}
        self.reports_agree(gateways, "two", two)
        for gateway in gateways:
            until("its books are whole", lambda: not gateway.get("/v1/reports?stream=radio&break=one").get("pending"))
            self.assertEqual(gateway.stop(), 0)
            found = gateway.verified(servers)
            self.assertEqual((found["right"], found["differences"], found["log"]), (True, [], []))
            self.assertGreater(found["lanes"]["acknowledgements/0"], done["base"])

        # The restored log has a backup, too, and comes back from it with everything.
        again = servers.folder + "/again"
        later = self.backup(servers, again)
        self.assertGreater(later["records"]["breaks"], done["base"])
        self.lose_everything(servers)
        twice = self.restored(servers, again)
        self.assertGreater(twice["base"], later["records"]["breaks"])
        for gateway in gateways:
            gateway.start()
        self.reports_agree(gateways, "one", one)
        self.reports_agree(gateways, "two", two)
        self.reports_agree(gateways, "three", {"delivered": 5, "played": 5, "unknown": 0})
        self.play(self.listener(second), "three")
        self.reports_agree(gateways, "three", {"delivered": 6, "played": 6, "unknown": 0})
        for gateway in gateways:
            self.assertEqual(gateway.stop(), 0)
            self.assertTrue(gateway.verified(servers)["right"])


class SharedLogRestoreRefusals(RestoreCase):
    def test_what_cannot_be_restored_is_refused_and_nothing_is_changed(self):
        servers = self.servers(1)
        made(servers)
        gateway = self.gateway(servers)
        listener = self.listener(gateway)
        self.publish(gateway, "one")
        listener.next()
        self.play(listener, "one")
        self.end(gateway, "one")
        self.publish(gateway, "two")
        self.reports_agree([gateway], "one", {"played": 1})
        data, folder = gateway.folder + "/data", servers.folder + "/backup"
        client = self.client(servers)

        # The gateway itself makes none, and says what does.
        self.assertIn("cuecast cluster backup", gateway.run("backup", "--data-dir", data, "--to", folder, code=69))
        self.assertFalse(os.path.exists(folder))
        self.assertIn("no stream", cluster("backup", "--servers", servers.addresses, "--prefix", "none", "--to", folder, code=65))
        self.assertIn("no gateway of a shared log", cluster(
            "backup", "--servers", servers.addresses, "--to", folder, "--data-dir", servers.folder, code=69))
        saved = self.backup(servers, folder)
        self.assertIn("is not empty", cluster("backup", "--servers", servers.addresses, "--to", folder, code=64))

        # A log that is there; each kind of backup has its own command; a backup that is damaged.
        self.assertIn("there is a log already", self.restored(servers, folder, code=65))
        self.assertIn("cuecast cluster restore", gateway.run(
            "restore", "--from", folder, "--data-dir", servers.folder + "/own", code=65))
        own = LoggedGateway(servers.folder)
        self.addCleanup(own.close)
        self.assertEqual(own.stop(), 0)
        gateway.run("backup", "--data-dir", own.folder + "/data", "--to", servers.folder + "/other")
        self.assertIn("use 'cuecast restore'", self.restored(servers, servers.folder + "/other", code=65))
        damaged = servers.folder + "/damaged"
        shutil.copytree(folder, damaged)
        with open(damaged + "/shared-log.sqlite", "r+b") as file:
            file.seek(-50, os.SEEK_END)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        self.assertIn("not as it was written", self.restored(servers, damaged, code=65))
        self.assertIn("there is no manifest.json", self.restored(servers, data, code=65))
        self.assertEqual(client.api("STREAM.INFO.cuecast-breaks")["state"]["last_seq"], saved["records"]["breaks"] + 1)
        self.reports_agree([gateway], "one", {"played": 1})

        # Something else writes while the restore is under way: nothing is taken for restored.
        self.assertEqual(gateway.stop(), 0)
        for stream in STREAMS:
            client.api(f"STREAM.DELETE.cuecast-{stream}")
        self.assertFalse(self.restored(servers, folder)["before"])
        for stream in STREAMS:
            client.api(f"STREAM.DELETE.cuecast-{stream}")
        # As a restore begins, and another record where the first one has to be.
        done = self.restored(servers, folder)
        identity = {stream: client.message(f"cuecast-{stream}", 1)[1] for stream in STREAMS[:2]}
        facts = {stream: client.api(f"STREAM.INFO.cuecast-{stream}")["config"] for stream in STREAMS[:2]}
        for stream in STREAMS[:2]:
            client.api(f"STREAM.DELETE.cuecast-{stream}")
            client.api(f"STREAM.CREATE.cuecast-{stream}", **facts[stream])
            client.ask(facts[stream]["subjects"][0], identity[stream])
        client.ask("cuecast.log.breaks", b"\x01\x02")
        found = self.restored(servers, folder, code=1)
        self.assertFalse(found["right"])
        self.assertTrue(any("another record 1" in each for each in found["differences"]), found)
        self.assertIn("did not end", self.does_not_start(gateway, servers))

        # Restored once more, and used: the same backup is refused, and the log goes on.
        for stream in STREAMS:
            client.api(f"STREAM.DELETE.cuecast-{stream}")
        again = self.restored(servers, folder)
        self.assertGreater(again["base"], done["base"])
        gateway.start()
        self.reports_agree([gateway], "one", {"played": 1})
        self.end(gateway, "two")
        self.publish(gateway, "three")
        self.assertIn("gateways have used it since", self.restored(servers, folder, code=65))
        self.play(self.listener(gateway), "three")
        self.reports_agree([gateway], "three", {"played": 1})

        # A record is lost: there is no backup of such a log.
        self.assertEqual(gateway.stop(), 0)
        client.api("STREAM.MSG.DELETE.cuecast-breaks", seq=2)
        self.assertIn("has no record 1", cluster("backup", "--servers", servers.addresses, "--to", servers.folder + "/no", code=65))
        self.assertFalse(os.path.exists(servers.folder + "/no"))

        # A stream is lost, and the other one has records of gateways: the same backup does not fill it again.
        client.api("STREAM.DELETE.cuecast-acknowledgements-0")
        shown = {each["lane"]: each.get("head") for each in status(servers)["streams"]}
        self.assertGreater(shown["breaks"], again["base"])
        self.assertIsNone(shown["acknowledgements/0"])
        self.assertIn("gateways have used it since", self.restored(servers, folder, code=65))
        self.assertIn("error", json.loads(client.ask("$JS.API.STREAM.INFO.cuecast-acknowledgements-0")))


class SharedLogRestoreInterrupted(RestoreCase):
    def killed_in_the_middle(self, servers, client, folder, records):
        """Begins to restore, and kills the command when so many breaks are at the servers; whether it was under way."""
        process = subprocess.Popen(self.restore(servers, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            answer = json.loads(client.ask("$JS.API.STREAM.INFO.cuecast-breaks"))
            if answer.get("state", {}).get("last_seq", 0) > records:
                process.send_signal(signal.SIGKILL)
                break
        return process.wait() == -signal.SIGKILL

    def test_a_restore_that_is_killed_goes_on_and_no_gateway_starts_before_its_end(self):
        servers = self.servers(1)
        made(servers)
        gateway = self.gateway(servers)
        listener = self.listener(gateway)
        self.publish(gateway, "one")
        listener.next()
        self.play(listener, "one")
        broadcaster = Broadcaster(gateway)
        for number in range(300):
            reply = broadcaster.ask(publish=broadcast_pb2.Publish(
                stream=f"other-{number}", break_id="b", advertisements=[ad("x")], start=NOW, duration_ms=HALF_AN_HOUR_MS))
            self.assertEqual(reply.status, OK, reply.message)
        broadcaster.close()
        self.reports_agree([gateway], "one", {"played": 1})
        folder = servers.folder + "/backup"
        saved = self.backup(servers, folder)
        self.assertEqual(gateway.stop(), 0)
        self.lose_everything(servers)
        client = self.client(servers)

        # Where a machine was too fast for two kills, once more.
        for _ in range(20):
            if all([self.killed_in_the_middle(servers, client, folder, records) for records in (20, 150)]):
                break
            for stream in STREAMS:
                client.ask(f"$JS.API.STREAM.DELETE.cuecast-{stream}")
        else:
            self.fail("it was never under way when it was killed")
        self.assertIn("a restore of the log did not end", self.does_not_start(gateway, servers))
        self.assertTrue(any("a restore of the log did not end" in each for each in status(servers)["faults"]))
        for command in (["verify", "--data-dir", gateway.folder + "/data"], ["cluster", "backup", "--to", servers.folder + "/half"],
                        ["forget", "--session", "0123456789abcdef" * 2], ["forget", "--continue"]):
            done = subprocess.run([BINARY, *command, "--servers", servers.addresses], capture_output=True, text=True,
                                  timeout=max(PATIENCE, 120))
            self.assertEqual(done.returncode, 65, done.stderr)
            self.assertIn("a restore of the log did not end", done.stderr)
        self.assertIn("there is a log already", cluster("init", "--servers", servers.addresses, "--replicas", "1", code=65))
        done = self.restored(servers, folder)
        self.assertTrue(done["right"] and not done["before"], done)
        self.assertEqual(done["records"], saved["records"])
        gateway.start()
        self.reports_agree([gateway], "one", {"played": 1})
        self.assertEqual(self.listener(gateway, session=listener.session, last=listener.last).joined.kind,
                         listener_pb2.JOIN_KIND_SNAPSHOT)
        self.assertGreaterEqual(self.listener(gateway, stream="other-299").joined.head.sequence, 1)
        self.assertEqual(gateway.stop(), 0)
        self.assertTrue(gateway.verified(servers)["right"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
