# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A gateway on an empty directory begins from a snapshot that others left in the log.

    scripts/end-to-end.sh SharedLogSnapshots
"""
import json, os, signal, struct, subprocess, unittest

from harness import BINARY, PATIENCE, until
from nats import NATSClient
from test_shared_log import SharedLogCase, cluster, made

#: A snapshot after so few records.
QUICK = ("--set", "jetstream.snapshots.records=10")
STREAM = "cuecast-snapshots"


def newest(servers, settings=()):
    """The record as of which the newest snapshot is; 0: there is none."""
    done = subprocess.run([BINARY, "cluster", "status", "--servers", servers.addresses, *settings, "--json"], capture_output=True,
                          text=True, timeout=max(PATIENCE, 60))
    return json.loads(done.stdout).get("snapshots", {}).get("offset", 0) if done.returncode in (0, 1) else 0


def snapshot_after(case, servers, gateway, name, settings=()):
    """Publishes breaks until there is another snapshot; gives the record that it is as of."""
    before = newest(servers, settings)
    for number in range(11):
        case.publish(gateway, f"{name}-{number}", stream=f"snapshot-{name}-{number}")
    return until("there is another snapshot", lambda: (found := newest(servers, settings)) > before and found)


class SharedLogSnapshots(SharedLogCase):
    def begun(self, servers, first, *more):
        """A gateway on an empty directory."""
        return self.gateway(servers, *QUICK, *more, keys_of=first)

    def breaks(self, gateway):
        return sorted((each["stream"], each["break"], each["start"], each["ads"]) for each in gateway.get("/v1/breaks?limit=500")["breaks"])

    def test_a_gateway_on_an_empty_directory_begins_from_a_snapshot_and_passes_over_what_is_damaged(self):
        servers = self.servers(1)
        made(servers)
        first = self.gateway(servers, *QUICK)
        listener = self.listener(first)
        self.publish(first, "one")
        listener.next()
        self.play(listener, "one")
        old = snapshot_after(self, servers, first, "a")
        new = snapshot_after(self, servers, first, "b")
        self.assertGreater(new, old)
        # What comes after it: the tail.
        self.publish(first, "tail", stream="tail")
        expected = {"delivered": 1, "played": 1, "unknown": 0}

        second = self.begun(servers, first)
        self.assertIn(f"the board begins from a snapshot of the log offset={new}", second.until_said("begins from a snapshot"))
        until("both have the same breaks", lambda: self.breaks(second) == self.breaks(first))
        self.reports_agree([first, second], "one", expected)
        until("its ledger knows the older breaks", lambda: "pending" not in second.get("/v1/reports"))
        self.assertEqual(second.stop(), 0)
        found = second.verified(servers)
        self.assertTrue(found["right"] and found["boardOffset"] >= new, found)

        # Chunks of a gateway that was killed in the middle, a manifest that is damaged, and a chunk that is gone: the one before is taken.
        client = NATSClient(servers.ports[0][0].address)
        self.addCleanup(client.close)
        for index in range(3):
            answer = json.loads(client.ask("cuecast.snapshots.chunks", b"CSC1" + struct.pack(">QI", 99, index) + bytes(1_000)))
            self.assertIn("seq", answer)
        json.loads(client.ask("cuecast.snapshots.manifests", b"cuecast-snapshot 1\nlog 00\n"))
        chunk = self.manifests(client)[-1]
        client.api(f"STREAM.MSG.DELETE.{STREAM}", seq=chunk)
        third = self.begun(servers, first)
        said = third.until_said("begins from a snapshot")
        self.assertIn(f"the board begins from a snapshot of the log offset={old}", said)
        self.assertIn("of the log is damaged", said)
        self.assertIn("is passed over", said)
        until("both have the same breaks", lambda: self.breaks(third) == self.breaks(first))
        self.reports_agree([third], "one", expected)

        # Without the stream the whole log is read; the command makes it again, and a gateway that is started then writes one.
        self.assertEqual(first.stop(), 0)
        self.assertEqual(third.stop(), 0)
        client.api(f"STREAM.DELETE.{STREAM}")
        fourth = self.begun(servers, first)
        self.assertIn("cluster init --add-snapshots", fourth.until_said("has no stream of snapshots"))
        self.reports_agree([fourth], "one", expected)
        self.assertEqual(fourth.stop(), 0)
        self.assertIn(f"made stream={STREAM}", cluster("init", "--add-snapshots", "--servers", servers.addresses))
        self.assertIn("already", cluster("init", "--add-snapshots", "--servers", servers.addresses))
        fourth.start()
        self.assertGreater(snapshot_after(self, servers, fourth, "c"), new)
        self.assertEqual(fourth.stop(), 0)

    def manifests(self, client):
        """The first chunk of each whole snapshot, oldest first."""
        facts = client.api(f"STREAM.INFO.{STREAM}")["state"]
        found = []
        for sequence in range(facts["first_seq"], facts["last_seq"] + 1):
            lines = client.message(STREAM, sequence)[1].split(b"\n")
            if lines[0] == b"cuecast-snapshot 1" and len(lines) > 8:
                found.append(int(lines[7].split()[2]))
        return found

    def test_a_gateway_that_is_killed_while_it_writes_leaves_whole_snapshots_only(self):
        servers = self.servers(1)
        made(servers)
        first = self.gateway(servers, *QUICK)
        snapshot_after(self, servers, first, "a")
        for number in range(4):
            for each in range(11):
                self.publish(first, f"k{number}-{each}", stream=f"kill-{number}-{each}")
            first.process.send_signal(signal.SIGKILL)
            first.process.wait()
            first.process.stdout.close()
            for suffix in ("", "-wal", "-shm"):
                if os.path.exists(first.folder + "/data/board.sqlite" + suffix):
                    os.remove(first.folder + "/data/board.sqlite" + suffix)
            first.start()
            self.assertIn("begins from a snapshot", first.until_said("begins from a snapshot"))
            listed = {each[1] for each in self.breaks(first)}
            self.assertTrue({f"k{number}-{each}" for each in range(11)} <= listed, listed)
        self.assertEqual(first.stop(), 0)
        found = first.verified(servers)
        self.assertTrue(found["right"], found)


if __name__ == "__main__":
    unittest.main(verbosity=2)
