# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The example player as a process on a terminal of its own, against a real gateway.

    scripts/end-to-end.sh RadioPlayer
"""
import fcntl, os, pty, re, select, shutil, signal, subprocess, sys, tempfile, termios, time, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import BINARY, PATIENCE, RUN_PATIENCE, Broadcaster, Gateway, advertisement_pb2, broadcast_pb2, status_pb2, until

PLAYER = os.environ.get("CUECAST_RADIO_PLAYER", os.path.join(os.path.dirname(BINARY), "radio-player"))
OK = status_pb2.STATUS_CODE_OK
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


def spot(name, seconds, skip_after=None, banner=True):
    ad = advertisement_pb2.Advertisement(
        id=name, title=f"Ad {name}", advertiser="A shop", duration_ms=int(seconds * 1_000),
        media=[advertisement_pb2.MediaFile(url=f"https://cdn.example.com/{name}.mp3", type="audio/mpeg")])
    if skip_after is not None:
        ad.skip_offset_ms = int(skip_after * 1_000)
    if banner:
        ad.banner.image_url, ad.banner.target_url = "https://cdn.example.com/b.png", "https://shop.example.com/"
        ad.banner.alternative_text = "A tree in spring"
    return ad


class OnTerminal:
    """A player on a pseudo terminal: its last screen, and keys for it."""

    def __init__(self, gateway, *arguments, path=None):
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        environment = {**gateway.environment, "TERM": "xterm"}
        if path is not None:
            environment["PATH"] = path
        self.process = subprocess.Popen([PLAYER, "--stream", "s", *arguments], env=environment, stdin=self.slave,
                                        stdout=self.slave, stderr=self.slave, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.seen = b""

    def read(self, seconds=0.1):
        while select.select([self.master], [], [], seconds)[0]:
            self.seen += os.read(self.master, 65_536)
            seconds = 0

    @property
    def screen(self):
        """The screen as it was last drawn in full."""
        frames = self.seen.split(b"\x1b[H")
        last = frames[-1] if frames[-1].rstrip().endswith(b"\x1b[J") or len(frames) < 2 else frames[-2]
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", last.decode(errors="replace")).replace("\r", "")

    def sees(self, *texts):
        """Waits for one of these texts; gives the one that was on the screen first."""
        def look():
            self.read()
            found = next((text for text in texts if text in self.screen), None)
            assert self.process.poll() is None or found, f"the player ended:\n{self.screen}"
            return found
        try:
            return until(f"{' or '.join(map(repr, texts))} on the screen", look)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.screen}") from None

    def press(self, keys):
        os.write(self.master, keys.encode())

    def ends(self):
        """Waits for the end; gives the exit code and what was printed after the screen."""
        def over():
            self.read()
            return self.process.poll() is not None
        until("the player ends", over)
        self.read()
        return self.process.returncode, self.seen.partition(LEAVE)[2].decode().replace("\r", "")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


class RadioPlayer(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.broadcaster = Broadcaster(self.gateway)
        self.addCleanup(self.broadcaster.close)

    def player(self, *arguments, **more):
        player = OnTerminal(self.gateway, *arguments, **more)
        self.addCleanup(player.close)
        return player

    def publish(self, break_id, ads, milliseconds):
        """A break of an hour, so that none is over before its ads were played because the machine is slow."""
        reply = self.broadcaster.publish("s", break_id, ads, start=broadcast_pb2.Start(in_ms=milliseconds), duration_ms=3_600_000)
        self.assertEqual(reply.status, OK, reply.message)

    def test_keys_do_what_the_screen_says_and_the_report_has_it(self):
        # Where the machine is so slow that the break has begun before it was seen coming, once more with more time.
        for lead in (8, 32, 128, 512):
            player = self.player("--player", "none")
            player.sees("listening")
            player.sees("on air")
            break_id = f"b-{lead}"
            self.publish(break_id, [spot("one", 600, skip_after=1), spot("two", 10), spot("three", 600)], lead * 1_000)
            begun = "▶ Advertisement 1 of 3"
            if player.sees(f"Next break: {break_id} in ", begun) != begun \
                    and player.sees("s, 3 advertisements, loaded", begun) != begun:
                break
            player.process.kill()
            player.process.wait()
            self.gateway.end("s", break_id)
        player.sees(begun)
        player.sees("muted for the break")
        for text in ("Ad one — A shop", "A tree in spring", "https://cdn.example.com/b.png", "s left"):
            player.sees(text)
        player.press("c")
        player.sees("opened https://shop.example.com/")
        player.press("m")
        player.sees("(muted)")
        player.press("m")
        player.sees("unmuted")
        player.press("p")
        player.sees("‖ Advertisement 1 of 3")
        player.press("p")
        player.sees("may be skipped: s")
        # Paused as soon as it begins: it must not be over before the keys that are for it.
        player.press("sp")
        player.sees("‖ Advertisement 2 of 3")
        player.press("s")
        player.sees("it cannot be skipped")
        player.press("i")
        player.sees("ignored (user): Ad three")
        player.press("p")
        player.sees("played 2 · ignored 1 · failed 0 · unconfirmed 0")
        player.sees("on air")
        player.press("+")
        player.sees("5 s behind live")
        player.press("-")
        player.sees(", live")
        player.press("q")
        self.assertEqual(player.ends(), (0, "played 2, ignored 1, failed 0\n"))
        counts = self.gateway.report("s", break_id)
        self.assertEqual({ad: (each["played"], each["ignored"], each["unknown"]) for ad, each in counts.items()},
                         {"one": (1, 0, 0), "two": (1, 0, 0), "three": (0, 1, 0)})
        self.assertEqual(counts["three"]["ignoredBy"], {"user": 1})
        self.assertEqual({ad: each["clicked"] for ad, each in counts.items()}, {"one": 1, "two": 0, "three": 0})

    def test_the_terminal_is_given_back_however_the_player_ends(self):
        for way in ("q", "\x03", signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(way=way):
                player = self.player("--player", "none")
                player.sees("listening")
                self.assertIn(ENTER, player.seen)
                self.assertNotEqual(termios.tcgetattr(player.slave)[3], player.before[3])
                if isinstance(way, str):
                    player.press(way)  # The terminal makes a signal of control-C.
                else:
                    player.process.send_signal(way)
                code, rest = player.ends()
                self.assertEqual((code, rest), (0, "played 0, ignored 0, failed 0\n"))
                self.assertIn(LEAVE, player.seen)
                self.assertEqual(termios.tcgetattr(player.slave)[3], player.before[3])

    def programs(self, body):
        """A folder with a program `mpv` that notes its arguments, one run a line, and then does what the body says."""
        folder = tempfile.mkdtemp(prefix="cuecast-programs.")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "mpv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "$@" >> {folder}/runs\n{body}\n')
        os.chmod(path, 0o755)
        return folder

    @staticmethod
    def runs(folder):
        try:
            with open(os.path.join(folder, "runs"), encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def test_a_player_program_plays_programme_and_advertisement_and_may_fail(self):
        folder = self.programs('case "$*" in *good.mp3) exec sleep 1;; *bad.mp3) exit 2;; *) exec sleep 600;; esac')
        music = os.path.join(folder, "music.mp3")
        with open(music, "wb"):
            pass
        player = self.player("--programme", music, path=f"{folder}:/usr/bin:/bin")
        player.sees("mpv")
        until("the programme plays", lambda: any(run.endswith(music) for run in self.runs(folder)))
        player.sees("listening")
        self.publish("b", [spot("good", 600), spot("bad", 600, banner=False)], 500)
        player.sees("played 1 · ignored 0 · failed 1 · unconfirmed 0")
        player.sees("failed (405): Ad bad")
        runs = self.runs(folder)
        self.assertTrue(any(run.endswith("-- https://cdn.example.com/good.mp3") for run in runs), runs)
        # Live goes on: after the break the programme is not heard from its beginning.
        until("the programme is heard again", lambda: sum(run.endswith(music) for run in self.runs(folder)) == 2)
        self.assertIn("--start=", self.runs(folder)[-1])
        player.press("q")
        self.assertEqual(player.ends()[0], 0)
        counts = self.gateway.report("s", "b")
        self.assertEqual({ad: (each["played"], each["failed"]) for ad, each in counts.items()},
                         {"good": (1, 0), "bad": (0, 1)})

    def printed(self, break_id, lead):
        """What a player without a terminal prints of a break that starts so many seconds later; nothing if it had it too late."""
        start = time.monotonic() + lead
        self.publish(break_id, [spot("one", 6)], lead * 1_000)
        process = subprocess.Popen([PLAYER, "--stream", "s", "--player", "none"], env=self.gateway.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        lines, in_time = [], False
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if lines[-1].endswith(" loaded"):
                in_time = time.monotonic() < start
            if lines[-1].startswith(f"break {break_id} missed"):
                # It has stood still until the ad was over.
                in_time = in_time and time.monotonic() < start + 5
                break
            if lines[-1].startswith("confirmed: "):
                break
        process.send_signal(signal.SIGTERM)
        lines += [line.rstrip("\n") for line in process.stdout]
        self.assertEqual(process.wait(PATIENCE), 0)
        return lines if in_time else None

    def test_without_a_terminal_it_prints_lines(self):
        # Where the machine is so slow that the player has the break too late, once more with more time.
        for lead in (8, 32, 128, 512):
            break_id = f"b-{lead}"
            if lines := self.printed(break_id, lead):
                break
            self.gateway.end("s", break_id)
        self.assertIsNotNone(lines)
        self.assertNotIn("\x1b", "".join(lines))
        wanted = ["listening", f"break {break_id}: 1 advertisements loaded", "advertisement 1 of 1: Ad one, 6 s",
                  "banner: A tree in spring https://cdn.example.com/b.png", "played: Ad one, 6 s heard",
                  f"confirmed: {break_id}/one", "stopped", "played 1, ignored 0, failed 0"]
        self.assertEqual([line for line in lines if line in wanted], wanted, lines)

    def test_wrong_usage_says_what_is_wrong(self):
        for arguments, sentence in ((["--player", "vlc"], "--player vlc"), (["--delay", "601"], "--delay"),
                                    (["--programme", "/no/file"], "--programme /no/file"),
                                    (["--stream", "a b"], "stream id")):
            done = subprocess.run([PLAYER, "--stream", "s", *arguments], capture_output=True, text=True, timeout=RUN_PATIENCE)
            self.assertEqual(done.returncode, 64, done.stderr)
            self.assertIn(sentence, done.stderr)


if __name__ == "__main__":
    unittest.main()
