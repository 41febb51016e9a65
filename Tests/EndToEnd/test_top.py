# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""`cuecast top` and `cuecast streams`: on a pseudo terminal and in a pipe, at a real gateway."""
import fcntl, json, os, pty, re, select, signal, struct, subprocess, termios, threading, unittest

from harness import BINARY, PATIENCE, Broadcaster, Gateway, Listener, ad, broadcast_pb2, until
import test_https


class Screen:
    """A program on a terminal of its own: its content, and keys.

    It knows as much of a terminal as the program may use, and insists on it.
    """

    SEQUENCE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")

    def __init__(self, command, environment, rows=24, columns=132):
        self.looker, self.program = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.program)
        self.modes, self.cells, self.row, self.column = set(), {}, 0, 0
        #: The screen that is not shown: its content, and its cursor.
        self.other = {}, 0, 0
        self.rest = b""
        self.lock = threading.Lock()
        self.process = subprocess.Popen(
            command, env={**environment, "TERM": "xterm-256color"}, stdin=self.program,
            stdout=self.program, stderr=self.program, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        threading.Thread(target=self.read, daemon=True).start()

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        fcntl.ioctl(self.looker, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while True:
            try:
                piece = os.read(self.looker, 65_536)
            except OSError:
                return
            with self.lock:
                self.rest += piece
                self.take()

    def take(self):
        """Does what whole sequences and letters say."""
        text = self.rest.decode("utf-8", "ignore")
        # What is cut in the middle is for the next time.
        keep = text.rfind("\x1b")
        whole = text if keep < 0 or self.SEQUENCE.match(text, keep) else text[:keep]
        self.rest = self.rest[len(whole.encode()):]
        at = 0
        while at < len(whole):
            if found := self.SEQUENCE.match(whole, at):
                self.command(*found.groups())
                at = found.end()
            elif whole[at] < " ":
                # A shell ends its lines.
                self.row, self.column, at = min(self.row + (whole[at] == "\n"), self.rows - 1), 0, at + 1
            else:
                self.cells[self.row, self.column] = whole[at]
                self.column += 1
                at += 1

    def command(self, private, numbers, name):
        if private:
            if int(numbers) == 1049 and (1049 in self.modes) != (name == "h"):
                # The other screen, and back to where the cursor was on this one.
                here = self.cells, self.row, self.column
                (self.cells, self.row, self.column), self.other = self.other, here
            (self.modes.add if name == "h" else self.modes.discard)(int(numbers))
        elif name == "H":
            self.row, self.column = (int(each) - 1 for each in numbers.split(";"))
        elif name == "J":
            self.cells = {}
        elif name == "K":
            self.cells = {place: cell for place, cell in self.cells.items()
                          if place[0] != self.row or place[1] < self.column}
        elif name != "m":
            raise AssertionError(f"what is {numbers}{name}?")

    def text(self):
        with self.lock:
            return "\n".join("".join(self.cells.get((row, column), " ") for column in range(self.columns)).rstrip()
                             for row in range(self.rows))

    def wait_for(self, pattern):
        try:
            return until(pattern, lambda: re.search(pattern, self.text(), re.M) or self.check())
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.text()}") from None

    def check(self):
        assert self.process.poll() is None, "it has ended"

    def press(self, keys):
        os.write(self.looker, keys.encode())

    def end(self):
        """Its exit code; insists that the terminal is as it was."""
        code = self.process.wait(PATIENCE)
        assert termios.tcgetattr(self.program) == self.before, "the terminal is not as it was"
        until("the screen is given back", lambda: 1049 not in self.modes and 25 in self.modes and 7 in self.modes)
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.program)
        # The thread that reads it has nothing to read any more.
        os.close(self.looker)


class Top(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.broadcaster = Broadcaster(self.gateway)
        self.addCleanup(self.broadcaster.close)

    def publish(self, *streams):
        for stream in streams:
            self.broadcaster.publish(stream, "b", [ad("one", 1_800_000)])

    def listener(self, stream):
        listener = Listener(self.gateway, stream)
        self.addCleanup(listener.close)
        listener.join()
        return listener

    def screen(self, *arguments, command=None, **size):
        screen = Screen(command or [BINARY, "top", *arguments], self.gateway.environment, **size)
        self.addCleanup(screen.close)
        return screen

    def play(self, stream):
        """A listener, and its batch of a break that runs."""
        listener = self.listener(stream)
        self.broadcaster.publish(stream, "noon", [ad("one", 1_800_000), ad("two", 1_800_000)],
                                 start=broadcast_pb2.Start(now=True), duration_ms=3_600_000)
        until("the notice", lambda: any(each.break_id == "noon" for each in listener.applied) or listener.next())
        return listener, listener.batch("noon").batch

    # MARK: On a terminal

    def test_it_shows_streams_and_figures_and_follows_keys(self):
        self.publish("jazz", "news", "radio1")
        for _ in range(3):
            self.listener("news")
        self.listener("radio1")
        screen = self.screen()
        screen.wait_for(r"4 listeners \(0 by HTTP\)   3 streams")
        screen.wait_for(r"^jazz +0 +b +cued")
        screen.wait_for(r"^news +3 +b +cued")
        screen.wait_for(r"streams 1 to 3 of 3, by stream")
        screen.press("s")
        screen.wait_for(r"(?s)^news.*^radio1.*^jazz.*the 3 streams with most listeners")
        screen.press("/RAD\r")
        screen.wait_for(r"(?s)STREAM[^\n]*\nradio1 +1[^\n]*\n\n.*of 1, by listeners, with 'RAD'")
        screen.press("\x1b")
        screen.wait_for(r"(?s)^jazz.*the 3 streams")
        screen.press("?")
        screen.wait_for("^Keys")
        screen.press("x\x1b[B\x1b[B\r")
        screen.wait_for(r"(?s)^jazz   0 listeners.*^b +cued.* Ad one")
        screen.press("q")
        self.assertEqual(screen.end(), 0)

    def test_what_a_change_is_is_there_at_once(self):
        screen = self.screen("--interval", "1h")
        screen.wait_for("no streams")
        # The list is asked for once an hour, and because an event says so.
        self.publish("radio1")
        screen.wait_for(r"^radio1 +0 +b +cued")
        screen.press("q")
        self.assertEqual(screen.end(), 0)

    def test_many_streams_are_pages(self):
        self.publish(*(f"s{number:03}" for number in range(60)))
        screen = self.screen(rows=24, columns=80)
        # The figures above the list take lines of it, and may come after it.
        first = int(screen.wait_for(r"(?s)^disk .*streams 1 to (\d+) of 60")[1])
        screen.press(" ")
        screen.wait_for(rf"(?s)^s{first:03}.*streams {first + 1} to ")
        screen.press("b")
        screen.wait_for(r"(?s)^s000.*streams 1 to ")
        screen.resize(40, 80)
        screen.process.send_signal(signal.SIGWINCH)
        screen.wait_for(rf"streams 1 to {first + 16} of 60")
        screen.press("q")
        self.assertEqual(screen.end(), 0)

    def test_signals_and_keys_that_end_it_give_the_terminal_back(self):
        for end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, "q", "\x03"):
            with self.subTest(end=end):
                screen = self.screen()
                screen.wait_for("0 listeners")
                self.assertNotEqual(termios.tcgetattr(screen.program), screen.before)
                screen.press(end) if isinstance(end, str) else screen.process.send_signal(end)
                self.assertEqual(screen.end(), 0)

    def test_a_crash_gives_the_terminal_back(self):
        screen = self.screen()
        screen.wait_for("0 listeners")
        screen.process.send_signal(signal.SIGSEGV)
        self.assertEqual(screen.end(), -signal.SIGSEGV)

    def test_the_shell_has_the_terminal_meanwhile(self):
        script = 'set -m; "$0" top; echo stopped $?; read -r _; fg >/dev/null; echo ended $?'
        screen = self.screen(command=["bash", "-c", script, BINARY])
        screen.wait_for("0 listeners")
        screen.press("\x1a")
        screen.wait_for(f"stopped {128 + signal.SIGTSTP}")
        self.assertNotIn(1049, screen.modes)
        self.assertEqual(termios.tcgetattr(screen.program), screen.before)
        screen.press("\n")
        screen.wait_for(r"(?s)\A(?!.*stopped).*0 listeners")
        self.assertIn(1049, screen.modes)
        screen.press("q")
        until("the shell says its end", lambda: "ended 0" in screen.text())
        self.assertEqual(screen.end(), 0)

    def test_it_does_not_suspend_itself_without_a_shell(self):
        # Its session has no shell. (setpgid(2), orphaned process groups)
        screen = self.screen()
        screen.wait_for("0 listeners")
        screen.press("\x1a?")
        screen.wait_for("^Keys")
        screen.press("xq")
        self.assertEqual(screen.end(), 0)

    def test_a_window_that_is_closed_ends_it(self):
        looker, program = pty.openpty()
        process = subprocess.Popen([BINARY, "top"], env={**self.gateway.environment, "TERM": "xterm"}, stdin=program,
                                   stdout=program, start_new_session=True)
        os.close(program)
        said = b""
        while b"q quit" not in said:
            said += os.read(looker, 65_536)
        os.close(looker)
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_gateway_that_is_gone_is_said_and_it_comes_back_by_itself(self):
        self.publish("radio1")
        screen = self.screen()
        screen.wait_for(r"^radio1 +0 +b")
        self.gateway.stop(signal.SIGKILL)
        screen.wait_for("^GONE: .*It is asked again")
        # What was shown stays.
        screen.wait_for(r"^radio1 +0 +b")
        self.gateway.start()
        screen.wait_for(r"(?s)\A(?!.*GONE).*^radio1 +0 +b +cued")
        screen.press("q")
        self.assertEqual(screen.end(), 0)

    def test_colors_are_left_out_where_they_are_not_wanted(self):
        self.play("radio1")
        for environment, has_color in (({}, True), ({"NO_COLOR": "1"}, False)):
            with self.subTest(environment=environment):
                looker, program = pty.openpty()
                process = subprocess.Popen([BINARY, "top"], env={**self.gateway.environment, "TERM": "xterm", **environment},
                                           stdin=program, stdout=program)
                said = b""
                while b"live" not in said or b"quit" not in said:
                    self.assertTrue(select.select([looker], [], [], PATIENCE)[0])
                    said += os.read(looker, 65_536)
                process.terminate()
                # Its last output is read.
                threading.Thread(target=lambda: drain(looker), daemon=True).start()
                self.assertEqual(process.wait(PATIENCE), 0)
                os.close(program)
                self.assertEqual(b"\x1b[7;32m" in said, has_color)
                self.assertIn(b"\x1b[7m", said)

    # MARK: In a pipe

    def test_once_prints_a_line_or_a_document(self):
        listener, batch = self.play("radio1")
        line = self.gateway.run("top", "--once")
        self.assertRegex(line, r"\A\S+Z  listeners 1  streams 1  running 1  notices/s .*ledger behind \d+.*\n\Z")
        names = [each.id for each in batch.advertisements]
        listener.acknowledge("noon", batch.delivery, {names[0]: "played", names[1]: "failed"})
        report = self.gateway.report("radio1", "noon")

        def counted():
            document = json.loads(self.gateway.run("top", "--once", "--json"))
            funnel = document["streams"][0]["funnel"]
            return funnel and funnel["played"] and document
        document = until("the outcome is counted", counted)
        self.assertEqual(document["streamsTotal"], 1)
        row = document["streams"][0]
        self.assertEqual((row["stream"], row["listeners"], row["break"], row["running"]["state"]),
                         ("radio1", 1, "noon", "live"))
        for name in ("delivered", "played", "ignored", "failed", "unknown"):
            self.assertEqual(row["funnel"][name], sum(each[name] for each in report.values()), name)
        self.assertEqual(document["gateway"]["breaksRunning"], 1)

    def test_so_many_lines_are_printed_and_it_goes_on_over_a_restart(self):
        self.assertEqual(len(self.gateway.run("top", "--count", "3").splitlines()), 3)
        process = subprocess.Popen([BINARY, "top"], env=self.gateway.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.assertIn("listeners 0", process.stdout.readline())
        self.gateway.stop(signal.SIGKILL)
        self.assertIn("the gateway", process.stderr.readline())
        self.gateway.start()
        # Before that it may tell of another way in which it does not answer.
        while "the gateway answers again" not in (line := process.stderr.readline()):
            self.assertIn("the gateway", line)
        self.assertIn("listeners 0", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 0)
        process.stdout.close()
        process.stderr.close()

    def test_a_reader_that_has_had_enough_ends_it_quietly(self):
        process = subprocess.Popen([BINARY, "top"], env=self.gateway.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(process.stderr.read(), "")
        process.stderr.close()

    def test_what_is_wrong_at_the_beginning_ends_it(self):
        for command in (["top"], ["top", "--once"], ["streams"]):
            self.assertIn("does not answer", self.gateway.run(*command, "--http", "127.0.0.1:1", code=69))
        for arguments in (["--interval", "999ms"], ["--interval", "3601s"], ["--count", "0"], ["--once", "--count", "1"],
                          ["--limit", "51", "--json"], ["--limit", "5"], ["--limit", "5", "--once"], ["--sort", "age"], ["--search", ""]):
            self.gateway.run("top", *arguments, code=64)
        for arguments in (["--limit", "0"], ["--limit", "1000001"], ["--search", ""]):
            self.gateway.run("streams", *arguments, code=64)

    # MARK: Streams

    def test_streams_are_listed_over_all_pages(self):
        names = [f"s{number:03}" for number in range(401)]
        self.publish(*names)
        document = json.loads(self.gateway.run("streams", "--json"))
        self.assertEqual([each["stream"] for each in document["streams"]], names)
        self.assertEqual((document["total"], document["after"]), (401, None))
        self.assertEqual(len(json.loads(self.gateway.run("streams", "--json", "--limit", "201"))["streams"]), 201)
        found = json.loads(self.gateway.run("streams", "--json", "--search", "S39"))
        self.assertEqual([each["stream"] for each in found["streams"]], [f"s39{digit}" for digit in range(10)])
        table = self.gateway.run("streams", "--limit", "2")
        self.assertRegex(table, r"\ASTREAM +LISTENERS +RUNNING +UNTIL +NEXT +STATE +START\n"
                                r"s000 +0 +- +- +b +cued +-\ns001 .*\nthere are 399 more: raise --limit\n\Z")


class EncryptedTop(unittest.TestCase):
    """`top`, `streams` and `audit` at a gateway that speaks TLS and asks for a token."""

    start, command = test_https.EncryptedHTTP.start, test_https.EncryptedHTTP.command

    #: Each way to ask, and what has to be in its answer.
    COMMANDS = (
        (("top", "--once"), r"\A\S+Z  listeners 1  streams 1 "), (("top", "--once", "--json"), '"stream": ?"radio1"'),
        (("top", "--count", "2"), r"(?s)listeners 1 .*listeners 1 "), (("streams",), r"(?m)^radio1 +1 +- +- +b +cued"),
        (("streams", "--json", "--search", "RADIO"), '"stream" ?: ?"radio1"'), (("audit",), r"(?m)publish +radio1 +b +changed"),
        (("audit", "--format", "json", "--stream", "radio1"), '"break" ?: ?"b"'))

    #: One of each command, for what is the same whatever it prints.
    EACH = (("top", "--once"), ("streams",), ("audit",))

    def setUp(self):
        test_https.EncryptedHTTP.setUp(self)
        self.gateway = self.start("--set", "http.openReads=health")
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(broadcaster.close)
        broadcaster.publish("radio1", "b", [ad("one", 1_800_000)])
        listener = Listener(self.gateway, "radio1")
        self.addCleanup(listener.close)
        listener.join()
        self.keys = self.gateway.file("http-keys.json")
        self.trusting = ("--http", self.gateway.addresses["http"], "--ca-file", self.authority.certificate)

    def token(self, name, *scopes, text=None):
        """A file with a token of these scopes, or with another text."""
        path = os.path.join(self.folder, name)
        if text is None:
            more = [part for scope in scopes for part in ("--scope", scope)]
            text = self.command("token", "make", "--keys", self.keys, "--subject", "ops", "--expires-in", "1h", *more)
        with open(path, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text)
        return path

    def screen(self, *arguments):
        screen = Screen([BINARY, "top", *arguments], {"PATH": os.environ["PATH"]})
        self.addCleanup(screen.close)
        return screen

    def test_who_has_a_token_and_trusts_the_certificate_is_told(self):
        token = self.token("right", "read")
        # The audit has its line a moment after the answer.
        until("the audit has the break", lambda: "radio1" in self.command("audit", *self.trusting, "--token-file", token))
        for command, expected in self.COMMANDS:
            with self.subTest(command=command):
                self.assertRegex(self.command(*command, *self.trusting, "--token-file", token), expected)
        # The same said by the environment.
        for command in self.EACH:
            self.command(*command, CUECAST_HTTP=self.gateway.addresses["http"], CUECAST_TOKEN_FILE=token, CUECAST_CA_FILE=self.authority.certificate)
        # On the gateway's machine its data directory has both.
        for command in (("top", "--once", "--json"), ("streams",), ("audit",)):
            self.assertIn("radio1", self.command(*command, "--data-dir", os.path.join(self.gateway.folder, "data")))

    def test_a_token_that_is_not_good_enough_is_refused_in_one_sentence(self):
        right = self.token("right", "read")
        with open(right) as file:
            head, claims, signature = file.read().strip().split(".")
        other = ("A" if signature[0] != "A" else "B") + signature[1:]
        open_to_all = self.token("open", "read")
        os.chmod(open_to_all, 0o644)
        for what, file, sentence, code in (
                ("none", None, "This needs a token: Authorization: Bearer TOKEN.", 77),
                ("another scope", self.token("publisher", "publish:*"), "The token does not grant read.", 77),
                ("another signature", self.token("forged", text=f"{head}.{claims}.{other}"), "The token's signature is wrong.", 77),
                ("not a token", self.token("nonsense", text="nonsense"), "The token cannot be understood.", 77),
                ("an empty file", self.token("empty", text=""), "it holds no token", 65),
                ("others may read it", open_to_all, "others may read or change it", 65),
                ("no file", os.path.join(self.folder, "nowhere"), "nowhere", 65)):
            for command in self.EACH:
                with self.subTest(what, command=command):
                    said = self.command(*command, *self.trusting, *(("--token-file", file) if file else ()), code=code)
                    self.assertIn(sentence, said)
                    self.assertEqual(said.count("\n"), 1, said)
                    for secret in (claims, signature):
                        self.assertNotIn(secret, said)

    def test_a_certificate_that_is_not_trusted_is_told_and_no_token_is_sent(self):
        token, address = self.token("right", "read"), self.gateway.addresses["http"]
        other = test_https.Authority(self.folder, "other")
        refused = self.gateway.metric('cuecast_http_authorizations_total{result="granted"}')
        for what, arguments, sentence, code in (
                ("no issuer is trusted", ("--http", address), "has no trusted issuer", 69),
                ("another issuer is", ("--http", address, "--ca-file", other.certificate), "has no trusted issuer", 69),
                ("in plain", ("--http", address.replace("https://", "http://")), "its address begins with https://", 69),
                ("no certificates", ("--http", address, "--ca-file", token), "certificate", 65)):
            for command in self.EACH:
                with self.subTest(what, command=command):
                    said = self.command(*command, *arguments, "--token-file", token, code=code)
                    self.assertIn(sentence, said)
                    self.assertEqual(said.count("\n"), 1, said)
        self.assertEqual(self.gateway.metric('cuecast_http_authorizations_total{result="granted"}'), refused)

    def test_on_a_terminal_it_shows_and_follows_keys_over_tls(self):
        screen = self.screen(*self.trusting, "--token-file", self.token("right", "read"))
        screen.wait_for(r"1 listener \(0 by HTTP\)   1 stream  ")
        screen.wait_for(r"^radio1 +1 +b +cued")
        screen.press("\r")
        screen.wait_for(r"(?s)^radio1   1 listener$.*^b +cued.* Ad one")
        screen.press("q")
        self.assertEqual(screen.end(), 0)

    def test_on_a_terminal_a_refusal_is_a_sentence_and_the_screen_is_not_taken(self):
        for arguments, sentence, code in (
                ((*self.trusting, "--token-file", self.token("publisher", "publish:*")), "The token does not grant read.", 77),
                (("--http", self.gateway.addresses["http"], "--token-file", self.token("right", "read")), "has no trusted issuer", 69)):
            with self.subTest(sentence):
                looker, program = pty.openpty()
                before = termios.tcgetattr(program)
                process = subprocess.Popen([BINARY, "top", *arguments], env={"PATH": os.environ["PATH"], "TERM": "xterm"}, stdin=program,
                                           stdout=program, stderr=program)
                self.assertEqual(process.wait(PATIENCE), code)
                self.assertEqual(termios.tcgetattr(program), before)
                os.close(program)
                said = read_all(looker).decode()
                self.assertIn(sentence, said)
                # No other screen, no hidden cursor, no colours.
                self.assertNotIn("\x1b", said)

    def test_a_token_that_is_revoked_meanwhile_is_told_and_what_was_shown_stays(self):
        # The newest key signs; the one before is taken until it is revoked.
        token = self.token("right", "read")
        screen = self.screen(*self.trusting, "--token-file", token)
        screen.wait_for(r"^radio1 +1 +b +cued")
        with open(self.keys) as file:
            keys = json.load(file)
        for key in keys["keys"]:
            key["state"] = "revoked"
        with open(self.keys, "w") as file:
            json.dump(keys, file)
        self.gateway.hang_up("the configuration was read again")
        screen.wait_for(r"^REFUSED: The token's key is revoked\. It is asked again\.$")
        screen.wait_for(r"^radio1 +1 +b +cued")
        screen.press("q")
        self.assertEqual(screen.end(), 0)


def read_all(descriptor):
    """The rest of the output, after its writer has ended."""
    said = b""
    try:
        while part := os.read(descriptor, 65_536):
            said += part
    except OSError:
        # The end of a pseudo terminal. (pty(7) of Linux)
        pass
    os.close(descriptor)
    return said


def drain(descriptor):
    """Reads until the writer has ended."""
    try:
        while os.read(descriptor, 65_536):
            pass
    except OSError:
        pass
    os.close(descriptor)


if __name__ == "__main__":
    unittest.main()
