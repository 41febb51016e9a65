# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The HTTP API of the real binary: its description, the same rules as over ZeroMQ, and random requests."""
import copy, json, os, socket, subprocess, tempfile, time, unittest, urllib.error, urllib.parse, urllib.request

from harness import PATIENCE, ROOT, Broadcaster, Gateway, LoggedGateway, ad, broadcast_pb2, slower_until, status_pb2, until

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


def started(test, *arguments):
    gateway = Gateway(*arguments)
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
        self.assertEqual((status, made["state"], made["ads"]), (201, "cued", 1))
        self.assertEqual(api.headers["Location"], path)
        status, again = api.ask("PUT", path, {"cued": True, "duration": "none", "ads": [http_ad("a")]})
        self.assertEqual((status, api.headers["Location"]), (200, None))
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
        self.assertEqual(api.ask("PUT", path, body, If_None_Match="*")[0], 201)
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

    def test_signals_and_lists_over_http_make_a_break(self):
        gateway, api = started(self, "--set", "breaks.cues=radio* list=spots duration=60s")
        path, out = "/v1/streams/radio1/signals", {"source": "studio", "event": "4711", "kind": "out", "in": "1h"}
        self.assertEqual(api.ask("POST", path, out, token=False)[0], 401)
        self.assertIn("names the ad list spots", api.ask("POST", path, out)[1]["detail"])
        status, made = api.ask("PUT", "/v1/lists/spots", {"ads": [http_ad("a")]}, If_None_Match="*")
        self.assertEqual((status, api.headers["ETag"], api.headers["Location"]), (201, '"1"', "/v1/lists/spots"), made)
        status, put = api.ask("PUT", "/v1/lists/spots", {"ads": [http_ad("a"), http_ad("b", 15)]}, If_Match='"1"')
        self.assertEqual((status, put["revision"], put["adCount"], put["durationMilliseconds"]), (200, 2, 2, 45_000))
        self.assertEqual(api.ask("PUT", "/v1/lists/spots", {"ads": [http_ad("c")]}, If_Match='"1"')[1]["code"],
                         "REVISION_CONFLICT")
        status, shown = api.ask("GET", "/v1/lists/spots")
        self.assertEqual([(each["id"], each["duration"]) for each in shown["ads"]], [("a", "30s"), ("b", "15s")])
        # What is shown can be put.
        self.assertEqual(api.ask("PUT", "/v1/lists/copy", {"ads": shown["ads"]})[0], 201)
        self.assertEqual([each["name"] for each in api.ask("GET", "/v1/lists")[1]["lists"]], ["copy", "spots"])
        status, opened = api.ask("POST", path, out)
        self.assertEqual((status, opened["state"], opened["ads"], opened["durationMilliseconds"]),
                         (200, "scheduled", 2, 60_000), opened)
        self.assertEqual(api.ask("POST", path, {**out, "raw": "/DAC"})[1]["break"], opened["break"])
        other = {**out, "source": "playlist", "at": opened["start"], "raw": "/DAA"}
        del other["in"]
        status, joined = api.ask("POST", path, other)
        self.assertEqual((joined["break"], [each["source"] for each in joined["signals"]]), (opened["break"], ["playlist", "studio"]))
        self.assertEqual(api.ask("POST", path, {**out, "kind": "cancel"})[0], 400)
        for source in ("studio", "playlist"):
            cancel = {"source": source, "event": "4711", "kind": "cancel"}
            status, left = api.ask("POST", path, cancel)
            self.assertEqual(status, 200, left)
        self.assertEqual(left["state"], "cancelled")
        self.assertEqual(api.ask("POST", path, {"source": "a", "event": "1", "kind": "in", "raw": "/DAB"})[0], 404)
        self.assertEqual(api.ask("POST", "/v1/streams/tv/signals", out)[0], 404)
        # A publication joins the break that a signal opened: nothing is new, and both ids name it.
        opened = api.ask("POST", "/v1/streams/radio2/signals", out)[1]
        noon = {"at": opened["start"], "duration": "20s", "ads": [http_ad("c", 20)]}
        status, joined = api.ask("PUT", "/v1/streams/radio2/breaks/noon", noon, If_None_Match="*")
        self.assertEqual((status, joined["break"], joined["publishedAs"], joined["ads"]), (200, opened["break"], "noon", 1), joined)
        self.assertEqual(api.ask("PUT", "/v1/streams/radio2/breaks/noon", noon)[1]["revision"], joined["revision"])
        self.assertEqual(api.ask("PUT", "/v1/streams/radio2/breaks/noon", noon, If_None_Match="*")[0], 412)
        self.assertEqual(api.ask("GET", "/v1/streams/radio2/breaks/noon")[1]["break"], opened["break"])
        until("the ledger has the break", lambda: api.ask("GET", "/v1/streams/radio2/breaks/noon/report")[0] == 200)
        self.assertEqual(api.ask("DELETE", "/v1/lists/spots")[1]["code"], "WRONG_STATE")
        self.assertEqual(api.ask("DELETE", "/v1/lists/copy")[0], 200)
        self.assertEqual(api.ask("DELETE", "/v1/lists/copy")[0], 404)
        lines = until("the audit", lambda: len(found := api.ask("GET", "/v1/audit?limit=100")[1]["entries"]) >= 21 and found)
        for outcome, signal, raw in (("changed", "OUT of the event 4711 of the source playlist", "/DAA"),
                                     ("refused", "IN of the event 1 of the source a", "/DAB"),
                                     ("unchanged", "OUT of the event 4711 of the source studio", "/DAC")):
            self.assertTrue(any(line["outcome"] == outcome and signal in line.get("sentence", "")
                                and line["sentence"].endswith(f"Raw: {raw}") for line in lines), (outcome, lines))
        self.assertLessEqual({("signal", "changed"), ("signal", "unchanged"), ("signal", "refused"), ("putList", "changed"),
                              ("putList", "refused"), ("removeList", "changed"), ("removeList", "refused")},
                             {(line["action"], line["outcome"]) for line in lines})

    def test_an_automation_system_tells_of_ads_in_its_own_form(self):
        gateway, api = started(self, "--set", "breaks.cues=* list=spots")
        self.assertEqual(api.ask("PUT", "/v1/lists/spots", {"ads": [http_ad("a")]})[0], 201)
        path = "/v1/streams/radio1/signals/radiodj"

        def heard(method, path, body=None, kind=None):
            headers = {"Authorization": f"Bearer {api.token}"} | ({"Content-Type": kind} if kind else {})
            request = urllib.request.Request(api.root + path, data=body, method=method, headers=headers)
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)

        form = "application/x-www-form-urlencoded"
        self.assertEqual(heard("GET", f"{path}?songtype=0&songid=1"), {"ad": False, "signal": "none"})
        out = heard("GET", f"{path}?songtype=4&songid=2&songseconds=3600&xpwd=secret")
        self.assertEqual((out["signal"], out["break"]["durationMilliseconds"]), ("out", 3_602_000))
        again = heard("POST", path, b"songtype=4&songid=2&songseconds=3600", form)
        self.assertEqual((again["break"]["break"], again["break"]["revision"]), (out["break"]["break"], out["break"]["revision"]))
        longer = heard("POST", path, b'{"songtype": "4", "songid": "3", "songseconds": 7200}', "application/json")
        self.assertEqual(longer["break"]["break"], out["break"]["break"])
        self.assertGreater(longer["break"]["durationMilliseconds"], 7_200_000)
        # The log knows that an ad is on air.
        self.assertEqual(gateway.stop(), 0)
        gateway.start()
        api.root = f"http://{gateway.addresses['http']}"
        document = b"<RadioDJ><assetType>0</assetType><duration>what</duration></RadioDJ>"
        ended = heard("POST", path, document, "text/xml")
        self.assertEqual((ended["ad"], ended["signal"], ended["break"]["break"]), (False, "in", out["break"]["break"]))
        self.assertEqual(heard("POST", path, b"songtype=0\r\n", "text/plain")["break"]["revision"], ended["break"]["revision"])
        self.assertEqual(len(api.ask("GET", "/v1/streams/radio1/breaks")[1]["breaks"]), 1)
        self.assertIn("known are liquidsoap", api.ask("POST", "/v1/streams/radio1/signals/none", {})[1]["detail"])
        self.assertIn("no type of the element", api.ask("POST", path, {"title": "x"})[1]["detail"])

    def test_a_station_has_mappings_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "mappings.json")

            def write(name):
                with open(file, "w", encoding="utf-8") as written:
                    json.dump({"mappings": [{"name": name, "type": ["category"], "ads": ["spot"], "duration": ["length"]}]}, written)

            write("studio2")
            chosen = ["--set", f"breaks.signalMappingsFile={file}", "--set", "breaks.cues=* list=spots duration=20s"]
            gateway, api = started(self, *chosen)
            self.assertEqual(api.ask("PUT", "/v1/lists/spots", {"ads": [http_ad("a")]})[0], 201)
            path, spot = "/v1/streams/radio1/signals/", {"category": "Spot", "length": 3_600}
            status, out = api.ask("POST", path + "studio2", spot)
            self.assertEqual((status, out["signal"], out["break"]["signals"][0]["source"]), (200, "out", "studio2"), out)
            # The ready ones stay.
            self.assertEqual(api.ask("POST", path + "radiodj", {"songtype": "0"})[1]["signal"], "none")
            printed = gateway.run("check-config", *chosen)
            self.assertIn("#   studio2, the source studio2: type from category, an ad where it is spot; duration in seconds from length",
                          printed)
            self.assertIn("#   *: the list spots fills a break; it lasts 20 s", printed)
            # Another file is taken over at once; one that cannot be read changes nothing.
            write("studio3")
            self.assertEqual(api.ask("POST", "/v1/reload")[0], 200)
            self.assertEqual(api.ask("POST", path + "studio2", spot)[0], 404)
            self.assertEqual(api.ask("POST", path + "studio3", {"category": "music"})[1]["signal"], "none")
            with open(file, "w", encoding="utf-8") as written:
                written.write('{"mappings": [\n{"name": "studio4"}]}')
            status, problem = api.ask("POST", "/v1/reload")
            self.assertNotEqual(status, 200)
            self.assertIn("breaks.signalMappingsFile: ", problem["detail"])
            self.assertIn("Line 2, mappings[0].type: it is missing.", problem["detail"])
            self.assertEqual(api.ask("POST", path + "studio3", {"category": "music"})[0], 200)
            self.assertIn("Line 2, mappings[0].type", gateway.run("check-config", *chosen, code=65))

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
        # Half an hour: what is to overlap it does so, however long the requests before took.
        self.assertEqual(broadcaster.publish(stream, "there", [ad("a", 30_000)], start=start, duration_ms=hour // 2).status,
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
            ("a name that is none", publish("a b", [ad("a")], duration_ms=1_000),
             ("PUT", "a%20b", {"duration": "1s", "ads": [http_ad("a", 1)]})),
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
        # Each break is announced at once, however long before its start.
        gateway = LoggedGateway(folder.name, "--set", "logLevel=debug", "--set", "breaks.announceAhead=10m")
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

        def lives(lead):
            """The states of a break that starts so many seconds later and is ended, as they are told, and its funnel."""
            break_id, states, funnel = f"noon-{lead}", [], None
            path = f"/v1/streams/radio1/breaks/{break_id}"
            self.assertEqual(api.ask("PUT", path, {"in": f"{lead}s", "duration": "1h", "ads": [http_ad("a", 2)]})[0], 201)
            while not (states[-1:] == ["complete"] and funnel):
                name, said = next(events)
                if name == "break" and said["break"] == break_id:
                    states.append(said["state"])
                    if states[-1] == "live":
                        self.assertEqual(api.ask("POST", path + "/end", {"endMode": "cut"})[0], 200)
                elif name == "counts" and said["break"] == break_id:
                    funnel = said["funnel"]
            return states, funnel

        # Of a break whose start comes before the gateway looks, the announcement is not told.
        states, funnel = slower_until(lives, lambda told: told[0][0] != "live")
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
        self.assertNotIn(ticket, gateway.until_said("/v1/events"))


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


class HTTPExamples(unittest.TestCase):
    """Each example of the description is asked as it stands, and each bound of a parameter is tried."""

    #: The break that a change needs; its revision is 2, as the example of `If-Match` says.
    MADE = {"punchBreak": {"cued": True}, "endBreak": {"now": True}, "publishBreak": None}
    #: Answers that go on are read by other tests; a reload has its own.
    LEFT_OUT = {"readEvents", "listen", "reload"}

    def setUp(self):
        self.gateway, self.api = started(self, "--set", "breaks.cues=* list=house duration=60s")
        status, made = self.api.ask("PUT", "/v1/lists/house", {"ads": [http_ad("a")]})
        self.assertEqual(status, 201, made)
        with urllib.request.urlopen(self.api.root + "/openapi.json", timeout=PATIENCE) as answer:
            self.document = json.load(answer)

    def operations(self):
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                if operation["operationId"] not in self.LEFT_OUT:
                    yield path, method.upper(), operation

    def ask(self, path, method, parameters, content=None):
        """The status of a request with these parameters, (name, place) to text, and a body (type, bytes)."""
        query = {}
        headers = {"Authorization": f"Bearer {self.api.token}"}
        for (name, place), text in parameters.items():
            if place == "path":
                path = path.replace("{" + name + "}", urllib.parse.quote(text, safe=""))
            elif place == "query":
                query[name] = text
            else:
                headers[name] = text
        if content:
            headers["Content-Type"] = content[0]
        request = urllib.request.Request(f"{self.api.root}{path}?{urllib.parse.urlencode(query)}" if query else self.api.root + path,
                                         method=method, headers=headers, data=content and content[1])
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                # A sound is no text.
                is_sound = answer.headers.get_content_maintype() == "audio"
                return answer.status, "" if is_sound else answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    @staticmethod
    def text(value):
        return value if isinstance(value, str) else json.dumps(value)

    def given(self, operation, stream, *names, **others):
        """The examples of an operation, in a stream of its own; of alternatives only those named."""
        found = {}
        for each in operation.get("parameters", []):
            if "example" in each or each["name"] in names:
                found[each["name"], each["in"]] = self.text(each.get("example", each.get("x-example")))
            if each["name"] in others:
                found[each["name"], each["in"]] = others[each["name"]]
        if ("stream", "path") in found:
            found["stream", "path"] = stream
        return found

    def prepare(self, operation, stream):
        """Makes what the operation needs; returns what stands for the examples of signed values."""
        name = operation["operationId"]
        if name in ("getList", "removeList"):
            self.assertLess(self.api.ask("PUT", "/v1/lists/spots", {"ads": [http_ad("a")]})[0], 300)
        if name == "putList":
            self.assertIn(self.api.ask("DELETE", "/v1/lists/spots")[0], (200, 404))
        # The example of a signal opens a break where there is none.
        body = None if name.startswith("signal") else self.MADE.get(name, {"in": "1h"})
        if name in ("getBatch", "acknowledge", "leave", "getAssetList", "getVAST", "track", "trackByPost"):
            body = {"now": True}
        signed = {}
        if body is not None:
            path = f"/v1/streams/{stream}/breaks/noon-1"
            ads = [http_ad("spring-sale-30", 1_800)]
            status, made = self.api.ask("PUT", path, {**body, "duration": "30m", "ads": ads})
            self.assertEqual(status, 201, made)
            status, made = self.api.ask("POST", path + "/update", {"duration": "29m"})
            self.assertEqual((status, made.get("revision")), (200, 2), made)
            if name in ("getReport", "getReportOfBreak"):
                until("the ledger has the break", lambda: self.api.ask("GET", f"{path}/report")[0] == 200)
            if name in ("acknowledge", "track", "trackByPost"):
                session = "00112233445566778899aabbccddeeff"
                batch = self.api.ask("POST", path + "/batch", {"session": session}, token=False)[1]
                signed["delivery"], signed["occurredUs"] = batch["delivery"], batch["gatewayUs"]
                assets = self.api.ask("GET", f"/v1/streams/{stream}/asset-list?session={session}", token=False)[1]["ASSETS"]
                url = assets[0]["X-AD-CREATIVE-SIGNALING"]["payload"][0]["tracking"][0]["urls"][0]
                signed["tracking"] = url.rsplit("/", 1)[1].split("?")[0]
        return signed

    def test_the_examples_of_an_operation_go_together(self):
        count = 0
        for path, method, operation in self.operations():
            kinds = operation.get("requestBody", {}).get("content", {None: None})
            for kind, content in kinds.items():
                stream = f"example{count}"
                count += 1
                signed = self.prepare(operation, stream)
                parameters = self.given(operation, stream, **{name: signed[name] for name in ("tracking",) if name in signed})
                body = None
                if kind:
                    example = content["example"]
                    if kind == "application/json":
                        example = dict(example)
                        if "delivery" in example:
                            # A signed value, and a time that fits it, are no examples of their own.
                            example["delivery"] = signed["delivery"]
                            example["outcomes"] = [{**example["outcomes"][0], "occurredUs": signed["occurredUs"]}]
                        example = json.dumps(example)
                    if kind == "application/x-www-form-urlencoded":
                        example = urllib.parse.urlencode(example)
                    body = (kind, example.encode())
                with self.subTest(operation["operationId"], kind=kind):
                    status, answer = self.ask(path, method, parameters, body)
                    self.assertIn(str(status), operation["responses"], answer)
                    self.assertLess(status, 400, answer)

    #: What a parameter needs beside it, and what it takes the place of.
    LEAP = {"leap": "streams", "stream": "radio1"}
    GOES_WITH = {"hold": {"cued": "true"}, "provider": {"leap": "streams"}, "eventStart": LEAP | {"eventEnd": "2099-01-01T00:00:00Z"},
                 "eventEnd": LEAP | {"eventEnd": "2099-01-01T00:00:00Z"}, "eventTitle": LEAP}
    INSTEAD_OF = {"in": ("at",), "fillExactly": ("fill", "fillAtLeast")}

    def test_each_alternative_is_answered_as_described(self):
        count = 0
        for path, method, operation in self.operations():
            for alternative in (each for each in operation.get("parameters", []) if "x-example" in each):
                stream = f"other{count}"
                count += 1
                self.prepare(operation, stream)
                parameters = self.given(operation, stream, alternative["name"])
                parameters.pop(("_HLS_primary_id", "query"), None)
                for name, value in self.GOES_WITH.get(alternative["name"], {}).items():
                    parameters[name, "query"] = value
                for name in self.INSTEAD_OF.get(alternative["name"], ()):
                    parameters.pop((name, "query"), None)
                body = None
                if operation["operationId"] in ("publishBreak", "putList", "dryRun"):
                    hasVAST = alternative["in"] == "query" and operation["operationId"] != "dryRun"
                    kind = "application/xml" if hasVAST else "application/json"
                    example = operation["requestBody"]["content"][kind]["example"]
                    body = (kind, (example if isinstance(example, str) else json.dumps(example)).encode())
                with self.subTest(operation["operationId"], parameter=alternative["name"]):
                    status, answer = self.ask(path, method, parameters, body)
                    self.assertIn(str(status), operation["responses"], answer)
                    # A revision that is not there, and an instant of the past, are refused with their own reasons.
                    expected = {"If-Match": 412, "at": 422}.get(alternative["name"])
                    self.assertEqual(status if expected else status < 400, expected or True, answer)

    def test_a_parameter_that_is_too_long_is_refused_by_answers_that_go_on(self):
        for path, name in (("/v1/events", "streams"), ("/v1/events", "ticket"), ("/v1/events", "lastEventId")):
            schema = next(each["schema"] for each in self.document["paths"][path]["get"]["parameters"] if each["name"] == name)
            status, answer = self.ask(path, "GET", {(name, "query"): "a" * (schema["maxLength"] + 1)})
            # So many streams do not fit into the request line.
            self.assertEqual(status, 414 if name == "streams" else 400, name)
            if status == 400:
                self.assertIn(f"The parameter {name} has more than {schema['maxLength']} characters", json.loads(answer)["detail"])

    def test_each_bound_of_a_parameter_holds(self):
        tried = 0
        for path, method, operation in self.operations():
            if method != "GET":
                continue
            self.prepare(operation, stream := f"bound-{operation['operationId']}")
            for each in operation.get("parameters", []):
                schema, name = each["schema"], each["name"]
                if each["in"] != "query" or each["schema"].get("type") not in ("integer", "string"):
                    continue
                known = {"maxLength", "maximum", "pattern", "enum", "format"} & set(schema)
                # A lenient one has no bound to break.
                self.assertTrue(known or name == "code", f"{operation['operationId']}: {name} has no bound")
                for bound, inside, outside in (
                    ("maxLength", lambda most: "a" * most, lambda most: "a" * (most + 1)),
                    ("maximum", str, lambda most: str(most + 1)),
                    ("minimum", str, lambda least: str(least - 1)),
                ):
                    if bound not in schema:
                        continue
                    tried += 1
                    required = {(each["name"], "path"): stream if each["name"] == "stream" else self.text(each["example"])
                                for each in operation["parameters"] if each["in"] == "path"}
                    with self.subTest(operation["operationId"], parameter=name, bound=bound):
                        status, answer = self.ask(path, method, {**required, (name, "query"): inside(schema[bound])})
                        self.assertNotIn(f"The parameter {name} ", answer if status == 400 else "")
                        if not (each.get("description", "").startswith("As the header") and name == "lastEventId"):
                            status, answer = self.ask(path, method, {**required, (name, "query"): outside(schema[bound])})
                            self.assertEqual(status, 400, answer)
                            self.assertIn(f"The parameter {name} ", json.loads(answer)["detail"])
        self.assertGreater(tried, 15)


class HTTPFuzz(unittest.TestCase):
    def test_no_request_gets_what_the_description_does_not_say(self):
        shares = self.fuzz(SEED)
        for operation, each in shares.items():
            if EXAMPLES or operation in CHANGES + LISTENERS:
                print(f"{operation}: {each['success']} of {each['all']} succeeded")
        # Answers of success were looked at too, of each change of a break and of each request of listeners.
        for operation in CHANGES + LISTENERS:
            self.assertGreater(shares[operation]["success"], 0, shares)

    def fuzz(self, seed):
        """Asks by one seed; returns how many requests of each operation succeeded."""
        gateway, api = started(self)
        share = os.path.join(gateway.folder, "share")
        checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [f"{TOOLS}/schemathesis", "--no-color", "run", api.root + "/openapi.json", "--checks", checks, "--seed", seed,
                 "--max-examples", EXAMPLES or "2", "--header", f"Authorization: Bearer {api.token}", "--suppress-health-check", "all",
                 "--phases", "examples,coverage,fuzzing" if EXAMPLES else "examples,fuzzing", "--generation-database", "none",
                 # A busy machine may take longer than 10 s, and so long for the next request that the gateway ends the connection meanwhile.
                 "--request-timeout", str(PATIENCE), "--request-retries", "2",
                 # A reload reads files again, one after the other; it is no matter of what comes in.
                 "--exclude-operation-id", "reload",
                 # Their answers go on until one side ends them.
                 "--exclude-operation-id", "listen", "--exclude-operation-id", "readEvents"],
                capture_output=True, text=True, cwd=folder,
                env={**os.environ, "SCHEMATHESIS_HOOKS": "fuzz_hooks", "PYTHONPATH": os.path.dirname(os.path.abspath(__file__)),
                     "FUZZ_ROOT": api.root, "FUZZ_AUTHORIZATION": f"Bearer {api.token}", "FUZZ_SEED": seed, "FUZZ_SHARE": share})
        self.assertEqual(done.returncode, 0, done.stdout[-8_000:] + done.stderr[-2_000:])
        with open(share, encoding="utf-8") as file:
            shares = json.load(file)
        if EXAMPLES:
            print(done.stdout[-3_000:])
        # The random requests have ended nothing.
        self.assertEqual(api.ask("GET", "/healthz")[0], 200)
        self.assertEqual(gateway.stop(), 0)
        return shares


if __name__ == "__main__":
    unittest.main()
