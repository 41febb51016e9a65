# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Hooks for schemathesis (SCHEMATHESIS_HOOKS): most changes of breaks that it thinks of get a break that they can change, and most requests of
listeners a session that listens, its ticket, and a delivery.

What is made of a schema alone is refused nearly always: the break is not there, or the request says two starts at once, or the gateway did not sign the
delivery. So answers of success would hardly be looked at. Three in four requests are led to a break that was made for them, in the state that the
operation needs; the rest stay as they were thought of. FUZZ_SHARE names a file that gets how many of each operation succeeded.
"""
import atexit, collections, json, os, random, urllib.request

import schemathesis

#: Whether requests are led to breaks; without it only the shares are counted.
LEADS = os.environ.get("FUZZ_LEADS", "1") == "1"
RANDOM = random.Random(int(os.environ.get("FUZZ_SEED", "1")))
ADS = [{"id": "a", "duration": "30s", "media": [{"url": "https://cdn.example.com/a.mp3", "type": "audio/mpeg"}]}]
#: Ads that listeners get, so long that none of them is over.
LONG_ADS = [
    {"id": "a", "duration": "20m", "title": "A", "description": "More of A", "advertiser": "Sellers", "skipAfter": "5s", "clickThrough": "https://shop.example.com",
     "media": [{"url": "https://cdn.example.com/a.mp4", "type": "video/mp4", "bitrate": 900, "width": 640, "height": 360, "codec": "avc1"}],
     "banner": {"image": "https://cdn.example.com/a.png", "target": "https://shop.example.com", "width": 300, "height": 250, "text": "Buy A", "type": "image/png"},
     "trackers": [{"event": "start", "url": "https://track.example.com/start"}]},
    {"id": "b", "duration": "20m", "media": [{"url": "https://cdn.example.com/b.mp3"}]}]
LIVE = {"now": True, "duration": "1h", "ads": LONG_ADS}
#: What listeners ask about a break that runs.
LISTENERS = {"getBatch", "acknowledge", "leave", "getAssetList", "getVAST", "track", "trackByPost"}
#: How the break of an operation is made; `None`: it makes it itself.
MADE = {
    "publishBreak": None, "punchBreak": {"cued": True, "ads": ADS}, "updateBreak": {"in": "1h", "ads": ADS},
    "postponeBreak": {"at": "2h", "ads": ADS}, "endBreak": {"now": True, "duration": "1h", "ads": ADS},
    "cancelBreak": {"in": "1h", "ads": ADS}, "getBreak": {"in": "1h", "ads": ADS},
    "listBreaksOfStream": {"in": "1h", "ads": ADS}, "getReport": {"in": "1h", "ads": ADS},
    "getReportOfBreak": {"in": "1h", "ads": ADS},
} | {operation: LIVE for operation in LISTENERS}
MOMENTS = ["in", "at", "now", "cued", "preStream"]
counts = collections.Counter()
numbers = iter(range(1, 1 << 30))


def name(case):
    return case.operation.definition.raw.get("operationId", case.operation.label)


def make(stream, body):
    """Publishes a break, and returns it."""
    request = urllib.request.Request(
        f"{os.environ['FUZZ_ROOT']}/v1/streams/{stream}/breaks/b", method="PUT", data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Authorization": os.environ["FUZZ_AUTHORIZATION"]})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def ask(path, body=None):
    """Asks as a listener does, and returns the document."""
    request = urllib.request.Request(os.environ["FUZZ_ROOT"] + path, data=body and json.dumps(body).encode(),
                                     headers={"Content-Type": "application/json"} if body else {})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def join(stream):
    """Begins to listen as a new session; returns it, and its ticket."""
    with urllib.request.urlopen(f"{os.environ['FUZZ_ROOT']}/v1/streams/{stream}/listen?session={RANDOM.randbytes(16).hex()}") as answer:
        for line in answer:
            if line.startswith(b"data: "):
                joined = json.loads(line.removeprefix(b"data: "))
                return joined["session"], joined["ticket"]
    raise ValueError("no listener has joined")


def listen(operation, case, stream):
    """Gives a listener's request a session that listens, and what was handed out to it; keeps the rest as it was thought of."""
    if operation in ("getAssetList", "getVAST"):
        # One parameter of each kind that it knows, or a name that a player has for itself.
        case.query = {"_HLS_primary_id": f"player {next(numbers)}", **RANDOM.choice([{}, {"break": "b"}, {"_HLS_start_offset": "0"}])}
        return
    session, ticket = join(stream)
    if operation in ("track", "trackByPost"):
        document = ask(f"/v1/streams/{stream}/asset-list?session={session}")
        tracking = RANDOM.choice(RANDOM.choice(document["ASSETS"])["X-AD-CREATIVE-SIGNALING"]["payload"][0]["tracking"])
        case.path_parameters["tracking"] = tracking["urls"][0].rsplit("/", 1)[1].split("?")[0]
        return
    body = dict(case.body) if isinstance(case.body, dict) else {}
    body["session"] = session
    if "ticket" in body or RANDOM.random() < 0.5:
        body["ticket"] = ticket
    if operation == "getBatch":
        for name in ("delayMs", "delayMaxMs"):
            if name in body:
                body[name] = RANDOM.choice([0, 1, 3_600_000])
    if operation == "acknowledge":
        batch = ask(f"/v1/streams/{stream}/breaks/b/batch", {"session": session})
        body["delivery"] = batch["delivery"]
        # Some requests are thought of with a wrong type, or with null.
        given = body.get("outcomes")
        thought = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
        thought = thought or [{}]
        outcomes = []
        # One of each ad at most, of what happened just now.
        for ad, outcome in zip(batch["advertisements"], thought):
            kind = outcome.get("kind") if outcome.get("kind") in ("played", "ignored", "failed") else "played"
            outcomes.append({**outcome, "advertisementId": ad["id"], "kind": kind, "occurredUs": batch["gatewayUs"]})
            for name, of in (("reason", "ignored"), ("vastError", "failed")):
                if kind != of:
                    outcomes[-1].pop(name, None)
            if kind == "ignored":
                outcomes[-1]["reason"] = RANDOM.choice(["user", "muted", "overlap"])
            if "heardMs" in outcome:
                outcomes[-1]["heardMs"] = RANDOM.choice([0, 1, ad["durationMs"]])
        body["outcomes"] = outcomes
    case.body = body


def mend(operation, body, made):
    """Takes out of a body what no body of this operation may have together, and keeps the rest as it was thought of."""
    if not isinstance(body, dict):
        return body
    body = dict(body)
    kept = RANDOM.choice([moment for moment in MOMENTS if moment in body] or [None])
    for moment in MOMENTS:
        if moment != kept:
            body.pop(moment, None)
    if "in" in body:
        body["in"] = RANDOM.choice(["0s", "90m", 1, 12.5, "1h30m"])
    if "at" in body:
        body["at"] = made["now"][:-1] + "Z" if made else "2100-01-01T00:00:00Z"
    if operation == "publishBreak":
        body.pop("at", None)
        if "cued" not in body and "preStream" not in body:
            body.pop("hold", None)
        elif "hold" in body:
            body["hold"] = RANDOM.choice(["1s", "24h", 60])
    if operation == "endBreak":
        body.pop("at", None)
    if operation == "postponeBreak":
        body["by"] = RANDOM.choice(["1ms", "1s", 90, 0.5, "30m"])
        body["from"] = made["start"]
    if operation == "updateBreak":
        body.pop("at", None)
        if not body:
            body["duration"] = "45s"
    if "duration" in body:
        body["duration"] = RANDOM.choice(["none", "1ms", "6h", 30, 0.25] if operation == "publishBreak" else ["1ms", "6h", 30])
    for place, ad in enumerate(ads if isinstance(ads := body.get("ads"), list) else []):
        if isinstance(ad, dict):
            body["ads"][place] = {**ad, "id": f"ad-{place}", "duration": RANDOM.choice(["1ms", "1h", 15])} | (
                {"skipAfter": "5s"} if "skipAfter" in ad else {})
            for tracker in ad["trackers"] if isinstance(ad.get("trackers"), list) else []:
                if isinstance(tracker, dict):
                    tracker["event"] = RANDOM.choice(["impression", "start", "complete"])
                    tracker.pop("offset", None)
    return body


@schemathesis.deserializer("application/x-ndjson")
def line(context, response):
    """One of the lines, each of which is what the schema says."""
    return json.loads(RANDOM.choice(response.content.splitlines()))


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = name(case)
    if not LEADS or operation not in MADE or RANDOM.random() < 0.25:
        return
    stream, made, body = f"fuzz{next(numbers)}", None, MADE[operation]
    if body is not None:
        body = dict(body)
        if "at" in body:
            body["in"] = body.pop("at")
        made = make(stream, body)
        made["now"] = made["published"]
    parameters = dict(case.path_parameters or {})
    parameters["stream"] = stream
    if "break" in parameters:
        parameters["break"] = "b"
    case.path_parameters = parameters
    headers = case.headers
    for header in [header for header in headers or {} if header.lower() in ("if-match", "if-none-match")]:
        # What is expected is so, or nothing is.
        if header.lower() == "if-match" and made is not None and RANDOM.random() < 0.5:
            headers[header] = RANDOM.choice(["*", f'"{made["revision"]}"'])
        elif header.lower() == "if-none-match" and made is None and "If-Match" not in headers:
            headers[header] = "*"
        else:
            del headers[header]
    if operation in LISTENERS:
        if case.media_type in (None, "application/json"):
            listen(operation, case, stream)
        return
    if case.query and operation in ("publishBreak", "getReport", "getReportOfBreak"):
        case.query = {}
    if case.media_type == "application/json":
        case.body = mend(operation, case.body, made)
    elif operation == "publishBreak" and RANDOM.random() < 0.8:
        case.body = case.operation.definition.raw["requestBody"]["content"]["application/xml"]["example"]


@schemathesis.hook
def after_call(context, case, response):
    counts[name(case), response.status_code < 400] += 1


@atexit.register
def tell():
    path = os.environ.get("FUZZ_SHARE")
    if path and counts:
        shares = {operation: {"all": counts[operation, True] + counts[operation, False], "success": counts[operation, True]}
                  for operation in sorted({operation for operation, _ in counts})}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(shares, file, indent=1)
