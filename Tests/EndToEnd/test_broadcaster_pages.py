# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The pages for broadcasters that tell how breaks come in, followed as a new user would: each command as it is written, with the
addresses of a test in the place of those of the page."""
import json, os, re, signal, socket, subprocess, tempfile, threading, unittest, urllib.request

import encoder, radio_server
from harness import BINARY, PATIENCE, ROOT, RUN_PATIENCE, LoggedGateway, until
from test_watch_hls import LivePlaylist, PlaylistServer
from transport_stream import PACKET, TransportStream, splice_insert

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")


class Page:
    """A page, and the commands of it that were not run yet."""

    def __init__(self, name):
        with open(os.path.join(ROOT, "docs/broadcasters", name + ".md"), encoding="utf-8") as file:
            self.text = file.read()
        blocks = re.findall(r"^( *)```console\n(.*?)^\1```", self.text, re.M | re.S)
        self.commands = [re.sub(r"\s*\\\n\s*", " ", command).strip()
                         for _, block in blocks for command in re.findall(r"^\s*\$ ((?:.*\\\n)*.*)$", block, re.M)]

    def take(self, beginning):
        """The next command that begins so."""
        found = next(each for each in self.commands if each.startswith(beginning))
        self.commands.remove(found)
        return found

    def code(self, language, text):
        """The block of code with a text in it."""
        return next(block for block in re.findall(rf"^```{language}\n(.*?)^```", re.sub(r"^    ", "", self.text, flags=re.M), re.M | re.S)
                    if text in block)


class Running:
    """A command of a page that runs on, and the lines that it prints."""

    def __init__(self, command, environment, folder):
        self.lines = []
        self.process = subprocess.Popen(command, shell=True, executable="/bin/bash", env=environment, cwd=folder, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.reader = threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")), daemon=True)
        self.reader.start()

    def wait_for(self, text):
        return until(f"{text!r} is printed", lambda: next((line for line in list(self.lines) if text in line), None))

    def address(self):
        host, port = self.wait_for("Listens for").strip().rstrip(".").split(" at ")[1].rsplit(":", 1)
        return host, int(port)

    def end(self):
        """Ctrl-C: it goes to the command and all that it started; gives what was printed."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return "".join(self.lines)

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.reader.join(PATIENCE)
        self.process.stdout.close()


class BroadcasterPages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.symlink(VAST, self.folder + "/ads.xml")
        self.configuration = self.folder + "/cuecast.yaml"
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write("breaks.announceAhead: 8s\n")
        self.gateway = LoggedGateway(self.folder, "--config", self.configuration)
        self.addCleanup(self.gateway.close)
        self.environment = {**self.gateway.environment, "PATH": os.path.dirname(BINARY) + ":" + os.environ["PATH"]}

    def with_policy(self, page, policy):
        """The policy and the list as a page of signals says: into the file of the configuration, and a SIGHUP."""
        self.assertIn(policy, page.text)
        with open(self.configuration, "a", encoding="utf-8") as file:
            file.write(policy + "\n")
        self.gateway.hang_up("breaks.cues")
        self.run_command(page.take("cuecast lists put spots"))

    def run_command(self, command, *changes):
        """Runs a command of a page that ends, and gives what it printed."""
        done = subprocess.run(self.changed(command, changes), shell=True, executable="/bin/bash", env=self.environment, cwd=self.folder,
                              capture_output=True, text=True, timeout=RUN_PATIENCE)
        self.assertEqual(done.returncode, 0, (command, done.stdout, done.stderr))
        return done.stdout

    def begin(self, command, *changes):
        running = Running(self.changed(command, changes), self.environment, self.folder)
        self.addCleanup(running.close)
        return running

    def changed(self, command, changes):
        for before, after in changes:
            self.assertIn(before, command)
            command = command.replace(before, after)
        return command

    def breaks(self, stream):
        return json.loads(self.gateway.run("breaks", "--stream", stream, "--format", "json"))

    def test_from_your_encoder(self):
        page, server = Page("from-your-encoder"), PlaylistServer()
        self.addCleanup(server.close)
        playlist = LivePlaylist({5: "#EXT-X-CUE-OUT:30"})
        server.serve("/live.m3u8", playlist.text)
        here = ("https://encoder.example/live.m3u8", server.url("/live.m3u8") + " --allow-private")
        dry = self.begin(page.take("cuecast watch hls"), here)
        line = dry.wait_for("not sent")
        # As the page shows it, but for its times.
        shown = re.search(r"sport1/playlist: EXT-X-CUE-OUT on line (.*?)$\s+(.*?)$", page.text, re.M)
        self.assertRegex(line, r"sport1/playlist: EXT-X-CUE-OUT on line \d+: a break begins at \S+Z, lasts 30 s -> out hls-\d+ at \S+Z, "
                               r"lasts 30 s -> not sent$")
        self.assertIn("lasts 30 s -> out hls-", shown.group(2))
        self.assertIn(" seen: ", dry.end())
        self.with_policy(page, 'breaks.cues: "sport* list=spots duration=60s"')
        playlist.tags[playlist.first + 20] = "#EXT-X-CUE-OUT:30"
        watch = self.begin(page.take("cuecast watch hls"), here)
        watch.wait_for("-> sent")
        self.assertEqual(len(self.breaks("sport1")), 1)
        watch.end()
        # The break of the cue is where its clock says, beside the one of the playlist.
        self.run_command(page.take("cuecast cue"))
        self.assertEqual(len(self.breaks("sport1")), 2)
        self.assertEqual(page.commands, [])

    def test_from_a_transport_stream(self):
        page, stream = Page("from-a-transport-stream"), TransportStream()
        self.with_policy(Page("signals"), 'breaks.cues: "radio* list=spots duration=60s"')
        self.assertIn("signals.md#first-steps", page.text)
        dry = self.begin(page.take("cuecast watch ts"), ("udp://@239.1.1.1:5000 --interface eth0", "udp://127.0.0.1:0"))
        packets = stream.seconds(0, 1)[:6 * PACKET] + stream.section(splice_insert(1, seconds=30))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            address = dry.address()
            sender.sendto(packets, address)
            dry.wait_for("-> not sent")
        dry.end()
        if encoder.FFMPEG is None:
            self.skipTest("there is no ffmpeg on this machine: scripts/setup.sh test")
        with open(self.folder + "/stream.ts", "wb") as file:
            file.write(stream.seconds(0, 1) + stream.section(splice_insert(2, seconds=30)))
        piped = self.begin(page.take("ffmpeg"), ("srt://encoder.example:9000", "stream.ts"), ("--stream sport1", "--stream radio1"))
        piped.process.wait(PATIENCE)
        self.assertIn("1 seen: 1 sent", piped.end())
        self.assertEqual(len(self.breaks("radio1")), 1)
        self.assertEqual(page.commands, [])

    def test_from_icecast(self):
        page, server = Page("from-icecast"), radio_server.RadioServer()
        self.addCleanup(server.close)
        self.with_policy(Page("signals"), 'breaks.cues: "radio* list=spots duration=60s"')
        dry = self.begin(page.take("cuecast watch icecast"), ("https://radio.example/live.mp3", server.url + " --allow-private"))
        dry.wait_for("ignored")
        server.play("StreamTitle='START_AD_BREAK 90';")
        self.assertIn("lasts 9", dry.wait_for("-> not sent"))
        dry.end()
        server.play("StreamTitle='A song';")
        watch = self.begin(page.take("cuecast watch icecast"), ("http://10.0.0.5:8000/live.mp3", server.url))
        watch.wait_for("ignored")
        server.play("StreamTitle='Spot - 40';")
        watch.wait_for("-> sent")
        self.assertEqual([each["durationSeconds"] for each in self.breaks("radio1")], [42])
        server.play("StreamTitle='Another song';")
        until("the break ends", lambda: [each["state"] for each in self.breaks("radio1")] == ["complete"])
        self.assertEqual(page.commands, [])

    def test_from_your_automation(self):
        page = Page("from-your-automation")
        self.with_policy(Page("signals"), 'breaks.cues: "radio* list=spots duration=60s"')
        keys = ("/var/lib/cuecast/http-keys.json", self.gateway.folder + "/data/http-keys.json")
        self.environment["token"] = self.run_command(page.take("cuecast token make"), keys).strip()
        here = ("127.0.0.1:7480", self.gateway.addresses["http"])
        out = json.loads(self.run_command(page.take("curl"), here))
        self.assertEqual((out["ad"], out["signal"], out["break"]["ads"]), (True, "out", 2), out)
        back = json.loads(self.run_command(page.take("curl"), here))
        self.assertEqual((back["ad"], back["signal"], back["break"]["break"]), (False, "in", out["break"]["break"]), back)
        for shown in ('{"ad":true,"break":{"ads":2,"break":"cue-', '{"ad":false,"break":{"break":"cue-'):
            self.assertIn(shown, page.text)

        # The document in XML, as an exporter posts it; of another stream, since the next break of this one may not begin yet.
        def post(stream, document):
            request = urllib.request.Request(
                f"http://{here[1]}/v1/streams/{stream}/signals/now-playing-xml", document.encode(),
                {"Authorization": f"Bearer {self.environment['token']}", "Content-Type": "text/xml"})
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)

        document = page.code("xml", "MetaRadioNow")
        self.environment["token"] = self.run_command(
            f"cuecast token make --keys {keys[1]} --subject xml --scope publish:radio9 --expires-in 1h").strip()
        spot = post("radio9", document)
        self.assertEqual((spot["ad"], spot["signal"], spot["break"]["durationMilliseconds"]), (True, "out", 32_000), spot)
        self.assertEqual(spot["break"]["signals"][0]["source"], "now-playing-xml")
        song = post("radio9", document.replace("SPOT", "MUSIC"))
        self.assertEqual((song["ad"], song["signal"], song["break"]["break"]), (False, "in", spot["break"]["break"]))
        # Lines to a port, and to a file.
        port = self.begin(page.take("cuecast watch lines"), ("127.0.0.1:7410", "127.0.0.1:0"), ("radio1", "radio2"))
        with socket.create_connection(port.address(), PATIENCE) as connection:
            connection.sendall(b"songtype=4&songseconds=30\n")
            port.wait_for("-> sent")
        log = self.folder + "/playout.log"
        followed = self.begin(page.take("cuecast watch lines"), ("/var/log/playout.log", log), ("radio1", "radio3"))
        followed.wait_for("waits for it")
        with open(log, "w", encoding="utf-8") as file:
            file.write("12:00:00 ad 30\n")
        followed.wait_for("-> sent")
        for stream in ("radio2", "radio3"):
            self.assertEqual([each["durationSeconds"] for each in self.breaks(stream)], [32])
        self.assertEqual(page.commands, [])


if __name__ == "__main__":
    unittest.main()
