# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A gateway on its own store moves to a log that several gateways share: its breaks and its players go on.

    scripts/end-to-end.sh SharedLogMigration
"""
import json, os, signal, subprocess, unittest

from harness import BINARY, PATIENCE, Broadcaster, LoggedGateway, ad, broadcast_pb2, listener_pb2
from nats import NATSClient
from test_shared_log import HALF_AN_HOUR_MS, NOW, OK, SharedLogCase, cluster, made


class SharedLogMigration(SharedLogCase):
    def migrate(self, gateway, servers, *arguments):
        return [BINARY, "cluster", "migrate", "--json", "--data-dir", gateway.folder + "/data", "--servers", servers.addresses, *arguments]

    def migrated(self, *arguments, code=0):
        done = subprocess.run(self.migrate(*arguments), capture_output=True, text=True, timeout=max(PATIENCE, 600))
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout) if code in (0, 1) else done.stderr

    def killed_in_the_middle(self, gateway, servers, client, prefix, records):
        """Begins to move the log, and kills the command when so many breaks are at the servers; whether it was under way."""
        process = subprocess.Popen(self.migrate(gateway, servers, "--prefix", prefix), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            if client.api(f"STREAM.INFO.{prefix}-breaks")["state"]["last_seq"] > records:
                process.send_signal(signal.SIGKILL)
                break
        return process.wait() == -signal.SIGKILL

    def test_breaks_and_players_go_on_and_what_players_kept_is_counted_once(self):
        servers = self.servers(1)
        made(servers)
        client = NATSClient(servers.ports[0][0].address)
        self.addCleanup(client.close)
        own = LoggedGateway(servers.folder)
        self.addCleanup(own.close)
        listeners = [self.listener(own) for _ in range(6)]
        self.publish(own, "one")
        for listener in listeners:
            listener.next()
            self.play(listener, "one")
        self.end(own, "one")
        for listener in listeners:
            listener.next()
        self.publish(own, "two")
        kept = {}
        for number, listener in enumerate(listeners):
            listener.next()
            kept[number] = listener.batch("two").batch.delivery
            if number < 3:
                self.assertEqual(listener.acknowledge("two", kept[number], {"x": "played"}).status, OK)
        broadcaster = Broadcaster(own)
        for number in range(300):
            reply = broadcaster.ask(publish=broadcast_pb2.Publish(
                stream=f"other-{number}", break_id="b", advertisements=[ad("x")], start=NOW, duration_ms=HALF_AN_HOUR_MS))
            self.assertEqual(reply.status, OK, reply.message)
        broadcaster.close()
        self.reports_agree([own], "two", {"delivered": 6, "played": 3, "unknown": 3})

        # It is refused while the gateway runs, and into a log that others have begun.
        self.assertIn("in use", self.migrated(own, servers, code=69))
        self.assertEqual(own.stop(), 0)
        self.assertIn("no stream", self.migrated(own, servers, "--prefix", "none", code=65))
        cluster("init", "--servers", servers.addresses, "--prefix", "begun", "--replicas", "1")
        client.ask("begun.log.breaks", b"\x00")
        self.assertIn("is not empty", self.migrated(own, servers, "--prefix", "begun", code=65))
        self.assertEqual(client.api("STREAM.INFO.begun-breaks")["state"]["last_seq"], 2)
        self.assertEqual(client.api("STREAM.INFO.begun-acknowledgements-0")["state"]["last_seq"], 1)

        # It is killed twice, and goes on; where a machine was too fast for that, once more with another log.
        for attempt in range(20):
            prefix = f"moved-{attempt}"
            cluster("init", "--servers", servers.addresses, "--prefix", prefix, "--replicas", "1")
            if all([self.killed_in_the_middle(own, servers, client, prefix, records) for records in (20, 150)]):
                break
            marked = own.folder + "/data/migrated"
            if os.path.exists(marked):
                os.remove(marked)
        else:
            self.fail("it was never under way when it was killed")
        self.assertFalse(os.path.exists(own.folder + "/data/migrated"))
        moved = self.migrated(own, servers, "--prefix", prefix)
        self.assertTrue(moved["right"] and not moved["before"], moved)
        self.assertGreaterEqual(moved["records"]["breaks"], 302)
        self.assertEqual(moved["ledger"], moved["counted"])
        self.assertEqual(moved["ledger"]["played"], 9)
        self.assertEqual(moved["copy"], [own.folder + "/data/signing.keys"])
        heads = {each["lane"]: each["head"] for each in status_of(servers, prefix)["streams"]}
        self.assertEqual(heads, moved["records"])

        # No gateway starts on the directory any more; the command says again what it did.
        for settings in ([], ["--set", f"jetstream.servers={servers.addresses}", "--set", "jetstream.syncAlways=true"]):
            done = subprocess.run(
                [BINARY, "serve", "--data-dir", own.folder + "/data", "--notices", "tcp://127.0.0.1:*", "--requests", "tcp://127.0.0.1:*",
                 "--broadcast", "tcp://127.0.0.1:*", "--http", "none", *settings], capture_output=True, text=True, timeout=max(PATIENCE, 120))
            self.assertEqual(done.returncode, 69, done.stderr)
            self.assertTrue(settings or "was moved to the log" in done.stderr, done.stderr)
        self.assertTrue(self.migrated(own, servers, "--prefix", prefix)["before"])
        self.assertIn("before", self.migrated(own, servers, code=65))

        # Two gateways go on with it: breaks that run, and outcomes that players kept from before, each counted once.
        first = self.gateway(servers, "--set", f"jetstream.prefix={prefix}", keys_of=own)
        second = self.gateway(servers, "--set", f"jetstream.prefix={prefix}", keys_of=own)
        gateways = [first, second]
        self.reports_agree(gateways, "one", {"delivered": 6, "played": 6, "unknown": 0})
        self.reports_agree(gateways, "two", {"delivered": 6, "played": 3, "unknown": 3})
        for number, before in enumerate(listeners):
            listener = self.listener(gateways[number % 2], session=before.session, last=before.last)
            self.assertEqual(listener.joined.kind, listener_pb2.JOIN_KIND_SNAPSHOT)
            self.assertIn("two", {each.break_id for each in listener.applied})
            self.assertEqual(listener.acknowledge("two", kept[number], {"x": "played"}).status, OK)
        expected = {"delivered": 6, "played": 6, "unknown": 0, "contradictions": 0}
        self.reports_agree(gateways, "two", expected)
        self.end(second, "two")
        self.publish(second, "three")
        self.play(self.listener(first), "three")
        self.reports_agree(gateways, "three", {"played": 1})
        for gateway in gateways:
            self.assertEqual(gateway.stop(), 0)
            self.assertTrue(gateway.verified(servers)["right"])
        # The books that were left behind are what they were.
        own.verify()


def status_of(servers, prefix):
    """The state of a log."""
    done = subprocess.run([BINARY, "cluster", "status", "--servers", servers.addresses, "--prefix", prefix, "--json"],
                          capture_output=True, text=True, timeout=max(PATIENCE, 60))
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
