# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The permissions of deploy/nats are enough for each role, and for nothing else.

    scripts/end-to-end.sh SharedLogPermissions
"""
import os, re, subprocess, tempfile, unittest

from harness import BINARY, PATIENCE, ROOT, run_patiently, until
from nats import NATSClient, NATSKey, NATSServers
from test_shared_log import SharedLogCase
from test_shared_log_snapshots import snapshot_after

FILE = os.path.join(ROOT, "deploy/nats/permissions.conf")


class SharedLogPermissions(SharedLogCase):
    def command(self, *arguments, key, servers, code=0):
        where = ["--servers", servers.addresses, "--set", f"jetstream.credentialsFile={key.file}"]
        done = run_patiently([BINARY, *arguments, *where], code)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def test_each_role_can_do_its_work_and_nothing_else(self):
        folder = tempfile.TemporaryDirectory(prefix="cuecast-keys.")
        self.addCleanup(folder.cleanup)
        gateway_key, operator_key, other_key = (NATSKey(folder.name, name) for name in ("gateway", "operator", "other"))
        with open(FILE, encoding="utf-8") as file:
            text = file.read()
        for example, key in zip(re.findall(r'nkey: "(U\w+)"', text), (gateway_key, operator_key), strict=True):
            text = text.replace(example, key.public)
        servers = NATSServers(1, more=text)
        self.addCleanup(servers.close)
        address = servers.ports[0][0].address

        # The operator makes the log, and no gateway can; a key that the servers do not know opens nothing.
        init = ("cluster", "init", "--replicas", "1")
        until("the operator makes the log", lambda: subprocess.run(
            [BINARY, *init, "--servers", servers.addresses, "--set", f"jetstream.credentialsFile={operator_key.file}"],
            capture_output=True, timeout=max(PATIENCE, 60)).returncode in (0, 65))
        self.command(*init, "--prefix", "other", key=gateway_key, servers=servers, code=69)
        self.command("cluster", "status", key=other_key, servers=servers, code=65)

        # Two gateways work with it, and hear each other.
        settings = ("--set", f"jetstream.credentialsFile={gateway_key.file}")
        quick = ("--set", "jetstream.snapshots.records=10")
        first = self.gateway(servers, *settings, *quick)
        second = self.gateway(servers, *settings, *quick, keys_of=first)
        until("they know of each other", lambda: all(each.metric("cuecast_gateways") == 2 for each in (first, second)))
        listeners = [self.listener(first), self.listener(second)]
        self.publish(first, "one")
        for listener in listeners:
            listener.next()
            self.play(listener, "one")
        self.reports_agree([first, second], "one", {"delivered": 2, "played": 2, "unknown": 0})
        self.end(second, "one")
        # Snapshots are written, and older ones purged.
        for number in range(3):
            snapshot_after(self, servers, first, f"more-{number}", settings)
        self.assertEqual(first.messages().count("could not write a snapshot") + second.messages().count("could not write a snapshot"), 0)
        for key in (gateway_key, operator_key):
            self.assertIn("replicas=1", self.command("cluster", "status", key=key, servers=servers))
        # The operator has a listener forgotten, and no gateway's key can.
        forget = ("forget", "--session", listeners[0].session.hex())
        self.command(*forget, key=operator_key, servers=servers)
        self.reports_agree([first, second], "one", {"delivered": 2, "played": 2, "unknown": 0})
        for gateway in (first, second):
            self.assertEqual(gateway.stop(), 0)
            found = gateway.verified(servers, *settings)
            self.assertTrue(found["right"] and found["boardOffset"], found)

        # A gateway's key is enough for a backup; only the operator brings a log back.
        self.command("cluster", "backup", "--to", folder.name + "/backup", key=gateway_key, servers=servers)
        lost = NATSServers(1, more=text)
        self.addCleanup(lost.close)
        until("the server keeps streams", lambda: subprocess.run(
            [BINARY, "cluster", "status", "--servers", lost.addresses, "--set", f"jetstream.credentialsFile={operator_key.file}"],
            capture_output=True, timeout=max(PATIENCE, 60)).returncode == 1)
        restore = ("cluster", "restore", "--from", folder.name + "/backup", "--replicas", "1")
        self.command(*restore, key=gateway_key, servers=lost, code=69)
        self.command(*restore, key=operator_key, servers=lost)
        restored = self.gateway(lost, *settings, *quick, keys_of=first)
        self.reports_agree([restored], "one", {"delivered": 2, "played": 2, "unknown": 0})
        self.assertEqual(restored.stop(), 0)
        self.assertTrue(restored.verified(lost, *settings)["right"])

        # What is not allowed is refused, to each of them.
        streams = ("cuecast-breaks", "cuecast-acknowledgements-0")
        never = [f"PUB $JS.API.STREAM.{what}.{stream} 0\r\n" for stream in streams
                 for what in ("DELETE", "PURGE", "UPDATE", "SNAPSHOT", "RESTORE")]
        never += [f"PUB $JS.API.STREAM.{what}.cuecast-snapshots 0\r\n" for what in ("DELETE", "UPDATE", "MSG.DELETE", "SNAPSHOT", "RESTORE")]
        never += [f"PUB $JS.API.STREAM.{what}.cuecast-forgotten 0\r\n" for what in ("DELETE", "PURGE", "UPDATE")]
        never += ["PUB $JS.API.STREAM.MSG.DELETE.cuecast-breaks 0\r\n"]
        never += ["PUB cuecast.log.other 0\r\n", "PUB other.log.breaks 0\r\n", "SUB > 1", "SUB $JS.API.> 2", "SUB cuecast.log.> 3"]
        only_operator = [f"PUB $JS.API.STREAM.CREATE.{stream} 0\r\n" for stream in (*streams, "cuecast-snapshots")]
        only_operator += [f"PUB $JS.API.STREAM.MSG.DELETE.{stream} 0\r\n"
                          for stream in ("cuecast-acknowledgements-0", "cuecast-forgotten")]
        only_operator += [f"PUB cuecast.forgotten.{subject} 0\r\n" for subject in
                          ("record.acknowledgements.0.5", "order.session.0000000000000001", "names.0000000000000001")]
        only_gateway = ["PUB cuecast.snapshots.chunks 0\r\n", "PUB $JS.API.STREAM.PURGE.cuecast-snapshots 0\r\n", "PUB cuecast.bus.beats 0\r\n", "SUB cuecast.bus.> 4"]
        for key, commands in ((gateway_key, never + only_operator), (operator_key, never + only_gateway)):
            client = NATSClient(address, key)
            self.addCleanup(client.close)
            for command in commands:
                self.assertIn("Permissions Violation", client.refusal(command.encode()), command)
        nobody = NATSClient(address)
        self.addCleanup(nobody.close)
        self.assertIn("Authorization Violation", nobody.refusal(b"PUB cuecast.log.breaks 0\r\n"))

    def test_a_file_that_is_no_credentials_is_refused(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("SUsomething\n")
            file.flush()
            done = run_patiently([BINARY, "cluster", "status", "--servers", "nats://127.0.0.1:1",
                                  "--set", f"jetstream.credentialsFile={file.name}"], 65)
        self.assertEqual(done.returncode, 65, done.stderr)
        self.assertIn("has neither a token of NATS nor a key", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
