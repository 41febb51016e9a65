# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The HTTP API of the real binary: its description, the same rules as over ZeroMQ, and requests that nobody thought of."""
import copy, json, os, subprocess, tempfile, unittest, urllib.error, urllib.request

from harness import PATIENCE, ROOT, Broadcaster, Gateway, ad, broadcast_pb2, status_pb2

#: What scripts/setup.sh installs.
TOOLS = os.path.join(ROOT, ".venv/bin")
#: How many requests are thought of for each operation. `make fuzz-http` says more, and then each bound of each schema is tried too.
EXAMPLES = os.environ.get("FUZZ_EXAMPLES")
SEED = os.environ.get("FUZZ_SEED", "20261123")


class API:
    """A gateway that is asked over HTTP with its own token."""

    def __init__(self, gateway):
        self.gateway = gateway
        with open(os.path.join(gateway.folder, "data/http-token")) as file:
            self.token = file.read().strip()
        self.root = f"http://{gateway.addresses['http']}"

    def ask(self, method, path, body=None, token=True):
        """The status, and the document."""
        headers = {"Authorization": f"Bearer {self.token}"} if token else {}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.root + path, data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)


def started(test):
    gateway = Gateway()
    test.addCleanup(gateway.close)
    return gateway, API(gateway)


def http_ad(name, seconds=30):
    return {"id": name, "title": f"Ad {name}", "duration": f"{seconds}s",
            "media": [{"url": f"https://cdn.example.com/{name}.mp3", "type": "audio/mpeg"}]}


class HTTPChanges(unittest.TestCase):
    def test_a_break_lives_its_life_over_http(self):
        gateway, api = started(self)
        path = "/v1/streams/radio1/breaks/noon-1"
        self.assertEqual(api.ask("PUT", path, {"ads": [http_ad("a")]}, token=False)[0], 401)
        self.assertEqual(api.ask("GET", path)[0], 404)
        status, made = api.ask("PUT", path, {"cued": True, "duration": "none", "ads": [http_ad("a")]})
        self.assertEqual((status, made["state"], made["ads"]), (200, "cued", 1))
        again = api.ask("PUT", path, {"cued": True, "duration": "none", "ads": [http_ad("a")]})[1]
        self.assertEqual({**again, "position": ""}, {**made, "position": ""})
        status, other = api.ask("PUT", path, {"cued": True, "ads": [http_ad("a")]})
        self.assertEqual((status, other["code"], other["retryable"]), (409, "CONFLICT", False))
        self.assertEqual(api.ask("POST", path + "/punch", {"in": "1h"})[0], 200)
        self.assertEqual(api.ask("POST", path + "/update", {"duration": "45s"})[1]["durationMilliseconds"], 45_000)
        self.assertEqual(api.ask("GET", path)[1]["durationMilliseconds"], 45_000)
        self.assertEqual(api.ask("POST", path + "/cancel")[1]["state"], "cancelled")
        # As over the broadcasters' socket, and as the log keeps it.
        listed = json.loads(gateway.run("breaks", "--stream", "radio1", "--format", "json"))
        self.assertEqual([each["state"] for each in listed] if isinstance(listed, list) else
                         [each["state"] for each in listed["breaks"]], ["cancelled"])
        self.assertEqual(gateway.stop(), 0)
        gateway.start()
        self.assertEqual(API(gateway).ask("GET", path)[1]["state"], "cancelled")

    def test_the_same_request_gets_the_same_code_over_zeromq_and_over_http(self):
        gateway, api = started(self)
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        stream, hour = "radio1", 3_600_000
        start = broadcast_pb2.Start(in_ms=hour)
        self.assertEqual(broadcaster.publish(stream, "there", [ad("a", 30_000)], start=start, duration_ms=30_000).status,
                         status_pb2.STATUS_CODE_OK)
        self.assertEqual(broadcaster.publish(stream, "held", [ad("a", 30_000)], duration_ms=30_000).status,
                         status_pb2.STATUS_CODE_OK)

        def publish(name, ads, **fields):
            return lambda: broadcaster.publish(stream, name, ads, **fields)

        def ask(**kind):
            return lambda: broadcaster.ask(**kind)

        def key(kind, name, **fields):
            return {"stream": stream, "break_id": name, **fields}

        cases = [
            ("a new one", publish("new", [ad("a")], start=broadcast_pb2.Start(in_ms=2 * hour), duration_ms=1_000),
             ("PUT", "new", {"in": "2h", "duration": "1s", "ads": [http_ad("a", 1)]})),
            ("another one of that name", publish("there", [ad("b", 30_000)], start=start, duration_ms=30_000),
             ("PUT", "there", {"in": "1h", "duration": "30s", "ads": [http_ad("b")]})),
            ("one in its place", publish("other", [ad("a", 30_000)], start=start, duration_ms=30_000),
             ("PUT", "other", {"in": "1h", "duration": "30s", "ads": [http_ad("a")]})),
            ("one of yesterday", publish("late", [ad("a")], start=broadcast_pb2.Start(at_us=1), duration_ms=1_000),
             ("PUT", "late", {"at": "1970-01-01T00:00:01Z", "duration": "1s", "ads": [http_ad("a", 1)]})),
            ("one of next week", publish("far", [ad("a")], start=broadcast_pb2.Start(in_ms=7 * 24 * hour), duration_ms=1_000),
             ("PUT", "far", {"in": "7d", "duration": "1s", "ads": [http_ad("a", 1)]})),
            ("no ads", publish("empty", [], duration_ms=1_000), ("PUT", "empty", {"duration": "1s", "ads": []})),
            ("too many ads", publish("many", [ad(str(n)) for n in range(65)], duration_ms=1_000),
             ("PUT", "many", {"duration": "1s", "ads": [http_ad(str(n), 1) for n in range(65)]})),
            ("a name that is none", publish("UPPER", [ad("a")], duration_ms=1_000),
             ("PUT", "UPPER", {"duration": "1s", "ads": [http_ad("a", 1)]})),
            ("too long", publish("long", [ad("a")], duration_ms=7 * hour),
             ("PUT", "long", {"duration": "7h", "cued": True, "ads": [http_ad("a", 1)]})),
            ("a punch of what is not there", ask(punch=broadcast_pb2.Punch(**key("punch", "none"))), ("POST", "none/punch", {})),
            ("a punch of what is not cued", ask(punch=broadcast_pb2.Punch(**key("punch", "there"))), ("POST", "there/punch", {})),
            ("an end before the start", ask(end=broadcast_pb2.End(**key("end", "there"))), ("POST", "there/end", {})),
            ("an update of nothing", ask(update=broadcast_pb2.Update(**key("update", "there"))), ("POST", "there/update", {})),
            ("an update that overlaps", ask(update=broadcast_pb2.Update(**key("update", "new"), start=start)),
             ("POST", "new/update", {"in": "1h"})),
            ("a cancel of what is not there", ask(cancel=broadcast_pb2.Cancel(**key("cancel", "none"))), ("POST", "none/cancel", None)),
            ("a cancel", ask(cancel=broadcast_pb2.Cancel(**key("cancel", "held"))), ("POST", "held/cancel", None)),
            ("a punch of what is cancelled", ask(punch=broadcast_pb2.Punch(**key("punch", "held"))), ("POST", "held/punch", {})),
        ]
        codes = set()
        for what, by_socket, (method, name, body) in cases:
            reply = by_socket()
            code = status_pb2.StatusCode.Name(reply.status).removeprefix("STATUS_CODE_")
            status, document = api.ask(method, f"/v1/streams/{stream}/breaks/{name}", body)
            codes.add(code)
            with self.subTest(what):
                self.assertEqual(document.get("code", "OK"), code, (reply.message, document))
                self.assertEqual(status == 200, code == "OK")
                if code != "OK":
                    self.assertEqual(document["status"], status)
        self.assertGreaterEqual(len(codes), 8, codes)


class OpenAPI(unittest.TestCase):
    def test_the_description_is_openapi_and_its_examples_are_what_it_says(self):
        _, api = started(self)
        status, document = api.ask("GET", "/openapi.json")
        self.assertEqual((status, document["openapi"]), (200, "3.1.0"))
        index = api.ask("GET", "/v1")[1]["operations"]
        described = {f"{method.upper()} {path}" for path, item in document["paths"].items() for method in item}
        self.assertEqual(described - set(index), {"GET /v1", "GET /openapi.json"})
        self.assertLessEqual(set(index), described)
        self.assertEqual(self.check(document)[0], 0, self.check(document)[1])
        # The check can fail.
        wrong = copy.deepcopy(document)
        wrong["paths"]["/v1/breaks"]["get"]["responses"]["200"]["content"]["application/json"]["example"]["breaks"][0]["ads"] = "one"
        self.assertEqual(self.check(wrong)[0], 1)

    def check(self, document):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(document, file)
            file.flush()
            done = subprocess.run([f"{TOOLS}/python", os.path.join(ROOT, "Tests/EndToEnd/openapi.py"), file.name],
                                  capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class HTTPFuzz(unittest.TestCase):
    def test_no_request_gets_what_the_description_does_not_say(self):
        gateway, api = started(self)
        checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [f"{TOOLS}/schemathesis", "--no-color", "run", api.root + "/openapi.json", "--checks", checks, "--seed", SEED,
                 "--max-examples", EXAMPLES or "6", "--header", f"Authorization: Bearer {api.token}", "--suppress-health-check", "all",
                 "--phases", "examples,coverage,fuzzing" if EXAMPLES else "examples,fuzzing", "--generation-database", "none",
                 # A reload reads files again, one after the other; it is no matter of what comes in.
                 "--exclude-operation-id", "reload",
                 # Its answer goes on until somebody ends it.
                 "--exclude-operation-id", "listen"],
                capture_output=True, text=True, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout[-8_000:] + done.stderr[-2_000:])
        if EXAMPLES:
            print(done.stdout[-3_000:])
        # What nobody thought of has ended nothing.
        self.assertEqual(api.ask("GET", "/healthz")[0], 200)
        self.assertEqual(gateway.stop(), 0)


if __name__ == "__main__":
    unittest.main()
