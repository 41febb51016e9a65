# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A break with three variants, listeners of three audiences, and kills of the gateway: the books of each variant equal what
the listeners counted themselves."""
import collections, concurrent.futures, csv, io, json, os, random, signal, tempfile, threading, time, unittest, urllib.request

import zmq

from harness import PATIENCE, Gateway, Requester, listener_pb2, status_pb2, until

OK = status_pb2.STATUS_CODE_OK
AGAIN = {status_pb2.STATUS_CODE_UNAVAILABLE, status_pb2.STATUS_CODE_DRAINING, status_pb2.STATUS_CODE_LIMIT_REACHED}
#: By variant: the attributes of its listeners, and its ads.
AUDIENCES = {
    "default": ([{}, {"device": "tv"}, {"device": "phone", "region": "de"}], ["house", "spring"]),
    "cars": ([{"device": "car"}, {"device": "car", "region": "us"}], ["tyres", "fuel", "house"]),
    "abroad": ([{"device": "phone", "region": "us"}, {"device": "phone"}], ["travel"]),
}
VARIANTS = {"variants": [
    {"name": "cars", "if": [{"attribute": "device", "is": "car"}], "ads": AUDIENCES["cars"][1]},
    {"name": "abroad", "if": [{"attribute": "device", "is": ["phone", "tablet"]},
                              {"attribute": "region", "isNot": ["de", "at"]}], "ads": AUDIENCES["abroad"][1]},
]}
LISTENERS, KILLS = 120, 4


def ads(names):
    return [{"id": name, "title": f"Ad {name}", "duration": "20m",
             "media": [{"url": f"https://cdn.example.com/{name}.mp3", "type": "audio/mpeg"}]} for name in names]


class Session:
    """One listener: it joins with attributes, fetches its batch, says what became of its ads, and asks again until it is told."""

    def __init__(self, gateway, number, variant, attributes):
        self.gateway, self.variant, self.attributes = gateway, variant, attributes
        self.session, self.ticket, self.counter = os.urandom(16), b"", 0
        self.random = random.Random(number)
        self.outcomes, self.batches = {}, []

    def ask(self, **kind):
        patience = 1
        while True:
            peer = Requester(self.gateway.addresses["requests"], patience)
            try:
                self.counter += 1
                request = listener_pb2.Request(request_id=self.counter, session=self.session, ticket=self.ticket, **kind)
                reply = listener_pb2.Reply.FromString(peer.exchange(request.SerializeToString()))
                if reply.status not in AGAIN:
                    return reply
            except zmq.Again:
                patience = min(2 * patience, PATIENCE)
            finally:
                peer.close()
            time.sleep(0.05)

    def join(self, attributes):
        reply = self.ask(join=listener_pb2.Join(stream="radio1", attributes=attributes))
        assert reply.status == OK, reply
        self.ticket = reply.joined.ticket

    def batch(self):
        reply = self.ask(get_batch=listener_pb2.GetBatch(stream="radio1", break_id="noon"))
        assert reply.status == OK, reply
        assert [each.id for each in reply.batch.advertisements] == AUDIENCES[self.variant][1], (self.variant, reply.batch)
        self.batches.append(reply.batch)
        return reply.batch

    def acknowledge(self, delivery, name, kind):
        outcome = listener_pb2.Outcome(
            advertisement_id=name, kind=kind, evidence=listener_pb2.EVIDENCE_REPORTED, occurred_us=time.time_ns() // 1_000,
            reason=listener_pb2.IGNORE_REASON_USER if kind == listener_pb2.OUTCOME_KIND_IGNORED else 0)
        return self.ask(acknowledge=listener_pb2.Acknowledge(
            stream="radio1", break_id="noon", delivery=delivery, outcomes=[outcome]))

    def live(self):
        self.join(self.attributes)
        self.batch()
        # Joined again with other attributes: the session stays what it is, whichever gateway process answers.
        self.join({"device": "car" if self.variant != "cars" else "tv"})
        batch = self.batch()
        for name in AUDIENCES[self.variant][1]:
            kind = self.random.choice([listener_pb2.OUTCOME_KIND_PLAYED, listener_pb2.OUTCOME_KIND_IGNORED])
            reply = self.acknowledge(batch.delivery, name, kind)
            assert reply.status == OK, reply
            self.outcomes[name] = "played" if kind == listener_pb2.OUTCOME_KIND_PLAYED else "ignored"


class Variants(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway("--set", "listeners.attributes=radio* join=device,region")
        self.addCleanup(self.gateway.close)

    def publish(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        own, others = os.path.join(folder.name, "ads.json"), os.path.join(folder.name, "variants.json")
        with open(own, "w", encoding="utf-8") as file:
            json.dump({"ads": ads(AUDIENCES["default"][1])}, file)
        with open(others, "w", encoding="utf-8") as file:
            json.dump({"variants": [{**each, "ads": ads(each["ads"])} for each in VARIANTS["variants"]]}, file)
        return json.loads(self.gateway.run(
            "publish", "--stream", "radio1", "--break", "noon", "--ads", own, "--variants", others, "--pre-stream",
            "--hold", "10h", "--duration", "none", "--json"))

    def books(self, query=""):
        def counted():
            report = self.gateway.get(f"/v1/reports?stream=radio1&break=noon{query}")
            return report if all(lane["offset"] == lane.get("head") for lane in report["lanes"].values()) else None
        return until("the ledger has read the log", counted)

    def test_the_books_of_each_variant_equal_those_of_its_listeners_over_kills(self):
        said = self.publish()
        self.assertEqual([(each["name"], each["advertisements"]) for each in said["variants"]], [("cars", 3), ("abroad", 1)])
        self.assertEqual(said["variants"][1]["conditions"], ["device=phone|tablet", "region!=de|at"])
        names = list(AUDIENCES)
        sessions = []
        for number in range(LISTENERS):
            variant = names[number % 3]
            attributes = AUDIENCES[variant][0]
            sessions.append(Session(self.gateway, number, variant, attributes[number // 3 % len(attributes)]))
        done, lock = 0, threading.Lock()

        def live(session):
            nonlocal done
            session.live()
            with lock:
                done += 1
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            lives = [pool.submit(live, session) for session in sessions]
            for kill in range(1, KILLS + 1):
                until(f"kill {kill} is due", lambda: done >= kill * LISTENERS // (KILLS + 2) or all(each.done() for each in lives))
                self.gateway.stop(signal.SIGKILL)
                self.gateway.start()
            for each in lives:
                each.result(PATIENCE)

        # Every ad has an outcome in each of its sessions, so that nothing of what was delivered is missing after a kill.
        oracle = collections.Counter()
        for session in sessions:
            for name, kind in session.outcomes.items():
                oracle[session.variant, name, "delivered"] += 1
                oracle[session.variant, name, kind] += 1
        report = self.books()
        self.assertTrue(report["balanced"])
        rows = report["breaks"][0]["ads"]
        self.assertEqual([(each["variantName"], each["id"]) for each in rows],
                         [(variant, name) for variant in names for name in AUDIENCES[variant][1]])
        for each in rows:
            for what in ("delivered", "played", "ignored"):
                self.assertEqual(each["counts"][what], oracle[each["variantName"], each["id"], what], (each, what))
            self.assertEqual((each["counts"]["unknown"], each["counts"]["failed"], each["counts"]["contradictions"]), (0, 0, 0))
        for number, variant in enumerate(names):
            part = self.books(f"&variant={number}")
            self.assertEqual(part["breaks"][0]["ads"], [each for each in rows if each["variantName"] == variant])
        table = list(csv.DictReader(io.StringIO(self.gateway.run("report", "--stream", "radio1", "--format", "csv"))))
        self.assertEqual([(row["variant"], row["variant_name"], row["advertisement"], int(row["delivered"])) for row in table],
                         [(str(each["variant"]), each["variantName"], each["id"], each["counts"]["delivered"]) for each in rows])
        # A graceful end compares the ledger with the log once more (harness).
        self.assertEqual(self.gateway.stop(), 0)

    def test_an_outcome_of_another_variants_ad_is_refused_with_the_reason(self):
        self.publish()
        session = Session(self.gateway, 0, "abroad", {"device": "phone"})
        session.join(session.attributes)
        reply = session.acknowledge(session.batch().delivery, "tyres", listener_pb2.OUTCOME_KIND_PLAYED)
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_DELIVERY_INVALID)
        self.assertEqual(reply.message, "The advertisement tyres is one of the variant cars, and this delivery is of the variant abroad.")

    def test_variants_over_http_and_by_zeromq_are_the_same_break(self):
        body = {"preStream": True, "hold": "10h", "duration": "none", "ads": ads(AUDIENCES["default"][1]),
                "variants": [{**each, "ads": ads(each["ads"])} for each in VARIANTS["variants"]]}
        self.publish()
        with open(self.gateway.folder + "/data/http-token", encoding="utf-8") as file:
            token = file.read().strip()

        def put(name):
            request = urllib.request.Request(
                f"http://{self.gateway.addresses['http']}/v1/streams/radio1/breaks/{name}", json.dumps(body).encode(), method="PUT",
                headers={"Content-Type": "application/json", "Authorization": f"Bearer {token}"})
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        self.assertEqual(put("noon")[0], 200)
        status, made = put("eve")
        self.assertEqual((status, [each["name"] for each in made["variants"]]), (201, ["cars", "abroad"]))
        listed = {each["break"]: each for each in self.gateway.get("/v1/breaks?stream=radio1")["breaks"]}
        self.assertEqual(listed["noon"]["variants"], listed["eve"]["variants"])


if __name__ == "__main__":
    unittest.main()
