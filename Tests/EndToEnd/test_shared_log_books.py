# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The books of gateways that share a log are compared with it, and each fault is found and named.

    scripts/end-to-end.sh SharedLogBooks
"""
import os, shutil, sqlite3, subprocess, unittest

from harness import BINARY, PATIENCE, until
from nats import NATSClient, NATSServers
from test_shared_log import SharedLogCase, cluster, made

BREAKS, ACKNOWLEDGEMENTS = "cuecast-breaks", "cuecast-acknowledgements-0"


class SharedLogBooks(SharedLogCase):
    def client(self, servers):
        """A client of the first server, as soon as it keeps streams."""
        def connected():
            try:
                client = NATSClient(servers.ports[0][0].address)
            except OSError:
                return None
            self.addCleanup(client.close)
            return client if client.ask("$JS.API.INFO") else None
        return until("the server keeps streams", connected)

    def changed(self, gateway, name, file, sql):
        """A copy of a stopped gateway's directory with something else in one of its files."""
        data = f"{gateway.folder}/{name}"
        shutil.copytree(gateway.folder + "/data", data)
        database = sqlite3.connect(f"{data}/{file}")
        self.assertEqual(database.execute(sql).rowcount, 1)
        database.commit()
        database.close()
        return data

    def test_each_difference_between_a_gateway_and_the_log_is_found_and_named(self):
        servers = self.servers(1)
        made(servers)
        gateway = self.gateway(servers)
        listeners = [self.listener(gateway) for _ in range(3)]
        for name in ("one", "two"):
            self.publish(gateway, name)
            for listener in listeners:
                listener.next()
                self.play(listener, name)
            self.reports_agree([gateway], name, {"delivered": 3, "played": 3})
            self.end(gateway, name)

        # Beside the gateway, and when it has stopped; the prefix is that of the directory.
        running = gateway.verified(servers)
        self.assertEqual((running["right"], running["differences"], running["log"]), (True, [], []))
        # The log has more by then: another gateway goes on, and the first one is behind.
        self.assertEqual(gateway.stop(), 0)
        other = self.gateway(servers, keys_of=gateway)
        self.publish(other, "three")
        self.play(self.listener(other), "three")
        self.reports_agree([other], "three", {"played": 1})
        stopped = gateway.verified(servers)
        self.assertEqual((stopped["right"], stopped["differences"], stopped["log"], stopped["board"]), (True, [], [], []))
        self.assertGreaterEqual(stopped["boardOffset"], 4)
        self.assertEqual(gateway.verified(servers, "--prefix", "cuecast")["lanes"], stopped["lanes"])
        text = subprocess.run([BINARY, "verify", "--data-dir", gateway.folder + "/data", "--servers", servers.addresses],
                              capture_output=True, text=True, timeout=max(PATIENCE, 120))
        self.assertEqual((text.returncode, text.stdout.splitlines()[-1]), (0, "nothing differs"), text)

        # Without servers, with a log that is another one, and with servers that do not answer.
        self.assertIn("--servers", gateway.verified(None, code=69))
        cluster("init", "--servers", servers.addresses, "--prefix", "other", "--replicas", "1")
        self.assertIn("the servers have the log", gateway.verified(servers, "--prefix", "other", code=65))
        self.assertIn("no stream", gateway.verified(servers, "--prefix", "none", code=65))
        self.assertIn("did not answer", gateway.verified(None, "--servers", "nats://127.0.0.1:1", code=69))

        # A count, an outcome, the board, and what it knows of the log.
        for number, (file, sql, member, sentence) in enumerate([
                ("ledger.sqlite", "UPDATE totals SET repeats = repeats + 1 WHERE rowid_is_first", "differences", "repeats"),
                ("ledger.sqlite", "UPDATE outcomes SET heard_ms = heard_ms + 1 WHERE rowid_is_first", "differences", "heard_ms"),
                ("ledger.sqlite", "UPDATE applied SET digest = digest + 1 WHERE lane = 'acknowledgements/0'", "log", "another record"),
                ("board.sqlite", "UPDATE head SET digest = digest + 1", "log", "another record"),
                ("board.sqlite", "DELETE FROM parts WHERE key = (SELECT min(key) FROM parts WHERE key > CAST('t/' AS BLOB))", "board",
                 "the first stream that differs is radio"),
        ]):
            for table, keys in (("totals", "break_number, ordinal"), ("outcomes", "break_number, session, ordinal")):
                if table in sql:
                    sql = sql.replace("rowid_is_first", f"({keys}) = (SELECT {keys} FROM {table} LIMIT 1)")
            data = self.changed(gateway, f"changed-{number}", file, sql)
            found = gateway.verified(servers, code=1, data=data)
            self.assertFalse(found["right"])
            self.assertTrue(any(sentence in each for each in found[member]), found)

        # The same log at another server, with another outcome in one record: its length is what it was.
        copied = NATSServers(1)
        self.addCleanup(copied.close)
        first = self.client(servers)
        changes = []

        def change(stream, sequence, data):
            if stream == ACKNOWLEDGEMENTS and sequence > 1 and listeners[0].session in data and not changes:
                changes.append(sequence - 1)
                return data.replace(listeners[0].session, bytes(16))
            return data
        first.copy(self.client(copied), [BREAKS, ACKNOWLEDGEMENTS], change)
        self.assertEqual(len(changes), 1)
        found = gateway.verified(copied, code=1)
        self.assertTrue(any(listeners[0].session.hex() in each for each in found["differences"]), found)
        self.assertEqual(gateway.verified(servers)["differences"], [])

        # A record that is damaged, and one that is missing.
        damaged = NATSServers(1)
        self.addCleanup(damaged.close)
        first.copy(self.client(damaged), [BREAKS, ACKNOWLEDGEMENTS],
                   lambda stream, sequence, data: b"\xff" * len(data) if stream == BREAKS and sequence == 3 else data)
        found = gateway.verified(damaged, code=1)
        self.assertTrue(any("the lane breaks has a record 2 that cannot be read" in each for each in found["log"]), found)
        self.assertTrue(found["board"], found)
        first.api(f"STREAM.MSG.DELETE.{ACKNOWLEDGEMENTS}", seq=2)
        found = gateway.verified(servers, code=1)
        self.assertEqual(found["log"], ["the lane acknowledgements/0 has no record 1"])
        self.assertTrue(found["differences"], found)
        # A log that ends before what the gateway has counted.
        cut = NATSServers(1)
        self.addCleanup(cut.close)
        client = self.client(cut)
        first.copy(client, [BREAKS], lambda stream, sequence, data: data)
        client.api(f"STREAM.CREATE.{ACKNOWLEDGEMENTS}", **first.api(f"STREAM.INFO.{ACKNOWLEDGEMENTS}")["config"])
        client.ask("cuecast.log.acknowledgements.0", first.message(ACKNOWLEDGEMENTS, 1)[1])
        found = gateway.verified(cut, code=1)
        self.assertTrue(any("the lane acknowledgements/0 ends at record 0, and the ledger has counted" in each
                            for each in found["log"]), found)
        # Nothing of that has changed the books.
        self.assertFalse([name for name in os.listdir(gateway.folder + "/data") if name.startswith("verify-")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
