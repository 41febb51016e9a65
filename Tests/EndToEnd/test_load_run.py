# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Simulated listeners against the real gateway: what the load-test tool prints, what it writes, how it exits."""
import contextlib, http.server, json, os, signal, subprocess, tempfile, threading, unittest, urllib.request
import xml.etree.ElementTree as ElementTree

from harness import PATIENCE, RUN_PATIENCE, Gateway, slower_until, until
from test_load_tool import LOAD_BINARY as LOAD

#: Nothing is given up because the machine is slow.
PATIENT = ["--patience", "30m"]
#: What is found where the machine is too slow for a run's pace.
LATE = {"batchesMissing", "breaksNotPublished"}


def short(factor=1):
    """A run of about four seconds, or so many times as long."""
    return ["--breaks", "3", "--every", f"{400 * factor}ms", "--lead", f"{1_500 * factor}ms",
            "--duration", f"{400 * factor}ms", "--ads", "3", *PATIENT]


class LoadRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()

    @classmethod
    def tearDownClass(cls):
        cls.gateway.close()

    def run_of(self, listeners, *arguments, amiss=(), prepare=lambda: None):
        """The report of a run that was slow enough for everybody to ask in time; insists that nothing else is amiss in it.
        `prepare` is called before each."""
        def run(factor):
            prepare()
            done = self.load("--listeners", str(listeners), *short(factor), "--json", *arguments, code=None)
            report = json.loads(done.stdout)
            self.assertEqual((done.returncode, report["passed"]), (1, False) if report["findings"] else (0, True), done.stdout)
            self.assertLessEqual({each["kind"] for each in report["findings"]}, LATE | set(amiss), done.stdout)
            return report
        report = slower_until(
            run, lambda report: all(each["batches"] == listeners for each in report["breaks"])
            and report["counts"]["outcomes"] == 9 * listeners)
        self.assertEqual([each["kind"] for each in report["findings"]], list(amiss))
        return report

    def load(self, *arguments, code=0, **environment):
        """Runs the tool against the gateway, insists on its exit code unless that is open, and gives what it printed."""
        done = subprocess.run([LOAD, *arguments], env={**self.gateway.environment, **environment},
                              capture_output=True, text=True, timeout=RUN_PATIENCE)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}\n{done.stderr}")
        return done

    def joins(self):
        with urllib.request.urlopen(f"http://{self.gateway.addresses['http']}/metrics", timeout=PATIENCE) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("cuecast_joins_total{"))

    def test_a_run_is_checked_and_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "load.html")
            report = self.run_of(200, "--html", page)
            title = ElementTree.parse(page).getroot().find(".//{*}title")
        self.assertIn("200 listeners on 1 stream, 3 breaks", title.text)
        self.assertTrue(report["passed"] and report["complete"])
        self.assertEqual((report["lost"], report["repeated"], report["findings"]), (0, 0, []))
        self.assertEqual(report["counts"]["outcomes"], 1800)
        self.assertEqual(report["books"]["state"], "equal")
        self.assertEqual([each["batches"] for each in report["breaks"]], [200, 200, 200])
        for each in report["breaks"]:
            counts = self.gateway.report(each["stream"], each["break"])
            for name in ("delivered", "played", "ignored", "failed"):
                self.assertEqual(sum(ad[name] for ad in counts.values()), each[name])

    def test_several_processes_are_one_run(self):
        report = self.run_of(90, "--processes", "3")
        self.assertTrue(report["passed"])
        self.assertEqual(report["facts"]["processes"], 3)
        self.assertEqual(report["counts"]["joined"], 90)
        self.assertEqual([each["batches"] for each in report["breaks"]], [90, 90, 90])

    def test_people_get_text(self):
        text = slower_until(lambda factor: self.load("--listeners", "20", *short(factor), "--storm", code=None).stdout,
                            lambda text: "PASSED" in text)
        self.assertIn("PASSED", text)
        self.assertIn("\nacknowledge ", text)

    def test_an_interrupted_run_reports_what_was_done_so_far(self):
        for processes in ("1", "2"):
            before = self.joins()
            # It is over before the first break is announced, for which a machine may be too slow.
            run = subprocess.Popen([LOAD, "--listeners", "20", "--run-for", "10m", "--lead", "30m", "--json", "--processes", processes],
                                   env=self.gateway.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            until("all have joined", lambda: self.joins() >= before + 20)
            run.send_signal(signal.SIGTERM)
            out, _ = run.communicate(timeout=RUN_PATIENCE)
            self.assertEqual(run.returncode, 0, out)
            report = json.loads(out)
            self.assertFalse(report["complete"])
            self.assertGreater(report["counts"]["joined"], 0)

    def test_books_that_were_asked_for_and_are_not_there_are_a_finding(self):
        self.run_of(5, "--http", "127.0.0.1:1", amiss=["booksDiffer"])

    @contextlib.contextmanager
    def books(self, first):
        """An address that gives the gateway's reports, but answers the first request as it is told: a status and a body; and
        what has the next request answered so, too."""
        gateway, answers = self.gateway.addresses["http"], []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if answers:
                    status, body = answers.pop()
                else:
                    with urllib.request.urlopen(f"http://{gateway}{self.path}", timeout=PATIENCE) as answer:
                        status, body = answer.status, answer.read()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever).start()
            yield f"127.0.0.1:{server.server_address[1]}", lambda: answers.append(first)
            server.shutdown()
            self.assertEqual(answers, [])

    def test_books_that_come_late_are_asked_for_again(self):
        with self.books((503, b"")) as (address, prepare):
            report = self.run_of(5, "--http", address, prepare=prepare)
        self.assertEqual(report["books"]["state"], "equal")

    def test_books_that_cannot_be_read_are_a_finding_with_its_reason(self):
        for first, reason in ((200, b"[]"), "its answer cannot be read"), ((500, b""), "it answers with 500"):
            with self.books(first) as (address, prepare):
                report = self.run_of(5, "--http", address, amiss=["booksDiffer"], prepare=prepare)
            self.assertEqual(report["books"]["state"], "not_compared")
            self.assertIn(f"{address} gives no report: {reason}", json.dumps(report["findings"]))

    def test_it_reports_a_gateway_that_does_not_answer(self):
        done = slower_until(lambda factor: self.load(
            "--notices", "tcp://127.0.0.1:1", "--requests", "tcp://127.0.0.1:1", "--listeners", "3", "--patience", f"{factor}s", code=69),
            lambda done: "refused" in done.stderr)
        self.assertIn("the connection was refused", done.stderr)

    def test_breaks_that_are_not_accepted_are_findings_and_the_run_ends(self):
        def run(factor):
            return self.load("--listeners", "5", "--breaks", "3", "--every", "100ms", "--lead", "1s", "--duration", "100ms",
                             "--broadcast", "tcp://127.0.0.1:1", "--patience", f"{2 * factor}s", "--json", code=None)
        # Patience is for joining too.
        done = slower_until(run, lambda done: done.returncode != 69)
        self.assertEqual(done.returncode, 1, done.stderr)
        report = json.loads(done.stdout)
        found = {each["kind"]: each for each in report["findings"]}["breaksNotPublished"]
        self.assertEqual((found["count"], report["counts"]["published"]), (3, 0), done.stdout)
        self.assertIn("tcp://127.0.0.1:1 does not accept it", found["examples"][0])

    def test_a_run_ends_where_the_gateway_is_gone(self):
        def run(factor):
            gateway = Gateway()
            try:
                run = subprocess.Popen([LOAD, "--listeners", "5", "--breaks", "40", "--every", f"{200 * factor}ms", "--lead", "2s", "--duration", "100ms",
                                        "--http", "none", "--patience", f"{2 * factor}s", "--json"],
                                       env=gateway.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                until("a break is there, or no listener could join",
                      lambda: run.poll() is not None or gateway.get("/v1/breaks")["breaks"])
                gateway.stop(signal.SIGKILL)
                return run, *run.communicate(timeout=RUN_PATIENCE)
            finally:
                gateway.close()
        # Where it took so long to end the gateway that all breaks were published, once more with more time between them.
        run, out, told = slower_until(run, lambda ended: ended[0].returncode != 69 and json.loads(ended[1])["counts"]["published"] < 40)
        self.assertEqual(run.returncode, 1, told)
        self.assertIn("breaksNotPublished", {each["kind"] for each in json.loads(out)["findings"]})

    def test_options_that_make_no_sense_end_with_a_sentence(self):
        for arguments in (["--played", "0.5"], ["--stall", "2"], ["--listeners", "0"], ["--stream", "a/b"],
                          ["--stream", "a", "--stream", "a"], ["--stream", "a", "--streams", "2"], ["--follow"],
                          ["--speed", "0"], ["--every", "10ms"], ["--duration", "20s"], ["--duration", "1ms"],
                          ["--streams", "3", "--listeners", "2"], ["--notices", "here"], ["--seed", "x"],
                          ["--processes", "0"], ["--processes", "9", "--listeners", "2"], ["--churn", "nan"],
                          ["--connect-rate", "-1"], ["--ads", "65"], ["--breaks", "0"], ["--lead", "7h"],
                          ["--listener-ca-file", "/some/file"], ["--server-name", "gateway"], ["--tls", "--listener-ca-file", "/nowhere"],
                          ["--listener-token-file", "/nowhere"], ["--listener-token-file", "/some/file", "--no-push"],
                          ["--run-for", "0s"], ["--patience", "1ms"], ["--stall-for", "0s"]):
            with self.subTest(arguments=arguments):
                done = self.load(*arguments, code=64)
                self.assertRegex(done.stderr, r"^(Error|cuecast-load): .+\n")

    def test_help_has_an_example(self):
        for command in ("run", "requests", "notices", "idle"):
            self.assertIn("Example", self.load(command, "--help").stdout)
