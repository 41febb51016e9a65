# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The HTTP API of the real binary: its description, the same rules as over ZeroMQ, and requests that nobody thought of."""
import copy, json, os, socket, subprocess, tempfile, time, unittest, urllib.error, urllib.request

from harness import PATIENCE, ROOT, Broadcaster, Gateway, LoggedGateway, ad, broadcast_pb2, status_pb2

#: What scripts/setup.sh installs.
TOOLS = os.path.join(ROOT, ".venv/bin")
#: How many requests are thought of for each operation. `make fuzz-http` says more, and then each bound of each schema is tried too.
EXAMPLES = os.environ.get("FUZZ_EXAMPLES")
SEED = os.environ.get("FUZZ_SEED", "20261123")
#: What changes breaks; most of what fuzz_hooks.py leads to a break succeeds.
CHANGES = ["publishBreak", "punchBreak", "updateBreak", "postponeBreak", "endBreak", "cancelBreak"]
#: What listeners ask; fuzz_hooks.py gives most of it a session that listens, and what was handed out to it.
LISTENERS = ["getBatch", "acknowledge", "leave", "getAssetList", "getVAST", "track", "trackByPost"]


class API:
    """A gateway that is asked over HTTP with its own token."""

    def __init__(self, gateway):
        self.gateway = gateway
        with open(os.path.join(gateway.folder, "data/http-token")) as file:
            self.token = file.read().strip()
        self.root = f"http://{gateway.addresses['http']}"

    def ask(self, method, path, body=None, token=True, **said):
        """The status, and the document; the head is kept. `If_Match="*"` says `If-Match: *`."""
        headers = {name.replace("_", "-"): value for name, value in said.items()}
        if token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.root + path, data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                self.headers = answer.headers
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                self.headers = error.headers
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

    def test_of_two_who_saw_the_same_break_one_changes_it(self):
        gateway, api = started(self)
        path = "/v1/streams/radio1/breaks/noon-1"
        body = {"in": "1h", "ads": [http_ad("a")]}
        self.assertEqual(api.ask("PUT", path, body, If_Match="*")[1]["code"], "REVISION_CONFLICT")
        self.assertEqual(api.ask("PUT", path, body, If_Match='"1"')[0], 412)
        self.assertEqual(api.ask("GET", path)[0], 404)
        self.assertEqual(api.ask("PUT", path, body, If_None_Match="*")[0], 200)
        self.assertEqual(api.headers["ETag"], '"1"')
        status, problem = api.ask("PUT", path, body, If_None_Match="*")
        self.assertEqual((status, problem["code"], problem["retryable"]), (412, "REVISION_CONFLICT", False))
        # The same break is the same, whatever is expected.
        for expected in ({}, {"If_Match": "*"}, {"If_Match": '"1"'}, {"If_Match": '"7"'}):
            self.assertEqual(api.ask("PUT", path, body, **expected)[0], 200)
        start = api.ask("GET", path)[1]["start"]
        # As JavaScript knows it: in milliseconds.
        moved = {"by": "90s", "from": start[:-4] + "Z"}
        for _ in range(3):
            status, postponed = api.ask("POST", path + "/postpone", moved, If_Match='"1"')
            self.assertEqual((status, postponed.get("revision")), (200, 2), postponed)
            self.assertEqual(api.headers["ETag"], '"2"')
        self.assertNotEqual(postponed["start"], start)
        self.assertEqual(postponed["start"][-5:], start[-5:])
        status, problem = api.ask("POST", path + "/update", {"duration": "45s"}, If_Match='"1"')
        self.assertEqual((status, problem["code"]), (412, "REVISION_CONFLICT"))
        self.assertIn("revision 2", problem["detail"])
        self.assertEqual(api.ask("POST", path + "/update", {"duration": "45s"}, If_Match='"2"')[0], 200)
        self.assertEqual(api.ask("POST", path + "/postpone", {"by": "1s"}, If_Match='"3"')[0], 200)
        self.assertEqual(api.ask("POST", path + "/postpone", {"by": "1s"})[0], 400)
        self.assertEqual(api.ask("POST", path + "/cancel", If_Match='"3"')[0], 412)
        self.assertEqual(api.ask("POST", path + "/cancel", If_Match="*")[0], 200)
        self.assertEqual(api.headers["ETag"], '"5"')
        # The log says the same after a restart.
        self.assertEqual(gateway.stop(), 0)
        gateway.start()
        self.assertEqual(API(gateway).ask("GET", path)[1]["revision"], 5)

    def test_what_is_in_force_is_shown_also_after_a_reload(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "cuecast.yaml")

            def write(text):
                with open(file, "w", encoding="utf-8") as written:
                    written.write(text)

            write("listeners.max: 70\nbreaks.hold: 20m\nedge.threads: 1\n")
            gateway = Gateway("--config", file)
            self.addCleanup(gateway.close)
            api = API(gateway)

            def settings():
                return {each["key"]: each for each in api.ask("GET", "/v1/configuration")[1]["settings"]}

            def limits():
                return {each["limit"]: each for each in api.ask("GET", "/v1/limits")[1]["limits"]}

            before = settings()
            self.assertEqual((before["listeners.max"]["value"], before["listeners.max"]["source"],
                              before["listeners.max"]["default"], before["listeners.max"]["unit"]),
                             ("70", "file", "0", "count"))
            self.assertEqual((before["breaks.hold"]["value"], before["breaks.hold"]["unit"]), ("20m", "duration"))
            self.assertEqual(before["logLevel"]["source"], "flag")
            self.assertEqual((before["keepTotalsFor"]["source"], before["keepTotalsFor"]["value"]),
                             ("default", before["keepTotalsFor"]["default"]))
            self.assertEqual(before["log.bytesMax"]["unit"], "bytes")
            printed = gateway.run("check-config", "--config", file)
            self.assertEqual({line.split(":")[0] for line in printed.splitlines() if not line.startswith("#")}, set(before))
            # What may be reloaded is, the rest stays and keeps where it comes from.
            write("listeners.max: 80\nedge.threads: 2\nlog.bytesMax: 1073741824\n")
            self.assertEqual(api.ask("POST", "/v1/reload")[0], 200)
            after = settings()
            self.assertEqual((after["listeners.max"]["value"], after["listeners.max"]["source"]), ("80", "file"))
            self.assertEqual((after["breaks.hold"]["value"], after["breaks.hold"]["source"]), ("30m", "default"))
            self.assertEqual((after["edge.threads"]["value"], after["edge.threads"]["source"]), ("1", "file"))
            self.assertEqual((after["log.bytesMax"]["value"], after["log.bytesMax"]["source"]),
                             (before["log.bytesMax"]["value"], "default"))
            found = limits()
            self.assertEqual((found["listenersMax"]["max"], found["listenersMax"]["use"], found["listenersMax"]["key"]),
                             (80, 0, "listeners.max"))
            # Each that is counted, once.
            with urllib.request.urlopen(api.root + "/metrics", timeout=PATIENCE) as answer:
                counted = {line.split('"')[1] for line in answer.read().decode().splitlines()
                           if line.startswith("cuecast_limits_hit_total{")}
            self.assertEqual(set(found), counted)
            self.assertEqual(len(found), len(api.ask("GET", "/v1/limits")[1]["limits"]))
            self.assertEqual({each["key"] for each in found.values() if "key" in each} - set(after), set())
            with open(os.path.join(gateway.folder, "data/http-token"), encoding="utf-8") as token:
                self.assertNotIn(token.read().strip(), json.dumps(after))

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
            ("a postponement of what is not there", ask(postpone=broadcast_pb2.Postpone(**key("postpone", "none"), by_ms=1, from_us=1)),
             ("POST", "none/postpone", {"by": "1ms", "from": "1970-01-01T00:00:00.000001Z"})),
            ("a postponement from another start",
             ask(postpone=broadcast_pb2.Postpone(**key("postpone", "there"), by_ms=1, from_us=1)),
             ("POST", "there/postpone", {"by": "1ms", "from": "1970-01-01T00:00:00.000001Z"})),
            ("a postponement by nothing", ask(postpone=broadcast_pb2.Postpone(**key("postpone", "there"), from_us=1)),
             ("POST", "there/postpone", {"by": 0, "from": "1970-01-01T00:00:00.000001Z"})),
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


class HTTPEvents(unittest.TestCase):
    def events(self, api, target):
        """The names and documents of events, as they come."""
        with urllib.request.urlopen(api.root + target, timeout=PATIENCE) as answer:
            self.assertEqual(answer.headers["Content-Type"], "text/event-stream")
            name = ""
            for line in answer:
                line = line.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

    def test_a_page_watches_a_break_by_a_ticket_that_no_message_tells(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        gateway = LoggedGateway(folder.name, "--set", "logLevel=debug")
        self.addCleanup(gateway.close)
        api = API(gateway)
        ticket = api.ask("POST", "/v1/event-tickets")[1]["ticket"]
        events = self.events(api, f"/v1/events?streams=radio1&ticket={ticket}")
        name, said = next(events)
        while name != "counts":
            self.assertEqual(name, "gateway")
            self.assertEqual((said["draining"], said["listeners"]), (False, 0))
            name, said = next(events)
        self.assertEqual(said, {"stream": "radio1", "listeners": 0, "break": None, "funnel": None})
        path = "/v1/streams/radio1/breaks/noon-1"
        self.assertEqual(api.ask("PUT", path, {"in": "1s", "duration": "2s", "ads": [http_ad("a", 2)]})[0], 200)
        states, funnel = [], None
        while not (states[-1:] == ["complete"] and funnel):
            name, said = next(events)
            if name == "break":
                states.append(said["state"])
            elif name == "counts" and said["break"] == "noon-1":
                funnel = said["funnel"]
        self.assertEqual(states, ["announced", "live", "complete"])
        self.assertEqual(funnel, {"notified": 0, "asked": 0, "delivered": 0, "played": 0, "ignored": 0, "failed": 0, "unknown": 0})
        self.assertEqual(api.ask("GET", "/v1/streams")[1]["streams"],
                         [{"stream": "radio1", "listeners": 0, "running": None, "next": None}])
        status, refused = api.ask("GET", f"/v1/events?ticket={ticket}", token=False)
        self.assertEqual((status, refused["code"]), (401, "UNAUTHORIZED"))
        # A stop ends it.
        self.assertEqual(gateway.stop(), 0)
        for _ in events:
            pass
        messages = gateway.messages()
        self.assertIn("/v1/events", messages)
        self.assertNotIn(ticket, messages)


class HTTPConnections(unittest.TestCase):
    def unsent(self, port):
        """What the kernel keeps for the open connection to a port, in bytes: /proc/net/tcp of man 5 proc, `tx_queue`; `None`: it is closed."""
        with open("/proc/net/tcp") as file:
            fields = [line.split() for line in file.readlines()[1:]]
        return next((int(each[4].split(":")[0], 16) for each in fields if each[1].endswith(f":{port:04X}") and each[3] == "01"), None)

    def test_for_who_reads_nothing_the_kernel_keeps_little(self):
        gateway, _ = started(self)
        port = int(gateway.addresses["http"].rpartition(":")[2])
        looks = [0]
        # Who reads nothing is closed in the end: on a machine so busy that it was closed before anybody looked, once more.
        while max(looks) == 0:
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as peer:
                peer.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 500)
                # Until it has filled up and stays so.
                while (found := self.unsent(port)) is not None and (found == 0 or looks[-20:] != [found] * 20):
                    looks.append(found)
                    time.sleep(0.05)
        self.assertLess(max(looks), 3 * 131_072)


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
        share = os.path.join(gateway.folder, "share")
        checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [f"{TOOLS}/schemathesis", "--no-color", "run", api.root + "/openapi.json", "--checks", checks, "--seed", SEED,
                 "--max-examples", EXAMPLES or "6", "--header", f"Authorization: Bearer {api.token}", "--suppress-health-check", "all",
                 "--phases", "examples,coverage,fuzzing" if EXAMPLES else "examples,fuzzing", "--generation-database", "none",
                 # A reload reads files again, one after the other; it is no matter of what comes in.
                 "--exclude-operation-id", "reload",
                 # Their answers go on until somebody ends them.
                 "--exclude-operation-id", "listen", "--exclude-operation-id", "readEvents"],
                capture_output=True, text=True, cwd=folder,
                env={**os.environ, "SCHEMATHESIS_HOOKS": "fuzz_hooks", "PYTHONPATH": os.path.dirname(os.path.abspath(__file__)),
                     "FUZZ_ROOT": api.root, "FUZZ_AUTHORIZATION": f"Bearer {api.token}", "FUZZ_SEED": SEED, "FUZZ_SHARE": share})
        self.assertEqual(done.returncode, 0, done.stdout[-8_000:] + done.stderr[-2_000:])
        with open(share, encoding="utf-8") as file:
            shares = json.load(file)
        if EXAMPLES:
            print(done.stdout[-3_000:])
        for operation, each in shares.items():
            if EXAMPLES or operation in CHANGES + LISTENERS:
                print(f"{operation}: {each['success']} of {each['all']} succeeded")
        # Answers of success were looked at too, of each change of a break and of each request of listeners.
        for operation in CHANGES + LISTENERS:
            self.assertGreater(shares[operation]["success"], 0, shares)
        # What nobody thought of has ended nothing.
        self.assertEqual(api.ask("GET", "/healthz")[0], 200)
        self.assertEqual(gateway.stop(), 0)


if __name__ == "__main__":
    unittest.main()
