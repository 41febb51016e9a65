# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Tests the parts of the hostile run that need no gateway: frames, connections, verdicts, tables.

    python3 Tests/Hostile/hostile_test.py
"""
import os, random, re, socket, subprocess, sys, tempfile, unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import attacks, access_modes, handshakes, hostile, measuring, tokens, verdicts, websocket_attacks, zmtp
from run_attack import ATTACKS
from swarm import Swarm
from verdicts import Level, Observed


class FrameTests(unittest.TestCase):
    def test_the_greeting_is_64_bytes_of_rfc_23(self):
        self.assertEqual(zmtp.greeting(), bytes.fromhex("ff00000000000000007f0300") + b"NULL".ljust(20, b"\0") + bytes(32))
        self.assertEqual(len(zmtp.greeting(mechanism=b"X" * 20)), 64)

    def test_frames_are_as_short_as_they_can_be(self):
        self.assertEqual(zmtp.frame(b"ab"), b"\x00\x02ab")
        self.assertEqual(zmtp.frame(b"", more=True), b"\x01\x00")
        self.assertEqual(zmtp.frame(bytes(255))[:2], b"\x00\xff")
        self.assertEqual(zmtp.frame(bytes(256))[:9], b"\x02" + (256).to_bytes(8, "big"))
        self.assertEqual(zmtp.header(3, long=True), b"\x02" + (3).to_bytes(8, "big"))

    def test_a_request_has_an_empty_delimiter(self):
        self.assertEqual(zmtp.request(b"body"), b"\x01\x00\x00\x04body")

    def test_commands_carry_their_name_and_properties(self):
        self.assertEqual(zmtp.ready(b"SUB"), b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB")
        self.assertIn(b"\x08Identity\x00\x00\x00\x01i", zmtp.ready(b"DEALER", b"i"))
        self.assertEqual(zmtp.ping(10, b"c"), b"\x04\x08\x04PING\x00\x0ac")

    def test_subscriptions_are_messages_or_commands(self):
        self.assertEqual(zmtp.subscription(b"t"), b"\x00\x02\x01t")
        self.assertEqual(zmtp.subscription(b"t", cancel=True), b"\x00\x02\x00t")
        self.assertEqual(zmtp.subscription(b"t", as_command=True), b"\x04\x0b\x09SUBSCRIBEt")

    def test_replies_are_read_however_they_are_cut(self):
        sent = (zmtp.greeting() + zmtp.ready(b"ROUTER") + zmtp.request(b"one") + zmtp.frame(b"notice") + zmtp.request(bytes(300))
                + zmtp.ping() + zmtp.frame(b"notice"))
        for size in (1, 7, 64, len(sent)):
            reader, found = zmtp.Reader(), []
            for start in range(0, len(sent), size):
                found += zmtp.bodies(reader.feed(sent[start:start + size]))
            self.assertEqual(found, [b"one", bytes(300)], size)


class SwarmTests(unittest.TestCase):
    def setUp(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.listener.close)
        self.address = f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        self.swarm = Swarm(lambda: True)
        self.addCleanup(self.swarm.close_all)

    def accept(self):
        while True:
            self.listener.settimeout(0.01)
            try:
                accepted, _ = self.listener.accept()
            except TimeoutError:
                self.swarm.turn(0.01)
                continue
            self.addCleanup(accepted.close)
            accepted.settimeout(0.01)
            return accepted

    def receive(self, accepted, size):
        found = b""
        while len(found) < size:
            self.swarm.turn(0)
            try:
                found += accepted.recv(size - len(found))
            except TimeoutError:
                pass
        return found

    def test_what_comes_after_the_greeting_waits_for_the_other_side(self):
        pieces = iter((b"refilled", None))
        heard = []
        peer = self.swarm.connect(self.address, b"first", after=b"after", refill=lambda _: next(pieces),
                                  heard=lambda _, data: heard.append(data))
        accepted = self.accept()
        self.assertEqual(self.receive(accepted, 5), b"first")
        self.swarm.turn(0.05)
        with self.assertRaises(TimeoutError):
            accepted.recv(1)
        accepted.sendall(zmtp.greeting()[:10])
        self.swarm.turn(0.05)
        with self.assertRaises(TimeoutError):
            accepted.recv(1)
        accepted.sendall(zmtp.greeting()[10:])
        self.assertEqual(self.receive(accepted, 13), b"afterrefilled")
        self.assertEqual(b"".join(heard), zmtp.greeting())
        self.assertEqual(peer.sent, 18)

    def test_a_peer_that_does_not_read_reads_only_the_greeting(self):
        heard = []
        self.swarm.connect(self.address, b"first", after=b"after", reading=False, heard=lambda _, data: heard.append(data))
        accepted = self.accept()
        self.receive(accepted, 5)
        accepted.sendall(zmtp.greeting())
        self.receive(accepted, 5)
        accepted.sendall(b"never read")
        self.swarm.turn(0.05)
        self.assertEqual(heard, [zmtp.greeting()])

    def test_connections_that_the_other_side_ends_are_counted(self):
        ended = []
        self.swarm.connect(self.address, b"x", ended=ended.append)
        self.accept().close()
        while not ended:
            self.swarm.turn(0.01)
        self.assertEqual((self.swarm.counts["closed_by_gateway"], len(self.swarm.peers)), (1, 0))

    def test_a_refused_connection_is_counted(self):
        # Bound and not listening: no other program can have this port meanwhile.
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            self.swarm.connect(f"tcp://127.0.0.1:{held.getsockname()[1]}", b"x")
            while self.swarm.peers:
                self.swarm.turn(0.01)
        self.assertEqual(self.swarm.counts["refused"], 1)


class ForgeryTests(unittest.TestCase):
    def test_a_token_is_signed_as_rfc_7515_has_it(self):
        # Appendix A.1 of RFC 7515, whose JSON has line breaks.
        header, claims = b'{"typ":"JWT",\r\n "alg":"HS256"}', b'{"iss":"joe",\r\n "exp":1300819380,\r\n "http://example.com/is_root":true}'
        secret = tokens.decoded("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
        self.assertTrue(tokens.signed(secret, header, claims).endswith(".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))

    def test_a_changed_token_differs_in_one_part_and_can_be_decoded(self):
        good = tokens.signed(b"k", {"alg": "HS256"}, {"sub": "x"})
        for number in range(3):
            made = tokens.changed(good, number, random.Random(number))
            differ = [index for index, (one, other) in enumerate(zip(good.split("."), made.split("."))) if one != other]
            self.assertEqual(differ, [number])
            self.assertEqual(len(tokens.decoded(made.split(".")[number])), len(tokens.decoded(good.split(".")[number])))

    def test_records_may_lie_about_their_length(self):
        self.assertEqual(handshakes.record(handshakes.ALERT, b"ab"), b"\x15\x03\x03\x00\x02ab")
        self.assertEqual(handshakes.record(handshakes.DATA, b"ab", 65_535)[:5], b"\x17\x03\x03\xff\xff")

    def test_a_client_begins_with_its_hello(self):
        hello = handshakes.Handshake().feed()
        self.assertEqual((hello[0], hello[5], len(hello)), (handshakes.HANDSHAKE, 1, 5 + int.from_bytes(hello[3:5], "big")))

    def test_proxy_headers_say_what_they_are_told_to(self):
        self.assertEqual(attacks.proxy_header(b"ab"), bytes.fromhex("0d0a0d0a000d0a515549540a2111") + b"\0\2ab")
        self.assertEqual(attacks.proxy_header(b"ab", size=65_535, command=0x20)[12:16], b"\x20\x11\xff\xff")

    def test_frames_of_websocket_are_as_rfc_6455_has_them(self):
        # Section 5.7; a key of zeros masks nothing.
        self.assertEqual(websocket_attacks.frame(b"Hello", 0x81, masked=False), bytes.fromhex("810548656c6c6f"))
        self.assertEqual(websocket_attacks.frame(b"Hello", 0x89), bytes.fromhex("89850000000048656c6c6f"))
        self.assertEqual(websocket_attacks.header(0x82, 256, masked=False), bytes.fromhex("827e0100"))
        self.assertEqual(websocket_attacks.header(0x82, 65_536, masked=False), bytes.fromhex("827f0000000000010000"))
        self.assertIn(b"\r\nSec-WebSocket-Protocol: ZWS2.0\r\n\r\n", websocket_attacks.upgrade())

    def test_access_modes_give_the_gateway_its_settings(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, expected in (("plain", []), ("tls", ["listeners.tls.certificateFile", "listeners.tls.keyFile"]),
                                   ("proxy", ["listeners.proxyProtocol.trusted"]), ("websocket", ["listeners.webSocket"])):
                access = access_modes.ACCESS_MODES[name](folder, "cuecast")
                self.assertEqual([word.split("=")[0] for word in access.settings if word != "--set"], expected)
            with open(access.secret("secret", "x")) as file:
                self.assertEqual(os.fstat(file.fileno()).st_mode & 0o777, 0o600)
        self.assertLessEqual({each.access for each in ATTACKS}, set(access_modes.ACCESS_MODES))


def good(**changed):
    """What an attack that changes nothing leaves behind."""
    latencies = {kind: 1_000 for kind in verdicts.KINDS}
    return Observed("garbage", quiet_p99=latencies, attacked_p99=latencies, before=Level(100_000, 50), peak=Level(110_000, 90),
                    after=Level(100_000, 50), told={"cuecast_limits_hit_total": 12}, did={"connections": 3},
                    **changed)


def failing(observed, **options):
    return [each.name for each in verdicts.judge(observed, **options) if not each.holds]


class VerdictTests(unittest.TestCase):
    def test_nothing_fails_where_all_is_well(self):
        self.assertEqual(failing(good()), [])
        self.assertEqual(failing(good(), short=True), [])

    def test_each_fault_fails_one_verdict(self):
        for changed, name in (({"lost": ["3 × notices were lost"]}, "lossless"), ({"newcomers_lost": ["x"]}, "newcomers"),
                              ({"books": "the reports do not balance"}, "books"), ({"operators_unanswered": 1}, "operators"),
                              ({"memory_stopped": True}, "bounded")):
            self.assertEqual(failing(good(**changed)), [name])
        for name, attribute, value in (("told", "told", {}), ("ran", "did", {}), ("ran", "did", {"fault": "x"}),
                                       ("forged", "did", {"forged_counted": 1}),
                                       ("forged", "did", {"forged_counted": 0, "forged_joined": 1}),
                                       ("forged", "did", {"forged_served": 2}), ("forged", "did", {"forged_answered": 1})):
            observed = good()
            setattr(observed, attribute, value)
            self.assertEqual(failing(observed), [name])

    def test_a_process_that_ended_is_judged_by_that(self):
        observed = good(alive=False, exit_code=-6, lost=["x"])
        observed.after = None
        self.assertEqual(failing(observed), ["alive", "lossless"])

    def test_memory_may_be_5_percent_more_afterwards(self):
        observed = good()
        observed.after = Level(105_000, 52)
        self.assertEqual(failing(observed), [])
        observed.after = Level(105_001, 53)
        self.assertEqual(failing(observed), ["descriptors", "memory"])
        self.assertEqual(failing(observed, short=True), ["descriptors"])
        self.assertEqual(failing(observed, growth_kib=1), ["descriptors"])

    def test_the_p99_may_be_twice_that_of_the_quiet_run_or_the_usual_one(self):
        observed = good()
        observed.attacked_p99 = {kind: 2_000 for kind in verdicts.KINDS}
        self.assertEqual(failing(observed), [])
        observed.attacked_p99["batch"] = 2_001
        self.assertEqual(failing(observed), ["p99"])
        for attacked, expected in ((4_000, True), (4_001, False)):
            observed.attacked_p99["batch"] = attacked
            self.assertEqual(verdicts.perhaps_noise(verdicts.judge(observed), verdicts.ratios(observed, {})), expected)
        observed.attacked_p99["batch"] = 2_001
        self.assertEqual(failing(observed, usual_p99={"batch": 1_500}), [])
        self.assertEqual(failing(observed, usual_p99={"batch": 100}), ["p99"])
        self.assertEqual(failing(observed, short=True), [])
        del observed.attacked_p99["notice"]
        self.assertEqual(failing(observed, usual_p99={"batch": 1_500}), ["p99"])

    def test_what_waits_while_another_gateway_is_attacked_is_told_and_excuses_nothing(self):
        observed = good()
        observed.attacked_p99 = {kind: 8_000 for kind in verdicts.KINDS}
        observed.elsewhere_p99 = {kind: 7_000 for kind in verdicts.KINDS}
        found = next(each for each in verdicts.judge(observed) if each.name == "p99")
        self.assertFalse(found.holds)
        self.assertEqual(found.sentence, "notice 8.0×, batch 8.0×, acknowledge 8.0×; while another gateway of this machine was "
                         "attacked so: notice 7.0×, batch 7.0×, acknowledge 7.0×")

    def test_descriptors_are_counted_without_listing_them(self):
        with open(os.devnull), open(os.devnull):
            self.assertEqual(measuring.descriptors(os.getpid()), len(os.listdir(f"/proc/{os.getpid()}/fd")) - 1)

    def test_the_usual_p99_is_the_median_of_the_quiet_runs(self):
        self.assertEqual(verdicts.usual([{"notice": 1}, {"notice": 9, "batch": 4}, {"notice": 2}]), {"notice": 2, "batch": 4})

    def test_a_counter_tells_that_grew_more_than_the_listeners_explain(self):
        series = "cuecast_limits_hit_total"
        for attacked, expected in ((20 + 10, {}), (20 + 11, {series: 21})):
            both = ({series: 5}, {series: 15}), ({series: 100}, {series: 100 + attacked})
            self.assertEqual(verdicts.told(*both), expected)
            self.assertEqual(verdicts.told(*both, longer=2), {})
            self.assertEqual(verdicts.told(*both, explained=["cuecast_limits"]), {})
        new = ({}, {}), ({}, {series: 11, "cuecast_listeners": 1e6})
        self.assertEqual(verdicts.told(*new), {series: 11})
        own = 'cuecast_connections_ended_total{socket="http"}'
        self.assertEqual(verdicts.told(({}, {}), ({}, {own: 50}), looks=20), {})

    def test_an_alarm_tells_when_it_is_new(self):
        alarm = 'cuecast_alarm{alarm="connections"}'
        self.assertEqual(verdicts.told(({}, {}), ({alarm: 0}, {alarm: 1})), {alarm: 1})
        self.assertEqual(verdicts.told(({}, {}), ({alarm: 1}, {alarm: 1})), {})


class TableTests(unittest.TestCase):
    def test_rows_have_a_cell_for_each_heading(self):
        dead = Observed("garbage", alive=False, exit_code=-6, lost=["x"])
        for observed in (good(), dead):
            cells = verdicts.row(observed, verdicts.judge(observed))
            self.assertEqual(len(cells), len(verdicts.HEADINGS))
            self.assertIn(f"| {cells[0]} | {cells[1]} |", verdicts.markdown([cells], "", "now", {}))
            self.assertEqual(len(verdicts.table([cells]).splitlines()), 2)
        self.assertEqual(verdicts.row(dead, verdicts.judge(dead))[-1], "ran, alive, lossless")

    def test_what_failed_before_stands_beside_what_fails(self):
        cells = verdicts.row(good(), verdicts.judge(good()))
        table = "\n".join(["| " + " | ".join(each) + " |" for each in (verdicts.HEADINGS, [*cells[:-1], "told, p99"])])
        before = verdicts.failed_before(f"| garbage | other |\n{verdicts.BEFORE}\n\n{table}\n| x | y |\n")
        self.assertEqual(before, {"garbage": "told, p99"})
        written = verdicts.markdown([cells, ["new", *cells[1:]]], "p99 x.", "now", before).splitlines()
        self.assertEqual((written[0], written[1]), ("now. p99 x.", ""))
        self.assertTrue(written[4].startswith("| garbage | yes | ") and written[4].endswith("| – | told, p99 |"))
        self.assertTrue(written[5].endswith("| – | not run |"))
        self.assertEqual(len({line.count("|") for line in written[2:]}), 1)

    def test_the_quiet_runs_are_told_of(self):
        self.assertEqual(verdicts.quiet_sentence([{"notice": 1_000}]), "")
        self.assertEqual(verdicts.quiet_sentence([{"notice": 1_000, "batch": 1}, {"notice": 3_000}]),
                         "p99 of notices 1.0 to 3.0 ms, median 2.0 ms, in 2 quiet runs.")

    def test_those_that_grew_most_are_named(self):
        self.assertEqual(verdicts.most_told({"cuecast_a_total": 1, 'cuecast_b_total{x="y"}': 3, "cuecast_c_total": 2}),
                         "b_total{x=y}, c_total and 1 more")


class DocumentTests(unittest.TestCase):
    def test_the_document_has_the_table_of_the_sockets_of_before(self):
        with open(hostile.BEFORE_DOCUMENT) as file:
            before = verdicts.failed_before(file.read())
        self.assertEqual(before["descriptors"], "alive, lossless")
        self.assertLessEqual(set(before), {each.name for each in ATTACKS})

    def test_the_document_says_what_the_attacks_do(self):
        with open(hostile.ATTACKS_DOCUMENT) as file:
            lines = file.read().splitlines()
        for each in ATTACKS:
            self.assertIn(f"| `{each.name}` | {each.entrance} | {each.does} |", lines)


class LateTests(unittest.TestCase):
    def test_what_a_slow_machine_excuses_has_the_names_of_the_load_tool(self):
        """Kinds of findings, and states of the books, as they stand in its reports."""
        sources = os.path.join(HERE, "../../Sources/LoadEngine")
        words = set()
        for name in ("Statistics/Findings.swift", "Report/LoadReport.swift"):
            with open(os.path.join(sources, name)) as file:
                for line in file:
                    case = re.match(r'\s+case (\w+)(?: = "(\w+)")?$', line)
                    if case:
                        words.add(case[2] or case[1])
        self.assertLessEqual(hostile.LATE, words)


class CommandTests(unittest.TestCase):
    def run_of(self, *arguments):
        return subprocess.run([sys.executable, os.path.join(HERE, "hostile.py"), *arguments], capture_output=True, text=True)

    def test_attacks_are_listed_with_what_they_do(self):
        done = self.run_of("--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines() if line[0] != " "],
                         [each.name for each in ATTACKS])
        self.assertEqual(len({each.name for each in ATTACKS}), len(ATTACKS))
        self.assertTrue(all(each.does and each.entrance for each in ATTACKS))

    def test_help_has_an_example_and_a_wrong_name_is_refused(self):
        self.assertIn("--only garbage", self.run_of("--help").stdout)
        done = self.run_of("--only", "grabage")
        self.assertEqual(done.returncode, 64)
        self.assertIn("there is no attack grabage", done.stderr)
        self.assertEqual(self.run_of("--binary", "/nowhere").returncode, 64)


if __name__ == "__main__":
    unittest.main()
