# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Signals: a list and a cue policy make breaks of what two sources say, and a listener plays them."""
import datetime, json, os, signal, unittest

from harness import ROOT, Broadcaster, Gateway, Listener, ad, broadcast_pb2, notice_pb2, status_pb2, until

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")
OK = status_pb2.STATUS_CODE_OK


class Signals(unittest.TestCase):
    def gateway(self, cues=None):
        gateway = Gateway(*(["--set", f"breaks.cues={cues}"] if cues else []))
        self.addCleanup(gateway.close)
        return gateway

    def signal(self, gateway, kind, *arguments, source="encoder", code=0):
        said = gateway.run("signal", kind, "--stream", "radio1", "--source", source, "--event", "4711", *arguments,
                           *(["--format", "json"] if code == 0 else []), code=code)
        return json.loads(said) if code == 0 else said

    def test_two_sources_make_one_break_that_a_listener_hears_of(self):
        gateway = self.gateway("radio* list=spots duration=60s late=1h sources=encoder,playlist; * list=house")
        self.assertIn("names the ad list spots", self.signal(gateway, "out", code=65))
        gateway.run("lists", "put", "spots", "--vast", VAST)
        listener = Listener(gateway, "radio1")
        self.addCleanup(listener.close)
        listener.join()
        # Of one instant, however long each command takes.
        start = ("--at", datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds"), "--programme-time")
        first = self.signal(gateway, "out", *start, "--duration", "1h")
        again = self.signal(gateway, "out", *start, "--duration", "1h")
        other = self.signal(gateway, "out", *start, "--duration", "30m", source="playlist")
        self.assertEqual(first["break"], again["break"])
        self.assertEqual(first["revision"], again["revision"])
        self.assertEqual((other["break"], other["end"]), (first["break"], first["end"]))
        # The encoder goes first, whatever came first.
        self.assertEqual([(each["source"], each["durationSeconds"]) for each in other["signals"]],
                         [("encoder", 3_600), ("playlist", 1_800)])
        notice = listener.next()
        self.assertEqual((notice.kind, notice.break_id), (notice_pb2.NOTICE_KIND_AVAILABLE, first["break"]))
        batch = listener.batch(first["break"])
        self.assertEqual(len(batch.batch.advertisements), first["advertisements"])
        self.assertEqual(self.signal(gateway, "in")["break"], first["break"])
        self.assertEqual(listener.next().kind, notice_pb2.NOTICE_KIND_ENDED)
        self.assertIn("no OUT came before", gateway.run(
            "signal", "in", "--stream", "radio1", "--source", "encoder", "--event", "none", code=65))
        self.assertEqual(len(gateway.report("radio1", first["break"])), first["advertisements"])
        # The line of the last one comes last.
        lines = until("the audit", lambda: "of the event none" in json.dumps(found := self.audit(gateway)) and found)
        self.assertLessEqual({"signal", "putList"}, {line["action"] for line in lines})
        sentences = [line["sentence"] for line in lines if line["action"] == "signal"]
        self.assertIn("OUT of the event 4711 of the source playlist on radio1.", sentences)
        self.assertTrue(any(each.endswith("IN of the event none of the source encoder on radio1.") for each in sentences))
        for result in ("changed", "unchanged", "refused"):
            self.assertGreater(gateway.metric(f'cuecast_signals_total{{result="{result}"}}'), 0)
            self.assertGreater(gateway.metric(f'cuecast_source_signals_total{{source="encoder",result="{result}"}}'), 0)
        self.assertEqual(gateway.metric('cuecast_odd_signals_total{kind="in_without_out"}'), 1)
        # A refused signal is found by its stream, and one that changed nothing says why.
        mine = json.loads(gateway.run("audit", "--stream", "radio1", "--format", "json"))["entries"]
        self.assertIn("NOT_FOUND", [each.get("code") for each in mine])
        self.assertTrue(any(each["sentence"].startswith("Nothing changed: ") for each in mine if each["outcome"] == "unchanged"))
        listed = gateway.get("/v1/streams/radio1/signals")
        self.assertEqual([each["source"] for each in listed["sources"]], ["encoder", "playlist"])
        self.assertEqual({each["result"] for each in listed["signals"]}, {"changed", "unchanged", "refused"})
        shown = json.loads(gateway.run("breaks", "show", f"radio1/{first['break']}", "--format", "json"))
        self.assertEqual([each["source"] for each in shown["break"]["signals"]], ["encoder", "playlist"])
        self.assertEqual({each.get("effect") for each in shown["signals"]} & {"opened", "repeated", "ended", "refused"},
                         {"opened", "repeated", "ended", "refused"})
        text = gateway.run("breaks", "show", f"radio1/{first['break']}")
        for words in ("Sources, the one that goes first at the top:", "Signals that changed it:", "no OUT came before"):
            self.assertIn(words, text)
        self.assertIn("Write STREAM/BREAK", gateway.run("breaks", "show", "radio1", code=64))

    def audit(self, gateway):
        return json.loads(gateway.run("audit", "--format", "json"))["entries"]

    def test_lists_and_signalled_breaks_outlive_the_gateway(self):
        gateway = self.gateway("* list=spots duration=1h")
        gateway.run("lists", "put", "spots", "--vast", VAST)
        opened = self.signal(gateway, "out", "--in", "1h")
        gateway.stop(signal.SIGKILL)
        gateway.start()
        self.assertEqual([each["name"] for each in json.loads(gateway.run("lists", "list", "--format", "json"))],
                         ["spots"])
        self.assertIn("in use", gateway.run("lists", "remove", "spots", code=65))
        self.assertEqual(self.signal(gateway, "cancel")["state"], "cancelled")
        self.assertEqual(self.signal(gateway, "cancel")["break"], opened["break"])

    def test_a_publication_joins_the_break_that_a_signal_opened(self):
        gateway = self.gateway("* list=spots duration=1h")
        gateway.run("lists", "put", "spots", "--vast", VAST)
        start = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        at = ("--at", start.isoformat(timespec="milliseconds"))
        opened = self.signal(gateway, "out", *at)
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        # A second later: within the tolerance.
        later = broadcast_pb2.Start(at_us=int(start.timestamp() * 1_000_000) + 1_000_000)

        def publish(name="noon"):
            return broadcaster.publish("radio1", name, [ad("a", 20_000)], start=later, duration_ms=20_000)

        joined = publish()
        self.assertEqual((joined.status, joined.changed), (OK, True), joined)
        self.assertEqual((getattr(joined, "break").break_id, getattr(joined, "break").published_as), (opened["break"], "noon"))
        self.assertEqual(getattr(joined, "break").duration_ms, 20_000)
        again = publish()
        self.assertEqual((again.status, again.changed), (OK, False), again)
        self.assertEqual(publish("eve").status, status_pb2.STATUS_CODE_BREAK_OVERLAP)
        # The audit gathers its lines for a moment, and a kill takes those along.
        [line] = until("the publication in the audit", lambda: [
            line for line in self.audit(gateway) if line["action"] == "publish" and line["outcome"] == "changed"])
        self.assertEqual((line["break"], line["sentence"]),
                         (opened["break"], "Published as noon: it is the break that signals opened."))
        # The log says the same after a kill: both ids name the break, over the socket and over HTTP.
        gateway.stop(signal.SIGKILL)
        gateway.start()
        [listed] = json.loads(gateway.run("breaks", "--stream", "radio1", "--format", "json"))
        self.assertEqual((listed["break"], listed["publishedAs"]), (opened["break"], "noon"))
        for name in ("noon", opened["break"]):
            shown = gateway.get(f"/v1/streams/radio1/breaks/{name}")
            self.assertEqual((shown["break"], shown["publishedAs"], shown["ads"]), (opened["break"], "noon", 1))
        self.assertEqual(self.signal(gateway, "out", *at, "--duration", "30m", source="playlist")["break"], opened["break"])
        self.assertIn("published as noon", gateway.run("update", "--stream", "radio1", "--break", "noon", "--duration", "25s"))
        self.assertEqual(self.signal(gateway, "cancel")["state"], "scheduled")
        gateway.run("cancel", "--stream", "radio1", "--break", "noon")
        self.assertEqual(gateway.get(f"/v1/streams/radio1/breaks/{opened['break']}")["state"], "cancelled")

    def test_without_a_policy_signals_are_refused(self):
        gateway = self.gateway()
        self.assertIn("No cue policy is configured", self.signal(gateway, "out", code=65))
        gateway.run("lists", "put", "spots", "--vast", VAST, "--expected-revision", "0")
        gateway.run("lists", "put", "spots", "--vast", VAST, "--expected-revision", "7")
        gateway.run("lists", "remove", "spots")
        self.assertEqual(json.loads(gateway.run("lists", "list", "--format", "json")), [])

    def test_any_program_signals_over_zeromq(self):
        gateway = self.gateway("* list=spots duration=10s")
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        put = broadcaster.ask(put_list=broadcast_pb2.PutList(name="spots", advertisements=[ad("a")]))
        self.assertEqual((put.status, put.ad_list.info.revision), (OK, 1))
        out = broadcast_pb2.Signal(stream="s", source="raw", event_id="1", kind=broadcast_pb2.SIGNAL_KIND_OUT)
        reply = broadcaster.ask(signal=out)
        self.assertEqual((reply.status, reply.changed), (OK, True))
        self.assertTrue(getattr(reply, "break").break_id.startswith("cue-"))


if __name__ == "__main__":
    unittest.main()
