# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Single outcomes by position: each exactly once, over restarts and a kill, and the same numbers as the reports."""
import collections, csv, io, json, signal, unittest, urllib.error, urllib.request

from harness import PATIENCE, Broadcaster, Gateway, Listener, ad, broadcast_pb2, listener_pb2, status_pb2

USER = listener_pb2.IGNORE_REASON_USER


def get(gateway, path, headers=None):
    """The head and the body of an answer."""
    request = urllib.request.Request(f"http://{gateway.addresses['http']}{path}", headers=headers or {})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return answer.headers, answer.read().decode()


def rows(gateway, query):
    """The rows of an answer, and its last line."""
    lines = [json.loads(line) for line in get(gateway, "/v1/outcomes?" + query)[1].splitlines()]
    return lines[:-1], lines[-1]


class Outcomes(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.expected = []

    def listeners(self, count, stream="radio1"):
        """So many listeners hear of a break, and say what they did, each in a request of its own."""
        for number in range(count):
            listener = Listener(self.gateway, stream)
            listener.join()
            batch = listener.batch("noon")
            self.assertEqual(batch.status, status_pb2.STATUS_CODE_OK, batch)
            what = {"a": USER, "b": "failed"} if number % 2 else {"a": "failed"}
            for name, outcome in what.items():
                reply = listener.acknowledge("noon", batch.batch.delivery, {name: outcome})
                self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)
                self.expected.append((listener.session.hex(), name, "failed" if outcome == "failed" else "ignored"))
            listener.close()

    def publish(self, stream="radio1"):
        broadcaster = Broadcaster(self.gateway)
        reply = broadcaster.publish(stream, "noon", [ad("a", 300_000), ad("b", 300_000)], duration_ms=600_000,
                                    start=broadcast_pb2.Start(now=True))
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)
        broadcaster.close()

    def test_each_is_read_once_over_a_restart_and_a_kill(self):
        self.publish()
        read, position = [], None

        def go_on(limit):
            nonlocal position
            more = True
            while more:
                found, end = rows(self.gateway, f"limit={limit}" + (f"&from={position}" if position else ""))
                self.assertLessEqual(len(found), limit)
                read.extend(found)
                position, more = end["next"], end["more"]

        self.listeners(6)
        go_on(4)
        self.listeners(3)
        # Before they are read.
        self.assertEqual(self.gateway.stop(), 0)
        self.gateway.start()
        go_on(1)
        self.listeners(4)
        self.gateway.stop(signal.SIGKILL)
        self.gateway.start()
        self.listeners(2)
        go_on(100)
        self.assertEqual([(row["session"], row["ad"], row["outcome"]) for row in read], self.expected)
        self.assertEqual({(row["stream"], row["break"], row["variant"]) for row in read}, {("radio1", "noon", 0)})
        self.assertEqual(len({row["position"] for row in read}), len(read))
        # From the beginning it is the same, and so it is from any row.
        self.assertEqual(rows(self.gateway, "")[0], read)
        self.assertEqual(rows(self.gateway, f"from={read[4]['position']}")[0], read[5:])
        self.assertEqual(rows(self.gateway, "stream=radio2")[0], [])
        # And the books say the same.
        counted = collections.Counter((row["ad"], row["outcome"]) for row in read)
        for name, counts in self.gateway.report("radio1", "noon").items():
            for outcome in ("played", "ignored", "failed"):
                self.assertEqual(counts[outcome], counted[name, outcome], (name, outcome))

    def test_a_position_that_no_log_has_is_refused(self):
        for position, status in (("99", 410), ("1:x", 400)):
            with self.assertRaises(urllib.error.HTTPError) as raised:
                rows(self.gateway, f"from={position}")
            with raised.exception as error:
                self.assertEqual(error.code, status)
                problem = json.load(error)
            self.assertEqual(problem["code"], "POSITION_GONE" if status == 410 else "INVALID")
            self.assertEqual(problem.get("goOnFrom"), "0" if status == 410 else None)

    def test_a_table_has_the_numbers_of_the_command(self):
        self.publish()
        self.listeners(5)
        self.gateway.report("radio1", "noon")
        printed = self.gateway.run("report", "--format", "csv")
        for path, headers in (("/v1/reports?format=csv", {}), ("/v1/reports", {"Accept": "text/csv"}),
                              ("/v1/streams/radio1/breaks/noon/report?format=csv", {})):
            head, table = get(self.gateway, path, headers)
            self.assertEqual(head["Content-Type"], "text/csv; charset=utf-8; header=present")
            self.assertEqual(table.split("\r\n"), printed.split("\n"))
        whole = list(csv.DictReader(io.StringIO(printed)))
        part = list(csv.DictReader(io.StringIO(get(self.gateway, "/v1/reports?ad=b&format=csv")[1], newline="")))
        self.assertEqual(part, [row for row in whole if row["advertisement"] == "b"])
        self.assertEqual(get(self.gateway, "/v1/reports?to=2001-01-01T00:00:00Z&format=csv")[1].count("\r\n"), 1)

    def test_the_one_variant_that_there_is_has_all_numbers(self):
        self.publish()
        self.listeners(5)
        self.gateway.report("radio1", "noon")
        path = "/v1/streams/radio1/breaks/noon/report"
        whole = json.loads(get(self.gateway, path)[1])
        part = json.loads(get(self.gateway, path + "?variant=0")[1])
        self.assertEqual(part.pop("variant"), 0)
        self.assertEqual(part, whole)
        self.assertGreater(part["total"]["delivered"], 0)
        empty = json.loads(get(self.gateway, path + "?variant=1")[1])
        self.assertEqual((empty["total"]["delivered"], empty["breaks"][0]["sessions"], empty["balanced"]), (0, 0, True))
        named = ("report", "--stream", "radio1", "--break", "noon")
        printed = json.loads(self.gateway.run(*named, "--variant", "0", "--format", "json"))
        self.assertEqual(printed.pop("variant"), 0)
        self.assertEqual(printed["breaks"], part["breaks"])
        rows = list(csv.DictReader(io.StringIO(self.gateway.run(*named, "--variant", "0", "--format", "csv"))))
        self.assertEqual({(row["variant"], row["repeats"]) for row in rows}, {("0", "0")})
        self.gateway.run("report", "--variant", "0", code=64)


if __name__ == "__main__":
    unittest.main()
