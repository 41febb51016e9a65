# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""One trace from the header of a request to the notice, the log, the messages, and the file that a collector reads."""
import json, os, re, shutil, stat, subprocess, tempfile, unittest

from harness import PATIENCE, Broadcaster, Listener, LoggedGateway, ad, broadcast_pb2, until

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
BODY = {"now": True, "duration": "none", "ads": [
    {"id": "a", "duration": "1h", "media": [{"url": "https://cdn.example.com/a.mp3"}]}]}


def spans_of(text):
    """The spans of a file of lines, each checked against the rules of OTLP's JSON (OpenTelemetry, "JSON Protobuf encoding")."""
    found = []
    for line in text.splitlines():
        request = json.loads(line)
        assert set(request) == {"resourceSpans"}, request
        for resource in request["resourceSpans"]:
            assert set(resource) == {"resource", "scopeSpans"}
            names = {each["key"]: each["value"] for each in resource["resource"]["attributes"]}
            assert names["service.name"] == {"stringValue": "cuecast"}
            for scope in resource["scopeSpans"]:
                assert scope["scope"] == {"name": "cuecast"}
                found += scope["spans"]
    for span in found:
        assert re.fullmatch("[0-9a-f]{32}", span["traceId"]) and re.fullmatch("[0-9a-f]{16}", span["spanId"]), span
        assert re.fullmatch("[0-9a-f]{16}", span["parentSpanId"]), span
        assert type(span["kind"]) is int and 1 <= span["kind"] <= 5, span
        assert type(span["flags"]) is int and 0 <= span["flags"] < 1 << 32, span
        for name in ("startTimeUnixNano", "endTimeUnixNano"):
            # Numbers of 64 bits are text.
            assert type(span[name]) is str and re.fullmatch("[0-9]{19}", span[name]), span
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]), span
        assert span["status"].get("code", 0) in (0, 2) and type(span["status"].get("code", 0)) is int, span
        for attribute in span["attributes"]:
            (kind, value), = attribute["value"].items()
            assert kind in ("stringValue", "intValue") and type(value) is str, attribute
        known = {"traceId", "spanId", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano", "endTimeUnixNano",
                 "attributes", "status"}
        assert set(span) == known, span
    return found


class Traces(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cuecast-traces.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = os.path.join(self.folder, "traces.jsonl")

    def gateway(self, *arguments):
        gateway = LoggedGateway(self.folder, "--set", "log.format=json", *arguments)
        self.addCleanup(gateway.close)
        return gateway

    def traced(self):
        return self.gateway("--set", "tracing.enabled=true", "--set", f"tracing.file={self.file}")

    def listener(self, gateway, stream="radio1"):
        listener = Listener(gateway, stream)
        self.addCleanup(listener.close)
        listener.join()
        return listener

    def publish(self, gateway, break_id, *more, stream="radio1"):
        """Publishes with curl; gives the answer's status and its head by name."""
        with open(os.path.join(gateway.folder, "data/http-token")) as file:
            token = file.read().strip()
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--max-time", str(PATIENCE), "--dump-header", "-", "--output", "/dev/null",
             "--request", "PUT", f"http://{gateway.addresses['http']}/v1/streams/{stream}/breaks/{break_id}",
             "--header", f"Authorization: Bearer {token}", "--header", "Content-Type: application/json",
             "--data", json.dumps(BODY), *more], capture_output=True, text=True, check=True)
        first, *lines = done.stdout.strip().splitlines()
        return int(first.split()[1]), {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip() for line in lines}

    def spans(self, count):
        """The spans once there are so many."""
        def look():
            if not os.path.exists(self.file):
                return None
            with open(self.file) as file:
                text = file.read()
            found = spans_of(text[:text.rfind("\n") + 1])
            return len(found) >= count and found
        return until(f"{count} spans", look)

    def test_off_by_default(self):
        gateway = self.gateway("--set", f"tracing.file={self.file}")
        listener = self.listener(gateway)
        status, head = self.publish(gateway, "b", "--header", f"traceparent: 00-{TRACE}-{CALLER}-01")
        self.assertEqual(status, 201)
        self.assertNotIn("traceresponse", head)
        self.assertEqual(listener.next().trace, b"")
        self.assertEqual(gateway.stop(), 0)
        self.assertNotIn("trace_id", gateway.until_said("a broadcaster changed a break"))
        self.assertFalse(os.path.exists(self.file))

    def test_one_trace_from_the_header_to_the_notice(self):
        gateway = self.traced()
        listener = self.listener(gateway)
        status, head = self.publish(gateway, "b", "--header", f"traceparent: 00-{TRACE}-{CALLER}-01",
                                    "--header", "tracestate: vendor=secret", "--header", "X-Request-Id: my-request")
        self.assertEqual(status, 201)
        version, trace, span, flags = head["traceresponse"].split("-")
        self.assertEqual((version, trace, flags), ("00", TRACE, "01"))
        self.assertNotEqual(span, CALLER)
        notice = listener.next()
        self.assertEqual((notice.break_id, notice.trace.hex()), ("b", TRACE + span))

        lines = [json.loads(line) for line in gateway.until_said("a broadcaster changed a break").splitlines()]
        about = [line for line in lines if line["message"] == "a broadcaster changed a break"]
        self.assertEqual([(line["trace_id"], line["span_id"], line["requestId"]) for line in about],
                         [(TRACE, span, "my-request")])

        found = {each["name"]: each for each in self.spans(4)}
        self.assertEqual(sorted(found), ["decide", "http request", "log commit", "notice published"])
        self.assertEqual({each["traceId"] for each in found.values()}, {TRACE})
        root = found.pop("http request")
        self.assertEqual((root["spanId"], root["parentSpanId"], root["kind"]), (span, CALLER, 2))
        self.assertEqual({each["parentSpanId"] for each in found.values()}, {span})
        self.assertEqual(len({each["spanId"] for each in found.values()} | {span}), 4)
        facts = {each["key"]: each["value"] for each in root["attributes"]}
        self.assertEqual(facts["http.response.status_code"], {"intValue": "201"})
        self.assertEqual(facts["http.route"], {"stringValue": "/v1/streams/{stream}/breaks/{break}"})
        self.assertEqual(facts["cuecast.request_id"], {"stringValue": "my-request"})
        begin, end = int(root["startTimeUnixNano"]), int(root["endTimeUnixNano"])
        decided, committed = found["decide"], found["log commit"]
        self.assertTrue(begin <= int(decided["startTimeUnixNano"]) <= int(decided["endTimeUnixNano"])
                        <= int(committed["startTimeUnixNano"]) <= int(committed["endTimeUnixNano"]) <= end)
        self.assertLessEqual(int(decided["endTimeUnixNano"]), int(found["notice published"]["startTimeUnixNano"]))
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)

        # The log has it: after a restart, a later listener is told the same. The `tracestate` is not kept.
        self.assertEqual(gateway.stop(), 0)
        gateway.start()
        later = self.listener(gateway)
        self.assertEqual([each.trace.hex() for each in later.applied], [TRACE + span])
        for place, _, names in os.walk(self.folder):
            for name in names:
                with open(os.path.join(place, name), "rb") as file:
                    self.assertNotIn(b"vendor=secret", file.read(), name)

    def test_what_is_wrong_or_not_sampled_stays_out(self):
        gateway = self.traced()
        listener = self.listener(gateway)
        cases = [f"traceparent: 00-{TRACE}-{CALLER}-00", f"traceparent: 00-{TRACE}-{CALLER}", "traceparent: nonsense",
                 f"traceparent: 00-{TRACE.upper()}-{CALLER}-01", f"traceparent: ff-{TRACE}-{CALLER}-01"]
        for number, header in enumerate(cases):
            status, head = self.publish(gateway, "b", "--header", header, stream="radio1" if not number else f"other{number}")
            self.assertEqual((status, "traceresponse" in head), (201, False), header)
        twice = f"traceparent: 00-{TRACE}-{CALLER}-01"
        status, head = self.publish(gateway, "c", "--header", twice, "--header", twice, stream="more")
        self.assertEqual((status, "traceresponse" in head), (201, False))
        self.assertEqual(listener.next().trace, b"")
        self.assertEqual(gateway.metric('cuecast_traces_total{result="not_sampled"}'), 1)
        self.assertEqual(gateway.metric('cuecast_traces_total{result="invalid"}'), 5)
        self.assertEqual(gateway.metric('cuecast_traces_total{result="traced"}'), 0)

    def test_a_broadcaster_over_zeromq_sends_the_same(self):
        gateway = self.traced()
        listener = self.listener(gateway)
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        reply = broadcaster.publish("radio1", "b", [ad("a", 3_600_000)], start=broadcast_pb2.Start(now=True))
        self.assertEqual((reply.trace, listener.next().trace), (b"", b""))
        reply = broadcaster.ask(cancel=broadcast_pb2.Cancel(stream="radio1", break_id="b"),
                                traceparent=f"00-{TRACE}-{CALLER}-01")
        self.assertEqual(reply.trace[:16].hex(), TRACE)
        self.assertEqual(listener.next().trace, reply.trace)
        names = {each["name"]: each for each in self.spans(4)}
        self.assertEqual(names["zeromq request"]["spanId"], reply.trace[16:].hex())

    def test_the_file_is_opened_anew_with_a_hang_up_and_a_broken_one_is_seen(self):
        gateway = self.traced()
        header = ["--header", f"traceparent: 00-{TRACE}-{CALLER}-01"]
        self.publish(gateway, "b", *header)
        self.spans(4)
        os.rename(self.file, self.file + ".moved")
        gateway.hang_up("the configuration was read again")
        self.publish(gateway, "b", *header, stream="radio2")
        self.spans(4)
        # A folder in its place takes no spans; requests are answered all the same.
        os.remove(self.file)
        os.mkdir(self.file)
        gateway.hang_up("the configuration was read again")
        status, head = self.publish(gateway, "b", *header, stream="radio3")
        self.assertEqual(status, 201)
        self.assertIn("traceresponse", head)
        until("the alarm", lambda: gateway.metric('cuecast_alarm{alarm="traceFile"}') == 1)
        until("what is lost is counted", lambda: gateway.metric('cuecast_trace_spans_total{result="lost"}') > 0)
        os.rmdir(self.file)
        until("it is written again", lambda: self.publish(gateway, "b", *header, stream="radio3")[0] == 200
              and gateway.metric('cuecast_alarm{alarm="traceFile"}') == 0)
        self.assertEqual(gateway.stop(), 0)


if __name__ == "__main__":
    unittest.main()
