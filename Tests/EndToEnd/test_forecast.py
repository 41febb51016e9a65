# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""`cuecast forecast`: the breaks of the next hours and their listeners, also in the shapes of LEAP.

    scripts/end-to-end.sh Forecasts
"""
import json, os, time, unittest

from harness import ROOT, Broadcaster, Gateway, Listener, ad, broadcast_pb2, until
from test_ad_servers import run_with
from test_clock import DAY, OK, SteppedGateway
from test_groups import instant
from test_http_api import API

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")


class Forecasts(unittest.TestCase):
    def forecast(self, gateway, *arguments, code=0):
        done = run_with(gateway, "forecast", *arguments, *(() if "--leap" in arguments else ("--json",)), code=code)
        return json.loads(done.stdout) if code == 0 else done.stderr

    def listen(self, gateway, stream, count):
        listeners = []
        for _ in range(count):
            listener = Listener(gateway, stream)
            self.addCleanup(listener.close)
            listener.join()
            listeners.append(listener)
        return listeners

    def check_http(self, gateway):
        """The gateway answers over HTTP what the command prints, but for the time that goes on."""
        def timeless(document):
            return {key: value for key, value in document.items() if key not in ("now", "until", "timestamp")}

        api = API(gateway)
        for query, arguments in (("", ()), ("?stream=radio1&hours=24&days=1", ("--stream", "radio1", "--hours", "24", "--days", "1")),
                                 ("?days=0", ("--days", "0"))):
            status, answer = api.ask("GET", "/v1/forecast" + query)
            self.assertEqual(status, 200, answer)
            self.assertEqual(timeless(answer), timeless(self.forecast(gateway, *arguments)))
        event = ("?leap=forecast&stream=tv&eventTitle=Cup%20final&eventStart=2126-11-28T19:00:00Z&eventEnd=2126-11-28T21:00:00Z",
                 ("--leap", "forecast", "--stream", "tv", "--event-title", "Cup final", "--event-start", "2126-11-28T19:00:00Z",
                  "--event-end", "2126-11-28T21:00:00Z"))
        status, answer = api.ask("GET", "/v1/forecast" + event[0])
        for each in (answer, said := self.forecast(gateway, *event[1])):
            del each["events"][0]["lastmodifieddate"]
        self.assertEqual((status, timeless(answer)), (200, timeless(said)))
        streams = api.ask("GET", "/v1/forecast?leap=streams&provider=Network")[1]
        said = self.forecast(gateway, "--leap", "streams", "--provider", "Network")
        self.assertEqual([(each["content"], each["streamcount"]) for each in streams["streamsdata"][0]["mediastreams"]],
                         [(each["content"], each["streamcount"]) for each in said["streamsdata"][0]["mediastreams"]])
        self.assertEqual(streams["streamsdata"][0]["sdp"], "Network")
        for query, sentence in (
                ("hours=0", "The parameter hours must be a number from 1 to 24."), ("hours=25", "The parameter hours must be a number from 1 to 24."),
                ("days=29", "The parameter days must be a number from 0 to 28."), ("leap=other", "The parameter leap must be streams or forecast."),
                ("provider=x", "Give provider only with leap=streams."),
                ("eventTitle=x", "Give eventStart, eventEnd and eventTitle only with leap and stream."),
                ("leap=forecast&eventTitle=x", "Give eventStart, eventEnd and eventTitle only with leap and stream."),
                ("leap=forecast&stream=tv&eventStart=2126-11-28T19:00:00Z", "eventStart is not before the end of the period: give eventEnd too."),
                ("leap=forecast&stream=tv&eventEnd=2020-11-28T19:00:00Z",
                 "eventEnd is not after the beginning of the period, which is now: give eventStart too."),
                ("leap=forecast&stream=tv&eventEnd=2126-11-28T19:00:00Z&eventStart=2126-11-28T19:00:00Z", "eventEnd is not after eventStart.")):
            status, problem = api.ask("GET", "/v1/forecast?" + query)
            self.assertEqual((status, problem["detail"]), (400, sentence))

    def test_breaks_and_the_listeners_of_now(self):
        gateway = Gateway()
        self.addCleanup(gateway.close)
        self.listen(gateway, "radio1", 3)
        gateway.run("publish", "--stream", "radio1", "--break", "soon", "--vast", VAST, "--in", "30m")
        gateway.run("publish", "--stream", "radio1", "--break", "later", "--vast", VAST, "--in", "5h", "--duration", "90s")
        gateway.run("publish", "--stream", "tv", "--break", "one", "--vast", VAST, "--in", "10m", "--duration", "60s")
        gateway.run("publish", "--stream", "tv", "--break", "gone", "--vast", VAST, "--in", "20m")
        gateway.run("cancel", "--stream", "tv", "--break", "gone")
        said = self.forecast(gateway)
        self.assertEqual([(each["stream"], each["listeners"], [one["break"] for one in each["breaks"]]) for each in said["streams"]],
                         [("radio1", 3, ["soon", "later"]), ("tv", 0, ["one"])])
        soon, later = said["streams"][0]["breaks"]
        self.assertEqual((soon["listeners"], soon["basis"], soon["days"], soon["ads"], later["durationSeconds"]), (3, "now", 0, 2, 90))
        said = self.forecast(gateway, "--stream", "radio1", "--hours", "1")
        self.assertEqual([[one["break"] for one in each["breaks"]] for each in said["streams"]], [["soon"]])
        # A stream whose id begins alike is another one.
        self.assertEqual([(each["stream"], each["breaks"]) for each in self.forecast(gateway, "--stream", "radio")["streams"]], [("radio", [])])
        text = run_with(gateway, "forecast", code=0).stdout
        self.assertIn("the listeners of now", text)
        self.assertIn("3 breaks until ", text)
        now = time.time() * 1_000
        streams = self.forecast(gateway, "--leap", "streams", "--provider", "Network")
        self.assertEqual((streams["version"], streams["streamsdata"][0]["sdp"]), ("1.0.0", "Network"))
        self.assertLess(abs(streams["timestamp"] - now), 600_000)
        media = streams["streamsdata"][0]["mediastreams"]
        self.assertEqual([(each["content"]["id"], each["streamcount"]) for each in media],
                         [("radio1", [{"cstreams": 3}]), ("tv", [{"cstreams": 0}])])
        self.assertEqual(media[0]["eventend"] - media[0]["eventstart"], 6 * 3_600_000)
        events = self.forecast(gateway, "--leap", "forecast")["events"]
        self.assertEqual([(each["id"], each["streamsdata"], each["inventoryconfig"]["expectedpodcount"]) for each in events],
                         [("radio1", [{"expectedpeak": 3, "lowerbound": 3}], 2), ("tv", [{"expectedpeak": 0, "lowerbound": 0}], 1)])
        self.assertEqual(events[1]["inventoryconfig"]["totaladdurationsec"], 60)
        event = self.forecast(gateway, "--leap", "forecast", "--stream", "tv", "--event-title", "Cup final", "--event-start", "2126-11-28T19:00:00Z",
                              "--event-end", "2126-11-28T21:00:00Z")["events"][0]
        self.assertEqual((event["content"]["title"], event["scheduledend"] - event["scheduledstart"], event["inventoryconfig"]["expectedpodcount"]),
                         ("Cup final", 7_200_000, 0))
        # At the limits, and one past them.
        said = self.forecast(gateway, "--hours", "24", "--days", "28")
        self.assertEqual((instant(said["until"]) - instant(said["now"]), [len(each["breaks"]) for each in said["streams"]]), (86_400, [2, 1]))
        for arguments in (("--hours", "0"), ("--hours", "25"), ("--days", "29"), ("--days", "-1"), ("--provider", "x"), ("--event-title", "x"),
                          ("--leap", "forecast", "--event-title", "x"), ("--stream", "a b"), ("--leap", "other")):
            run_with(gateway, "forecast", *arguments, code=64)
        run_with(gateway, "forecast", "--http", "127.0.0.1:1", code=69)
        self.check_http(gateway)

    def test_as_many_streams_as_forecast_streams_max_are_shown_and_one_more_is_refused(self):
        gateway = Gateway()
        self.addCleanup(gateway.close)
        names = [f"s{number:03}" for number in range(199)]
        gateway.run("group", "publish", "--streams", ",".join(names), "--break", "noon", "--vast", VAST, "--in", "1h")
        # A stream counts that has listeners only.
        self.listen(gateway, "t", 1)
        said = self.forecast(gateway, "--days", "0")
        self.assertEqual([each["stream"] for each in said["streams"]], [*names, "t"])
        self.listen(gateway, "u", 1)
        error = self.forecast(gateway, "--days", "0", code=65)
        self.assertIn("the limit forecastStreamsMax is 200, and the gateway has 201 streams: name one with --stream", error)
        self.assertEqual([each["listeners"] for each in self.forecast(gateway, "--days", "0", "--stream", "u")["streams"]], [1])

    def test_breaks_of_yesterday_are_the_basis_of_an_estimate(self):
        gateway = SteppedGateway()
        self.addCleanup(gateway.close)
        gateway.stop()
        gateway.step(-DAY)
        gateway.start()
        listeners = self.listen(gateway, "radio1", 5)
        peer = Broadcaster(gateway)
        self.addCleanup(peer.close)
        reply = peer.publish("radio1", "yesterday", [ad("spot", 600_000)], duration_ms=600_000, start=broadcast_pb2.Start(now=True))
        self.assertEqual(reply.status, OK, reply)
        for listener in listeners[:4]:
            self.assertEqual(listener.batch("yesterday").status, OK)
        until("the books have four sessions", lambda: gateway.get("/v1/reports?stream=radio1")["breaks"][0]["sessions"] == 4)
        gateway.run("end", "--stream", "radio1", "--break", "yesterday")
        until("the break is over", lambda: gateway.get("/v1/breaks?stream=radio1")["breaks"][0]["state"] == "complete")
        gateway.stop()
        gateway.step(0)
        gateway.start()
        gateway.run("publish", "--stream", "radio1", "--break", "today", "--vast", VAST, "--in", "10m")
        said = self.forecast(gateway, "--stream", "radio1")["streams"][0]["breaks"]
        self.assertEqual([(each["break"], each["listeners"], each["basis"], each["days"]) for each in said], [("today", 4, "earlierDays", 1)])
        said = self.forecast(gateway, "--stream", "radio1", "--days", "0")["streams"][0]["breaks"]
        self.assertEqual(said[0]["basis"], "now")
        said = API(gateway).ask("GET", "/v1/forecast?stream=radio1")[1]["streams"][0]["breaks"]
        self.assertEqual([(each["break"], each["listeners"], each["basis"], each["days"]) for each in said], [("today", 4, "earlierDays", 1)])
