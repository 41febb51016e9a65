# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Tests what the measurements compute: order, medians, ratios, goals, what programs print. Measures nothing.

    python3 Benchmarks/compare_test.py
"""
import contextlib
import dataclasses
import json
import re
import socket
import sys
import tempfile
import threading
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import compare
import figures
import load_tool
import measuring
import peer_servers
import peers
import plot
import rows
import shared_figures
from figures import BASELINE, OURS, Figure, Goal, Spread

ROOT = Path(__file__).resolve().parent.parent


class OrderTests(unittest.TestCase):
    def test_sides_take_turns_at_being_first(self):
        self.assertEqual(figures.interleaved(3), [(OURS, BASELINE), (BASELINE, OURS), (OURS, BASELINE)])

    def test_pairs_belong_together_whichever_was_first(self):
        bench = rows.Bench(None, None, dataclasses.replace(rows.FULL, pairs=4), say=lambda text: None)
        order, found = [], {"rate": Figure("", "", Goal(">=", 1))}
        numbers = {OURS: iter((10, 20, 30, 40)), BASELINE: iter((1, 2, 3, 4))}

        def side(name):
            def measure():
                order.append(name)
                return {"rate": (next(numbers[name]), 0.5)}
            return measure

        bench.pairs(found, side(OURS), side(BASELINE))
        self.assertEqual(order, [OURS, BASELINE, BASELINE, OURS] * 2)
        self.assertEqual(found["rate"].ratios(), [10, 10, 10, 10])
        self.assertEqual(found["rate"].cpu, {OURS: [0.5] * 4, BASELINE: [0.5] * 4})


class SharedLogTests(unittest.TestCase):
    def test_a_rate_counts_while_all_gateways_answer(self):
        # The first answers from 1 to 6, the second from 3 to 8.
        samples = [(second, (min(max(second - 1, 0), 5), min(max(second - 3, 0), 5), 7)) for second in range(10)]
        self.assertEqual(shared_figures.common_window(samples, 2), (4, 5))
        self.assertEqual(shared_figures.common_window(samples, 1), (2, 5))

    def test_gateways_that_never_answer_together_have_no_window(self):
        samples = [(0, (0, 0)), (1, (5, 0)), (2, (5, 0)), (3, (5, 5))]
        began, ended = shared_figures.common_window(samples, 2)
        self.assertLess(ended, began)
        with self.assertRaisesRegex(measuring.MeasurementError, "gateway 1 answered no acknowledgement"):
            shared_figures.common_window(samples[:3], 2)

    def test_rows_of_the_shared_log_are_registered(self):
        self.assertLessEqual({"shared-append", "shared-notice", "shared-acknowledgements"}, set(rows.ROWS))


class ArithmeticTests(unittest.TestCase):
    def test_the_median_lies_between_two_when_there_are_even_many(self):
        self.assertEqual(figures.median([3, 1, 2]), 2)
        self.assertEqual(figures.median([4, 1, 3, 2]), 2.5)
        self.assertEqual(figures.median([7]), 7)

    def test_quartiles_are_those_of_other_tools(self):
        self.assertEqual(Spread.of([1, 2, 3, 4, 5]), Spread(1, 2, 3, 4, 5))
        self.assertEqual(Spread.of([1, 2, 3, 4]), Spread(1, 1.75, 2.5, 3.25, 4))

    def test_of_nothing_there_is_no_median(self):
        with self.assertRaises(ValueError):
            figures.median([])

    def test_the_median_of_ratios_is_not_the_ratio_of_medians(self):
        figure = Figure("", "", Goal(">=", 1), ours=[1, 10, 100], baseline=[1, 20, 10])
        self.assertEqual(figure.ratios(), [1, 0.5, 10])
        self.assertEqual(figures.median(figure.ratios()), 1)

    def test_numbers_are_shown_with_the_digits_that_count(self):
        for value, text in ((1234567, "1,234,567"), (123.4, "123"), (12.34, "12.3"), (1.234, "1.23"), (0.1234, "0.123"),
                            (8, "8"), (0, "0"), (None, "–")):
            self.assertEqual(figures.shown(value), text)


class GoalTests(unittest.TestCase):
    def met(self, goal, ours, baseline=()):
        return Figure("", "", goal, ours=list(ours), baseline=list(baseline)).met()

    def test_a_goal_is_met_at_its_limit_and_missed_beyond(self):
        self.assertTrue(self.met(Goal("<=", 1.10), [1.10], [1]))
        self.assertFalse(self.met(Goal("<=", 1.10), [1.11], [1]))
        self.assertTrue(self.met(Goal(">=", 0.95), [0.95], [1]))
        self.assertFalse(self.met(Goal(">=", 0.95), [0.94], [1]))
        self.assertFalse(self.met(Goal("<", 5, "ours"), [5]))
        self.assertTrue(self.met(Goal("<", 5, "ours"), [4.99]))

    def test_differences_and_our_own_values_are_judged_as_such(self):
        self.assertTrue(self.met(Goal("<=", 1, "difference"), [51], [50]))
        self.assertFalse(self.met(Goal("<=", 1, "difference"), [51.5], [50]))
        self.assertTrue(self.met(Goal("<=", 5, "ours"), [4, 5, 60], [1, 1, 1]))

    def test_what_was_not_measured_is_neither_met_nor_missed(self):
        self.assertIsNone(self.met(Goal("<=", 1), []))
        self.assertIsNone(self.met(Goal("<=", 1), [1], []))
        self.assertIsNone(self.met(None, [1], [1]))

    def test_a_goal_with_a_mistake_is_refused(self):
        for arguments in (("=", 1), ("<=", 1, "theirs")):
            with self.assertRaises(ValueError):
                Goal(*arguments)


class KeptTests(unittest.TestCase):
    def test_a_figure_comes_back_from_json_as_it_was(self):
        figure = Figure("median", "ms", Goal("<=", 1.10), ours=[1.5], baseline=[1], notes=["a"], curves={OURS: [1]})
        figure.cpu[OURS].append(2.5)
        kept = json.loads(json.dumps(figure.as_json()))
        self.assertEqual(Figure.from_json(kept), figure)
        self.assertEqual((kept["ratio"]["median"], kept["met"]), (1.5, False))
        self.assertEqual(Figure.from_json(Figure("", "").as_json()), Figure("", ""))

    def test_the_table_shows_what_was_measured_and_what_was_not(self):
        figure = Figure("", "requests/s", Goal(">=", 0.9), ours=[90, 95], baseline=[100, 100])
        results = [{"row": "batch-100", "error": None, "figures": [figure.as_json()]},
                   {"row": "soak", "error": "it ended", "figures": []}]
        text = compare.table_of(results)
        self.assertRegex(text, r"\| batch-100 +\| 92.5 requests/s \| 100 requests/s \| 0.925 \[0.912–0.938; 0.900–0.950\]")
        self.assertIn("soak: NOT MEASURED: it ended", text)
        self.assertEqual(len({len(line) for line in text.splitlines() if line.startswith("|")}), 1)

    def test_a_row_that_fails_is_kept_with_its_reason(self):
        def fails(bench, found):
            found["rate"] = Figure("", "", Goal(">=", 1))
            raise measuring.MeasurementError("no gateway")

        bench = rows.Bench(None, None, rows.SMOKE, say=lambda text: None)
        rows.ROWS["test"] = ("a test", "", fails)
        try:
            result = compare.measure(bench, "test")
        finally:
            del rows.ROWS["test"]
        self.assertEqual((result["error"], len(result["figures"])), ("no gateway", 1))

    def test_what_is_only_shown_to_work_gets_more_time_and_fails_in_the_end(self):
        seconds = []

        def too_slow(bench, found):
            seconds.append((bench.scale.seconds, bench.scale.soak))
            if bench.scale.seconds < needed:
                raise measuring.MeasurementError("breaks could not be published")

        bench = rows.Bench(None, None, rows.SMOKE, say=lambda text: None)
        rows.ROWS["test"] = ("a test", "", too_slow)
        try:
            needed = 2
            self.assertIsNone(compare.shown_to_work(bench, "test")["error"])
            self.assertEqual(seconds, [(0.5, 3), (2, 12)])
            needed = 1_000
            self.assertEqual(compare.shown_to_work(bench, "test")["error"], "breaks could not be published")
        finally:
            del rows.ROWS["test"]
        self.assertEqual((bench.scale, len(seconds)), (rows.SMOKE, 5))

    def test_results_come_in_the_order_of_the_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("memory", "batch-100"):
                (Path(folder) / f"{name}.json").write_text(json.dumps({"row": name}))
            self.assertEqual([each["row"] for each in compare.results_in(folder)], ["batch-100", "memory"])


class PlotTests(unittest.TestCase):
    def result(self, *measured):
        return {"row": "batch-100", "pairs": 2, "machine": measuring.machine_facts(), "error": None,
                "figures": [figure.as_json() for figure in measured]}

    def test_the_plot_is_xml_and_shows_each_figure_once(self):
        measured = [Figure("a < b", "ms", Goal("<=", 1.1), ours=[1, 2], baseline=[1, 1]),
                    Figure("", "KiB", Goal("<=", 1, "difference"), ours=[50], baseline=[51]),
                    Figure("unmeasured", "s", Goal("<=", 1, "ours")),
                    Figure("peak", "", Goal("<=", 1.5, "ours"), ours=[1.2], curves={OURS: [3, 4], BASELINE: [9]})]
        root = xml.etree.ElementTree.fromstring(plot.svg([self.result(*measured)]))
        text = "".join(root.itertext())
        self.assertIn("batch-100: a < b", text)
        self.assertNotIn("unmeasured", text)
        self.assertEqual(len([each for each in root if each.tag.endswith("polyline")]), 2)

    def test_without_results_there_is_no_plot(self):
        with self.assertRaises(measuring.MeasurementError):
            plot.svg([self.result(Figure("", "", Goal("<=", 1)))])

    def test_what_is_better_than_its_goal_lies_to_the_right(self):
        self.assertEqual(plot.toward_goal(Goal(">=", 0.5), 0.75), 1.5)
        self.assertEqual(plot.toward_goal(Goal("<=", 2, "ours"), 4), 0.5)
        self.assertGreater(plot.place(1.2), plot.place(1))


class LoadToolTests(unittest.TestCase):
    def test_the_last_line_of_json_is_the_report(self):
        self.assertEqual(load_tool.parsed('{"ready":5}\n{"count": 1}\n', ["a"]), {"count": 1})
        self.assertEqual(load_tool.parsed('{\n "count": 1\n}\n', ["a"]), {"count": 1})

    def test_anything_else_is_no_report(self):
        for text in ("", "\n", "hello", "[1]", "1", '{"count": '):
            with self.assertRaises(measuring.MeasurementError, msg=text):
                load_tool.parsed(text, ["a"])

    def tool(self, report, code=0):
        script = tempfile.NamedTemporaryFile("w", suffix=".py", delete=False)
        self.addCleanup(Path(script.name).unlink)
        script.write(f"import sys; print('''{report}'''); sys.exit({code})")
        script.close()
        return load_tool.LoadTool(script.name, [sys.executable])

    def requests(self, tool):
        return tool.requests("batch", "tcp://a", connections=1, seconds=1, warmup=0)

    def test_lost_and_refused_requests_are_no_measurement(self):
        good = '{"count": 5, "lost": 0, "refused": {}}'
        self.assertEqual(self.requests(self.tool(good))["count"], 5)
        for bad in (good.replace('"lost": 0', '"lost": 1'), good.replace("{}", '{"OVERLOADED": 1}'),
                    good.replace("5", "0")):
            with self.assertRaises(measuring.MeasurementError):
                self.requests(self.tool(bad))
        with self.assertRaisesRegex(measuring.MeasurementError, "exit code 69"):
            self.requests(self.tool(good, 69))

    def test_lost_notices_and_missing_rounds_are_no_measurement(self):
        def notices(report):
            return self.tool(report).notices("burst", "tcp://a", broadcast="tcp://b", connections=1)

        self.assertEqual(len(notices('{"rounds": [{}], "lost": 0, "repeated": 0}')["rounds"]), 1)
        for bad in ('{"rounds": [{}], "lost": 1}', '{"rounds": [{}], "repeated": 1}', '{"rounds": []}'):
            with self.assertRaises(measuring.MeasurementError):
                notices(bad)

    def test_what_a_simulation_found_is_in_the_reason(self):
        report = '{"findings": [{"count": 3, "sentence": "notices were lost on the way"}]}'
        addresses = dict.fromkeys(("notices", "requests", "broadcast", "http"), "a")
        with self.assertRaisesRegex(measuring.MeasurementError, "3 × notices were lost on the way"):
            self.tool(report, 1).run(addresses, 10, listeners=1, breaks=1, every=1, ahead=1, lasts=1)

    def test_a_load_by_tls_says_so_to_every_command(self):
        script = tempfile.NamedTemporaryFile("w", suffix=".py", delete=False)
        self.addCleanup(Path(script.name).unlink)
        script.write("import json, sys; print(json.dumps({'count': 1, 'handshakes': 2, 'words': sys.argv[1:]}))")
        script.close()
        plain = load_tool.LoadTool(script.name, [sys.executable])
        words = ["--tls", "--listener-ca-file", "ca.pem"]
        for tool, expected in ((plain, []), (plain.by_tls("ca.pem"), words)):
            for report in (tool.handshakes("tcp://a", connections=2), self.requests(tool)):
                self.assertEqual([word for word in report["words"] if word in words], expected)
        report = plain.requests("join", "tcp://a", connections=1, seconds=1, warmup=0, tokens="file")
        self.assertEqual(report["words"][-3:], ["--listener-token-file", "file", "--json"])

    def test_handshakes_that_are_missing_are_no_measurement(self):
        for report in ('{"handshakes": 1}', '{"handshakes": 2, "ended": 1}', "{}"):
            with self.assertRaises(measuring.MeasurementError):
                self.tool(report).handshakes("tcp://a", connections=2)

    def test_durations_are_written_as_commands_take_them(self):
        self.assertEqual([load_tool.duration(each) for each in (10, 30.0, 0.5, 2.25)], ["10s", "30s", "500ms", "2250ms"])

    def test_the_simulations_report_names_what_is_missing(self):
        with self.assertRaisesRegex(measuring.MeasurementError, "latency.notice.intended_us.p99"):
            load_tool.Simulation({"latency": {"notice": {"intended_us": {}}}}).latency("notice", "p99")


class SampleTests(unittest.TestCase):
    def test_between_samples_lies_a_line(self):
        samples = [(10.0, 1.0), (20.0, 2.0), (30.0, 2.0)]
        for instant, value in ((5, 1.0), (10, 1.0), (15, 1.5), (25, 2.0), (40, 2.0)):
            self.assertEqual(load_tool.at(samples, instant), value)

    def test_cpu_is_counted_for_a_million(self):
        samples = [(0.0, 5.0), (10.0, 7.0)]
        self.assertEqual(load_tool.cpu_per_million(samples, 4_000_000), 0.5)
        self.assertAlmostEqual(load_tool.cpu_per_million(samples, 4_000_000, (0, 5)), 0.25)
        self.assertIsNone(load_tool.cpu_per_million(samples[:1], 1))
        self.assertIsNone(load_tool.cpu_per_million(samples, 0))

    def test_steady_cpu_leaves_out_connecting(self):
        # Ten seconds of connecting at full CPU, then ten at half.
        samples = [(instant, min(instant, 10) + max(0, instant - 10) / 2) for instant in range(21)]
        self.assertAlmostEqual(load_tool.steady_cpu_per_million(samples, 10, 100_000), 5.0)

    def test_a_round_ended_when_the_load_tool_did_unless_it_says_when(self):
        samples = [(100.0, 1.0), (110.0, 3.0)]
        self.assertEqual(load_tool.round_window({"seconds": 2, "began_unix_us": 5e6, "ended_unix_us": 7e6}, samples), (5, 7))
        began, ended = load_tool.round_window({"seconds": 2}, samples)
        self.assertEqual((ended, ended - began > 2), (110.0, True))
        self.assertIsNone(load_tool.round_window({"seconds": 2}, []))

    def test_the_lag_of_the_ledger_is_the_age_of_what_it_lacks(self):
        # The log grows by one a second; the ledger is three records behind, then catches up.
        behind = [(float(second), (second, max(0, second - 3))) for second in range(10)]
        self.assertEqual(rows.seconds_behind(behind), 2.0)
        self.assertEqual(rows.seconds_behind([(0.0, (5, 5)), (1.0, (6, 6))]), 0.0)
        self.assertEqual(rows.seconds_behind(behind + [(20.0, (9, 6)), (21.0, (9, 9))]), 13.0)


class BaselineTests(unittest.TestCase):
    """What the bare programs copy from the gateway is still the same."""

    def statements(self, text):
        """CREATE TABLE statements, and what ALTER TABLE adds, by the table's name, without differences of spacing."""
        text = re.sub(r"--[^\n]*", "", text)
        statements = {}
        for name, body in re.findall(r"(?:CREATE|ALTER) TABLE (\w+) ?(.*?);", re.sub(r"\s+", " ", text)):
            statements.setdefault(name, []).append(re.sub(r"\s*([(),])\s*", r"\1", body).strip())
        return statements

    def test_the_tables_are_those_of_the_store(self):
        source = (ROOT / "Benchmarks/baselines/rows.h").read_text()
        copied = self.statements("".join(re.findall(r'"([^"]*)"', source)))
        stored = {}
        for name in ("EventLog/EventLogSchema", "Ledger/LedgerSchema"):
            stored |= self.statements((ROOT / f"Sources/SQLiteStore/{name}.swift").read_text())
        self.assertEqual(set(copied), {"records", "applied", "sessions", "outcomes", "firsts", "totals", "reasons"})
        for name, body in copied.items():
            self.assertEqual(body, stored[name], name)

    def test_the_sockets_settings_are_those_of_the_gateways_socket_of_libzmq(self):
        swift = "".join((ROOT / f"Sources/{name}.swift").read_text() for name in (
            "Gateway/Broadcasters/BroadcastSockets", "Gateway/ConnectionLimit", "GatewayCore/Limits/SettingDefaults"))
        c = (ROOT / "Benchmarks/baselines/baseline.h").read_text()
        for swift_setting, c_setting in (
            ("min(4_096, DescriptorReserve.uncounted(of: limit) / 2)", "ZMQ_BACKLOG, 4096"),
            ("handshakeTimeout: Duration = .seconds(3)", "ZMQ_HANDSHAKE_IVL, 3000"),
            (".tcpKeepaliveIdle, to: .seconds(10)", "ZMQ_TCP_KEEPALIVE_IDLE, 10"),
            (".sendHighWaterMark, to: 1_000", "ZMQ_SNDHWM, 1000"),
            (".routerMandatory, to: true", "ZMQ_ROUTER_MANDATORY, 1"),
        ):
            self.assertIn(swift_setting, swift)
            self.assertIn(c_setting, c)


class PeerTests(unittest.TestCase):
    def rounds(self, count, ours, theirs):
        bench = rows.Bench(None, None, dataclasses.replace(rows.FULL, pairs=count), say=lambda text: None)
        found = {}
        peers.figures_of(["a", "b"], {"rate": ("", "/s")}, found)
        peers.Round(bench, ["a", "b"], found).run(ours, theirs)
        return found

    def test_everybody_is_first_in_turn_and_ratios_are_over_each_peer(self):
        order = []

        def ours():
            order.append(OURS)
            return {"rate": (10, 0.5)}

        def theirs(name):
            order.append(name)
            return {"rate": (5 if name == "a" else 20, 1.5)}

        found = self.rounds(3, ours, theirs)
        self.assertEqual(order, [OURS, "a", "b", "a", "b", OURS, "b", OURS, "a"])
        self.assertEqual(found["a", "rate"].ratios(), [2, 2, 2])
        self.assertEqual(found["b", "rate"].ratios(), [0.5, 0.5, 0.5])
        self.assertEqual(found["b", "rate"].cpu, {OURS: [0.5] * 3, BASELINE: [1.5] * 3})

    def test_a_peer_that_fails_does_not_end_the_others(self):
        def theirs(name):
            if name == "a":
                raise measuring.MeasurementError("not installed")
            return {"rate": 1}

        found = self.rounds(2, lambda: {"rate": 2}, theirs)
        self.assertEqual((found["a", "rate"].ours, found["b", "rate"].ratios()), ([], [2, 2]))
        self.assertIn("not installed", found["a", "rate"].notes[0])

    def test_configurations_are_whole(self):
        for modules, locations in (("load_module a;", peer_servers.NCHAN_LOCATIONS), ("", peer_servers.BATCH_LOCATIONS)):
            text = peer_servers.nginx_configuration("/folder", 81, modules, locations)
            self.assertEqual(text.count("{"), text.count("}"))
            self.assertNotIn("{folder}", text)
            self.assertIn("listen 127.0.0.1:81 ", text)
        self.assertIn("127.0.0.1:81\n", peer_servers.NATS.format(port=81, folder="/folder"))

    def channel(self):
        """A server with one channel: what is posted goes to everybody who has upgraded. Gives its port."""
        listening = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listening.close)
        subscribers = []

        def serve(connection):
            with contextlib.suppress(OSError), connection:
                reader = connection.makefile("rb")
                while line := reader.readline():
                    headers = dict(each.decode().strip().lower().split(": ") for each in iter(reader.readline, b"\r\n"))
                    if b"/socket" in line:
                        self.assertEqual((headers["upgrade"], headers["sec-websocket-version"]), ("websocket", "13"))
                        subscribers.append(connection)
                        # A PING tells of nothing.
                        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n\x89\0")
                        continue
                    body = reader.read(int(headers["content-length"]))
                    connection.sendall(b"HTTP/1.1 202 Accepted\r\n\r\n")
                    size = bytes((len(body),)) if len(body) < 126 else b"\x7e" + len(body).to_bytes(2, "big")
                    for each in subscribers:
                        each.sendall(b"\x81" + size + body)

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=[listening.accept()[0]], daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return listening.getsockname()[1]

    def test_messages_by_web_socket_are_read_and_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            load = peer_servers.build_peer_load(folder)
            for size in (125, 126, 4_096):
                report = load.run("notices", "--protocol", "nchan-websocket", "--port", self.channel(), "--connections", 5,
                                  "--silence", 0, "--count", 2, "--message-bytes", size)
                self.assertEqual((report["lost"], report["repeated"], report["notice_bytes"]), (0, 0, size))
                self.assertEqual([each["received"] for each in report["rounds"]], [5, 5])
                self.assertTrue(all(0 < each["first_us"] <= each["median_us"] <= each["last_us"] for each in report["rounds"]))

    def test_peers_go_by_their_first_word(self):
        self.assertEqual(peers.parse(["--only", "nats,nginx"]).names, ["nats-server", "nginx with nchan"])
        self.assertEqual(peers.parse([]).names, list(peers.BROKERS))


class OptionTests(unittest.TestCase):
    def test_a_row_that_does_not_exist_is_refused(self):
        with self.assertRaises(SystemExit), open("/dev/null", "w") as nowhere:
            sys.stderr, kept = nowhere, sys.stderr
            try:
                compare.parse(["--rows", "batch-100,bogus"])
            finally:
                sys.stderr = kept

    def test_options_change_the_scale(self):
        scale = compare.scale_of(compare.parse(["--quick", "--pairs", "5", "--silence", "1", "--listeners-max", "10"]))
        self.assertEqual((scale.pairs, scale.silence, scale.connections(9_000)), (5, 1, 10))
        self.assertEqual(compare.scale_of(compare.parse([])), rows.FULL)
        # The same of what is measured on other servers.
        self.assertEqual(compare.scale_of(peers.parse([])), rows.FULL)
        scale = compare.scale_of(peers.parse(["--quick", "--pairs", "5", "--seconds", "2", "--silence", "1", "--listeners-max", "10"]))
        self.assertEqual((scale.pairs, scale.seconds, scale.silence, scale.connections_max), (5, 2, 1, 10))

    def test_the_short_form_measures_rows_that_exist(self):
        self.assertTrue(set(rows.SMOKE_ROWS) <= set(rows.ROWS))
        self.assertEqual(compare.rows_wanted(compare.parse(["--smoke"])), rows.SMOKE_ROWS)
        self.assertEqual(compare.rows_wanted(compare.parse([])), list(rows.ROWS))


if __name__ == "__main__":
    unittest.main()
