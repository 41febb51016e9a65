#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The real binary as a process, over real TCP, on a real SQLite folder, on ports that the system chooses.

    scripts/end-to-end.sh                      all of it, on the debug build
    scripts/end-to-end.sh EndToEnd.test_…      one test
"""
import atexit, functools, itertools, json, os, random, re, shutil, signal, subprocess, sys, tempfile, threading, time, unittest, urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import (BINARY, GENERATED, PATIENCE, RUN_PATIENCE, ROOT, Broadcaster, Gateway, Listener, Requester, ad, broadcast_pb2,
                     listener_pb2, notice_pb2, slower_until, status_pb2, until)
from test_ad_servers import AdServers  # noqa: F401 (its tests run with these)
from test_audit import Audit  # noqa: F401 (its tests run with these)
from test_broadcaster_pages import BroadcasterPages  # noqa: F401 (its tests run with these)
from test_capacity import Capacity  # noqa: F401 (its tests run with these)
from test_choosing import Choosing  # noqa: F401 (its tests run with these)
from test_clicks import Clicks  # noqa: F401 (its tests run with these)
from test_clock import ClockSteps  # noqa: F401 (its tests run with these)
from test_clock_spread import ClockSpread  # noqa: F401 (its tests run with these)
from test_correlate import Correlated  # noqa: F401 (its tests run with these)
from test_cue import ExplainedCues  # noqa: F401 (its tests run with these)
from test_curve import Curve  # noqa: F401 (its tests run with these)
from test_dashboard import Dashboard, DemoLive  # noqa: F401 (their tests run with these)
from test_dashboard_views import DashboardViews  # noqa: F401 (its tests run with these)
from test_dry_run_day import DryRunOfADay  # noqa: F401 (its tests run with these)
from test_event_listeners import EventListeners  # noqa: F401 (its tests run with these)
from test_forecast import Forecasts  # noqa: F401 (its tests run with these)
from test_fronts import Fronts  # noqa: F401 (its tests run with these)
from test_forget import Forgetting  # noqa: F401 (its tests run with these)
from test_groups import Groups  # noqa: F401 (its tests run with these)
from test_http_api import HTTPChanges, HTTPConnections, HTTPEvents, HTTPExamples, HTTPFuzz, OpenAPI  # noqa: F401 (their tests run with these)
from test_http2 import HTTP2  # noqa: F401 (its tests run with these)
from test_https import EncryptedHTTP  # noqa: F401 (its tests run with these)
from test_keys import Keys  # noqa: F401
from test_machine import Addresses, Output, Reload, Silence  # noqa: F401 (their tests run with these)
from test_player import PlayerLife  # noqa: F401 (its tests run with these)
from test_load_run import LoadRun  # noqa: F401 (its tests run with these)
from test_load_tool import LoadTool  # noqa: F401 (its tests run with these)
from test_log_failure import LogFailure  # noqa: F401 (its tests run with these)
from test_outcomes import Outcomes  # noqa: F401 (its tests run with these)
from test_players import FetchingPlayers, VASTDocuments  # noqa: F401 (their tests run with these)
from test_programme_time import ProgrammeTime  # noqa: F401 (its tests run with these)
from test_proxy import Balanced  # noqa: F401 (its tests run with these)
from test_radio_player import RadioPlayer  # noqa: F401 (its tests run with these)
from test_radio_start import RadioStart  # noqa: F401 (its tests run with these)
from test_real_encoder import RealEncoder  # noqa: F401 (its tests run with these)
from test_reference import Reference  # noqa: F401 (its tests run with these)
from test_shared_log import SharedLog, SharedLogOperators, SharedLogRefusals  # noqa: F401 (their tests run with these)
from test_shared_log_books import SharedLogBooks  # noqa: F401 (its tests run with these)
from test_shared_log_forget import SharedLogForget  # noqa: F401 (its tests run with these)
from test_shared_log_migration import SharedLogMigration  # noqa: F401 (its tests run with these)
from test_shared_log_permissions import SharedLogPermissions  # noqa: F401 (its tests run with these)
from test_shared_log_moving import SharedLogMoving  # noqa: F401 (its tests run with these)
from test_shared_log_restore import SharedLogRestore, SharedLogRestoreInterrupted, SharedLogRestoreRefusals  # noqa: F401 (its tests run with these)
from test_shared_log_rolling import SharedLogRolling  # noqa: F401 (its tests run with these)
from test_shared_log_signals import SharedLogSignals  # noqa: F401 (its tests run with these)
from test_shared_log_snapshots import SharedLogSnapshots  # noqa: F401 (its tests run with these)
from test_shared_log_starts import SharedLogQuickStart  # noqa: F401 (its tests run with these)
from test_schedules import Schedules  # noqa: F401 (its tests run with these)
from test_signals import Signals  # noqa: F401 (its tests run with these)
from test_tls import EncryptedListeners  # noqa: F401 (its tests run with these)
from test_tokens import HTTPTokens, JoinTokens, ReloadedProtection  # noqa: F401 (their tests run with these)
from test_top import EncryptedTop, Top  # noqa: F401 (their tests run with these)
from test_traces import Traces  # noqa: F401 (its tests run with these)
from test_tutorial import Tutorial  # noqa: F401 (its tests run with these)
from test_unread_messages import UnreadMessages  # noqa: F401 (its tests run with these)
from test_secrets import Secrets  # noqa: F401 (its tests run with these)
from test_variants import Variants  # noqa: F401 (its tests run with these)
from test_watch_hls import SentCues, WatchHLS  # noqa: F401 (their tests run with these)
from test_watch_reports import ToldPolicy, WatchReports  # noqa: F401 (their tests run with these)
from test_watch_sources import WatchedLines, WatchedRadio, WatchedTransportStreams  # noqa: F401 (their tests run with these)
from test_web_crowd import WebCrowd  # noqa: F401 (its tests run with these)
from test_web_guide import WebGuide  # noqa: F401 (its tests run with these)
from test_web_player import Curl, WebFallback, WebPlayer  # noqa: F401 (their tests run with these)
from test_web_requests import ManyCookies, WebRequests  # noqa: F401 (their tests run with these)
from test_web_tabs import WebTabs  # noqa: F401 (its tests run with these)
from test_web_wake import WebFront, WebWake  # noqa: F401 (their tests run with these)
from test_web_socket import WebSocketExample, WebSocketListeners, WebSocketPeers, WebSocketPlayer  # noqa: F401 (their tests run with these)
from test_service_manager import Health, Messages, ServiceManager  # noqa: F401 (their tests run with these)
import zmq

#: Its two ads last half an hour each, so that no break is over because the machine is slow; players play them faster.
VAST_FOLDER = tempfile.mkdtemp(prefix="cuecast-vast.")
atexit.register(shutil.rmtree, VAST_FOLDER, ignore_errors=True)
VAST = os.path.join(VAST_FOLDER, "two-ads.vast.xml")
with open(os.path.join(ROOT, "Examples/two-ads.vast.xml"), encoding="utf-8") as example, \
        open(VAST, "w", encoding="utf-8") as longer:
    longer.write(re.sub("<Duration>[^<]*</Duration>", "<Duration>00:30:00</Duration>", example.read()))
SPEED = "2000"
OK = status_pb2.STATUS_CODE_OK


class EndToEnd(unittest.TestCase):
    def gateway(self, *arguments):
        gateway = Gateway(*arguments)
        self.addCleanup(gateway.close)
        return gateway

    def broadcaster(self, gateway):
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        return broadcaster

    def listener(self, gateway, stream, **more):
        listener = Listener(gateway, stream, **more)
        self.addCleanup(listener.close)
        return listener

    def test_a_published_break_is_played_ignored_and_balances(self):
        gateway = self.gateway()
        players = [gateway.listen("s", "--breaks", "1", "--speed", SPEED), gateway.listen("s", "--breaks", "1", "--ignore")]
        for player in players:
            player.wait_for("joined")
        gateway.run("publish", "--stream", "s", "--break", "b", "--vast", VAST, "--in", "1s")
        self.assertEqual([player.finish() for player in players], [0, 0])
        counts = gateway.report("s", "b")
        self.assertEqual(len(counts), 2)
        for ad_id, each in counts.items():
            self.assertEqual((each["delivered"], each["played"], each["ignored"], each["unknown"]), (2, 1, 1, 0), ad_id)
            self.assertEqual(each["ignoredBy"], {"user": 1})

    def test_ids_as_playout_and_cues_give_them(self):
        gateway = self.gateway()
        # Upper and lower case are two breaks.
        ids = ["Noon_2", "noon_2", "5F2A0C9E-8D1B-4E7C-9C55-0A1B2C3D4E5F", "splice.1207959694", "x" * 64]
        broadcaster = self.broadcaster(gateway)
        for number, name in enumerate(ids):
            reply = broadcaster.publish("Radio_1.live", name, [ad("a")])
            self.assertEqual(reply.status, OK, reply.message)
        base = f"http://{gateway.addresses['http']}/v1/streams/Radio_1.live"
        for name in ids:
            batch = urllib.request.Request(f"{base}/breaks/{name}/batch", json.dumps({"session": os.urandom(16).hex()}).encode(),
                                           {"Content-Type": "application/json"})
            with urllib.request.urlopen(batch, timeout=PATIENCE) as answer:
                self.assertEqual(len(json.load(answer)["advertisements"]), 1)
            with urllib.request.urlopen(f"{base}/vast?break={name}&_HLS_primary_id={name}", timeout=PATIENCE) as answer:
                document = answer.read().decode()
            url = re.search(r"http://[^<\]]*/track/[^<\]]*", document).group(0)
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                self.assertEqual(answer.status, 204)
            self.assertEqual(gateway.report("Radio_1.live", name)["a"]["delivered"], 2)
            gateway.run("cancel", "--stream", "Radio_1.live", "--break", name)
        # After a restart they are the same.
        gateway.stop()
        gateway.start()
        states = {each["break"]: each["state"] for each in gateway.get("/v1/breaks?stream=Radio_1.live")["breaks"]}
        self.assertEqual(states, dict.fromkeys(ids, "cancelled"))
        for name in (".", "..", "x" * 65, "a b"):
            self.assertEqual(broadcaster.publish("s", name, [ad("a")]).status, status_pb2.STATUS_CODE_INVALID)

    def test_a_late_joiner_recovers_what_it_missed_in_order(self):
        gateway = self.gateway()
        broadcaster = self.broadcaster(gateway)
        listener = self.listener(gateway, "s")
        self.assertEqual(listener.join().kind, listener_pb2.JOIN_KIND_SNAPSHOT)
        self.assertEqual(broadcaster.publish("s", "one", [ad("a")], pre_stream=True).status, OK)
        listener.next()
        # Away while three things happen.
        listener.notices.disconnect(gateway.addresses["notices"])
        for name in ("two", "three"):
            self.assertEqual(broadcaster.publish("s", name, [ad("a")], pre_stream=True).status, OK)
        self.assertEqual(broadcaster.ask(cancel=broadcast_pb2.Cancel(stream="s", break_id="two")).status, OK)
        listener.notices.connect(gateway.addresses["notices"])
        joined = listener.join()
        self.assertEqual(joined.kind, listener_pb2.JOIN_KIND_RECOVERED)
        self.assertEqual([notice.break_id for notice in joined.notices], ["two", "three", "two"])
        self.assertEqual(joined.notices[-1].kind, notice_pb2.NOTICE_KIND_CANCELLED)
        self.assertEqual(listener.join().kind, listener_pb2.JOIN_KIND_CURRENT)

    def test_a_restart_between_announcement_and_start_loses_nothing(self):
        # Announced at once, however long before its start.
        gateway = self.gateway("--set", "breaks.announceAhead=10m")

        def ends_before(lead):
            """The stream, and its player, of a break before whose start, so many seconds later, the gateway ended; else nothing."""
            stream = f"s-{lead}"
            player = gateway.listen(stream, "--breaks", "1", "--speed", SPEED)
            player.wait_for("joined")
            began = time.monotonic()
            gateway.run("publish", "--stream", stream, "--break", "b", "--vast", VAST, "--in", f"{lead}s")
            player.wait_for("announced")
            self.assertEqual(gateway.stop(), 0)
            in_time = time.monotonic() - began < lead
            if not in_time:
                player.kill()
            gateway.start()
            return (stream, player) if in_time else None

        # Where the machine is so slow that what was played may have been told, once more with more time.
        stream, player = next(filter(None, map(ends_before, (4, 16, 64, 256))))
        self.assertEqual(player.finish(), 0)
        # What is not answered within 5 s is told again: a repeat counts nothing.
        for each in gateway.report(stream, "b").values():
            self.assertEqual((each["delivered"], each["played"], each["contradictions"]), (1, 1, 0))

    def test_what_fell_due_while_the_gateway_was_down_is_announced_or_expires(self):
        gateway = self.gateway("--set", "breaks.announceAhead=1s")
        broadcaster = self.broadcaster(gateway)

        def goes_down(lead, gone, late):
            """Publishes two breaks that start so many seconds later, and is down from before their announcement."""
            start = broadcast_pb2.Start(in_ms=int(lead * 1_000))
            began = time.monotonic()
            self.assertEqual(broadcaster.publish(gone, "gone", [ad("a")], start=start, duration_ms=1).status, OK)
            self.assertEqual(broadcaster.publish(late, "late", [ad("a")], start=start, duration_ms=3_600_000).status, OK)
            gateway.stop(signal.SIGKILL)
            down = time.monotonic() - began
            time.sleep(lead + 0.1)  # not a wait for something: the time during which the gateway is down
            gateway.start()
            return down < lead - 1

        # Where the machine is so slow that it was announced before, once more with more time.
        lead, tries = 1.5, 0
        while not goes_down(lead, f"s-{tries}", f"t-{tries}"):
            lead, tries = lead * 3, tries + 1
        listener = self.listener(gateway, f"t-{tries}")
        listener.join()
        if not listener.applied:
            listener.next()
        self.assertEqual(listener.applied[0].break_id, "late")
        states = {each["break"]: each["state"] for each in gateway.get("/v1/breaks")["breaks"]
                  if each["stream"] in (f"s-{tries}", f"t-{tries}")}
        self.assertEqual(states, {"gone": "expired", "late": "live"})

    def test_joins_that_race_with_publications_miss_and_repeat_nothing(self):
        """Two gateways with the clients of both at the same time."""
        seed = int(os.environ.get("CUECAST_SEED", random.randrange(1 << 32)))
        print(f"\nCUECAST_SEED={seed}", file=sys.stderr)
        breaks, faults = 40, []
        threads = []
        for number in range(2):
            gateway, randomness = self.gateway(), random.Random(seed + number)

            def publish(gateway=gateway, randomness=randomness):
                broadcaster = Broadcaster(gateway)
                for index in range(breaks):
                    reply = broadcaster.publish("race", f"b-{index}", [ad("a")], pre_stream=True)
                    assert reply.status == OK, reply
                    time.sleep(randomness.uniform(0, 0.02))
                broadcaster.close()

            def follow(gateway=gateway, pause=None):
                time.sleep(pause)
                listener = Listener(gateway, "race")
                listener.join()
                while listener.last.sequence < breaks:
                    listener.next()
                seen = [notice.break_id for notice in listener.applied]
                assert sorted(seen) == sorted(f"b-{index}" for index in range(breaks)), seen
                listener.close()

            def guarded(body, **arguments):
                try:
                    body(**arguments)
                except BaseException as fault:  # noqa: BLE001 - the test reports it
                    faults.append(fault)

            threads.append(threading.Thread(target=guarded, args=(publish,)))
            for _ in range(12):
                arguments = {"pause": randomness.uniform(0, 0.5)}
                threads.append(threading.Thread(target=guarded, args=(follow,), kwargs=arguments))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(faults, [])

    def test_duplicate_and_contradicting_acknowledgements_count_once(self):
        gateway = self.gateway()
        self.broadcaster(gateway).publish("s", "b", [ad("x"), ad("y")], pre_stream=True)
        listener = self.listener(gateway, "s")
        listener.join()
        batch = listener.batch("b").batch
        for outcomes in [{"x": "played"}, {"x": "played"}, {"x": "failed"}, {"y": listener_pb2.IGNORE_REASON_USER}]:
            reply = listener.acknowledge("b", batch.delivery, outcomes)
            self.assertEqual((reply.status, reply.acknowledged.recorded), (OK, 1))
        counts = gateway.report("s", "b")
        self.assertEqual({key: counts["x"][key] for key in ("delivered", "played", "failed", "repeats", "contradictions")},
                         {"delivered": 1, "played": 1, "failed": 0, "repeats": 1, "contradictions": 1})
        self.assertEqual(counts["y"]["ignored"], 1)

    def test_an_acknowledgement_without_its_delivery_is_refused(self):
        gateway = self.gateway()
        self.broadcaster(gateway).publish("s", "b", [ad("x")], pre_stream=True)
        first, second = self.listener(gateway, "s"), self.listener(gateway, "s")
        delivery = first.batch("b").batch.delivery
        invalid = status_pb2.STATUS_CODE_DELIVERY_INVALID
        self.assertEqual(second.acknowledge("b", delivery, {"x": "played"}).status, invalid)
        self.assertEqual(first.acknowledge("b", b"", {"x": "played"}).status, invalid)
        self.assertEqual(first.acknowledge("b", delivery, {"z": "played"}).status, status_pb2.STATUS_CODE_NOT_FOUND)
        self.assertEqual(gateway.report("s", "b")["x"]["played"], 0)

    def test_a_cancelled_break_is_not_played(self):
        # Announced long before its start: it must be cancelled before that. Its ads are fetched within a quarter of that time.
        gateway = self.gateway("--set", "breaks.announceAhead=80s")
        player = gateway.listen("s", "--breaks", "1", "--speed", SPEED)
        player.wait_for("joined")
        gateway.run("publish", "--stream", "s", "--break", "b", "--vast", VAST, "--in", "80s")
        player.wait_for("ready")
        gateway.run("cancel", "--stream", "s", "--break", "b")
        player.finish()
        counts = gateway.report("s", "b")
        for each in counts.values():
            self.assertEqual((each["delivered"], each["played"]), (1, 0))
        gateway.run("end", "--stream", "s", "--break", "b", code=65)

    def test_a_break_that_is_ended_early_stops(self):
        gateway = self.gateway()
        player = gateway.listen("s", "--breaks", "1")
        player.wait_for("joined")
        gateway.run("publish", "--stream", "s", "--break", "b", "--vast", VAST, "--now")
        player.wait_for("playing")
        gateway.end("s", "b")
        player.finish()
        counts = list(gateway.report("s", "b").values())
        self.assertEqual([each["delivered"] for each in counts], [1, 1])
        self.assertEqual(counts[1]["ignoredBy"], {"endedEarly": 1})
        self.assertLess(counts[0]["heardMilliseconds"], 1_800_000)

    def test_a_pre_stream_break_is_given_to_each_joining_listener(self):
        gateway = self.gateway()
        gateway.run("publish", "--stream", "s", "--break", "roll", "--vast", VAST, "--pre-stream")
        for _ in range(2):
            self.assertEqual(gateway.listen("s", "--breaks", "1", "--speed", SPEED).finish(), 0)
        for each in gateway.report("s", "roll").values():
            self.assertEqual((each["delivered"], each["played"]), (2, 2))

    def test_a_cued_break_starts_when_it_is_punched(self):
        gateway = self.gateway()
        player = gateway.listen("s", "--breaks", "1", "--speed", SPEED)
        player.wait_for("joined")
        gateway.run("publish", "--stream", "s", "--break", "b", "--vast", VAST, "--cued")
        player.wait_for("ready")
        gateway.run("punch", "--stream", "s", "--break", "b", "--in", "1s")
        self.assertEqual(player.finish(), 0)
        for each in gateway.report("s", "b").values():
            self.assertEqual(each["played"], 1)

    def test_bad_input_is_refused_and_disturbs_no_other_peer(self):
        gateway = self.gateway()
        self.broadcaster(gateway).publish("s", "b", [ad("x")], pre_stream=True)
        listener = self.listener(gateway, "s")
        listener.join()
        randomness = random.Random(7)
        for endpoint, parse in [(gateway.addresses["requests"], listener_pb2.Reply.FromString),
                                (gateway.addresses["broadcast"], broadcast_pb2.BroadcastReply.FromString)]:
            requester = Requester(endpoint)
            for frame in [b"", b"\xff" * 20, randomness.randbytes(200), b"\x08\x07", b"\x0a\xff\xff\xff\xff\x0f"]:
                reply = parse(requester.exchange(frame))
                self.assertNotEqual(reply.status, OK)
                self.assertTrue(reply.message)
            requester.close()
            # A frame above the limit costs the sender its connection, and other peers nothing.
            large = Requester(endpoint, timeout=1)
            large.send(bytes(2_000_000))
            with self.assertRaises(zmq.Again):
                large.socket.recv()
            large.close()
            # No envelope, too many frames, and a peer that never reads.
            rude = zmq.Context.instance().socket(zmq.DEALER)
            rude.linger = 0
            rude.connect(endpoint)
            rude.send(b"no envelope")
            rude.send_multipart([b"", b"a", b"b", b"c"])
            for _ in range(2_000):
                try:
                    rude.send_multipart([b"", b"\x08\x01"], zmq.NOBLOCK)
                except zmq.Again:
                    break
            self.addCleanup(rude.close)
        garbage = zmq.Context.instance().socket(zmq.XSUB)
        garbage.linger = 0
        garbage.connect(gateway.addresses["notices"])
        for message in [b"", b"\x05", b"\x01" + bytes(100), b"hello", b"\x01~sync\0", b"\x00never\0"]:
            garbage.send(message)
        self.addCleanup(garbage.close)
        batch = listener.batch("b").batch
        self.assertEqual(listener.acknowledge("b", batch.delivery, {"x": "played"}).status, OK)
        self.assertEqual(self.broadcaster(gateway).publish("s", "after", [ad("x")], pre_stream=True).status, OK)
        self.assertEqual(listener.next().break_id, "after")
        self.assertEqual(gateway.report("s", "b")["x"]["played"], 1)
        self.assertEqual(gateway.stop(), 0)

    def run_example(self, gateway, program, *arguments):
        """Starts one of Examples/pyzmq, and waits until it listens."""
        example = subprocess.Popen(
            ["/usr/bin/python3", os.path.join(ROOT, "Examples/pyzmq", program), *arguments],
            env={**os.environ, "PYTHONPATH": GENERATED}, stdout=subprocess.PIPE, text=True)
        until("the example listens",
              lambda: "cuecast_listeners 1" in subprocess.run(
                  ["/usr/bin/python3", "-c", "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1])"
                   ".read().decode())", f"http://{gateway.addresses['http']}/metrics"],
                  capture_output=True, text=True).stdout)
        return example

    def listen_without_our_library(self, program, *sockets):
        """Runs an example beside a break; `sockets` are what it connects to."""
        gateway = self.gateway()
        example = self.run_example(gateway, program, "--stream", "s", "--timeout", str(PATIENCE),
                                   *(word for each in sockets for word in ("--" + each, gateway.addresses[each])))
        gateway.run("publish", "--stream", "s", "--break", "b", "--vast", VAST, "--in", "2s")
        printed = json.loads(example.communicate(timeout=RUN_PATIENCE)[0])
        self.assertEqual((example.returncode, printed["break"], printed["recorded"]), (0, "b", 2))
        for each in gateway.report("s", "b").values():
            self.assertEqual((each["delivered"], each["played"]), (1, 1))

    def test_the_listener_without_our_library_does_its_job(self):
        self.listen_without_our_library("listener.py", "notices", "requests")

    def test_the_listener_with_one_connection_does_its_job(self):
        self.listen_without_our_library("one_connection.py", "requests")

    def test_the_player_of_the_page_plays_and_acknowledges(self):
        def plays(factor):
            """The exit code of the example, what it prints, and the counts of its advertisements."""
            gateway = self.gateway("--set", "breaks.announceAhead=10m")
            example = self.run_example(gateway, "player.py", gateway.addresses["requests"], "s")
            self.broadcaster(gateway).publish("s", "b", [ad("x", 100), ad("y", 100)],
                                              start=broadcast_pb2.Start(in_ms=2_000 * factor), duration_ms=3_600_000)
            printed = example.communicate(timeout=RUN_PATIENCE)[0].splitlines()
            return example.returncode, printed, gateway.report("s", "b")

        # Where the machine is so slow that the first one was over when the example asked, once more with more time.
        code, printed, counts = slower_until(plays, lambda told: told[2]["x"]["delivered"])
        self.assertEqual((code, [each for each in printed if each.startswith("recorded")]), (0, ["recorded x", "recorded y"]))
        for each in counts.values():
            self.assertEqual((each["delivered"], each["played"]), (1, 1))

    def test_signals_end_the_gateway_cleanly(self):
        gateway = self.gateway()
        for number in (signal.SIGTERM, signal.SIGINT):
            self.assertEqual(gateway.stop(number), 0)
            gateway.start()

    def test_a_second_gateway_on_the_same_folder_or_port_is_refused(self):
        gateway = self.gateway()
        said = gateway.run("serve", "--data-dir", gateway.folder + "/data", "--http", "none", "--notices",
                           "tcp://127.0.0.1:*", "--requests", "tcp://127.0.0.1:*", "--broadcast", "tcp://127.0.0.1:*",
                           code=69)
        self.assertIn(gateway.folder, said)
        with tempfile.TemporaryDirectory() as folder:
            said = gateway.run("serve", "--data-dir", folder, "--notices", gateway.addresses["notices"], code=69)
            self.assertIn(gateway.addresses["notices"], said)


class CommandLine(unittest.TestCase):
    """Help and exit codes: scripts depend on them."""

    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()

    @classmethod
    def tearDownClass(cls):
        cls.gateway.close()

    def test_every_command_has_help_with_an_example(self):
        for command in ["serve", "publish", "punch", "update", "postpone", "end", "cancel", "breaks", "signal", "listen",
                        "report", "audit", "streams", "top", "health", "check-config", "version"]:
            self.assertIn(f"Example: cuecast {command}", self.help(command), command)

    def test_usage_errors_exit_with_64(self):
        for arguments in [["publish"], ["publish", "--stream", "s", "--break", "b"], ["nonsense"],
                          ["publish", "--stream", "s", "--break", "b", "--vast", VAST, "--in", "soon"],
                          ["publish", "--stream", "s", "--break", "b", "--vast", VAST, "--in", "1s", "--cued"],
                          ["listen"], ["update", "--stream", "s", "--break", "b"], ["report", "--format", "xml"]]:
            self.gateway.run(*arguments, code=64)

    def test_a_value_that_lacks_something_is_told_what(self):
        publish = ["publish", "--stream", "s", "--break", "b", "--vast", VAST]
        for arguments, advice in [
                ([*publish, "--in", "10"], "The value '10' is invalid for '--in <in>': add a unit: 10s"),
                ([*publish, "--duration", "10"], "The value '10' is invalid for '--duration': add a unit: 10s, or none"),
                ([*publish, "--in", "soon"], "write a duration such as 10s, 250ms or 1m30s"),
                ([*publish, "--at", "12:00"], "add date and zone, for instance 2026-11-21T12:00:00Z"),
                ([*publish, "--at", "2026-11-21T12:00:00"], "add the zone: 2026-11-21T12:00:00Z for UTC"),
                ([*publish, "--at", "noon"], "write a time as RFC 3339 has it, with date and zone: 2026-11-21T12:00:00Z"),
                (["top", "--interval", "2"], "add a unit: 2s")]:
            self.assertIn(advice, self.gateway.run(*arguments, code=64))

    def test_a_file_that_is_not_there_is_told_as_that(self):
        publish = ["publish", "--stream", "s", "--break", "b"]
        for arguments in ([*publish, "--vast", "/nowhere"], [*publish, "--ads", "/nowhere"], ["check-config", "--config", "/nowhere"]):
            self.assertIn("/nowhere: there is no such file", self.gateway.run(*arguments, code=65))

    def test_a_report_of_what_is_not_kept_says_so(self):
        for arguments, name in [(["--stream", "nosuch"], "the stream nosuch"),
                                (["--stream", "nosuch", "--break", "b", "--format", "json"], "the break b of the stream nosuch")]:
            done = subprocess.run([BINARY, "report", *arguments], env=self.gateway.environment, capture_output=True, text=True,
                                  timeout=PATIENCE)
            self.assertEqual((done.returncode, done.stderr), (0, f"cuecast: the books hold nothing of {name}\n"))

    def test_bad_data_exits_with_65_and_says_why(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write("<VAST version='4.2'>\n<Ad")
            file.flush()
            said = self.gateway.run("publish", "--stream", "s", "--break", "b", "--vast", file.name, code=65)
            self.assertIn("line 2", said)
        self.assertIn("NOT_FOUND", self.gateway.run("cancel", "--stream", "s", "--break", "none", code=65))
        past = ["publish", "--stream", "s", "--break", "old", "--vast", VAST, "--at", "2020-01-01T00:00:00Z"]
        self.assertIn("START_IN_PAST", self.gateway.run(*past, code=65))
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("breaks:\n  announceAhead: soon\nnotice: x\n")
            file.flush()
            said = self.gateway.run("check-config", "--config", file.name, code=65)
            self.assertIn("breaks.announceAhead", said)
            self.assertIn(f"notice: there is no such key (line 3 of {file.name}); did you mean notices?", said)
        said = self.gateway.run("serve", "--notices", "tcp://0.0.0.0:7400", code=65)
        self.assertIn("allowUnencryptedRemote", said)

    def test_a_gateway_that_is_not_there_exits_with_69(self):
        self.gateway.run("breaks", "--broadcast", "tcp://127.0.0.1:1", code=69)
        self.gateway.run("report", "--http", "127.0.0.1:1", code=69)

    def test_a_player_says_once_that_nothing_answers_and_what_to_check(self):
        nowhere = ["listen", "--stream", "s", "--requests", "tcp://127.0.0.1:1", "--notices", "tcp://127.0.0.1:1"]
        done = subprocess.run([BINARY, *nowhere], env=self.gateway.environment, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 69)
        self.assertEqual(done.stdout.count("tcp://127.0.0.1:1"), 1, done.stdout)
        self.assertIn("tcp://127.0.0.1:1", done.stderr)
        self.assertIn("--wait goes on trying", done.stderr)
        player = subprocess.Popen([BINARY, *nowhere, "--wait", "--json"], env=self.gateway.environment, stdout=subprocess.PIPE, text=True)
        try:
            waits = 0
            while waits < 5:
                line = player.stdout.readline()
                self.assertTrue(line, "it ended although it was to wait")
                waits += json.loads(line).get("state", "").startswith("waiting")
        finally:
            player.kill()
            player.wait()
            player.stdout.close()

    def test_a_word_that_names_nothing_is_told_with_the_name_that_is_meant(self):
        for arguments, sentence in [
                (["publish", "--stream", "s", "--brake", "n2"], "Unknown option '--brake'. Did you mean '--break'?"),
                (["listen", "--steam", "s"], "Unknown option '--steam'. Did you mean '--stream'?"),
                (["publsh", "--stream", "s"], "Unknown command 'publsh'. Did you mean 'publish'?"),
                (["keys", "lst"], "Unknown command 'lst'. Did you mean 'list'?"),
                (["serve", "--set", "breaks.announceAhed=4s"], "there is no key 'breaks.announceAhed'; did you mean 'breaks.announceAhead'?"),
                (["check-config", "--set", "announceAhead=4s"], "did you mean 'breaks.announceAhead'?")]:
            said = self.gateway.run(*arguments, code=64)
            self.assertIn(sentence, said)
            self.assertNotIn("Missing", said)

    def test_json_is_asked_for_in_two_ways_everywhere(self):
        folder = ["--data-dir", os.path.join(self.gateway.folder, "data")]
        for arguments in [["breaks"], ["report"], ["audit"], ["streams"], ["health"], ["version"], ["lists", "list"], ["capacity", "--figures"],
                          ["top", "--once"], ["reload", *folder], ["clock", "show", *folder]]:
            for way in (["--json"], ["--format", "json"]):
                json.loads(self.gateway.run(*arguments, *way))
            self.assertIn("--json", self.gateway.run(*arguments, "--json", "--format", "table", code=64))
        for command in self.commands():
            options = self.help(*command).split("OPTIONS:")[-1]
            self.assertEqual("  --json " in options, "  --format <" in options, command)

    @classmethod
    @functools.cache
    def help(cls, *command):
        """The help of a command, which takes a third of a second to make in a build for tests."""
        return cls.gateway.run(*command, "--help")

    def commands(self):
        """Every command that does something, by what the help of those above it lists."""
        def below(path):
            helped = self.help(*path)
            if "SUBCOMMANDS:" not in helped:
                return [path]
            names = re.findall(r"^  ([a-z-]+)", helped.split("SUBCOMMANDS:")[1], re.MULTILINE)
            return [each for name in names for each in below([*path, name])]
        return below([])

    def test_help_is_wrapped_once(self):
        def stands_for_itself(line):
            return line.startswith("  ") or re.search(r"\S  +\S", line) or line.startswith(("Example", "cuecast")) or line.endswith("\\")
        for command in [[], *self.commands()]:
            text = self.help(*command).split("\nUSAGE: ")[0]
            for line, after in itertools.pairwise(text.splitlines()):
                if not line or not after or stands_for_itself(line) or stands_for_itself(after):
                    continue
                self.assertGreaterEqual(len(line) + 1 + len(after.split()[0]), 80, f"{command}: {line!r}, {after!r}")

    def test_the_same_publication_again_is_the_same_break_and_another_is_refused(self):
        publish = ["publish", "--stream", "again", "--break", "b", "--vast", VAST, "--in", "5000s", "--format", "json"]
        first, second = (json.loads(self.gateway.run(*publish)) for _ in range(2))
        self.assertEqual((first["start"], first["position"] if "position" in first else None),
                         (second["start"], second["position"] if "position" in second else None))
        self.assertIn("CONFLICT", self.gateway.run(*publish, "--exact", code=65))
        self.assertIn("BREAK_OVERLAP", self.gateway.run(
            "publish", "--stream", "again", "--break", "c", "--vast", VAST, "--in", "5001s", code=65))
        listed = json.loads(self.gateway.run("breaks", "--stream", "again", "--format", "json"))
        self.assertEqual([each["break"] for each in listed], ["b"])

    def test_version_and_configuration_are_printed(self):
        self.assertRegex(self.gateway.run("version"), r"^cuecast \d+\.\d+\.\d+\n$")
        self.assertIn("breaks.announceAhead: 8s", self.gateway.run("check-config"))
        self.assertIn("STREAM", self.gateway.run("report"))
        self.assertIn("stream,break,advertisement", self.gateway.run("report", "--format", "csv"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
