# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A listener is forgotten: by a gateway that runs, by one that is killed meanwhile, and without one."""
import json, os, random, signal, socket, subprocess, sys, unittest

from harness import BINARY, PATIENCE, ROOT, Broadcaster, Gateway, Listener, ad, listener_pb2, status_pb2, until

sys.path.insert(0, os.path.join(ROOT, "Tests/Hostile"))
from test_tls import RawListener, joined

OK = status_pb2.STATUS_CODE_OK
NOT_ALLOWED = status_pb2.STATUS_CODE_NOT_ALLOWED


class Forgetting(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway("--set", "ledger.copies.interval=1m")
        self.addCleanup(self.gateway.close)
        self.data = self.gateway.folder + "/data"
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(broadcaster.close)
        for break_id in ("b1", "b2"):
            published = broadcaster.publish("s", break_id, [ad("x"), ad("y")], pre_stream=True)
            self.assertEqual(published.status, OK, published)

    def listener(self, session=None):
        listener = Listener(self.gateway, "s", session=session)
        self.addCleanup(listener.close)
        return listener

    def heard(self, outcomes):
        """A listener that has done something with both breaks, and its deliveries."""
        listener, deliveries = self.listener(), {}
        for break_id in ("b1", "b2"):
            deliveries[break_id] = listener.batch(break_id).batch.delivery
            reply = listener.acknowledge(break_id, deliveries[break_id], outcomes)
            self.assertEqual(reply.status, OK, reply)
        return listener, deliveries

    def forget(self, session, *arguments, code=0):
        said = self.gateway.run("forget", "--session", session.hex(), "--data-dir", self.data, *arguments, code=code)
        return json.loads(said) if "--json" in arguments else said

    def files_with(self, session):
        """The files of the data directory that hold a session: its bytes, or its digits."""
        found = []
        for folder, _, names in os.walk(self.data):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    try:
                        with open(path, "rb") as file:
                            content = file.read()
                    except FileNotFoundError:
                        continue  # A copy that was being made has another name now, or an old one is gone.
                    if any(form in content for form in (session, session.hex().encode(), session.hex().upper().encode())):
                        found.append(os.path.relpath(path, self.data))
        return sorted(found)

    def reports(self):
        return {break_id: self.gateway.report("s", break_id) for break_id in ("b1", "b2")}

    def copied(self):
        folder = self.data + "/copies"
        return os.path.isdir(folder) and [name for name in os.listdir(folder) if name.count("-") == 4]

    def test_a_gateway_that_runs_forgets_and_nothing_that_was_counted_changes(self):
        (first, deliveries), (second, others) = self.heard({"x": "played"}), self.heard({"x": "played", "y": "failed"})
        before = self.reports()
        until("the ledger is copied", self.copied, lasting=60)

        def looked():
            """What a look finds while no copy is being made, and no file that holds the session comes or goes."""
            files = self.files_with(first.session)
            dry = self.forget(first.session, "--dry-run", "--json")
            return (dry, files) if files == self.files_with(first.session) else None
        dry, files = until("the files stay as they are", looked)
        self.assertEqual((dry["ledgerBreaks"], dry["ledgerOutcomes"], dry["dryRun"]), (2, 2, True))
        self.assertGreater(dry["logRecords"], 1)
        self.assertEqual(sorted(dry["files"]), files)
        self.assertIn("keepLogRecords", dry["keptUntil"]["log"])
        self.assertEqual(first.batch("b1").status, OK, "looking changes nothing")

        done = self.forget(first.session, "--json")
        self.assertEqual((done["ledgerBreaks"], done["ledgerOutcomes"], done["files"]), (2, 2, []))
        self.assertEqual(done["memory"]["stream"], "s")
        self.assertGreater(done["copies"], 0)
        self.assertEqual(self.files_with(first.session), [])
        self.assertIn("events.sqlite", " ".join(self.files_with(second.session)))
        self.assertEqual(self.reports(), before)
        self.gateway.verify()
        # What it repeats would count twice, and what it asks would be new.
        self.assertEqual(first.acknowledge("b1", deliveries["b1"], {"x": "played"}).status, NOT_ALLOWED)
        refused = first.acknowledge("b2", deliveries["b2"], {"y": "played"})
        self.assertEqual(refused.status, NOT_ALLOWED)
        self.assertIn("forgotten", refused.message)
        for kind in ({"get_batch": listener_pb2.GetBatch(stream="s", break_id="b1")},
                     {"join": listener_pb2.Join(stream="s")}, {"leave": listener_pb2.Leave(stream="s")}):
            self.assertEqual(first.ask(**kind).status, NOT_ALLOWED, kind)
        # Others are served, and counted as before: a repeat once.
        self.assertEqual(second.acknowledge("b1", others["b1"], {"x": "played"}).status, OK)
        self.assertEqual(self.listener().batch("b1").status, OK)
        after = self.reports()
        self.assertEqual(after["b2"], before["b2"])
        self.assertEqual({name: (each["played"], each["failed"]) for name, each in after["b1"].items()},
                         {"x": (2, 0), "y": (0, 1)})
        # Also after the process was killed.
        self.gateway.stop(signal.SIGKILL)
        self.gateway.start()
        self.assertEqual(first.acknowledge("b1", deliveries["b1"], {"x": "played"}).status, NOT_ALLOWED)
        self.assertEqual(self.files_with(first.session), [])
        self.assertEqual({name: each["played"] for name, each in self.gateway.report("s", "b1").items()}, {"x": 2, "y": 0})
        text = self.forget(first.session)
        self.assertIn("is forgotten", text)
        self.assertIn("no file of the data directory holds it", text)

    def test_its_connection_ends(self):
        port = int(self.gateway.addresses["requests"].rsplit(":", 1)[1])
        connect = lambda: socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        listener, other = joined(connect, "s"), joined(connect, "s")
        self.addCleanup(listener.close)
        self.addCleanup(other.close)
        self.forget(listener.session)
        with self.assertRaises((EOFError, ConnectionError)):
            listener.next(lambda flags, body: None)
        self.assertEqual(other.ask(get_time=listener_pb2.GetTime()).status, OK)
        again = RawListener(connect())
        self.addCleanup(again.close)
        again.session = listener.session
        self.assertEqual(again.ask(join=listener_pb2.Join(stream="s", push=True)).status, NOT_ALLOWED)

    def test_a_player_of_the_client_library_says_what_to_forget(self):
        player = self.gateway.listen("s", "--ignore", "--breaks", "2")
        self.addCleanup(lambda: player.process.poll() is None and player.kill())
        session = bytes.fromhex(player.wait_for("sessionBegan")["session"])
        self.assertEqual(player.finish(), 0)
        self.reports()
        done = self.forget(session, "--json")
        self.assertEqual((done["ledgerBreaks"], done["ledgerOutcomes"], done["files"]), (2, 4, []))
        self.assertEqual(self.files_with(session), [])

    def test_without_a_gateway(self):
        (first, _), (second, _) = self.heard({"x": "played"}), self.heard({"y": "failed"})
        before = self.reports()
        self.assertEqual(self.gateway.stop(), 0)
        self.assertEqual(self.forget(first.session, "--dry-run", "--json")["ledgerOutcomes"], 2)
        self.assertNotEqual(self.files_with(first.session), [])
        done = self.forget(first.session, "--json")
        self.assertEqual((done["ledgerOutcomes"], done["files"]), (2, []))
        self.assertEqual(self.files_with(first.session), [])
        self.gateway.verify()
        self.gateway.start()
        self.assertEqual(self.reports(), before)
        self.assertEqual(first.batch("b1").status, NOT_ALLOWED)
        # After a kill too: the books are opened as a start opens them.
        self.gateway.stop(signal.SIGKILL)
        self.assertEqual(self.forget(second.session, "--json")["files"], [])
        self.assertEqual(self.files_with(second.session), [])
        self.gateway.start()
        self.assertEqual(self.reports(), before)

    def test_a_gateway_that_is_killed_meanwhile_ends_it_at_its_next_start(self):
        seed = int(os.environ.get("CUECAST_SEED", str(random.getrandbits(32))))
        print(f"CUECAST_SEED={seed}")
        moments = random.Random(seed)
        for moment in range(6):
            listener, _ = self.heard({"x": "played"})
            before = self.reports()
            command = subprocess.Popen(
                [BINARY, "forget", "--session", listener.session.hex(), "--data-dir", self.data],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                command.wait(moments.uniform(0, 0.4))
            except subprocess.TimeoutExpired:
                pass
            self.gateway.process.kill()
            # Where it found no gateway, it forgets by itself: the books are compared when no process has them open.
            command.wait(PATIENCE)
            self.gateway.stop(signal.SIGKILL)
            self.gateway.start()
            self.assertFalse(os.path.exists(self.data + "/forgetting.pending"))
            self.assertEqual(self.reports(), before, moment)
            self.gateway.verify()
            self.assertEqual(self.forget(listener.session, "--json")["files"], [])
            self.assertEqual(self.files_with(listener.session), [])
            self.assertEqual(self.reports(), before, moment)

    def test_a_backup_from_before_brings_it_back_and_it_is_forgotten_again(self):
        listener, _ = self.heard({"x": "played"})
        before = self.reports()
        backup = self.gateway.folder + "/backup"
        self.gateway.run("backup", "--data-dir", self.data, "--to", backup)
        self.forget(listener.session)
        self.assertEqual(self.gateway.stop(), 0)
        self.gateway.run("restore", "--from", backup, "--data-dir", self.data, "--replace")
        self.assertNotEqual(self.files_with(listener.session), [])
        self.gateway.start()
        self.assertEqual(listener.batch("b1").status, NOT_ALLOWED, "who is refused stays so")
        self.forget(listener.session, "--json", code=0)
        self.assertEqual(self.files_with(listener.session), [])
        self.assertEqual(self.reports(), before)

    def test_what_is_no_session_and_what_is_no_data_directory(self):
        self.gateway.run("forget", "--session", "12", "--data-dir", self.data, code=64)
        self.gateway.run("forget", "--session", os.urandom(16).hex(), "--data-dir", self.data + "/none", code=65)
        unknown = self.forget(os.urandom(16), "--json")
        self.assertEqual((unknown["logRecords"], unknown["ledgerBreaks"], unknown["files"]), (0, 0, []))


if __name__ == "__main__":
    unittest.main()
