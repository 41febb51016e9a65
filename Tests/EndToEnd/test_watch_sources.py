# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""`cuecast watch ts`, `icecast` and `lines`: real sources, a real gateway, and each break once, also with two watchers."""
import fcntl, json, os, random, signal, socket, ssl, struct, tempfile, time, unittest

import radio_server
from harness import PATIENCE, ROOT, Gateway, until
from test_https import Authority
from transport_stream import PACKET, WRAP, TransportStream, splice_insert
from watcher import Watcher
from watchers import run_rounds

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")
#: Recorded streams begin so many seconds from now: the gateway takes no breaks of the past, and a machine may be slow.
AHEAD = 1_800


def multicast_address():
    """The IPv4 address of an interface that is up and takes multicast; `None`: there is none."""
    up, takes_multicast, get_address = 0x1, 0x1000, 0x8915
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            with open(f"/sys/class/net/{name}/flags", encoding="ascii") as file:
                flags = int(file.read(), 16)
            if flags & up and flags & takes_multicast:
                try:
                    return socket.inet_ntoa(fcntl.ioctl(any_socket, get_address, struct.pack("256s", name.encode()))[20:24])
                except OSError:
                    pass  # It has no such address.
    return None


class WatchedSources(unittest.TestCase):
    def gateway(self):
        # Without tolerance, so that breaks of one event may follow each other at once.
        gateway = Gateway("--set", "breaks.cues=* list=spots duration=1h tolerance=0s")
        self.addCleanup(gateway.close)
        gateway.run("lists", "put", "spots", "--vast", VAST)
        return gateway

    def watcher(self, gateway, *arguments, given=None):
        watcher = Watcher(gateway, *arguments, given=given)
        self.addCleanup(watcher.close)
        return watcher

    def breaks(self, gateway, stream="sport1"):
        return json.loads(gateway.run("breaks", "--stream", stream, "--format", "json"))


class WatchedTransportStreams(WatchedSources):
    #: Five seconds before the clock wraps.
    FIRST = WRAP - 5 * 90_000

    def file(self, content):
        with tempfile.NamedTemporaryFile(suffix=".ts", delete=False) as file:
            file.write(content)
        self.addCleanup(os.unlink, file.name)
        return file.name

    def test_a_recorded_stream_makes_breaks_at_the_times_of_its_clock(self):
        gateway, stream = self.gateway(), TransportStream()
        start = int(time.time()) + AHEAD
        pts = self.FIRST + 20 * 90_000
        cue = splice_insert(7, pts=pts, seconds=30, filler=230)
        bad = bytearray(splice_insert(8, pts=pts + 600 * 90_000, seconds=30))
        bad[-1] ^= 1
        content = stream.seconds(self.FIRST, 3) + stream.section(cue) + stream.seconds(self.FIRST + 3 * 90_000, 4)
        content += stream.section(cue) + stream.section(bytes(bad)) + stream.section(splice_insert(9, pts=0, seconds=30))
        # A packet is missing, twice, and a cue lies hours away.
        stream.lose(3)
        content += stream.section(splice_insert(10, pts=pts + 5 * 3_600 * 90_000))
        stream.lose(3)
        content += stream.section(splice_insert(7, pts=pts, seconds=45))
        path = self.file(content)
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start))
        watcher = self.watcher(gateway, "ts", path, "--stream", "sport1", "--start", at)
        counts = watcher.end()
        sent = watcher.seen("sent", "out")
        expected = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(start + 20))
        self.assertEqual([(line["signal"]["eventId"], line["signal"]["start"][:19], line["signal"]["durationMs"])
                          for line in sent if line["signal"]["eventId"].endswith("7")],
                         [(sent[0]["signal"]["eventId"], expected, 30_000), (sent[0]["signal"]["eventId"], expected, 45_000)])
        self.assertEqual(len(watcher.seen("ignored")), 1, watcher.lines)
        refused = [line["reason"].split(":")[0] for line in watcher.seen("refused")]
        self.assertEqual(refused.count("UNREADABLE"), 1, refused)
        self.assertEqual(refused.count("TOO_FAR"), 1, refused)
        self.assertEqual(counts["refused"], len(refused))
        faults = [line for line in watcher.complaints if "Packets are missing" in line]
        self.assertEqual(len(faults), 1, watcher.complaints)
        watcher.complaint("continuity errors 2")
        # The cue at the wrap of the clock is another break, or refused by the gateway as one that overlaps; never both.
        made = [each for each in self.breaks(gateway) if each["start"][:19] == expected]
        self.assertEqual(len(made), 1, self.breaks(gateway))

    def test_only_the_program_that_is_chosen_counts(self):
        gateway, stream = self.gateway(), TransportStream(program=5)
        content = stream.seconds(0, 1) + stream.section(splice_insert(7, pts=10 * 90_000, seconds=30))
        path = self.file(content)
        other = self.watcher(gateway, "ts", path, "--stream", "sport1", "--program", "6")
        self.assertEqual(other.end()["seen"], 0)
        other.complaint("no program that counts had SCTE-35 cues")
        counts = self.watcher(gateway, "ts", path, "--stream", "sport1", "--program", "5", "--pid", str(stream.cue_pid)).end()
        self.assertEqual(counts["sent"], 1)

    def test_a_named_pipe_is_watched_on_when_another_writer_comes(self):
        gateway, folder = self.gateway(), tempfile.mkdtemp(prefix="cuecast-pipe.")
        self.addCleanup(os.rmdir, folder)
        path = folder + "/stream.ts"
        os.mkfifo(path)
        self.addCleanup(os.unlink, path)
        watcher = self.watcher(gateway, "ts", path, "--stream", "sport1")
        # Another writer goes on with the stream: packets with the counter of the last one would count as its repeats.
        stream = TransportStream()
        for number in (1, 2):
            with open(path, "wb") as pipe:
                pipe.write(stream.seconds(0, 1) + stream.section(splice_insert(number, pts=(600 * number) * 90_000, seconds=30)))
            watcher.wait_for("sent", "out", count=number)
        self.assertEqual(len(self.breaks(gateway)), 2)

    def test_standard_input_ends_the_watch_when_it_ends(self):
        gateway, stream = self.gateway(), TransportStream()
        reading, writing = os.pipe()
        watcher = self.watcher(gateway, "ts", "-", "--stream", "sport1", given=reading)
        os.close(reading)
        with open(writing, "wb") as pipe:
            pipe.write(stream.seconds(0, 1) + stream.section(splice_insert(1)))
        self.assertEqual(watcher.end()["sent"], 1)
        self.assertEqual([each["state"] for each in self.breaks(gateway)], ["live"])

    def test_bad_inputs_are_refused_with_a_sentence(self):
        gateway = self.gateway()
        for input, code, said in (("tcp://a:1", 64, "udp and rtp"), ("udp://1.2.3.4", 64, "no port"), ("/none/such", 69, "No such file"),
                                  ("/tmp", 69, "is a folder"), ("udp://203.0.113.1:5000", 69, "cannot be listened to")):
            self.assertIn(said, gateway.run("watch", "ts", input, "--stream", "sport1", "--source", "encoder", code=code))

    def test_two_watchers_of_datagrams_with_one_killed_make_each_break_once(self):
        gateway, seed = Gateway("--set", "breaks.cues=* list=spots"), random.SystemRandom().randrange(1 << 32)
        self.addCleanup(gateway.close)
        with self.subTest(seed=seed):
            run_rounds(gateway, 6, seed)

    def test_datagrams_that_are_no_transport_stream_are_told(self):
        watcher = self.watcher(self.gateway(), "ts", "udp://127.0.0.1:0", "--stream", "sport1")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"no stream", watcher.address())
        watcher.complaint("neither transport packets nor")

    def test_two_watchers_of_one_group_see_the_same(self):
        interface = multicast_address()
        if interface is None:
            self.skipTest("no interface of this machine takes multicast")
        gateway, group = self.gateway(), "239.255.41.7"
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(sender.close)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(interface))
        # It stays on this machine.
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
        first = self.watcher(gateway, "ts", f"udp://@{group}:0", "--interface", interface, "--stream", "sport1")
        port = first.address()[1]
        second = self.watcher(gateway, "ts", f"udp://@{group}:{port}", "--interface", interface, "--stream", "sport1")
        second.address()
        stream = TransportStream()
        try:
            sender.sendto(stream.seconds(0, 1)[:7 * PACKET] + stream.section(splice_insert(1)), (group, port))
        except OSError as error:
            self.skipTest(f"this machine sends nothing to groups: {error}")
        for watcher in (first, second):
            watcher.wait_for("sent", "out")
        self.assertEqual(len(self.breaks(gateway)), 1)


class WatchedRadio(WatchedSources):
    def watch(self, gateway, url, *more):
        watcher = self.watcher(gateway, "icecast", url, "--stream", "radio1", "--allow-private", *more)
        watcher.wait_for("ignored")
        return watcher

    def test_icecast_with_two_watchers_and_one_killed_makes_each_break_once(self):
        if radio_server.ICECAST is None:
            self.skipTest("there is no icecast2 on this machine")
        gateway, icecast = self.gateway(), radio_server.Icecast()
        self.addCleanup(icecast.close)
        icecast.play("A - Song")
        watchers = [self.watch(gateway, icecast.url) for _ in range(2)]
        for number in (1, 2):
            icecast.play("START_AD_BREAK - START_AD_BREAK")
            for watcher in watchers:
                watcher.wait_for("sent", "out", count=number)
            self.assertEqual([each["state"] for each in self.breaks(gateway, "radio1")].count("live"), 1)
            if number == 1:
                watchers.pop(random.SystemRandom().randrange(2)).close()
            icecast.play(f"A - Song {number}")
            for watcher in watchers:
                watcher.wait_for("sent", "in", count=number)
        found = self.breaks(gateway, "radio1")
        self.assertEqual(len(found), 2, found)
        self.assertNotIn("live", [each["state"] for each in found])

    def test_liquidsoap_plays_a_marker_and_a_player_plays_the_break(self):
        for program, path in (("icecast2", radio_server.ICECAST), ("liquidsoap", radio_server.LIQUIDSOAP)):
            if path is None:
                self.skipTest(f"there is no {program} on this machine: scripts/setup.sh test")
        gateway, icecast = self.gateway(), radio_server.Icecast(plays=False)
        self.addCleanup(icecast.close)
        liquidsoap = radio_server.Liquidsoap(icecast)
        self.addCleanup(liquidsoap.close)
        player = gateway.listen("radio1")
        self.addCleanup(player.kill)
        player.wait_for("joined")
        watcher = self.watcher(gateway, "icecast", icecast.url, "--stream", "radio1", "--allow-private")
        out = watcher.wait_for("sent", "out")[0]
        self.assertIn("START_AD_BREAK", json.dumps(out))
        # Liquidsoap plays the marker again and again: on a slow machine the player may have the first break too late.
        playing = player.wait_for("playing")["break"]
        watcher.wait_for("sent", "in")
        until("the break is over", lambda: {"break": playing, "state": "complete"} in [
            {name: each[name] for name in ("break", "state")} for each in self.breaks(gateway, "radio1")])
        player.process.send_signal(signal.SIGTERM)
        self.assertEqual(player.finish(), 0)
        counts = gateway.report("radio1", playing)
        self.assertEqual({each["delivered"] for each in counts.values()}, {1})

    def test_a_server_that_speaks_icy_may_go_and_come_back(self):
        gateway, server = self.gateway(), radio_server.RadioServer()
        self.addCleanup(server.close)
        target = f"HTTP/1.1 302 Found\r\nLocation: {server.url}?again\r\nContent-Length: 0\r\n\r\n".encode()
        server.answers.append(target)
        watcher = self.watch(gateway, server.url, "--rule", r"url:[?&]spot=(?<milliseconds>\d+)")
        server.drop()
        server.play("StreamTitle='Now';StreamUrl='http://a/?spot=1800000';")
        out = watcher.wait_for("sent", "out")[0]
        # Two seconds more than the ad, since the next one may be told late.
        self.assertEqual(out["signal"]["durationMs"], 1_802_000)
        server.play("StreamTitle='A song';StreamUrl='http://a/';")
        watcher.wait_for("sent", "in")
        self.assertEqual(len(self.breaks(gateway, "radio1")), 1)

    def test_a_server_is_asked_by_https_and_must_have_a_trusted_certificate(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        authority, other = Authority(folder.name), Authority(folder.name, "other")
        certificate, key = folder.name + "/server.pem", folder.name + "/server.key"
        authority.sign("IP:127.0.0.1", certificate, key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        gateway, server = self.gateway(), radio_server.RadioServer(tls=context)
        self.addCleanup(server.close)
        self.assertTrue(server.url.startswith("https://"))
        watcher = self.watch(gateway, server.url, "--ca-file", authority.certificate)
        server.play("StreamTitle='START_AD_BREAK';")
        watcher.wait_for("sent", "out")
        self.assertEqual(len(self.breaks(gateway, "radio1")), 1)
        # Neither the system nor another authority vouches for it.
        for more in ([], ["--ca-file", other.certificate]):
            refused = self.watcher(gateway, "icecast", server.url, "--stream", "radio1", "--allow-private", *more)
            # Before that it may tell that a handshake took too long.
            refused.wait(lambda watcher: "CERTIFICATE_VERIFY_FAILED" in json.dumps(watcher.seen("refused")), "a refused certificate")
        said = gateway.run("watch", "icecast", server.url, "--stream", "radio1", "--source", "a", "--ca-file", key, code=64)
        self.assertIn("--ca-file: ", said)

    def test_what_cannot_be_watched_is_told_once_and_ends_nothing(self):
        gateway, server = self.gateway(), radio_server.RadioServer()
        self.addCleanup(server.close)
        server.answers += [b"<html>no</html>\r\n\r\n"] * 2
        watcher = self.watcher(gateway, "icecast", server.url, "--stream", "radio1", "--allow-host", "127.0.0.1")
        refused = watcher.wait_for("refused")
        self.assertIn("BAD_SOURCE", refused[0]["reason"])
        watcher.wait_for("ignored")
        self.assertEqual(len(watcher.seen("refused")), 1)
        other = self.watcher(gateway, "icecast", server.url, "--stream", "radio1")
        self.assertIn("--allow-private", other.wait_for("refused")[0]["reason"])

    def test_ads_that_play_already_begin_no_break(self):
        gateway, server = self.gateway(), radio_server.RadioServer()
        self.addCleanup(server.close)
        server.play("StreamTitle='START_AD_BREAK';")
        watcher = self.watch(gateway, server.url)
        self.assertIn("nothing says when", watcher.seen("ignored")[0]["reason"])
        self.assertEqual(self.breaks(gateway, "radio1"), [])


class WatchedLines(WatchedSources):
    def test_lines_on_a_port_make_a_break(self):
        gateway = self.gateway()
        watcher = self.watcher(gateway, "lines", "--listen", "127.0.0.1:0", "--stream", "radio1", "--mapping", "radiodj")
        with socket.create_connection(watcher.address(), PATIENCE) as connection:
            connection.sendall(b"songtype=4&songseconds=1800&title=Ad\r\nsongty")
            watcher.wait_for("sent", "out")
            connection.sendall(b"pe=0&title=Song\n" + b"x" * 5_000 + b"\n")
            watcher.wait_for("sent", "in")
            self.assertIn("lineBytesMax", watcher.wait_for("refused")[0]["reason"])
        self.assertEqual(len(self.breaks(gateway, "radio1")), 1)

    def test_lines_are_read_by_a_mapping_of_the_stations_own(self):
        gateway, folder = self.gateway(), tempfile.TemporaryDirectory(prefix="cuecast-lines.")
        self.addCleanup(folder.cleanup)
        path = folder.name + "/mappings.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"mappings": [{"name": "studio2", "type": ["category"], "ads": ["spot"], "duration": ["length"]}]}, file)
        watcher = self.watcher(gateway, "lines", "--listen", "127.0.0.1:0", "--stream", "radio1", "--mapping", "studio2",
                               "--mappings", path)
        with socket.create_connection(watcher.address(), PATIENCE) as connection:
            connection.sendall(b"category=spot&length=1800\n")
            watcher.wait_for("sent", "out")
            connection.sendall(b"category=song\n")
            watcher.wait_for("sent", "in")

    def test_one_connection_more_than_the_limit_is_closed(self):
        gateway = self.gateway()
        watcher = self.watcher(gateway, "lines", "--listen", "127.0.0.1:0", "--stream", "radio1")
        connections = [socket.create_connection(watcher.address(), PATIENCE) for _ in range(17)]
        for connection in connections:
            self.addCleanup(connection.close)
        watcher.complaint("connectionsMax")
        connections[0].sendall(b"type=ad\n")
        watcher.wait_for("sent", "out")

    def test_a_file_is_followed_when_it_is_cut_and_replaced(self):
        gateway, folder = self.gateway(), tempfile.TemporaryDirectory(prefix="cuecast-lines.")
        self.addCleanup(folder.cleanup)
        path = folder.name + "/now.txt"
        watcher = self.watcher(gateway, "lines", "--file", path, "--stream", "radio1", "--line", r"^(?<type>\w+)\|")
        watcher.complaint("waits for it")
        with open(path, "w", encoding="utf-8") as file:
            file.write("ad|one\n")
        watcher.wait_for("sent", "out")
        with open(path, "w", encoding="utf-8") as file:
            file.write("x|1\n")
        watcher.wait_for("sent", "in")
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write("ad|another one\n")
        os.rename(path + ".new", path)
        watcher.wait_for("sent", "out", count=2)
        self.assertEqual(len(self.breaks(gateway, "radio1")), 2)


if __name__ == "__main__":
    unittest.main()
